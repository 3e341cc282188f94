//! What later checks compare a page with, as the store keeps it.

use crate::Error;
use monitor::page::PageHistory;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::monitors::SnapshotChange;
use stored_data::hashed_keys::KeyHasher;
use stored_data::stored_json;
use uuid::Uuid;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredPage {
    /// When it was read, in milliseconds.
    pub read_at: i64,
    pub scrape_id: Option<String>,
    pub text: String,
    /// All that the page showed, where that is known.
    pub whole: Option<String>,
    pub data: Option<Value>,
    pub history: PageHistory,
    /// The page was gone when it was read last.
    pub is_removed: bool,
    /// It could never be read: nothing here but the errors.
    pub is_unread: bool,
    /// Checks in a row that could not read it.
    pub errors_in_a_row: u32,
    pub screenshot: Option<KeptScreenshot>,
    /// Of searches: how the result was judged.
    pub search: Option<SearchJudgement>,
}

/// A screenshot of the page, kept for as long as checks are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptScreenshot {
    /// Of the file.
    pub name: String,
    pub kept_at: i64,
}

/// How a result of a search was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchJudgement {
    /// The version of the goal that it was judged by.
    pub goal_version: u64,
    pub status: String,
    /// What was judged: a result that reads differently is judged again.
    pub text_hash: u64,
}

impl StoredPage {
    /// The snapshot that replaces the one before.
    pub fn to_change(&self, target: Uuid, url: &str) -> Result<SnapshotChange, Error> {
        let body = stored_json::pack("a snapshot", self).map_err(Error::internal)?;
        Ok(SnapshotChange::Replace { target, url: url.to_owned(), body })
    }
}

/// What a page is known by within a monitor.
pub fn page_key(target: Uuid, address: &str) -> [u8; 32] {
    let mut key = KeyHasher::new("page of a monitor");
    key.add(&target.to_string());
    key.add(address);
    key.finish()
}
