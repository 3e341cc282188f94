//! What became of each address: the errors as clients read them, and the whole ledger.

use super::documents::MAX_SKIP;
use super::path;
use crate::crawl::outcome::EntryError;
use crate::crawl::start::Crawler;
use crate::wall::EMPTY_SHELL;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use store::crawls::{Crawl, CrawlKind, Entry, EntryState};
use stored_data::time;
use uuid::Uuid;
use wire::Issues;
use wire::crawl::{JobErrors, LedgerLine, LedgerPage, LedgerQuery, PageError};

/// Lines read in one go.
pub(super) const MAX_LEDGER_LINES: u32 = 1_000;
/// Errors that one response lists.
const MAX_ERRORS: usize = 10_000;
/// Skipped lines that are searched for those that robots rules excluded.
const MAX_ENTRIES_READ: usize = 100_000;

impl Crawler {
    /// The pages that could not be scraped, and those that robots rules excluded.
    pub fn errors<'a>(
        &'a self,
        caller: &'a Caller,
        kind: CrawlKind,
        id: Uuid,
    ) -> BoxFuture<'a, Result<JobErrors, Error>> {
        Box::pin(async move {
            let crawl = self.find(caller, kind, id).await?;
            let mut response = JobErrors { success: true, ..JobErrors::default() };
            let failed = self.lines(&crawl, EntryState::Failed, MAX_ERRORS, |line| {
                response.errors.push(page_error(&crawl, line));
            });
            let all_failed = failed.await?;
            let skipped = self.lines(&crawl, EntryState::Skipped, MAX_ENTRIES_READ, |line| {
                if is_blocked(&line) {
                    response.robots_blocked.push(line.url);
                }
            });
            let all_skipped = skipped.await?;
            let all_blocked = response.robots_blocked.len() <= MAX_ERRORS;
            response.robots_blocked.truncate(MAX_ERRORS);
            if !(all_failed && all_skipped && all_blocked) {
                let path = path(kind);
                response.warning =
                    Some(format!("there is more than is listed here; {path}/{id}/ledger has all of it"));
            }
            Ok(response)
        })
    }

    /// Hands over the lines in a state, `most` of them; whether these were all.
    async fn lines(
        &self,
        crawl: &Crawl,
        state: EntryState,
        most: usize,
        mut take: impl FnMut(Entry),
    ) -> Result<bool, Error> {
        let (mut after, mut taken) = (0, 0);
        while taken < most {
            let lines = self.store.crawl_entries(crawl.id, Some(state), after, MAX_LEDGER_LINES).await;
            let lines = lines.map_err(from_store)?;
            let full = lines.len() >= MAX_LEDGER_LINES as usize;
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
    pub fn ledger<'a>(
        &'a self,
        caller: &'a Caller,
        kind: CrawlKind,
        id: Uuid,
        asked: &'a LedgerQuery,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<LedgerPage, Error>> {
        Box::pin(async move {
            let mut issues = Issues::default();
            let limit = asked.limit.unwrap_or(MAX_LEDGER_LINES);
            issues.range("limit", limit, &(1..=MAX_LEDGER_LINES));
            issues.range("after", asked.after, &(0..=MAX_SKIP));
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
        })
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

/// Whether robots rules excluded it.
pub(super) fn is_blocked(line: &Entry) -> bool {
    line.reason.as_deref().is_some_and(|word| word.starts_with("robots"))
}

/// Whether the browser saw nothing of it but an empty shell, each time it was tried.
pub(super) fn is_shell(line: &Entry) -> bool {
    failure(line.reason.as_deref()).1.contains(EMPTY_SHELL)
}

/// Why a line failed. An error that was not written by a worker is plain text.
pub(super) fn failure(reason: Option<&str>) -> (Option<String>, String) {
    let reason = reason.unwrap_or("the page was given up");
    match serde_json::from_str::<EntryError>(reason) {
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
