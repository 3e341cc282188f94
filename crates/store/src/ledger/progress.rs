//! How a crawl stands: its counters, and what changes them. A store reads a [`CrawlProgress`] inside the transaction
//! that changes it, lets it change here, and writes it back whole.

use super::numbers::purpose;
use crate::batch::Spender;
use crate::crawls::{CrawlKind, CrawlState, EntryDecision, EntryState, NewCrawl, NewEntryKind};
use crate::{Millis, StoreError, StoreResult, clock, weight};
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub discovered: i64,
    pub queued: i64,
    pub running: i64,
    pub fetched: i64,
    pub completed: i64,
    pub failed: i64,
    pub skipped: i64,
    pub cancelled: i64,
    pub lists_queued: i64,
    pub lists_running: i64,
    pub lists_fetched: i64,
}

impl Tally {
    pub(crate) fn discover(&mut self, kind: &NewEntryKind) {
        match kind {
            NewEntryKind::Lists => self.lists_queued += 1,
            NewEntryKind::Page => {
                self.discovered += 1;
                self.queued += 1;
            }
            NewEntryKind::Skipped(_) => {
                self.discovered += 1;
                self.skipped += 1;
            }
        }
    }

    /// A fetched entry is settled.
    pub(crate) fn settle_entry(&mut self, is_lists: bool, decision: &EntryDecision) {
        if is_lists {
            self.lists_fetched -= 1;
            return;
        }
        self.fetched -= 1;
        match decision {
            EntryDecision::Completed => self.completed += 1,
            EntryDecision::Failed(_) => self.failed += 1,
            EntryDecision::Skipped(_) => self.skipped += 1,
        }
    }

    pub(crate) fn revive(&mut self, pages: i64) {
        self.skipped -= pages;
        self.queued += pages;
    }

    fn is_done(&self, limit: Option<i64>) -> bool {
        let at_work = self.running + self.fetched + self.lists_running + self.lists_fetched;
        let waiting = self.queued + self.lists_queued;
        at_work == 0 && (waiting == 0 || limit.is_some_and(|limit| self.completed >= limit))
    }

    /// What is open becomes what the end makes of it.
    fn close(&mut self, end: CrawlState) {
        let open = self.queued + self.running + self.fetched;
        match end {
            CrawlState::Active => return,
            CrawlState::Completed => self.skipped += open,
            CrawlState::Failed => self.failed += open,
            CrawlState::Cancelled => self.cancelled += open,
        }
        (self.queued, self.running, self.fetched) = (0, 0, 0);
        (self.lists_queued, self.lists_running, self.lists_fetched) = (0, 0, 0);
    }
}

/// How counters change when entries are handed out or come back; nothing else about the crawl does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Moves {
    pub queued: i64,
    pub running: i64,
    pub fetched: i64,
    pub lists_queued: i64,
    pub lists_running: i64,
    pub lists_fetched: i64,
    /// Bytes of the documents that came.
    pub stored: i64,
}

impl Moves {
    pub(crate) fn add(&mut self, is_lists: bool, from: EntryState, to: EntryState) {
        for (state, change) in [(from, -1), (to, 1)] {
            let counter = match (is_lists, state) {
                (false, EntryState::Queued) => &mut self.queued,
                (false, EntryState::Running) => &mut self.running,
                (false, EntryState::Fetched) => &mut self.fetched,
                (true, EntryState::Queued) => &mut self.lists_queued,
                (true, EntryState::Running) => &mut self.lists_running,
                (true, EntryState::Fetched) => &mut self.lists_fetched,
                // Settled ones do not move by themselves.
                _ => continue,
            };
            *counter += change;
        }
    }

    /// Whether something went back to the queue.
    pub(crate) fn queue(&self) -> bool {
        self.queued > 0 || self.lists_queued > 0
    }
}

#[derive(Debug, Clone)]
pub(crate) struct CrawlProgress {
    pub id: Uuid,
    pub team: Uuid,
    pub key: Option<Uuid>,
    pub kind: CrawlKind,
    pub state: CrawlState,
    pub private: bool,
    pub limit: Option<i64>,
    pub reservation: Option<Uuid>,
    pub run_for: Millis,
    pub retain_for: Millis,
    pub tally: Tally,
    pub last_seq: i64,
    pub version: i64,
    /// Bytes of its documents that count.
    pub bytes: i64,
    /// Bytes of all that it stores: its request, its addresses, every document. Counted under the ceilings.
    pub stored: i64,
    pub credits: i64,
    pub not_before: Millis,
    pub next_at: Millis,
    pub deadline_at: Millis,
    pub finished_at: Option<Millis>,
    pub expires_at: Option<Millis>,
    pub error: Option<String>,
}

impl CrawlProgress {
    pub(crate) fn new(crawl: &NewCrawl, now: Millis) -> StoreResult<Self> {
        if crawl.kind == CrawlKind::Batch && crawl.limit.is_some() {
            return Err(StoreError::Misuse("a batch is as long as its list and has no limit".into()));
        }
        let run_for = clock::millis(crawl.deadline);
        Ok(Self {
            id: crawl.id,
            team: crawl.team_id,
            key: crawl.key_id,
            kind: crawl.kind,
            state: CrawlState::Active,
            private: crawl.private,
            limit: crawl.limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX)),
            reservation: crawl.reservation,
            run_for,
            retain_for: clock::millis(crawl.retain_for),
            tally: Tally::default(),
            last_seq: 0,
            version: 0,
            bytes: 0,
            stored: weight::length(crawl.request.len()),
            credits: 0,
            not_before: now,
            next_at: now,
            deadline_at: now + run_for,
            finished_at: None,
            expires_at: None,
            error: None,
        })
    }

    /// Whether it may be settled by who read this version.
    pub(crate) fn is_live_at(&self, version: u64) -> bool {
        self.state == CrawlState::Active && u64::try_from(self.version) == Ok(version)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.tally.is_done(self.limit)
    }

    /// Ends the crawl, whatever is open in it. The reservation that is to be closed with it.
    #[must_use]
    pub(crate) fn end(&mut self, end: CrawlState, error: Option<String>, now: Millis) -> Option<Uuid> {
        self.tally.close(end);
        self.state = end;
        self.error = error;
        self.version += 1;
        self.finished_at = Some(now);
        self.expires_at = Some(now + self.retain_for);
        self.reservation.take()
    }

    /// Whether it is a batch of this team whose time is not over.
    pub(crate) fn can_be_appended_to(&self, team: Uuid, now: Millis) -> bool {
        self.kind == CrawlKind::Batch && self.team == team && self.expires_at.is_none_or(|end| end > now)
    }

    /// A completed batch gets new entries; it is done again at once when there are none.
    pub(crate) fn reopen(&mut self) {
        self.state = CrawlState::Active;
        self.version += 1;
        (self.finished_at, self.expires_at) = (None, None);
    }

    /// Something was queued: the next claim looks, unless the crawl's own gap forbids it.
    pub(crate) fn scan_again(&mut self) {
        self.next_at = self.not_before;
    }

    /// Who pays when nothing was set aside.
    pub(crate) fn spender(&self, period: Millis) -> Spender {
        Spender { team: self.team, period, key: self.key, purpose: purpose(self.kind).into() }
    }
}

/// One entry runs at a time where there is a gap between starts.
pub(crate) fn max_running(crawl: &NewCrawl) -> Option<i64> {
    if crawl.gap.is_some() { Some(1) } else { crawl.max_running.map(i64::from) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(queued: i64, running: i64, completed: i64) -> Tally {
        Tally { discovered: queued + running + completed, queued, running, completed, ..Tally::default() }
    }

    #[test]
    fn a_crawl_is_done_when_nothing_is_open_or_the_limit_is_reached_and_nothing_at_work() {
        assert!(tally(0, 0, 3).is_done(None));
        assert!(!tally(1, 0, 3).is_done(None));
        assert!(!tally(1, 0, 3).is_done(Some(4)));
        assert!(tally(1, 0, 3).is_done(Some(3)));
        assert!(!tally(0, 1, 3).is_done(Some(3)));
        assert!(!Tally { lists_queued: 1, ..tally(0, 0, 3) }.is_done(None));
        assert!(Tally { lists_queued: 1, ..tally(0, 0, 3) }.is_done(Some(3)));
        assert!(!Tally { lists_fetched: 1, ..tally(0, 0, 3) }.is_done(Some(3)));
    }

    #[test]
    fn an_end_takes_every_open_entry_along() {
        let open = Tally { fetched: 2, discovered: 8, lists_running: 1, ..tally(3, 1, 2) };
        for (end, expected) in [
            (CrawlState::Completed, Tally { skipped: 6, ..tally(0, 0, 2) }),
            (CrawlState::Failed, Tally { failed: 6, ..tally(0, 0, 2) }),
            (CrawlState::Cancelled, Tally { cancelled: 6, ..tally(0, 0, 2) }),
        ] {
            let mut closed = open;
            closed.close(end);
            assert_eq!(closed, Tally { discovered: 8, ..expected });
        }
    }

    #[test]
    fn moves_keep_the_sum() {
        let mut moves = Moves::default();
        moves.add(false, EntryState::Queued, EntryState::Running);
        moves.add(true, EntryState::Running, EntryState::Fetched);
        assert_eq!(
            moves,
            Moves { queued: -1, running: 1, lists_running: -1, lists_fetched: 1, ..Moves::default() }
        );
        assert!(!moves.queue());
        moves.add(true, EntryState::Running, EntryState::Queued);
        assert!(moves.queue());
    }
}
