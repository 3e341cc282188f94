//! The browsers of this server: at most one takes visits at a time, started on first need, replaced when it has done
//! enough, holds too much or is dead. Old ones end when their last visit does.

mod confinement;
mod keeper;
mod seat;
mod status;

pub use confinement::Confinement;
pub(crate) use seat::Seat;
pub use status::Status;

use crate::asked::Visit;
use crate::brought::Visited;
use crate::error::{NavigationError, Phase, VisitError};
use crate::find::find_chromium;
use crate::home;
use crate::process::{Launch, Process};
use crate::settings::{BrowserSettings, Sandbox};
use crate::tab::Tab;
use crate::targets::Targets;
use crate::visit;
use net::proxy::{LeaseRules, LoopbackProxy};
use net::{Deadline, Fetcher, Purpose};
use status::Counters;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Mutex as AsyncMutex, OnceCell, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Visits pages. Cheap to clone; clones share the browser. Starts nothing before the first visit.
#[derive(Clone)]
pub struct Browsers(Arc<Inner>);

struct Inner {
    fetcher: Fetcher,
    settings: BrowserSettings,
    places: Arc<Semaphore>,
    proxy: OnceCell<LoopbackProxy>,
    /// The one that takes visits. Held while one is started, so that only one is.
    current: AsyncMutex<Option<Arc<Browser>>>,
    /// What works here, once it is known.
    confinement: Mutex<Option<(Launch, Confinement)>>,
    counters: Counters,
    closed: CancellationToken,
}

/// A browser that takes visits. It ends with its last holder.
pub(crate) struct Browser {
    process: Process,
    targets: Arc<Targets>,
    /// A tab that waits for the next visit.
    spare: Mutex<Option<Tab>>,
    pages: AtomicU32,
    open: AtomicUsize,
    last_used: Mutex<Instant>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.process.end_soon();
    }
}

impl Browsers {
    pub fn new(fetcher: Fetcher, settings: BrowserSettings) -> Self {
        Self(Arc::new(Inner {
            fetcher,
            places: Arc::new(Semaphore::new(settings.max_pages.max(1))),
            settings,
            proxy: OnceCell::new(),
            current: AsyncMutex::new(None),
            confinement: Mutex::new(None),
            counters: Counters::default(),
            closed: CancellationToken::new(),
        }))
    }

    /// Visits one page. Whatever happens, it is over when `deadline` is.
    pub async fn visit(&self, mut visit: Visit, deadline: Deadline) -> Result<Visited, VisitError> {
        if !matches!(visit.url.scheme(), "http" | "https") {
            return Err(NavigationError::Scheme(visit.url.scheme().to_owned()).into());
        }
        move_login(&mut visit);
        let inner = &self.0;
        inner.counters.visits.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        let visiting = async {
            // A browser, or the tab kept ready in it, may have died since it was last looked at; that is not the
            // visit's fault.
            for _ in 0..2 {
                let seat = self.seat(&visit, deadline).await?;
                let outcome = visit::run(&seat, &visit, deadline, started).await;
                match outcome {
                    Err(VisitError::Died | VisitError::RendererCrashed) if !seat.has_left() => {}
                    outcome => return outcome,
                }
            }
            Err(VisitError::Died)
        };
        let outcome =
            deadline.run(visiting).await.unwrap_or(Err(VisitError::Timeout { phase: Phase::Harvest }));
        inner.counters.note(&outcome);
        outcome
    }

    pub fn status(&self) -> Status {
        let taken = self.0.settings.max_pages.max(1) - self.0.places.available_permits();
        self.0.counters.read(taken)
    }

    /// How the browser is separated from this server; `None` before the first start.
    pub fn confinement(&self) -> Option<Confinement> {
        self.0.known().map(|(_, confinement)| confinement)
    }

    /// Starts a browser if none runs, and says how it is separated from this server.
    pub async fn start_confined(&self) -> Result<Confinement, VisitError> {
        self.0.browser().await?;
        self.confinement().ok_or(VisitError::Died)
    }

    /// Logs a warning if it can be told without starting the browser that it will have no sandbox.
    pub async fn warn_if_unconfined(&self) {
        if let Ok(program) = find_chromium(self.0.settings.executable.as_deref()) {
            confinement::warn_beforehand(&self.0.settings, &program).await;
        }
    }

    /// Ends every process and returns when none is left. Visits under way fail; later ones are refused.
    pub async fn shut_down(&self) {
        self.0.closed.cancel();
        let current = self.0.current.lock().await.take();
        drop(current);
        for process in self.0.counters.processes() {
            process.end().await;
        }
    }

    /// A place, a browser, a fresh tab and a lease of the way out.
    async fn seat(&self, visit: &Visit, deadline: Deadline) -> Result<Seat, VisitError> {
        let inner = &self.0;
        let place = Arc::clone(&inner.places).acquire_owned();
        let place = deadline.run(place).await.map_err(|_| VisitError::Busy)?;
        let place = place.map_err(|_| VisitError::Busy)?;
        let too_late = |_| VisitError::Timeout { phase: Phase::Start };
        // Both are begun in tasks of their own: a visit that is given up must not leave half a browser or half a tab.
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
        tab.place = Some(place);
        let lease = inner.proxy().await?.lease(LeaseRules {
            purpose: Purpose::Scrape,
            via: visit.via.clone(),
            deadline,
            bytes: inner.settings.bytes_per_visit,
            page_host: visit.url.host_str().unwrap_or_default().to_owned(),
            // Sockets of pages are seen nowhere else.
            hosts: visit.filter.clone(),
        });
        let lease = lease.map_err(|error| VisitError::StartFailed(error.to_string()))?;
        Ok(Seat::new(browser, tab, lease))
    }
}

impl Inner {
    async fn proxy(&self) -> Result<&LoopbackProxy, VisitError> {
        let start = || LoopbackProxy::start(&self.fetcher);
        self.proxy.get_or_try_init(start).await.map_err(|error| VisitError::StartFailed(error.to_string()))
    }

    /// The browser that takes visits, started if there is none.
    async fn browser(self: &Arc<Self>) -> Result<Arc<Browser>, VisitError> {
        let mut current = self.current.lock().await;
        if self.closed.is_cancelled() {
            return Err(VisitError::StartFailed("the server is stopping".into()));
        }
        if let Some(browser) = current.as_ref().filter(|browser| browser.may_take_more(&self.settings)) {
            return Ok(Arc::clone(browser));
        }
        // Dropped here, it ends with its last visit.
        *current = None;
        let process = self.start().await?;
        let targets = Targets::watch(&process.connection);
        let browser = Arc::new(Browser {
            process,
            targets,
            spare: Mutex::new(None),
            pages: AtomicU32::new(0),
            open: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
        });
        tokio::spawn(keeper::keep(Arc::downgrade(self), Arc::downgrade(&browser)));
        *current = Some(Arc::clone(&browser));
        Ok(browser)
    }

    fn known(&self) -> Option<(Launch, Confinement)> {
        self.confinement.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn start(&self) -> Result<Process, VisitError> {
        let program = find_chromium(self.settings.executable.as_deref())?;
        let proxy = self.proxy().await?.address();
        let known = self.known().map(|(launch, _)| launch);
        let mut launch = known.unwrap_or_else(|| confinement::first_launch(&self.settings));
        let mut failures = Vec::new();
        let process = loop {
            let folder = self.settings.folder.clone().unwrap_or_else(|| home::default_folder(launch.account));
            if self.counters.starts.load(Ordering::Relaxed) == 0 {
                sweep(folder.clone()).await;
            }
            match Process::start(&program, &folder, proxy, launch).await {
                Ok(process) => break process,
                Err(error) => match confinement::next_launch(&self.settings, launch, &error) {
                    Some(next) => {
                        launch = next;
                        failures.push(error.message);
                    }
                    None => return Err(VisitError::StartFailed(error.message)),
                },
            }
        };
        if known != Some(launch) {
            let confinement = Confinement::of(&process, launch, &self.settings, &failures);
            if self.settings.sandbox == Sandbox::On && !confinement.sandboxed {
                process.end().await;
                return Err(VisitError::StartFailed(confinement.shortcomings.join("; ")));
            }
            confinement.report();
            *self.confinement.lock().unwrap_or_else(PoisonError::into_inner) = Some((launch, confinement));
        }
        self.counters.started(&process);
        Ok(process)
    }
}

/// Removes what browsers of a killed server left.
async fn sweep(folder: PathBuf) {
    let swept = tokio::task::spawn_blocking(move || home::sweep(&folder)).await.unwrap_or(0);
    if swept > 0 {
        tracing::info!(swept, "removed what browsers of a killed server left");
    }
}

impl Browser {
    fn may_take_more(&self, settings: &BrowserSettings) -> bool {
        !self.process.is_over() && self.pages.load(Ordering::Relaxed) < settings.recycle_after_pages.max(1)
    }

    fn take_spare(&self) -> Option<Tab> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        spare.filter(Tab::is_fresh)
    }

    /// Opens a tab for the next visit, unless one waits.
    fn prepare(self: &Arc<Self>) {
        let browser = Arc::downgrade(self);
        tokio::spawn(async move {
            let Some(strong) = browser.upgrade().filter(|browser| browser.wants_spare()) else { return };
            let (process, targets) = (strong.process.clone(), Arc::clone(&strong.targets));
            drop(strong);
            let Ok(tab) = Tab::open(&process, &targets).await else { return };
            if let Some(browser) = browser.upgrade() {
                let mut spare = browser.spare.lock().unwrap_or_else(PoisonError::into_inner);
                if spare.is_none() {
                    *spare = Some(tab);
                }
            }
        });
    }

    fn wants_spare(&self) -> bool {
        !self.process.is_over() && self.spare.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

/// What a task came to. One that panicked has brought no browser.
async fn finished<T>(task: JoinHandle<Result<T, VisitError>>) -> Result<T, VisitError> {
    task.await.unwrap_or(Err(VisitError::Died))
}

/// A user and a password in an address are a login for its origin, and no part of the address.
fn move_login(visit: &mut Visit) {
    if let Some(login) = net::take_login(&mut visit.url) {
        visit.credentials.add_login_of(&visit.url, &login);
    }
}

impl fmt::Debug for Browsers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Browsers").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}
