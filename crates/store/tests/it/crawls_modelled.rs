//! A crawl as the rules describe it, in memory, and the steps of its random lives.

use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use store::crawls::{
    CrawlKind, CrawlState, EntryCounts, EntryDecision, EntryKey, EntryState, NewEntry, NewEntryKind,
};
use uuid::Uuid;

#[derive(Debug, Clone)]
pub enum CrawlAction {
    Start { is_batch: bool, seed: u64, count: u64, limit: Option<u64>, with_lists: bool },
    Claim { limit: u32, silent: bool },
    End { which: usize, how: How },
    StaleEnd { which: usize },
    Keep,
    Settle { which: usize, most: u32, retrying: bool, seed: u64, found: u64, revive: bool },
    Append { which: usize, seed: u64, count: u64 },
    Cancel { which: usize },
    Fail { which: usize },
    Sweep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Document,
    Nothing,
    Retry,
    HandBack,
}

pub fn steps() -> impl Strategy<Value = Vec<CrawlAction>> {
    let how = prop_oneof![
        6 => Just(How::Document),
        1 => Just(How::Nothing),
        2 => Just(How::Retry),
        1 => Just(How::HandBack),
    ];
    let start = (any::<bool>(), 0..20_u64, 0..6_u64, proptest::option::of(0..5_u64), any::<bool>());
    let settle = (any::<usize>(), 1..5_u32, any::<bool>(), 0..20_u64, 0..5_u64, any::<bool>());
    let step = prop_oneof![
        2 => start.prop_map(|(is_batch, seed, count, limit, with_lists)| {
            CrawlAction::Start { is_batch, seed, count, limit, with_lists }
        }),
        6 => (1..5_u32, prop::bool::weighted(0.25)).prop_map(|(limit, silent)| CrawlAction::Claim { limit, silent }),
        10 => (any::<usize>(), how).prop_map(|(which, how)| CrawlAction::End { which, how }),
        1 => any::<usize>().prop_map(|which| CrawlAction::StaleEnd { which }),
        1 => Just(CrawlAction::Keep),
        7 => settle.prop_map(|(which, most, retrying, seed, found, revive)| {
            CrawlAction::Settle { which, most, retrying, seed, found, revive }
        }),
        1 => (any::<usize>(), 0..20_u64, 0..4_u64)
            .prop_map(|(which, seed, count)| CrawlAction::Append { which, seed, count }),
        1 => any::<usize>().prop_map(|which| CrawlAction::Cancel { which }),
        1 => any::<usize>().prop_map(|which| CrawlAction::Fail { which }),
        2 => Just(CrawlAction::Sweep),
    ];
    vec(step, 1..50)
}

#[derive(Debug, Clone)]
pub struct ModelledEntry {
    pub key: EntryKey,
    pub state: EntryState,
    pub is_lists: bool,
    pub attempts: u32,
    pub has_document: bool,
}

#[derive(Debug)]
pub struct Modelled {
    pub id: Uuid,
    pub kind: CrawlKind,
    pub state: CrawlState,
    limit: Option<u64>,
    pub entries: BTreeMap<u64, ModelledEntry>,
    /// Numbers of entries, in the order of their documents.
    pub documents: Vec<u64>,
}

impl Modelled {
    pub fn new(id: Uuid, kind: CrawlKind, limit: Option<u64>) -> Self {
        let (entries, documents) = (BTreeMap::new(), Vec::new());
        Self { id, kind, state: CrawlState::Active, limit, entries, documents }
    }

    pub fn is_live(&self) -> bool {
        self.state == CrawlState::Active
    }

    pub fn number_of(&self, key: EntryKey) -> Option<u64> {
        self.entries.iter().find(|(_, entry)| entry.key == key).map(|(seq, _)| *seq)
    }

    /// How many of these are new.
    pub fn add(&mut self, new: &[NewEntry]) -> u64 {
        let before = self.entries.len();
        for entry in new {
            if self.number_of(entry.key).is_none() {
                let state = match entry.kind {
                    NewEntryKind::Skipped(_) => EntryState::Skipped,
                    NewEntryKind::Page | NewEntryKind::Lists => EntryState::Queued,
                };
                let is_lists = entry.kind == NewEntryKind::Lists;
                let one = ModelledEntry { key: entry.key, state, is_lists, attempts: 0, has_document: false };
                self.entries.insert(self.entries.len() as u64 + 1, one);
            }
        }
        (self.entries.len() - before) as u64
    }

    fn count(&self, is_lists: bool, states: &[EntryState]) -> u64 {
        let counted =
            self.entries.values().filter(|one| one.is_lists == is_lists && states.contains(&one.state));
        counted.count() as u64
    }

    pub fn end_if_done(&mut self) {
        let at_work = [EntryState::Running, EntryState::Fetched];
        let open = [EntryState::Queued, EntryState::Running, EntryState::Fetched];
        let any = |states: &[EntryState]| self.count(false, states) + self.count(true, states) > 0;
        let full = self.limit.is_some_and(|limit| self.documents.len() as u64 >= limit);
        if self.is_live() && !any(if full { &at_work } else { &open }) {
            self.state = CrawlState::Completed;
        }
    }

    /// The entries that may start, the lowest numbers first.
    pub fn startable(&self, most: usize) -> Vec<u64> {
        if !self.is_live() {
            return Vec::new();
        }
        let taken = self.count(false, &[EntryState::Completed, EntryState::Running, EntryState::Fetched]);
        let mut room = self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(taken));
        let mut found = Vec::new();
        for (seq, entry) in &self.entries {
            if entry.state == EntryState::Queued && found.len() < most && (entry.is_lists || room > 0) {
                room -= u64::from(!entry.is_lists);
                found.push(*seq);
            }
        }
        found
    }

    /// What can be settled: with patience, not what comes after an entry in its first attempt.
    pub fn ready(&self, most: usize, retrying: bool) -> Vec<u64> {
        let waits = retrying && self.kind == CrawlKind::Crawl;
        let before = self
            .entries
            .iter()
            .take_while(|(_, one)| !(waits && one.state == EntryState::Running && one.attempts == 1));
        before.filter(|(_, one)| one.state == EntryState::Fetched).map(|(seq, _)| *seq).take(most).collect()
    }

    pub fn settle_entry(&mut self, seq: u64, decision: &EntryDecision) {
        let entry = self.entries.get_mut(&seq).expect("a known entry");
        entry.state = match decision {
            EntryDecision::Completed => EntryState::Completed,
            EntryDecision::Failed(_) => EntryState::Failed,
            EntryDecision::Skipped(_) => EntryState::Skipped,
        };
        if *decision == EntryDecision::Completed && !entry.is_lists {
            self.documents.push(seq);
        }
    }

    /// Queues every skipped page again; all numbers that are asked for.
    pub fn revive(&mut self) -> Vec<u64> {
        for entry in self.entries.values_mut() {
            if entry.state == EntryState::Skipped && !entry.is_lists {
                (entry.state, entry.attempts, entry.has_document) = (EntryState::Queued, 0, false);
            }
        }
        self.entries.keys().copied().collect()
    }

    /// How an entry reads.
    fn reads(&self, entry: &ModelledEntry) -> EntryState {
        let open = matches!(entry.state, EntryState::Queued | EntryState::Running | EntryState::Fetched);
        match self.state {
            CrawlState::Completed if open => EntryState::Skipped,
            CrawlState::Failed if open => EntryState::Failed,
            CrawlState::Cancelled if open => EntryState::Cancelled,
            _ => entry.state,
        }
    }

    pub fn lines(&self) -> Vec<(u64, EntryState, u32)> {
        let pages = self.entries.iter().filter(|(_, one)| !one.is_lists);
        pages.map(|(seq, one)| (*seq, self.reads(one), one.attempts)).collect()
    }

    pub fn counts(&self) -> EntryCounts {
        let lines = self.lines();
        let count = |state| lines.iter().filter(|line| line.1 == state).count() as u64;
        let open = [EntryState::Queued, EntryState::Running, EntryState::Fetched];
        EntryCounts {
            discovered: lines.len() as u64,
            queued: count(EntryState::Queued),
            running: count(EntryState::Running),
            fetched: count(EntryState::Fetched),
            completed: count(EntryState::Completed),
            failed: count(EntryState::Failed),
            skipped: count(EntryState::Skipped),
            cancelled: count(EntryState::Cancelled),
            reading_lists: if self.is_live() { self.count(true, &open) } else { 0 },
        }
    }
}
