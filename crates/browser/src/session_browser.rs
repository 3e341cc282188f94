//! A browser that one session has for itself: over its protocol anything may be asked of it, so nothing of anybody else is
//! in it. All its traffic passes a loopback proxy of its own. Who may ask what is decided by its holder.

use crate::cdp::{CallError, MessageReceiver, parse_result};
use crate::error::{VisitError, shorten};
use crate::own_connections::OwnConnections;
use crate::process::Process;
use futures_util::future::BoxFuture;
use net::Profile;
use net::proxy::{Lease, LeaseRules, LoopbackProxy};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Width and height of the window of a session's first page.
pub const SESSION_WINDOW: (u32, u32) = (1280, 800);
const OPEN_TIMEOUT: Duration = Duration::from_secs(15);

/// A browser with one page in its default context. Dropping it ends it.
pub struct SessionBrowser {
    process: Process,
    proxy: LoopbackProxy,
    /// The right to use the proxy, once it was given.
    lease: Mutex<Option<Lease>>,
    files: PathBuf,
}

/// Flags beside those that every browser gets. The user agent is that of other fetches: nobody who drives the browser has
/// to override it on each page.
pub(crate) fn flags() -> Vec<OsString> {
    let (width, height) = SESSION_WINDOW;
    vec![
        format!("--window-size={width},{height}").into(),
        format!("--user-agent={}", Profile::Desktop.user_agent()).into(),
        // What clients start a browser with themselves: windows that scripts open are not blocked (there is a limit on
        // pages), no question before a form is sent again or a busy page is left, the same colours everywhere.
        "--disable-popup-blocking".into(),
        "--disable-prompt-on-repost".into(),
        "--disable-hang-monitor".into(),
        "--force-color-profile=srgb".into(),
    ]
}

impl SessionBrowser {
    /// Opens the first page, and sends downloads to the browser's own folder.
    pub(crate) async fn prepare(process: Process, proxy: LoopbackProxy) -> Result<Self, VisitError> {
        let files = process.files.to_path_buf();
        let browser = Self { process, proxy, lease: Mutex::new(None), files };
        let opening = async {
            let connection = &browser.process.connection;
            let downloads = json!({ "behavior": "allow", "downloadPath": browser.files });
            connection.send(None, "Browser.setDownloadBehavior", &downloads).await?;
            connection.send(None, "Target.createTarget", &json!({ "url": "about:blank" })).await?;
            Ok::<_, CallError>(())
        };
        match tokio::time::timeout(OPEN_TIMEOUT, opening).await {
            Ok(Ok(())) => Ok(browser),
            Ok(Err(error)) => {
                browser.end().await;
                Err(match error {
                    CallError::Closed => VisitError::Died,
                    error => VisitError::StartFailed(shorten(&error.to_string())),
                })
            }
            Err(_) => {
                browser.end().await;
                Err(VisitError::Died)
            }
        }
    }

    /// Lets its pages reach the network, by these rules. The earlier right, if there was one, ends.
    pub fn allow_network(&self, rules: LeaseRules) {
        let mut lease = self.lease.lock();
        // The new lease has the name of the old one, which must be gone before.
        drop(lease.take());
        let connections = OwnConnections::new(self.process.group, self.process.uid);
        let is_own = move |peer, proxy| connections.contain(peer, proxy);
        *lease = Some(self.proxy.lease_without_password(rules, Arc::new(is_own)));
    }

    /// The folder for downloads and uploads. It goes with the browser.
    pub fn files(&self) -> &std::path::Path {
        &self.files
    }

    /// From now on `receiver` gets the answers to [`SessionBrowser::write_command`] and all events.
    pub fn set_receiver(&self, receiver: Arc<dyn MessageReceiver>) {
        self.process.connection.set_receiver(receiver);
    }

    /// A number for a command.
    pub fn next_id(&self) -> u64 {
        self.process.connection.next_id()
    }

    /// Writes a command as JSON, with a number from [`SessionBrowser::next_id`]. `false` when too much waits to be written.
    pub fn write_command(&self, text: Vec<u8>) -> bool {
        self.process.connection.write_command(text)
    }

    /// Sends a command and waits for its result.
    pub async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, CallError> {
        let result = self.process.connection.send(session, method, params).await?;
        parse_result(&result)
    }

    /// Sends a command whose answer does not matter.
    pub fn post(&self, session: Option<&str>, method: &str, params: &impl Serialize) {
        self.process.connection.post(session, method, params);
    }

    pub fn is_over(&self) -> bool {
        self.process.is_over()
    }

    /// The process group of the browser, which is also the id of its first process.
    pub fn process_id(&self) -> i32 {
        self.process.group.as_raw_pid()
    }

    /// Memory of all its processes that they do not share.
    pub fn private_bytes(&self) -> u64 {
        crate::process_group::measure(&[self.process.group])[0].private_bytes
    }

    /// What its pages, its clients and code beside it have stored.
    pub fn stored_bytes(&self) -> u64 {
        self.process.stored_bytes()
    }

    /// Returns when the browser has ended, for whatever reason.
    pub async fn until_over(&self) {
        self.process.connection.until_closed().await;
    }

    /// Starts to end it.
    pub fn end_soon(&self) {
        self.process.end_soon();
    }

    /// Ends it and returns when nothing of it is left.
    pub fn end(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.process.end())
    }
}

impl Drop for SessionBrowser {
    fn drop(&mut self) {
        self.process.end_soon();
    }
}

impl std::fmt::Debug for SessionBrowser {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SessionBrowser").field("process", &self.process.group).finish_non_exhaustive()
    }
}
