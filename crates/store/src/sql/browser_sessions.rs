//! Sessions of browsers.

use super::Backend;
use crate::browser_sessions::{
    BrowserSession, BrowserSessionStore, NewBrowserSession, SessionFilter, session_from_row,
};
use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl<B: Backend> BrowserSessionStore for B {
    async fn begin_browser_session(&self, session: NewBrowserSession) -> StoreResult<(Millis, Millis)> {
        let row = self
            .query("browser_sessions.begin")
            .bind(session.id)
            .bind(session.team_id)
            .bind(session.scrape_id)
            .bind(session.holder)
            .bind(clock::millis(session.hold_for))
            .bind(session.reservation)
            .bind(session.stream)
            .bind(session.prompted)
            .bind(clock::millis(session.ttl))
            .bind(clock::millis(session.keep_for))
            .fetch_one(&mut self.single())
            .await?;
        Ok((row.int("created_at")?, row.int("expires_at")?))
    }

    async fn browser_session(&self, team: Uuid, id: Uuid) -> StoreResult<Option<BrowserSession>> {
        let query = self.query("browser_sessions.get").bind(team).bind(id);
        query.fetch_optional(&mut self.reader()).await?.as_ref().map(session_from_row).transpose()
    }

    async fn browser_session_of_scrape(
        &self,
        team: Uuid,
        scrape: Uuid,
    ) -> StoreResult<Option<BrowserSession>> {
        let query = self.query("browser_sessions.of_scrape").bind(team).bind(scrape);
        query.fetch_optional(&mut self.reader()).await?.as_ref().map(session_from_row).transpose()
    }

    async fn browser_sessions(
        &self,
        team: Uuid,
        filter: SessionFilter,
        limit: u32,
    ) -> StoreResult<Vec<BrowserSession>> {
        let filter = match filter {
            SessionFilter::All => 0_i64,
            SessionFilter::Running => 1,
            SessionFilter::Ended => 2,
        };
        let query = self.query("browser_sessions.list").bind(team).bind(filter).bind(i64::from(limit));
        query.fetch_all(&mut self.reader()).await?.iter().map(session_from_row).collect()
    }

    async fn renew_browser_session(
        &self,
        id: Uuid,
        holder: Uuid,
        hold_for: Duration,
        last_activity: Millis,
        prompted: bool,
    ) -> StoreResult<bool> {
        let done = self
            .query("browser_sessions.renew")
            .bind(id)
            .bind(holder)
            .bind(clock::millis(hold_for))
            .bind(last_activity)
            .bind(prompted)
            .execute(&mut self.single())
            .await?;
        Ok(done > 0)
    }

    async fn end_browser_session(
        &self,
        id: Uuid,
        reason: &str,
        credits: i64,
        keep_for: Duration,
    ) -> StoreResult<bool> {
        let ended = self
            .query("browser_sessions.end")
            .bind(id)
            .bind(storable(reason))
            .bind(credits)
            .bind(clock::millis(keep_for))
            .fetch_optional(&mut self.single())
            .await?;
        Ok(ended.is_some())
    }

    async fn lost_browser_sessions(&self, limit: u32) -> StoreResult<Vec<BrowserSession>> {
        let query = self.query("browser_sessions.lost").bind(i64::from(limit));
        query.fetch_all(&mut self.reader()).await?.iter().map(session_from_row).collect()
    }

    async fn purge_browser_sessions(&self, limit: u32) -> StoreResult<u64> {
        let done =
            self.query("browser_sessions.purge").bind(i64::from(limit)).execute(&mut self.single()).await?;
        Ok(done)
    }
}
