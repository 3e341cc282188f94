//! Sessions in lists.

use super::billing::end_reason;
use super::sessions::Sessions;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use store::browser_sessions::{BrowserSession, SessionFilter};
use stored_data::time;
use wire::Issue;
use wire::interact::{BrowserList, BrowserListQuery, BrowserSessionItem};

/// Sessions in a list.
const MAX_LISTED: u32 = 100;

impl Sessions {
    /// The team's sessions, newest first.
    pub fn list<'a>(
        &'a self,
        caller: &'a Caller,
        query: &'a BrowserListQuery,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<BrowserList, Error>> {
        Box::pin(async move {
            let filter = match query.status.as_deref() {
                None => SessionFilter::All,
                Some("active") => SessionFilter::Running,
                Some("destroyed") => SessionFilter::Ended,
                Some(_) => {
                    let issue = Issue::at("status", "must be active or destroyed", "invalid_value");
                    return Err(Error::invalid(&[issue]));
                }
            };
            let rows = self.services.store.browser_sessions(caller.team, filter, MAX_LISTED).await;
            let sessions = rows.map_err(from_store)?.iter().map(|row| self.item(row, base_url)).collect();
            Ok(BrowserList { success: true, sessions })
        })
    }

    fn item(&self, row: &BrowserSession, base_url: &str) -> BrowserSessionItem {
        let links = self.links.of_session(base_url, row.id);
        let here = self.active.lock().get(&row.id).map(|active| active.last_activity());
        let lost = row.ended_at.is_none() && row.held_until <= time::now();
        let ended_at = row.ended_at.or_else(|| lost.then_some(row.held_until));
        BrowserSessionItem {
            id: row.id,
            status: if ended_at.is_none() { "active" } else { "destroyed" },
            cdp_url: links.cdp,
            live_view_url: links.view,
            interactive_live_view_url: links.act,
            stream_web_view: row.stream,
            created_at: time::iso(row.created_at),
            last_activity: time::iso(here.unwrap_or(row.last_activity)),
            expires_at: time::iso(row.expires_at),
            destroyed_at: ended_at.map(time::iso),
            destroyed_reason: ended_at.map(|_| end_reason(row)),
            credits_billed: row.ended_at.map(|_| row.credits),
        }
    }
}
