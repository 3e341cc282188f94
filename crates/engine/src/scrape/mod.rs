//! Scrape: one page. A request becomes a [`plan::ScrapePlan`]; the page comes from the cache or is fetched by
//! the [`ladder`]; [`document`] writes the formats; [`crate::records`] stores the result. Nothing waits in a
//! queue, and everything ends at the request's deadline.

mod browser_outputs;
pub mod cache;
mod changes;
pub mod derived;
pub mod document;
pub mod fetched_page;
mod in_flight;
mod keys;
pub mod ladder;
mod page_hook;
pub mod plan;
mod profile;
mod search_page;

pub use ladder::Ladder;
pub use plan::ScrapePlan;

use crate::callers::Caller;
use crate::cpu_pool::CpuJob;
use crate::error::{READING, StoredError};
use crate::files::Files;
use crate::idempotency::{self, Unfinished};
use crate::limits::Limiter;
use crate::models::Models;
use crate::page_memory::BodyMemory;
use crate::records::RecordWriter;
use crate::services::Services;
use crate::wall::{self, LadderStep, Rung};
use crate::{Error, credits, from_store};
use changes::ComparedPage;
use content::metadata::Metadata as PageMetadata;
use content::verdict::VerdictKind;
use fetched_page::{BrowserOutputs, CacheHit, FetchedPage};
use in_flight::InFlight;
use ladder::ClimbStart;
use net::{Deadline, EgressAllow, Purpose};
use page_hook::{PageHook, PageWork};
use profile::OpenProfile;
use search_page::from_scrape;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::pages::NewPage;
use store::scrapes::NewScrape;
use store::search::NewSearchPage;
use uuid::Uuid;
use wire::Kind;
use wire::scrape::{Document, ScrapeRequest};

const ENDPOINT: &str = "scrape";
const RECORD_RETENTION: Duration = Duration::from_hours(24);
/// A page whose bytes are arriving at the deadline may go on for as long again, and for this at most.
const MAX_DETACHED_TIME: Duration = Duration::from_mins(1);
/// When callers are told to retry whose page was still arriving at the deadline.
const RETRY_AFTER_SECONDS: u64 = 5;

/// Scrapes pages. One per process.
pub struct Scraper {
    ladder: Ladder,
    allow: EgressAllow,
    store: Arc<dyn Store>,
    limiter: Arc<Limiter>,
    files: Arc<Files>,
    in_flight: InFlight<FetchedPage>,
    records: RecordWriter,
    models: Models,
}

impl std::fmt::Debug for Scraper {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Scraper").field("ladder", &self.ladder).finish_non_exhaustive()
    }
}

/// A scrape that succeeded.
#[derive(Debug)]
pub struct Scraped {
    pub id: Uuid,
    /// The document as JSON.
    pub document: Vec<u8>,
}

/// A scrape that succeeded, for a capability that goes on with its document.
#[derive(Debug)]
pub struct ScrapedDocument {
    pub document: Document,
    /// Size of the document as JSON.
    pub json_bytes: usize,
    pub credits: i64,
}

/// One page that was scraped for a crawl, a batch or a run.
#[derive(Debug)]
pub struct ScrapedPage<T> {
    pub document: Document,
    /// The page for the cache and for the search index, where it is to be stored.
    pub page: Option<NewPage>,
    pub search: Option<NewSearchPage>,
    pub seen: T,
}

/// What a scrape leaves to be stored besides its document, whether there is one or not.
#[derive(Debug, Default)]
struct ToStore {
    page: Option<NewPage>,
    search: Option<NewSearchPage>,
}

impl Scraper {
    pub fn new(services: &Services) -> Self {
        let Services { store, limiter, files, records, models, egress_allow, .. } = services.clone();
        let (ladder, in_flight) = (Ladder::new(services), InFlight::default());
        Self { ladder, allow: egress_allow, store, limiter, files, in_flight, records, models }
    }

    /// Whether the operator opened a host by its name.
    fn names_host(&self, host: &str) -> bool {
        self.allow.names_host(Purpose::Scrape, host)
    }

    /// What a request means, or what is wrong with it.
    pub fn plan(&self, caller: &Caller, asked: &ScrapeRequest) -> Result<ScrapePlan, Error> {
        let plan = ScrapePlan::resolve(asked, caller.zero_data_retention, &|host| self.names_host(host))?;
        derived::require_models(&self.models, &plan)?;
        Ok(plan)
    }

    /// Scrapes one page. `base_url` is how the caller reaches this server, for addresses of files.
    pub async fn scrape(
        &self,
        caller: &Arc<Caller>,
        plan: ScrapePlan,
        idempotency_key: Option<String>,
        base_url: &str,
    ) -> Result<Scraped, Error> {
        let (id, key) = (Uuid::now_v7(), idempotency_key.as_deref());
        let document = self.scrape_once(caller, plan, id, key, base_url, |_, json| json).await?;
        Ok(Scraped { id, document })
    }

    /// The same for a capability that goes on with the document. It is charged and recorded like any scrape.
    pub async fn scrape_document(
        &self,
        caller: &Arc<Caller>,
        plan: ScrapePlan,
        base_url: &str,
    ) -> Result<ScrapedDocument, Error> {
        let credits = plan.credits();
        let outcome = move |document, json: Vec<u8>| {
            let json_bytes = json.len();
            ScrapedDocument { document, json_bytes, credits }
        };
        self.scrape_once(caller, plan, Uuid::now_v7(), None, base_url, outcome).await
    }

    /// Scrapes one page, unless the idempotency key was used before. `outcome` is called with the document
    /// and its JSON.
    async fn scrape_once<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: ScrapePlan,
        id: Uuid,
        idempotency_key: Option<&str>,
        base_url: &str,
        outcome: impl FnOnce(Document, Vec<u8>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let plan = Arc::new(plan);
        let claim = idempotency::claim(caller, ENDPOINT, idempotency_key, id);
        let mut unfinished = Unfinished::begin(&self.store, claim, plan.timeout).await?;
        let scraped = self.scrape_and_record(caller, &plan, id, base_url, &mut unfinished, outcome).await;
        unfinished.give_back().await;
        scraped
    }

    async fn scrape_and_record<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        unfinished: &mut Unfinished,
        outcome: impl FnOnce(Document, Vec<u8>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let deadline = Deadline::after(plan.timeout);
        let store = self.store.as_ref();
        let reserved =
            credits::reserve_for_request(store, caller, plan.credits(), ENDPOINT, plan.timeout).await?;
        unfinished.hold(reserved);
        let mut record = NewScrape {
            id,
            team_id: caller.team,
            key_id: caller.key,
            endpoint: ENDPOINT.to_owned(),
            url: plan.written_url.clone(),
            ok: false,
            result: None,
            error: None,
            page: None,
            search: None,
            credits: 0,
            reservation: None,
            keep_for: RECORD_RETENTION,
            private: plan.private,
            audit: plan.audit.clone(),
            claim: None,
        };
        let mut to_store = ToStore::default();
        let job = self.ladder.cpu_pool.job(caller.team, ENDPOINT, deadline);
        let made = async {
            let _leaving = job.stop_when_dropped();
            let writing = self.write_document(caller, plan, id, base_url, &job, &mut to_store, |_, _| ());
            let (document, ()) = writing.await?;
            let (size, private) = (document::size(&document), plan.private);
            let written = job.run_on(size, move || {
                let json = serde_json::to_vec(&document).map_err(Error::internal)?;
                let packed = if private { None } else { Some(cache::pack(&json).map_err(Error::internal)?) };
                Ok::<_, Error>((packed, outcome(document, json)))
            });
            written.await?
        };
        let made = made.await;
        (record.page, record.search) = (to_store.page, to_store.search);
        let made = match made {
            Ok((packed, scraped)) => {
                record.result = packed;
                record.ok = true;
                record.credits = plan.credits();
                Ok(scraped)
            }
            Err(error) => {
                record.error =
                    Some(serde_json::to_string(&StoredError::new(&error)).map_err(Error::internal)?);
                Err(error)
            }
        };
        (record.claim, record.reservation) = unfinished.hand_over();
        let claim = record.claim.clone();
        if let Err(error) = self.records.record(record).await {
            unfinished.take_back(claim);
            return Err(error);
        }
        made
    }

    /// Scrapes a page for a crawl, a batch or a run: nothing is stored or charged here. `see` is called with
    /// the parsed page and what it says of itself, in the CPU pool. `job` has ended when this returns.
    pub async fn scrape_page<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        job: &CpuJob,
        see: impl FnOnce(&FetchedPage, &PageMetadata) -> T + Send + 'static,
    ) -> Result<ScrapedPage<T>, Error> {
        let _leaving = job.stop_when_dropped();
        let mut to_store = ToStore::default();
        let (document, seen) =
            self.write_document(caller, plan, id, base_url, job, &mut to_store, see).await?;
        Ok(ScrapedPage { document, page: to_store.page, search: to_store.search, seen })
    }

    /// Fetches the page and writes its document. What else is to be stored goes into `to_store`; the second
    /// value is what `see` returned.
    #[expect(clippy::too_many_arguments, reason = "what belongs to one scrape, and where its results go")]
    async fn write_document<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        job: &CpuJob,
        to_store: &mut ToStore,
        see: impl FnOnce(&FetchedPage, &PageMetadata) -> T + Send + 'static,
    ) -> Result<(Document, T), Error> {
        plan.access.allowed.check(&plan.url).map_err(Error::RefusedUrl)?;
        let profile = OpenProfile::open(self.store.clone(), caller.team, plan).await?;
        let (for_writing, asks_model) = (plan.clone(), derived::may_ask_model(&self.models, plan));
        let own = job.clone();
        // A fetched page may be shared by several requests; the document is written for this one alone,
        // within its own CPU budget.
        let writing = PageWork::new(move |fetched: &FetchedPage, first: bool| {
            own.part(|| {
                let said = document::page_metadata(fetched);
                let document = document::write_formats(&for_writing, fetched, &said)?;
                // A request for the raw bytes also accepts a wall, which must not be served to others from
                // the cache.
                let fresh = first && fetched.stored.is_none() && !wall::is_wall(&fetched.verdict);
                let page = if fresh {
                    cache::to_new_page(&for_writing, &fetched.response, fetched.rung)
                } else {
                    None
                };
                let (url, text) = (fetched.response.url.as_str(), document.markdown.as_deref());
                let search = page.as_ref().and_then(|_| from_scrape(&for_writing, fetched, &said, text));
                let stated =
                    derived::StatedData::from_page(&for_writing, asks_model, url, &fetched.page, text);
                Ok((document, (page, search), stated, see(fetched, &said)))
            })
            .and_then(|written: Result<_, Error>| written)
        });
        let (fetched, first) = self.fetch_page(caller, plan, &profile, job, writing.as_hook()).await?;
        if let Some(state) = &fetched.browser_outputs.state {
            profile.save(state).await?;
        }
        drop(profile);
        let written = if let Some(written) = writing.take_outcome() {
            written
        } else {
            let shared = fetched.clone();
            let later = job.run(move || {
                writing.run(&shared, first);
                writing.take_outcome()
            });
            later.await?.ok_or_else(|| Error::internal("the work on a page has no outcome"))?
        };
        let (mut document, pages, stated, seen) = written?;
        (to_store.page, to_store.search) = pages;
        let data = derived::add_formats(&self.models, plan, stated, &fetched, &mut document, job).await?;
        if let (Some(tracking), Some(markdown)) = (&plan.formats.change_tracking, &document.markdown) {
            let compared = ComparedPage { status: fetched.response.status, markdown, data: data.as_ref() };
            let tracked =
                changes::track(self.store.as_ref(), caller.team, plan, tracking, compared, job).await?;
            document.change_tracking = Some(tracked);
        }
        if !plan.formats.markdown {
            document.markdown = None;
        }
        browser_outputs::store_outputs(&self.files, caller.team, base_url, &fetched, plan, &mut document)
            .await?;
        document.metadata.insert("scrapeId".to_owned(), id.to_string().into());
        document.metadata.insert("creditsUsed".to_owned(), plan.credits().into());
        Ok((document, seen))
    }

    /// The page, from the cache or fetched. Requests for the same page share one fetch. The second value
    /// tells whether this request started the fetch; if so, `hook` is called with the page right where it is
    /// parsed, which saves a change of thread.
    async fn fetch_page(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        profile: &OpenProfile,
        job: &CpuJob,
        mut hook: PageHook,
    ) -> Result<(Arc<FetchedPage>, bool), Error> {
        let deadline = job.deadline();
        let known = match self.find_cached(caller.team, plan, job).await? {
            Some((known, true)) => match self.use_cached(plan, known, hook, job).await? {
                Ok(fetched) => return Ok((Arc::new(fetched), false)),
                Err(unused) => {
                    hook = unused;
                    None
                }
            },
            Some((known, false)) => Some(known),
            None => None,
        };
        if plan.cache.lockdown {
            return Err(Kind::ScrapeLockdownMiss.into());
        }
        if plan.cache.min_age.is_some() {
            return Err(Kind::ScrapeNotCached.into());
        }
        let known = known.filter(cache::CachedResponse::can_be_revalidated);
        let (state, slot) =
            (profile.state().cloned(), self.limiter.request_slot(caller, plan.access.waits_for_browser));
        let latest = Deadline::at(deadline.instant() + plan.timeout.min(MAX_DETACHED_TIME));
        let mut start = Some(ClimbStart { known, state, slot, hook: Some(hook), job: job.apart(latest) });
        loop {
            let key = keys::fetch_key(caller.team, plan);
            let waiter = self.in_flight.join(key, |progress| {
                let start = start.take().unwrap_or_else(|| ClimbStart {
                    known: None,
                    state: profile.state().cloned(),
                    slot: self.limiter.request_slot(caller, plan.access.waits_for_browser),
                    hook: None,
                    job: job.apart(latest),
                });
                let (ladder, plan) = (self.ladder.of_team(caller.team), plan.clone());
                async move { ladder.climb(&plan, start, deadline, latest, &progress).await }
            });
            let first = !waiter.joined;
            match deadline.run(waiter.outcome()).await {
                // The request that started the fetch had less time than this one.
                Ok(Err(error)) if !first && error.is_timeout() && !waiter.resumed => {
                    drop(waiter);
                    tokio::task::yield_now().await;
                }
                Ok(outcome) => {
                    let fetched = outcome?;
                    if first
                        && fetched.stored.is_some_and(|stored| stored.revalidated)
                        && let Some(key) = keys::page_key(plan)
                    {
                        self.store.touch_page(caller.team, &key).await.map_err(from_store)?;
                    }
                    return Ok((fetched, first));
                }
                Err(_) if waiter.progress().is_waiting_for_room() => return Err(Error::NoMemory),
                Err(_) if waiter.progress().is_arriving() && !waiter.resumed => {
                    waiter.detach();
                    return Err(Error::Timeout { phase: READING, resumes_in: Some(RETRY_AFTER_SECONDS) });
                }
                Err(_) => return Err(Error::timeout("waiting for the page")),
            }
        }
    }

    /// The cached response of a plan, and whether it is fresh enough to be used without asking the site. A
    /// page whose final address the request does not accept counts as not cached: it is fetched again, and
    /// every redirect is checked.
    async fn find_cached(
        &self,
        team: Uuid,
        plan: &ScrapePlan,
        job: &CpuJob,
    ) -> Result<Option<(cache::CachedResponse, bool)>, Error> {
        if plan.cache.max_age.is_none() && plan.cache.may_fetch() {
            return Ok(None);
        }
        let Some(key) = keys::page_key(plan) else { return Ok(None) };
        let page = self.store.cached_page(team, &key).await.map_err(from_store)?;
        let Some(page) = page else { return Ok(None) };
        let (mut held_memory, memory) = (BodyMemory::default(), self.ladder.memory.of_team(team));
        let (size, age) = (cache::estimate_size(&page), page.age);
        if let Some(room) = held_memory.grow(&memory, size) {
            job.deadline().run(room).await.map_err(|_| Error::NoMemory)?;
        }
        let taken = job.run_on(size, move || cache::from_cached_page(&page)).await?;
        let Some(mut known) = taken else { return Ok(None) };
        known.response.held_memory = held_memory;
        if plan.access.allowed.check(&known.response.url).is_err() {
            return Ok(None);
        }
        let young = plan.cache.max_age.is_some_and(|most| age <= most);
        let old = plan.cache.min_age.is_none_or(|least| age >= least);
        Ok(Some((known, young && old)))
    }

    /// Parses a cached response and judges it as if it had been fetched. The inner `Err` gives `hook` back
    /// unused: the page was stored by a request that accepts more than this one, and counts as not cached.
    async fn use_cached(
        &self,
        plan: &ScrapePlan,
        known: cache::CachedResponse,
        hook: PageHook,
        job: &CpuJob,
    ) -> Result<Result<FetchedPage, PageHook>, Error> {
        let begun = std::time::Instant::now();
        let cache::CachedResponse { response, rung, fetched_at } = known;
        let (acceptable, allowed) = (self.ladder.acceptable(plan, rung), plan.access.allowed.clone());
        let reading = job.run(move || {
            let (response, page, verdict) = fetched_page::parse_response(response, &allowed)?;
            if !acceptable.accepts(&verdict) {
                let is_file = verdict.kind == VerdictKind::Binary;
                return if is_file { Err(ladder::unsupported_file(&verdict)) } else { Ok(Err(hook)) };
            }
            let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let outcome = wall::describe(&verdict).to_owned();
            let steps = vec![LadderStep { rung: Rung::Cache, reason: "maxAge", outcome, ms }];
            let stored = Some(CacheHit { fetched_at, revalidated: false });
            let browser_outputs = BrowserOutputs::default();
            let fetched = FetchedPage { response, page, verdict, rung, steps, browser_outputs, stored };
            hook(&fetched);
            Ok(Ok(fetched))
        });
        reading.await?
    }

    /// The document of a scrape of the last day, or the error it ended with.
    pub async fn find(&self, caller: &Caller, id: Uuid) -> Result<Vec<u8>, Error> {
        let record = self.store.scrape(caller.team, id).await.map_err(from_store)?;
        let record = record.ok_or(Kind::NotFound)?;
        if let Some(error) = record.error {
            let stored: StoredError = serde_json::from_str(&error).map_err(Error::internal)?;
            return Err(Error::Stored(Box::new(stored)));
        }
        let result = record.result.ok_or(Kind::NotFound)?;
        cache::unpack(&result).map_err(Error::internal)
    }
}
