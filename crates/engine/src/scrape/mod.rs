//! Scrape: one page. A request becomes a [`plan::ScrapePlan`]; the page comes from the cache or is fetched by
//! the [`ladder`]; [`document`] writes the formats; [`crate::records`] stores the result. Nothing waits in a
//! queue, and everything ends at the request's deadline.

mod body_buffer;
mod browser_outputs;
mod browser_visit;
pub mod cache;
mod changes;
pub mod derived;
pub mod document;
mod document_json;
pub mod fetched_page;
pub(crate) mod file;
pub mod file_formats;
mod file_reader;
mod in_flight;
mod keys;
pub mod ladder;
pub mod markdown_first;
mod obtain;
mod page_hook;
pub mod plan;
pub(crate) mod profile;
mod safe_mode;
mod search_page;
mod spans;
mod upload;

pub use document_json::DocumentJson;
pub use ladder::Ladder;
pub use plan::ScrapePlan;
pub use upload::UploadedFile;

use crate::cpu_pool::CpuJob;
use crate::error::StoredError;
use crate::files::Files;
use crate::models::Models;
use crate::page_memory::Room;
use crate::records::RecordWriter;
use crate::robots_cache::RobotsCache;
use crate::services::Services;
use crate::wall;
use crate::{Error, from_store};
use access::credits::ExtraCredits;
use access::idempotency::{self, Unfinished};
use access::{Caller, Limiter, credits};
use changes::ComparedPage;
use content::metadata::Metadata as PageMetadata;
use fetched_page::FetchedPage;
use futures_util::future::BoxFuture;
use in_flight::InFlight;
use net::{Deadline, EgressAllow, Purpose};
use page_hook::PageWork;
use profile::OpenProfile;
use search_page::from_scrape;
pub(crate) use spans::link_to_request;
use spans::{note_error, scrape_span};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::Store;
use store::pages::KeptPage;
use store::scrapes::NewScrape;
use tracing::Instrument as _;
use uuid::Uuid;
use wire::Kind;
use wire::scrape::{Document, ScrapeRequest};

const ENDPOINT: &str = "scrape";
/// How long the lease to save a profile outlasts the request's timeout.
const PROFILE_LEASE_SLACK: Duration = Duration::from_secs(30);
const RECORD_RETENTION: Duration = Duration::from_hours(24);

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
    /// For requests in safe mode.
    robots: RobotsCache,
    pages_for_search: bool,
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
    pub document: DocumentJson,
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
    pub kept: KeptPage,
    /// What it costs beyond the price of a page.
    pub extra_credits: i64,
    pub seen: T,
}

/// What a scrape leaves to be stored besides its document, whether there is one or not.
#[derive(Debug, Default)]
struct ToStore {
    kept: KeptPage,
    /// What the page costs beyond the price of its plan.
    extra_credits: i64,
}

/// Where a page comes from.
enum PageSource {
    /// The address of the plan.
    Web,
    Upload(UploadedFile),
}

/// What a request does to a page.
struct ScrapeTask<'a> {
    caller: &'a Arc<Caller>,
    plan: &'a Arc<ScrapePlan>,
    id: Uuid,
    /// How the caller reaches this server, for addresses of files.
    base_url: &'a str,
    /// What it is recorded as.
    endpoint: &'static str,
    /// What it is recorded for.
    target: String,
    /// Whether it is charged for here; otherwise whoever asked for it charges for it.
    is_charged: bool,
}

impl Scraper {
    pub fn new(services: &Services) -> Self {
        let Services { store, limiter, files, records, models, egress_allow, pages_for_search, .. } =
            services.clone();
        let (ladder, in_flight) = (Ladder::new(services), InFlight::default());
        let (allow, robots) = (egress_allow, RobotsCache::new(services.fetcher.clone()));
        Self { ladder, allow, store, limiter, files, in_flight, records, models, robots, pages_for_search }
    }

    /// Whether the operator opened a host by its name.
    fn names_host(&self, host: &str) -> bool {
        self.allow.names_host(Purpose::Scrape, host)
    }

    /// What a request means, or what is wrong with it.
    pub fn plan(&self, caller: &Caller, asked: &ScrapeRequest) -> Result<ScrapePlan, Error> {
        let mut plan = ScrapePlan::resolve(asked, caller.zero_data_retention, &|host| self.names_host(host))?;
        if caller.keyless.is_some() {
            plan = plan.of_nobody()?;
        }
        derived::require_models(&self.models, &plan)?;
        Ok(plan)
    }

    /// Scrapes one page. `base_url` is how the caller reaches this server, for addresses of files.
    pub fn scrape<'a>(
        &'a self,
        caller: &'a Arc<Caller>,
        plan: ScrapePlan,
        idempotency_key: Option<String>,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<Scraped, Error>> {
        Box::pin(async move {
            let (plan, id) = (Arc::new(plan), Uuid::now_v7());
            let task = page_task(caller, &plan, id, base_url);
            let key = idempotency_key.as_deref();
            let document = self.scrape_once(task, key, PageSource::Web, |_, json, _| json).await?;
            Ok(Scraped { id, document })
        })
    }

    /// Keeps how a page was asked for, where its URL alone would not show it again as it was. Failing to do so costs nothing
    /// but that.
    pub fn keep_request<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        asked: &'a ScrapeRequest,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let is_plain = asked.actions.is_none()
                && asked.profile.is_none()
                && asked.wait_for.is_none()
                && asked.block_ads.is_none()
                && asked.mobile.is_none()
                && asked.location.is_none()
                && asked.headers.is_none()
                && asked.threat_protection.is_none();
            let private = caller.keeps_nothing() || asked.zero_data_retention.unwrap_or(false);
            if is_plain || private {
                return;
            }
            // Headers are sent to the origins they are for, which a session cannot promise: only their names are kept, so that
            // it can say so.
            let mut headers = asked.headers.clone();
            for value in headers.iter_mut().flat_map(|headers| headers.values_mut()) {
                value.clear();
            }
            let asked = ScrapeRequest { headers, formats: None, ..asked.clone() };
            let Ok(request) = serde_json::to_string(&asked) else { return };
            let kept = self.store.keep_scrape_request(caller.team, id, &request, RECORD_RETENTION).await;
            if let Err(error) = kept {
                tracing::warn!(%error, "could not keep how a page was asked for");
            }
        })
    }

    /// The same for a capability that goes on with the document. It is charged and recorded like any scrape.
    pub async fn scrape_document(
        &self,
        caller: &Arc<Caller>,
        plan: ScrapePlan,
        base_url: &str,
    ) -> Result<ScrapedDocument, Error> {
        let plan = Arc::new(plan);
        let task = page_task(caller, &plan, Uuid::now_v7(), base_url);
        self.scrape_once(task, None, PageSource::Web, scraped_document).await
    }

    /// The same for a capability that charges for the page itself. It is recorded as one of `endpoint`.
    pub async fn scrape_uncharged(
        &self,
        caller: &Arc<Caller>,
        plan: ScrapePlan,
        endpoint: &'static str,
        base_url: &str,
    ) -> Result<ScrapedDocument, Error> {
        let plan = Arc::new(plan);
        let page = page_task(caller, &plan, Uuid::now_v7(), base_url);
        let task = ScrapeTask { endpoint, is_charged: false, ..page };
        self.scrape_once(task, None, PageSource::Web, scraped_document).await
    }

    /// Does a task, unless the idempotency key was used before. `outcome` is called with the document, its
    /// JSON and its price.
    async fn scrape_once<T: Send + 'static>(
        &self,
        task: ScrapeTask<'_>,
        idempotency_key: Option<&str>,
        source: PageSource,
        outcome: impl FnOnce(Document, DocumentJson, i64) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let claim = idempotency::claim(task.caller, task.endpoint, idempotency_key, task.id);
        let mut unfinished = Unfinished::begin(&self.store, claim, task.plan.timeout).await?;
        let span = scrape_span(task.endpoint, task.id, task.plan);
        let scraped = self.scrape_and_record(&task, source, &mut unfinished, outcome);
        let scraped = scraped.instrument(span.clone()).await;
        note_error(&span, scraped.as_ref().err());
        unfinished.give_back().await;
        scraped
    }

    async fn scrape_and_record<T: Send + 'static>(
        &self,
        task: &ScrapeTask<'_>,
        source: PageSource,
        unfinished: &mut Unfinished,
        outcome: impl FnOnce(Document, DocumentJson, i64) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let ScrapeTask { caller, plan, id, base_url, endpoint, ref target, is_charged } = *task;
        let deadline = Deadline::after(plan.timeout);
        let started = Instant::now();
        let store = self.store.as_ref();
        let mut extra = ExtraCredits::Counted;
        if is_charged {
            let reserved =
                credits::reserve_for_request(store, caller, plan.credits(), endpoint, plan.timeout).await?;
            unfinished.hold(reserved);
            extra = ExtraCredits::Request(reserved);
        }
        let mut record = NewScrape {
            id,
            team_id: caller.team,
            key_id: caller.key,
            endpoint: endpoint.to_owned(),
            url: target.clone(),
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
            took: None,
            claim: None,
        };
        let mut to_store = ToStore::default();
        let job = self.ladder.cpu_pool.job(caller.team, endpoint, deadline);
        let made = async {
            let _leaving = job.stop_when_dropped();
            let writing = self.write_document(
                caller,
                plan,
                id,
                base_url,
                (source, extra),
                &job,
                &mut to_store,
                |_, _| (),
            );
            let (document, (), room) = writing.await?;
            let (size, private) = (document::size(&document), plan.private);
            let credits = plan.credits() + to_store.extra_credits;
            let written = job.run_on(size, move || {
                let json = serde_json::to_vec(&document).map_err(Error::internal)?;
                let (json, stored) = DocumentJson::pack(json, !private)?;
                Ok::<_, Error>((stored, outcome(document, json, credits)))
            });
            let written = written.await?;
            drop(room);
            written
        };
        let made = made.await;
        (record.page, record.search) = (to_store.kept.cached, to_store.kept.search);
        let made = match made {
            Ok((stored, scraped)) => {
                record.result = stored;
                record.ok = true;
                record.credits = if is_charged { plan.credits() + to_store.extra_credits } else { 0 };
                Ok(scraped)
            }
            Err(error) => {
                record.error =
                    Some(serde_json::to_string(&StoredError::new(&error)).map_err(Error::internal)?);
                Err(error)
            }
        };
        record.took = Some(started.elapsed());
        (record.claim, record.reservation) = unfinished.hand_over();
        let claim = record.claim.clone();
        let writing = tracing::info_span!(target: otlp::SPANS, "store record");
        if let Err(error) = self.records.record(record).instrument(writing).await {
            unfinished.take_back(claim);
            return Err(error);
        }
        made
    }

    /// Scrapes a page for a crawl, a batch or a run: nothing is stored or charged here. `see` is called with
    /// the parsed page and what it says of itself, in the CPU pool. `job` has ended when this returns. `extra`
    /// is what pays for more than the price of a page.
    #[expect(clippy::too_many_arguments, reason = "what belongs to one scrape")]
    pub async fn scrape_page<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        extra: ExtraCredits,
        job: &CpuJob,
        see: impl FnOnce(&FetchedPage, &PageMetadata) -> T + Send + 'static,
    ) -> Result<ScrapedPage<T>, Error> {
        let _leaving = job.stop_when_dropped();
        let mut to_store = ToStore::default();
        let source = (PageSource::Web, extra);
        let span = scrape_span(ENDPOINT, id, plan);
        let written = self.write_document(caller, plan, id, base_url, source, job, &mut to_store, see);
        let written = written.instrument(span.clone()).await;
        note_error(&span, written.as_ref().err());
        let (document, seen, _) = written?;
        let ToStore { kept, extra_credits } = to_store;
        Ok(ScrapedPage { document, kept, extra_credits, seen })
    }

    /// Fetches the page and writes its document. What else is to be stored goes into `to_store`; the second
    /// value is what `see` returned, the third the room that the document takes in memory.
    #[expect(clippy::too_many_arguments, reason = "what belongs to one scrape, and where its results go")]
    async fn write_document<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        (source, extra): (PageSource, ExtraCredits),
        job: &CpuJob,
        to_store: &mut ToStore,
        see: impl FnOnce(&FetchedPage, &PageMetadata) -> T + Send + 'static,
    ) -> Result<(Document, T, Room), Error> {
        let held = held_to(caller, plan);
        let plan = &held;
        let (for_writing, asks_model) = (plan.clone(), derived::may_ask_model(&self.models, plan));
        let (own, for_search) = (job.clone(), self.pages_for_search);
        // Nothing of an upload is stored for other requests.
        let is_web = matches!(source, PageSource::Web);
        // A fetched page may be shared by several requests; the document is written for this one alone,
        // within its own CPU budget.
        let writing = PageWork::new(move |fetched: &FetchedPage, first: bool| {
            own.part(|| {
                let said = document::page_metadata(fetched);
                let document = document::write_formats(&for_writing, fetched, &said)?;
                let (url, text) = (fetched.response.url.as_str(), document.markdown.as_deref());
                let mut kept = KeptPage::default();
                // A request for the raw bytes also accepts a wall, which must not be served to others from
                // the cache.
                if let Some(key) = cache::shared_key(&for_writing, &fetched.response)
                    && is_web
                    && !wall::is_wall(&fetched.verdict)
                {
                    if first && fetched.stored.is_none() {
                        kept.cached = cache::to_new_page(&for_writing, key, &fetched.response, fetched.rung);
                    }
                    // Whoever reads a page that search does not find adds it: it may come from the cache or
                    // from the fetch of a request that kept nothing.
                    if for_search && !fetched.stored.is_some_and(|hit| hit.is_indexed) {
                        kept.search = from_scrape(&for_writing, fetched, &said, text);
                    }
                }
                let stated =
                    derived::StatedData::from_page(&for_writing, asks_model, url, &fetched.page, text);
                Ok((document, kept, stated, see(fetched, &said)))
            })
            .and_then(|written: Result<_, Error>| written)
        });
        let (fetched, first) = match source {
            PageSource::Web => self.visit_page(caller, plan, job, &writing).await?,
            PageSource::Upload(file) => {
                (Arc::new(self.read_upload(caller.team, plan, file, job).await?), false)
            }
        };
        to_store.extra_credits = fetched.extra_credits();
        credits::reserve_extra(self.store.as_ref(), caller, extra, to_store.extra_credits).await?;
        let mut room = Room::default();
        let written = if let Some(written) = writing.take_outcome() {
            written
        } else {
            let (memory, bytes) =
                (self.ladder.memory.of_team(caller.team), document::expected_bytes(plan, &fetched));
            room = job.deadline().run(memory.room_for_document(bytes)).await.map_err(|_| Error::NoMemory)?;
            let shared = fetched.clone();
            let later = job.run(move || {
                writing.run(&shared, first);
                writing.take_outcome()
            });
            later.await?.ok_or_else(|| Error::internal("the work on a page has no outcome"))?
        };
        let (mut document, kept, stated, seen) = written?;
        to_store.kept = kept;
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
        let credits = plan.credits() + to_store.extra_credits;
        document.metadata.insert("creditsUsed".to_owned(), credits.into());
        Ok((document, seen, room))
    }

    /// The page of a plan's address. The second value tells whether it was fetched for this very request.
    async fn visit_page<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        job: &CpuJob,
        writing: &PageWork<T>,
    ) -> Result<(Arc<FetchedPage>, bool), Error> {
        plan.access.allowed.check(&plan.url).map_err(Error::RefusedUrl)?;
        self.check_robots(caller, plan, &plan.url, job.deadline()).await?;
        // Callers without a key are one team, and must not meet in a browser state.
        if plan.access.profile.is_some() && caller.keyless.is_some() {
            return Err(Kind::Forbidden.into());
        }
        let profile = {
            let lease_for = plan.timeout + PROFILE_LEASE_SLACK;
            OpenProfile::open(self.store.clone(), caller.team, plan.access.profile.as_ref(), lease_for)
                .await?
        };
        let (fetched, first) = self.fetch_page(caller, plan, &profile, job, writing.as_hook()).await?;
        // Redirects may have led to a page that the site forbids.
        if fetched.response.url != plan.url {
            self.check_robots(caller, plan, &fetched.response.url, job.deadline()).await?;
        }
        if let Some(state) = &fetched.browser_outputs.state {
            profile.save(state).await?;
        }
        Ok((fetched, first))
    }

    /// The document of a scrape of the last day, or the error it ended with.
    pub fn find<'a>(&'a self, caller: &'a Caller, id: Uuid) -> BoxFuture<'a, Result<DocumentJson, Error>> {
        Box::pin(async move {
            let record = self.store.scrape(caller.team, id).await.map_err(from_store)?;
            let record = record.ok_or(Kind::NotFound)?;
            if let Some(error) = record.error {
                let stored: StoredError = serde_json::from_str(&error).map_err(Error::internal)?;
                return Err(Error::Stored(Box::new(stored)));
            }
            DocumentJson::from_stored(record.result.ok_or(Kind::NotFound)?)
        })
    }
}

/// The plan with the hosts of the caller's key. Every page that any capability reads for a caller comes by here.
fn held_to(caller: &Caller, plan: &Arc<ScrapePlan>) -> Arc<ScrapePlan> {
    let mut held = plan.clone();
    if !caller.hosts.is_empty() {
        Arc::make_mut(&mut held).access.allowed.hold_to(caller);
    }
    held
}

/// The scrape of a page.
fn page_task<'a>(
    caller: &'a Arc<Caller>,
    plan: &'a Arc<ScrapePlan>,
    id: Uuid,
    base_url: &'a str,
) -> ScrapeTask<'a> {
    let target = plan.written_url.clone();
    ScrapeTask { caller, plan, id, base_url, endpoint: ENDPOINT, target, is_charged: true }
}

#[expect(clippy::needless_pass_by_value, reason = "called like every other outcome of `scrape_once`")]
fn scraped_document(document: Document, json: DocumentJson, credits: i64) -> ScrapedDocument {
    ScrapedDocument { document, json_bytes: json.bytes(), credits }
}
