//! Map: the addresses of a site, from its sitemaps, its feeds, its pages' links. Whatever is ready at the deadline is the answer,
//! and the answer says what is missing.

mod findings;
mod plan;
pub mod sitemaps;

pub use plan::{MapPlan, Sources};

use crate::callers::Caller;
use crate::scrape::ladder::Slot;
use crate::scrape::{Ladder, ScrapePlan, Scraper};
use findings::Findings;
use futures_util::stream::{self, StreamExt};
use net::{CredentialScope, Deadline, FetchError, Request};
use sitemaps::Candidate;
use sites::scope::Found;
use sites::sitemap::Entry;
use sites::{Address, Robots};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::scrapes::NewScrape;
use url::Url;
use uuid::Uuid;
use wire::map::{MapAnswer, MapRequest};
use wire::scrape::{LocationAsked, ScrapeOptions};
use wire::{Kind, WireError};

const ENDPOINT: &str = "map";
const CREDITS: i64 = 1;
const KEPT: Duration = Duration::from_hours(24);
/// Fewer addresses than this are worth a look at the pages they lead to.
const FEW: usize = 100;
/// Pages looked at for their links.
const MOST_PAGES: usize = 40;
const PAGES_AT_ONCE: usize = 8;
/// A page that is only looked at for links gets no more time than this.
const PAGE_TIME: Duration = Duration::from_secs(10);
/// How we call ourselves in robots.txt.
const AGENT: &str = "gannet";
/// What writing the answer may take.
const RESERVE: Duration = Duration::from_millis(100);

/// The capability.
#[derive(Debug)]
pub struct Mapper(Arc<Scraper>);

impl Mapper {
    pub fn new(scraper: Arc<Scraper>) -> Self {
        Self(scraper)
    }

    /// Maps a site for a caller, who pays for it.
    pub async fn map(&self, caller: &Arc<Caller>, asked: &MapRequest) -> Result<MapAnswer, WireError> {
        let plan = MapPlan::resolve(asked, &|host| self.0.names_host(host))?;
        let reservation = self.0.reserve(caller, CREDITS, ENDPOINT, plan.timeout).await?;
        let id = Uuid::now_v7();
        let slots = || self.0.browser_slot(caller, plan.waits_for_browser);
        let made = map(&self.0.ladder().of_team(caller.team), &plan, &slots, caller.team, id).await;
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
            keep_for: KEPT,
            private: caller.zero_data_retention,
            claim: None,
        };
        self.0.record(record).await?;
        made
    }
}

/// Maps a site. `slots` gives the places in the browser that the caller's plan allows.
pub async fn map(
    ladder: &Ladder,
    plan: &MapPlan,
    slots: &(dyn Fn() -> Slot + Sync),
    team: Uuid,
    id: Uuid,
) -> Result<MapAnswer, WireError> {
    let deadline = Deadline::after(plan.timeout.saturating_sub(RESERVE));
    let findings = Mutex::new(Findings::new(plan));
    let gathering = Gathering { ladder, plan, slots, team, deadline, findings };
    let in_time = deadline.run(Box::pin(gathering.gather())).await;
    let mut findings = gathering.findings.into_inner().unwrap_or_else(PoisonError::into_inner);
    match in_time {
        Ok(Err(failure)) if findings.is_empty() => return Err(failure),
        Err(_) if findings.is_empty() => return Err(Kind::MapTimeout.into()),
        Ok(_) => {}
        Err(_) => findings.note("time ran out; this is what was found until then"),
    }
    let (links, warning) = findings.finish(plan);
    Ok(MapAnswer { success: true, id, links, warning })
}

/// The work, over what it has found so far.
struct Gathering<'a> {
    ladder: &'a Ladder,
    plan: &'a MapPlan,
    slots: &'a (dyn Fn() -> Slot + Sync),
    team: Uuid,
    deadline: Deadline,
    findings: Mutex<Findings>,
}

impl Gathering<'_> {
    async fn gather(&self) -> Result<(), WireError> {
        let sitemaps_only = self.plan.sources == Sources::SitemapsOnly;
        let (robots, start) = tokio::join!(self.robots(), async {
            if sitemaps_only { Ok(Vec::new()) } else { self.look_at(&self.plan.start, 0).await }
        });
        let feeds = match &start {
            Ok(feeds) => feeds.clone(),
            Err(failure) => {
                self.found().note(&format!("the page itself could not be had: {}", failure.text()));
                Vec::new()
            }
        };
        if self.plan.sources != Sources::NoSitemaps {
            self.sitemaps(&robots, feeds).await;
        }
        if !sitemaps_only && start.is_ok() && self.found().has_fewer_than(FEW) {
            self.look_further(&robots).await;
        }
        // A page that failed is the answer only where nothing else was found.
        start.map(|_| ())
    }

    async fn robots(&self) -> Robots {
        let Ok(url) = self.plan.start.url().join("/robots.txt") else { return Robots::default() };
        let Ok(request) = self.ask(&url) else { return Robots::default() };
        match self.ladder.fetcher.fetch(request, self.deadline.child(PAGE_TIME)).await {
            Ok(file) => Robots::from_answer(Some(file.outcome.head.status.as_u16()), &file.body, AGENT),
            // What cannot be asked forbids nothing here: a map reads a few pages, and says that it did.
            Err(_) => Robots::default(),
        }
    }

    async fn sitemaps(&self, robots: &Robots, feeds: Vec<Url>) {
        let base = self.plan.start.url();
        let mut first: Vec<Candidate> = robots
            .sitemaps()
            .iter()
            .filter_map(|written| base.join(written).ok())
            .map(|url| Candidate { url, named: true })
            .collect();
        if first.is_empty() {
            let guesses = ["/sitemap.xml", "/sitemap_index.xml"];
            first.extend(
                guesses
                    .iter()
                    .filter_map(|path| base.join(path).ok())
                    .map(|url| Candidate { url, named: false }),
            );
        }
        first.extend(feeds.into_iter().map(|url| Candidate { url, named: false }));
        let ask = |url: &Url| self.ask(url);
        let found = |entry: Entry| {
            let mut findings = self.found();
            if let Ok(address) = Address::of(entry.url, self.plan.sameness) {
                findings.add(&address, Found::Listed);
            }
            !findings.is_full()
        };
        let tally = sitemaps::read(&self.ladder.fetcher, &ask, first, self.deadline, found).await;
        let mut findings = self.found();
        if tally.failed > 0 {
            findings.note(&format!("{} of the site's sitemaps could not be read", tally.failed));
        }
        if tally.cut {
            findings.note("the site has more sitemaps than are read");
        }
    }

    /// Looks at the pages that were found for what they link to.
    async fn look_further(&self, robots: &Robots) {
        let pages: Vec<Address> = self
            .found()
            .pages()
            .skip(1)
            .filter(|page| may_visit(page, robots))
            .take(MOST_PAGES)
            .cloned()
            .collect();
        stream::iter(pages)
            .for_each_concurrent(PAGES_AT_ONCE, |page| async move {
                // One page that cannot be had is no reason to stop; its address stands in the answer all the same.
                if !self.found().is_full() {
                    let _ = self.look_at(&page, 1).await;
                }
            })
            .await;
    }

    /// Notes what a page links to and what it says of itself; its feeds.
    async fn look_at(&self, address: &Address, depth: u32) -> Result<Vec<Url>, WireError> {
        let options = ScrapeOptions {
            // Only the start is worth a browser.
            fast_mode: Some(depth > 0),
            skip_tls_verification: Some(true),
            location: Some(LocationAsked {
                country: self.plan.place.country.clone(),
                languages: Some(self.plan.place.languages.clone()),
            }),
            ..ScrapeOptions::default()
        };
        let mut page = ScrapePlan::template(&options, true, CredentialScope::nobody())?
            .for_page(address.url().clone(), &self.plan.written_url)
            .with_credentials(self.plan.credentials.clone());
        page.access.allowed.clone_from(&self.plan.allowed);
        let deadline = if depth == 0 { self.deadline } else { self.deadline.child(PAGE_TIME) };
        let job = self.ladder.bench.job(self.team, ENDPOINT, deadline);
        let capture = self.ladder.climb_alone(&page, job.clone(), (self.slots)()).await?;
        let read = move || (capture.page.links(), capture.page.metadata(), capture.answer.url);
        let (links, metadata, landed) = job.run(read).await?;
        let mut findings = self.found();
        findings.describe(address, &metadata);
        if depth == 0
            && !self
                .plan
                .scope
                .is_own(&Address::of(landed.clone(), self.plan.sameness).unwrap_or_else(|_| address.clone()))
        {
            findings.note(&format!("the page leads to another site: {landed}"));
        }
        for link in links {
            if let Ok(address) = Address::parse(&link.url, self.plan.sameness) {
                findings
                    .add(&address, Found::Linked { depth: depth + 1, on_own_page: true, nofollow: false });
            }
        }
        Ok(metadata.feeds.iter().filter_map(|feed| Url::parse(&feed.url).ok()).collect())
    }

    fn ask(&self, url: &Url) -> Result<Request, FetchError> {
        let mut request = sitemaps::request(url, self.plan.credentials.clone())?
            .locale(self.plan.place.locale())
            .skip_tls_verification(true);
        if let Some(rule) = self.plan.allowed.hop_rule() {
            request = request.allowed(rule);
        }
        Ok(request)
    }

    fn found(&self) -> MutexGuard<'_, Findings> {
        // The guard is never held over an await.
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn may_visit(page: &Address, robots: &Robots) -> bool {
    let url = page.url();
    robots.allows(&url[url::Position::BeforePath..])
}
