//! What went wrong with a model, as callers are told. Addresses and words of the model's server are for the operator's log.

use model::chat::ChatError;
use model::chat::structured::StructuredError;
use wire::{Kind, WireError};

pub fn of_chat(error: &ChatError) -> WireError {
    if *error == ChatError::Timeout {
        let details = serde_json::json!({ "while": "waiting for the language model" });
        return WireError::from(Kind::ModelTimeout).with_details(&details);
    }
    tracing::warn!(%error, "the language model failed");
    let reason = match error {
        ChatError::Timeout | ChatError::Unreachable(_) => "its server cannot be reached",
        ChatError::RateLimited { .. } => "its server asks to wait",
        ChatError::Nonsense(_) => "its server answered nonsense",
        ChatError::Refused(_) => "its server refused the request",
    };
    let mut failure = WireError::because(Kind::ModelUnavailable, reason);
    if let ChatError::RateLimited { retry_after } = error {
        failure.retry_after = *retry_after;
    }
    failure
}

pub fn of_structured(error: &StructuredError) -> WireError {
    match error {
        StructuredError::Chat(error) => of_chat(error),
        other => WireError::because(Kind::UnprocessableEntity, &other.to_string()),
    }
}

/// The model will not do it.
pub fn refused(why: &str) -> WireError {
    let why = &why[..why.floor_char_boundary(500)];
    WireError::because(Kind::UnprocessableEntity, &format!("the model declined: {why}"))
}
