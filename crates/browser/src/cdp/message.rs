//! The messages of the protocol.

use super::CallError;
use crate::error::shorten;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Any message from the browser.
#[derive(Deserialize)]
pub(super) struct Incoming<'a> {
    pub(super) id: Option<u64>,
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CommandError {
    #[serde(default)]
    message: String,
}

impl Incoming<'_> {
    pub(super) fn to_result(&self) -> Result<Box<RawValue>, CallError> {
        match (self.error, self.result) {
            (Some(error), _) => {
                let message = serde_json::from_str::<CommandError>(error.get()).map(|error| error.message);
                Err(CallError::Rejected(shorten(&message.unwrap_or_default())))
            }
            (None, Some(result)) => Ok(result.to_owned()),
            (None, None) => Err(CallError::Invalid("neither a result nor an error".into())),
        }
    }
}

/// A message for somebody who speaks the protocol without our help; parts are borrowed as they arrived.
#[derive(Debug, Clone, Copy)]
pub struct RawMessage<'a> {
    /// The number of the command this answers; `None` for an event.
    pub id: Option<u64>,
    pub session: Option<&'a str>,
    pub method: Option<&'a str>,
    pub params: Option<&'a RawValue>,
    pub result: Option<&'a RawValue>,
    pub error: Option<&'a RawValue>,
}

impl Incoming<'_> {
    pub(super) fn as_raw(&self) -> RawMessage<'_> {
        RawMessage {
            id: self.id,
            session: self.session.as_deref(),
            method: self.method.as_deref(),
            params: self.params,
            result: self.result,
            error: self.error,
        }
    }
}

#[derive(Serialize)]
struct Command<'a, P> {
    id: u64,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    method: &'a str,
    params: &'a P,
}

/// Encodes one command.
pub(super) fn encode_command(
    id: u64,
    session: Option<&str>,
    method: &str,
    params: &impl Serialize,
) -> Vec<u8> {
    // Parameters are our own plain structures, for which JSON cannot fail.
    let mut text = serde_json::to_vec(&Command { id, session, method, params }).unwrap_or_default();
    text.push(0);
    text
}
