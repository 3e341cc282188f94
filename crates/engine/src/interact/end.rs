//! Ending sessions on request.

use super::billing;
use super::sessions::Sessions;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use std::time::Duration;
use stored_data::time;
use uuid::Uuid;
use wire::Kind;
use wire::interact::BrowserDeleted;

/// How long a caller who ends a session waits for the end.
const DELETE_TIMEOUT: Duration = Duration::from_secs(20);

impl Sessions {
    /// Ends a session.
    pub fn delete<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
    ) -> BoxFuture<'a, Result<BrowserDeleted, Error>> {
        Box::pin(async move {
            let here = self.active.lock().get(&id).cloned();
            if let Some(active) = here.filter(|active| active.row.team_id == caller.team) {
                active.end("deleted");
                let ended = tokio::time::timeout(DELETE_TIMEOUT, active.until_ended()).await.ok().flatten();
                let so_far = (time::now() - active.row.created_at).max(0);
                return Ok(BrowserDeleted {
                    success: true,
                    session_duration_ms: ended.map_or(so_far, |ended| ended.duration_ms),
                    credits_billed: ended.map(|ended| ended.credits),
                    cleanup_queued: ended.is_none().then_some(true),
                    status: "destroyed",
                });
            }
            let row = self.row(caller, id).await?;
            if row.ended_at.is_some() {
                return Err(self.why_not_here(&row));
            }
            // Its process notices when it renews the row.
            let ended = billing::end_row(self.services.store.as_ref(), &row, "deleted", time::now()).await;
            let Some(ended) = ended.map_err(from_store)? else { return Err(self.why_not_here(&row)) };
            Ok(BrowserDeleted {
                success: true,
                session_duration_ms: ended.duration_ms,
                credits_billed: Some(ended.credits),
                cleanup_queued: Some(true),
                status: "destroyed",
            })
        })
    }

    /// Ends the session of a scrape.
    pub fn stop_interact<'a>(
        &'a self,
        caller: &'a Caller,
        scrape: Uuid,
    ) -> BoxFuture<'a, Result<BrowserDeleted, Error>> {
        Box::pin(async move {
            let store = &self.services.store;
            let running = store.browser_session_of_scrape(caller.team, scrape).await.map_err(from_store)?;
            match running {
                Some(row) => self.delete(caller, row.id).await,
                None => Err(Kind::SessionNotFound.into()),
            }
        })
    }
}
