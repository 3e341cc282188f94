//! The web as the caller of a run may see it. The egress guard, the lists of the request and
//! `strictConstrainToURLs` are enforced here, whatever a brain asks for, and a page that was read once in a
//! run is not fetched again.

use super::allowed_pages::{ALIKE, AllowedPages, stay};
use super::browser_page::{RunPage, page_links, title};
use super::order::Order;
use super::web_error::{forbidden, web_error};
use crate::Error;
use crate::cpu_pool::CpuJob;
use crate::interact::Sessions;
use crate::map::{self, MapPlan};
use crate::scrape::fetched_page::FetchedPage;
use crate::scrape::file;
use crate::scrape::plan::{NamedLogins, NamedPage};
use crate::scrape::{Ladder, ScrapePlan, ScrapedPage, Scraper};
use crate::services::Services;
use access::Caller;
use access::credits::ExtraCredits;
use agent::{AgentPage, BlockingWork, BrowserPage, PageLink, Web, WebError, WebHit, WebResults};
use content::metadata::Metadata;
use content::sniff::ContentKind;
use content::{Page, PageSource};
use net::{CredentialScope, Credentials, Deadline};
use parking_lot::Mutex;
use sites::PageUrl;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use url::Url;
use uuid::Uuid;
use wire::map::MapRequest;
use wire::scrape::{FormatInput, ScrapeOptions};

/// What work on pages is counted under.
const CAPABILITY: &str = "agent";
const PAGE_CREDITS: u64 = 1;
/// Pages of a PDF that a run reads at most: each costs a credit, and a brain reads no book.
const MAX_PDF_PAGES: u32 = 50;
const MAP_CREDITS: u64 = 1;
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);
const MAP_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest that a run has one browser session.
const MAX_SESSION: Duration = Duration::from_mins(10);
/// A request with less time than this is not started.
const MIN_TIME: Duration = Duration::from_secs(1);
const MAX_MAPPED: usize = 5_000;
/// Attempts at a page in one run, when the error may be temporary.
const MAX_ATTEMPTS: usize = 2;

/// Searching the web, as the caller may.
#[async_trait::async_trait]
pub trait WebSearch: Send + Sync {
    /// Hits with what they cost, by `deadline`.
    async fn hits(
        &self,
        caller: &Arc<Caller>,
        query: &str,
        limit: usize,
        deadline: Deadline,
    ) -> Result<WebResults<WebHit>, Error>;
}

/// The web of one attempt at a run.
pub struct RunWeb {
    services: Services,
    scraper: Arc<Scraper>,
    search: Option<Arc<dyn WebSearch>>,
    sessions: Option<Arc<Sessions>>,
    caller: Arc<Caller>,
    template: ScrapePlan,
    /// Logins of the addresses that the request names.
    logins: NamedLogins,
    options: ScrapeOptions,
    /// The only pages that may be fetched, where the request is strict.
    only: Option<Arc<AllowedPages>>,
    /// What the caller wrote.
    prompt: String,
    deadline: Deadline,
    memory: Mutex<HashMap<String, Arc<PageMemo>>>,
}

/// A page that was asked for, with the response that is kept for the rest of the run.
#[derive(Default)]
struct PageMemo {
    seen: OnceCell<Result<AgentPage, WebError>>,
    /// Attempts so far. Locked while the page is fetched, so that it is fetched once at a time.
    tries: tokio::sync::Mutex<usize>,
}

impl std::fmt::Debug for RunWeb {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RunWeb").field("only", &self.only).finish_non_exhaustive()
    }
}

/// What pages are read with.
#[derive(Clone)]
pub struct WebSources {
    pub services: Services,
    pub scraper: Arc<Scraper>,
    pub search: Option<Arc<dyn WebSearch>>,
    /// Browser sessions, where runs may use them.
    pub sessions: Option<Arc<Sessions>>,
}

impl RunWeb {
    pub fn new(
        sources: WebSources,
        caller: Arc<Caller>,
        order: &Order,
        deadline: Deadline,
    ) -> Result<Self, Error> {
        let formats = Some(vec![FormatInput::Plain("markdown".to_owned())]);
        let options = ScrapeOptions { formats, ..order.scrape.clone() };
        // Credentials are for the addresses that the caller named, and not for those that a search or a page
        // names.
        let mut template = ScrapePlan::template(&options, false, order.scope())?;
        template.access.waits_for_browser = true;
        template.access.allowed.hold_to(&caller);
        template.parsers.limit_pages(MAX_PDF_PAGES);
        let only = order.task.strict.then(|| Arc::new(AllowedPages::from_task(&order.task)));
        let WebSources { services, scraper, search, sessions } = sources;
        let memory = Mutex::default();
        let (logins, prompt) = (order.logins.clone(), order.task.prompt.clone());
        Ok(Self {
            services,
            scraper,
            search,
            sessions,
            caller,
            template,
            logins,
            options,
            only,
            prompt,
            deadline,
            memory,
        })
    }

    /// The credentials sent with requests for an address; none for one that the caller did not name.
    fn credentials(&self, url: &Url) -> Credentials {
        let credentials = self.template.access.credentials.clone();
        match self.logins.for_origin(url) {
            // A login is for its own origin only, whatever else the request names.
            Some(login) => {
                let scope = CredentialScope::from_urls([url]);
                let own = if credentials.covers(url) { credentials } else { Credentials::none() };
                own.with_scope(scope).with_login(Some(&login))
            }
            None => credentials,
        }
    }

    /// Parses an address and checks that the run may fetch it.
    fn allowed_address(&self, written: &str) -> Result<PageUrl, WebError> {
        let page = NamedPage::parse(written, &|host| self.services.names_host(host));
        let url = page.map_err(|error| web_error(&error))?.url;
        let address = PageUrl::from_url(url, ALIKE).map_err(|error| forbidden(&error.to_string()))?;
        if self.only.as_ref().is_some_and(|only| !only.names(&address)) {
            return Err(forbidden("the request allows only the addresses it names"));
        }
        Ok(address)
    }

    fn memo(&self, key: &str) -> Arc<PageMemo> {
        let mut memory = self.memory.lock();
        memory.entry(key.to_owned()).or_default().clone()
    }

    /// What is left of the run for a call, and no more than `max`.
    fn time_left(&self, max: Duration) -> Result<Duration, WebError> {
        let left = self.deadline.remaining().min(max);
        if left < MIN_TIME { Err(forbidden("the run's time is over")) } else { Ok(left) }
    }

    /// Work on pages of the run; each piece has its own bounds.
    fn job(&self) -> CpuJob {
        self.services.cpu_pool.job(self.caller.team, CAPABILITY, self.deadline)
    }

    async fn fetch(&self, address: &PageUrl) -> Result<AgentPage, WebError> {
        let timeout = self.time_left(PAGE_TIMEOUT)?;
        let url = address.url();
        let plan = self.template.for_page(url.clone(), url.as_str());
        let mut plan = ScrapePlan { timeout, ..plan.with_credentials(self.credentials(url)) };
        if self.only.is_some() {
            plan.access.allowed.site = Some(stay(address)?);
        }
        let plan = Arc::new(plan);
        let job = self.services.cpu_pool.job(self.caller.team, CAPABILITY, Deadline::after(timeout));
        let (id, extra) = (Uuid::now_v7(), ExtraCredits::Counted);
        let scraping = self.scraper.scrape_page(&self.caller, &plan, id, "", extra, &job, FetchedParts::new);
        let scraped = scraping.await.map_err(|error| web_error(&error))?;
        let ScrapedPage { document, kept, extra_credits, seen: parts } = scraped;
        let status = parts.status;
        if status >= 400 {
            let retryable = matches!(status, 429 | 500 | 502..=504);
            return Err(WebError { message: format!("the site answered with status {status}"), retryable });
        }
        if let Err(error) = self.services.store.put_page(self.caller.team, kept).await {
            tracing::warn!(%error, "a page of a run could not be cached");
        }
        Ok(AgentPage {
            url: parts.url,
            title: parts.title,
            markdown: document.markdown.unwrap_or_default().into(),
            links: parts.links,
            page: parts.page,
            credits: PAGE_CREDITS.saturating_add(extra_credits.try_into().unwrap_or(0)),
        })
    }
}

/// What a run needs of a fetched page besides its text.
struct FetchedParts {
    status: u16,
    url: String,
    title: Option<String>,
    links: Vec<PageLink>,
    page: Arc<Page>,
}

impl FetchedParts {
    fn new(fetched: &FetchedPage, said: &Metadata) -> Self {
        Self {
            status: fetched.response.status,
            url: fetched.response.url.to_string(),
            title: title(said),
            links: page_links(&fetched.page),
            page: page_tree(fetched),
        }
    }
}

/// The tree of a page for a run: the one that was parsed to scrape it. Only a page that is too large to be
/// kept for a whole run is parsed again, within tighter limits. A scrape makes no tree of plain text and
/// data; they are parsed here as markup, because a run looks for its values in a tree.
fn page_tree(fetched: &FetchedPage) -> Arc<Page> {
    let page = &fetched.page;
    let is_usable = match page.kind() {
        ContentKind::Html | ContentKind::Markdown => page.is_within(&agent::PAGE_LIMITS),
        ContentKind::Binary(_) => true,
        ContentKind::Json | ContentKind::Xml | ContentKind::Text => false,
    };
    if is_usable {
        return page.clone();
    }
    let response = &fetched.response;
    let text = match &fetched.file {
        Some(file) => file::to_html(&file.document).into(),
        None => html::decode::decode(&response.body, response.content_type.as_deref()).text,
    };
    let source = PageSource {
        bytes: text.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        url: Some(&response.url),
        status: None,
    };
    Arc::new(Page::parse(&source, &agent::PAGE_LIMITS))
}

#[async_trait::async_trait]
impl Web for RunWeb {
    async fn compute(&self, work: BlockingWork) -> Result<(), WebError> {
        self.job().run(work).await.map_err(|error| web_error(&error))
    }

    fn has_browser(&self) -> bool {
        self.sessions.as_ref().is_some_and(|sessions| sessions.has_browser())
    }

    async fn open_browser(&self, url: &str) -> Result<Box<dyn BrowserPage>, WebError> {
        let address = self.allowed_address(url)?;
        let Some(sessions) = &self.sessions else {
            return Err(forbidden("browser sessions are not available here"));
        };
        let plan = self.template.for_page(address.url().clone(), address.url().as_str());
        let ttl = self.time_left(MAX_SESSION)?;
        let browser = sessions.begin_for_run(&self.caller, &plan.access, &self.prompt, ttl).await;
        let browser = browser.map_err(|error| web_error(&error))?;
        let (only, allowed) = (self.only.clone(), plan.access.allowed.clone());
        let page = RunPage { browser, only, allowed, job: self.job() };
        page.open(address.url()).await?;
        Ok(Box::new(page))
    }

    async fn read_page(&self, url: &str) -> Result<AgentPage, WebError> {
        let address = self.allowed_address(url)?;
        let memory = self.memo(address.key());
        let mut tries = memory.tries.lock().await;
        if let Some(seen) = memory.seen.get() {
            // Paid for once.
            return seen.clone().map(|seen| AgentPage { credits: 0, ..seen });
        }
        let fetched = self.fetch(&address).await;
        *tries += 1;
        let may_come = fetched.as_ref().is_err_and(|error| error.retryable) && *tries < MAX_ATTEMPTS;
        if !may_come {
            // Cannot fail: only the holder of `tries` sets it.
            let _ = memory.seen.set(fetched.clone());
        }
        fetched
    }

    async fn search(&self, query: &str, limit: usize) -> Result<WebResults<WebHit>, WebError> {
        if self.only.is_some() {
            return Err(forbidden("the request allows only the addresses it names"));
        }
        let Some(search) = &self.search else {
            return Err(forbidden("web search is not configured"));
        };
        let deadline = Deadline::after(self.time_left(PAGE_TIMEOUT)?);
        let found =
            search.hits(&self.caller, query, limit, deadline).await.map_err(|error| web_error(&error))?;
        let rules = &self.template.access.allowed;
        let allowed = |hit: &WebHit| Url::parse(&hit.url).is_ok_and(|url| rules.check(&url).is_ok());
        Ok(WebResults { items: found.items.into_iter().filter(allowed).collect(), ..found })
    }

    async fn map(
        &self,
        url: &str,
        search: Option<&str>,
        limit: usize,
    ) -> Result<WebResults<PageLink>, WebError> {
        if self.only.as_ref().is_some_and(|only| !only.has_section(url)) {
            return Err(forbidden("the request allows only the addresses it names"));
        }
        let address = self.allowed_address(url)?;
        let timeout = self.time_left(MAP_TIMEOUT)?;
        let asked = MapRequest {
            url: Some(address.url().to_string()),
            search: search.map(str::to_owned),
            limit: i64::try_from(limit.clamp(1, MAX_MAPPED)).ok(),
            timeout: i64::try_from(timeout.as_millis()).ok(),
            location: self.options.location.clone(),
            threat_protection: self.options.threat_protection.clone(),
            ..MapRequest::default()
        };
        let plan = MapPlan::resolve(&asked, &|host| self.services.names_host(host));
        let mut plan = plan.map_err(|error| web_error(&error))?;
        plan.allowed.hold_to(&self.caller);
        if self.only.is_some() {
            plan.allowed.site = Some(stay(&address)?);
        }
        plan.credentials = self.credentials(address.url());
        plan.waits_for_browser = true;
        let slots = || self.services.limiter.request_slot(&self.caller, plan.waits_for_browser);
        let ladder = Ladder::new(&self.services);
        let answer = map::map(&ladder, &plan, &slots, self.caller.team, Uuid::now_v7()).await;
        let answer = answer.map_err(|error| web_error(&error))?;
        let link =
            |link: wire::map::MapLink| PageLink { url: link.url, text: link.title.unwrap_or_default() };
        let items = answer.links.into_iter().map(link).collect();
        Ok(WebResults { items, credits: MAP_CREDITS, note: answer.warning })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://a.test/list";

    fn parts(fetched: &FetchedPage) -> FetchedParts {
        FetchedParts::new(fetched, &crate::scrape::document::page_metadata(fetched))
    }

    #[test]
    fn a_run_reads_the_tree_that_the_scrape_parsed() {
        let html = "<title>Trees</title><p>Price: 12 <a href=/oak>Oak</a>";
        let fetched = FetchedPage::for_test(URL, "text/html", html);
        let parts = parts(&fetched);
        assert!(Arc::ptr_eq(&parts.page, &fetched.page), "parsed once");
        assert_eq!((parts.status, &*parts.url, parts.title.as_deref()), (200, URL, Some("Trees")));
        assert_eq!(parts.links, [PageLink { url: "https://a.test/oak".into(), text: "Oak".into() }]);
    }

    #[test]
    fn a_page_too_large_for_a_run_is_cut() {
        let html = "<br>x".repeat(agent::PAGE_LIMITS.nodes / 2);
        let fetched = FetchedPage::for_test(URL, "text/html", &html);
        assert!(!fetched.page.truncated(), "a scrape takes more");
        assert!(page_tree(&fetched).truncated());
    }

    #[test]
    fn plain_text_becomes_a_tree_for_a_run() {
        let fetched = FetchedPage::for_test(URL, "text/plain", "Price: 12 <b>crowns</b>");
        assert_eq!(fetched.page.dom().text_content(fetched.page.dom().root()), "");
        let tree = page_tree(&fetched);
        assert_eq!(tree.dom().text_content(tree.dom().root()), "Price: 12 crowns");
    }
}
