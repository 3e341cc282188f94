//! Scrape: one page. A request becomes a [`plan::ScrapePlan`]; the page comes from the cache or is fetched by
//! the [`ladder`]; [`document`] writes the formats; [`records`] stores the result. Nothing waits in a queue,
//! and everything ends at the request's deadline.

mod browser_outputs;
pub mod cache;
mod changes;
pub mod cpu_pool;
pub mod document;
pub mod fetched_page;
mod in_flight;
mod keys;
pub mod ladder;
pub mod memory;
mod page_hook;
pub mod plan;
mod profile;
mod records;
pub mod wall;

pub use ladder::Ladder;
pub use plan::ScrapePlan;

use crate::callers::Caller;
use crate::derived;
use crate::error::StoredError;
use crate::files::Files;
use crate::idempotency::{self, Unfinished};
use crate::limits::Limiter;
use crate::models::Models;
use crate::search::feed::page::from_scrape;
use crate::{Error, credits, from_store};
use changes::ComparedPage;
use content::verdict::VerdictKind;
use cpu_pool::CpuJob;
use fetched_page::{BrowserOutputs, CacheHit, FetchedPage, LadderStep, Rung};
use in_flight::{InFlight, Progress};
use ladder::{BrowserSlotGuard, BrowserSlotRequest, ClimbStart};
use memory::BodyMemory;
use net::{Deadline, EgressAllow, Purpose};
use page_hook::{PageHook, PageWork};
use profile::OpenProfile;
use records::RecordWriter;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::pages::NewPage;
use store::scrapes::NewScrape;
use store::search::NewSearchPage;
use uuid::Uuid;
use wire::Kind;
use wire::scrape::ScrapeRequest;

/// The phase that a timeout names when it happens while a page is parsed or written.
pub(crate) const READING: &str = "reading the page";
const ENDPOINT: &str = "scrape";
const RECORD_RETENTION: Duration = Duration::from_hours(24);
/// How long credits stay reserved after the request's timeout. Those that nobody settles by then were left
/// behind by a crash.
const RESERVATION_SLACK: Duration = Duration::from_mins(2);
/// A page whose bytes are arriving at the deadline may go on for as long again, and for this at most.
const MAX_DETACHED_TIME: Duration = Duration::from_mins(1);
/// How often a request that waits for a browser slot tries to get one.
const BROWSER_RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// When callers are told to retry whose page was still arriving at the deadline.
const RETRY_AFTER_SECONDS: u64 = 5;

/// Scrapes pages. One per process.
pub struct Scraper {
    ladder: Ladder,
    allow: EgressAllow,
    store: Arc<dyn Store>,
    gate: Arc<Limiter>,
    files: Files,
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

/// One page that was scraped for a crawl, a batch or a run.
#[derive(Debug)]
pub struct ScrapedPage<T> {
    /// The document as JSON, compressed.
    pub document: Vec<u8>,
    /// The page for the cache and for the search index, where it is to be stored.
    pub page: Option<NewPage>,
    pub search: Option<NewSearchPage>,
    pub seen: T,
}

/// What a scrape leaves to be stored.
#[derive(Debug, Default)]
struct ToStore {
    /// The document as JSON, compressed.
    result: Option<Vec<u8>>,
    page: Option<NewPage>,
    search: Option<NewSearchPage>,
}

impl Scraper {
    pub fn new(
        ladder: Ladder,
        allow: EgressAllow,
        store: Arc<dyn Store>,
        gate: Arc<Limiter>,
        files: Files,
    ) -> Self {
        let records = RecordWriter::start(store.clone());
        let (in_flight, models) = (InFlight::default(), Models::default());
        Self { ladder, allow, store, gate, files, in_flight, records, models }
    }

    /// The same with language models.
    #[must_use]
    pub fn with_models(self, models: Models) -> Self {
        Self { models, ..self }
    }

    pub fn models(&self) -> &Models {
        &self.models
    }

    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// Whether the operator opened a host by its name.
    pub fn names_host(&self, host: &str) -> bool {
        self.allow.names_host(Purpose::Scrape, host)
    }

    /// Reserves credits where the plan has a limit. What an unlimited plan uses is counted when the scrape is
    /// recorded.
    pub async fn reserve(
        &self,
        caller: &Caller,
        amount: i64,
        purpose: &str,
        timeout: Duration,
    ) -> Result<Option<Uuid>, Error> {
        if caller.plan.credits.is_none() {
            return Ok(None);
        }
        let hold = timeout + RESERVATION_SLACK;
        Ok(Some(credits::reserve(self.store.as_ref(), caller, amount, purpose, hold).await?))
    }

    /// Stores the record of a request and settles its credits.
    pub async fn record(&self, record: NewScrape) -> Result<(), Error> {
        self.records.record(record).await
    }

    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Whether pages run in Chromium's sandbox; none before the browser was started for the first time.
    pub fn browser_is_sandboxed(&self) -> Option<bool> {
        let confinement = self.browsers()?.confinement()?;
        Some(confinement.sandboxed)
    }

    pub fn browsers(&self) -> Option<&browser::Browsers> {
        self.ladder.browsers.as_ref()
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
        let id = Uuid::now_v7();
        let plan = Arc::new(plan);
        let claim = idempotency::claim(caller, ENDPOINT, idempotency_key.as_deref(), id);
        let mut unfinished = Unfinished::begin(&self.store, claim, plan.timeout).await?;
        let outcome = self.scrape_and_record(caller, &plan, id, base_url, &mut unfinished).await;
        unfinished.give_back().await;
        outcome
    }

    async fn scrape_and_record(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        unfinished: &mut Unfinished,
    ) -> Result<Scraped, Error> {
        let deadline = Deadline::after(plan.timeout);
        unfinished.hold(self.reserve(caller, plan.credits(), ENDPOINT, plan.timeout).await?);
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
        let made = self.write_document(caller, plan, id, base_url, &job, &mut to_store, |_| ()).await;
        (record.result, record.page, record.search) = (to_store.result, to_store.page, to_store.search);
        match &made {
            Ok(_) => {
                record.ok = true;
                record.credits = plan.credits();
            }
            Err(error) => {
                record.error =
                    Some(serde_json::to_string(&StoredError::new(error)).map_err(Error::internal)?);
            }
        }
        (record.claim, record.reservation) = unfinished.hand_over();
        let claim = record.claim.clone();
        if let Err(error) = self.records.record(record).await {
            unfinished.take_back(claim);
            return Err(error);
        }
        made.map(|(document, ())| Scraped { id, document })
    }

    /// Scrapes a page for a crawl, a batch or a run: nothing is stored or charged here. `see` is called with
    /// the parsed page, in the CPU pool.
    pub async fn scrape_page<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        capability: &'static str,
        see: impl FnOnce(&FetchedPage) -> T + Send + 'static,
    ) -> Result<ScrapedPage<T>, Error> {
        let job = self.ladder.cpu_pool.job(caller.team, capability, Deadline::after(plan.timeout));
        let mut to_store = ToStore::default();
        let (document, seen) =
            self.write_document(caller, plan, id, base_url, &job, &mut to_store, see).await?;
        let document = if let Some(packed) = to_store.result {
            packed
        } else {
            // The job itself was stopped when the document was done.
            let packing = job.apart(job.deadline());
            let packed = packing.run_on(document.len(), move || cache::pack(&document)).await?;
            packed.map_err(Error::internal)?
        };
        Ok(ScrapedPage { document, page: to_store.page, search: to_store.search, seen })
    }

    /// Fetches the page and writes its document as JSON. What is to be stored goes into `to_store`; the
    /// second value is what `see` returned.
    #[expect(clippy::too_many_arguments, reason = "what belongs to one scrape, and where its results go")]
    async fn write_document<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        job: &CpuJob,
        to_store: &mut ToStore,
        see: impl FnOnce(&FetchedPage) -> T + Send + 'static,
    ) -> Result<(Vec<u8>, T), Error> {
        let _leaving = job.stop_when_dropped();
        plan.access.allowed.check(&plan.url).map_err(Error::RefusedUrl)?;
        let profile = OpenProfile::open(&self.store, caller.team, plan).await?;
        let (for_writing, asks_model) = (plan.clone(), derived::may_ask_model(&self.models, plan));
        let own = job.clone();
        // A fetched page may be shared by several requests; the document is written for this one alone,
        // within its own CPU budget.
        let writing = PageWork::new(move |fetched: &FetchedPage, first: bool| {
            own.part(|| {
                let document = document::write_formats(&for_writing, fetched)?;
                // A request for the raw bytes also accepts a wall, which must not be served to others from
                // the cache.
                let fresh = first && fetched.stored.is_none() && !wall::is_wall(&fetched.verdict);
                let page = if fresh {
                    cache::to_new_page(&for_writing, &fetched.response, fetched.rung)
                } else {
                    None
                };
                let search = page.as_ref().and_then(|_| from_scrape(&for_writing, fetched, &document));
                let (url, text) = (fetched.response.url.as_str(), document.markdown.as_deref());
                let stated =
                    derived::StatedData::from_page(&for_writing, asks_model, url, &fetched.page, text);
                Ok((document, (page, search), stated, see(fetched)))
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
        let (size, private) = (document::size(&document), plan.private);
        let written = job.run_on(size, move || {
            let json = serde_json::to_vec(&document).map_err(Error::internal)?;
            let packed = if private { None } else { Some(cache::pack(&json).map_err(Error::internal)?) };
            Ok::<_, Error>((json, packed))
        });
        let (json, packed) = written.await??;
        to_store.result = packed;
        Ok((json, seen))
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
        let (state, slot) = (profile.state().cloned(), self.slot(caller, plan));
        let latest = Deadline::at(deadline.instant() + plan.timeout.min(MAX_DETACHED_TIME));
        let mut start = Some(ClimbStart { known, state, slot, hook: Some(hook), job: job.apart(latest) });
        loop {
            let key = keys::fetch_key(caller.team, plan);
            let waiter = self.in_flight.join(key, |progress| {
                let start = start.take().unwrap_or_else(|| ClimbStart {
                    known: None,
                    state: profile.state().cloned(),
                    slot: self.slot(caller, plan),
                    hook: None,
                    job: job.apart(latest),
                });
                climb(self.ladder.of_team(caller.team), plan.clone(), start, deadline, latest, progress)
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

    fn slot(&self, caller: &Arc<Caller>, plan: &ScrapePlan) -> BrowserSlotRequest {
        self.browser_slot(caller, plan.access.waits_for_browser)
    }

    /// A browser slot of the caller's plan, acquired when the browser is needed. Without `waits`, a request
    /// that finds all slots in use fails.
    pub fn browser_slot(&self, caller: &Arc<Caller>, waits: bool) -> BrowserSlotRequest {
        let (gate, caller) = (self.gate.clone(), caller.clone());
        Box::new(move || {
            Box::pin(async move {
                loop {
                    match gate.browser_slot(&caller).await {
                        // The page's deadline ends this loop.
                        Err(Error::ConcurrencyLimited { .. }) if waits => {
                            tokio::time::sleep(BROWSER_RETRY_INTERVAL).await;
                        }
                        taken => return Ok(Box::new(taken?) as BrowserSlotGuard),
                    }
                }
            })
        })
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

/// The fetch that requests for one page share.
async fn climb(
    ladder: Ladder,
    plan: Arc<ScrapePlan>,
    start: ClimbStart,
    deadline: Deadline,
    latest: Deadline,
    progress: Progress,
) -> Result<FetchedPage, Error> {
    ladder.climb(&plan, start, deadline, latest, &progress).await
}
