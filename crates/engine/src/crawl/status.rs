//! How crawls and batches stand: their numbers, their documents page by page, what failed and why, the whole ledger.

use super::order::{Order, SitemapUse};
use super::outcome::Failure;
use super::start::{Crawler, KEPT, PRIVATE_KEPT, is_live, order_of};
use crate::callers::Caller;
use crate::scrape::cache;
use crate::{from_store, time};
use std::time::Duration;
use store::crawls::{Crawl, CrawlKind, CrawlState, Entry, EntryState, KeptDocument};
use store::jobs::{CancelOutcome, JobState};
use uuid::Uuid;
use wire::crawl::{
    ActiveCrawl, CrawlRequest, JobErrors, JobHead, LedgerLine, LedgerPage, LedgerQuery, PageError, PageQuery,
};
use wire::webhook::WebhookAsked;
use wire::{Issues, Kind, WireError};

/// A page of documents is cut here.
const PAGE_BYTES: usize = 10 << 20;
const MOST_ON_PAGE: u64 = 1_000;
/// What is read of the store in one go, as it is stored there.
const HANDFUL: u32 = 200;
const HANDFUL_BYTES: u64 = 1 << 20;
/// Lines of the ledger read in one go.
const LINES: u32 = 1_000;
/// Errors that one answer lists.
const MOST_ERRORS: usize = 10_000;
/// Skipped lines that are looked through for those that robots rules kept out.
const MOST_LOOKED_AT: usize = 100_000;
const MOST_ACTIVE: u32 = 1_000;

/// The path that a kind is asked for under.
pub fn path(kind: CrawlKind) -> &'static str {
    match kind {
        CrawlKind::Crawl => "/v2/crawl",
        CrawlKind::Batch => "/v2/batch/scrape",
    }
}

/// Documents as they stand in an answer: JSON texts with commas between them.
#[derive(Debug, Default)]
pub struct Documents {
    pub json: Vec<u8>,
    /// The number of the last of them, or of the last one passed over.
    pub last: u64,
}

impl Crawler {
    /// How it stands, with a page of its documents, as JSON.
    pub async fn status(
        &self,
        caller: &Caller,
        kind: CrawlKind,
        id: Uuid,
        page: &PageQuery,
        base_url: &str,
    ) -> Result<Vec<u8>, WireError> {
        let window = Window::of(page)?;
        let crawl = self.find(caller, kind, id).await?;
        let documents = self.documents(&crawl, window).await?;
        let mut head = head(&crawl);
        if window.skip == 0 {
            head.warning = self.warning(&crawl).await?;
        }
        head.next = window.next(&crawl, &documents, base_url);
        Ok(head.with_documents(&documents.json))
    }

    /// A page of documents. Only those that the numbers of `crawl` count, so that the two agree.
    pub(super) async fn documents(&self, crawl: &Crawl, window: Window) -> Result<Documents, WireError> {
        let end = crawl.counts.completed.min(window.skip.saturating_add(window.limit.unwrap_or(u64::MAX)));
        let mut page = Documents { json: Vec::new(), last: window.skip };
        while page.last < end && page.json.len() < PAGE_BYTES {
            let wanted = u32::try_from(end - page.last).map_or(HANDFUL, |left| left.min(HANDFUL));
            let kept = self.store.crawl_documents(crawl.id, page.last, wanted, HANDFUL_BYTES).await;
            let kept = kept.map_err(from_store)?;
            if kept.is_empty() {
                break;
            }
            // Megabytes to unpack: not on the threads that serve.
            let filled = tokio::task::spawn_blocking(move || page.fill(&kept));
            page = filled.await.map_err(|_| WireError::from(Kind::Internal))??;
        }
        Ok(page)
    }

    /// What to know about a result that is not what one would expect of a site.
    async fn warning(&self, crawl: &Crawl) -> Result<Option<String>, WireError> {
        if crawl.kind != CrawlKind::Crawl || crawl.state != CrawlState::Completed {
            return Ok(None);
        }
        let counts = crawl.counts;
        let mut notes = Vec::new();
        if counts.skipped > 0 {
            let lines = self.store.crawl_entries(crawl.id, Some(EntryState::Skipped), 0, LINES).await;
            let blocked = lines.map_err(from_store)?.iter().filter(|line| is_blocked(line)).count();
            if blocked > 0 {
                let many = if counts.skipped > u64::from(LINES) { " or more" } else { "" };
                notes.push(format!(
                    "{blocked}{many} addresses were left out because robots.txt asks for it; the errors list them"
                ));
            }
        }
        if counts.completed == 0 {
            notes.push("no page could be had; the errors and the ledger say why".to_owned());
        } else if counts.completed == 1 && crawl.limit != Some(1) {
            notes.push(
                "one page was found; crawlEntireDomain, allowSubdomains or another start may find more"
                    .to_owned(),
            );
        }
        Ok((!notes.is_empty()).then(|| notes.join("; ")))
    }

    /// The pages that could not be had, and those that robots rules kept out.
    pub async fn errors(&self, caller: &Caller, kind: CrawlKind, id: Uuid) -> Result<JobErrors, WireError> {
        let crawl = self.find(caller, kind, id).await?;
        let mut told = JobErrors { success: true, ..JobErrors::default() };
        let failed = self.lines(&crawl, EntryState::Failed, MOST_ERRORS, |line| {
            told.errors.push(page_error(&crawl, line));
        });
        let all_failed = failed.await?;
        let skipped = self.lines(&crawl, EntryState::Skipped, MOST_LOOKED_AT, |line| {
            if is_blocked(&line) && told.robots_blocked.len() < MOST_ERRORS {
                told.robots_blocked.push(line.url);
            }
        });
        if !(skipped.await? && all_failed) {
            let path = path(kind);
            told.warning =
                Some(format!("there is more than is listed here; {path}/{id}/ledger has all of it"));
        }
        Ok(told)
    }

    /// Hands over the lines in a state, `most` of them; whether these were all.
    async fn lines(
        &self,
        crawl: &Crawl,
        state: EntryState,
        most: usize,
        mut take: impl FnMut(Entry),
    ) -> Result<bool, WireError> {
        let (mut after, mut taken) = (0, 0);
        while taken < most {
            let lines = self.store.crawl_entries(crawl.id, Some(state), after, LINES).await;
            let lines = lines.map_err(from_store)?;
            let full = lines.len() >= LINES as usize;
            taken += lines.len();
            for line in lines {
                after = line.seq;
                take(line);
            }
            if !full {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lines of the ledger.
    pub async fn ledger(
        &self,
        caller: &Caller,
        kind: CrawlKind,
        id: Uuid,
        asked: &LedgerQuery,
        base_url: &str,
    ) -> Result<LedgerPage, WireError> {
        let mut issues = Issues::default();
        let limit = asked.limit.unwrap_or(LINES);
        issues.range("limit", limit, &(1..=LINES));
        issues.range("after", asked.after, &(0..=MOST_SKIPPED));
        let state = asked.state.as_deref().map(|name| {
            let known = STATES.iter().find(|(_, word)| *word == name).map(|(state, _)| *state);
            if known.is_none() {
                let words: Vec<&str> = STATES.iter().map(|(_, word)| *word).collect();
                issues.add("state", &format!("must be one of {}", words.join(", ")), "invalid_value");
            }
            known
        });
        issues.finish()?;
        let crawl = self.find(caller, kind, id).await?;
        let lines = self.store.crawl_entries(crawl.id, state.flatten(), asked.after, limit).await;
        let data: Vec<LedgerLine> = lines.map_err(from_store)?.into_iter().map(ledger_line).collect();
        let full = data.len() >= limit as usize;
        let next = data.last().filter(|_| full).map(|last| {
            let state = asked.state.as_deref().map(|word| format!("&state={word}")).unwrap_or_default();
            let (path, number) = (path(kind), last.number);
            format!("{base_url}{path}/{id}/ledger?after={number}&limit={limit}{state}")
        });
        Ok(LedgerPage { success: true, data, next })
    }

    /// The caller's crawls that run, newest first.
    pub async fn active(&self, caller: &Caller) -> Result<Vec<ActiveCrawl>, WireError> {
        let crawls = self.store.active_crawls(caller.team, CrawlKind::Crawl, MOST_ACTIVE).await;
        crawls.map_err(from_store)?.into_iter().map(active).collect()
    }

    /// Ends it, whatever is open in it. Cancelling twice is no mistake.
    pub async fn cancel(&self, caller: &Caller, kind: CrawlKind, id: Uuid) -> Result<(), WireError> {
        self.find(caller, kind, id).await?;
        match self.store.cancel_crawl(caller.team, id).await.map_err(from_store)? {
            CancelOutcome::Cancelled
            | CancelOutcome::Requested
            | CancelOutcome::AlreadyRequested
            | CancelOutcome::AlreadyFinished(JobState::Cancelled) => Ok(()),
            CancelOutcome::AlreadyFinished(_) => Err(match kind {
                CrawlKind::Crawl => Kind::CrawlFinished.into(),
                CrawlKind::Batch => Kind::BatchFinished.into(),
            }),
            CancelOutcome::NotFound => Err(Kind::JobNotFound.into()),
        }
    }
}

/// The largest number that every store and every JSON client holds exactly.
const MOST_SKIPPED: u64 = 9_007_199_254_740_991;

/// Which documents to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    pub skip: u64,
    pub limit: Option<u64>,
}

impl Window {
    fn of(asked: &PageQuery) -> Result<Self, WireError> {
        let number = |name: &str, text: Option<&str>, least: u64, most: u64| match text.map(str::parse) {
            None => Ok(None),
            Some(Ok(number)) if (least..=most).contains(&number) => Ok(Some(number)),
            Some(_) => {
                let why = format!("{name} must be a whole number from {least} to {most}");
                Err(WireError::because(Kind::InvalidPagination, &why))
            }
        };
        Ok(Self {
            skip: number("skip", asked.skip.as_deref(), 0, MOST_SKIPPED)?.unwrap_or(0),
            limit: number("limit", asked.limit.as_deref(), 1, MOST_ON_PAGE)?,
        })
    }

    /// Only when there is more by now: clients follow it at once, and ask again and again for what is not there yet.
    fn next(self, crawl: &Crawl, page: &Documents, base_url: &str) -> Option<String> {
        let more = page.last > self.skip && page.last < crawl.counts.completed;
        more.then(|| {
            let (path, id, last) = (path(crawl.kind), crawl.id, page.last);
            let limit = self.limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
            format!("{base_url}{path}/{id}?skip={last}{limit}")
        })
    }
}

impl Documents {
    fn fill(mut self, kept: &[KeptDocument]) -> Result<Self, WireError> {
        for document in kept {
            if self.json.len() >= PAGE_BYTES {
                break;
            }
            let json = unpacked(document)?;
            if !self.json.is_empty() {
                self.json.push(b',');
            }
            self.json.extend_from_slice(&json);
            self.last = document.number;
        }
        Ok(self)
    }
}

/// A document as JSON.
pub(super) fn unpacked(document: &KeptDocument) -> Result<Vec<u8>, WireError> {
    cache::unpack(&document.body).map_err(|error| {
        tracing::error!(%error, url = document.url, "a stored document cannot be read");
        WireError::from(Kind::Internal)
    })
}

/// The numbers of a crawl as they are told.
pub fn head(crawl: &Crawl) -> JobHead {
    let counts = crawl.counts;
    let failed_to_start = crawl.state == CrawlState::Failed && counts.completed == 0;
    let kept = if crawl.private { PRIVATE_KEPT } else { KEPT };
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let until = crawl.finished_at.unwrap_or(crawl.now);
    JobHead {
        success: !failed_to_start,
        status: match crawl.state {
            CrawlState::Active => "scraping",
            CrawlState::Completed => "completed",
            CrawlState::Failed => "failed",
            CrawlState::Cancelled => "cancelled",
        },
        completed: counts.completed,
        total: counts.discovered.saturating_sub(counts.skipped),
        credits_used: crawl.credits,
        expires_at: time::iso(crawl.expires_at.unwrap_or(crawl.now + millis(kept))),
        created_at: time::iso(crawl.created_at),
        completed_at: crawl.finished_at.map(time::iso),
        duration: (until - crawl.created_at).max(0) as f64 / 1000.0,
        discovered: counts.discovered,
        queued: counts.queued + counts.running + counts.fetched,
        failed: counts.failed,
        skipped: counts.skipped,
        cancelled: counts.cancelled,
        error: crawl.error.clone().filter(|_| !is_live(crawl)),
        warning: None,
        next: None,
    }
}

const STATES: [(EntryState, &str); 7] = [
    (EntryState::Queued, "queued"),
    (EntryState::Running, "running"),
    (EntryState::Fetched, "fetched"),
    (EntryState::Completed, "completed"),
    (EntryState::Failed, "failed"),
    (EntryState::Skipped, "skipped"),
    (EntryState::Cancelled, "cancelled"),
];

fn state_word(state: EntryState) -> &'static str {
    STATES.iter().find(|(known, _)| *known == state).map_or("queued", |(_, word)| *word)
}

/// Whether robots rules kept it out.
fn is_blocked(line: &Entry) -> bool {
    line.reason.as_deref().is_some_and(|word| word.starts_with("robots"))
}

/// Why a line failed. What was not written by a worker is a sentence by itself.
fn failure(reason: Option<&str>) -> (Option<String>, String) {
    let reason = reason.unwrap_or("the page was given up");
    match serde_json::from_str::<Failure>(reason) {
        Ok(failure) => (Some(failure.code), failure.error),
        Err(_) => (None, reason.to_owned()),
    }
}

fn page_error(crawl: &Crawl, line: Entry) -> PageError {
    let (code, error) = failure(line.reason.as_deref());
    PageError {
        id: format!("{}-{}", crawl.id, line.seq),
        timestamp: line.ended_at.or(crawl.finished_at).map(time::iso),
        url: line.url,
        code,
        error,
    }
}

fn ledger_line(line: Entry) -> LedgerLine {
    let (reason, error) = match line.state {
        EntryState::Failed => {
            let (code, error) = failure(line.reason.as_deref());
            (code, Some(error))
        }
        EntryState::Skipped => (line.reason, None),
        // Open, after an attempt that failed.
        _ => (None, line.reason),
    };
    LedgerLine {
        number: line.seq,
        url: line.url,
        depth: line.depth,
        state: state_word(line.state),
        reason,
        error,
        attempts: line.attempts,
        ended_at: line.ended_at.map(time::iso),
    }
}

fn active(crawl: Crawl) -> Result<ActiveCrawl, WireError> {
    let order = order_of(&crawl)?;
    Ok(ActiveCrawl {
        id: crawl.id,
        team_id: crawl.team_id,
        url: order.start.clone().unwrap_or_default(),
        created_at: time::iso(crawl.created_at),
        options: options(order, crawl.limit),
    })
}

/// An order as it could have been asked for.
fn options(order: Order, limit: Option<u64>) -> CrawlRequest {
    let follow = order.follow;
    let sitemap = match follow.sitemap {
        SitemapUse::Include => "include",
        SitemapUse::Skip => "skip",
        SitemapUse::Only => "only",
    };
    CrawlRequest {
        url: order.start,
        include_paths: Some(follow.include_paths),
        exclude_paths: Some(follow.exclude_paths),
        regex_on_full_url: Some(follow.regex_on_full_url),
        max_discovery_depth: follow.max_discovery_depth.map(i64::from),
        sitemap: Some(sitemap.to_owned()),
        ignore_query_parameters: Some(follow.ignore_query),
        deduplicate_similar_urls: Some(follow.similar_are_one),
        limit: limit.and_then(|limit| i64::try_from(limit).ok()),
        crawl_entire_domain: Some(follow.crawl_entire_domain),
        allow_external_links: Some(follow.allow_external_links),
        allow_subdomains: Some(follow.allow_subdomains),
        ignore_robots_txt: Some(follow.ignore_robots),
        robots_user_agent: follow.robots_agent,
        webhook: order.webhook.map(|hook| WebhookAsked::Plain(hook.url)),
        scrape_options: Some(order.scrape),
        zero_data_retention: Some(order.private),
        ..CrawlRequest::default()
    }
}

#[cfg(test)]
mod tests;
