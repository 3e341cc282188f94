//! A page of the browser in a context of its own, from its opening to its disposal. A tab serves one visit and is never
//! used again: nothing of one visit can be found by another.

use crate::cdp::{CallError, Reply, read};
use crate::error::{VisitError, clip};
use crate::page::Page;
use crate::process::Process;
use crate::targets::Targets;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

const OPEN_LIMIT: Duration = Duration::from_secs(15);
/// A browser that cannot close a page in this time is not fit for the next one.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct Tab {
    process: Process,
    targets: Arc<Targets>,
    pub(crate) context: String,
    target: String,
    session: String,
    pub(crate) page: Arc<Page>,
    /// Given back when the context is really gone.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextMade {
    browser_context_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetMade {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
}

impl Tab {
    pub(crate) async fn open(process: &Process, targets: &Arc<Targets>) -> Result<Self, VisitError> {
        let opening = Self::open_now(process, targets);
        match tokio::time::timeout(OPEN_LIMIT, opening).await {
            Ok(Ok(tab)) => Ok(tab),
            Ok(Err(CallError::Closed)) => Err(VisitError::Died),
            Ok(Err(error)) => Err(VisitError::Protocol(error.to_string())),
            Err(_) => {
                process.end_soon();
                Err(VisitError::Died)
            }
        }
    }

    async fn open_now(process: &Process, targets: &Arc<Targets>) -> Result<Self, CallError> {
        let connection = &process.connection;
        let made: ContextMade =
            connection.call(None, "Target.createBrowserContext", &json!({ "disposeOnDetach": true })).await?;
        let context = made.browser_context_id;
        targets.expect(&context);
        let opened = Self::open_in(process, targets, &context).await;
        if opened.is_err() {
            targets.forget(&context);
            let gone = json!({ "browserContextId": context });
            connection.post(None, "Target.disposeBrowserContext", &gone);
        }
        opened
    }

    async fn open_in(process: &Process, targets: &Arc<Targets>, context: &str) -> Result<Self, CallError> {
        let connection = &process.connection;
        let context = context.to_owned();
        let wanted =
            json!({ "url": "about:blank", "browserContextId": context, "width": 1280, "height": 800 });
        let target = connection.call::<TargetMade>(None, "Target.createTarget", &wanted).await?.target_id;
        let wanted = json!({ "targetId": target, "flatten": true });
        let session = connection.call::<Attached>(None, "Target.attachToTarget", &wanted).await?.session_id;
        let page = Page::listen(connection, &session, &target);
        targets.adopt(&context, &page);
        let (process, targets) = (process.clone(), Arc::clone(targets));
        let tab = Self { process, targets, context, target, session, page, place: None };
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        let deny = json!({ "behavior": "deny", "browserContextId": tab.context });
        // Bodies are not asked for over the protocol, so the browser need not keep them.
        let nothing = json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0 });
        let settled = [
            tab.send("Page.enable", &json!({})),
            tab.send("Network.enable", &nothing),
            tab.send("Target.setAutoAttach", &attach),
            tab.send_to_browser("Browser.setDownloadBehavior", &deny),
        ];
        for reply in settled {
            reply.await?;
        }
        Ok(tab)
    }

    pub(crate) fn is_fresh(&self) -> bool {
        !self.process.is_over() && self.page.book().end.is_none()
    }

    pub(crate) fn send(&self, method: &str, params: &impl Serialize) -> Reply {
        self.process.connection.send(Some(&self.session), method, params)
    }

    pub(crate) fn send_to_browser(&self, method: &str, params: &impl Serialize) -> Reply {
        self.process.connection.send(None, method, params)
    }

    /// Waits for an answer, or for the page to be lost.
    pub(crate) async fn answer(&self, reply: Reply) -> Result<Box<RawValue>, VisitError> {
        tokio::select! {
            answer = reply => answer.map_err(|error| self.explain(error)),
            lost = self.page.lost() => Err(lost),
        }
    }

    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, VisitError> {
        let answer = self.answer(self.send(method, params)).await?;
        read(&answer).map_err(|error| self.explain(error))
    }

    /// Sends a command whose result is of no interest, but its success is.
    pub(crate) async fn tell(&self, method: &str, params: &Value) -> Result<(), VisitError> {
        self.answer(self.send(method, params)).await.map(drop)
    }

    fn explain(&self, error: CallError) -> VisitError {
        // A lost page refuses in many words; that it is lost is what counts.
        if let Some(lost) = self.page.book().end.clone() {
            return lost;
        }
        match error {
            CallError::Closed => VisitError::Died,
            CallError::Refused(text) | CallError::Unreadable(text) => VisitError::Protocol(clip(&text)),
        }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let connection = self.process.connection.clone();
        connection.forget(&self.session);
        self.targets.forget(&self.context);
        connection.post(None, "Target.closeTarget", &json!({ "targetId": self.target }));
        let gone = connection.send(
            None,
            "Target.disposeBrowserContext",
            &json!({ "browserContextId": self.context }),
        );
        let (place, process) = (self.place.take(), self.process.clone());
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if tokio::time::timeout(CLOSE_LIMIT, gone).await.is_err() {
                tracing::warn!("the browser does not close its pages and is replaced");
                process.end_soon();
            }
            drop(place);
        });
    }
}
