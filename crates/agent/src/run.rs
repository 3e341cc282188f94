//! State shared by all agents of a run: the task, the web, the journal, the credits, and the pages that were
//! read.

use crate::addresses::{parse_address, same_list, same_site};
use crate::controls::{Control, find_controls};
use crate::limits::{EffortLimits, Ledger};
use crate::{AgentPage, Journal, PageLink, Task, Web, WebError};
use content::Page;
use extract::PageView;
use extract::rank::{self, LinkKind, RankedLink};
use parking_lot::{Mutex, MutexGuard};
use sites::PageUrl;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::oneshot;
use url::Url;

const MAX_KNOWN_URLS: usize = 100_000;
/// The quarters of the lines of a page that a later reading of it must have to take its place.
const MIN_KEPT_QUARTERS: usize = 3;

/// A page that was read.
#[derive(Debug)]
pub(crate) struct ParsedPage {
    /// Its number in the order in which pages were requested, whenever it arrived.
    pub order: usize,
    /// Keys of the requested URL and of the final URL after redirects.
    keys: [String; 2],
    pub url: String,
    pub title: Option<String>,
    pub markdown: Arc<str>,
    pub links: Vec<PageLink>,
    /// Links to the next pages of a list, on the same site.
    pub next: Vec<String>,
    /// What it hides content behind.
    pub controls: Vec<Control>,
    pub page: Arc<Page>,
}

impl ParsedPage {
    /// Whether this page was requested or found at the URL with this key.
    pub fn has_key(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own == key)
    }

    /// Finds the way on from the page that was fetched from the URL with this key.
    pub fn from_agent_page(order: usize, requested: &str, seen: AgentPage) -> Self {
        let url = Url::parse(&seen.url).ok();
        let landed =
            parse_address(&seen.url).map_or_else(|| requested.to_owned(), |landed| landed.key().to_owned());
        let view = PageView { url: &seen.url, page: &seen.page, markdown: &seen.markdown };
        let own = |link: &RankedLink| {
            let there = parse_address(&link.url).filter(|there| there.key() != landed);
            url.as_ref()
                .zip(there)
                .is_some_and(|(here, there)| same_site(here, there.url()) && same_list(here, there.url()))
        };
        let ranked = rank::rank_links("", None, &[], &view).into_iter();
        let next =
            ranked.filter(|link| link.kind == LinkKind::Next && own(link)).map(|link| link.url).collect();
        let keys = [requested.to_owned(), landed];
        let AgentPage { url, title, markdown, links, page, .. } = seen;
        let controls = find_controls(&page);
        Self { order, keys, url, title, markdown, links, next, controls, page }
    }
}

/// Why a request of an agent was refused or failed. Nothing here ends a run by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessError {
    #[error("this is not a valid page URL")]
    InvalidUrl,
    #[error("this page was already read")]
    AlreadyRead,
    #[error("the request allows only the URLs it names")]
    NotInRequest,
    #[error("this URL does not appear in the request, on a page or in a search result")]
    UnknownUrl,
    #[error("the run has reached the page limit of its effort")]
    PageLimit,
    #[error("the run's credits do not cover this")]
    CreditLimit,
    #[error("the run has opened as many browsers as its effort allows")]
    BrowserLimit,
    #[error("no browser is open; open_browser opens a page in one")]
    NoBrowser,
    #[error("the browser was given as many commands as it takes; open it again or go on without")]
    CommandLimit,
    #[error("{0}")]
    Web(#[from] WebError),
}

/// The right to read one page.
#[derive(Debug)]
pub(crate) struct ReadTicket {
    order: usize,
    key: String,
}

/// Whether a URL of the request covers a page: the same page, or a prefix of it where it ends in `*`.
fn covers(written: &str, page: &PageUrl) -> bool {
    match written.strip_suffix('*') {
        Some(part) => page.url().as_str().starts_with(part),
        None => parse_address(written).is_some_and(|named| named.key() == page.key()),
    }
}

/// One run in progress.
pub(crate) struct RunContext<'a> {
    pub task: &'a Task,
    pub web: &'a dyn Web,
    pub journal: &'a dyn Journal,
    pub limits: EffortLimits,
    pub ledger: Ledger<'a>,
    registry: Mutex<PageRegistry>,
}

#[derive(Debug, Default)]
struct PageRegistry {
    /// Keys of requested pages, whether they could be read or not.
    requested: HashSet<String>,
    /// Keys of URLs that appear in the request, on pages and in search results.
    known: HashSet<String>,
    /// The URLs of the request: any page on their sites may be requested.
    given: Vec<Url>,
    pages: Vec<Arc<ParsedPage>>,
    next_order: usize,
    /// How often a page was stored.
    stored: usize,
    /// Browser sessions so far.
    browsers: usize,
}

impl PageRegistry {
    fn next_order(&mut self, max_pages: usize) -> Result<usize, AccessError> {
        if self.next_order >= max_pages {
            return Err(AccessError::PageLimit);
        }
        self.next_order += 1;
        Ok(self.next_order - 1)
    }

    fn store(&mut self, parsed: &Arc<ParsedPage>) {
        self.pages.push(Arc::clone(parsed));
        self.pages.sort_by_key(|parsed| parsed.order);
        self.stored += 1;
    }
}

/// Whether a text still has most of the lines of an earlier one: more was added to it, nothing else took its place.
fn keeps_lines(before: &str, now: &str) -> bool {
    fn lines(text: &str) -> impl Iterator<Item = &str> {
        text.lines().map(str::trim).filter(|line| !line.is_empty())
    }
    let there: HashSet<&str> = lines(now).collect();
    let kept = lines(before).filter(|line| there.contains(line)).count();
    kept * 4 >= lines(before).count() * MIN_KEPT_QUARTERS
}

impl std::fmt::Debug for RunContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunContext")
            .field("task", &self.task)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl<'a> RunContext<'a> {
    /// A new run; `reserved_credits` are not spent on exploring.
    pub fn new(task: &'a Task, web: &'a dyn Web, journal: &'a dyn Journal, reserved_credits: u64) -> Self {
        let run = Self {
            task,
            web,
            journal,
            limits: EffortLimits::for_task(task),
            ledger: Ledger::new(journal, reserved_credits),
            registry: Mutex::new(PageRegistry::default()),
        };
        let given: Vec<String> =
            task.urls.iter().cloned().chain(crate::addresses::find_urls(&task.prompt, 20)).collect();
        run.add_known_urls(given.iter().map(String::as_str));
        run.registry().given = given.iter().filter_map(|url| Some(parse_address(url)?.into_url())).collect();
        run
    }

    fn registry(&self) -> MutexGuard<'_, PageRegistry> {
        // The lock is never held across an await.
        self.registry.lock()
    }

    /// Remembers URLs found on a page or in search results.
    pub fn add_known_urls<'u>(&self, urls: impl Iterator<Item = &'u str>) {
        let mut registry = self.registry();
        for address in urls.filter_map(parse_address) {
            if registry.known.len() == MAX_KNOWN_URLS {
                break;
            }
            registry.known.insert(address.key().to_owned());
        }
    }

    /// Whether a URL may be requested. In a strict run only URLs of the request may; otherwise also URLs
    /// found on a page or in a search, and anything on the sites of the request. So no injected prompt can
    /// make a run send data in a URL of its own making.
    pub fn check_allowed(&self, url: &str) -> Result<(), AccessError> {
        let address = parse_address(url).ok_or(AccessError::InvalidUrl)?;
        if self.task.strict {
            let named = self.task.urls.iter().any(|url| covers(url, &address));
            return if named { Ok(()) } else { Err(AccessError::NotInRequest) };
        }
        let registry = self.registry();
        let known = registry.known.contains(address.key())
            || registry.given.iter().any(|given| same_site(given, address.url()));
        if known { Ok(()) } else { Err(AccessError::UnknownUrl) }
    }

    /// Whether a page was requested before, in any spelling of its URL.
    pub fn was_requested(&self, url: &str) -> bool {
        parse_address(url).is_some_and(|address| self.registry().requested.contains(address.key()))
    }

    /// Reserves the right to read a page; refused when it was requested before or the page limit is reached.
    pub fn issue_ticket(&self, url: &str) -> Result<ReadTicket, AccessError> {
        self.check_allowed(url)?;
        let key = parse_address(url).ok_or(AccessError::InvalidUrl)?.key().to_owned();
        let mut registry = self.registry();
        if registry.requested.contains(&key) {
            return Err(AccessError::AlreadyRead);
        }
        let order = registry.next_order(self.limits.pages)?;
        registry.requested.insert(key.clone());
        Ok(ReadTicket { order, key })
    }

    /// Stores a page; refused when a redirect led to a page that is already stored. Reading its links takes
    /// milliseconds of CPU time, so it runs on a blocking thread.
    pub async fn add_page(
        &self,
        ticket: ReadTicket,
        seen: AgentPage,
    ) -> Result<Arc<ParsedPage>, AccessError> {
        let parsed = Arc::new(
            self.compute(move || ParsedPage::from_agent_page(ticket.order, &ticket.key, seen)).await?,
        );
        self.add_known_urls(parsed.links.iter().map(|link| link.url.as_str()));
        let mut registry = self.registry();
        let [_, landed] = &parsed.keys;
        if registry.pages.iter().any(|earlier| earlier.keys[1] == *landed) {
            return Err(AccessError::AlreadyRead);
        }
        registry.requested.insert(landed.clone());
        registry.store(&parsed);
        Ok(parsed)
    }

    /// Stores a page as a browser shows it now. It takes the place of an earlier reading of the page that it still
    /// contains; where something else is shown at the same URL both are kept.
    pub async fn add_browser_page(&self, seen: AgentPage) -> Result<Arc<ParsedPage>, AccessError> {
        let key = parse_address(&seen.url).ok_or(AccessError::InvalidUrl)?.key().to_owned();
        let earlier = self.parsed_pages().into_iter().rfind(|parsed| parsed.has_key(&key));
        let (before, now) = (earlier.clone(), Arc::clone(&seen.markdown));
        let is_kept = move || before.is_some_and(|before| keeps_lines(&before.markdown, &now));
        let replaced = if self.compute(is_kept).await? { earlier } else { None };
        let order = match &replaced {
            Some(earlier) => earlier.order,
            None => self.registry().next_order(self.limits.pages)?,
        };
        let requested = replaced.as_ref().map_or(key, |earlier| earlier.keys[0].clone());
        let parsed =
            Arc::new(self.compute(move || ParsedPage::from_agent_page(order, &requested, seen)).await?);
        self.add_known_urls(parsed.links.iter().map(|link| link.url.as_str()));
        let mut registry = self.registry();
        registry.pages.retain(|page| replaced.as_ref().is_none_or(|earlier| !Arc::ptr_eq(page, earlier)));
        registry.requested.extend(parsed.keys.iter().cloned());
        registry.store(&parsed);
        Ok(parsed)
    }

    /// Counts a browser session; refused when there were as many as the effort allows.
    pub fn count_browser(&self) -> Result<(), AccessError> {
        let mut registry = self.registry();
        if registry.browsers >= self.limits.browsers {
            return Err(AccessError::BrowserLimit);
        }
        registry.browsers += 1;
        Ok(())
    }

    /// How often a page was stored: it has changed when there is something new to read.
    pub fn stored_pages(&self) -> usize {
        self.registry().stored
    }

    /// Runs CPU work on a blocking thread, within the run's time.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WebError> {
        let (sender, receiver) = oneshot::channel();
        // Sending fails when the run has ended meanwhile; the result is then not needed.
        let work = move || drop(sender.send(work()));
        self.web.compute(Box::new(work)).await?;
        let unfinished =
            |_| WebError { message: "the pages could not be processed".to_owned(), retryable: false };
        receiver.await.map_err(unfinished)
    }

    /// The pages read so far, in request order.
    pub fn parsed_pages(&self) -> Vec<Arc<ParsedPage>> {
        self.registry().pages.clone()
    }

    /// A page that was read, by any spelling of its URL: as it was seen last.
    pub fn page_at(&self, url: &str) -> Option<Arc<ParsedPage>> {
        self.pages_at(url).pop()
    }

    /// All readings of a page, by any spelling of its URL. A browser may have shown different things there.
    pub fn pages_at(&self, url: &str) -> Vec<Arc<ParsedPage>> {
        let Some(address) = parse_address(url) else { return Vec::new() };
        self.parsed_pages().into_iter().filter(|parsed| parsed.has_key(address.key())).collect()
    }

    pub fn pages_left(&self) -> usize {
        self.limits.pages.saturating_sub(self.registry().next_order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_doubles::{FakeWeb, MemoryJournal, task};

    #[test]
    fn a_list_that_grew_is_told_from_one_that_was_replaced() {
        let first = "# Feeders\n\nOak 12\n\nLarch 30\n\nPine 8\n\n2 more";
        assert!(keeps_lines(first, &format!("{}\n\nAsh 15\n\nElm 9", first.replace("2 more", ""))));
        assert!(!keeps_lines(first, "# Feeders\n\nAsh 15\n\nElm 9"));
        assert!(keeps_lines("", "anything"));
    }

    #[tokio::test]
    async fn a_page_that_was_read_is_the_tree_that_the_web_gave() {
        let url = "https://a.example/";
        let web = FakeWeb::new(&[(url, "<h1>Oak</h1><p>Price: 12 <a rel=next href=/2>Next</a>")]);
        let (task, journal) = (task("prices", &[url]), MemoryJournal::new(10));
        let run = RunContext::new(&task, &web, &journal, 0);
        let seen = run.web.read_page(url).await.unwrap();
        let tree = seen.page.clone();
        let parsed = run.add_page(run.issue_ticket(url).unwrap(), seen).await.unwrap();
        assert!(Arc::ptr_eq(&parsed.page, &tree), "parsed by whoever fetched it, and not again");
        assert_eq!(parsed.next, ["https://a.example/2"]);
        assert!(Arc::ptr_eq(&run.page_at(url).unwrap().page, &tree));
    }
}
