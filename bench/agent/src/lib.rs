//! Plays a brain over the task sites, in memory: a web of their pages, a journal that keeps what is cited, and the score of each answer.

use agent::{
    Actor, Brain, Citation, Ended, Found, Hit, Journal, Link, Mode, Seen, Task, Told, Web, WebError,
};
use content::{Limits, Page, Source, Wanted};
use serde_json::Value;
use sites::rank;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use testkit::task_sites::{self, Given, Score};
use url::{Position, Url};

/// Where the sites lie; the name can never be asked for.
const ORIGIN: &str = "https://sites.invalid";
/// What a run may spend: more than any task needs.
const CREDITS: u64 = 500;

/// A task as it was played.
#[derive(Debug)]
pub struct Played {
    pub task: &'static task_sites::Task,
    pub score: Score,
    /// Pages that were read.
    pub pages: usize,
    pub answer: Option<Value>,
    /// How it ended, where it is no answer.
    pub failure: Option<String>,
}

/// Plays one task.
pub async fn play(brain: &dyn Brain, task: &'static task_sites::Task) -> Played {
    let asked = Task {
        prompt: task.prompt.clone(),
        urls: task.start.iter().map(|path| format!("{ORIGIN}{path}")).collect(),
        strict: false,
        schema: task.schema.clone(),
        effort: None,
        mode: Mode::Extract,
        max_credits: CREDITS,
        earlier: Vec::new(),
    };
    let (web, journal) = (SiteWeb::default(), Cited::new(CREDITS));
    let ended = brain.run(&asked, None, &web, &journal).await;
    let pages = web.pages.load(Ordering::Relaxed);
    let (answer, failure) = match ended {
        Ended::Answered { data, .. } => (data, None),
        other => (None, Some(format!("{other:?}"))),
    };
    let citations = journal.citations.into_inner().unwrap_or_else(PoisonError::into_inner);
    let data = answer.clone().unwrap_or_default();
    let given: Vec<Given<'_>> = citations
        .iter()
        .filter_map(|citation| {
            let value = data.pointer(&citation.field)?;
            Some(Given { path: citation.url.strip_prefix(ORIGIN)?, quote: &citation.quote, value })
        })
        .collect();
    Played { task, score: task.score(&data, &given), pages, answer, failure }
}

/// The sites as a web.
#[derive(Debug, Default)]
struct SiteWeb {
    pages: AtomicUsize,
}

#[async_trait::async_trait]
impl Web for SiteWeb {
    async fn read(&self, url: &str) -> Result<Seen, WebError> {
        self.pages.fetch_add(1, Ordering::Relaxed);
        let gone = || WebError { message: "404 Not Found".to_owned(), retryable: false };
        let address = Url::parse(url).map_err(|_| gone())?;
        let html = task_sites::page(&address[Position::BeforePath..]).ok_or_else(gone)?;
        let source = Source { bytes: html.as_bytes(), url: Some(&address), ..Source::default() };
        let page = Page::read(&source, &Limits::default());
        let selection = page.select(&Wanted::default()).map_err(|_| gone())?;
        Ok(Seen {
            url: url.to_owned(),
            title: page.metadata().title,
            markdown: page.markdown(&selection, true).into(),
            links: page.links().into_iter().map(|link| Link { url: link.url, text: link.text }).collect(),
            html: html.into(),
            credits: 1,
        })
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Found<Hit>, WebError> {
        let hit = |link: Link| Hit { url: link.url, title: link.text, description: String::new() };
        let items = ranked("/", query, limit).into_iter().map(hit).collect();
        Ok(Found { items, credits: 2, note: None })
    }

    async fn map(&self, url: &str, search: Option<&str>, limit: usize) -> Result<Found<Link>, WebError> {
        let site = url.strip_prefix(ORIGIN).and_then(|path| path.split('/').nth(1)).unwrap_or_default();
        let items = ranked(&format!("/{site}"), search.unwrap_or_default(), limit);
        Ok(Found { items, credits: 1, note: None })
    }
}

/// Pages below a path, those that fit the words first.
fn ranked(below: &str, words: &str, limit: usize) -> Vec<Link> {
    let pages: Vec<(Url, String)> = task_sites::pages()
        .iter()
        .filter(|page| page.path.starts_with(below))
        .filter_map(|page| {
            let url = Url::parse(&format!("{ORIGIN}{}", page.path)).ok()?;
            let source = Source { bytes: page.html.as_bytes(), url: Some(&url), ..Source::default() };
            let title = Page::read(&source, &Limits::default()).metadata().title.unwrap_or_default();
            Some((url, title))
        })
        .collect();
    let known: Vec<rank::Page<'_>> =
        pages.iter().map(|(url, title)| rank::Page { url: url.as_str(), title, description: "" }).collect();
    let order = rank::rank(&known, words);
    let link = |at: usize| Link { url: pages[at].0.to_string(), text: pages[at].1.clone() };
    order.into_iter().take(limit).map(link).collect()
}

/// A journal that keeps the citations alone.
#[derive(Debug)]
struct Cited {
    left: AtomicU64,
    citations: Mutex<Vec<Citation>>,
}

impl Cited {
    fn new(credits: u64) -> Self {
        Self { left: AtomicU64::new(credits), citations: Mutex::default() }
    }
}

#[async_trait::async_trait]
impl Journal for Cited {
    async fn tell(&self, _: &Actor, _: Told) {}

    async fn spend(&self, credits: u64) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(credits)).is_ok()
    }

    fn left(&self) -> u64 {
        self.left.load(Ordering::SeqCst)
    }

    async fn cite(&self, citations: Vec<Citation>) {
        *self.citations.lock().unwrap_or_else(PoisonError::into_inner) = citations;
    }
}

/// A share as a percentage; all of nothing is all.
pub fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}
