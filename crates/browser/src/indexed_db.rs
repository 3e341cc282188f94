//! `IndexedDB` of an origin as text and back, by scripts that run in a document of that origin. The text is never read here:
//! it came from a page, and goes back to a page of the same origin only.

use crate::storage_state::MAX_ORIGIN_BYTES;
use serde_json::Value;

const FUNCTIONS: &str = include_str!("indexed_db.js");

/// A script that gives all databases as text; an empty one where there are none.
pub fn collect_databases_script() -> String {
    format!("{}.collect({MAX_ORIGIN_BYTES})", FUNCTIONS.trim_end())
}

/// A script that creates the databases of such a text.
pub fn restore_databases_script(text: &str) -> String {
    format!("{}.restore({})", FUNCTIONS.trim_end(), Value::from(text))
}
