//! A web of a few pages, a journal in memory and a model with a script, so that runs can be played in tests.

use crate::{Actor, Ended, Found, Hit, Journal, Link, Mode, Outcome, Role, Seen, Task, Told, Web, WebError};
use content::{Limits, Page, Source, Wanted};
use model::chat::{Abilities, Ask, Chat, ChatError, Finish, Reply, ToolCall, Usage};
use net::Deadline;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use url::Url;
use uuid::Uuid;

/// A task as the tests give it.
pub(crate) fn task(prompt: &str, urls: &[&str]) -> Task {
    Task {
        prompt: prompt.to_owned(),
        urls: urls.iter().map(|url| (*url).to_owned()).collect(),
        strict: false,
        schema: None,
        effort: None,
        mode: Mode::Extract,
        max_credits: 1_000,
        earlier: Vec::new(),
    }
}

/// A web of a few pages.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    pages: BTreeMap<String, String>,
    pub hits: Vec<&'static str>,
    /// Reads take this long.
    pub slow: Duration,
    asked: Mutex<Vec<String>>,
    busy: AtomicUsize,
    pub most_at_once: AtomicUsize,
}

impl Stage {
    pub fn new(pages: &[(&str, &str)]) -> Self {
        let pages = pages.iter().map(|(url, html)| ((*url).to_owned(), (*html).to_owned())).collect();
        Self { pages, ..Self::default() }
    }

    /// All that was asked of the web, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl Web for Stage {
    async fn read(&self, url: &str) -> Result<Seen, WebError> {
        self.asked.lock().unwrap().push(url.to_owned());
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(busy, Ordering::SeqCst);
        if !self.slow.is_zero() {
            tokio::time::sleep(self.slow).await;
        }
        self.busy.fetch_sub(1, Ordering::SeqCst);
        let html = self.pages.get(url);
        let html = html.ok_or_else(|| WebError { message: "404 Not Found".to_owned(), retryable: false })?;
        let address = Url::parse(url).unwrap();
        let source = Source { bytes: html.as_bytes(), url: Some(&address), ..Source::default() };
        let page = Page::read(&source, &Limits::default());
        let all = Wanted { only_main_content: false, ..Wanted::default() };
        let markdown = page.markdown(&page.select(&all).unwrap(), true);
        Ok(Seen {
            url: url.to_owned(),
            title: page.metadata().title,
            markdown: markdown.into(),
            links: page.links().into_iter().map(|link| Link { url: link.url, text: link.text }).collect(),
            html: html.as_str().into(),
            credits: 1,
        })
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Found<Hit>, WebError> {
        self.asked.lock().unwrap().push(format!("search:{query}"));
        let hit = |url: &&str| Hit {
            url: (*url).to_owned(),
            title: "A hit".to_owned(),
            description: String::new(),
        };
        Ok(Found { items: self.hits.iter().take(limit).map(hit).collect(), credits: 2, note: None })
    }

    async fn map(&self, url: &str, _: Option<&str>, limit: usize) -> Result<Found<Link>, WebError> {
        self.asked.lock().unwrap().push(format!("map:{url}"));
        let origin = Url::parse(url).unwrap().origin().ascii_serialization();
        let own = self.pages.keys().filter(|page| page.starts_with(&origin)).take(limit);
        let items = own.map(|url| Link { url: url.clone(), text: String::new() }).collect();
        Ok(Found { items, credits: 1, note: None })
    }
}

/// A journal in memory.
#[derive(Debug)]
pub(crate) struct Notes {
    told: Mutex<Vec<(Actor, Told)>>,
    left: AtomicU64,
}

impl Notes {
    pub fn new(credits: u64) -> Self {
        Self { told: Mutex::default(), left: AtomicU64::new(credits) }
    }

    pub fn told(&self) -> Vec<(Actor, Told)> {
        self.told.lock().unwrap().clone()
    }

    /// The tools that were called, in order.
    pub fn tools(&self) -> Vec<String> {
        let told = self.told();
        told.into_iter()
            .filter_map(|(_, told)| if let Told::ToolStarted { tool, .. } = told { Some(tool) } else { None })
            .collect()
    }

    /// Results of all calls of one tool.
    pub fn results(&self, wanted: &str) -> Vec<Value> {
        let told = self.told();
        told.into_iter()
            .filter_map(|(_, told)| match told {
                Told::ToolFinished { tool, result, .. } if tool == wanted => Some(result),
                _ => None,
            })
            .collect()
    }

    /// How the sub-agents ended.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let told = self.told();
        told.into_iter()
            .filter_map(|(actor, told)| match told {
                Told::AgentFinished { outcome, .. } if actor.role == Role::Subagent => Some(outcome),
                _ => None,
            })
            .collect()
    }

    /// Holds the trace to its rules: who begins ends, and says nothing after; calls are closed; the one that leads ends last.
    #[track_caller]
    pub fn assert_well_formed(&self) {
        let mut open: Vec<Uuid> = Vec::new();
        let mut calls: HashMap<Uuid, Uuid> = HashMap::new();
        for (actor, told) in self.told() {
            match told {
                Told::AgentStarted => open.push(actor.id),
                told => {
                    assert!(open.contains(&actor.id), "{} says {told:?} without being there", actor.name);
                    match told {
                        Told::ToolStarted { call, .. } => assert!(calls.insert(call, actor.id).is_none()),
                        Told::ToolFinished { call, .. } => assert_eq!(calls.remove(&call), Some(actor.id)),
                        Told::AgentFinished { .. } => {
                            assert!(
                                !calls.values().any(|of| *of == actor.id),
                                "{} left a call open",
                                actor.name
                            );
                            open.retain(|id| *id != actor.id);
                            let leads = actor.role == Role::Orchestrator;
                            assert!(!leads || open.is_empty(), "it ended before those it hired");
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
impl Journal for Notes {
    async fn tell(&self, actor: &Actor, told: Told) {
        self.told.lock().unwrap().push((actor.clone(), told));
    }

    async fn spend(&self, credits: u64) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(credits)).is_ok()
    }

    fn left(&self) -> u64 {
        self.left.load(Ordering::SeqCst)
    }
}

/// A model with a script; when it is through, the last line is said again.
#[derive(Debug)]
pub(crate) struct Script {
    lines: Mutex<VecDeque<Result<Reply, ChatError>>>,
    pub asks: Mutex<Vec<Ask>>,
    pub abilities: Abilities,
}

impl Script {
    pub fn new(lines: Vec<Result<Reply, ChatError>>) -> Self {
        let abilities = Abilities { tools: true, json_schema: true, context_tokens: 32_000 };
        Self { lines: Mutex::new(lines.into()), asks: Mutex::default(), abilities }
    }

    pub fn asks(&self) -> Vec<Ask> {
        self.asks.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl Chat for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }

    async fn ask(&self, ask: &Ask, _: Deadline) -> Result<Reply, ChatError> {
        self.asks.lock().unwrap().push(ask.clone());
        let mut lines = self.lines.lock().unwrap();
        if lines.len() > 1 { lines.pop_front().unwrap() } else { lines.front().cloned().unwrap() }
    }
}

/// A line of a script that calls tools.
#[expect(clippy::unnecessary_wraps, reason = "a line of a script may also be a failure")]
pub(crate) fn calls(made: &[(&str, Value)]) -> Result<Reply, ChatError> {
    let call = |(number, (name, arguments)): (usize, &(&str, Value))| ToolCall {
        id: format!("c{number}"),
        name: (*name).to_owned(),
        arguments: if let Value::String(raw) = arguments { raw.clone() } else { arguments.to_string() },
    };
    let usage = Usage { input_tokens: 900, output_tokens: 100 };
    let calls = made.iter().enumerate().map(call).collect();
    Ok(Reply { text: String::new(), calls, finish: Finish::ToolCalls, usage })
}

/// A line of a script in words.
#[expect(clippy::unnecessary_wraps, reason = "a line of a script may also be a failure")]
pub(crate) fn says(text: &str) -> Result<Reply, ChatError> {
    let usage = Usage { input_tokens: 900, output_tokens: 100 };
    Ok(Reply { text: text.to_owned(), calls: Vec::new(), finish: Finish::Stop, usage })
}

/// The data of an answer.
#[track_caller]
pub(crate) fn data(ended: &Ended) -> &Value {
    match ended {
        Ended::Answered { data: Some(data), .. } => data,
        other => panic!("{other:?}"),
    }
}
