//! The ladder: plain HTTP first, then the browser, where the request asks for one or HTTP returned no
//! content. Every response is judged in one place, and a page that is not content is never passed on as if it
//! were.

use super::body_buffer::BodyBuffer;
use super::browser_visit::{from_visit, to_visit};
use super::cache;
use super::fetched_page::{self, CacheHit, FetchedPage, PageResponse, ReadPage};
use super::file_reader::FileReader;
use super::in_flight::Progress;
use super::markdown_first::{self, MarkdownHosts};
use super::page_hook::PageHook;
use super::plan::ScrapePlan;
use crate::Error;
use crate::cpu_pool::{CpuJob, CpuPool};
use crate::error::BrowserNeed;
use crate::page_memory::{BodyMemory, PageMemory, TeamMemory};
use crate::services::Services;
use crate::wall::{self, LadderStep, Rung, Wall};
use access::limits::BrowserSlotRequest;
use browser::{Browsers, NavigationError, StorageState, VisitError};
use bytes::Bytes;
use content::verdict::{PageVerdict, VerdictKind};
use document_process::{DocumentParser, ParsedFile};
use futures_util::future::BoxFuture;
use net::{Deadline, FetchError, Fetcher, Limits, Purpose, Request, ResponseMeta, Validators};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;
use uuid::Uuid;

/// How long to wait between two pieces of a body; the request's deadline holds as well.
const MAX_IDLE: Duration = Duration::from_secs(30);

/// Why a page is fetched again without a preference for markdown.
const PLAIN_REASON: &str = "without markdown";

/// How many pages that only send their reader on are followed; more are a loop.
const MAX_PAGE_REDIRECTS: u32 = 5;

/// The fetcher, the browser, and the CPU pool that parses what they return. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ladder {
    pub fetcher: Fetcher,
    /// None where no Chromium was found, or the operator turned it off.
    pub browsers: Option<Browsers>,
    pub cpu_pool: CpuPool,
    /// Reads pages that are files.
    pub documents: DocumentParser,
    /// Bounds the memory that bodies of pages take.
    pub memory: TeamMemory,
    pub markdown_hosts: MarkdownHosts,
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
        let Services { fetcher, browsers, cpu_pool, documents, page_memory, .. } = services;
        Self {
            fetcher: fetcher.clone(),
            browsers: browsers.clone(),
            cpu_pool: cpu_pool.clone(),
            documents: documents.clone(),
            memory: page_memory.of_team(Uuid::nil()),
            markdown_hosts: MarkdownHosts::default(),
        }
    }

    /// For a command, which is nobody's request and has nothing to share.
    pub fn without_server(fetcher: Fetcher, browsers: Option<Browsers>, documents: DocumentParser) -> Self {
        let memory = PageMemory::default().of_team(Uuid::nil());
        let (cpu_pool, markdown_hosts) = (CpuPool::new(), MarkdownHosts::default());
        Self { fetcher, browsers, cpu_pool, documents, memory, markdown_hosts }
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
                            return Err(self.without_browser(plan, error));
                        }
                        http_error = Some(error);
                        reason
                    }
                }
            }
        };
        let held = slot().await?;
        let visited = self.visit_in_browser(plan, state, reason, deadline, steps, &job).await;
        let error = match visited {
            Ok(fetched) => return Ok(fetched),
            Err(error) => with_retry_after_of(error, http_error.as_ref()),
        };
        // A browser downloads files, for which there is nothing to wait.
        if !is_download(&error) || reason != "waitFor" || plan.takes_all_files() {
            return Err(error);
        }
        drop(held);
        let mut steps = Vec::new();
        match self.fetch_over_http(plan, None, latest, progress, &mut steps, None, &job).await? {
            HttpOutcome::Done(fetched) => Ok(*fetched),
            HttpOutcome::NeedsBrowser { .. } => Err(error),
        }
    }

    /// What is read of a response that is a file, where the plan wants it to be read.
    pub(super) async fn read_file(
        &self,
        plan: &ScrapePlan,
        response: &mut PageResponse,
        deadline: Deadline,
    ) -> Result<Option<Arc<ParsedFile>>, Error> {
        let (documents, memory) = (&self.documents, &self.memory);
        let reader = FileReader { documents, memory, team: memory.team() };
        reader.read_response(plan, response, deadline).await
    }

    /// Climbs without cache, profile or shared fetch.
    pub fn climb_alone<'a>(
        &'a self,
        plan: &'a ScrapePlan,
        job: CpuJob,
        slot: BrowserSlotRequest,
    ) -> BoxFuture<'a, Result<FetchedPage, Error>> {
        Box::pin(async move {
            let deadline = job.deadline();
            let start = ClimbStart { known: None, state: None, slot, hook: None, job };
            let progress = Progress::default();
            // Callers hold many of these futures at once; a boxed climb takes its memory only when it runs.
            let climb = Box::pin(self.climb(plan, start, deadline, deadline, &progress));
            let late = |_| Error::timeout("waiting for the page");
            deadline.run(climb).await.map_err(late)?
        })
    }

    /// The first rung. A page that only sends its reader on (`<meta http-equiv=refresh>`) is followed like a redirect.
    #[expect(clippy::too_many_arguments, reason = "what a climb starts with, and where it has come to")]
    async fn fetch_over_http(
        &self,
        plan: &ScrapePlan,
        mut known: Option<cache::CachedResponse>,
        latest: Deadline,
        progress: &Progress,
        steps: &mut Vec<LadderStep>,
        mut hook: Option<PageHook>,
        job: &CpuJob,
    ) -> Result<HttpOutcome, Error> {
        let (mut url, mut reason) =
            (plan.url.clone(), if known.is_some() { "revalidation" } else { "first" });
        let mut asks_for_markdown = plan.asks_for_markdown() && self.markdown_hosts.may_ask(&url);
        for redirects_left in (0..=MAX_PAGE_REDIRECTS).rev() {
            let begun = Instant::now();
            let mut step = |outcome: &str| steps.push(self::step(Rung::Http, reason, outcome, begun));
            let fetched = self.fetch(plan, &url, asks_for_markdown, known.as_ref(), latest, progress).await;
            let may_ask_plainly = asks_for_markdown && redirects_left > 0;
            let (outcome, body, held_memory) = match fetched {
                Ok((outcome, ..)) if may_ask_plainly && markdown_first::refuses(&outcome) => {
                    step("markdown refused");
                    self.markdown_hosts.note_refusal(&url);
                    (asks_for_markdown, reason) = (false, PLAIN_REASON);
                    continue;
                }
                Err(error) if may_ask_plainly && error.is_broken_response() => {
                    step(&error.to_string());
                    self.markdown_hosts.note_refusal(&url);
                    (asks_for_markdown, reason) = (false, PLAIN_REASON);
                    continue;
                }
                Ok(fetched) => fetched,
                Err(error) => {
                    step(&error.to_string());
                    return Self::after_fetch_error(plan, error);
                }
            };
            if outcome.head.status == 304
                && let Some(known) = known.take()
            {
                step("unchanged");
                return self.use_revalidated(plan, known, steps, job).await;
            }
            known = None;
            let mut response = to_response(outcome, body, held_memory);
            response.chosen_markdown =
                asks_for_markdown && markdown_first::is_labelled_markdown(response.content_type.as_deref());
            // A file with the label of markdown was not what was asked for.
            let is_file = !response.chosen_markdown;
            let file =
                if is_file { self.read_file(plan, &mut response, job.deadline()).await? } else { None };
            let (acceptable, allowed) = (self.acceptable(plan, Rung::Http), plan.access.allowed.clone());
            let (mut taken, hook_now) = (std::mem::take(steps), hook.take());
            let reading = job.run(move || {
                let read = fetched_page::parse_response(response, file, &allowed)?;
                if redirects_left > 0
                    && let Some(target) = page_redirect(&read)
                {
                    taken.push(self::step(Rung::Http, reason, "redirect", begun));
                    return Ok(Reading::Redirect(target, taken, hook_now));
                }
                taken.push(self::step(Rung::Http, reason, wall::describe(&read.verdict), begun));
                if !acceptable.accepts(&read.verdict) {
                    return Ok(Reading::Refused(Box::new(read), taken, hook_now));
                }
                let fetched = read.obtained(Rung::Http, taken, None);
                if let Some(hook) = hook_now {
                    hook(&fetched);
                }
                Ok(Reading::Accepted(Box::new(fetched)))
            });
            let reading: Result<_, Error> = reading.await?;
            match reading? {
                Reading::Accepted(fetched) => return Ok(HttpOutcome::Done(fetched)),
                Reading::Refused(read, taken, hook_again)
                    if may_ask_plainly && markdown_first::may_be_why(&read) =>
                {
                    self.markdown_hosts.note_refusal(&url);
                    (asks_for_markdown, reason, *steps, hook) = (false, PLAIN_REASON, taken, hook_again);
                }
                Reading::Refused(read, taken, _) => {
                    *steps = taken;
                    return continue_in_browser(plan, *read, steps);
                }
                Reading::Redirect(target, taken, hook_again) => {
                    (url, reason, *steps, hook) = (target, "page redirect", taken, hook_again);
                }
            }
        }
        // The last page is not asked where it leads.
        Err(Error::internal("a redirect after the last one"))
    }

    /// What a failed fetch means: some sites close the connection on clients that are not browsers. A body that
    /// was cut off is no page, and the browser would show half of one.
    fn after_fetch_error(plan: &ScrapePlan, error: FetchError) -> Result<HttpOutcome, Error> {
        let odd = error.is_broken_response();
        let error = Error::from_fetch(error, &plan.access.allowed);
        if odd && !plan.access.fast && !plan.access.safe_mode {
            Ok(HttpOutcome::NeedsBrowser { reason: "broken answer", error })
        } else {
            Err(error)
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
        let cache::CachedResponse { mut response, rung, fetched_at, is_indexed } = known;
        let file = self.read_file(plan, &mut response, job.deadline()).await?;
        let allowed = plan.access.allowed.clone();
        let read = job.run(move || fetched_page::parse_response(response, file, &allowed)).await??;
        if !self.acceptable(plan, rung).accepts(&read.verdict) {
            return continue_in_browser(plan, read, steps);
        }
        let stored = Some(CacheHit { fetched_at, revalidated: true, is_indexed });
        Ok(HttpOutcome::Done(Box::new(read.obtained(rung, std::mem::take(steps), stored))))
    }

    async fn fetch(
        &self,
        plan: &ScrapePlan,
        url: &Url,
        asks_for_markdown: bool,
        known: Option<&cache::CachedResponse>,
        latest: Deadline,
        progress: &Progress,
    ) -> Result<(ResponseMeta, Vec<u8>, BodyMemory), FetchError> {
        let access = &plan.access;
        let limits = Limits { first_byte: latest.remaining(), idle: MAX_IDLE, ..Limits::default() };
        let profile = if access.mobile { net::Profile::Mobile } else { net::Profile::Desktop };
        let mut request = Request::get(Purpose::Scrape, url.as_str(), access.credentials.clone())?
            .profile(profile)
            .locale(access.locale.accept_language())
            .skip_tls_verification(!access.check_certificate)
            .prefer_markdown(asks_for_markdown)
            .limits(limits);
        if let Some(rule) = access.allowed.hop_rule() {
            request = request.allowed(rule);
        }
        if let Some(known) = known {
            let response = &known.response;
            let (etag, date) = (response.etag.as_deref(), response.last_modified.as_deref());
            request = request.revalidate(Validators::new(response.url.clone(), etag, date)?);
        }
        let mut body = BodyBuffer::new(progress, &self.memory);
        match self.fetcher.fetch_into(request, latest, &mut body).await {
            Ok(outcome) => Ok((outcome, body.body, body.held_memory)),
            // All of the page came, and only its length is wrong: the browser shows it.
            Err(FetchError::CutOff(text)) if ends_page(&body.body) => Err(FetchError::Incomplete(text)),
            Err(error) => Err(error),
        }
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
        let read = job.run(move || fetched_page::parse_response(response, None, &allowed)).await??;
        steps.push(step(Rung::Browser, reason, wall::describe(&read.verdict), begun));
        if wall::is_wall(&read.verdict) && !plan.formats.raw_base64 {
            return Err(wall_error(plan, read, &steps));
        }
        Ok(FetchedPage { browser_outputs, ..read.obtained(Rung::Browser, steps, None) })
    }

    /// Which responses of a rung, fetched or cached, are acceptable for a plan.
    pub(super) fn acceptable(&self, plan: &ScrapePlan, rung: Rung) -> Acceptable {
        Acceptable {
            files: if plan.takes_all_files() {
                AcceptedFiles::All
            } else if plan.parsers.pdf.is_none() {
                AcceptedFiles::Pdf
            } else {
                AcceptedFiles::None
            },
            bytes: plan.formats.raw_base64,
            consent_walls: rung == Rung::Browser || plan.access.safe_mode || !self.may_use_browser(plan),
        }
    }

    /// The error of a page that a browser might have shown: it says so where there is none.
    fn without_browser(&self, plan: &ScrapePlan, mut error: Error) -> Error {
        if let Error::Wall(wall) = &mut error {
            wall.lacks_browser = self.browsers.is_none() && !plan.access.fast;
        }
        error
    }

    /// Whether there is a rung above plain HTTP: a browser, which `fastMode` does not forbid.
    fn may_use_browser(&self, plan: &ScrapePlan) -> bool {
        !plan.access.fast && self.browsers.is_some()
    }
}

fn ends_page(body: &[u8]) -> bool {
    const END: &[u8] = b"</html>";
    let text = body.trim_ascii_end();
    text.len() >= END.len() && text[text.len() - END.len()..].eq_ignore_ascii_case(END)
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

/// What a response turned out to be.
enum Reading {
    Accepted(Box<FetchedPage>),
    Refused(Box<ReadPage>, Vec<LadderStep>, Option<PageHook>),
    /// Another page is to be fetched instead.
    Redirect(Url, Vec<LadderStep>, Option<PageHook>),
}

/// Where a page sends its reader on to, unless it is an error or a wall.
fn page_redirect(read: &ReadPage) -> Option<Url> {
    let is_page =
        matches!(read.verdict.kind, VerdictKind::Content | VerdictKind::Empty | VerdictKind::AppShell);
    if !is_page || read.file.is_some() || !(200..300).contains(&read.response.status) {
        return None;
    }
    read.page.redirect(&read.response.url)
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

/// For a response that is not acceptable: an unsupported file ends the climb, and so does a wall in safe mode; anything
/// else is tried in the browser.
fn continue_in_browser(
    plan: &ScrapePlan,
    read: ReadPage,
    steps: &[LadderStep],
) -> Result<HttpOutcome, Error> {
    if read.verdict.kind == VerdictKind::Binary {
        return Err(unsupported_file(&read.verdict));
    }
    let reason = wall::describe(&read.verdict);
    let restricts = wall::is_restriction(&read.verdict);
    let error = wall_error(plan, read, steps);
    if plan.access.safe_mode && restricts {
        Err(error)
    } else {
        Ok(HttpOutcome::NeedsBrowser { reason, error })
    }
}

fn wall_error(plan: &ScrapePlan, read: ReadPage, steps: &[LadderStep]) -> Error {
    let ends_safe_mode = plan.access.safe_mode && wall::is_restriction(&read.verdict);
    let (status, retry_after) = (read.response.status, read.response.retry_after);
    Error::Wall(Box::new(Wall {
        verdict: read.verdict,
        status,
        retry_after,
        steps: steps.to_vec(),
        lacks_browser: false,
        ends_safe_mode,
    }))
}

/// Whether the browser found a file instead of a page.
fn is_download(error: &Error) -> bool {
    matches!(error, Error::Visit(VisitError::Navigation(NavigationError::Download { .. })))
}

/// The error of a file whose format is not supported.
pub(super) fn unsupported_file(verdict: &PageVerdict) -> Error {
    Error::UnsupportedFile(file_format(verdict).to_owned())
}

fn file_format(verdict: &PageVerdict) -> &str {
    verdict.evidence.first().map_or("binary data", |evidence| evidence.detail.as_str())
}

/// A wall met in the browser keeps the `Retry-After` that the same site sent over HTTP a moment before,
/// unless it has its own.
fn with_retry_after_of(mut error: Error, http_error: Option<&Error>) -> Error {
    if let (Error::Wall(wall), Some(Error::Wall(before))) = (&mut error, http_error) {
        wall.retry_after = wall.retry_after.or(before.retry_after);
    }
    error
}

/// Which files, that were not read, are wanted as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AcceptedFiles {
    None,
    Pdf,
    All,
}

/// Which responses a plan accepts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acceptable {
    files: AcceptedFiles,
    /// The raw bytes are wanted, whatever the page says.
    bytes: bool,
    /// No higher rung could get past one.
    consent_walls: bool,
}

impl Acceptable {
    pub(super) fn accepts(self, verdict: &PageVerdict) -> bool {
        match verdict.kind {
            VerdictKind::Binary => match self.files {
                AcceptedFiles::All => true,
                AcceptedFiles::Pdf => file_format(verdict) == "pdf",
                AcceptedFiles::None => false,
            },
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
    let robots = head.headers.get_all("x-robots-tag");
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    PageResponse {
        status: head.status.as_u16(),
        content_type: header("content-type"),
        etag: header("etag").filter(|tag| tag.len() <= 1024),
        last_modified: header("last-modified").filter(|date| date.len() <= 64),
        robots_tags: fetched_page::robots_tags(robots.iter().filter_map(|value| value.to_str().ok())),
        retry_after: net::retry_after(&head.headers),
        body: Bytes::from(body),
        cut: truncated.is_some(),
        chosen_markdown: false,
        url: head.url,
        held_memory,
    }
}
