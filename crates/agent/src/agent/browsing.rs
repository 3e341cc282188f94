//! The browser of an agent: one session at a time, recorded in the trace, ended with the agent at the latest.

use super::{Agent, Call, PAGE_CREDITS, page_summary, shown};
use crate::run::{AccessError, ParsedPage};
use crate::{AgentErrorSource, AgentEvent, BrowserPage, BrowserView, WebError};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// Commands in one session.
const MAX_COMMANDS: usize = 60;

/// A session that an agent has open.
#[derive(Debug)]
pub(super) struct OpenBrowser {
    page: Box<dyn BrowserPage>,
    began: Instant,
    commands: usize,
    /// What it showed last.
    shown: String,
}

/// What a page shows after a command, and whether that is something else than before.
#[derive(Debug)]
pub(crate) struct Acted {
    pub view: BrowserView,
    pub has_changed: bool,
}

impl Agent<'_> {
    /// Opens a page in a browser; the session that is open ends before. Without a browser the run goes on, and the
    /// trace says why.
    pub async fn open_browser(&self, url: &str) -> Result<BrowserView, AccessError> {
        self.run.check_allowed(url)?;
        self.close_browser().await;
        self.run.count_browser()?;
        if self.run.web.has_browser() && !self.run.ledger.spend_exploring(PAGE_CREDITS).await {
            return Err(AccessError::CreditLimit);
        }
        let call = self.begin_call("open_browser", json!({ "url": url })).await;
        let page = match self.run.web.open_browser(url).await {
            Ok(page) => page,
            Err(error) => return Err(self.fail_browser_call(&call, error).await),
        };
        let session = page.session();
        self.record_event(AgentEvent::BrowserStarted { session }).await;
        let viewed = page.view().await;
        let open = OpenBrowser { page, began: Instant::now(), commands: 0, shown: String::new() };
        let mut browser = self.browser.lock().await;
        let open = browser.insert(open);
        match viewed {
            Ok(view) => {
                open.shown.clone_from(&view.text);
                let output =
                    json!({ "sessionId": session, "url": shown(&view.url), "elements": view.elements.len() });
                self.end_call(&call, output).await;
                Ok(view)
            }
            Err(error) => {
                drop(browser);
                let error = self.fail_browser_call(&call, error).await;
                self.close_browser().await;
                Err(error)
            }
        }
    }

    async fn fail_browser_call(&self, call: &Call, error: WebError) -> AccessError {
        let message = shown(&error.message);
        self.fail_call(call, message.clone()).await;
        self.report_error(AgentErrorSource::Tool, format!("Without a browser: {message}"), error.retryable)
            .await;
        error.into()
    }

    /// Carries out one command in the open browser.
    pub async fn act_in_browser(&self, command: &str) -> Result<Acted, AccessError> {
        let mut browser = self.browser.lock().await;
        let open = browser.as_mut().ok_or(AccessError::NoBrowser)?;
        if open.commands >= MAX_COMMANDS {
            return Err(AccessError::CommandLimit);
        }
        open.commands += 1;
        let call = self.begin_call("browser_command", json!({ "command": shown(command) })).await;
        let acted = match open.page.act(command).await {
            Ok(()) => open.page.view().await,
            Err(error) => Err(error),
        };
        match acted {
            Ok(view) => {
                let has_changed = open.shown != view.text;
                open.shown.clone_from(&view.text);
                self.end_call(&call, json!({ "url": shown(&view.url), "changed": has_changed })).await;
                Ok(Acted { view, has_changed })
            }
            Err(error) => {
                self.fail_call(&call, shown(&error.message)).await;
                Err(error.into())
            }
        }
    }

    /// Reads the page that the browser shows, as one of the pages of the run.
    pub async fn read_browser(&self) -> Result<Arc<ParsedPage>, AccessError> {
        let browser = self.browser.lock().await;
        let open = browser.as_ref().ok_or(AccessError::NoBrowser)?;
        let call = self.begin_call("read_browser", json!({})).await;
        let read = match open.page.read_page().await {
            Ok(seen) => self.run.add_browser_page(seen).await,
            Err(error) => Err(error.into()),
        };
        match &read {
            Ok(parsed) => self.end_call(&call, page_summary(parsed)).await,
            Err(error) => self.fail_call(&call, shown(&error.to_string())).await,
        }
        read
    }

    /// Ends the session, if one is open.
    pub async fn close_browser(&self) {
        let Some(open) = self.browser.lock().await.take() else { return };
        open.page.close().await;
        let duration_ms = u64::try_from(open.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.record_event(AgentEvent::BrowserFinished { session: open.page.session(), duration_ms }).await;
    }
}
