//! The sessions of this process, and what callers do with sessions.

use super::active::ActiveSession;
use super::billing::{self, ENDED_RETENTION, end_reason};
use super::code::CodeRunner;
use super::links::Links;
use super::openings::Openings;
use super::plan::SessionPlan;
use super::recordings::Recordings;
use super::replays::Replays;
use super::settings::InteractSettings;
use super::starting::start_session;
use crate::scrape::profile::OpenProfile;
use crate::services::Services;
use crate::{Error, from_store};
use access::{Caller, CallerError, credits};
use futures_util::future::BoxFuture;
use interact::{Session, SessionBrowsers, recording};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::browser_sessions::{BrowserSession, NewBrowserSession};
use stored_data::time;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wire::Kind;
use wire::interact::{BrowserCreated, BrowserRequest};

const PURPOSE: &str = "interact";
/// A process that is silent for this long has lost its sessions.
pub(super) const HOLD_FOR: Duration = Duration::from_secs(30);
/// How long credits stay set aside after the end of a session.
const RESERVATION_SLACK: Duration = Duration::from_mins(5);
/// How long the end of all sessions may take when the process stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);
const RETRY_SECONDS: u64 = 5;

/// Begins, uses and ends sessions. One per process.
pub struct Sessions {
    pub(super) services: Services,
    pub(super) browsers: Option<SessionBrowsers>,
    pub(super) runner: Option<Arc<dyn CodeRunner>>,
    pub(super) links: Links,
    replays: Replays,
    pub(super) settings: InteractSettings,
    /// This process, in rows.
    holder: Uuid,
    pub(super) active: Mutex<HashMap<Uuid, Arc<ActiveSession>>>,
    slots: Arc<Semaphore>,
    pub(super) openings: Openings,
    tasks: TaskTracker,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Sessions").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Sessions {
    /// `runner` runs the code of callers; without one they are told that it is not installed. Without `recordings`
    /// nothing is recorded.
    pub fn open(
        services: &Services,
        settings: InteractSettings,
        runner: Option<Arc<dyn CodeRunner>>,
        recordings: Option<Recordings>,
    ) -> BoxFuture<'_, Result<Arc<Self>, Error>> {
        Box::pin(async move {
            let browsers = services.browsers.clone();
            let links = Links::open(services.store.as_ref()).await?;
            Ok(Arc::new(Self {
                replays: Replays::new(recordings, links.clone()),
                links,
                services: services.clone(),
                browsers: browsers
                    .map(|browsers| SessionBrowsers::new(browsers, settings.keep_warm, settings.max_memory)),
                runner,
                slots: Arc::new(Semaphore::new(settings.max_sessions.max(1))),
                settings,
                holder: Uuid::new_v4(),
                active: Mutex::default(),
                openings: Openings::default(),
                tasks: TaskTracker::new(),
            }))
        })
    }

    /// The recordings of sessions.
    pub fn replays(&self) -> &Replays {
        &self.replays
    }

    /// Begins a session.
    pub fn create<'a>(
        self: &'a Arc<Self>,
        caller: &'a Arc<Caller>,
        asked: &'a BrowserRequest,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<BrowserCreated, Error>> {
        Box::pin(async move {
            let plan = SessionPlan::resolve(asked, caller, self.settings.record)?;
            let active = self.begin(caller, &plan, None, |_| async { Ok(()) }).await?;
            if let Some(runner) = self.runner.clone() {
                tokio::spawn(async move { runner.prepare().await });
            }
            let links = self.links.of_session(base_url, active.row.id);
            Ok(BrowserCreated {
                success: true,
                id: active.row.id,
                cdp_url: links.cdp,
                live_view_url: links.view,
                interactive_live_view_url: links.act,
                expires_at: time::iso(active.row.expires_at),
            })
        })
    }

    /// Starts a browser, prepares it, and writes the session down.
    pub(super) async fn begin<F: Future<Output = Result<(), Error>> + Send>(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        plan: &SessionPlan,
        scrape: Option<Uuid>,
        prepare: impl FnOnce(Arc<Session>) -> F + Send,
    ) -> Result<Arc<ActiveSession>, Error> {
        let browsers = self.browsers.as_ref().ok_or(Kind::NoBrowserInstalled)?;
        let room = Arc::clone(&self.slots).try_acquire_owned();
        let max = u32::try_from(self.settings.max_sessions).unwrap_or(u32::MAX);
        let room = room.map_err(|_| CallerError::ConcurrencyLimited { max })?;
        let slot = self.services.limiter.browser_slot(caller).await?;
        let store = &self.services.store;
        let profile = OpenProfile::open(store.clone(), caller.team, plan.profile.as_ref(), HOLD_FOR).await?;
        let ttl_ms = i64::try_from(plan.ttl.as_millis()).unwrap_or(i64::MAX);
        // Where credits are not limited, what a prompt would cost is set aside at once.
        let most = billing::price(ttl_ms, caller.plan.credits.is_none());
        let reservation = if plan.is_charged {
            credits::reserve(store.as_ref(), caller, most, PURPOSE, plan.ttl + RESERVATION_SLACK).await?
        } else {
            billing::PAID_BY_RUN
        };
        let begun = self.begin_reserved(browsers, plan, &profile, prepare).await;
        let session = match begun {
            Ok(session) => session,
            Err(error) => {
                credits::give_back(store.as_ref(), reservation).await;
                return Err(error);
            }
        };
        let new = NewBrowserSession {
            id: Uuid::now_v7(),
            team_id: caller.team,
            scrape_id: scrape,
            holder: self.holder,
            hold_for: HOLD_FOR,
            reservation,
            stream: plan.stream,
            prompted: false,
            ttl: plan.ttl,
            keep_for: ENDED_RETENTION,
        };
        let written = store.begin_browser_session(new.clone()).await;
        let (created_at, expires_at) = match written {
            Ok(times) => times,
            Err(error) => {
                session.end().await;
                credits::give_back(store.as_ref(), reservation).await;
                return Err(from_store(error));
            }
        };
        let row = BrowserSession {
            id: new.id,
            team_id: new.team_id,
            scrape_id: new.scrape_id,
            holder: new.holder,
            held_until: created_at,
            reservation,
            stream: new.stream,
            prompted: false,
            created_at,
            expires_at,
            last_activity: created_at,
            ended_at: None,
            end_reason: None,
            credits: 0,
        };
        let recording = if plan.record { self.record(&session, &row).await } else { None };
        let active = Arc::new(ActiveSession::new(session, row, plan.activity_ttl, profile, slot, recording));
        self.active.lock().insert(active.row.id, Arc::clone(&active));
        self.look_after(Arc::clone(&active), room);
        Ok(active)
    }

    async fn begin_reserved<F: Future<Output = Result<(), Error>> + Send>(
        &self,
        browsers: &SessionBrowsers,
        plan: &SessionPlan,
        profile: &OpenProfile,
        prepare: impl FnOnce(Arc<Session>) -> F + Send,
    ) -> Result<Arc<Session>, Error> {
        let session = start_session(browsers, &self.settings, plan, profile).await?;
        if let Err(error) = prepare(Arc::clone(&session)).await {
            session.end().await;
            return Err(error);
        }
        Ok(session)
    }

    /// Begins to record a session. One that cannot be recorded goes on without.
    async fn record(&self, session: &Session, row: &BrowserSession) -> Option<JoinHandle<()>> {
        let recordings = self.replays.recordings()?.clone();
        match recording::record(session).await {
            Ok(frames) => Some(tokio::spawn(recordings.write(row.id, row.team_id, frames))),
            Err(error) => {
                tracing::warn!(%error, session = %row.id, "a browser session is not recorded");
                None
            }
        }
    }

    fn look_after(self: &Arc<Self>, active: Arc<ActiveSession>, room: OwnedSemaphorePermit) {
        let sessions = Arc::clone(self);
        self.tasks.spawn(async move {
            active.run(sessions.services.store.as_ref(), sessions.runner.as_deref()).await;
            sessions.active.lock().remove(&active.row.id);
            drop(room);
        });
    }

    /// A session whose browser is here.
    pub(super) async fn find(&self, caller: &Caller, id: Uuid) -> Result<Arc<ActiveSession>, Error> {
        let here = self.active.lock().get(&id).cloned();
        if let Some(active) = here.filter(|active| active.row.team_id == caller.team) {
            return Ok(active);
        }
        let row = self.row(caller, id).await?;
        Err(self.why_not_here(&row))
    }

    pub(super) async fn row(&self, caller: &Caller, id: Uuid) -> Result<BrowserSession, Error> {
        let row = self.services.store.browser_session(caller.team, id).await.map_err(from_store)?;
        row.ok_or_else(|| Kind::SessionNotFound.into())
    }

    pub(super) fn why_not_here(&self, row: &BrowserSession) -> Error {
        let over = row.ended_at.is_some() || row.held_until <= time::now() || row.holder == self.holder;
        if over {
            return Error::because(Kind::SessionDestroyed, &end_reason(row));
        }
        let reason = "the session runs in another process of this service; send its requests there";
        Error::Unavailable { reason, retry_after: RETRY_SECONDS }
    }

    /// Ends all sessions of this process.
    pub fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let active: Vec<_> = self.active.lock().values().cloned().collect();
            for session in active {
                session.end("the server was stopped");
            }
            self.tasks.close();
            if tokio::time::timeout(SHUTDOWN_TIMEOUT, self.tasks.wait()).await.is_err() {
                tracing::warn!("browser sessions did not end in time");
            }
            if let Some(browsers) = &self.browsers {
                browsers.shut_down().await;
            }
        })
    }
}
