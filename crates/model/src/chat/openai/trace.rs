//! What a collector of OpenTelemetry sees of a question to a model: which model, how many tokens, how it ended. Never
//! what was asked or answered.

use super::Endpoint;
use crate::chat::{ChatError, ChatResponse};
use tracing::Span;
use tracing::field::Empty;

pub(super) fn chat_span(endpoint: &Endpoint) -> Span {
    tracing::info_span!(
        target: otlp::SPANS,
        "chat",
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.request.model = endpoint.model.as_str(),
        server.address = endpoint.url.host_str(),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        "error.type" = Empty,
    )
}

pub(super) fn record_outcome(span: &Span, outcome: &Result<ChatResponse, ChatError>) {
    match outcome {
        Ok(response) => {
            span.record("gen_ai.usage.input_tokens", response.usage.input_tokens);
            span.record("gen_ai.usage.output_tokens", response.usage.output_tokens);
        }
        Err(error) => {
            let error_type = match error {
                ChatError::Timeout => "timeout",
                ChatError::RateLimited { .. } => "rate_limited",
                ChatError::InvalidResponse(_) => "invalid_response",
                ChatError::Refused(_) => "refused",
                ChatError::Unreachable(_) => "unreachable",
            };
            span.record("error.type", error_type);
        }
    }
}
