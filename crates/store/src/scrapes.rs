//! Records of scrapes: what `GET /v2/scrape/{id}` answers with, what was charged, what activity shows.
//!
//! A scrape leaves everything behind in one write: its record, its page for the cache, its entry in
//! the team's activity, and its price. Callers hand over many at once, which share one transaction.

use crate::idempotency::KeyClaim;
use crate::pages::NewPage;
use crate::rows::Columns;
use crate::search::NewSearchPage;
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

/// The most bytes that the result, the error and the page of one scrape may have together.
pub const MAX_SCRAPE_BYTES: usize = 64 << 20;

#[derive(Debug, Clone)]
pub struct NewScrape {
    /// Time-ordered (uuid v7). Recording the same id again changes nothing and charges nothing.
    pub id: Uuid,
    pub team_id: Uuid,
    pub key_id: Option<Uuid>,
    /// The capability, for instance `scrape`: activity shows it, and usage counts under it.
    pub endpoint: String,
    pub url: String,
    pub ok: bool,
    /// Compressed by the caller.
    pub result: Option<Vec<u8>>,
    /// JSON text.
    pub error: Option<String>,
    /// Kept in the cache for the team.
    pub page: Option<NewPage>,
    /// Kept for the team to be found by search.
    pub search: Option<NewSearchPage>,
    pub credits: i64,
    /// Charged with the credits and closed, the rest released. Without one (an unlimited plan) the
    /// credits count as used in the current period.
    pub reservation: Option<Uuid>,
    /// Who stood behind the request, as the caller says; shown with the activity.
    pub audit: Option<String>,
    /// How long the request took; shown with the activity.
    pub took: Option<Duration>,
    pub keep_for: Duration,
    /// Zero data retention: only id, team, time, outcome and credits are written, and no activity. URL,
    /// result, error, both pages and audit are dropped here even when they are given.
    pub private: bool,
    /// Its idempotency key, claimed before it began: stays used when the scrape is `ok`, and is free again when it is not.
    pub claim: Option<KeyClaim>,
}

/// What became of one scrape of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    Written,
    /// There is a record with this id already; nothing was charged again.
    KnownBefore,
    /// Nothing of it was written, for this reason: its reservation is closed or too small, or the
    /// record breaks a rule of the store.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScrapeRecord {
    pub id: Uuid,
    /// Empty when private.
    pub url: String,
    pub ok: bool,
    pub result: Option<Vec<u8>>,
    pub error: Option<String>,
    pub credits: i64,
    pub private: bool,
    /// The key of the request; none when private, and with authentication off.
    pub key_id: Option<Uuid>,
    pub created_at: Millis,
}

#[async_trait::async_trait]
pub trait ScrapeStore: Send + Sync + 'static {
    /// Records scrapes, all in one transaction; what became of each, in the order given. A refused one
    /// does not hold up the others. After an error nothing was written, or (when the answer was lost on
    /// its way) everything: the same call may be made again.
    async fn record_scrapes(&self, scrapes: Vec<NewScrape>) -> StoreResult<Vec<Recorded>>;

    /// Keeps how a scrape was asked for, encrypted, so that its page can be opened again in the same way.
    async fn keep_scrape_request(
        &self,
        team: Uuid,
        id: Uuid,
        request: &str,
        keep_for: Duration,
    ) -> StoreResult<()>;

    /// How a scrape was asked for; `None` where that was not kept or cannot be decrypted.
    async fn scrape_request(&self, team: Uuid, id: Uuid) -> StoreResult<Option<String>>;

    /// Deletes up to `limit` requests that have expired; how many.
    async fn purge_scrape_requests(&self, limit: u32) -> StoreResult<u64>;

    /// `None` for unknown ids, for those of other teams, and for records past their time alike.
    async fn scrape(&self, team: Uuid, id: Uuid) -> StoreResult<Option<ScrapeRecord>>;
}

pub(crate) fn scrape_record_from_row(row: &impl Columns) -> StoreResult<ScrapeRecord> {
    Ok(ScrapeRecord {
        id: row.id("id")?,
        url: row.text("url")?,
        ok: row.flag("ok")?,
        result: row.bytes_or_none("result")?,
        error: row.text_or_none("error")?,
        credits: row.int("credits")?,
        private: row.flag("private")?,
        key_id: row.id_or_none("key_id")?,
        created_at: row.int("created_at")?,
    })
}
