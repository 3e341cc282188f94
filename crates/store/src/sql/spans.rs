//! What a collector of OpenTelemetry sees of the database: statements that somebody waits for by their names, and
//! transactions by the first statement in them. Never a value.

use super::Dialect;
use tracing::Span;
use tracing::field::Empty;

fn system(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "sqlite",
        Dialect::Postgres => "postgresql",
    }
}

/// The span of a statement that is a transaction of its own.
pub(super) fn statement_span(dialect: Dialect, statement: &'static str) -> Span {
    tracing::info_span!(
        target: otlp::SPANS,
        "store",
        otel.kind = "client",
        otel.name = statement,
        db.system.name = system(dialect),
        db.operation.name = statement,
        "error.type" = Empty,
    )
}

pub(super) fn note_failure(span: &Span) {
    span.record("error.type", "database");
}

/// The span of a transaction: from waiting for its beginning to its end, whichever that is.
#[derive(Debug)]
pub(crate) struct TransactionSpan {
    span: Span,
    is_named: bool,
}

impl TransactionSpan {
    pub(crate) fn start(dialect: Dialect) -> Self {
        let span = tracing::info_span!(
            target: otlp::SPANS,
            "store transaction",
            otel.kind = "client",
            db.system.name = system(dialect),
            db.operation.name = Empty,
        );
        Self { span, is_named: false }
    }

    /// Notes the first statement; none of them has a span of its own.
    pub(crate) fn note(&mut self, statement: &'static str) -> Span {
        if !self.is_named && !self.span.is_disabled() && !statement.is_empty() {
            self.span.record("db.operation.name", statement);
            self.is_named = true;
        }
        Span::none()
    }
}
