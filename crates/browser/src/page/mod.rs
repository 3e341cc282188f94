//! One page of the browser, tracked by its events. Keeps what a visit needs to know, and responds to what
//! cannot wait: paused requests, proxy authentication, dialogs, workers. Starts nothing by itself.

mod children;
mod credentials;
mod events;
mod requests;
mod state;

pub(crate) use credentials::VisitHeaders;
pub(crate) use requests::RequestRules;
pub(crate) use state::{DocumentResponse, PageState};

use crate::cdp::{Connection, Listener};
use crate::error::VisitError;
use events::{ChildDetached, Dialog, FrameEvent, Navigated, ScheduledNavigation};
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The state of a page. Shared between the visit and the task that reads the connection.
pub(crate) struct OpenPage {
    connection: Connection,
    session: String,
    /// The id of the main frame, which is also the id of its target.
    pub(crate) frame: String,
    rules: OnceLock<RequestRules>,
    state: Mutex<PageState>,
    changed: watch::Sender<()>,
    over: CancellationToken,
    this: Weak<Self>,
}

impl OpenPage {
    pub(crate) fn listen(connection: &Connection, session: &str, target: &str) -> Arc<Self> {
        let page = Arc::new_cyclic(|this| Self {
            connection: connection.clone(),
            session: session.to_owned(),
            frame: target.to_owned(),
            rules: OnceLock::new(),
            state: Mutex::default(),
            changed: watch::Sender::new(()),
            over: CancellationToken::new(),
            this: Weak::clone(this),
        });
        connection.listen(session, Arc::clone(&page) as Arc<dyn Listener>);
        page
    }

    /// Sets the rules of the visit. A page has one visit, so they are set once.
    pub(crate) fn set_rules(&self, rules: RequestRules) {
        let _ = self.rules.set(rules);
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, PageState> {
        self.state.lock()
    }

    /// Notifies of every state change from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Marks the page as lost; everyone who waits for it gets `error`.
    pub(crate) fn end(&self, error: VisitError) {
        self.state().end.get_or_insert(error);
        self.over.cancel();
    }

    /// Forgets all documents so far, unless the page is lost.
    pub(crate) fn forget_documents(&self) {
        self.update_state(|state| {
            let end = state.end.take();
            *state = PageState::default();
            state.end = end;
        });
    }

    /// Waits until the page is lost.
    pub(crate) async fn wait_until_lost(&self) -> VisitError {
        self.over.cancelled().await;
        self.state().end.clone().unwrap_or(VisitError::Died)
    }

    /// Stops the running script and prevents others from starting.
    pub(crate) fn stop_scripts(&self) {
        let off = json!({ "value": true });
        self.connection.post(Some(&self.session), "Emulation.setScriptExecutionDisabled", &off);
        self.connection.post(Some(&self.session), "Runtime.terminateExecution", &json!({}));
    }

    fn update_state(&self, write: impl FnOnce(&mut PageState)) {
        write(&mut self.state());
        self.changed.send_replace(());
    }
}

/// Parses the parameters of an event; events that do not parse are ignored.
fn parse_event<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

impl Listener for OpenPage {
    fn event(&self, method: &str, params: &RawValue) {
        match method {
            "Fetch.requestPaused" | "Fetch.authRequired" => self.handle_paused(&self.session, method, params),
            "Network.requestWillBeSent" => {
                let Some(sent) = parse_event(params) else { return };
                self.update_state(|state| state.sent(&self.frame, &self.session, &sent));
            }
            "Network.responseReceived" => {
                let Some(received) = parse_event(params) else { return };
                self.update_state(|state| state.received(&self.frame, received));
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let Some(done) = parse_event(params) else { return };
                self.update_state(|state| state.done(&done));
            }
            "Page.frameNavigated" => {
                let Some(Navigated { frame }) = parse_event(params) else { return };
                if frame.parent_id.is_none() {
                    self.update_state(|state| state.navigated(frame));
                }
            }
            "Page.domContentEventFired" => self.update_state(|state| state.parsed = true),
            "Page.loadEventFired" => self.update_state(|state| state.loaded = true),
            "Page.frameScheduledNavigation" => {
                let Some(scheduled) = parse_event::<ScheduledNavigation>(params) else { return };
                if scheduled.frame_id == self.frame {
                    self.update_state(|state| state.schedule(scheduled.delay));
                }
            }
            "Page.frameClearedScheduledNavigation" => {
                let Some(FrameEvent { frame_id }) = parse_event(params) else { return };
                if frame_id == self.frame {
                    self.update_state(|state| state.scheduled = None);
                }
            }
            "Page.javascriptDialogOpening" => {
                let leaving = parse_event(params).is_some_and(|Dialog { kind }| kind == "beforeunload");
                self.update_state(|state| state.dialogs = state.dialogs.saturating_add(1));
                // Every dialog is declined, except that leaving the page is always accepted.
                let response = json!({ "accept": leaving });
                self.connection.post(Some(&self.session), "Page.handleJavaScriptDialog", &response);
            }
            "Target.attachedToTarget" => {
                if let Some(attached) = parse_event(params) {
                    self.attach_child(&self.session, &attached);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(gone) = parse_event::<ChildDetached>(params) {
                    self.detach_child(&gone.session_id);
                }
            }
            "Inspector.targetCrashed" => self.end(VisitError::RendererCrashed),
            _ => {}
        }
    }

    fn closed(&self) {
        self.end(VisitError::Died);
    }
}
