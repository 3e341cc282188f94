//! Which of a crawl's queued entries start: the lowest numbers whose time has come and whose host is not held back.
//!
//! A claim scans a bounded number of entries from the front of the queue. When all of these must wait, it scans
//! as many again further back, from where the claim before it left off, so that entries of a paused host cost
//! little and do not keep others from starting.

use crate::Millis;
use std::collections::HashSet;

/// A queued entry, with its host's pace.
#[derive(Debug, Clone)]
pub(crate) struct QueuedEntry {
    pub seq: i64,
    pub url: String,
    pub host: String,
    pub depth: u32,
    pub is_lists: bool,
    pub run_at: Millis,
    /// Nothing of the host starts before this.
    pub host_at: Millis,
    /// The host's gap between starts; 0 without one.
    pub host_gap: Millis,
}

/// One scan of the queue of one crawl.
#[derive(Debug)]
pub(crate) struct QueueScan {
    wanted: usize,
    pages: u64,
    now: Millis,
    scan_from: i64,
    /// Where the first window ended, when it did not end with the queue.
    front_end: Option<i64>,
    saw_all: bool,
    soonest: Option<Millis>,
    /// What starts, in the order of numbers.
    pub taken: Vec<QueuedEntry>,
    /// Hosts whose next start must wait for their gap.
    pub paced: HashSet<String>,
}

impl QueueScan {
    pub(crate) fn new(wanted: u32, pages: u64, scan_from: i64, now: Millis) -> Self {
        Self {
            wanted: wanted as usize,
            pages,
            now,
            scan_from,
            front_end: None,
            saw_all: false,
            soonest: None,
            taken: Vec::new(),
            paced: HashSet::new(),
        }
    }

    /// How many entries are scanned in one go.
    pub(crate) fn window(&self) -> usize {
        4 * self.wanted + 64
    }

    /// Takes the first entries when they are enough and all of them may start: mostly, no more need be looked at.
    pub(crate) fn take_first(&mut self, first: Vec<QueuedEntry>) -> bool {
        let starts = |one: &QueuedEntry| one.run_at.max(one.host_at) <= self.now && one.host_gap == 0;
        let enough =
            first.len() == self.wanted && first.len() as u64 <= self.pages && first.iter().all(starts);
        if enough {
            self.take_ready(first);
        }
        enough
    }

    /// Takes what may start from the front of the queue. Where to look on, when that was not enough.
    pub(crate) fn front(&mut self, window: Vec<QueuedEntry>) -> Option<i64> {
        let last = window.last().map(|entry| entry.seq);
        self.front_end = if window.len() < self.window() { None } else { last };
        self.saw_all = self.front_end.is_none();
        self.take_ready(window);
        let short = self.taken.len() < self.wanted;
        self.front_end.filter(|_| short).map(|end| end.max(self.scan_from))
    }

    /// Takes what may start from entries further back, after the number that [`QueueScan::front`] gave.
    pub(crate) fn behind(&mut self, from: i64, window: Vec<QueuedEntry>) {
        let at_end = window.len() < self.window();
        self.saw_all = at_end && self.front_end == Some(from);
        let last = window.last().map_or(from, |entry| entry.seq);
        self.scan_from = match self.take_ready(window) {
            Some(first) => first - 1,
            None if at_end => 0,
            None => last,
        };
    }

    /// The first that was taken of these.
    fn take_ready(&mut self, window: Vec<QueuedEntry>) -> Option<i64> {
        let mut first = None;
        for entry in window {
            if self.taken.len() == self.wanted {
                break;
            }
            if !entry.is_lists && self.pages == 0 {
                continue;
            }
            let at = if self.paced.contains(&entry.host) {
                self.now + entry.host_gap
            } else {
                entry.run_at.max(entry.host_at)
            };
            if at > self.now {
                self.soonest = Some(self.soonest.map_or(at, |soonest| soonest.min(at)));
                continue;
            }
            if entry.host_gap > 0 {
                self.paced.insert(entry.host.clone());
            }
            self.pages -= u64::from(!entry.is_lists);
            first.get_or_insert(entry.seq);
            self.taken.push(entry);
        }
        first
    }

    /// Where the next claim goes on scanning, and when it is worth its while.
    pub(crate) fn next(&self) -> (i64, Millis) {
        let idle = self.saw_all && self.taken.len() < self.wanted;
        (self.scan_from, self.soonest.filter(|_| idle).unwrap_or(self.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_000;

    fn entry(seq: i64, host: &str) -> QueuedEntry {
        QueuedEntry {
            seq,
            url: String::new(),
            host: host.into(),
            depth: 0,
            is_lists: false,
            run_at: 0,
            host_at: 0,
            host_gap: 0,
        }
    }

    fn numbers(scan: &QueueScan) -> Vec<i64> {
        scan.taken.iter().map(|entry| entry.seq).collect()
    }

    #[test]
    fn those_that_must_wait_are_passed_over() {
        let mut scan = QueueScan::new(3, 9, 0, NOW);
        let late = QueuedEntry { run_at: NOW + 7, ..entry(2, "a") };
        let paused = QueuedEntry { host_at: NOW + 5, ..entry(3, "b") };
        assert_eq!(scan.front(vec![entry(1, "a"), late, paused, entry(4, "a")]), None);
        assert_eq!(numbers(&scan), [1, 4]);
        assert_eq!(scan.next(), (0, NOW + 5), "all was seen: nothing before then");
    }

    #[test]
    fn the_first_are_taken_when_all_may_start() {
        let take_first = |pages, first: Vec<QueuedEntry>| {
            let mut scan = QueueScan::new(2, pages, 7, NOW);
            let enough = scan.take_first(first);
            assert_eq!(numbers(&scan).len(), if enough { 2 } else { 0 }, "all or none");
            assert_eq!(scan.next(), (7, NOW));
            enough
        };
        assert!(take_first(2, vec![entry(1, "a"), entry(2, "a")]));
        assert!(!take_first(1, vec![entry(1, "a"), entry(2, "a")]), "one past the limit");
        assert!(!take_first(2, vec![entry(1, "a")]));
        assert!(!take_first(2, vec![entry(1, "a"), QueuedEntry { run_at: NOW + 1, ..entry(2, "a") }]));
        assert!(!take_first(2, vec![entry(1, "a"), QueuedEntry { host_gap: 1, ..entry(2, "a") }]));
    }

    #[test]
    fn a_host_with_a_gap_gives_one() {
        let slow = |seq| QueuedEntry { host_gap: 40, ..entry(seq, "slow") };
        let mut scan = QueueScan::new(3, 9, 0, NOW);
        scan.front(vec![slow(1), slow(2), entry(3, "b"), slow(4)]);
        assert_eq!(numbers(&scan), [1, 3]);
        assert!(scan.paced.contains("slow") && scan.paced.len() == 1);
        assert_eq!(scan.next(), (0, NOW + 40));
    }

    #[test]
    fn lists_start_where_pages_may_not() {
        let mut scan = QueueScan::new(3, 1, 0, NOW);
        scan.front(vec![entry(1, "a"), entry(2, "a"), QueuedEntry { is_lists: true, ..entry(3, "a") }]);
        assert_eq!(numbers(&scan), [1, 3]);
    }

    #[test]
    fn whatever_may_start_is_found_behind_what_may_not() {
        // 1,000 entries of a paused host, then one of another.
        let queue: Vec<QueuedEntry> = (1..=1_000)
            .map(|seq| QueuedEntry { host_at: NOW + 99, ..entry(seq, "paused") })
            .chain([entry(1_001, "free")])
            .collect();
        let after = |from: i64, size: usize| -> Vec<QueuedEntry> {
            queue.iter().filter(|entry| entry.seq > from).take(size).cloned().collect()
        };
        let (mut scan_from, mut claims) = (0, 0);
        loop {
            claims += 1;
            let mut scan = QueueScan::new(1, 9, scan_from, NOW);
            let from = scan.front(after(0, scan.window())).expect("not all seen");
            scan.behind(from, after(from, scan.window()));
            let (on, next_at) = scan.next();
            assert_eq!(next_at, NOW, "there may be more");
            scan_from = on;
            if !scan.taken.is_empty() {
                assert_eq!((numbers(&scan), scan_from), (vec![1_001], 1_000));
                break;
            }
        }
        assert!(claims <= 1 + 1_001 / 68, "{claims} claims");
        // With nothing left there, the next scans start over.
        let mut scan = QueueScan::new(1, 9, scan_from, NOW);
        scan.front(after(0, scan.window()));
        scan.behind(scan_from, Vec::new());
        assert_eq!(scan.next(), (0, NOW));
    }
}
