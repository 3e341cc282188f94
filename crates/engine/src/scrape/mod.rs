//! Scrape: one page, honestly. A request becomes a [`plan::ScrapePlan`]; a stored page answers it, or the [`ladder`] goes out for
//! one; [`document`] writes the formats; [`records`] keep what is left behind. Nothing waits in a queue, and everything ends at
//! the request's deadline.

pub mod cache;
pub mod capture;
mod changes;
pub mod document;
mod failure;
mod flights;
mod keys;
pub mod ladder;
pub mod memory;
mod once;
pub mod plan;
mod profile;
mod records;
mod souvenirs;
pub mod workbench;

use failure::Failed;
pub use failure::{may_pass, of_fetch};
pub use ladder::Ladder;
pub use plan::ScrapePlan;

use crate::answers;
use crate::callers::Caller;
use crate::files::Files;
use crate::idempotency::{self, Unfinished};
use crate::limits::Gate;
use crate::models::Models;
use crate::search::feed::page::of_scrape;
use crate::{credits, from_store};
use capture::{Capture, Rung, Souvenirs, Step, Stored};
use changes::Looked;
use content::verdict::VerdictKind;
use flights::{Flights, Progress};
use ladder::{Held, Slot, Start};
use memory::BodyPlace;
use net::{Deadline, EgressAllow, Purpose};
use once::{Look, Once};
use profile::OpenProfile;
use records::Records;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::pages::NewPage;
use store::scrapes::NewScrape;
use store::search::NewSearchPage;
use uuid::Uuid;
use wire::scrape::ScrapeRequest;
use wire::{Kind, WireError};
use workbench::Job;

const ENDPOINT: &str = "scrape";
const KEPT: Duration = Duration::from_hours(24);
/// Reserved credits that nobody settles were left behind by a crash.
const SETTLE: Duration = Duration::from_mins(2);
/// Bytes that are arriving at the deadline may go on to arrive for as long again, and this at most.
const LONGEST_AFTERMATH: Duration = Duration::from_mins(1);
/// How often a page that may wait for a browser asks for one.
const NEXT_BROWSER: Duration = Duration::from_millis(200);
/// When to come back for a page that was arriving.
const COME_BACK: u64 = 5;

/// The capability. One per process.
pub struct Scraper {
    ladder: Ladder,
    allow: EgressAllow,
    store: Arc<dyn Store>,
    gate: Arc<Gate>,
    files: Files,
    flights: Flights<Capture>,
    records: Records,
    models: Models,
}

impl std::fmt::Debug for Scraper {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Scraper").field("ladder", &self.ladder).finish_non_exhaustive()
    }
}

/// A scrape that came to a document.
#[derive(Debug)]
pub struct Scraped {
    pub id: Uuid,
    /// The document as JSON.
    pub document: Vec<u8>,
}

/// One page of many that came to a document.
#[derive(Debug)]
pub struct Gathered<T> {
    /// The document as it is kept: JSON, packed.
    pub document: Vec<u8>,
    /// The page for the cache, when it is to be stored, and as it is kept for search.
    pub page: Option<NewPage>,
    pub search: Option<NewSearchPage>,
    pub seen: T,
}

/// What is to be kept of a scrape.
#[derive(Debug, Default)]
struct Kept {
    /// The document, packed.
    result: Option<Vec<u8>>,
    page: Option<NewPage>,
    search: Option<NewSearchPage>,
}

impl Scraper {
    pub fn new(
        ladder: Ladder,
        allow: EgressAllow,
        store: Arc<dyn Store>,
        gate: Arc<Gate>,
        files: Files,
    ) -> Self {
        let records = Records::start(store.clone());
        let (flights, models) = (Flights::default(), Models::default());
        Self { ladder, allow, store, gate, files, flights, records, models }
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

    /// Sets credits aside where the plan has a limit. An unlimited plan has nothing to run out of; what it uses is counted with
    /// the record.
    pub async fn reserve(
        &self,
        caller: &Caller,
        amount: i64,
        purpose: &str,
        timeout: Duration,
    ) -> Result<Option<Uuid>, WireError> {
        if caller.plan.credits.is_none() {
            return Ok(None);
        }
        let hold = timeout + SETTLE;
        Ok(Some(credits::reserve(self.store.as_ref(), caller, amount, purpose, hold).await?))
    }

    /// Writes what was done and settles its credits.
    pub async fn record(&self, record: NewScrape) -> Result<(), WireError> {
        self.records.write(record).await
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
    pub fn plan(&self, caller: &Caller, asked: &ScrapeRequest) -> Result<ScrapePlan, WireError> {
        let plan = ScrapePlan::resolve(asked, caller.zero_data_retention, &|host| self.names_host(host))?;
        answers::must_be_able(&self.models, &plan)?;
        Ok(plan)
    }

    /// Scrapes one page. `base_url` is how the caller reaches this server, for addresses of files.
    pub async fn scrape(
        &self,
        caller: &Arc<Caller>,
        plan: ScrapePlan,
        idempotency_key: Option<String>,
        base_url: &str,
    ) -> Result<Scraped, WireError> {
        let id = Uuid::now_v7();
        let plan = Arc::new(plan);
        let claim = idempotency::claim(caller, ENDPOINT, idempotency_key.as_deref(), id);
        let mut unfinished = Unfinished::begin(&self.store, claim, plan.timeout).await?;
        let outcome = self.work(caller, &plan, id, base_url, &mut unfinished).await;
        unfinished.give_back().await;
        outcome
    }

    async fn work(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        unfinished: &mut Unfinished,
    ) -> Result<Scraped, WireError> {
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
            keep_for: KEPT,
            private: plan.private,
            audit: plan.audit.clone(),
            claim: None,
        };
        let mut kept = Kept::default();
        let job = self.ladder.bench.job(caller.team, ENDPOINT, deadline);
        let made = self.document(caller, plan, id, base_url, &job, &mut kept, |_| ()).await;
        (record.result, record.page, record.search) = (kept.result, kept.page, kept.search);
        match &made {
            Ok(_) => {
                record.ok = true;
                record.credits = plan.credits();
            }
            Err(error) => {
                record.error = serde_json::to_string(&Failed::of(error)).ok();
            }
        }
        (record.claim, record.reservation) = unfinished.hand_over();
        let claim = record.claim.clone();
        if let Err(error) = self.records.write(record).await {
            unfinished.take_back(claim);
            return Err(error);
        }
        made.map(|(document, ())| Scraped { id, document })
    }

    /// One page of many, for one of the capabilities: nothing is written or charged here. `see` looks at the page while it is on the
    /// bench.
    pub async fn gather<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        capability: &'static str,
        see: impl FnOnce(&Capture) -> T + Send + 'static,
    ) -> Result<Gathered<T>, WireError> {
        let job = self.ladder.bench.job(caller.team, capability, Deadline::after(plan.timeout));
        let mut kept = Kept::default();
        let (document, seen) = self.document(caller, plan, id, base_url, &job, &mut kept, see).await?;
        let document = if let Some(packed) = kept.result {
            packed
        } else {
            // The job itself was stopped when the document was done.
            let packing = job.apart(job.deadline());
            let packed = packing.run_on(document.len(), move || cache::pack(&document)).await?;
            packed.map_err(|_| WireError::from(Kind::Internal))?
        };
        Ok(Gathered { document, page: kept.page, search: kept.search, seen })
    }

    /// The document as JSON, and what `see` made of the page; what is to be kept goes into `record`.
    #[expect(clippy::too_many_arguments, reason = "one scrape has as many sides")]
    async fn document<T: Send + 'static>(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        id: Uuid,
        base_url: &str,
        job: &Job,
        kept: &mut Kept,
        see: impl FnOnce(&Capture) -> T + Send + 'static,
    ) -> Result<(Vec<u8>, T), WireError> {
        let _leaving = job.stop_when_dropped();
        plan.access.allowed.check(&plan.url).map_err(|refused| failure::of_refused(&refused))?;
        let profile = OpenProfile::open(&self.store, caller.team, plan).await?;
        let (for_bench, asks_model) = (plan.clone(), answers::may_ask(&self.models, plan));
        let own = job.clone();
        // The page is read for all who want it, and written for this request alone, within what is its own.
        let writing = Once::new(move |capture: &Capture, first: bool| {
            own.part(|| {
                let document = document::write(&for_bench, capture)?;
                // What only the bytes were wanted of may be a wall; nobody else should be given it.
                let fresh = first && capture.stored.is_none() && !ladder::is_wall(&capture.verdict);
                let page =
                    if fresh { cache::put_away(&for_bench, &capture.answer, capture.rung) } else { None };
                let search = page.as_ref().and_then(|_| of_scrape(&for_bench, capture, &document));
                let (url, text) = (capture.answer.url.as_str(), document.markdown.as_deref());
                let stated = answers::Stated::of(&for_bench, asks_model, url, &capture.page, text);
                Ok((document, (page, search), stated, see(capture)))
            })
            .and_then(|written: Result<_, WireError>| written)
        });
        let (capture, first) = self.capture(caller, plan, &profile, job, writing.look()).await?;
        if let Some(state) = &capture.souvenirs.state {
            profile.save(state).await?;
        }
        drop(profile);
        let written = if let Some(written) = writing.take() {
            written
        } else {
            let shared = capture.clone();
            let later = job.run(move || {
                writing.settle(&shared, first);
                writing.take()
            });
            later.await?.ok_or(Kind::Internal)?
        };
        let (mut document, pages, stated, seen) = written?;
        (kept.page, kept.search) = pages;
        let data = answers::add(&self.models, plan, stated, &mut document, job).await?;
        if let (Some(tracking), Some(markdown)) = (&plan.formats.change_tracking, &document.markdown) {
            let looked = Looked { status: capture.answer.status, markdown, data: data.as_ref() };
            let tracked =
                changes::track(self.store.as_ref(), caller.team, plan, tracking, looked, job).await?;
            document.change_tracking = Some(tracked);
        }
        if !plan.formats.markdown {
            document.markdown = None;
        }
        souvenirs::add(&self.files, caller.team, base_url, &capture, plan, &mut document).await?;
        document.metadata.insert("scrapeId".to_owned(), id.to_string().into());
        document.metadata.insert("creditsUsed".to_owned(), plan.credits().into());
        let (size, private) = (document::size(&document), plan.private);
        let written = job.run_on(size, move || {
            let json = serde_json::to_vec(&document).ok()?;
            let packed = if private { None } else { cache::pack(&json).ok() };
            Some((json, packed))
        });
        let (json, packed) = written.await?.ok_or(Kind::Internal)?;
        kept.result = packed;
        Ok((json, seen))
    }

    /// The page: stored, or fetched together with everyone who wants the same. The second value tells whether this request was the
    /// one that fetched it; `look` sees the page then, where that costs no way of its own.
    async fn capture(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        profile: &OpenProfile,
        job: &Job,
        mut look: Look,
    ) -> Result<(Arc<Capture>, bool), WireError> {
        let deadline = job.deadline();
        let known = match self.stored(caller.team, plan, job).await? {
            Some((known, true)) => match self.reread(plan, known, look, job).await? {
                Ok(capture) => return Ok((Arc::new(capture), false)),
                Err(unused) => {
                    look = unused;
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
        let known = known.filter(cache::Known::can_be_revalidated);
        let (state, slot) = (profile.state().cloned(), self.slot(caller, plan));
        let latest = Deadline::at(deadline.instant() + plan.timeout.min(LONGEST_AFTERMATH));
        let mut start = Some(Start { known, state, slot, look: Some(look), job: job.apart(latest) });
        loop {
            let key = keys::fetch_key(caller.team, plan);
            let seat = self.flights.join(key, |progress| {
                let start = start.take().unwrap_or_else(|| Start {
                    known: None,
                    state: profile.state().cloned(),
                    slot: self.slot(caller, plan),
                    look: None,
                    job: job.apart(latest),
                });
                climb(self.ladder.of_team(caller.team), plan.clone(), start, deadline, latest, progress)
            });
            let first = !seat.joined;
            match deadline.run(seat.landed()).await {
                // Somebody else's time ran out, not ours.
                Ok(Err(error)) if !first && error.kind == Kind::ScrapeTimeout && !seat.returning => {
                    drop(seat);
                    tokio::task::yield_now().await;
                }
                Ok(landed) => {
                    let capture = landed?;
                    if first
                        && capture.stored.is_some_and(|stored| stored.revalidated)
                        && let Some(key) = keys::page_key(plan)
                    {
                        self.store.touch_page(caller.team, &key).await.map_err(from_store)?;
                    }
                    return Ok((capture, first));
                }
                Err(_) if seat.progress().is_waiting_for_room() => return Err(failure::no_room()),
                Err(_) if seat.progress().is_arriving() && !seat.returning => {
                    seat.leave_promised();
                    return Err(WireError::scrape_timeout("reading the page", Some(COME_BACK)));
                }
                Err(_) => return Err(WireError::scrape_timeout("waiting for the page", None)),
            }
        }
    }

    /// The stored page of a plan, and whether it will do as it is. A page that came from where this request accepts none counts as not
    /// stored: its site is asked anew, where every redirect is checked.
    async fn stored(
        &self,
        team: Uuid,
        plan: &ScrapePlan,
        job: &Job,
    ) -> Result<Option<(cache::Known, bool)>, WireError> {
        if plan.cache.max_age.is_none() && plan.cache.may_fetch() {
            return Ok(None);
        }
        let Some(key) = keys::page_key(plan) else { return Ok(None) };
        let page = self.store.cached_page(team, &key).await.map_err(from_store)?;
        let Some(page) = page else { return Ok(None) };
        let (mut place, memory) = (BodyPlace::default(), self.ladder.memory.of_team(team));
        let (size, age) = (cache::likely_size(&page), page.age);
        if let Some(room) = place.grow(&memory, size) {
            job.deadline().run(room).await.map_err(|_| failure::no_room())?;
        }
        let taken = job.run_on(size, move || cache::take_out(&page)).await?;
        let Some(mut known) = taken else { return Ok(None) };
        known.answer.place = place;
        if plan.access.allowed.check(&known.answer.url).is_err() {
            return Ok(None);
        }
        let young = plan.cache.max_age.is_some_and(|most| age <= most);
        let old = plan.cache.min_age.is_none_or(|least| age >= least);
        Ok(Some((known, young && old)))
    }

    /// A stored page, read again and judged as if it had been fetched. `Err` gives `look` back unused: the page was stored by a request that
    /// takes more than this one, and counts as not stored.
    async fn reread(
        &self,
        plan: &ScrapePlan,
        known: cache::Known,
        look: Look,
        job: &Job,
    ) -> Result<Result<Capture, Look>, WireError> {
        let begun = std::time::Instant::now();
        let cache::Known { answer, rung, fetched_at } = known;
        let (wanted, allowed) = (self.ladder.wanted(plan, rung), plan.access.allowed.clone());
        let reading = job.run(move || {
            let (answer, page, verdict) = capture::read(answer, &allowed)?;
            if !wanted.fits(&verdict) {
                let is_file = verdict.kind == VerdictKind::Binary;
                return if is_file { Err(failure::of_file(&verdict)) } else { Ok(Err(look)) };
            }
            let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let outcome = failure::word(&verdict).to_owned();
            let steps = vec![Step { rung: Rung::Cache, reason: "maxAge", outcome, ms }];
            let stored = Some(Stored { fetched_at, revalidated: false });
            let souvenirs = Souvenirs::default();
            let capture = Capture { answer, page, verdict, rung, steps, souvenirs, stored };
            look(&capture);
            Ok(Ok(capture))
        });
        reading.await?
    }

    fn slot(&self, caller: &Arc<Caller>, plan: &ScrapePlan) -> Slot {
        self.browser_slot(caller, plan.access.waits_for_browser)
    }

    /// A place in the browser that the caller's plan allows, to be taken when it comes to that. Whoever does not wait for one is told
    /// that all are taken.
    pub fn browser_slot(&self, caller: &Arc<Caller>, waits: bool) -> Slot {
        let (gate, caller) = (self.gate.clone(), caller.clone());
        Box::new(move || {
            Box::pin(async move {
                loop {
                    match gate.browser_slot(&caller).await {
                        // The deadline of the page is above this.
                        Err(error) if waits && error.kind == Kind::ConcurrencyLimited => {
                            tokio::time::sleep(NEXT_BROWSER).await;
                        }
                        taken => return Ok(Box::new(taken?) as Held),
                    }
                }
            })
        })
    }

    /// A document that was made in the last day, or the error it ended with.
    pub async fn find(&self, caller: &Caller, id: Uuid) -> Result<Vec<u8>, WireError> {
        let record = self.store.scrape(caller.team, id).await.map_err(from_store)?;
        let record = record.ok_or(Kind::NotFound)?;
        if let Some(error) = record.error {
            let failed: Failed = serde_json::from_str(&error).map_err(|_| WireError::from(Kind::Internal))?;
            return Err(failed.into_error());
        }
        let result = record.result.ok_or(Kind::NotFound)?;
        cache::unpack(&result).map_err(|_| Kind::Internal.into())
    }
}

/// The work that requests for one page share.
async fn climb(
    ladder: Ladder,
    plan: Arc<ScrapePlan>,
    start: Start,
    deadline: Deadline,
    latest: Deadline,
    progress: Progress,
) -> Result<Capture, WireError> {
    ladder.climb(&plan, start, deadline, latest, &progress).await
}
