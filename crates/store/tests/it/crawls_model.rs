//! Random lives of crawls against a plain model of the ledger in memory: after every step each entry's state, the
//! counters, the documents and the credits are what the rules say.

use crate::crawls_ground::{batch, came_to_nothing, crawl, fetched, key, lists, page, request, skipped};
use crate::crawls_modelled::{CrawlAction, How, Modelled, steps};
use crate::ground::{HOUR, NOW, TestStore, a_moment, cases, team};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Store;
use store::admission::Admission;
use store::crawls::{
    Appended, AttemptEnd, CancelOutcome, CrawlKind, CrawlState, CrawlSweep, EntryClaim, EntryDecision,
    EntryLease, EntryState, NewCrawl, NewEntry, Settled, Settlement,
};
use store::work::LeaseStatus;
use uuid::Uuid;

on_both!(random_lives_of_crawls_match_the_model);

const MAX_ATTEMPTS: u32 = 2;
/// Few, so that links lead to what is known.
const KEYS: u64 = 14;

struct Life {
    store: Arc<dyn Store>,
    team: Uuid,
    crawls: Vec<Modelled>,
    held: Vec<(EntryLease, bool)>,
    stale: Vec<EntryLease>,
    used: i64,
}

fn entries(seed: u64, count: u64) -> Vec<NewEntry> {
    let numbers = (0..count).map(|n| (seed + n * n) % KEYS);
    numbers.map(|n| if n % 5 == 4 { skipped(n, "depth") } else { page(n) }).collect()
}

impl Life {
    fn pick(&self, which: usize) -> Option<usize> {
        (!self.crawls.is_empty()).then(|| which % self.crawls.len())
    }

    fn place(&self, id: Uuid) -> usize {
        self.crawls.iter().position(|one| one.id == id).expect("a known crawl")
    }

    /// Leases of crawls that have ended are lost.
    fn drop_leases(&mut self) {
        for (lease, silent) in std::mem::take(&mut self.held) {
            if self.crawls[self.place(lease.crawl)].is_live() {
                self.held.push((lease, silent));
            } else {
                self.stale.push(lease);
            }
        }
    }

    async fn step(&mut self, step: &CrawlAction) {
        match step {
            CrawlAction::Start { is_batch, seed, count, limit, with_lists } => {
                let new = if *is_batch { batch(self.team) } else { crawl(self.team) };
                let limit = limit.filter(|_| !is_batch);
                let mut first = entries(*seed, *count);
                if *with_lists {
                    first.insert(0, lists(KEYS + 1));
                }
                let mut modelled = Modelled::new(new.id, new.kind, limit);
                self.store.start_crawl(NewCrawl { limit, ..new }, first.clone()).await.unwrap();
                modelled.add(&first);
                modelled.end_if_done();
                self.crawls.push(modelled);
            }
            CrawlAction::Claim { limit, silent } => self.claim(*limit, *silent).await,
            CrawlAction::End { which, how } => self.end(*which, *how).await,
            CrawlAction::StaleEnd { which } => {
                if !self.stale.is_empty() {
                    let lease = self.stale[which % self.stale.len()];
                    assert_eq!(self.store.end_attempts(vec![(lease, fetched(1))]).await.unwrap(), [false]);
                }
            }
            CrawlAction::Keep => self.keep().await,
            CrawlAction::Settle { which, most, retrying, seed, found, revive } => {
                if let Some(place) = self.pick(*which) {
                    self.settle_ready(place, (*most, *retrying), *seed, *found, *revive).await;
                }
            }
            CrawlAction::Append { which, seed, count } => {
                if let Some(place) = self.pick(*which) {
                    self.append(place, &entries(*seed, *count)).await;
                }
            }
            CrawlAction::Cancel { which } | CrawlAction::Fail { which } => {
                if let Some(place) = self.pick(*which) {
                    self.stop(place, matches!(step, CrawlAction::Cancel { .. })).await;
                }
            }
            CrawlAction::Sweep => self.sweep().await,
        }
        self.drop_leases();
    }

    async fn claim(&mut self, limit: u32, silent: bool) {
        let lease_for = if silent { NOW } else { HOUR };
        let claimed = self.store.claim_entries(&EntryClaim { lease_for, ..request(limit) }).await.unwrap();
        let startable: usize = self.crawls.iter().map(|one| one.startable(usize::MAX).len()).sum();
        assert_eq!(claimed.len(), startable.min(limit as usize), "as many as may start");
        let mut by_crawl: BTreeMap<Uuid, Vec<u64>> = BTreeMap::new();
        for one in &claimed {
            by_crawl.entry(one.lease.crawl).or_default().push(one.lease.seq);
        }
        for (id, taken) in by_crawl {
            let place = self.place(id);
            assert_eq!(taken, self.crawls[place].startable(taken.len()), "the lowest numbers, in order");
        }
        for one in claimed {
            let place = self.place(one.lease.crawl);
            let entry = self.crawls[place].entries.get_mut(&one.lease.seq).expect("a known entry");
            entry.state = EntryState::Running;
            entry.attempts += 1;
            assert_eq!((one.attempt, one.is_lists), (entry.attempts, entry.is_lists));
            self.held.push((one.lease, silent));
        }
    }

    async fn end(&mut self, which: usize, how: How) {
        if self.held.is_empty() {
            return;
        }
        let (lease, _) = self.held.remove(which % self.held.len());
        self.stale.push(lease);
        let place = self.place(lease.crawl);
        let entry = self.crawls[place].entries.get_mut(&lease.seq).expect("a known entry");
        entry.has_document = how == How::Document;
        let (end, state) = match how {
            How::Document => (fetched(lease.seq), EntryState::Fetched),
            How::Nothing => (came_to_nothing(), EntryState::Fetched),
            How::Retry => (AttemptEnd::Retry { error: "e".into(), delay: NOW }, EntryState::Queued),
            How::HandBack => {
                entry.attempts -= 1;
                (AttemptEnd::HandBack, EntryState::Queued)
            }
        };
        entry.state = state;
        assert_eq!(self.store.end_attempts(vec![(lease, end)]).await.unwrap(), [true]);
    }

    async fn keep(&mut self) {
        let mut leases: Vec<EntryLease> = self.held.iter().map(|(lease, _)| *lease).collect();
        leases.extend(self.stale.iter().copied().take(3));
        let statuses = self.store.keep_entries(&leases, HOUR).await.unwrap();
        for (position, status) in statuses.into_iter().enumerate() {
            let expected = if position < self.held.len() { LeaseStatus::Held } else { LeaseStatus::Lost };
            assert_eq!(status, expected);
        }
        for (_, silent) in &mut self.held {
            *silent = false;
        }
    }

    async fn settle_ready(
        &mut self,
        place: usize,
        (most, retrying): (u32, bool),
        seed: u64,
        found: u64,
        revive: bool,
    ) {
        let crawl = &mut self.crawls[place];
        let unsettled =
            self.store.unsettled_crawl(crawl.id, most, if retrying { HOUR } else { NOW }).await.unwrap();
        let Some(unsettled) = unsettled else {
            assert!(!crawl.is_live());
            return;
        };
        let ready: Vec<u64> = unsettled.fetched.iter().map(|one| one.seq).collect();
        assert_eq!(ready, crawl.ready(most as usize, retrying), "what can be settled");
        let mut decisions = Vec::new();
        for one in &unsettled.fetched {
            assert_eq!(one.has_document, crawl.entries[&one.seq].has_document);
            let decision = match (seed + one.seq) % 4 {
                0 => EntryDecision::Failed("e".into()),
                1 => EntryDecision::Skipped("duplicate".into()),
                _ if one.has_document || one.is_lists => EntryDecision::Completed,
                _ => EntryDecision::Failed("nothing".into()),
            };
            crawl.settle_entry(one.seq, &decision);
            decisions.push((one.seq, decision));
        }
        let revived = if revive { crawl.revive() } else { Vec::new() };
        let found = entries(seed, found);
        crawl.add(&found);
        crawl.end_if_done();
        let credits = i64::try_from(decisions.len()).unwrap();
        self.used += credits;
        let settlement = Settlement { decisions, found, revived, credits, ..Settlement::default() };
        let version = unsettled.crawl.version;
        let late = self.store.settle_entries(crawl.id, version + 1, settlement.clone()).await.unwrap();
        assert_eq!(late, Settled::Overtaken);
        let settled = self.store.settle_entries(crawl.id, version, settlement).await.unwrap();
        assert_eq!(settled, Settled::Now(crawl.state));
    }

    async fn append(&mut self, place: usize, new: &[NewEntry]) {
        let crawl = &mut self.crawls[place];
        let appended = self
            .store
            .append_entries(self.team, crawl.id, new.to_vec(), None, Admission::default())
            .await
            .unwrap();
        if crawl.kind == CrawlKind::Crawl {
            assert_eq!(appended, Appended::NotFound);
        } else if matches!(crawl.state, CrawlState::Failed | CrawlState::Cancelled) {
            assert_eq!(appended, Appended::Ended(crawl.state));
        } else {
            assert_eq!(appended, Appended::Added(crawl.add(new)));
            crawl.state = CrawlState::Active;
            crawl.end_if_done();
        }
    }

    async fn stop(&mut self, place: usize, cancel: bool) {
        let crawl = &mut self.crawls[place];
        let stopped = if cancel {
            self.store.cancel_crawl(self.team, crawl.id).await.unwrap() == CancelOutcome::Cancelled
        } else {
            self.store.fail_crawl(crawl.id, "e".into(), Vec::new()).await.unwrap()
        };
        assert_eq!(stopped, crawl.is_live());
        if stopped {
            crawl.state = if cancel { CrawlState::Cancelled } else { CrawlState::Failed };
        }
    }

    async fn sweep(&mut self) {
        a_moment().await;
        let report = self.store.sweep_entries(MAX_ATTEMPTS).await.unwrap();
        let (lost, held): (Vec<_>, Vec<_>) = self.held.drain(..).partition(|(_, silent)| *silent);
        self.held = held;
        let mut expected = CrawlSweep::default();
        for (lease, _) in lost {
            self.stale.push(lease);
            let place = self.place(lease.crawl);
            let entry = self.crawls[place].entries.get_mut(&lease.seq).expect("a known entry");
            entry.has_document = false;
            if entry.attempts >= MAX_ATTEMPTS {
                entry.state = EntryState::Fetched;
                expected.abandoned += 1;
            } else {
                entry.state = EntryState::Queued;
                expected.requeued += 1;
            }
        }
        assert_eq!(report, expected);
    }

    async fn check(&self) {
        for modelled in &self.crawls {
            let crawl =
                self.store.crawl(self.team, modelled.id).await.unwrap().expect("every crawl is there");
            assert_eq!(crawl.state, modelled.state);
            assert_eq!(crawl.counts, modelled.counts());
            let lines = self.store.crawl_entries(modelled.id, None, 0, 1_000).await.unwrap();
            let lines: Vec<_> = lines.iter().map(|line| (line.seq, line.state, line.attempts)).collect();
            assert_eq!(lines, modelled.lines());
            let documents = self.store.crawl_documents(modelled.id, 0, 1_000, u64::MAX).await.unwrap();
            let documents: Vec<u64> = documents.iter().map(|one| one.seq).collect();
            assert_eq!(documents, modelled.documents);
            let known = self.store.entries_by_key(modelled.id, &[key(3), key(KEYS)]).await.unwrap();
            assert_eq!(known[0].as_ref().map(|one| one.seq), modelled.number_of(key(3)));
            assert_eq!(known[1], None);
        }
        assert_eq!(self.store.balance(self.team).await.unwrap().used, self.used);
    }

    /// Ends whatever is left, so that no case meets the crawls of another.
    async fn wind_up(&mut self) {
        for place in 0..self.crawls.len() {
            self.stop(place, true).await;
        }
        self.drop_leases();
        self.check().await;
        assert!(self.store.claim_entries(&request(100)).await.unwrap().is_empty());
    }
}

async fn random_lives_of_crawls_match_the_model(ground: TestStore) {
    let config = Config { cases: cases(16, 300), failure_persistence: None, ..Config::default() };
    tokio::task::block_in_place(|| {
        let runtime = tokio::runtime::Handle::current();
        TestRunner::new(config).run(&steps(), |steps| {
            runtime.block_on(async {
                let (store, team) = (ground.store.clone(), team(&*ground.store, "free").await);
                let (crawls, held, stale) = (Vec::new(), Vec::new(), Vec::new());
                let mut life = Life { store, team, crawls, held, stale, used: 0 };
                for step in &steps {
                    life.step(step).await;
                    life.check().await;
                }
                life.wind_up().await;
            });
            Ok::<(), TestCaseError>(())
        })
    })
    .expect("every life matches the model");
}
