//! `/admin/audit`: the audit log of the caller's team, page by page and as a file.

use crate::app::App;
use crate::auth::Authenticated;
use crate::body::QueryString;
use crate::error::ApiError;
use access::Caller;
use access::audit_log::{AuditAction, AuditEntry, AuditFilter};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use std::sync::Arc;
use stored_data::time::{iso, parse_iso};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::Issues;
use wire::audit_log::{AuditActorView, AuditEntryView, AuditExportQuery, AuditFormat, AuditPage, AuditQuery};

/// Rows that an export reads at once.
const EXPORTED_ROWS: u32 = 500;
const CSV_HEAD: &str = "createdAt,action,actorKind,actorName,actorKey,address,subject,details,id\r\n";

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_audit_entries)).routes(routes!(export_audit_entries))
}

/// List the audit log of the team, newest first
///
/// What happened to keys, sign-ins, applications, agents and settings, who did it and from where.
#[utoipa::path(get, path = "/admin/audit", tag = "Administration", params(AuditQuery),
    responses((status = 200, body = AuditPage)))]
async fn list_audit_entries(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<AuditQuery>,
) -> Result<Json<AuditPage>, ApiError> {
    let limit = query.limit.unwrap_or(100);
    let mut issues = Issues::default();
    issues.range("limit", limit, &(1..=500));
    let wanted = Wanted::parse(query.action, query.id, query.from, query.until, &mut issues);
    issues.finish()?;
    let mut found = app.teams.audit_entries(&caller, wanted.filter(), query.cursor, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let cursor = found.last().filter(|_| more).map(|last| last.id);
    Ok(Json(AuditPage { success: true, data: found.into_iter().map(view).collect(), cursor }))
}

/// Get the audit log of the team as a file, newest first
#[utoipa::path(get, path = "/admin/audit/export", tag = "Administration", params(AuditExportQuery),
    responses((status = 200, description = "The file", content((String = "application/x-ndjson"), (String = "text/csv")))))]
async fn export_audit_entries(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<AuditExportQuery>,
) -> Result<Response, ApiError> {
    let mut issues = Issues::default();
    let wanted = Wanted::parse(query.action, query.id, query.from, query.until, &mut issues);
    issues.finish()?;
    let (content_type, ending) = match query.format {
        AuditFormat::Jsonl => ("application/x-ndjson", "jsonl"),
        AuditFormat::Csv => ("text/csv; charset=utf-8", "csv"),
    };
    let headers = [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"audit.{ending}\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    let body = Body::from_stream(pieces(app, caller, wanted, query.format));
    Ok((headers, body).into_response())
}

/// The file piece by piece. An error ends the connection, so that no client takes half a file for a whole one.
fn pieces(
    app: App,
    caller: Arc<Caller>,
    wanted: Wanted,
    format: AuditFormat,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    let head = match format {
        AuditFormat::Jsonl => Bytes::new(),
        AuditFormat::Csv => Bytes::from_static(CSV_HEAD.as_bytes()),
    };
    let rest = stream::try_unfold(Some(None), move |next: Option<Option<Uuid>>| {
        let (app, caller, wanted) = (app.clone(), caller.clone(), wanted.clone());
        async move {
            let Some(before) = next else { return Ok(None) };
            let entries = app.teams.audit_entries(&caller, wanted.filter(), before, EXPORTED_ROWS).await;
            let entries = entries.map_err(|_| std::io::Error::other("the audit log cannot be read"))?;
            let last = entries.last().map(|entry| entry.id);
            let more = entries.len() == EXPORTED_ROWS as usize;
            let text: String = entries.into_iter().map(|entry| line(entry, format)).collect();
            let next = last.filter(|_| more).map(Some);
            Ok(Some((Bytes::from(text), next)))
        }
    });
    stream::iter([Ok(head)]).chain(rest)
}

/// What is asked for, checked.
#[derive(Debug, Clone)]
struct Wanted {
    action: Option<String>,
    id: Option<Uuid>,
    from: Option<i64>,
    until: Option<i64>,
}

impl Wanted {
    fn parse(
        action: Option<String>,
        id: Option<Uuid>,
        from: Option<String>,
        until: Option<String>,
        issues: &mut Issues,
    ) -> Self {
        let action = action.map(|asked| {
            let names = AuditAction::ALL.map(AuditAction::name);
            let group = format!("{asked}.");
            if names.contains(&asked.as_str()) {
                return asked;
            }
            if !names.iter().any(|name| name.starts_with(&group)) {
                let known = format!("must be one of {}, or what is before the period", names.join(", "));
                issues.add("action", &known, "invalid_value");
            }
            group
        });
        let mut time = |field: &str, text: Option<String>| {
            let text = text?;
            let parsed = parse_iso(&text);
            if parsed.is_none() {
                issues.add(field, "must be a date or a time in ISO 8601", "invalid_value");
            }
            parsed
        };
        Self { action, id, from: time("from", from), until: time("until", until) }
    }

    fn filter(&self) -> AuditFilter<'_> {
        AuditFilter { action: self.action.as_deref(), id: self.id, from: self.from, until: self.until }
    }
}

fn view(entry: AuditEntry) -> AuditEntryView {
    AuditEntryView {
        id: entry.id,
        created_at: iso(entry.created_at),
        action: entry.action,
        actor: AuditActorView { kind: entry.actor_kind, key: entry.actor_key, name: entry.actor_name },
        address: entry.address,
        subject: entry.subject,
        details: entry.details,
    }
}

fn line(entry: AuditEntry, format: AuditFormat) -> String {
    let view = view(entry);
    match format {
        AuditFormat::Jsonl => serde_json::to_string(&view).unwrap_or_default() + "\n",
        AuditFormat::Csv => {
            let id = |id: Option<Uuid>| id.map(|id| id.to_string()).unwrap_or_default();
            let cells = [
                view.created_at,
                view.action,
                view.actor.kind,
                view.actor.name,
                id(view.actor.key),
                view.address.unwrap_or_default(),
                id(view.subject),
                view.details.to_string(),
                view.id.to_string(),
            ];
            cells.map(|cell| csv_cell(&cell)).join(",") + "\r\n"
        }
    }
}

/// A cell in quotes. What spreadsheets would take for a formula begins with an apostrophe: names are chosen by others.
fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!("\"{}{}\"", if formula { "'" } else { "" }, text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_are_no_formulas() {
        assert_eq!(csv_cell("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(csv_cell("=HYPERLINK(1)"), "\"'=HYPERLINK(1)\"");
        assert_eq!(csv_cell("{\"a\":1}"), "\"{\"\"a\"\":1}\"");
    }
}
