//! One actor of a run. Whatever it does to the web goes through here: allowed, counted, and told.

use crate::run::{Reading, Run, Setback};
use crate::{Actor, Fault, FaultCode, FaultSource, Found, Hit, Link, Outcome, Phase, Role, Told};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use uuid::Uuid;

/// Items of a result that the trace shows, and characters of a text.
const SHOWN: usize = 10;
const SHOWN_TEXT: usize = 300;
/// What a search, a map and a page cost before their price is known.
const HITS_A_PRICE: u64 = 10;
const PRICE_OF_HITS: u64 = 2;
const PRICE: u64 = 1;

/// A tool call under way.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub id: Uuid,
    tool: String,
}

/// One actor.
#[derive(Debug)]
pub(crate) struct Worker<'a> {
    pub run: &'a Run<'a>,
    pub actor: Actor,
    began: Instant,
    open: Mutex<Option<Call>>,
}

impl<'a> Worker<'a> {
    /// The one that leads.
    pub async fn lead(run: &'a Run<'a>) -> Self {
        Self::start(run, Role::Orchestrator, "Orchestrator".to_owned(), None).await
    }

    /// One that works for this one.
    pub async fn hire(&self, name: String) -> Self {
        Self::start(self.run, Role::Subagent, name, Some(self.actor.id)).await
    }

    async fn start(run: &'a Run<'a>, role: Role, name: String, parent: Option<Uuid>) -> Self {
        let actor = Actor { id: Uuid::now_v7(), role, name, parent };
        run.journal.tell(&actor, Told::AgentStarted).await;
        Self { run, actor, began: Instant::now(), open: Mutex::new(None) }
    }

    pub async fn tell(&self, told: Told) {
        self.run.journal.tell(&self.actor, told).await;
    }

    pub async fn finish(&self, outcome: Outcome, error: Option<Fault>) {
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.tell(Told::AgentFinished { outcome, duration_ms, error }).await;
    }

    /// Ends a worker whose work is no longer wanted: its call is closed before it.
    pub async fn dismiss(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(call) = open {
            self.end(&call, json!({ "error": "the run needed this no longer" })).await;
        }
        let fault = Fault {
            code: FaultCode::ParentFinished,
            source: FaultSource::Agent,
            retryable: false,
            message: "the run was answered before this part of it ended".to_owned(),
        };
        self.finish(Outcome::Cancelled, Some(fault)).await;
    }

    pub async fn progress(&self, phase: Phase, message: impl Into<String>) {
        self.tell(Told::Progress { phase, message: message.into() }).await;
    }

    /// Something went wrong that the run survives.
    pub async fn trouble(&self, source: FaultSource, message: impl Into<String>, retryable: bool) {
        let message = message.into();
        self.tell(Told::Error(Fault { code: FaultCode::Internal, source, retryable, message })).await;
    }

    pub async fn begin(&self, tool: &str, parameters: Value) -> Call {
        let call = Call { id: Uuid::now_v7(), tool: tool.to_owned() };
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(call.clone());
        self.tell(Told::ToolStarted { call: call.id, tool: call.tool.clone(), parameters }).await;
        call
    }

    pub async fn end(&self, call: &Call, result: Value) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.tell(Told::ToolFinished { call: call.id, tool: call.tool.clone(), result }).await;
    }

    /// Reads a page that was not read before.
    pub async fn read(&self, url: &str) -> Result<Arc<Reading>, Setback> {
        let turn = self.run.admit(url)?;
        if !self.run.ledger.explore(PRICE).await {
            return Err(Setback::Credits);
        }
        let call = self.begin("scrape", json!({ "url": url })).await;
        let read = match self.run.web.read(url).await {
            Ok(seen) => {
                self.run.ledger.settle(seen.credits.saturating_sub(PRICE)).await;
                self.run.keep(turn, seen).await
            }
            Err(failure) => Err(failure.into()),
        };
        let result = match &read {
            Ok(reading) => json!({
                "url": reading.url,
                "title": reading.title.as_deref().map(shown),
                "characters": reading.markdown.len(),
                "links": reading.links.len(),
            }),
            Err(setback) => json!({ "error": shown(&setback.to_string()) }),
        };
        self.end(&call, result).await;
        if let Err(Setback::Web(failure)) = &read {
            let message = shown(&format!("{url}: {failure}"));
            self.trouble(FaultSource::Tool, message, failure.retryable).await;
        }
        read
    }

    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, Setback> {
        if self.run.task.strict {
            return Err(Setback::Strict);
        }
        let price = PRICE_OF_HITS * (limit as u64).div_ceil(HITS_A_PRICE).max(1);
        if !self.run.ledger.explore(price).await {
            return Err(Setback::Credits);
        }
        let call = self.begin("search", json!({ "query": query, "limit": limit })).await;
        let found = self.run.web.search(query, limit).await;
        let items = self
            .found(&call, found, price, |hit| json!({ "url": hit.url, "title": shown(&hit.title) }))
            .await?;
        self.run.heard_of(items.iter().map(|hit| hit.url.as_str()));
        Ok(items)
    }

    pub async fn map(&self, url: &str, search: Option<&str>, limit: usize) -> Result<Vec<Link>, Setback> {
        let below = || self.run.task.urls.iter().any(|named| named.strip_suffix('*') == Some(url));
        if self.run.task.strict && !below() {
            return Err(Setback::Strict);
        }
        self.run.may_ask(url)?;
        if !self.run.ledger.explore(PRICE).await {
            return Err(Setback::Credits);
        }
        let call = self.begin("map", json!({ "url": url, "search": search, "limit": limit })).await;
        let found = self.run.web.map(url, search, limit).await;
        let items = self
            .found(&call, found, PRICE, |link| json!({ "url": link.url, "text": shown(&link.text) }))
            .await?;
        self.run.heard_of(items.iter().map(|link| link.url.as_str()));
        Ok(items)
    }

    /// Ends a call that brought a list: the trace shows its beginning.
    async fn found<T>(
        &self,
        call: &Call,
        found: Result<Found<T>, crate::WebError>,
        price: u64,
        show: impl Fn(&T) -> Value,
    ) -> Result<Vec<T>, Setback> {
        match found {
            Ok(found) => {
                self.run.ledger.settle(found.credits.saturating_sub(price)).await;
                let first: Vec<Value> = found.items.iter().take(SHOWN).map(show).collect();
                let mut result = json!({ "count": found.items.len(), "first": first });
                if let Some(note) = &found.note {
                    result["note"] = shown(note).into();
                }
                self.end(call, result).await;
                Ok(found.items)
            }
            Err(failure) => {
                self.end(call, json!({ "error": shown(&failure.message) })).await;
                let message = format!("{}: {}", call.tool, shown(&failure.message));
                self.trouble(FaultSource::Tool, message, failure.retryable).await;
                Err(failure.into())
            }
        }
    }
}

/// A text as the trace shows it.
pub(crate) fn shown(text: &str) -> String {
    cut(text, SHOWN_TEXT)
}

/// At most so many characters of a text.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
