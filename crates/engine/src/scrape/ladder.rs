//! The ladder: plain HTTP first, then the browser, where the request asks for one or HTTP returned no
//! content. Every response is judged in one place, and a page that is not content is never passed on as if it
//! were.

use super::cache;
use super::fetched_page::{self, BrowserOutputs, CacheHit, FetchedPage, PageResponse};
use super::in_flight::Progress;
use super::page_hook::PageHook;
use super::plan::ScrapePlan;
use crate::Error;
use crate::cpu_pool::{CpuJob, CpuPool};
use crate::error::BrowserNeed;
use crate::limits::BrowserSlotRequest;
use crate::page_memory::{BodyMemory, TeamMemory};
use crate::services::Services;
use crate::wall::{self, LadderStep, Rung, Wall};
use browser::{Browsers, StorageState, Visit, VisitError, Visited};
use bytes::Bytes;
use content::verdict::{PageVerdict, VerdictKind};
use futures_util::future::BoxFuture;
use net::{
    BodySink, Deadline, FetchError, Fetcher, Limits, Purpose, Request, ResponseHead, ResponseMeta,
    Validators, Via,
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long to wait between two pieces of a body; the request's deadline holds as well.
const MAX_IDLE: Duration = Duration::from_secs(30);
/// Memory for a body is allocated in advance up to this announced size.
const MAX_PRESIZED_BYTES: usize = 4 << 20;

/// The fetcher, the browser, and the CPU pool that parses what they return. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ladder {
    pub fetcher: Fetcher,
    /// None where no Chromium was found, or the operator turned it off.
    pub browsers: Option<Browsers>,
    pub cpu_pool: CpuPool,
    /// Bounds the memory that bodies of pages take.
    pub memory: TeamMemory,
}

/// The start of a climb.
pub struct ClimbStart {
    /// A cached page that the site may confirm.
    pub known: Option<cache::CachedResponse>,
    /// A profile's state.
    pub state: Option<StorageState>,
    /// Acquires a browser slot of the caller's plan, when the browser is needed.
    pub slot: BrowserSlotRequest,
    /// Called with the page right after it was parsed, where the first rung returns it.
    pub hook: Option<PageHook>,
    /// For parsing the page.
    pub job: CpuJob,
}

impl std::fmt::Debug for ClimbStart {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (known, state) = (self.known.is_some(), self.state.is_some());
        out.debug_struct("ClimbStart").field("known", &known).field("state", &state).finish_non_exhaustive()
    }
}

impl Ladder {
    pub fn new(services: &Services) -> Self {
        let Services { fetcher, browsers, cpu_pool, page_memory, .. } = services;
        Self {
            fetcher: fetcher.clone(),
            browsers: browsers.clone(),
            cpu_pool: cpu_pool.clone(),
            memory: page_memory.of_team(Uuid::nil()),
        }
    }

    /// The same for pages of a team.
    #[must_use]
    pub fn of_team(&self, team: Uuid) -> Self {
        Self { memory: self.memory.of_team(team), ..self.clone() }
    }

    /// Climbs until there is content. `deadline` is the request's own; `latest` bounds a body that goes on
    /// arriving after the caller was told to retry.
    pub async fn climb(
        &self,
        plan: &ScrapePlan,
        start: ClimbStart,
        deadline: Deadline,
        latest: Deadline,
        progress: &Progress,
    ) -> Result<FetchedPage, Error> {
        let ClimbStart { known, state, slot, hook, job } = start;
        let (mut steps, mut http_error) = (Vec::new(), None);
        let reason = match plan.wants_browser() {
            Some(reason) => reason,
            None => {
                match self.fetch_over_http(plan, known, latest, progress, &mut steps, hook, &job).await? {
                    HttpOutcome::Done(fetched) => return Ok(*fetched),
                    HttpOutcome::NeedsBrowser { reason, error } => {
                        if !self.may_use_browser(plan) {
                            return Err(error);
                        }
                        http_error = Some(error);
                        reason
                    }
                }
            }
        };
        let _held = slot().await?;
        let visited = self.visit_in_browser(plan, state, reason, deadline, steps, &job).await;
        visited.map_err(|error| with_retry_after_of(error, http_error.as_ref()))
    }

    /// Climbs without cache, profile or shared fetch.
    pub async fn climb_alone(
        &self,
        plan: &ScrapePlan,
        job: CpuJob,
        slot: BrowserSlotRequest,
    ) -> Result<FetchedPage, Error> {
        let deadline = job.deadline();
        let start = ClimbStart { known: None, state: None, slot, hook: None, job };
        let progress = Progress::default();
        // Callers hold many of these futures at once; a boxed climb takes its memory only when it runs.
        let climb = Box::pin(self.climb(plan, start, deadline, deadline, &progress));
        let late = |_| Error::timeout("waiting for the page");
        deadline.run(climb).await.map_err(late)?
    }

    #[expect(clippy::too_many_arguments, reason = "what a climb starts with, and where it has come to")]
    async fn fetch_over_http(
        &self,
        plan: &ScrapePlan,
        known: Option<cache::CachedResponse>,
        latest: Deadline,
        progress: &Progress,
        steps: &mut Vec<LadderStep>,
        hook: Option<PageHook>,
        job: &CpuJob,
    ) -> Result<HttpOutcome, Error> {
        let begun = Instant::now();
        let reason = if known.is_some() { "revalidation" } else { "first" };
        let mut step = |outcome: &str| steps.push(self::step(Rung::Http, reason, outcome, begun));
        let fetched = self.fetch(plan, known.as_ref(), latest, progress).await;
        let (outcome, body, held_memory) = match fetched {
            Ok(fetched) => fetched,
            Err(error) => {
                step(&error.to_string());
                // Some sites close the connection on clients that are not browsers.
                let odd = matches!(
                    error,
                    FetchError::BadProtocol(_) | FetchError::Incomplete(_) | FetchError::BadEncoding { .. }
                );
                let error = Error::from_fetch(error, &plan.access.allowed);
                return if odd && !plan.access.fast {
                    Ok(HttpOutcome::NeedsBrowser { reason: "broken answer", error })
                } else {
                    Err(error)
                };
            }
        };
        if outcome.head.status == 304
            && let Some(known) = known
        {
            step("unchanged");
            return self.use_revalidated(plan, known, steps, job).await;
        }
        let response = to_response(outcome, body, held_memory);
        let (acceptable, allowed) = (self.acceptable(plan, Rung::Http), plan.access.allowed.clone());
        let mut taken = std::mem::take(steps);
        let reading = job.run(move || {
            let (response, page, verdict) = fetched_page::parse_response(response, &allowed)?;
            taken.push(self::step(Rung::Http, reason, wall::describe(&verdict), begun));
            if !acceptable.accepts(&verdict) {
                return Ok(Err((response, verdict, taken)));
            }
            let (rung, browser_outputs) = (Rung::Http, BrowserOutputs::default());
            let fetched =
                FetchedPage { response, page, verdict, rung, steps: taken, browser_outputs, stored: None };
            if let Some(hook) = hook {
                hook(&fetched);
            }
            Ok(Ok(Box::new(fetched)))
        });
        let reading: Result<_, Error> = reading.await?;
        match reading? {
            Ok(fetched) => Ok(HttpOutcome::Done(fetched)),
            Err((response, verdict, taken)) => {
                *steps = taken;
                continue_in_browser(verdict, &response, steps)
            }
        }
    }

    /// The site confirmed the cached page. It is judged as if it had been sent again.
    async fn use_revalidated(
        &self,
        plan: &ScrapePlan,
        known: cache::CachedResponse,
        steps: &mut Vec<LadderStep>,
        job: &CpuJob,
    ) -> Result<HttpOutcome, Error> {
        let cache::CachedResponse { response, rung, fetched_at } = known;
        let allowed = plan.access.allowed.clone();
        let (response, page, verdict) =
            job.run(move || fetched_page::parse_response(response, &allowed)).await??;
        if !self.acceptable(plan, rung).accepts(&verdict) {
            return continue_in_browser(verdict, &response, steps);
        }
        let stored = Some(CacheHit { fetched_at, revalidated: true });
        let (browser_outputs, steps) = (BrowserOutputs::default(), std::mem::take(steps));
        Ok(HttpOutcome::Done(Box::new(FetchedPage {
            response,
            page,
            verdict,
            rung,
            steps,
            browser_outputs,
            stored,
        })))
    }

    async fn fetch(
        &self,
        plan: &ScrapePlan,
        known: Option<&cache::CachedResponse>,
        latest: Deadline,
        progress: &Progress,
    ) -> Result<(ResponseMeta, Vec<u8>, BodyMemory), FetchError> {
        let access = &plan.access;
        let limits = Limits { first_byte: latest.remaining(), idle: MAX_IDLE, ..Limits::default() };
        let profile = if access.mobile { net::Profile::Mobile } else { net::Profile::Desktop };
        let mut request = Request::get(Purpose::Scrape, plan.url.as_str(), access.credentials.clone())?
            .profile(profile)
            .locale(access.locale.accept_language())
            .skip_tls_verification(!access.check_certificate)
            .limits(limits);
        if let Some(rule) = access.allowed.hop_rule() {
            request = request.allowed(rule);
        }
        if let Some(known) = known {
            let response = &known.response;
            let (etag, date) = (response.etag.as_deref(), response.last_modified.as_deref());
            request = request.revalidate(Validators::new(response.url.clone(), etag, date)?);
        }
        let memory = &self.memory;
        let held_memory = BodyMemory::default();
        let mut body = BodyBuffer { progress, memory, held_memory, announced: 0, body: Vec::new() };
        let outcome = self.fetcher.fetch_into(request, latest, &mut body).await?;
        Ok((outcome, body.body, body.held_memory))
    }

    async fn visit_in_browser(
        &self,
        plan: &ScrapePlan,
        state: Option<StorageState>,
        reason: &'static str,
        deadline: Deadline,
        mut steps: Vec<LadderStep>,
        job: &CpuJob,
    ) -> Result<FetchedPage, Error> {
        let begun = Instant::now();
        let browsers = self.browsers.as_ref().ok_or_else(|| no_browser(plan))?;
        let visited = browsers.visit(to_visit(plan, state), deadline).await;
        let visited = visited.map_err(|error| match error {
            VisitError::NotFound(_) => no_browser(plan),
            error => Error::from_visit(error, &plan.access.allowed),
        })?;
        let (response, browser_outputs) = from_visit(visited);
        let allowed = plan.access.allowed.clone();
        let (response, page, verdict) =
            job.run(move || fetched_page::parse_response(response, &allowed)).await??;
        steps.push(step(Rung::Browser, reason, wall::describe(&verdict), begun));
        if wall::is_wall(&verdict) && !plan.formats.raw_base64 {
            return Err(wall_error(verdict, &response, &steps));
        }
        Ok(FetchedPage { response, page, verdict, rung: Rung::Browser, steps, browser_outputs, stored: None })
    }

    /// Which responses of a rung, fetched or cached, are acceptable for a plan.
    pub(super) fn acceptable(&self, plan: &ScrapePlan, rung: Rung) -> Acceptable {
        Acceptable {
            files: plan.takes_files(),
            bytes: plan.formats.raw_base64,
            consent_walls: rung == Rung::Browser || !self.may_use_browser(plan),
        }
    }

    /// Whether there is a rung above plain HTTP: a browser, which `fastMode` does not forbid.
    fn may_use_browser(&self, plan: &ScrapePlan) -> bool {
        !plan.access.fast && self.browsers.is_some()
    }
}

/// The error of a plan that needs a browser where there is none.
fn no_browser(plan: &ScrapePlan) -> Error {
    Error::NoBrowser(if !plan.access.actions.is_empty() {
        BrowserNeed::Actions
    } else if plan.formats.branding {
        BrowserNeed::Branding
    } else {
        BrowserNeed::Page
    })
}

/// How the first rung ended.
enum HttpOutcome {
    Done(Box<FetchedPage>),
    /// The browser may do better; `error` is the outcome where there is none.
    NeedsBrowser {
        reason: &'static str,
        error: Error,
    },
}

/// For a response that is not acceptable: an unsupported file ends the climb, anything else is tried in the
/// browser.
fn continue_in_browser(
    verdict: PageVerdict,
    response: &PageResponse,
    steps: &[LadderStep],
) -> Result<HttpOutcome, Error> {
    if verdict.kind == VerdictKind::Binary {
        return Err(unsupported_file(&verdict));
    }
    let reason = wall::describe(&verdict);
    Ok(HttpOutcome::NeedsBrowser { reason, error: wall_error(verdict, response, steps) })
}

fn wall_error(verdict: PageVerdict, response: &PageResponse, steps: &[LadderStep]) -> Error {
    let (status, retry_after) = (response.status, response.retry_after);
    Error::Wall(Box::new(Wall { verdict, status, retry_after, steps: steps.to_vec() }))
}

/// The error of a file whose format is not supported.
pub(super) fn unsupported_file(verdict: &PageVerdict) -> Error {
    let format = verdict.evidence.first().map_or("binary data", |evidence| evidence.detail.as_str());
    Error::UnsupportedFile(format.to_owned())
}

/// A wall met in the browser keeps the `Retry-After` that the same site sent over HTTP a moment before,
/// unless it has its own.
fn with_retry_after_of(mut error: Error, http_error: Option<&Error>) -> Error {
    if let (Error::Wall(wall), Some(Error::Wall(before))) = (&mut error, http_error) {
        wall.retry_after = wall.retry_after.or(before.retry_after);
    }
    error
}

/// Which responses a plan accepts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acceptable {
    files: bool,
    /// The raw bytes are wanted, whatever the page says.
    bytes: bool,
    /// No higher rung could get past one.
    consent_walls: bool,
}

impl Acceptable {
    pub(super) fn accepts(self, verdict: &PageVerdict) -> bool {
        match verdict.kind {
            VerdictKind::Binary => self.files,
            _ if self.bytes => true,
            VerdictKind::ConsentWall => self.consent_walls,
            _ => !wall::is_wall(verdict),
        }
    }
}

fn step(rung: Rung, reason: &'static str, outcome: &str, begun: Instant) -> LadderStep {
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    LadderStep { rung, reason, outcome: outcome.to_owned(), ms }
}

fn to_response(outcome: ResponseMeta, body: Vec<u8>, held_memory: BodyMemory) -> PageResponse {
    let ResponseMeta { head, truncated, .. } = outcome;
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    PageResponse {
        status: head.status.as_u16(),
        content_type: header("content-type"),
        etag: header("etag").filter(|tag| tag.len() <= 1024),
        last_modified: header("last-modified").filter(|date| date.len() <= 64),
        retry_after: net::retry_after(&head.headers),
        body: Bytes::from(body),
        cut: truncated.is_some(),
        url: head.url,
        held_memory,
    }
}

fn to_visit(plan: &ScrapePlan, state: Option<StorageState>) -> Visit {
    let access = &plan.access;
    Visit {
        wait_for: access.wait_for,
        actions: access.actions.clone(),
        screenshot: plan.formats.screenshot,
        credentials: access.credentials.clone(),
        mobile: access.mobile,
        languages: access.locale.tags(),
        timezone: access.locale.timezone().map(str::to_owned),
        block_ads: access.block_ads,
        check_certificate: access.check_certificate,
        via: Via::Settings,
        state,
        keep_state: access.profile.as_ref().is_some_and(|profile| profile.save),
        collect: plan.formats.branding.then(|| page_data::branding::COLLECT.to_owned()),
        filter: access.allowed.resource_rule(),
        page_filter: access.allowed.hop_rule(),
        ..Visit::new(plan.url.clone())
    }
}

fn from_visit(visited: Visited) -> (PageResponse, BrowserOutputs) {
    let mut url = visited.url;
    // A page may move to an address of its own making.
    let _ = net::take_login(&mut url);
    let retry_after = visited.headers.iter().find(|(name, _)| name == "retry-after");
    let response = PageResponse {
        url,
        status: visited.status.unwrap_or(200),
        // The browser serialised the document as UTF-8, whatever the server declared.
        content_type: Some("text/html; charset=utf-8".to_owned()),
        etag: None,
        last_modified: None,
        retry_after: retry_after.and_then(|(_, value)| net::parse_retry_after(value)),
        body: Bytes::from(visited.html),
        cut: visited.truncated,
        held_memory: BodyMemory::default(),
    };
    let browser_outputs = BrowserOutputs {
        screenshot: visited.screenshot,
        results: visited.results,
        styles: visited.collected,
        state: visited.state,
    };
    (response, browser_outputs)
}

/// Collects a body within the memory limit, and notes when it begins to arrive.
struct BodyBuffer<'a> {
    progress: &'a Progress,
    memory: &'a TeamMemory,
    held_memory: BodyMemory,
    /// How long the site says the body is.
    announced: usize,
    body: Vec<u8>,
}

impl BodySink for BodyBuffer<'_> {
    fn on_head(&mut self, head: &ResponseHead) -> ControlFlow<()> {
        self.progress.arriving();
        let announced =
            head.headers.get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
        self.announced = announced.unwrap_or(0);
        ControlFlow::Continue(())
    }

    fn on_chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if self.body.is_empty() && self.announced <= MAX_PRESIZED_BYTES {
            self.body.reserve(self.announced);
        }
        self.body.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }

    fn wait_for_room(&mut self) -> Option<BoxFuture<'_, ()>> {
        let (progress, bytes) = (self.progress, self.body.len().max(self.announced));
        let room = self.held_memory.grow(self.memory, bytes)?;
        Some(Box::pin(async move {
            progress.waits_for_room(true);
            room.await;
            progress.waits_for_room(false);
        }))
    }
}
