//! An error as it is stored with the scrape that ended with it.

use super::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use wire::{Kind, WireError};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredError {
    /// The name of the catalogue's row.
    code: String,
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
}

impl StoredError {
    pub fn new(error: &Error) -> Self {
        let wire = error.to_wire();
        let code = wire.kind.name().to_owned();
        Self { code, error: wire.text().to_owned(), details: wire.details().cloned() }
    }

    pub(super) fn to_wire(&self) -> WireError {
        // Another version may have written a row that this one does not know.
        let kind = Kind::from_name(&self.code).unwrap_or(Kind::Internal);
        let error = WireError::with_text(kind, self.error.clone());
        match &self.details {
            Some(details) => error.with_details(details),
            None => error,
        }
    }
}

impl fmt::Display for StoredError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.error)
    }
}
