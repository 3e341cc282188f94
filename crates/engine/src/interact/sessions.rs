//! The sessions of this process, and what callers do with sessions.

use super::active::ActiveSession;
use super::billing::{self, ENDED_RETENTION};
use super::code::{CodeError, CodeRunner, CodeSession};
use super::links::{LinkPurpose, Links};
use super::plan::{SessionPlan, Task, TaskPlan};
use super::reopen;
use crate::callers::Caller;
use crate::credits;
use crate::scrape::ScrapePlan;
use crate::scrape::profile::OpenProfile;
use crate::services::Services;
use crate::{Error, from_store, time};
use interact::live_view::{self, ViewInput, ViewOutput};
use interact::{CdpPort, Session, SessionBrowsers, SessionRules};
use net::{Deadline, Via};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::browser_sessions::{BrowserSession, NewBrowserSession, SessionFilter};
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wire::interact::{
    BrowserCreated, BrowserDeleted, BrowserList, BrowserListQuery, BrowserRequest, BrowserSessionItem,
    ExecuteRequest, ExecuteResponse, InteractRequest, InteractResponse,
};
use wire::scrape::ScrapeRequest;
use wire::{Issue, Kind};

const PURPOSE: &str = "interact";
/// A process that is silent for this long has lost its sessions.
pub(super) const HOLD_FOR: Duration = Duration::from_secs(30);
/// How long credits stay set aside after the end of a session.
const RESERVATION_SLACK: Duration = Duration::from_mins(5);
/// Sessions in a list.
const MAX_LISTED: u32 = 100;
/// How long a caller who ends a session waits for the end.
const DELETE_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the end of all sessions may take when the process stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);
const RETRY_SECONDS: u64 = 5;

/// Notes that a session was used.
pub type OnActivity = Box<dyn Fn() + Send + Sync>;

/// Limits of this process.
#[derive(Debug, Clone, Copy)]
pub struct InteractSettings {
    /// Sessions at once; each is a browser.
    pub max_sessions: usize,
    /// Memory of one browser.
    pub max_memory: u64,
    /// Bytes the pages of one session may receive.
    pub max_bytes: u64,
    /// Whether a browser is started ahead of the next session.
    pub keep_warm: bool,
}

impl Default for InteractSettings {
    fn default() -> Self {
        Self { max_sessions: 20, max_memory: 2 << 30, max_bytes: 4 << 30, keep_warm: true }
    }
}

/// Begins, uses and ends sessions. One per process.
pub struct Sessions {
    services: Services,
    browsers: Option<SessionBrowsers>,
    runner: Option<Arc<dyn CodeRunner>>,
    links: Links,
    settings: InteractSettings,
    /// This process, in rows.
    holder: Uuid,
    active: Mutex<HashMap<Uuid, Arc<ActiveSession>>>,
    slots: Arc<Semaphore>,
    /// Two first calls for one scrape must not open two sessions.
    opening: [AsyncMutex<()>; 16],
    tasks: TaskTracker,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Sessions").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Sessions {
    /// `runner` runs the code of callers; without one they are told that it is not installed.
    pub async fn open(
        services: &Services,
        settings: InteractSettings,
        runner: Option<Arc<dyn CodeRunner>>,
    ) -> Result<Arc<Self>, Error> {
        let browsers = services.browsers.clone();
        Ok(Arc::new(Self {
            links: Links::open(services.store.as_ref()).await?,
            services: services.clone(),
            browsers: browsers.map(|browsers| SessionBrowsers::new(browsers, settings.keep_warm)),
            runner,
            settings,
            holder: Uuid::new_v4(),
            active: Mutex::default(),
            slots: Arc::new(Semaphore::new(settings.max_sessions.max(1))),
            opening: Default::default(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Begins a session.
    pub async fn create(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        asked: &BrowserRequest,
        base_url: &str,
    ) -> Result<BrowserCreated, Error> {
        let plan = SessionPlan::resolve(asked, caller)?;
        let active = self.begin(caller, &plan, None, |_| async { Ok(()) }).await?;
        let links = self.links.of_session(base_url, active.row.id);
        Ok(BrowserCreated {
            success: true,
            id: active.row.id,
            cdp_url: links.cdp,
            live_view_url: links.view,
            interactive_live_view_url: links.act,
            expires_at: time::iso(active.row.expires_at),
        })
    }

    /// Starts a browser, prepares it, and writes the session down.
    async fn begin<F: Future<Output = Result<(), Error>> + Send>(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        plan: &SessionPlan,
        scrape: Option<Uuid>,
        prepare: impl FnOnce(Arc<Session>) -> F + Send,
    ) -> Result<Arc<ActiveSession>, Error> {
        let browsers = self.browsers.as_ref().ok_or(Kind::NoBrowserInstalled)?;
        let room = Arc::clone(&self.slots).try_acquire_owned();
        let max = u32::try_from(self.settings.max_sessions).unwrap_or(u32::MAX);
        let room = room.map_err(|_| Error::ConcurrencyLimited { max })?;
        let slot = self.services.limiter.browser_slot(caller).await?;
        let store = &self.services.store;
        let profile = OpenProfile::open(store.clone(), caller.team, plan.profile.as_ref(), HOLD_FOR).await?;
        let ttl_ms = i64::try_from(plan.ttl.as_millis()).unwrap_or(i64::MAX);
        // Where credits are not limited, what a prompt would cost is set aside at once.
        let most = billing::price(ttl_ms, caller.plan.credits.is_none());
        let reservation =
            credits::reserve(store.as_ref(), caller, most, PURPOSE, plan.ttl + RESERVATION_SLACK).await?;
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
        let active = Arc::new(ActiveSession::new(session, row, plan.activity_ttl, profile, slot));
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
        let failed = |reason: String| Error::because(Kind::BrowserFailed, &reason);
        let browser = browsers.take().await.map_err(|error| failed(error.to_string()))?;
        let rules = SessionRules {
            via: Via::Settings,
            deadline: Deadline::after(plan.ttl + HOLD_FOR),
            max_bytes: self.settings.max_bytes,
            max_memory: self.settings.max_memory,
            allowed_hosts: plan.allowed.resource_rule(),
            block_ads: plan.block_ads,
        };
        let started = Session::start(browser, rules, profile.state()).await;
        let session = Arc::new(started.map_err(|error| failed(error.to_string()))?);
        if let Err(error) = prepare(Arc::clone(&session)).await {
            session.end().await;
            return Err(error);
        }
        Ok(session)
    }

    fn look_after(self: &Arc<Self>, active: Arc<ActiveSession>, room: OwnedSemaphorePermit) {
        let sessions = Arc::clone(self);
        self.tasks.spawn(async move {
            active.run(sessions.services.store.as_ref(), sessions.runner.as_deref()).await;
            sessions.active.lock().remove(&active.row.id);
            drop(room);
        });
    }

    /// The team's sessions, newest first.
    pub async fn list(
        &self,
        caller: &Caller,
        query: &BrowserListQuery,
        base_url: &str,
    ) -> Result<BrowserList, Error> {
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

    /// Runs code in a session.
    pub async fn execute(
        &self,
        caller: &Caller,
        id: Uuid,
        asked: &ExecuteRequest,
        base_url: &str,
    ) -> Result<ExecuteResponse, Error> {
        let plan = TaskPlan::from_execute(asked)?;
        let active = self.find(caller, id).await?;
        let (_, outcome) = self.run(caller, &active, &plan, base_url).await?;
        // Code that failed is a success of this call.
        Ok(ExecuteResponse { success: true, ..outcome })
    }

    /// Runs code or a prompt in the session of a scrape, which begins with the first call.
    pub async fn interact(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        scrape: Uuid,
        asked: &InteractRequest,
        base_url: &str,
    ) -> Result<InteractResponse, Error> {
        let plan = TaskPlan::from_interact(asked)?;
        self.require_runner(&plan.task)?;
        let active = self.session_of_scrape(caller, scrape).await?;
        let (output, outcome) = self.run(caller, &active, &plan, base_url).await?;
        let links = self.links.of_session(base_url, active.row.id);
        Ok(InteractResponse {
            session_id: active.row.id,
            cdp_url: links.cdp,
            live_view_url: links.view,
            interactive_live_view_url: links.act,
            output,
            outcome,
        })
    }

    /// The session of a scrape, begun if there is none.
    async fn session_of_scrape(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        scrape: Uuid,
    ) -> Result<Arc<ActiveSession>, Error> {
        let lock = &self.opening[usize::from(scrape.as_bytes()[15]) % self.opening.len()];
        let _turn = lock.lock().await;
        let store = &self.services.store;
        let running = store.browser_session_of_scrape(caller.team, scrape).await.map_err(from_store)?;
        if let Some(row) = running {
            return self.find(caller, row.id).await;
        }
        let record = store.scrape(caller.team, scrape).await.map_err(from_store)?.ok_or(Kind::JobNotFound)?;
        if record.private || record.url.is_empty() {
            return Err(Kind::NoReplayContext.into());
        }
        let kept = store.scrape_request(caller.team, scrape).await.map_err(from_store)?;
        let asked = match kept {
            Some(text) => serde_json::from_str(&text).map_err(Error::internal)?,
            None => ScrapeRequest { url: Some(record.url), ..ScrapeRequest::default() },
        };
        let names_host = |host: &str| self.services.names_host(host);
        let page = ScrapePlan::resolve(&asked, false, &names_host).map_err(|_| Kind::NoReplayContext)?;
        let plan = SessionPlan::of_scrape(&page.access);
        self.begin(caller, &plan, Some(scrape), |session| async move {
            reopen::open_page(&session, &page.url, &page.access).await
        })
        .await
    }

    fn require_runner(&self, task: &Task) -> Result<&Arc<dyn CodeRunner>, Error> {
        self.runner.as_ref().ok_or_else(|| {
            let what = match task {
                Task::Code { language, .. } => format!("code in {} cannot be run", language.name()),
                Task::Prompt(_) => "prompts cannot be answered".to_owned(),
            };
            let advice = "connect to `cdpUrl` with Playwright, Puppeteer or agent-browser instead";
            Error::because(Kind::CodeNotInstalled, &format!("{what} on this server; {advice}"))
        })
    }

    async fn run(
        &self,
        caller: &Caller,
        active: &ActiveSession,
        plan: &TaskPlan,
        base_url: &str,
    ) -> Result<(Option<String>, ExecuteResponse), Error> {
        let runner = self.require_runner(&plan.task)?;
        let _busy = active.begin_task();
        let session = CodeSession {
            id: active.row.id,
            session: Arc::clone(&active.session),
            cdp_url: self.links.of_session(base_url, active.row.id).cdp,
        };
        match &plan.task {
            Task::Code { language, code } => {
                let output = runner.run(&session, *language, code, plan.timeout).await.map_err(from_code)?;
                let result = output.result.unwrap_or_else(|| output.stdout.trim_end_matches('\n').to_owned());
                let error = output.killed.then(|| "the time of the code was over".to_owned());
                let outcome = ExecuteResponse {
                    success: output.exit_code == 0,
                    stdout: output.stdout,
                    result,
                    stderr: output.stderr,
                    exit_code: output.exit_code,
                    killed: output.killed,
                    truncated: output.truncated.then_some(true),
                    error,
                };
                Ok((None, outcome))
            }
            Task::Prompt(prompt) => {
                self.reserve_for_prompt(caller, active).await?;
                let output = runner.prompt(&session, prompt, plan.timeout).await.map_err(from_code)?;
                let outcome = ExecuteResponse {
                    success: output.done,
                    result: output.snapshot,
                    stderr: output.stderr,
                    exit_code: i32::from(!output.done),
                    error: (!output.done).then(|| output.output.clone()),
                    ..ExecuteResponse::default()
                };
                Ok((Some(output.output), outcome))
            }
        }
    }

    /// The first prompt makes the whole session cost more.
    async fn reserve_for_prompt(&self, caller: &Caller, active: &ActiveSession) -> Result<(), Error> {
        if !active.note_prompt() {
            return Ok(());
        }
        let Some(allowance) = caller.plan.credits else { return Ok(()) };
        let ttl_ms = active.row.expires_at - active.row.created_at;
        let more = billing::price(ttl_ms, true) - billing::price(ttl_ms, false);
        let covered = self.services.store.extend(active.row.reservation, more, allowance).await;
        if covered.map_err(from_store)? {
            return Ok(());
        }
        active.forget_prompt();
        Err(Error::InsufficientCredits)
    }

    /// A session whose browser is here.
    async fn find(&self, caller: &Caller, id: Uuid) -> Result<Arc<ActiveSession>, Error> {
        let here = self.active.lock().get(&id).cloned();
        if let Some(active) = here.filter(|active| active.row.team_id == caller.team) {
            return Ok(active);
        }
        let row = self.row(caller, id).await?;
        Err(self.why_not_here(&row))
    }

    async fn row(&self, caller: &Caller, id: Uuid) -> Result<BrowserSession, Error> {
        let row = self.services.store.browser_session(caller.team, id).await.map_err(from_store)?;
        row.ok_or_else(|| Kind::SessionNotFound.into())
    }

    fn why_not_here(&self, row: &BrowserSession) -> Error {
        let over = row.ended_at.is_some() || row.held_until <= time::now() || row.holder == self.holder;
        if over {
            return Error::because(Kind::SessionDestroyed, &end_reason(row));
        }
        let reason = "the session runs in another process of this service; send its requests there";
        Error::Unavailable { reason, retry_after: RETRY_SECONDS }
    }

    /// Ends a session.
    pub async fn delete(&self, caller: &Caller, id: Uuid) -> Result<BrowserDeleted, Error> {
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
    }

    /// Ends the session of a scrape.
    pub async fn stop_interact(&self, caller: &Caller, scrape: Uuid) -> Result<BrowserDeleted, Error> {
        let store = &self.services.store;
        let running = store.browser_session_of_scrape(caller.team, scrape).await.map_err(from_store)?;
        match running {
            Some(row) => self.delete(caller, row.id).await,
            None => Err(Kind::SessionNotFound.into()),
        }
    }

    /// The session of a signed link; not found when anything about the link is off.
    fn linked(&self, id: Uuid, purpose: LinkPurpose, token: &str) -> Result<Arc<ActiveSession>, Error> {
        if !self.links.is_valid(id, purpose, token) {
            return Err(Kind::SessionNotFound.into());
        }
        self.active.lock().get(&id).cloned().ok_or_else(|| Kind::SessionDestroyed.into())
    }

    /// Connects a client of the protocol. The second value notes each of its messages as activity.
    pub async fn connect(&self, id: Uuid, token: &str) -> Result<(CdpPort, OnActivity), Error> {
        let active = self.linked(id, LinkPurpose::Cdp, token)?;
        let port = active.session.connect().await;
        let port = port.map_err(|error| Error::because(Kind::BrowserFailed, &error.to_string()))?;
        active.touch();
        Ok((port, Box::new(move || active.touch())))
    }

    /// Whether a link to the protocol opens a session that runs.
    pub fn check_link(&self, id: Uuid, token: &str) -> Result<(), Error> {
        self.linked(id, LinkPurpose::Cdp, token).map(drop)
    }

    /// Opens the live view of a session: where the viewer's inputs go, and what it is shown.
    pub async fn view(
        &self,
        id: Uuid,
        token: &str,
    ) -> Result<(mpsc::Sender<ViewInput>, mpsc::Receiver<ViewOutput>), Error> {
        let (active, interactive) = match self.linked(id, LinkPurpose::Act, token) {
            Ok(active) => (active, true),
            Err(_) => (self.linked(id, LinkPurpose::View, token)?, false),
        };
        if !active.row.stream {
            return Err(Kind::SessionNotFound.into());
        }
        let session = Arc::clone(&active.session);
        let opened = live_view::open(session, interactive, move || active.touch()).await;
        opened.map_err(|error| Error::because(Kind::BrowserFailed, &error.to_string()))
    }

    /// Ends all sessions of this process.
    pub async fn shut_down(&self) {
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
    }
}

/// Why a session ended, for people.
fn end_reason(row: &BrowserSession) -> String {
    row.end_reason.clone().unwrap_or_else(|| "the server that ran the browser stopped".to_owned())
}

fn from_code(error: CodeError) -> Error {
    match error {
        CodeError::NotInstalled(advice) => Error::because(Kind::CodeNotInstalled, &advice),
        CodeError::NeedsModel(why) => Error::because(Kind::ModelNotConfigured, &why),
        CodeError::Browser(why) => Error::because(Kind::BrowserFailed, &why),
        CodeError::Internal(why) => Error::internal(why),
    }
}
