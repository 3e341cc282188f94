//! Calls to the browser and to one page, each with a time limit, and waiting for what events change. Knows
//! nothing of commands.

mod script;

pub(crate) use script::check_exception;

use crate::cdp::Cdp;
use crate::error::CommandError;
use crate::state::{BrowserState, OpenDialog};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// How long one call may take. A page that is busy for longer counts as not responding.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// The name of the world in which our scripts run, apart from those of the page.
const WORLD_NAME: &str = "gannet";

/// The browser of a session with what is known of it.
pub(crate) struct SessionBrowser {
    pub(crate) cdp: Arc<dyn Cdp>,
    state: Mutex<BrowserState>,
    changed: Notify,
}

impl SessionBrowser {
    pub(crate) fn new(cdp: Arc<dyn Cdp>) -> Arc<Self> {
        Arc::new(Self { cdp, state: Mutex::default(), changed: Notify::new() })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, BrowserState> {
        self.state.lock()
    }

    /// Wakes everyone who waits for a change of the state.
    pub(crate) fn notify(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until the state gives a value, or until the deadline.
    pub(crate) async fn wait_for<T>(
        &self,
        deadline: Instant,
        mut read: impl FnMut(&BrowserState) -> Option<T>,
    ) -> Option<T> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before the look, so that no change is missed in between.
            changed.as_mut().enable();
            if let Some(value) = read(&self.state()) {
                return Some(value);
            }
            timeout_at(deadline, changed).await.ok()?;
        }
    }

    /// A call with a time limit, to the browser itself (`None`) or to one of its sessions.
    pub(crate) async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
        deadline: Instant,
    ) -> Result<Value, CommandError> {
        let limit = deadline.min(Instant::now() + CALL_TIMEOUT);
        match timeout_at(limit, self.cdp.call(session, method, params)).await {
            Ok(result) => Ok(result?),
            Err(_) => Err(CommandError::failed(format!("The page does not respond ({method} timed out)"))),
        }
    }
}

/// The tab that a command acts on, until the command's deadline.
#[derive(Clone)]
pub(crate) struct CommandPage {
    pub(crate) browser: Arc<SessionBrowser>,
    pub(crate) target: String,
    pub(crate) session: String,
    pub(crate) deadline: Instant,
}

/// A world of a frame in which scripts run.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) session: String,
    pub(crate) context: i64,
}

pub(crate) fn dialog_error(dialog: &OpenDialog) -> CommandError {
    CommandError::failed(format!(
        "A JavaScript {} dialog is blocking the page: \"{}\". Run `dialog accept` or `dialog dismiss` first",
        dialog.kind, dialog.message
    ))
}

impl CommandPage {
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, CommandError> {
        self.call_in(&self.session, method, params).await
    }

    /// A call to a session of this tab. Fails at once when a dialog is open or opens, because the page does
    /// not answer until it is closed.
    pub(crate) async fn call_in(
        &self,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, CommandError> {
        tokio::select! {
            biased;
            result = self.browser.call(Some(session), method, params, self.deadline) => result,
            dialog = self.dialog_opens() => Err(dialog_error(&dialog)),
        }
    }

    /// Like [`CommandPage::call`] for input: when it opens a dialog, it has had its effect.
    pub(crate) async fn call_input(&self, method: &str, params: Value) -> Result<(), CommandError> {
        if let Some(dialog) = self.dialog() {
            return Err(dialog_error(&dialog));
        }
        tokio::select! {
            biased;
            result = self.browser.call(Some(&self.session), method, params, self.deadline) => result.map(|_| ()),
            _ = self.dialog_opens() => Ok(()),
        }
    }

    pub(crate) fn dialog(&self) -> Option<OpenDialog> {
        self.browser.state().tab(&self.target).and_then(|tab| tab.dialog.clone())
    }

    async fn dialog_opens(&self) -> OpenDialog {
        let opened = |state: &BrowserState| state.tab(&self.target)?.dialog.clone();
        match self.browser.wait_for(self.deadline, opened).await {
            Some(dialog) => dialog,
            // The call itself ends at the deadline.
            None => std::future::pending().await,
        }
    }

    /// The frame that commands act on.
    pub(crate) fn frame(&self) -> String {
        let state = self.browser.state();
        state.tab(&self.target).and_then(|tab| tab.frame.clone()).unwrap_or_else(|| self.target.clone())
    }

    /// The session that a frame's document belongs to. Frames of other sites have one of their own.
    pub(crate) async fn session_of_frame(&self, frame: &str) -> Result<String, CommandError> {
        if frame == self.target {
            return Ok(self.session.clone());
        }
        let (own, others) = {
            let state = self.browser.state();
            let tab = state.tab(&self.target);
            let sessions = tab.map(|tab| tab.frame_sessions.clone()).unwrap_or_default();
            (sessions.get(frame).cloned(), sessions)
        };
        if let Some(session) = own {
            return Ok(session);
        }
        // A frame inside of a frame of another site, in the same process as that one.
        for session in others.into_values() {
            let tree = self.call_in(&session, "Page.getFrameTree", json!({})).await.unwrap_or_default();
            if frame_ids(&tree["frameTree"]).iter().any(|id| id == frame) {
                return Ok(session);
            }
        }
        Ok(self.session.clone())
    }

    /// Our own world of a frame.
    pub(crate) async fn world(&self, frame: &str) -> Result<World, CommandError> {
        let session = self.session_of_frame(frame).await?;
        let params = json!({ "frameId": frame, "worldName": WORLD_NAME });
        let created = self.call_in(&session, "Page.createIsolatedWorld", params).await?;
        let context = created["executionContextId"].as_i64().unwrap_or_default();
        Ok(World { session, context })
    }

    /// The ids of all frames of the page, the page itself first.
    pub(crate) async fn frames(&self) -> Result<Vec<String>, CommandError> {
        let tree = self.call("Page.getFrameTree", json!({})).await?;
        let mut frames = frame_ids(&tree["frameTree"]);
        let others: Vec<(String, String)> = {
            let state = self.browser.state();
            let sessions = state.tab(&self.target).map(|tab| tab.frame_sessions.clone()).unwrap_or_default();
            sessions.into_iter().collect()
        };
        for (frame, session) in others {
            let tree = self.call_in(&session, "Page.getFrameTree", json!({})).await.unwrap_or_default();
            let inner = frame_ids(&tree["frameTree"]);
            frames.extend(if inner.is_empty() { vec![frame] } else { inner });
        }
        let mut seen = std::collections::HashSet::new();
        frames.retain(|frame| seen.insert(frame.clone()));
        Ok(frames)
    }

    /// The address that the page has now.
    pub(crate) fn url(&self) -> String {
        self.browser.state().tab(&self.target).map(|tab| tab.url.clone()).unwrap_or_default()
    }

    /// Whether the tab is still there and its renderer runs.
    pub(crate) fn check_alive(&self) -> Result<(), CommandError> {
        let state = self.browser.state();
        let Some(tab) = state.tab(&self.target) else {
            return Err(CommandError::failed("The tab was closed"));
        };
        if tab.has_crashed {
            return Err(CommandError::failed(
                "The page has crashed; load it again with `reload` or `open <url>`",
            ));
        }
        Ok(())
    }
}

/// The ids of a frame tree, outer frames first.
fn frame_ids(tree: &Value) -> Vec<String> {
    const MAX_FRAMES: usize = 100;
    let mut ids = Vec::new();
    let mut waiting = std::collections::VecDeque::from([tree]);
    while let Some(node) = waiting.pop_front() {
        if ids.len() >= MAX_FRAMES {
            break;
        }
        ids.extend(node["frame"]["id"].as_str().map(str::to_owned));
        waiting.extend(node["childFrames"].as_array().into_iter().flatten());
    }
    ids
}

/// Whether a call failed because the document went away in the meantime.
pub(crate) fn is_context_gone(error: &CommandError) -> bool {
    let CommandError::Failed(message) = error else { return false };
    ["context", "Cannot find", "navigat", "Could not find node", "No node", "Frame with the given"]
        .iter()
        .any(|part| message.contains(part))
}
