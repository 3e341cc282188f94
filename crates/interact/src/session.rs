//! One session: a browser of its own, its clients and its pages, until it ends.

use crate::bridge::{self, Bridge, CdpPort, ConnectError};
use crate::client::{CdpClient, CdpError};
use crate::storage;
use crate::targets::{PageInfo, Pages};
use browser::ads::Ads;
use browser::{SessionBrowser, StorageState};
use futures_util::future::BoxFuture;
use net::proxy::{FailureReply, LeaseRules};
use net::{Deadline, Purpose, UrlRule, Via};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// How often the memory and the folder of a browser are measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(5);

/// What a session may do.
#[derive(Clone)]
pub struct SessionRules {
    pub via: Via,
    /// Its traffic ends at this time.
    pub deadline: Deadline,
    /// Bytes its pages may receive.
    pub max_bytes: u64,
    /// Memory of all processes of the browser; beyond it the session ends.
    pub max_memory: u64,
    /// What its pages and clients may have stored; beyond it the session ends.
    pub max_disk: u64,
    /// Open pages; the newest beyond them is closed.
    pub max_pages: usize,
    /// Clients of the protocol at once.
    pub max_clients: usize,
    /// Restricts the hosts that its pages may reach.
    pub allowed_hosts: Option<UrlRule>,
    /// The folder that clients on this machine share with the server.
    pub shared_files: Option<PathBuf>,
    /// Whether hosts that only serve advertisements and trackers are out of reach.
    pub block_ads: bool,
}

/// Why a session ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// A client asked the browser to close.
    ClosedByClient,
    /// The browser died.
    BrowserDied,
    /// The browser used more memory than it may.
    OutOfMemory,
    /// More was stored than may be.
    OutOfDisk,
}

/// A running session. Dropping it ends its browser.
pub struct Session {
    browser: Arc<SessionBrowser>,
    bridge: Arc<Bridge>,
    /// Our own client.
    control: CdpClient,
    pages: Arc<Pages>,
    max_memory: u64,
    max_disk: u64,
}

/// Why a session did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Browser(#[from] CdpError),
}

impl StartError {
    /// Whether the browser was dead, so that another one may do.
    pub fn is_dead_browser(&self) -> bool {
        matches!(self, Self::Connect(ConnectError::Over) | Self::Browser(CdpError::Over))
    }
}

impl Session {
    /// Starts a session with the state of a profile, if there is one.
    pub fn start(
        browser: SessionBrowser,
        rules: SessionRules,
        state: Option<&StorageState>,
    ) -> BoxFuture<'_, Result<Self, StartError>> {
        Box::pin(async move {
            let browser = Arc::new(browser);
            let bridge = Bridge::start(
                &browser,
                browser.files().to_owned(),
                rules.shared_files.clone(),
                rules.max_clients,
            );
            let control = CdpClient::new(bridge.connect().await?);
            let pages = Pages::follow(control.clone(), rules.max_pages).await?;
            // From here on dropping it ends the browser, which our own client would otherwise keep.
            let SessionRules { max_memory, max_disk, .. } = rules;
            let session = Self { browser, bridge, control, pages, max_memory, max_disk };
            if let Some(state) = state {
                // Before there is a network: pages are answered by us.
                storage::load(&session.control, state).await?;
            }
            session.browser.allow_network(LeaseRules {
                purpose: Purpose::Scrape,
                via: rules.via,
                deadline: rules.deadline,
                max_bytes: rules.max_bytes,
                page_host: String::new(),
                allowed_hosts: host_rule(rules.allowed_hosts, rules.block_ads),
                failure_reply: FailureReply::Disconnect,
            });
            Ok(session)
        })
    }

    /// Connects a client of the protocol.
    pub fn connect(&self) -> BoxFuture<'_, Result<CdpPort, ConnectError>> {
        self.bridge.connect()
    }

    /// Connects a client for our own code.
    pub async fn client(&self) -> Result<CdpClient, ConnectError> {
        Ok(CdpClient::new(self.connect().await?))
    }

    /// The open pages, oldest first.
    pub fn pages(&self) -> Vec<PageInfo> {
        self.pages.list()
    }

    /// The same, and when they change.
    pub(crate) fn watch_pages(&self) -> tokio::sync::watch::Receiver<Vec<PageInfo>> {
        self.pages.watch()
    }

    /// The folder for downloads and uploads.
    pub fn files(&self) -> &Path {
        self.browser.files()
    }

    /// Opens a download by its name.
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        bridge::open_file(self.files(), Path::new(name))
    }

    /// Makes room for a file that somebody sends for a page of this session; where it is written.
    pub fn create_upload(&self, name: &str) -> io::Result<(PathBuf, File)> {
        self.bridge.create_upload(name)
    }

    /// The folder of such files, whether there are any or not.
    pub(crate) fn uploads(&self) -> PathBuf {
        self.bridge.uploads_folder()
    }

    /// Whether so many bytes more may be written to such files; they are counted as written.
    pub fn reserve_upload(&self, bytes: u64) -> bool {
        self.bridge.reserve_upload(bytes)
    }

    pub fn process_id(&self) -> i32 {
        self.browser.process_id()
    }

    pub fn is_over(&self) -> bool {
        self.browser.is_over()
    }

    /// Returns when the session ends without being told to.
    pub fn until_over(&self) -> BoxFuture<'_, EndReason> {
        Box::pin(async move {
            let out_of_room = async {
                loop {
                    tokio::time::sleep(MEASURE_INTERVAL).await;
                    let browser = Arc::clone(&self.browser);
                    let measure = move || (browser.private_bytes(), browser.stored_bytes());
                    let (memory, disk) = tokio::task::spawn_blocking(measure).await.unwrap_or_default();
                    if memory > self.max_memory {
                        return EndReason::OutOfMemory;
                    }
                    if disk > self.max_disk {
                        return EndReason::OutOfDisk;
                    }
                }
            };
            tokio::select! {
                () = self.browser.until_over() => EndReason::BrowserDied,
                () = self.bridge.until_close_requested() => EndReason::ClosedByClient,
                reason = out_of_room => reason,
            }
        })
    }

    /// Cookies and local storage at the end, on top of what the session started with. Clients are disconnected before.
    pub fn collect_state<'a>(
        &'a self,
        start: Option<&'a StorageState>,
    ) -> BoxFuture<'a, Result<StorageState, CdpError>> {
        Box::pin(async move {
            self.bridge.disconnect_others(self.control.sender());
            storage::collect(&self.control, start, &self.pages.origins()).await
        })
    }

    /// Ends the browser and returns when nothing of it is left.
    pub fn end(&self) -> BoxFuture<'_, ()> {
        self.browser.end()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.browser.end_soon();
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Session").field("browser", &self.browser).finish_non_exhaustive()
    }
}

/// The caller's rule, and hosts that only advertise. The proxy sees hosts only: a site's own advertisements stay.
fn host_rule(allowed: Option<UrlRule>, block_ads: bool) -> Option<UrlRule> {
    if !block_ads {
        return allowed;
    }
    let ads = Ads::bundled();
    Some(Arc::new(move |url: &Url| {
        allowed.as_ref().is_none_or(|allowed| allowed(url)) && !ads.is_advertising_host(url)
    }))
}

impl std::fmt::Debug for SessionRules {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SessionRules").finish_non_exhaustive()
    }
}
