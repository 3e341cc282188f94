//! Map: the addresses of a site, from its sitemaps, its feeds, its lists for language models, its pages' links. Whatever is ready at the
//! deadline is the answer, and the answer says what is missing.

mod found_urls;
mod llms_files;
mod plan;
pub mod sitemaps;

pub use plan::{MapPlan, Sources};

use crate::Error;
use crate::allowed_urls::AllowedUrls;
use crate::robots_cache;
use crate::scrape::{Ladder, ScrapePlan};
use crate::services::Services;
use crate::wall::Rung;
use access::limits::BrowserSlotRequest;
use access::{Caller, credits};
use found_urls::FoundUrls;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use llms_files::{LlmsLinks, read_llms_files};
use net::{CredentialScope, Deadline, FetchError, Request};
use parking_lot::{Mutex, MutexGuard};
use sitemaps::SitemapCandidate;
use sites::scope::Discovery;
use sites::sitemap::SitemapEntry;
use sites::{PageUrl, Robots, find_hash_route};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::scrapes::NewScrape;
use url::Url;
use uuid::Uuid;
use wire::Kind;
use wire::map::{MapRequest, MapResponse};
use wire::scrape::{LocationInput, ScrapeOptions};

const ENDPOINT: &str = "map";
const CREDITS: i64 = 1;
const RECORD_RETENTION: Duration = Duration::from_hours(24);
/// Where fewer addresses are found, the pages behind them are read for their links.
const FEW_URLS: usize = 100;
/// Pages that are read for their links.
const MAX_PAGES: usize = 40;
/// Pages of a PDF that are read for its title and its links.
const MAX_PDF_PAGES: u32 = 5;
/// Hash routes among them, each a visit in the browser.
const MAX_HASH_ROUTES: usize = 8;
const MAX_CONCURRENT_PAGES: usize = 8;
/// Time for one page that is only read for its links.
const MAX_PAGE_TIME: Duration = Duration::from_secs(10);
/// Time that is kept back for writing the response.
const WRITE_RESERVE: Duration = Duration::from_millis(100);

/// The capability.
#[derive(Debug)]
pub struct Mapper(Services);

impl Mapper {
    pub fn new(services: &Services) -> Self {
        Self(services.clone())
    }

    /// Maps a site for a caller, who pays for it.
    pub fn map<'a>(
        &'a self,
        caller: &'a Arc<Caller>,
        asked: &'a MapRequest,
    ) -> BoxFuture<'a, Result<MapResponse, Error>> {
        Box::pin(async move {
            let mut plan = MapPlan::resolve(asked, &|host| self.0.names_host(host))?;
            plan.allowed.hold_to(caller);
            AllowedUrls::check_key(caller, plan.start.url().as_str()).map_err(Error::RefusedUrl)?;
            let store = self.0.store.as_ref();
            let reservation =
                credits::reserve_for_request(store, caller, CREDITS, ENDPOINT, plan.timeout).await?;
            let id = Uuid::now_v7();
            let started = Instant::now();
            let slots = || self.0.limiter.request_slot(caller, plan.waits_for_browser);
            let made = map(&Ladder::new(&self.0).of_team(caller.team), &plan, &slots, caller.team, id).await;
            let record = NewScrape {
                id,
                team_id: caller.team,
                key_id: caller.key,
                endpoint: ENDPOINT.to_owned(),
                url: plan.written_url.clone(),
                ok: made.is_ok(),
                result: None,
                error: None,
                page: None,
                search: None,
                credits: if made.is_ok() { CREDITS } else { 0 },
                reservation,
                audit: plan.audit.clone(),
                took: Some(started.elapsed()),
                keep_for: RECORD_RETENTION,
                private: caller.zero_data_retention,
                claim: None,
            };
            self.0.records.record(record).await?;
            made
        })
    }
}

/// Maps a site. `slots` gives the places in the browser that the caller's plan allows.
pub fn map<'a>(
    ladder: &'a Ladder,
    plan: &'a MapPlan,
    slots: &'a (dyn Fn() -> BrowserSlotRequest + Sync),
    team: Uuid,
    id: Uuid,
) -> BoxFuture<'a, Result<MapResponse, Error>> {
    Box::pin(async move {
        let deadline = Deadline::after(plan.timeout.saturating_sub(WRITE_RESERVE));
        let found_urls = Mutex::new(FoundUrls::new(plan));
        let mapping = SiteMapping { ladder, plan, slots, team, deadline, found_urls };
        let in_time = deadline.run(Box::pin(mapping.collect_urls())).await;
        let mut found_urls = mapping.found_urls.into_inner();
        match in_time {
            Ok(Err(error)) if found_urls.is_empty() => return Err(error),
            Err(_) if found_urls.is_empty() => return Err(Kind::MapTimeout.into()),
            Ok(_) => {}
            Err(_) => found_urls.note("time ran out; this is what was found until then"),
        }
        let (links, warning) = found_urls.finish(plan);
        Ok(MapResponse { success: true, id, links, warning })
    })
}

/// The mapping of one site, and what it has found so far.
struct SiteMapping<'a> {
    ladder: &'a Ladder,
    plan: &'a MapPlan,
    slots: &'a (dyn Fn() -> BrowserSlotRequest + Sync),
    team: Uuid,
    deadline: Deadline,
    found_urls: Mutex<FoundUrls>,
}

impl SiteMapping<'_> {
    async fn collect_urls(&self) -> Result<(), Error> {
        let sitemaps_only = self.plan.sources == Sources::SitemapsOnly;
        let (robots, start) = tokio::join!(self.robots(), async {
            if sitemaps_only { Ok(Vec::new()) } else { self.read_page(&self.plan.start, 0, true).await }
        });
        let feeds = match &start {
            Ok(feeds) => feeds.clone(),
            Err(error) => {
                self.found().note(&format!("could not fetch the page itself: {}", error.text()));
                Vec::new()
            }
        };
        let ((), listed) = tokio::join!(
            async {
                if self.plan.sources != Sources::NoSitemaps {
                    self.sitemaps(&robots, feeds).await;
                }
            },
            async { if sitemaps_only { LlmsLinks::default() } else { self.llms_files(&robots).await } }
        );
        self.add_llms_links(listed);
        if !sitemaps_only && start.is_ok() && self.found().has_fewer_than(FEW_URLS) {
            self.read_more_pages(&robots).await;
        }
        // The start page's error counts only where nothing else was found.
        start.map(|_| ())
    }

    async fn robots(&self) -> Robots {
        let Ok(url) = self.plan.start.url().join("/robots.txt") else { return Robots::default() };
        let Ok(request) = self.ask(&url) else { return Robots::default() };
        match self.ladder.fetcher.fetch(request, self.deadline.child(MAX_PAGE_TIME)).await {
            Ok(file) => {
                let status = file.meta.head.status.as_u16();
                Robots::from_response(Some(status), &file.body, &self.plan.robots_agent)
            }
            // Without an answer nothing is forbidden: a map reads only a few pages.
            Err(_) => Robots::default(),
        }
    }

    async fn sitemaps(&self, robots: &Robots, feeds: Vec<Url>) {
        let base = self.plan.start.url();
        let mut first: Vec<SitemapCandidate> = robots
            .sitemaps()
            .iter()
            .filter_map(|written| base.join(written).ok())
            .map(|url| SitemapCandidate { url, named: true })
            .collect();
        if first.is_empty() {
            let guesses = ["/sitemap.xml", "/sitemap_index.xml"];
            first.extend(
                guesses
                    .iter()
                    .filter_map(|path| base.join(path).ok())
                    .map(|url| SitemapCandidate { url, named: false }),
            );
        }
        first.extend(feeds.into_iter().map(|url| SitemapCandidate { url, named: false }));
        let ask = |url: &Url| self.ask(url);
        let found = |entry: SitemapEntry| {
            let mut found_urls = self.found();
            if let Ok(address) = PageUrl::from_url(entry.url, self.plan.sameness) {
                found_urls.add(&address, Discovery::Listed);
            }
            !found_urls.is_full()
        };
        let tally = sitemaps::read_sitemaps(&self.ladder.fetcher, &ask, first, self.deadline, found).await;
        let mut found_urls = self.found();
        if tally.failed > 0 {
            found_urls.note(&format!("{} of the site's sitemaps could not be read", tally.failed));
        }
        if tally.cut {
            found_urls.note("the site has more sitemaps than are read");
        }
    }

    async fn llms_files(&self, robots: &Robots) -> LlmsLinks {
        let (ask, sameness) = (|url: &Url| self.ask(url), self.plan.sameness);
        let may_read = |url: &Url| {
            let page = PageUrl::from_url(url.clone(), sameness);
            page.is_ok_and(|page| self.plan.scope.is_own_page(&page) && self.may_visit(&page, robots))
        };
        let job = self.ladder.cpu_pool.job(self.team, ENDPOINT, self.deadline.child(MAX_PAGE_TIME));
        read_llms_files(&self.ladder.fetcher, &ask, &may_read, self.plan.start.url(), &job).await
    }

    fn add_llms_links(&self, listed: LlmsLinks) {
        let mut found_urls = self.found();
        for url in listed.urls {
            if let Ok(address) = PageUrl::parse(&url, self.plan.sameness) {
                found_urls.add(&address, Discovery::Listed);
            }
        }
        if listed.cut {
            found_urls.note("the site's llms.txt has more than is read");
        }
    }

    /// Reads pages that were found for their links, then pages that those led to, and so on.
    async fn read_more_pages(&self, robots: &Robots) {
        // The start page was read first.
        let mut read: HashSet<String> = HashSet::from([self.plan.start.key().to_owned()]);
        let unread = |read: &HashSet<String>, count: usize| -> Vec<PageUrl> {
            let found = self.found();
            let is_unread = |page: &&PageUrl| !read.contains(page.key()) && self.may_visit(page, robots);
            // Pages of other sites are listed, and their links are not.
            let pages = found.pages().filter(|page| self.plan.scope.is_own_page(page)).filter(is_unread);
            pages.take(count).cloned().collect()
        };
        let (mut routes_left, mut left_out) = (MAX_HASH_ROUTES, 0);
        loop {
            let found = unread(&read, (MAX_PAGES + 1).saturating_sub(read.len()));
            if found.is_empty() || self.found().is_full() {
                break;
            }
            read.extend(found.iter().map(|page| page.key().to_owned()));
            let mut pages = Vec::with_capacity(found.len());
            for page in found {
                if find_hash_route(page.url()).is_none() {
                    pages.push(page);
                } else if routes_left > 0 {
                    routes_left -= 1;
                    pages.push(page);
                } else {
                    left_out += 1;
                }
            }
            let at_once = if self.plan.delay.is_some() { 1 } else { MAX_CONCURRENT_PAGES };
            stream::iter(pages)
                .for_each_concurrent(at_once, |page| async move {
                    if let Some(delay) = self.plan.delay {
                        tokio::time::sleep(delay).await;
                    }
                    // The address of a page that cannot be fetched stays in the result.
                    if !self.found().is_full() {
                        let depth = self.found().depth_of(&page);
                        let _ = self.read_page(&page, depth, false).await;
                    }
                })
                .await;
        }
        if !self.found().is_full() && (left_out > 0 || !unread(&read, 1).is_empty()) {
            self.found().note(&format!(
                "the links of {} pages were read and there are more; a crawl finds what they lead to",
                read.len() - left_out
            ));
        }
    }

    /// Adds the links, the title and the description of a page that is so many links from the start; returns its feeds.
    async fn read_page(&self, address: &PageUrl, depth: u32, is_start: bool) -> Result<Vec<Url>, Error> {
        let is_hash_route = find_hash_route(address.url()).is_some();
        let options = ScrapeOptions {
            // Only the start page is worth a browser, and hash routes, which nothing else can show.
            fast_mode: Some(!is_start && !is_hash_route),
            skip_tls_verification: Some(true),
            location: Some(LocationInput {
                country: self.plan.locale.country.clone(),
                languages: Some(self.plan.locale.languages.clone()),
            }),
            ..ScrapeOptions::default()
        };
        let mut page = ScrapePlan::template(&options, true, CredentialScope::none())?
            .for_page(address.url().clone(), &self.plan.written_url)
            .with_credentials(self.plan.credentials.clone());
        page.access.allowed.clone_from(&self.plan.allowed);
        page.parsers.limit_pages(MAX_PDF_PAGES);
        let deadline = if is_start { self.deadline } else { self.deadline.child(MAX_PAGE_TIME) };
        let job = self.ladder.cpu_pool.job(self.team, ENDPOINT, deadline);
        let fetched = self.ladder.climb_alone(&page, job.clone(), (self.slots)()).await?;
        // Scripts show other pages for other hash routes; a server sends one page for all of them.
        let has_hash_routes = fetched.rung == Rung::Browser;
        let read = move || (fetched.page.links(), fetched.page.metadata(), fetched.response.url);
        let (links, metadata, landed) = job.run(read).await?;
        let mut found_urls = self.found();
        found_urls.describe(address, &metadata);
        if is_start
            && !self.plan.scope.is_own_page(
                &PageUrl::from_url(landed.clone(), self.plan.sameness).unwrap_or_else(|_| address.clone()),
            )
        {
            found_urls.note(&format!("the page leads to another site: {landed}"));
        }
        let links = links.iter().map(|link| &link.url).chain(&metadata.markdown_alternates);
        let parse = if has_hash_routes { PageUrl::parse_with_hash_route } else { PageUrl::parse };
        let mut unseen = HashSet::new();
        for link in links {
            if !has_hash_routes && Url::parse(link).is_ok_and(|url| find_hash_route(&url).is_some()) {
                unseen.insert(link);
            }
            if let Ok(address) = parse(link, self.plan.sameness) {
                found_urls.add(
                    &address,
                    Discovery::Linked { depth: depth + 1, on_own_page: true, nofollow: false },
                );
            }
        }
        if is_start && !unseen.is_empty() {
            found_urls.note(&format!(
                "{} addresses differ after their # only and are not listed, as the page came without scripts",
                unseen.len()
            ));
        }
        Ok(metadata.feeds.iter().filter_map(|feed| Url::parse(&feed.url).ok()).collect())
    }

    fn ask(&self, url: &Url) -> Result<Request, FetchError> {
        let mut request = sitemaps::request(url, self.plan.credentials.clone())?
            .locale(self.plan.locale.accept_language())
            .skip_tls_verification(true);
        if let Some(rule) = self.plan.allowed.hop_rule() {
            request = request.allowed(rule);
        }
        Ok(request)
    }

    fn may_visit(&self, page: &PageUrl, robots: &Robots) -> bool {
        self.plan.ignore_robots || robots_cache::allows(robots, page.url())
    }

    fn found(&self) -> MutexGuard<'_, FoundUrls> {
        // The guard is never held over an await.
        self.found_urls.lock()
    }
}
