//! The texts of the protocol.

use super::CallError;
use crate::error::clip;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Anything the browser says.
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
    result: Option<&'a RawValue>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
}

impl Incoming<'_> {
    pub(super) fn outcome(&self) -> Result<Box<RawValue>, CallError> {
        match (&self.error, self.result) {
            (Some(refusal), _) => Err(CallError::Refused(clip(&refusal.message))),
            (None, Some(result)) => Ok(result.to_owned()),
            (None, None) => Err(CallError::Unreadable("neither a result nor an error".into())),
        }
    }
}

#[derive(Serialize)]
struct Outgoing<'a, P> {
    id: u64,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    method: &'a str,
    params: &'a P,
}

/// One command, ready to be written.
pub(super) fn outgoing(id: u64, session: Option<&str>, method: &str, params: &impl Serialize) -> Vec<u8> {
    // Parameters are our own plain structures, for which JSON cannot fail.
    let mut text = serde_json::to_vec(&Outgoing { id, session, method, params }).unwrap_or_default();
    text.push(0);
    text
}
