//! One page of the browser, as its events describe it. Keeps what a visit must know, and answers what cannot wait: paused
//! requests, the proxy's question for a login, dialogs, workers. Asks for nothing by itself.

mod book;
mod children;
mod credentials;
mod events;
mod requests;

pub(crate) use book::{Answer, Book};
pub(crate) use credentials::VisitHeaders;
pub(crate) use requests::Rules;

use crate::cdp::{Connection, Listener};
use crate::error::VisitError;
use events::{Detached, Dialog, FrameEvent, Navigated, Scheduled};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What is known of a page. Shared between the visit and the connection's reader.
pub(crate) struct Page {
    connection: Connection,
    session: String,
    /// The main frame, which has the name of its target.
    pub(crate) frame: String,
    rules: OnceLock<Rules>,
    book: Mutex<Book>,
    changed: watch::Sender<()>,
    over: CancellationToken,
    this: Weak<Self>,
}

impl Page {
    pub(crate) fn listen(connection: &Connection, session: &str, target: &str) -> Arc<Self> {
        let page = Arc::new_cyclic(|this| Self {
            connection: connection.clone(),
            session: session.to_owned(),
            frame: target.to_owned(),
            rules: OnceLock::new(),
            book: Mutex::default(),
            changed: watch::Sender::new(()),
            over: CancellationToken::new(),
            this: Weak::clone(this),
        });
        connection.listen(session, Arc::clone(&page) as Arc<dyn Listener>);
        page
    }

    /// The rules of the visit. A page has one visit, so they are set once.
    pub(crate) fn set_rules(&self, rules: Rules) {
        let _ = self.rules.set(rules);
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns of every change of the book from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The page is lost; whoever waits for it is told why.
    pub(crate) fn end(&self, why: VisitError) {
        self.book().end.get_or_insert(why);
        self.over.cancel();
    }

    /// Waits for the page to be lost.
    pub(crate) async fn lost(&self) -> VisitError {
        self.over.cancelled().await;
        self.book().end.clone().unwrap_or(VisitError::Died)
    }

    /// Ends the script that runs and lets no other begin.
    pub(crate) fn stop_scripts(&self) {
        let off = json!({ "value": true });
        self.connection.post(Some(&self.session), "Emulation.setScriptExecutionDisabled", &off);
        self.connection.post(Some(&self.session), "Runtime.terminateExecution", &json!({}));
    }

    fn note(&self, write: impl FnOnce(&mut Book)) {
        write(&mut self.book());
        self.changed.send_replace(());
    }
}

/// Reads the parameters of an event; what cannot be read is no event for us.
fn read<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

impl Listener for Page {
    fn event(&self, method: &str, params: &RawValue) {
        match method {
            "Fetch.requestPaused" | "Fetch.authRequired" => self.decide(&self.session, method, params),
            "Network.requestWillBeSent" => {
                let Some(sent) = read(params) else { return };
                self.note(|book| book.sent(&self.frame, &self.session, &sent));
            }
            "Network.responseReceived" => {
                let Some(received) = read(params) else { return };
                self.note(|book| book.received(&self.frame, received));
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let Some(done) = read(params) else { return };
                self.note(|book| book.done(&done));
            }
            "Page.frameNavigated" => {
                let Some(Navigated { frame }) = read(params) else { return };
                if frame.parent_id.is_none() {
                    self.note(|book| book.navigated(frame));
                }
            }
            "Page.domContentEventFired" => self.note(|book| book.parsed = true),
            "Page.loadEventFired" => self.note(|book| book.loaded = true),
            "Page.frameScheduledNavigation" => {
                let Some(scheduled) = read::<Scheduled>(params) else { return };
                if scheduled.frame_id == self.frame {
                    self.note(|book| book.schedule(scheduled.delay));
                }
            }
            "Page.frameClearedScheduledNavigation" => {
                let Some(FrameEvent { frame_id }) = read(params) else { return };
                if frame_id == self.frame {
                    self.note(|book| book.scheduled = None);
                }
            }
            "Page.javascriptDialogOpening" => {
                let leaving = read(params).is_some_and(|Dialog { kind }| kind == "beforeunload");
                self.note(|book| book.dialogs = book.dialogs.saturating_add(1));
                // Everything is declined, but nobody keeps us from leaving.
                let answer = json!({ "accept": leaving });
                self.connection.post(Some(&self.session), "Page.handleJavaScriptDialog", &answer);
            }
            "Target.attachedToTarget" => {
                if let Some(attached) = read(params) {
                    self.attach_child(&self.session, &attached);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(gone) = read::<Detached>(params) {
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
