//! Runs the built-in agent over the task sites, in memory: a web of their pages, a journal that keeps the
//! citations, and the score of each answer.

use agent::{
    Actor, AgentEvent, AgentPage, Brain, BrainOutcome, Citation, Journal, PageLink, Task, TaskMode, Web,
    WebError, WebHit, WebResults,
};
use content::{ContentScope, Limits, Page, PageSource};
use parking_lot::Mutex;
use serde_json::Value;
use sites::search_rank;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use testkit::task_sites::{self, Score, SourcedValue};
use url::{Position, Url};

/// The origin of the sites; its name never resolves.
const ORIGIN: &str = "https://sites.invalid";
/// The credits of a run: more than any task needs.
const MAX_CREDITS: u64 = 500;

/// The result of a task.
#[derive(Debug)]
pub struct TaskResult {
    pub task: &'static task_sites::Task,
    pub score: Score,
    /// Pages that were read.
    pub pages: usize,
    pub answer: Option<Value>,
    /// How the run ended, where it has no answer.
    pub failure: Option<String>,
}

/// Runs one task.
pub async fn run_task(brain: &dyn Brain, task: &'static task_sites::Task) -> TaskResult {
    let request = Task {
        prompt: task.prompt.clone(),
        urls: task.start.iter().map(|path| format!("{ORIGIN}{path}")).collect(),
        strict: false,
        schema: task.schema.clone(),
        effort: None,
        mode: TaskMode::Extract,
        max_credits: MAX_CREDITS,
        earlier: Vec::new(),
    };
    let (web, journal) = (SiteWeb::default(), CitationJournal::new(MAX_CREDITS));
    let outcome = brain.run(&request, None, &web, &journal).await;
    let pages = web.pages.load(Ordering::Relaxed);
    let (answer, failure) = match outcome {
        BrainOutcome::Answered { data, .. } => (data, None),
        other => (None, Some(format!("{other:?}"))),
    };
    let citations = journal.citations.into_inner();
    let data = answer.clone().unwrap_or_default();
    let sourced: Vec<SourcedValue<'_>> = citations
        .iter()
        .filter_map(|citation| {
            let value = data.pointer(&citation.field)?;
            Some(SourcedValue { path: citation.url.strip_prefix(ORIGIN)?, quote: &citation.quote, value })
        })
        .collect();
    TaskResult { task, score: task.score(&data, &sourced), pages, answer, failure }
}

/// The sites as a web.
#[derive(Debug, Default)]
struct SiteWeb {
    pages: AtomicUsize,
}

#[async_trait::async_trait]
impl Web for SiteWeb {
    async fn read_page(&self, url: &str) -> Result<AgentPage, WebError> {
        self.pages.fetch_add(1, Ordering::Relaxed);
        let gone = || WebError { message: "404 Not Found".to_owned(), retryable: false };
        let address = Url::parse(url).map_err(|_| gone())?;
        let html = task_sites::page(&address[Position::BeforePath..]).ok_or_else(gone)?;
        let source = PageSource { bytes: html.as_bytes(), url: Some(&address), ..PageSource::default() };
        let page = Page::parse(&source, &Limits::default());
        let selection = page.select(&ContentScope::default()).map_err(|_| gone())?;
        Ok(AgentPage {
            url: url.to_owned(),
            title: page.metadata().title,
            markdown: page.markdown(&selection, true).into(),
            links: page.links().into_iter().map(|link| PageLink { url: link.url, text: link.text }).collect(),
            page: page.into(),
            credits: 1,
        })
    }

    async fn search(&self, query: &str, limit: usize) -> Result<WebResults<WebHit>, WebError> {
        let hit = |link: PageLink| WebHit { url: link.url, title: link.text, description: String::new() };
        let items = ranked("/", query, limit).into_iter().map(hit).collect();
        Ok(WebResults { items, credits: 2, note: None })
    }

    async fn map(
        &self,
        url: &str,
        search: Option<&str>,
        limit: usize,
    ) -> Result<WebResults<PageLink>, WebError> {
        let site = url.strip_prefix(ORIGIN).and_then(|path| path.split('/').nth(1)).unwrap_or_default();
        let items = ranked(&format!("/{site}"), search.unwrap_or_default(), limit);
        Ok(WebResults { items, credits: 1, note: None })
    }
}

/// Pages below a path, those that match the words first.
fn ranked(below: &str, words: &str, limit: usize) -> Vec<PageLink> {
    let pages: Vec<(Url, String)> = task_sites::pages()
        .iter()
        .filter(|page| page.path.starts_with(below))
        .filter_map(|page| {
            let url = Url::parse(&format!("{ORIGIN}{}", page.path)).ok()?;
            let source = PageSource { bytes: page.html.as_bytes(), url: Some(&url), ..PageSource::default() };
            let title = Page::parse(&source, &Limits::default()).metadata().title.unwrap_or_default();
            Some((url, title))
        })
        .collect();
    let infos: Vec<search_rank::PageInfo<'_>> = pages
        .iter()
        .map(|(url, title)| search_rank::PageInfo { url: url.as_str(), title, description: "" })
        .collect();
    let order = search_rank::rank(&infos, words);
    let link = |at: usize| PageLink { url: pages[at].0.to_string(), text: pages[at].1.clone() };
    order.into_iter().take(limit).map(link).collect()
}

/// A journal that keeps only the citations.
#[derive(Debug)]
struct CitationJournal {
    left: AtomicU64,
    citations: Mutex<Vec<Citation>>,
}

impl CitationJournal {
    fn new(credits: u64) -> Self {
        Self { left: AtomicU64::new(credits), citations: Mutex::default() }
    }
}

#[async_trait::async_trait]
impl Journal for CitationJournal {
    async fn record_event(&self, _: &Actor, _: AgentEvent) {}

    async fn spend_credits(&self, credits: u64) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(credits)).is_ok()
    }

    fn credits_left(&self) -> u64 {
        self.left.load(Ordering::SeqCst)
    }

    async fn record_citations(&self, citations: Vec<Citation>) {
        *self.citations.lock() = citations;
    }
}

/// A share as a percentage; 100 where there is nothing to count.
pub fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}
