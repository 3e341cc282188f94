//! The ladder: plain HTTP first, the browser when something asks for it or HTTP brought no content. What came back is judged in one
//! place, and what is no content is never handed on as if it were.

use super::capture::{self, Answer, Capture, Rung, Souvenirs, Step, Stored};
use super::flights::Progress;
use super::memory::{BodyPlace, TeamMemory};
use super::once::Look;
use super::plan::ScrapePlan;
use super::workbench::{Job, Workbench};
use super::{cache, failure};
use browser::{Browsers, StorageState, Visit, VisitError, Visited};
use bytes::Bytes;
use content::verdict::{Verdict, VerdictKind};
use futures_util::future::BoxFuture;
use net::{
    BodySink, Deadline, FetchError, Fetcher, Head, Limits, Outcome, Purpose, Request, Validators, Via,
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use uuid::Uuid;
use wire::{Kind, WireError};

/// How long a silent body may make us wait, the deadline of the request above it.
const IDLE: Duration = Duration::from_secs(30);
/// A body that is announced larger than this is not believed before it comes.
const PRESIZED: usize = 4 << 20;
const NO_BROWSER: &str = "this needs a browser, and no Chromium was found";

/// The ways out and the bench to read what they bring. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ladder {
    pub fetcher: Fetcher,
    /// None where no Chromium was found, or none is wanted.
    pub browsers: Option<Browsers>,
    pub bench: Workbench,
    /// Where bodies of pages find room.
    pub memory: TeamMemory,
}

/// What a climb starts with.
pub struct Start {
    /// A stored page that may still be the page.
    pub known: Option<cache::Known>,
    /// A profile's state.
    pub state: Option<StorageState>,
    /// Gives the place in the browser that the caller's plan allows, when it comes to that.
    pub slot: Slot,
    /// Sees the page right after it was read, when the first rung brings it.
    pub look: Option<Look>,
    /// For reading the page.
    pub job: Job,
}

impl std::fmt::Debug for Start {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (known, state) = (self.known.is_some(), self.state.is_some());
        out.debug_struct("Start").field("known", &known).field("state", &state).finish_non_exhaustive()
    }
}

/// One of the browsers a caller may use at once, taken when it is needed and held until dropped.
pub type Held = Box<dyn std::any::Any + Send>;
pub type Slot =
    Box<dyn FnOnce() -> std::pin::Pin<Box<dyn Future<Output = Result<Held, WireError>> + Send>> + Send>;

/// A place in the browser for who has no plan to keep within: the command line.
pub fn free_slot() -> Slot {
    Box::new(|| Box::pin(async { Ok(Box::new(()) as Held) }))
}

impl Ladder {
    /// The same for pages of a team.
    #[must_use]
    pub fn of_team(&self, team: Uuid) -> Self {
        Self { memory: self.memory.of_team(team), ..self.clone() }
    }

    /// Climbs until there is content. `deadline` is the request's own; `latest` is how long bytes that are arriving may
    /// go on to arrive when the caller has been told to come back.
    pub async fn climb(
        &self,
        plan: &ScrapePlan,
        start: Start,
        deadline: Deadline,
        latest: Deadline,
        progress: &Progress,
    ) -> Result<Capture, WireError> {
        let Start { known, state, slot, look, job } = start;
        let mut steps = Vec::new();
        let reason = match plan.wants_browser() {
            Some(reason) => reason,
            None => match self.by_http(plan, known, latest, progress, &mut steps, look, &job).await? {
                Step1::Done(capture) => return Ok(*capture),
                Step1::Higher { reason, without } => {
                    if let Some(why) = self.no_browser(plan) {
                        return Err(without.unwrap_or_else(|| WireError::because(Kind::ScrapeAllFailed, why)));
                    }
                    reason
                }
            },
        };
        let _held = slot().await?;
        self.by_browser(plan, state, reason, deadline, steps, &job).await
    }

    /// Climbs for nobody else: no stored page, no profile. `slot` is the place in the browser that the caller's plan allows.
    pub async fn climb_alone(&self, plan: &ScrapePlan, job: Job, slot: Slot) -> Result<Capture, WireError> {
        let deadline = job.deadline();
        let start = Start { known: None, state: None, slot, look: None, job };
        let progress = Progress::default();
        // Callers hold many of these at once; the place for a whole climb is only taken when it is climbed.
        let climb = Box::pin(self.climb(plan, start, deadline, deadline, &progress));
        let late = |_| WireError::scrape_timeout("waiting for the page", None);
        deadline.run(climb).await.map_err(late)?
    }

    #[expect(clippy::too_many_arguments, reason = "what a climb starts with, and where it has come to")]
    async fn by_http(
        &self,
        plan: &ScrapePlan,
        known: Option<cache::Known>,
        latest: Deadline,
        progress: &Progress,
        steps: &mut Vec<Step>,
        look: Option<Look>,
        job: &Job,
    ) -> Result<Step1, WireError> {
        let begun = Instant::now();
        let reason = if known.is_some() { "revalidation" } else { "first" };
        let mut step = |outcome: &str| steps.push(self::step(Rung::Http, reason, outcome, begun));
        let fetched = self.fetch(plan, known.as_ref(), latest, progress).await;
        let (outcome, body, place) = match fetched {
            Ok(fetched) => fetched,
            Err(error) => {
                step(&error.to_string());
                // Some sites break off with whoever is no browser.
                let odd = matches!(
                    error,
                    FetchError::BadProtocol(_) | FetchError::Incomplete(_) | FetchError::BadEncoding { .. }
                );
                let failure = failure::of_fetch_within(&error, &plan.access.allowed);
                return if odd && !plan.access.fast {
                    Ok(Step1::Higher { reason: "broken answer", without: Some(failure) })
                } else {
                    Err(failure)
                };
            }
        };
        if outcome.head.status == 304
            && let Some(known) = known
        {
            step("unchanged");
            return self.unchanged(plan, known, steps, job).await;
        }
        let answer = answer_of(outcome, body, place);
        let (wanted, allowed) = (self.wanted(plan, Rung::Http), plan.access.allowed.clone());
        let mut taken = std::mem::take(steps);
        let reading = job.run(move || {
            let (answer, page, verdict) = capture::read(answer, &allowed)?;
            taken.push(self::step(Rung::Http, reason, failure::word(&verdict), begun));
            if !wanted.fits(&verdict) {
                return Ok(Err((answer.status, verdict, taken)));
            }
            let (rung, souvenirs) = (Rung::Http, Souvenirs::default());
            let capture = Capture { answer, page, verdict, rung, steps: taken, souvenirs, stored: None };
            if let Some(look) = look {
                look(&capture);
            }
            Ok(Ok(Box::new(capture)))
        });
        let reading: Result<_, WireError> = reading.await?;
        match reading? {
            Ok(capture) => Ok(Step1::Done(capture)),
            Err((status, verdict, taken)) => {
                *steps = taken;
                higher(&verdict, status, steps)
            }
        }
    }

    /// The site says that the stored page is still the page. It is judged as if it had been sent again.
    async fn unchanged(
        &self,
        plan: &ScrapePlan,
        known: cache::Known,
        steps: &mut Vec<Step>,
        job: &Job,
    ) -> Result<Step1, WireError> {
        let cache::Known { answer, rung, fetched_at } = known;
        let allowed = plan.access.allowed.clone();
        let (answer, page, verdict) = job.run(move || capture::read(answer, &allowed)).await??;
        if !self.wanted(plan, rung).fits(&verdict) {
            return higher(&verdict, answer.status, steps);
        }
        let stored = Some(Stored { fetched_at, revalidated: true });
        let (souvenirs, steps) = (Souvenirs::default(), std::mem::take(steps));
        Ok(Step1::Done(Box::new(Capture { answer, page, verdict, rung, steps, souvenirs, stored })))
    }

    async fn fetch(
        &self,
        plan: &ScrapePlan,
        known: Option<&cache::Known>,
        latest: Deadline,
        progress: &Progress,
    ) -> Result<(Outcome, Vec<u8>, BodyPlace), FetchError> {
        let access = &plan.access;
        let limits = Limits { first_byte: latest.remaining(), idle: IDLE, ..Limits::default() };
        let profile = if access.mobile { net::Profile::Mobile } else { net::Profile::Desktop };
        let mut request = Request::get(Purpose::Scrape, plan.url.as_str(), access.credentials.clone())?
            .profile(profile)
            .locale(access.place.locale())
            .skip_tls_verification(!access.check_certificate)
            .limits(limits);
        if let Some(rule) = access.allowed.hop_rule() {
            request = request.allowed(rule);
        }
        if let Some(known) = known {
            let answer = &known.answer;
            let (etag, date) = (answer.etag.as_deref(), answer.last_modified.as_deref());
            request = request.revalidate(Validators::new(answer.url.clone(), etag, date)?);
        }
        let memory = &self.memory;
        let place = BodyPlace::default();
        let mut body = Arriving { progress, memory, place, announced: 0, body: Vec::new() };
        let outcome = self.fetcher.fetch_into(request, latest, &mut body).await?;
        Ok((outcome, body.body, body.place))
    }

    async fn by_browser(
        &self,
        plan: &ScrapePlan,
        state: Option<StorageState>,
        reason: &'static str,
        deadline: Deadline,
        mut steps: Vec<Step>,
        job: &Job,
    ) -> Result<Capture, WireError> {
        let begun = Instant::now();
        let browsers = self.browsers.as_ref().ok_or_else(|| missing(plan))?;
        let visited = browsers.visit(visit_of(plan, state), deadline).await;
        let visited = visited.map_err(|error| match error {
            VisitError::NotFound(_) => missing(plan),
            error => failure::of_visit(&error, &plan.access.allowed),
        })?;
        let (answer, souvenirs) = parts_of(visited);
        let allowed = plan.access.allowed.clone();
        let (answer, page, verdict) = job.run(move || capture::read(answer, &allowed)).await??;
        steps.push(step(Rung::Browser, reason, failure::word(&verdict), begun));
        if is_wall(&verdict) && !plan.formats.raw_base64 {
            return Err(failure::of_wall(&verdict, answer.status, &steps));
        }
        Ok(Capture { answer, page, verdict, rung: Rung::Browser, steps, souvenirs, stored: None })
    }

    /// What will do for a plan of what this rung brought, now or when it was stored.
    pub(super) fn wanted(&self, plan: &ScrapePlan, rung: Rung) -> Wanted {
        Wanted {
            files: plan.takes_files(),
            bytes: plan.formats.raw_base64,
            consent_walls: rung == Rung::Browser || self.no_browser(plan).is_some(),
        }
    }

    /// Why there is no higher rung, when there is none.
    fn no_browser(&self, plan: &ScrapePlan) -> Option<&'static str> {
        if plan.access.fast {
            Some("fastMode forbids the browser that this page needs")
        } else if self.browsers.is_some() {
            None
        } else {
            Some(NO_BROWSER)
        }
    }
}

/// The answer where a browser was asked for and there is none.
fn missing(plan: &ScrapePlan) -> WireError {
    if !plan.access.actions.is_empty() {
        Kind::ScrapeActionsUnsupported.into()
    } else if plan.formats.branding {
        Kind::ScrapeBrandingUnsupported.into()
    } else {
        WireError::because(Kind::ScrapeAllFailed, NO_BROWSER)
    }
}

/// How the first rung ended.
enum Step1 {
    Done(Box<Capture>),
    /// The browser may do better; `without` is the answer where there is none.
    Higher {
        reason: &'static str,
        without: Option<WireError>,
    },
}

/// The end of a rung that brought what will not do: a file nobody can read ends the climb, anything else leads to the browser.
fn higher(verdict: &Verdict, status: u16, steps: &[Step]) -> Result<Step1, WireError> {
    if verdict.kind == VerdictKind::Binary {
        return Err(failure::of_file(verdict));
    }
    let without = Some(failure::of_wall(verdict, status, steps));
    Ok(Step1::Higher { reason: failure::word(verdict), without })
}

/// What will do as it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    files: bool,
    /// The bytes are wanted, whatever they say.
    bytes: bool,
    /// No higher rung could get past them.
    consent_walls: bool,
}

impl Wanted {
    pub(super) fn fits(self, verdict: &Verdict) -> bool {
        match verdict.kind {
            VerdictKind::Binary => self.files,
            _ if self.bytes => true,
            VerdictKind::ConsentWall => self.consent_walls,
            _ => !is_wall(verdict),
        }
    }
}

/// What is never a success.
pub fn is_wall(verdict: &Verdict) -> bool {
    use VerdictKind::{AppShell, Blocked, Captcha, Empty};
    matches!(verdict.kind, Blocked | Captcha | AppShell | Empty)
}

fn step(rung: Rung, reason: &'static str, outcome: &str, begun: Instant) -> Step {
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Step { rung, reason, outcome: outcome.to_owned(), ms }
}

fn answer_of(outcome: Outcome, body: Vec<u8>, place: BodyPlace) -> Answer {
    let Outcome { head, truncated, .. } = outcome;
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Answer {
        status: head.status.as_u16(),
        content_type: header("content-type"),
        etag: header("etag").filter(|tag| tag.len() <= 1024),
        last_modified: header("last-modified").filter(|date| date.len() <= 64),
        retry_after: net::retry_after(&head.headers),
        body: Bytes::from(body),
        cut: truncated.is_some(),
        url: head.url,
        place,
    }
}

fn visit_of(plan: &ScrapePlan, state: Option<StorageState>) -> Visit {
    let access = &plan.access;
    Visit {
        wait_for: access.wait_for,
        actions: access.actions.clone(),
        screenshot: plan.formats.screenshot,
        credentials: access.credentials.clone(),
        mobile: access.mobile,
        languages: access.place.tags(),
        timezone: access.place.timezone().map(str::to_owned),
        block_ads: access.block_ads,
        check_certificate: access.check_certificate,
        via: Via::Settings,
        state,
        keep_state: access.profile.as_ref().is_some_and(|profile| profile.save),
        collect: plan.formats.branding.then(|| content::branding::COLLECT.to_owned()),
        filter: access.allowed.resource_rule(),
        page_filter: access.allowed.hop_rule(),
        ..Visit::new(plan.url.clone())
    }
}

fn parts_of(visited: Visited) -> (Answer, Souvenirs) {
    let mut url = visited.url;
    // A page may move to an address of its own making.
    let _ = net::take_login(&mut url);
    let answer = Answer {
        url,
        status: visited.status.unwrap_or(200),
        // The tree was written out as text by us; what the server called it no longer holds.
        content_type: Some("text/html; charset=utf-8".to_owned()),
        etag: None,
        last_modified: None,
        retry_after: None,
        body: Bytes::from(visited.html),
        cut: visited.truncated,
        place: BodyPlace::default(),
    };
    let souvenirs = Souvenirs {
        screenshot: visited.screenshot,
        results: visited.results,
        styles: visited.collected,
        state: visited.state,
    };
    (answer, souvenirs)
}

/// Keeps a body, as far as there is room for it, and notes that it has begun to come.
struct Arriving<'a> {
    progress: &'a Progress,
    memory: &'a TeamMemory,
    place: BodyPlace,
    /// How long the site says the body is.
    announced: usize,
    body: Vec<u8>,
}

impl BodySink for Arriving<'_> {
    fn head(&mut self, head: &Head) -> ControlFlow<()> {
        self.progress.arriving();
        let announced =
            head.headers.get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
        self.announced = announced.unwrap_or(0);
        ControlFlow::Continue(())
    }

    fn piece(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if self.body.is_empty() && self.announced <= PRESIZED {
            self.body.reserve(self.announced);
        }
        self.body.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }

    fn room(&mut self) -> Option<BoxFuture<'_, ()>> {
        let (progress, bytes) = (self.progress, self.body.len().max(self.announced));
        let room = self.place.grow(self.memory, bytes)?;
        Some(Box::pin(async move {
            progress.waits_for_room(true);
            room.await;
            progress.waits_for_room(false);
        }))
    }
}
