//! The browser processes of this server. At most one accepts visits at a time; it is started on first use and
//! replaced after enough pages, when it uses too much memory or when it is dead. Old ones end with their last
//! visit.

mod confinement;
mod monitor;
mod status;

pub use confinement::Confinement;
pub use status::Status;

use crate::error::{NavigationError, Phase, VisitError};
use crate::find::find_chromium;
use crate::flags::Launch;
use crate::process::{Process, StartOptions};
use crate::profile_dir;
use crate::running_browser::Browser;
use crate::session::VisitSession;
use crate::session_browser::{self, SessionBrowser};
use crate::settings::{BrowserSettings, Sandbox};
use crate::tab::Tab;
use crate::visit;
use crate::visit_request::Visit;
use crate::visit_result::Visited;
use futures_util::future::BoxFuture;
use net::proxy::{FailureReply, LeaseRules, LoopbackProxy};
use net::{Deadline, Fetcher, Purpose};
use parking_lot::Mutex;
use status::Counters;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::{Mutex as AsyncMutex, OnceCell, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

/// Visits pages. Cheap to clone; clones share the browser. Starts nothing before the first visit.
#[derive(Clone)]
pub struct Browsers(Arc<BrowserPool>);

struct BrowserPool {
    fetcher: Fetcher,
    settings: BrowserSettings,
    page_slots: Arc<Semaphore>,
    proxy: OnceCell<LoopbackProxy>,
    /// The browser that accepts visits. Locked while one is started, so that only one is.
    current: AsyncMutex<Option<Arc<Browser>>>,
    /// The launch options that work on this machine, once they are known.
    confinement: Mutex<Option<(Launch, Confinement)>>,
    counters: Counters,
    closed: CancellationToken,
}

impl Browsers {
    pub fn new(fetcher: Fetcher, settings: BrowserSettings) -> Self {
        Self(Arc::new(BrowserPool {
            fetcher,
            page_slots: Arc::new(Semaphore::new(settings.max_pages.max(1))),
            settings,
            proxy: OnceCell::new(),
            current: AsyncMutex::new(None),
            confinement: Mutex::new(None),
            counters: Counters::default(),
            closed: CancellationToken::new(),
        }))
    }

    /// Visits one page. Always ends by `deadline`.
    pub fn visit(&self, mut visit: Visit, deadline: Deadline) -> BoxFuture<'_, Result<Visited, VisitError>> {
        Box::pin(async move {
            if !matches!(visit.url.scheme(), "http" | "https") {
                return Err(NavigationError::Scheme(visit.url.scheme().to_owned()).into());
            }
            move_login_to_credentials(&mut visit);
            let inner = &self.0;
            inner.counters.visits.fetch_add(1, Ordering::Relaxed);
            let started = Instant::now();
            let visiting = async {
                // The browser or its spare tab may have died since it was last checked; that is not the
                // visit's fault.
                for _ in 0..2 {
                    let session = self.open_session(&visit, deadline).await?;
                    let outcome = visit::run(&session, &visit, deadline, started).await;
                    match outcome {
                        Err(VisitError::Died | VisitError::RendererCrashed) if !session.is_request_sent() => {
                        }
                        outcome => return outcome,
                    }
                }
                Err(VisitError::Died)
            };
            let span = visit_span(&visit);
            let outcome = deadline.run(visiting).instrument(span.clone()).await;
            let outcome = outcome.unwrap_or(Err(VisitError::Timeout { phase: Phase::Read }));
            record_outcome(&span, &outcome);
            inner.counters.count_result(&outcome);
            outcome
        })
    }

    pub fn status(&self) -> Status {
        let taken = self.0.settings.max_pages.max(1) - self.0.page_slots.available_permits();
        self.0.counters.snapshot(taken)
    }

    /// How the browser is isolated from this server; `None` before the first start.
    pub fn confinement(&self) -> Option<Confinement> {
        self.0.known_confinement().map(|(_, confinement)| confinement)
    }

    /// Starts a browser if none runs, and returns how it is isolated from this server.
    pub fn start_confined(&self) -> BoxFuture<'_, Result<Confinement, VisitError>> {
        Box::pin(async move {
            self.0.browser().await?;
            self.confinement().ok_or(VisitError::Died)
        })
    }

    /// Logs a warning if it is clear without starting the browser that it will have no sandbox.
    pub fn warn_if_unconfined(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Ok(program) = find_chromium(self.0.settings.executable.as_deref()) {
                confinement::warn_before_start(&self.0.settings, &program).await;
            }
        })
    }

    /// Ends all browser processes and returns when none is left. Visits in progress fail; later ones are
    /// refused.
    pub fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.0.closed.cancel();
            let current = self.0.current.lock().await.take();
            drop(current);
            for process in self.0.counters.processes() {
                process.end().await;
            }
        })
    }

    /// Starts a browser for one holder alone, which is outside of the pool. It reaches nothing before
    /// [`SessionBrowser::allow_network`]. Its holder measures whether it uses more than `max_memory`; where the kernel can,
    /// it holds somewhat more.
    pub fn start_for_session(&self, max_memory: u64) -> BoxFuture<'_, Result<SessionBrowser, VisitError>> {
        Box::pin(async move {
            let inner = Arc::clone(&self.0);
            // In a task of its own: a cancelled caller must not leave half a browser.
            finished(tokio::spawn(async move {
                if inner.closed.is_cancelled() {
                    return Err(VisitError::StartFailed("the server is stopping".into()));
                }
                let failed = |error: std::io::Error| VisitError::StartFailed(error.to_string());
                let proxy = LoopbackProxy::start(&inner.fetcher).await.map_err(failed)?;
                let options = StartOptions { flags: &session_browser::flags(), max_memory: Some(max_memory) };
                let process = inner.start(proxy.address(), options).await?;
                SessionBrowser::prepare(process, proxy).await
            }))
            .await
        })
    }

    /// Gets a page slot, a browser, a new tab and a lease of the loopback proxy.
    async fn open_session(&self, visit: &Visit, deadline: Deadline) -> Result<VisitSession, VisitError> {
        let inner = &self.0;
        let slot = Arc::clone(&inner.page_slots).acquire_owned();
        let slot = deadline.run(slot).await.map_err(|_| VisitError::Busy)?;
        let slot = slot.map_err(|_| VisitError::Busy)?;
        let too_late = |_| VisitError::Timeout { phase: Phase::Start };
        // Both run in tasks of their own: a cancelled visit must not leave half a browser or half a tab.
        let starting = {
            let inner = Arc::clone(inner);
            finished(tokio::spawn(async move { inner.browser().await }))
        };
        let browser = deadline.run(starting).await.map_err(too_late)??;
        let mut tab = if let Some(tab) = browser.take_spare() {
            tab
        } else {
            let (process, targets) = (browser.process.clone(), Arc::clone(&browser.targets));
            let opening = finished(tokio::spawn(async move { Tab::open(&process, &targets).await }));
            deadline.run(opening).await.map_err(too_late)??
        };
        tab.slot = Some(slot);
        let lease = inner.proxy().await?.lease(LeaseRules {
            purpose: Purpose::Scrape,
            via: visit.via.clone(),
            deadline,
            max_bytes: inner.settings.bytes_per_visit,
            page_host: visit.url.host_str().unwrap_or_default().to_owned(),
            // WebSockets of pages can only be checked by the proxy.
            allowed_hosts: visit.filter.clone(),
            failure_reply: FailureReply::Response,
        });
        let lease = lease.map_err(|error| VisitError::StartFailed(error.to_string()))?;
        Ok(VisitSession::new(browser, tab, lease, inner.fetcher.bot_identity().cloned()))
    }
}

impl BrowserPool {
    async fn proxy(&self) -> Result<&LoopbackProxy, VisitError> {
        let start = || LoopbackProxy::start(&self.fetcher);
        self.proxy.get_or_try_init(start).await.map_err(|error| VisitError::StartFailed(error.to_string()))
    }

    /// The browser that accepts visits, started if there is none.
    async fn browser(self: &Arc<Self>) -> Result<Arc<Browser>, VisitError> {
        let mut current = self.current.lock().await;
        if self.closed.is_cancelled() {
            return Err(VisitError::StartFailed("the server is stopping".into()));
        }
        if let Some(browser) = current.as_ref().filter(|browser| browser.accepts_visits(&self.settings)) {
            return Ok(Arc::clone(browser));
        }
        // Once dropped here, it ends with its last visit.
        *current = None;
        let proxy = self.proxy().await?.address();
        let process = self.start(proxy, StartOptions::default()).await?;
        let browser = Arc::new(Browser::new(process));
        tokio::spawn(monitor::monitor(Arc::downgrade(self), Arc::downgrade(&browser)));
        *current = Some(Arc::clone(&browser));
        Ok(browser)
    }

    fn known_confinement(&self) -> Option<(Launch, Confinement)> {
        self.confinement.lock().clone()
    }

    async fn start(&self, proxy: SocketAddr, options: StartOptions<'_>) -> Result<Process, VisitError> {
        let program = find_chromium(self.settings.executable.as_deref())?;
        let known = self.known_confinement().map(|(launch, _)| launch);
        let mut launch = known.unwrap_or_else(|| confinement::first_launch(&self.settings));
        let mut errors = Vec::new();
        let process = loop {
            let folder =
                self.settings.folder.clone().unwrap_or_else(|| profile_dir::default_folder(launch.account));
            if self.counters.starts.load(Ordering::Relaxed) == 0 || profile_dir::take_left_over() {
                remove_stale(folder.clone()).await;
            }
            match Process::start(&program, &folder, proxy, launch, options).await {
                Ok(process) => break process,
                Err(error) => match confinement::next_launch(&self.settings, launch, &error) {
                    // What has worked before is not given up for one failed start.
                    Some(next) if known.is_some() && next.files_restricted != launch.files_restricted => {
                        return Err(VisitError::StartFailed(error.message));
                    }
                    Some(next) => {
                        launch = next;
                        errors.push(error.message);
                    }
                    None => return Err(VisitError::StartFailed(error.message)),
                },
            }
        };
        if known != Some(launch) {
            let confinement = Confinement::from_start(&process, launch, &self.settings, &errors);
            if self.settings.sandbox == Sandbox::On && !confinement.sandboxed {
                process.end().await;
                return Err(VisitError::StartFailed(confinement.shortcomings.join("; ")));
            }
            confinement.report();
            *self.confinement.lock() = Some((launch, confinement));
        }
        self.counters.started(&process);
        Ok(process)
    }
}

/// What a collector of OpenTelemetry sees of a visit.
fn visit_span(visit: &Visit) -> Span {
    tracing::info_span!(
        target: otlp::SPANS,
        "browser",
        server.address = visit.url.host_str(),
        url.path = visit.url.path(),
        gannet.actions = visit.actions.len(),
        http.response.status_code = Empty,
        gannet.blocked_requests = Empty,
        "error.type" = Empty,
    )
}

fn record_outcome(span: &Span, outcome: &Result<Visited, VisitError>) {
    match outcome {
        Ok(visited) => {
            span.record("http.response.status_code", visited.status);
            span.record("gannet.blocked_requests", visited.blocked_requests);
        }
        Err(error) => {
            span.record("error.type", error.name());
        }
    }
}

/// Removes the files that browsers of a killed server left behind.
async fn remove_stale(folder: PathBuf) {
    let removed = tokio::task::spawn_blocking(move || profile_dir::remove_stale(&folder)).await.unwrap_or(0);
    if removed > 0 {
        tracing::info!(removed, "removed files left by browsers of a killed server");
    }
}

/// The result of a task; a panic counts as a dead browser.
async fn finished<T>(task: JoinHandle<Result<T, VisitError>>) -> Result<T, VisitError> {
    task.await.unwrap_or(Err(VisitError::Died))
}

/// Moves a user name and password from the URL to the credentials for its origin.
fn move_login_to_credentials(visit: &mut Visit) {
    if let Some(login) = net::take_login(&mut visit.url) {
        visit.credentials.add_login_from_url(&visit.url, &login);
    }
}

impl fmt::Debug for Browsers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Browsers").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}
