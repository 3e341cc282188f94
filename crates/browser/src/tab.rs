//! A page in a browser context of its own, from its opening to its disposal. A tab serves one visit and is
//! never reused, so no visit can find anything of another.

use crate::cdp::{CallError, CommandResponse, parse_result};
use crate::error::{VisitError, shorten};
use crate::page::OpenPage;
use crate::process::Process;
use crate::targets::Targets;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

const OPEN_TIMEOUT: Duration = Duration::from_secs(15);
/// A browser that cannot close a page in this time is replaced.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Tab {
    process: Process,
    targets: Arc<Targets>,
    pub(crate) context: String,
    target: String,
    session: String,
    pub(crate) page: Arc<OpenPage>,
    /// Released when the context is really gone.
    pub(crate) slot: Option<OwnedSemaphorePermit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextCreated {
    browser_context_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetCreated {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
}

impl Tab {
    pub(crate) async fn open(process: &Process, targets: &Arc<Targets>) -> Result<Self, VisitError> {
        let opening = Self::open_context(process, targets);
        match tokio::time::timeout(OPEN_TIMEOUT, opening).await {
            Ok(Ok(tab)) => Ok(tab),
            Ok(Err(CallError::Closed)) => Err(VisitError::Died),
            Ok(Err(error)) => Err(VisitError::Protocol(error.to_string())),
            Err(_) => {
                process.end_soon();
                Err(VisitError::Died)
            }
        }
    }

    async fn open_context(process: &Process, targets: &Arc<Targets>) -> Result<Self, CallError> {
        let connection = &process.connection;
        let made: ContextCreated =
            connection.call(None, "Target.createBrowserContext", &json!({ "disposeOnDetach": true })).await?;
        let context = made.browser_context_id;
        targets.add_context(&context);
        let opened = Self::open_page(process, targets, &context).await;
        if opened.is_err() {
            targets.remove_context(&context);
            let gone = json!({ "browserContextId": context });
            connection.post(None, "Target.disposeBrowserContext", &gone);
        }
        opened
    }

    async fn open_page(process: &Process, targets: &Arc<Targets>, context: &str) -> Result<Self, CallError> {
        let connection = &process.connection;
        let context = context.to_owned();
        let wanted =
            json!({ "url": "about:blank", "browserContextId": context, "width": 1280, "height": 800 });
        let target = connection.call::<TargetCreated>(None, "Target.createTarget", &wanted).await?.target_id;
        let wanted = json!({ "targetId": target, "flatten": true });
        let session = connection.call::<Attached>(None, "Target.attachToTarget", &wanted).await?.session_id;
        let page = OpenPage::listen(connection, &session, &target);
        targets.set_page(&context, &page);
        let (process, targets) = (process.clone(), Arc::clone(targets));
        let tab = Self { process, targets, context, target, session, page, slot: None };
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        let deny = json!({ "behavior": "deny", "browserContextId": tab.context });
        // Bodies are not read over the protocol, so the browser need not keep them.
        let nothing = json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0 });
        let responses = [
            tab.send("Page.enable", &json!({})),
            tab.send("Network.enable", &nothing),
            tab.send("Target.setAutoAttach", &attach),
            tab.send_to_browser("Browser.setDownloadBehavior", &deny),
        ];
        for response in responses {
            response.await?;
        }
        Ok(tab)
    }

    pub(crate) fn is_fresh(&self) -> bool {
        !self.process.is_over() && self.page.state().end.is_none()
    }

    pub(crate) fn send(&self, method: &str, params: &impl Serialize) -> CommandResponse {
        self.process.connection.send(Some(&self.session), method, params)
    }

    pub(crate) fn send_to_browser(&self, method: &str, params: &impl Serialize) -> CommandResponse {
        self.process.connection.send(None, method, params)
    }

    /// Waits for a response, or until the page is lost.
    pub(crate) async fn wait_for(&self, response: CommandResponse) -> Result<Box<RawValue>, VisitError> {
        tokio::select! {
            result = response => result.map_err(|error| self.to_visit_error(error)),
            lost = self.page.wait_until_lost() => Err(lost),
        }
    }

    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, VisitError> {
        let response = self.wait_for(self.send(method, params)).await?;
        parse_result(&response).map_err(|error| self.to_visit_error(error))
    }

    /// Sends a command whose result is ignored, but not its error.
    pub(crate) async fn execute(&self, method: &str, params: &Value) -> Result<(), VisitError> {
        self.wait_for(self.send(method, params)).await.map(drop)
    }

    fn to_visit_error(&self, error: CallError) -> VisitError {
        // A lost page causes various errors; what matters is that it is lost.
        if let Some(lost) = self.page.state().end.clone() {
            return lost;
        }
        match error {
            CallError::Closed => VisitError::Died,
            CallError::Rejected(text) | CallError::Invalid(text) => VisitError::Protocol(shorten(&text)),
        }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let connection = self.process.connection.clone();
        connection.remove_listener(&self.session);
        self.targets.remove_context(&self.context);
        connection.post(None, "Target.closeTarget", &json!({ "targetId": self.target }));
        let gone = connection.send(
            None,
            "Target.disposeBrowserContext",
            &json!({ "browserContextId": self.context }),
        );
        let (slot, process) = (self.slot.take(), self.process.clone());
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if tokio::time::timeout(CLOSE_TIMEOUT, gone).await.is_err() {
                tracing::warn!("the browser does not close its pages and is replaced");
                process.end_soon();
            }
            drop(slot);
        });
    }
}
