//! Our own data as the store keeps it: JSON, compressed where it may be large. What cannot be written, or read again,
//! is an error that names it, and where nobody can be told it is logged: never an empty value without a word.

use crate::compression;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;

/// Why data could not be written for the store, or not be read from it. Its text names the place in the data and none of
/// its values: stored data may be secret, and this goes to the log.
#[derive(Debug, thiserror::Error)]
pub enum StoredJsonError {
    #[error("{what} cannot be written as JSON: {}", place_of(.source))]
    Encode { what: &'static str, source: serde_json::Error },
    #[error("{what} is stored as JSON that cannot be read: {}", place_of(.source))]
    Decode { what: &'static str, source: serde_json::Error },
    #[error("{what} cannot be compressed or decompressed: {source}")]
    Compression { what: &'static str, source: io::Error },
}

fn place_of(error: &serde_json::Error) -> String {
    format!("{:?} error at line {} column {}", error.classify(), error.line(), error.column())
}

/// JSON text. `what` names the data in errors.
pub fn to_text<T: Serialize>(what: &'static str, value: &T) -> Result<String, StoredJsonError> {
    serde_json::to_string(value).map_err(|source| StoredJsonError::Encode { what, source })
}

/// The reverse of [`to_text`].
pub fn from_text<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoredJsonError> {
    serde_json::from_str(text).map_err(|source| StoredJsonError::Decode { what, source })
}

/// JSON, compressed.
pub fn pack<T: Serialize>(what: &'static str, value: &T) -> Result<Vec<u8>, StoredJsonError> {
    let json = serde_json::to_vec(value).map_err(|source| StoredJsonError::Encode { what, source })?;
    compression::pack(&json).map_err(|source| StoredJsonError::Compression { what, source })
}

/// The reverse of [`pack`].
pub fn unpack<T: DeserializeOwned>(what: &'static str, packed: &[u8]) -> Result<T, StoredJsonError> {
    let json = compression::unpack(packed).map_err(|source| StoredJsonError::Compression { what, source })?;
    serde_json::from_slice(&json).map_err(|source| StoredJsonError::Decode { what, source })
}

/// Logs an error where work goes on without the data.
pub fn or_log<T>(result: Result<T, StoredJsonError>) -> Option<T> {
    result.inspect_err(|error| tracing::error!(%error, "stored data could not be used")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn data_comes_back_and_errors_name_it_without_its_values() {
        let value = json!({ "rows": [1, 2], "text": "ä" });
        assert_eq!(unpack::<Value>("a result", &pack("a result", &value).unwrap()).unwrap(), value);
        assert_eq!(from_text::<Value>("a result", &to_text("a result", &value).unwrap()).unwrap(), value);
        let wrong_type = pack("a result", &json!("t0ps3cret")).unwrap();
        let error = unpack::<Vec<u64>>("a result", &wrong_type).unwrap_err().to_string();
        assert!(
            error.contains("a result") && error.contains("column") && !error.contains("t0ps3cret"),
            "{error}"
        );
        assert!(matches!(unpack::<Value>("x", b"not zstd"), Err(StoredJsonError::Compression { .. })));
        assert!(or_log(from_text::<Value>("x", "{")).is_none());
    }
}
