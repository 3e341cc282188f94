//! What became of each address: the errors as clients read them, and the whole ledger.

use super::documents::MOST_SKIPPED;
use super::path;
use crate::callers::Caller;
use crate::crawl::outcome::Failure;
use crate::crawl::start::Crawler;
use crate::{from_store, time};
use store::crawls::{Crawl, CrawlKind, Entry, EntryState};
use uuid::Uuid;
use wire::crawl::{JobErrors, LedgerLine, LedgerPage, LedgerQuery, PageError};
use wire::{Issues, WireError};

/// Lines read in one go.
pub(super) const LINES: u32 = 1_000;
/// Errors that one answer lists.
const MOST_ERRORS: usize = 10_000;
/// Skipped lines that are looked through for those that robots rules kept out.
const MOST_LOOKED_AT: usize = 100_000;

impl Crawler {
    /// The pages that could not be had, and those that robots rules kept out.
    pub async fn errors(&self, caller: &Caller, kind: CrawlKind, id: Uuid) -> Result<JobErrors, WireError> {
        let crawl = self.find(caller, kind, id).await?;
        let mut told = JobErrors { success: true, ..JobErrors::default() };
        let failed = self.lines(&crawl, EntryState::Failed, MOST_ERRORS, |line| {
            told.errors.push(page_error(&crawl, line));
        });
        let all_failed = failed.await?;
        let skipped = self.lines(&crawl, EntryState::Skipped, MOST_LOOKED_AT, |line| {
            if is_blocked(&line) {
                told.robots_blocked.push(line.url);
            }
        });
        let all_skipped = skipped.await?;
        let all_told = told.robots_blocked.len() <= MOST_ERRORS;
        told.robots_blocked.truncate(MOST_ERRORS);
        if !(all_failed && all_skipped && all_told) {
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
pub(super) fn is_blocked(line: &Entry) -> bool {
    line.reason.as_deref().is_some_and(|word| word.starts_with("robots"))
}

/// Why a line failed. What was not written by a worker is a sentence by itself.
pub(super) fn failure(reason: Option<&str>) -> (Option<String>, String) {
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
