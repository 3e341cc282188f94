//! Test doubles: a web of a few pages, a journal in memory and a model that follows a script.

use crate::{
    Actor, ActorRole, AgentEvent, AgentOutcome, AgentPage, BrainOutcome, BrowserPage, BrowserView, Journal,
    PageLink, Task, TaskMode, ToolCallResult, Web, WebError, WebHit, WebResults,
};
use content::{ContentScope, Limits, Page, PageSource};
use model::chat::{Abilities, Chat, ChatError, ChatRequest, ChatResponse, Finish, ToolCall, Usage};
use net::Deadline;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use url::Url;
use uuid::Uuid;

/// A task with default options.
pub(crate) fn task(prompt: &str, urls: &[&str]) -> Task {
    Task {
        prompt: prompt.to_owned(),
        urls: urls.iter().map(|url| (*url).to_owned()).collect(),
        strict: false,
        schema: None,
        effort: None,
        mode: TaskMode::Extract,
        max_credits: 1_000,
        earlier: Vec::new(),
    }
}

/// A web of a few pages held in memory.
#[derive(Debug, Default)]
pub(crate) struct FakeWeb {
    pages: BTreeMap<String, String>,
    pub hits: Vec<&'static str>,
    /// What pages show in a browser: at first, and after each click.
    pub states: BTreeMap<&'static str, Vec<&'static str>>,
    /// How long a page read takes.
    pub delay: Duration,
    requests: Mutex<Vec<String>>,
    busy: AtomicUsize,
    pub max_in_flight: AtomicUsize,
}

impl FakeWeb {
    pub fn new(pages: &[(&str, &str)]) -> Self {
        let pages = pages.iter().map(|(url, html)| ((*url).to_owned(), (*html).to_owned())).collect();
        Self { pages, ..Self::default() }
    }

    /// All requests made, in order.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn agent_page(url: &str, html: &str) -> AgentPage {
    let address = Url::parse(url).unwrap();
    let source = PageSource { bytes: html.as_bytes(), url: Some(&address), ..PageSource::default() };
    let page = Page::parse(&source, &Limits::default());
    let all = ContentScope { only_main_content: false, ..ContentScope::default() };
    let markdown = page.markdown(&page.select(&all).unwrap(), true);
    AgentPage {
        url: url.to_owned(),
        title: page.metadata().title,
        markdown: markdown.into(),
        links: page.links().into_iter().map(|link| PageLink { url: link.url, text: link.text }).collect(),
        page: Arc::new(page),
        credits: 1,
    }
}

/// A page in a browser that goes from state to state with each click on a button that it has.
#[derive(Debug)]
struct FakeBrowserPage {
    session: Uuid,
    url: String,
    states: Vec<&'static str>,
    at: AtomicUsize,
}

impl FakeBrowserPage {
    fn html(&self) -> &'static str {
        self.states[self.at.load(Ordering::SeqCst).min(self.states.len() - 1)]
    }
}

#[async_trait::async_trait]
impl BrowserPage for FakeBrowserPage {
    fn session(&self) -> Uuid {
        self.session
    }

    async fn view(&self) -> Result<BrowserView, WebError> {
        let page = agent_page(&self.url, self.html());
        let elements = crate::controls::find_controls(&page.page).into_iter().enumerate();
        let elements = elements.map(|(number, control)| (format!("@e{number}"), control.label)).collect();
        Ok(BrowserView { url: self.url.clone(), text: self.html().to_owned(), elements })
    }

    async fn act(&self, command: &str) -> Result<(), WebError> {
        if !command.starts_with("click @e") {
            return Err(WebError { message: "refused".to_owned(), retryable: false });
        }
        self.at.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn read_page(&self) -> Result<AgentPage, WebError> {
        Ok(agent_page(&self.url, self.html()))
    }

    async fn close(&self) {}
}

#[async_trait::async_trait]
impl Web for FakeWeb {
    fn has_browser(&self) -> bool {
        !self.states.is_empty()
    }

    async fn open_browser(&self, url: &str) -> Result<Box<dyn BrowserPage>, WebError> {
        let states = self.states.get(url).cloned();
        let states = states.ok_or_else(|| WebError { message: "no browser".to_owned(), retryable: false })?;
        let (session, url, at) = (Uuid::now_v7(), url.to_owned(), AtomicUsize::new(0));
        Ok(Box::new(FakeBrowserPage { session, url, states, at }))
    }

    async fn read_page(&self, url: &str) -> Result<AgentPage, WebError> {
        self.requests.lock().unwrap().push(url.to_owned());
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.max_in_flight.fetch_max(busy, Ordering::SeqCst);
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        self.busy.fetch_sub(1, Ordering::SeqCst);
        let html = self.pages.get(url);
        let html = html.ok_or_else(|| WebError { message: "404 Not Found".to_owned(), retryable: false })?;
        Ok(agent_page(url, html))
    }

    async fn search(&self, query: &str, limit: usize) -> Result<WebResults<WebHit>, WebError> {
        self.requests.lock().unwrap().push(format!("search:{query}"));
        let hit = |url: &&str| WebHit {
            url: (*url).to_owned(),
            title: "A hit".to_owned(),
            description: String::new(),
        };
        Ok(WebResults { items: self.hits.iter().take(limit).map(hit).collect(), credits: 2, note: None })
    }

    async fn map(&self, url: &str, _: Option<&str>, limit: usize) -> Result<WebResults<PageLink>, WebError> {
        self.requests.lock().unwrap().push(format!("map:{url}"));
        let origin = Url::parse(url).unwrap().origin().ascii_serialization();
        let own = self.pages.keys().filter(|page| page.starts_with(&origin)).take(limit);
        let items = own.map(|url| PageLink { url: url.clone(), text: String::new() }).collect();
        Ok(WebResults { items, credits: 1, note: None })
    }
}

/// A journal in memory.
#[derive(Debug)]
pub(crate) struct MemoryJournal {
    events: Mutex<Vec<(Actor, AgentEvent)>>,
    left: AtomicU64,
}

impl MemoryJournal {
    pub fn new(credits: u64) -> Self {
        Self { events: Mutex::default(), left: AtomicU64::new(credits) }
    }

    pub fn events(&self) -> Vec<(Actor, AgentEvent)> {
        self.events.lock().unwrap().clone()
    }

    /// The tools that were called, in order.
    pub fn tools(&self) -> Vec<String> {
        self.events()
            .into_iter()
            .filter_map(
                |(_, event)| if let AgentEvent::ToolStarted { tool, .. } = event { Some(tool) } else { None },
            )
            .collect()
    }

    /// Results of all calls of one tool, as the trace shows them.
    pub fn results(&self, wanted: &str) -> Vec<Value> {
        self.events()
            .into_iter()
            .filter_map(|(_, event)| match event {
                AgentEvent::ToolFinished { tool, result, .. } if tool == wanted => Some(match result {
                    ToolCallResult::Output(output) => output,
                    ToolCallResult::Error(error) => json!({ "error": error }),
                }),
                _ => None,
            })
            .collect()
    }

    /// How the sub-agents ended.
    pub fn outcomes(&self) -> Vec<AgentOutcome> {
        self.events()
            .into_iter()
            .filter_map(|(actor, event)| match event {
                AgentEvent::AgentFinished { outcome, .. } if actor.role == ActorRole::Subagent => {
                    Some(outcome)
                }
                _ => None,
            })
            .collect()
    }

    /// Checks the trace: every agent that starts also finishes and records nothing afterwards, every tool
    /// call and every browser session is closed, and the orchestrator finishes last.
    #[track_caller]
    pub fn assert_well_formed(&self) {
        let mut open: Vec<Uuid> = Vec::new();
        let mut calls: HashMap<Uuid, Uuid> = HashMap::new();
        for (actor, event) in self.events() {
            match event {
                AgentEvent::AgentStarted => open.push(actor.id),
                event => {
                    assert!(
                        open.contains(&actor.id),
                        "{} records {event:?} without having started",
                        actor.name
                    );
                    match event {
                        AgentEvent::ToolStarted { call, .. } => {
                            assert!(calls.insert(call, actor.id).is_none());
                        }
                        AgentEvent::ToolFinished { call, .. } => {
                            assert_eq!(calls.remove(&call), Some(actor.id));
                        }
                        AgentEvent::BrowserStarted { session } => {
                            assert!(calls.insert(session, actor.id).is_none());
                        }
                        AgentEvent::BrowserFinished { session, .. } => {
                            assert_eq!(calls.remove(&session), Some(actor.id));
                        }
                        AgentEvent::AgentFinished { .. } => {
                            assert!(
                                !calls.values().any(|of| *of == actor.id),
                                "{} left a call open",
                                actor.name
                            );
                            open.retain(|id| *id != actor.id);
                            let leads = actor.role == ActorRole::Orchestrator;
                            assert!(!leads || open.is_empty(), "it finished before its sub-agents");
                        }
                        _ => {}
                    }
                }
            }
        }
        assert!(
            open.is_empty() && calls.is_empty(),
            "{} agents and {} calls are open",
            open.len(),
            calls.len()
        );
    }
}

#[async_trait::async_trait]
impl Journal for MemoryJournal {
    async fn record_event(&self, actor: &Actor, event: AgentEvent) {
        self.events.lock().unwrap().push((actor.clone(), event));
    }

    async fn spend_credits(&self, credits: u64) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(credits)).is_ok()
    }

    fn credits_left(&self) -> u64 {
        self.left.load(Ordering::SeqCst)
    }
}

/// A model that follows a script; its last line is repeated when the script ends.
#[derive(Debug)]
pub(crate) struct ScriptedChat {
    lines: Mutex<VecDeque<Result<ChatResponse, ChatError>>>,
    pub asks: Mutex<Vec<ChatRequest>>,
    pub abilities: Abilities,
}

impl ScriptedChat {
    pub fn new(lines: Vec<Result<ChatResponse, ChatError>>) -> Self {
        let abilities = Abilities { tools: true, json_schema: true, context_tokens: 32_000 };
        Self { lines: Mutex::new(lines.into()), asks: Mutex::default(), abilities }
    }

    pub fn asks(&self) -> Vec<ChatRequest> {
        self.asks.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl Chat for ScriptedChat {
    fn name(&self) -> &'static str {
        "script"
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }

    async fn ask(&self, ask: &ChatRequest, _: Deadline) -> Result<ChatResponse, ChatError> {
        self.asks.lock().unwrap().push(ask.clone());
        let mut lines = self.lines.lock().unwrap();
        if lines.len() > 1 { lines.pop_front().unwrap() } else { lines.front().cloned().unwrap() }
    }
}

/// A script line that calls tools.
#[expect(clippy::unnecessary_wraps, reason = "a script line may also be an error")]
pub(crate) fn calls(made: &[(&str, Value)]) -> Result<ChatResponse, ChatError> {
    let call = |(number, (name, arguments)): (usize, &(&str, Value))| ToolCall {
        id: format!("c{number}"),
        name: (*name).to_owned(),
        arguments: if let Value::String(raw) = arguments { raw.clone() } else { arguments.to_string() },
    };
    let usage = Usage { input_tokens: 900, output_tokens: 100 };
    let calls = made.iter().enumerate().map(call).collect();
    Ok(ChatResponse { text: String::new(), calls, finish: Finish::ToolCalls, usage })
}

/// A script line of plain text.
#[expect(clippy::unnecessary_wraps, reason = "a script line may also be an error")]
pub(crate) fn says(text: &str) -> Result<ChatResponse, ChatError> {
    let usage = Usage { input_tokens: 900, output_tokens: 100 };
    Ok(ChatResponse { text: text.to_owned(), calls: Vec::new(), finish: Finish::Stop, usage })
}

/// The data of an answered run.
#[track_caller]
pub(crate) fn data(ended: &BrainOutcome) -> &Value {
    match ended {
        BrainOutcome::Answered { data: Some(data), .. } => data,
        other => panic!("{other:?}"),
    }
}
