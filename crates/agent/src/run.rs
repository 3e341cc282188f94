//! What all workers of a run share: the task, the web, the journal, the credits, and the pages that were read.

use crate::addresses::{address, one_site};
use crate::bounds::{Bounds, Ledger};
use crate::{Journal, Link, Seen, Task, Web, WebError};
use content::{Limits, Page, Source};
use extract::PageView;
use extract::rank::{self, LinkKind, RankedLink};
use sites::Address;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use url::Url;

/// A page is read no further than this.
const LIMITS: Limits = Limits { bytes: 10 << 20, nodes: 400_000, depth: 512, attributes: 256 };
/// Addresses that are remembered as found.
const MOST_FOUND: usize = 100_000;

/// A page that was read, parsed once.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Its turn among the pages of the run, whenever it arrived.
    pub place: usize,
    /// Keys of the address that was asked for, and of where it led.
    keys: [String; 2],
    pub url: String,
    pub title: Option<String>,
    pub markdown: Arc<str>,
    pub links: Vec<Link>,
    /// Pages of its site that continue a list of it.
    pub next: Vec<String>,
    pub page: Page,
}

impl Reading {
    /// Whether an address with this key brought this page.
    pub fn is_at(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own == key)
    }

    /// Parses what was seen at the address with this key.
    pub fn of(place: usize, asked: &str, seen: Seen) -> Self {
        let url = Url::parse(&seen.url).ok();
        let source = Source {
            bytes: seen.html.as_bytes(),
            content_type: Some("text/html; charset=utf-8"),
            url: url.as_ref(),
            status: None,
        };
        let page = Page::read(&source, &LIMITS);
        let landed = address(&seen.url).map_or_else(|| asked.to_owned(), |landed| landed.key().to_owned());
        let view = PageView { url: &seen.url, page: &page, markdown: &seen.markdown };
        let own = |link: &RankedLink| {
            let there = address(&link.url).filter(|there| there.key() != landed);
            url.as_ref().zip(there).is_some_and(|(here, there)| one_site(here, there.url()))
        };
        let ranked = rank::links("", None, &[], &view).into_iter();
        let next =
            ranked.filter(|link| link.kind == LinkKind::Next && own(link)).map(|link| link.url).collect();
        let keys = [asked.to_owned(), landed];
        let Seen { url, title, markdown, links, .. } = seen;
        Self { place, keys, url, title, markdown, links, next, page }
    }
}

/// Why a worker did not get what it asked for. Nothing here ends a run by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Setback {
    #[error("this is no address of a page")]
    NoAddress,
    #[error("this page was read before")]
    Known,
    #[error("the request allows only the addresses it names")]
    Strict,
    #[error("no page, search or request named this address")]
    Unheard,
    #[error("the run has read as many pages as its effort allows")]
    Pages,
    #[error("the run's credits do not cover this")]
    Credits,
    #[error("{0}")]
    Web(#[from] WebError),
}

/// A page's turn to be read.
#[derive(Debug)]
pub(crate) struct Turn {
    place: usize,
    key: String,
}

/// Whether an address of a request names a page: the same page, or one below it where it ends in `*`.
fn names(written: &str, page: &Address) -> bool {
    match written.strip_suffix('*') {
        Some(part) => page.url().as_str().starts_with(part),
        None => address(written).is_some_and(|named| named.key() == page.key()),
    }
}

/// What is shared.
pub(crate) struct Run<'a> {
    pub task: &'a Task,
    pub web: &'a dyn Web,
    pub journal: &'a dyn Journal,
    pub bounds: Bounds,
    pub ledger: Ledger<'a>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    /// Keys of what was asked for, read or not.
    asked: HashSet<String>,
    /// Keys of what the request, pages and searches named.
    found: HashSet<String>,
    /// The addresses of the request: their sites are open to whoever thinks.
    given: Vec<Url>,
    readings: Vec<Arc<Reading>>,
    next_place: usize,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("task", &self.task).field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

impl<'a> Run<'a> {
    /// A run; `kept` credits are left alone while it explores.
    pub fn new(task: &'a Task, web: &'a dyn Web, journal: &'a dyn Journal, kept: u64) -> Self {
        let run = Self {
            task,
            web,
            journal,
            bounds: Bounds::of(task),
            ledger: Ledger::new(journal, kept),
            memory: Mutex::new(Memory::default()),
        };
        let given: Vec<String> =
            task.urls.iter().cloned().chain(crate::addresses::in_text(&task.prompt, 20)).collect();
        run.heard_of(given.iter().map(String::as_str));
        run.memory().given = given.iter().filter_map(|url| Some(address(url)?.into_url())).collect();
        run
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // Never held over an await.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes addresses that a page or a search named.
    pub fn heard_of<'u>(&self, urls: impl Iterator<Item = &'u str>) {
        let mut memory = self.memory();
        for address in urls.filter_map(address) {
            if memory.found.len() == MOST_FOUND {
                break;
            }
            memory.found.insert(address.key().to_owned());
        }
    }

    /// Whether an address may be asked for: in a strict run only what the request names; otherwise what was named by the request, a
    /// page or a search, and the sites of the request. Nobody can write a message into an address of their own making.
    pub fn may_ask(&self, url: &str) -> Result<(), Setback> {
        let address = address(url).ok_or(Setback::NoAddress)?;
        if self.task.strict {
            let named = self.task.urls.iter().any(|url| names(url, &address));
            return if named { Ok(()) } else { Err(Setback::Strict) };
        }
        let memory = self.memory();
        let known = memory.found.contains(address.key())
            || memory.given.iter().any(|given| one_site(given, address.url()));
        if known { Ok(()) } else { Err(Setback::Unheard) }
    }

    /// Whether a page was asked for before, in any spelling.
    pub fn was_asked(&self, url: &str) -> bool {
        address(url).is_some_and(|address| self.memory().asked.contains(address.key()))
    }

    /// Takes a page's turn; refused when it was taken before or the pages are used up.
    pub fn admit(&self, url: &str) -> Result<Turn, Setback> {
        self.may_ask(url)?;
        let key = address(url).ok_or(Setback::NoAddress)?.key().to_owned();
        let mut memory = self.memory();
        if memory.asked.contains(&key) {
            return Err(Setback::Known);
        }
        if memory.next_place >= self.bounds.pages {
            return Err(Setback::Pages);
        }
        memory.asked.insert(key.clone());
        memory.next_place += 1;
        Ok(Turn { place: memory.next_place - 1, key })
    }

    /// Keeps a page; refused when a redirect led to one that is kept already. Parsing takes milliseconds of a processor, so it happens
    /// beside the threads that serve.
    pub async fn keep(&self, turn: Turn, seen: Seen) -> Result<Arc<Reading>, Setback> {
        let reading = Arc::new(self.compute(move || Reading::of(turn.place, &turn.key, seen)).await?);
        self.heard_of(reading.links.iter().map(|link| link.url.as_str()));
        let mut memory = self.memory();
        let [_, landed] = &reading.keys;
        if memory.readings.iter().any(|kept| kept.keys[1] == *landed) {
            return Err(Setback::Known);
        }
        memory.asked.insert(landed.clone());
        memory.readings.push(Arc::clone(&reading));
        memory.readings.sort_by_key(|reading| reading.place);
        Ok(reading)
    }

    /// Does work on what was read: where it holds up nobody, and no longer than the run may.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WebError> {
        let (tell, told) = oneshot::channel();
        // Nobody listens when the run has ended meanwhile.
        let work = move || drop(tell.send(work()));
        self.web.compute(Box::new(work)).await?;
        let unfinished = |_| WebError { message: "the pages could not be read".to_owned(), retryable: false };
        told.await.map_err(unfinished)
    }

    /// The pages read so far, in their turn.
    pub fn readings(&self) -> Vec<Arc<Reading>> {
        self.memory().readings.clone()
    }

    /// A page that was read, by any spelling of its address.
    pub fn reading(&self, url: &str) -> Option<Arc<Reading>> {
        let address = address(url)?;
        self.readings().into_iter().find(|reading| reading.is_at(address.key()))
    }

    pub fn pages_left(&self) -> usize {
        self.bounds.pages.saturating_sub(self.memory().next_place)
    }
}
