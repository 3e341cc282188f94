//! Kinds and states as both schemas keep them, and how the entries of an ended crawl read.

use crate::crawls::{CrawlKind, CrawlState, EntryState};
use crate::{StoreError, StoreResult};

/// The word of an entry that was open when the limit was reached.
pub(crate) const LIMIT: &str = "limit";

pub(crate) fn kind_number(kind: CrawlKind) -> i64 {
    match kind {
        CrawlKind::Crawl => 0,
        CrawlKind::Batch => 1,
    }
}

pub(crate) fn kind(number: i64) -> StoreResult<CrawlKind> {
    Ok(match number {
        0 => CrawlKind::Crawl,
        1 => CrawlKind::Batch,
        other => return Err(StoreError::Database(format!("there is no kind of crawl {other}"))),
    })
}

/// What its credits are for, and its endpoint among the team's activity.
pub(crate) fn purpose(kind: CrawlKind) -> &'static str {
    match kind {
        CrawlKind::Crawl => "crawl",
        CrawlKind::Batch => "batch_scrape",
    }
}

pub(crate) fn crawl_state_number(state: CrawlState) -> i64 {
    match state {
        CrawlState::Active => 0,
        CrawlState::Completed => 1,
        CrawlState::Failed => 2,
        CrawlState::Cancelled => 3,
    }
}

pub(crate) fn crawl_state(number: i64) -> StoreResult<CrawlState> {
    Ok(match number {
        0 => CrawlState::Active,
        1 => CrawlState::Completed,
        2 => CrawlState::Failed,
        3 => CrawlState::Cancelled,
        other => return Err(StoreError::Database(format!("there is no state of a crawl {other}"))),
    })
}

/// `None` for what no row says of itself: an entry is cancelled by the end of its crawl alone.
pub(crate) fn entry_state_number(state: EntryState) -> Option<i64> {
    Some(match state {
        EntryState::Queued => 0,
        EntryState::Running => 1,
        EntryState::Fetched => 2,
        EntryState::Completed => 3,
        EntryState::Failed => 4,
        EntryState::Skipped => 5,
        EntryState::Cancelled => return None,
    })
}

fn entry_state(number: i64) -> StoreResult<EntryState> {
    Ok(match number {
        0 => EntryState::Queued,
        1 => EntryState::Running,
        2 => EntryState::Fetched,
        3 => EntryState::Completed,
        4 => EntryState::Failed,
        5 => EntryState::Skipped,
        other => return Err(StoreError::Database(format!("there is no state of an entry {other}"))),
    })
}

/// What becomes of open entries when their crawl stands so; a live crawl leaves them as they are.
fn open_become(crawl: CrawlState) -> Option<EntryState> {
    match crawl {
        CrawlState::Active => None,
        CrawlState::Completed => Some(EntryState::Skipped),
        CrawlState::Failed => Some(EntryState::Failed),
        CrawlState::Cancelled => Some(EntryState::Cancelled),
    }
}

const OPEN: [i64; 3] = [0, 1, 2];

/// How an entry reads: as its row says, or as its crawl's end made it. Whether the end did.
pub(crate) fn entry_reads(number: i64, crawl: CrawlState) -> StoreResult<(EntryState, bool)> {
    match open_become(crawl) {
        Some(state) if OPEN.contains(&number) => Ok((state, true)),
        _ => Ok((entry_state(number)?, false)),
    }
}

/// The states that rows of entries have which read as `wanted` in a crawl that stands so.
pub(crate) fn rows_that_read(wanted: EntryState, crawl: CrawlState) -> Vec<i64> {
    let own = entry_state_number(wanted);
    match open_become(crawl) {
        Some(state) if state == wanted => own.into_iter().chain(OPEN).collect(),
        Some(_) => own.into_iter().filter(|number| !OPEN.contains(number)).collect(),
        None => own.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_crawl_says_what_became_of_open_entries() {
        for crawl in 0..4 {
            let crawl = crawl_state(crawl).unwrap();
            assert_eq!(crawl_state(crawl_state_number(crawl)).unwrap(), crawl);
            for number in 0..6 {
                let (reads, _) = entry_reads(number, crawl).unwrap();
                assert!(rows_that_read(reads, crawl).contains(&number), "{number} in {crawl:?} is found");
            }
        }
        assert_eq!(rows_that_read(EntryState::Queued, CrawlState::Cancelled), [0; 0]);
        assert_eq!(rows_that_read(EntryState::Cancelled, CrawlState::Cancelled), OPEN);
        assert_eq!(rows_that_read(EntryState::Cancelled, CrawlState::Active), [0; 0]);
        assert_eq!(entry_reads(1, CrawlState::Completed).unwrap(), (EntryState::Skipped, true));
        assert_eq!(entry_reads(3, CrawlState::Failed).unwrap(), (EntryState::Completed, false));
    }
}
