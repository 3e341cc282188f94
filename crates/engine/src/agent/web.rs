//! The web as the caller of a run may see it. The egress guard, the lists of the request and `strictConstrainToURLs` are held here,
//! whatever a brain asks for, and what was read once in a run is not fetched again.

use super::order::Order;
use crate::callers::Caller;
use crate::map::{self, MapPlan};
use crate::scrape::capture::Capture;
use crate::scrape::plan::{AddressRule, NamedLogins, NamedPage, Stay};
use crate::scrape::workbench::Job;
use crate::scrape::{Gathered, ScrapePlan, Scraper, cache, may_pass};
use agent::{Found, Hit, Link, Seen, Task, Web, WebError, Work};
use net::{CredentialScope, Credentials, Deadline};
use serde::Deserialize;
use sites::{Address, Rules, Sameness, Scope};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::Store;
use tokio::sync::OnceCell;
use url::Url;
use uuid::Uuid;
use wire::WireError;
use wire::map::MapRequest;
use wire::scrape::{FormatAsked, ScrapeOptions};

/// What work on pages is counted under.
const CAPABILITY: &str = "agent";
const CREDITS_OF_A_PAGE: u64 = 1;
const CREDITS_OF_A_MAP: u64 = 1;
const PAGE_TIME: Duration = Duration::from_secs(30);
const MAP_TIME: Duration = Duration::from_secs(30);
/// Less than this is not worth beginning.
const LEAST_TIME: Duration = Duration::from_secs(1);
const MOST_LINKS: usize = 5_000;
const MOST_MAPPED: usize = 5_000;
/// A page that might be there in a moment is asked for so often in a run.
const TRIES: usize = 2;

/// When addresses are one page to a run.
const ALIKE: Sameness = Sameness { ignore_query: false, similar: true };

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
    ) -> Result<Found<Hit>, WireError>;
}

/// The web of one attempt at a run.
pub struct RunWeb {
    store: Arc<dyn Store>,
    scraper: Arc<Scraper>,
    search: Option<Arc<dyn WebSearch>>,
    caller: Arc<Caller>,
    template: ScrapePlan,
    /// Logins of the addresses that the request names.
    logins: NamedLogins,
    options: ScrapeOptions,
    /// The only pages that may be asked for.
    only: Option<Only>,
    deadline: Deadline,
    memory: Mutex<HashMap<String, Arc<Memory>>>,
}

/// A page that was asked for: the first answer that will do for good.
#[derive(Default)]
struct Memory {
    seen: OnceCell<Result<Seen, WebError>>,
    /// Taken by who asks, one at a time.
    tries: tokio::sync::Mutex<usize>,
}

impl std::fmt::Debug for RunWeb {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RunWeb").field("only", &self.only).finish_non_exhaustive()
    }
}

/// Where pages come from.
#[derive(Clone)]
pub struct Ways {
    pub store: Arc<dyn Store>,
    pub scraper: Arc<Scraper>,
    pub search: Option<Arc<dyn WebSearch>>,
}

impl RunWeb {
    pub fn new(
        ways: Ways,
        caller: Arc<Caller>,
        order: &Order,
        deadline: Deadline,
    ) -> Result<Self, WireError> {
        let formats = ["markdown", "rawHtml"].map(|name| FormatAsked::Plain(name.to_owned()));
        let options = ScrapeOptions { formats: Some(formats.into()), ..order.scrape.clone() };
        // What a search or a page names is nothing that the caller named.
        let mut template = ScrapePlan::template(&options, false, order.scope())?;
        template.access.waits_for_browser = true;
        let only = order.task.strict.then(|| Only::of(&order.task));
        let Ways { store, scraper, search } = ways;
        let memory = Mutex::default();
        let logins = order.logins.clone();
        Ok(Self { store, scraper, search, caller, template, logins, options, only, deadline, memory })
    }

    /// What is sent along with requests for an address, where that is one the caller named.
    fn credentials(&self, url: &Url) -> Credentials {
        let credentials = self.template.access.credentials.clone();
        match self.logins.for_origin(url) {
            // A login is for its own origin only, whatever else the request names.
            Some(login) => {
                let scope = CredentialScope::of([url]);
                let own = if credentials.cover(url) { credentials } else { Credentials::none() };
                own.with_scope(scope).with_login(Some(&login))
            }
            None => credentials,
        }
    }

    /// An address that may be asked for.
    fn admitted(&self, written: &str) -> Result<Address, WebError> {
        let page = NamedPage::parse(written, &|host| self.scraper.names_host(host));
        let url = page.map_err(|error| refused(&error))?.url;
        let address = Address::of(url, ALIKE).map_err(|error| no(&error.to_string()))?;
        if self.only.as_ref().is_some_and(|only| !only.names(&address)) {
            return Err(no("the request allows only the addresses it names"));
        }
        Ok(address)
    }

    fn remembered(&self, key: &str) -> Arc<Memory> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.entry(key.to_owned()).or_default().clone()
    }

    /// What is left of the run for a call, and no more than `most`.
    fn time(&self, most: Duration) -> Result<Duration, WebError> {
        let left = self.deadline.remaining().min(most);
        if left < LEAST_TIME { Err(no("the run's time is over")) } else { Ok(left) }
    }

    /// Work on pages of the run; each piece has its own bounds.
    fn job(&self) -> Job {
        self.scraper.ladder().bench.job(self.caller.team, CAPABILITY, self.deadline)
    }

    async fn fetch(&self, address: &Address) -> Result<Seen, WebError> {
        let timeout = self.time(PAGE_TIME)?;
        let url = address.url();
        let plan = self.template.for_page(url.clone(), url.as_str());
        let mut plan = ScrapePlan { timeout, ..plan.with_credentials(self.credentials(url)) };
        if self.only.is_some() {
            plan.access.allowed.site = Some(stay(address)?);
        }
        let see = |capture: &Capture| {
            let links = capture.page.links().into_iter().take(MOST_LINKS);
            let links = links.map(|link| Link { url: link.url, text: link.text }).collect();
            (capture.answer.status, capture.answer.url.to_string(), links)
        };
        let plan = Arc::new(plan);
        let gathering = self.scraper.gather(&self.caller, &plan, Uuid::now_v7(), "", CAPABILITY, see);
        let gathered = gathering.await.map_err(|error| refused(&error))?;
        self.seen(gathered).await
    }

    async fn seen(&self, gathered: Gathered<(u16, String, Vec<Link>)>) -> Result<Seen, WebError> {
        let Gathered { document, page, seen: (status, url, links), .. } = gathered;
        if status >= 400 {
            let retryable = matches!(status, 429 | 500 | 502..=504);
            return Err(WebError { message: format!("the site answered with status {status}"), retryable });
        }
        if let Some(page) = page
            && let Err(error) = self.store.put_page(self.caller.team, page).await
        {
            tracing::warn!(%error, "a page of a run could not be cached");
        }
        let job = self.job();
        let read = job.run(move || {
            let json = cache::unpack(&document).ok()?;
            serde_json::from_slice::<Read>(&json).ok()
        });
        let read = read.await.ok().flatten().ok_or_else(|| no("the page could not be read"))?;
        Ok(Seen {
            url,
            title: read.metadata.title.filter(|title| !title.is_empty()),
            markdown: read.markdown.unwrap_or_default().into(),
            links,
            html: read.raw_html.unwrap_or_default().into(),
            credits: CREDITS_OF_A_PAGE,
        })
    }
}

/// What is read back of a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    markdown: Option<String>,
    raw_html: Option<String>,
    metadata: ReadMetadata,
}

#[derive(Deserialize)]
struct ReadMetadata {
    title: Option<String>,
}

/// The addresses of a request, and nothing else.
#[derive(Debug)]
struct Only {
    /// Keys of pages.
    pages: HashSet<String>,
    /// What the addresses of their pages begin with, for those that end in `*`.
    parts: Vec<String>,
}

impl Only {
    fn of(task: &Task) -> Self {
        let (parts, pages): (Vec<&String>, Vec<&String>) =
            task.urls.iter().partition(|url| url.ends_with('*'));
        let pages = pages.into_iter().filter_map(|url| Address::parse(url, ALIKE).ok());
        let parts = parts.into_iter().map(|url| url.trim_end_matches('*').to_owned());
        Self { pages: pages.map(|address| address.key().to_owned()).collect(), parts: parts.collect() }
    }

    fn names(&self, address: &Address) -> bool {
        let below = || self.parts.iter().any(|part| address.url().as_str().starts_with(part));
        self.pages.contains(address.key()) || below()
    }
}

/// Redirects of a page lead nowhere but within its site.
fn stay(address: &Address) -> Result<Stay, WebError> {
    let rules = Rules { crawl_entire_domain: true, allow_subdomains: true, ..Rules::default() };
    let scope = Scope::new(address, &rules).map_err(|error| no(&error.to_string()))?;
    let (start, rule) = (address.url().to_string(), AddressRule::StrictUrls);
    Ok(Stay { start, scope: Arc::new(scope), sameness: ALIKE, rule })
}

fn no(why: &str) -> WebError {
    WebError { message: why.to_owned(), retryable: false }
}

fn refused(error: &WireError) -> WebError {
    WebError { message: error.text().to_owned(), retryable: may_pass(error) }
}

#[async_trait::async_trait]
impl Web for RunWeb {
    async fn compute(&self, work: Work) -> Result<(), WebError> {
        self.job().run(work).await.map_err(|error| refused(&error))
    }

    async fn read(&self, url: &str) -> Result<Seen, WebError> {
        let address = self.admitted(url)?;
        let memory = self.remembered(address.key());
        let mut tries = memory.tries.lock().await;
        if let Some(seen) = memory.seen.get() {
            // Paid for once.
            return seen.clone().map(|seen| Seen { credits: 0, ..seen });
        }
        let fetched = self.fetch(&address).await;
        *tries += 1;
        let may_come = fetched.as_ref().is_err_and(|error| error.retryable) && *tries < TRIES;
        if !may_come {
            // Only who holds the turn sets it.
            let _ = memory.seen.set(fetched.clone());
        }
        fetched
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Found<Hit>, WebError> {
        if self.only.is_some() {
            return Err(no("the request allows only the addresses it names"));
        }
        let Some(search) = &self.search else { return Err(no("there is nothing to search the web with")) };
        let deadline = Deadline::after(self.time(PAGE_TIME)?);
        let found =
            search.hits(&self.caller, query, limit, deadline).await.map_err(|error| refused(&error))?;
        let rules = &self.template.access.allowed;
        let allowed = |hit: &Hit| Url::parse(&hit.url).is_ok_and(|url| rules.check(&url).is_ok());
        Ok(Found { items: found.items.into_iter().filter(allowed).collect(), ..found })
    }

    async fn map(&self, url: &str, search: Option<&str>, limit: usize) -> Result<Found<Link>, WebError> {
        if self.only.as_ref().is_some_and(|only| !only.parts.iter().any(|part| part == url)) {
            return Err(no("the request allows only the addresses it names"));
        }
        let address = self.admitted(url)?;
        let timeout = self.time(MAP_TIME)?;
        let asked = MapRequest {
            url: Some(address.url().to_string()),
            search: search.map(str::to_owned),
            limit: i64::try_from(limit.clamp(1, MOST_MAPPED)).ok(),
            timeout: i64::try_from(timeout.as_millis()).ok(),
            location: self.options.location.clone(),
            threat_protection: self.options.threat_protection.clone(),
            ..MapRequest::default()
        };
        let plan = MapPlan::resolve(&asked, &|host| self.scraper.names_host(host));
        let mut plan = plan.map_err(|error| refused(&error))?;
        if self.only.is_some() {
            plan.allowed.site = Some(stay(&address)?);
        }
        plan.credentials = self.credentials(address.url());
        plan.waits_for_browser = true;
        let slots = || self.scraper.browser_slot(&self.caller, plan.waits_for_browser);
        let answer = map::map(self.scraper.ladder(), &plan, &slots, self.caller.team, Uuid::now_v7()).await;
        let answer = answer.map_err(|error| refused(&error))?;
        let link = |link: wire::map::MapLink| Link { url: link.url, text: link.title.unwrap_or_default() };
        let items = answer.links.into_iter().map(link).collect();
        Ok(Found { items, credits: CREDITS_OF_A_MAP, note: answer.warning })
    }
}
