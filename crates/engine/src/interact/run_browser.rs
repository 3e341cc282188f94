//! Sessions of agent runs: begun for one page, driven by restricted commands, ended with the run whatever becomes of it.

use super::active::ActiveSession;
use super::plan::SessionPlan;
use super::session_cdp::SessionCdp;
use super::sessions::Sessions;
use crate::Error;
use crate::scrape::plan::Access;
use access::Caller;
use browser_commands::prompt::RestrictedBrowser;
use browser_commands::{Commander, CommanderOptions};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;
use wire::Kind;

/// How long the end of a session is waited for; it ends also when nobody waits.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The browser of an agent run. Dropping it ends the session.
#[derive(Debug)]
pub struct RunBrowser {
    session: EndOnDrop,
    pub commands: RestrictedBrowser,
}

struct EndOnDrop(Arc<ActiveSession>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end("the agent run that used it ended it");
    }
}

impl std::fmt::Debug for EndOnDrop {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("EndOnDrop").field(&self.0.row.id).finish()
    }
}

impl Sessions {
    /// Whether there is a browser for sessions at all.
    pub fn has_browser(&self) -> bool {
        self.browsers.is_some()
    }

    /// The address at which a session can be watched while it runs.
    pub fn live_view_url(&self, base_url: &str, id: Uuid) -> String {
        self.links.of_view(base_url, id)
    }

    /// Begins a session for a run. `request` is what the caller of the run wrote.
    pub async fn begin_for_run(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        access: &Access,
        request: &str,
        ttl: Duration,
    ) -> Result<RunBrowser, Error> {
        let plan = SessionPlan::of_run(access, caller, ttl)?;
        let (sessions, caller, request) = (Arc::clone(self), Arc::clone(caller), request.to_owned());
        // In a task of its own: when the run is cancelled meanwhile, what comes of this is dropped, which ends the session.
        let beginning = tokio::spawn(async move {
            let active = sessions.begin(&caller, &plan, None, |_| async { Ok(()) }).await?;
            RunBrowser::connect(EndOnDrop(active), &request).await
        });
        beginning.await.map_err(Error::internal)?
    }
}

impl RunBrowser {
    async fn connect(session: EndOnDrop, request: &str) -> Result<Self, Error> {
        let client = session.0.session.client().await;
        let client = client.map_err(|error| Error::because(Kind::BrowserFailed, &error.to_string()))?;
        let commander = Commander::new(Arc::new(SessionCdp::new(client)), CommanderOptions::default());
        Ok(Self { session, commands: RestrictedBrowser::new(commander, request) })
    }

    pub fn id(&self) -> Uuid {
        self.session.0.row.id
    }

    /// Something was done in it.
    pub fn touch(&self) {
        self.session.0.touch();
    }

    /// Ends the session.
    pub async fn close(&self) {
        let active = &self.session.0;
        active.end("the agent run that used it ended it");
        // It goes on ending when this takes longer.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, active.until_ended()).await;
    }
}
