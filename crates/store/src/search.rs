//! What is kept for search: pages as the index takes them in, what searches found, and what callers said about it.
//!
//! The store is the truth and the index of each machine a cache of it. Pages lie in one table whose rows carry the number of the
//! change that wrote them last; whoever remembers a number asks for what came after it. A page that goes leaves its row behind for a
//! while, empty, so that every reader of the feed learns of it.

use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreError, StoreResult};
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;

/// What makes two pages one, within a team and a collection.
pub type SearchKey = [u8; 16];

/// How long the row of a page that is gone stays. Whoever has not read the feed for longer must begin again with nothing.
pub const DELETED_PAGE_RETENTION: Duration = Duration::from_hours(7 * 24);
/// A page that is seen again with the same words is written anew after this and not before.
pub const UNCHANGED_REWRITE_INTERVAL: Duration = Duration::from_hours(24);
/// Pages that one transaction writes; longer lists are several.
pub(crate) const MAX_PAGES_PER_TRANSACTION: usize = 500;
/// Addresses and hosts that are remembered as valuable to one team.
pub const MAX_VALUED_SOURCES: u32 = 500;

/// A page as it was seen just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSearchPage {
    pub collection: String,
    pub key: SearchKey,
    pub url: String,
    /// Of everything a reader would search for: the same again is not written.
    pub hash: [u8; 16],
    /// Opaque to the store, compressed by the caller.
    pub document: Vec<u8>,
}

/// One line of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEntry {
    /// Never falls along the feed. Lines that were written together may share it; they are never parted.
    pub seq: i64,
    /// Nil: for every team.
    pub team: Uuid,
    pub collection: String,
    pub key: SearchKey,
    /// When it was seen, or when it went.
    pub seen_at: Millis,
    /// None: it is gone.
    pub document: Option<Vec<u8>>,
}

/// What came after a number, and how the feed stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// Another database has another.
    pub id: Uuid,
    /// The store's clock.
    pub now: Millis,
    /// The number lies in a future this database has not seen: it was restored from an older copy. What was read before is
    /// of no use.
    pub ahead: bool,
    /// As many as were asked for, or some more; fewer when there are no more just now.
    pub entries: Vec<FeedEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionTotal {
    pub collection: String,
    pub pages: u64,
    pub bytes: u64,
}

/// That somebody searched, so that what is said about it later can be checked.
#[derive(Debug, Clone)]
pub struct NewSearch {
    /// Time-ordered (uuid v7).
    pub id: Uuid,
    pub team_id: Uuid,
    pub query: String,
    pub urls: Vec<String>,
    /// Query and addresses are dropped here even when they are given.
    pub private: bool,
    pub keep_for: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRecord {
    pub id: Uuid,
    pub created_at: Millis,
    /// Empty when private.
    pub query: String,
    pub urls: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct NewFeedback {
    pub id: Uuid,
    pub team_id: Uuid,
    /// `search`, `scrape`, `parse` or `map`.
    pub endpoint: String,
    /// The search or job it speaks of. One is taken for each.
    pub subject: Uuid,
    /// As it was sent, JSON.
    pub body: String,
    /// Hosts and addresses that were found valuable.
    pub valued: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackPut {
    Written,
    /// There was one on this subject; this is its id, and nothing was counted again.
    KnownBefore(Uuid),
}

#[async_trait::async_trait]
pub trait SearchStore: Send + Sync + 'static {
    /// Keeps pages of a team (nil: of everybody), each in place of an older one with the same key. Those of scrapes come with their
    /// records instead ([`crate::scrapes::NewScrape::search`]). Returns how many were new or other than before.
    async fn put_search_pages(&self, team: Uuid, pages: Vec<NewSearchPage>) -> StoreResult<u64>;

    /// Whether a page of a team is kept.
    async fn has_search_page(&self, team: Uuid, collection: &str, key: &SearchKey) -> StoreResult<bool>;

    /// What changed after the number `after`, at least `limit` lines if there are as many. Lines appear in an order that no later
    /// commit of a slow writer can fall in front of.
    async fn search_feed(&self, after: i64, limit: u32) -> StoreResult<Feed>;

    /// Bytes of all pages that are kept for search; a running total.
    async fn search_bytes(&self) -> StoreResult<i64>;

    /// Pages by collection. Counts them: for people, not for every request.
    async fn search_totals(&self) -> StoreResult<Vec<CollectionTotal>>;

    /// Lets pages of a team and collection go whose address begins with `prefix`; how many went.
    async fn forget_search_pages(&self, team: Uuid, collection: &str, prefix: &str) -> StoreResult<u64>;

    /// When more than `ceiling` bytes are kept, up to `limit` of those seen longest ago go, no more than needed.
    async fn evict_search_pages(&self, ceiling: u64, limit: u32) -> StoreResult<u64>;

    /// Deletes up to `limit` of each: rows of pages gone for longer than [`DELETED_PAGE_RETENTION`], and searches past their time.
    async fn purge_search(&self, limit: u32) -> StoreResult<u64>;

    async fn put_search(&self, search: NewSearch) -> StoreResult<()>;

    /// `None` for unknown ids, for those of other teams, and for searches past their time alike.
    async fn search_record(&self, team: Uuid, id: Uuid) -> StoreResult<Option<SearchRecord>>;

    async fn put_feedback(&self, feedback: NewFeedback) -> StoreResult<FeedbackPut>;

    /// Hosts and addresses that the team found valuable, the latest first, with how much: 0.5 when it was said once, towards 1 the
    /// more often. At most [`MAX_VALUED_SOURCES`].
    async fn valued_sources(&self, team: Uuid) -> StoreResult<Vec<(String, f32)>>;
}

/// How much a source is valued that was marked so many times.
pub(crate) fn value_of(marks: i64) -> f32 {
    1.0 - 0.5_f32.powi(i32::try_from(marks.clamp(0, 64)).unwrap_or(64))
}

/// Addresses as they are kept.
pub(crate) fn url_list(urls: &[String]) -> String {
    serde_json::Value::from(urls).to_string()
}

/// Each once, in one order for every writer; none when there are none.
pub(crate) fn distinct(sources: &[String]) -> Option<Vec<String>> {
    let once: BTreeSet<String> = sources.iter().map(|source| storable(source).into_owned()).collect();
    (!once.is_empty()).then(|| once.into_iter().collect())
}

pub(crate) fn feed_entry(row: &impl Columns) -> StoreResult<FeedEntry> {
    let key = row.bytes("key")?;
    Ok(FeedEntry {
        seq: row.int("seq")?,
        team: row.id("team_id")?,
        collection: row.text("collection")?,
        key: key
            .try_into()
            .map_err(|_| StoreError::Database("a key for search has another length".into()))?,
        seen_at: row.int("seen_at")?,
        document: row.bytes_or_none("document")?,
    })
}

pub(crate) fn collection_total(row: &impl Columns) -> StoreResult<CollectionTotal> {
    let (collection, pages) = (row.text("collection")?, row.count("pages")?);
    Ok(CollectionTotal { collection, pages, bytes: row.count("bytes")? })
}

pub(crate) fn search_record(row: &impl Columns) -> StoreResult<SearchRecord> {
    let urls = row.text("urls")?;
    Ok(SearchRecord {
        id: row.id("id")?,
        created_at: row.int("created_at")?,
        query: row.text("query")?,
        urls: serde_json::from_str(&urls).map_err(|error| StoreError::Database(error.to_string()))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_grows_towards_one() {
        assert!((value_of(1) - 0.5).abs() < f32::EPSILON);
        assert!(value_of(2) > value_of(1) && value_of(i64::MAX) <= 1.0);
        assert!(value_of(-5).abs() < f32::EPSILON);
    }
}
