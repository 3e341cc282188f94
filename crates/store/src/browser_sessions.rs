//! Sessions of browsers that callers drive: whose each is, which process has its browser, when it ends and what it cost. The
//! browser itself is in that process and nowhere else: when the process dies, the session is lost.

use crate::rows::Columns;
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

/// A session that begins.
#[derive(Debug, Clone)]
pub struct NewBrowserSession {
    pub id: Uuid,
    pub team_id: Uuid,
    /// The scrape whose page it begins with.
    pub scrape_id: Option<Uuid>,
    /// The process that has the browser.
    pub holder: Uuid,
    /// How long the process may be silent before the session counts as lost.
    pub hold_for: Duration,
    /// What was set aside to pay for it.
    pub reservation: Uuid,
    pub stream: bool,
    pub prompted: bool,
    pub ttl: Duration,
    /// How long it is listed after its end.
    pub keep_for: Duration,
}

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSession {
    pub id: Uuid,
    pub team_id: Uuid,
    pub scrape_id: Option<Uuid>,
    pub holder: Uuid,
    pub held_until: Millis,
    pub reservation: Uuid,
    pub stream: bool,
    pub prompted: bool,
    pub created_at: Millis,
    pub expires_at: Millis,
    pub last_activity: Millis,
    /// None while it runs, or while nobody noticed that it was lost.
    pub ended_at: Option<Millis>,
    pub end_reason: Option<String>,
    pub credits: i64,
}

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFilter {
    All,
    Running,
    Ended,
}

#[async_trait::async_trait]
pub trait BrowserSessionStore: Send + Sync + 'static {
    /// Writes a session down; when it began and when it ends at the latest.
    async fn begin_browser_session(&self, session: NewBrowserSession) -> StoreResult<(Millis, Millis)>;

    /// A session of the team, running or ended.
    async fn browser_session(&self, team: Uuid, id: Uuid) -> StoreResult<Option<BrowserSession>>;

    /// The session of a scrape that runs.
    async fn browser_session_of_scrape(
        &self,
        team: Uuid,
        scrape: Uuid,
    ) -> StoreResult<Option<BrowserSession>>;

    /// Sessions of the team, newest first.
    async fn browser_sessions(
        &self,
        team: Uuid,
        filter: SessionFilter,
        limit: u32,
    ) -> StoreResult<Vec<BrowserSession>>;

    /// The holder still has the browser; `false` when the session was ended by somebody else.
    async fn renew_browser_session(
        &self,
        id: Uuid,
        holder: Uuid,
        hold_for: Duration,
        last_activity: Millis,
        prompted: bool,
    ) -> StoreResult<bool>;

    /// Ends a session with its price; `false` when it had ended. Of several who try at once one succeeds.
    async fn end_browser_session(
        &self,
        id: Uuid,
        reason: &str,
        credits: i64,
        keep_for: Duration,
    ) -> StoreResult<bool>;

    /// Sessions whose holder has been silent for too long.
    async fn lost_browser_sessions(&self, limit: u32) -> StoreResult<Vec<BrowserSession>>;

    /// Deletes up to `limit` sessions that are listed no longer; how many.
    async fn purge_browser_sessions(&self, limit: u32) -> StoreResult<u64>;
}

pub(crate) fn session_from_row(row: &impl Columns) -> StoreResult<BrowserSession> {
    Ok(BrowserSession {
        id: row.id("id")?,
        team_id: row.id("team_id")?,
        scrape_id: row.id_or_none("scrape_id")?,
        holder: row.id("holder")?,
        held_until: row.int("held_until")?,
        reservation: row.id("reservation")?,
        stream: row.flag("stream")?,
        prompted: row.flag("prompted")?,
        created_at: row.int("created_at")?,
        expires_at: row.int("expires_at")?,
        last_activity: row.int("last_activity")?,
        ended_at: row.int_or_none("ended_at")?,
        end_reason: row.text_or_none("end_reason")?,
        credits: row.int("credits")?,
    })
}
