//! One agent of a run: the orchestrator or a sub-agent. All its requests go through here, where they are
//! checked, charged and recorded in the trace.

mod browsing;

use crate::run::{AccessError, ParsedPage, RunContext};
use crate::{
    Actor, ActorRole, AgentError, AgentErrorCode, AgentErrorSource, AgentEvent, AgentOutcome, PageLink,
    Phase, ToolCallResult, WebHit, WebResults,
};
pub(crate) use browsing::Acted;
use browsing::OpenBrowser;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use uuid::Uuid;

/// Items of a result and characters of a text that the trace shows.
const MAX_SHOWN_ITEMS: usize = 10;
const MAX_SHOWN_CHARACTERS: usize = 300;
/// Credits charged in advance; the difference to the real price is charged afterwards.
const HITS_PER_PRICE: u64 = 10;
const SEARCH_CREDITS: u64 = 2;
const PAGE_CREDITS: u64 = 1;

/// A tool call in progress.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub id: Uuid,
    tool: String,
}

/// An agent that is working on a run.
#[derive(Debug)]
pub(crate) struct Agent<'a> {
    pub run: &'a RunContext<'a>,
    pub actor: Actor,
    began: Instant,
    open: Mutex<Option<Call>>,
    browser: tokio::sync::Mutex<Option<OpenBrowser>>,
}

impl<'a> Agent<'a> {
    /// Starts the orchestrator.
    pub async fn start_lead(run: &'a RunContext<'a>) -> Self {
        Self::start(run, ActorRole::Orchestrator, "Orchestrator".to_owned(), None).await
    }

    /// Starts a sub-agent of this agent.
    pub async fn start_subagent(&self, name: String) -> Self {
        Self::start(self.run, ActorRole::Subagent, name, Some(self.actor.id)).await
    }

    async fn start(run: &'a RunContext<'a>, role: ActorRole, name: String, parent: Option<Uuid>) -> Self {
        let actor = Actor { id: Uuid::now_v7(), role, name, parent };
        run.journal.record_event(&actor, AgentEvent::AgentStarted).await;
        Self {
            run,
            actor,
            began: Instant::now(),
            open: Mutex::default(),
            browser: tokio::sync::Mutex::default(),
        }
    }

    pub async fn record_event(&self, event: AgentEvent) {
        self.run.journal.record_event(&self.actor, event).await;
    }

    pub async fn finish(&self, outcome: AgentOutcome, error: Option<AgentError>) {
        self.close_browser().await;
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.record_event(AgentEvent::AgentFinished { outcome, duration_ms, error }).await;
    }

    /// Ends an agent whose work is no longer needed, after closing its open call.
    pub async fn cancel(&self) {
        let open = self.open.lock().take();
        if let Some(call) = open {
            self.fail_call(&call, "the run no longer needed this".to_owned()).await;
        }
        let error = AgentError {
            code: AgentErrorCode::ParentFinished,
            source: AgentErrorSource::Agent,
            retryable: false,
            message: "the run was answered before this part of it ended".to_owned(),
        };
        self.finish(AgentOutcome::Cancelled, Some(error)).await;
    }

    pub async fn progress(&self, phase: Phase, message: impl Into<String>) {
        self.record_event(AgentEvent::Progress { phase, message: message.into() }).await;
    }

    /// Records an error that does not end the run.
    pub async fn report_error(&self, source: AgentErrorSource, message: impl Into<String>, retryable: bool) {
        let message = message.into();
        self.record_event(AgentEvent::Error(AgentError {
            code: AgentErrorCode::Internal,
            source,
            retryable,
            message,
        }))
        .await;
    }

    pub async fn begin_call(&self, tool: &str, parameters: Value) -> Call {
        let call = Call { id: Uuid::now_v7(), tool: tool.to_owned() };
        *self.open.lock() = Some(call.clone());
        self.record_event(AgentEvent::ToolStarted { call: call.id, tool: call.tool.clone(), parameters })
            .await;
        call
    }

    pub async fn end_call(&self, call: &Call, output: Value) {
        self.record_end_of_call(call, ToolCallResult::Output(output)).await;
    }

    pub async fn fail_call(&self, call: &Call, error: String) {
        self.record_end_of_call(call, ToolCallResult::Error(error)).await;
    }

    async fn record_end_of_call(&self, call: &Call, result: ToolCallResult) {
        *self.open.lock() = None;
        self.record_event(AgentEvent::ToolFinished { call: call.id, tool: call.tool.clone(), result }).await;
    }

    /// Reads a page that was not read before.
    pub async fn read_page(&self, url: &str) -> Result<Arc<ParsedPage>, AccessError> {
        let ticket = self.run.issue_ticket(url)?;
        if !self.run.ledger.spend_exploring(PAGE_CREDITS).await {
            return Err(AccessError::CreditLimit);
        }
        let call = self.begin_call("scrape", json!({ "url": url })).await;
        let read = match self.run.web.read_page(url).await {
            Ok(seen) => {
                self.run.ledger.charge_extra(seen.credits.saturating_sub(PAGE_CREDITS)).await;
                self.run.add_page(ticket, seen).await
            }
            Err(error) => Err(error.into()),
        };
        match &read {
            Ok(parsed) => self.end_call(&call, page_summary(parsed)).await,
            Err(access_error) => self.fail_call(&call, shown(&access_error.to_string())).await,
        }
        if let Err(AccessError::Web(error)) = &read {
            let message = shown(&format!("{url}: {error}"));
            self.report_error(AgentErrorSource::Tool, message, error.retryable).await;
        }
        read
    }

    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<WebHit>, AccessError> {
        if self.run.task.strict {
            return Err(AccessError::NotInRequest);
        }
        let price = SEARCH_CREDITS * (limit as u64).div_ceil(HITS_PER_PRICE).max(1);
        if !self.run.ledger.spend_exploring(price).await {
            return Err(AccessError::CreditLimit);
        }
        let call = self.begin_call("search", json!({ "query": query, "limit": limit })).await;
        let found = self.run.web.search(query, limit).await;
        let items = self
            .end_list_call(&call, found, price, |hit| json!({ "url": hit.url, "title": shown(&hit.title) }))
            .await?;
        self.run.add_known_urls(items.iter().map(|hit| hit.url.as_str()));
        Ok(items)
    }

    pub async fn map(
        &self,
        url: &str,
        search: Option<&str>,
        limit: usize,
    ) -> Result<Vec<PageLink>, AccessError> {
        let below = || self.run.task.urls.iter().any(|named| named.strip_suffix('*') == Some(url));
        if self.run.task.strict && !below() {
            return Err(AccessError::NotInRequest);
        }
        self.run.check_allowed(url)?;
        if !self.run.ledger.spend_exploring(PAGE_CREDITS).await {
            return Err(AccessError::CreditLimit);
        }
        let call = self.begin_call("map", json!({ "url": url, "search": search, "limit": limit })).await;
        let found = self.run.web.map(url, search, limit).await;
        let items = self
            .end_list_call(
                &call,
                found,
                PAGE_CREDITS,
                |link| json!({ "url": link.url, "text": shown(&link.text) }),
            )
            .await?;
        self.run.add_known_urls(items.iter().map(|link| link.url.as_str()));
        Ok(items)
    }

    /// Ends a call that returned a list; the trace shows the first items.
    async fn end_list_call<T>(
        &self,
        call: &Call,
        found: Result<WebResults<T>, crate::WebError>,
        price: u64,
        show: impl Fn(&T) -> Value,
    ) -> Result<Vec<T>, AccessError> {
        match found {
            Ok(found) => {
                self.run.ledger.charge_extra(found.credits.saturating_sub(price)).await;
                let first: Vec<Value> = found.items.iter().take(MAX_SHOWN_ITEMS).map(show).collect();
                let mut result = json!({ "count": found.items.len(), "first": first });
                if let Some(note) = &found.note {
                    result["note"] = shown(note).into();
                }
                self.end_call(call, result).await;
                Ok(found.items)
            }
            Err(error) => {
                self.fail_call(call, shown(&error.message)).await;
                let message = format!("{}: {}", call.tool, shown(&error.message));
                self.report_error(AgentErrorSource::Tool, message, error.retryable).await;
                Err(error.into())
            }
        }
    }
}

/// What the trace shows of a page that was read.
fn page_summary(parsed: &ParsedPage) -> Value {
    json!({
        "url": parsed.url,
        "title": parsed.title.as_deref().map(shown),
        "characters": parsed.markdown.len(),
        "links": parsed.links.len(),
    })
}

/// A text shortened for the trace.
pub(crate) fn shown(text: &str) -> String {
    cut(text, MAX_SHOWN_CHARACTERS)
}

/// The first characters of a text, with an ellipsis where it was cut.
pub(crate) fn cut(text: &str, max_characters: usize) -> String {
    match text.char_indices().nth(max_characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
