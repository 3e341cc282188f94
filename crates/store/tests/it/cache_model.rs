//! Random lives of the cache, the records and the snapshots against a plain model of them in memory:
//! after every step what is there, what it weighs and what was charged are what the rules say.

use crate::ground::{HOUR, TestStore, cases, page, scrape};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;
use std::time::Duration;
use store::credits::NewReservation;
use store::scrapes::{NewScrape, Recorded};
use store::snapshots::NewSnapshot;
use uuid::Uuid;

on_both!(random_caches_match_the_model);

const KEYS: u8 = 6;

#[derive(Debug, Clone)]
enum CacheAction {
    Put {
        key: u8,
        size: usize,
    },
    /// Key and size of each scrape's page, and whether its credits were reserved.
    Record {
        batch: Vec<(u8, usize, bool)>,
    },
    RecordAgain,
    Touch {
        key: u8,
    },
    Sweep {
        ceiling: u64,
        limit: u32,
    },
    Exchange {
        key: u8,
        size: usize,
    },
    EvictSnapshots {
        ceiling: u64,
        limit: u32,
    },
}

fn steps() -> impl Strategy<Value = Vec<CacheAction>> {
    let size = || 0..3_000_usize;
    let step = prop_oneof![
        3 => (0..KEYS, size()).prop_map(|(key, size)| CacheAction::Put { key, size }),
        5 => vec((0..KEYS, size(), any::<bool>()), 1..5).prop_map(|batch| CacheAction::Record { batch }),
        1 => Just(CacheAction::RecordAgain),
        2 => (0..KEYS).prop_map(|key| CacheAction::Touch { key }),
        3 => (0..12_000_u64, 1..6_u32).prop_map(|(ceiling, limit)| CacheAction::Sweep { ceiling, limit }),
        3 => (0..KEYS, size()).prop_map(|(key, size)| CacheAction::Exchange { key, size }),
        1 => (0..8_000_u64, 1..4_u32).prop_map(|(ceiling, limit)| CacheAction::EvictSnapshots { ceiling, limit }),
    ];
    vec(step, 1..25)
}

/// What should be there: bodies, and the step in which each was written or touched last.
#[derive(Debug, Default)]
struct Model {
    pages: BTreeMap<u8, (Vec<u8>, usize)>,
    scrapes: BTreeMap<Uuid, usize>,
    snapshots: BTreeMap<u8, (Vec<u8>, usize)>,
    last: Vec<NewScrape>,
    used: i64,
}

struct Life {
    ground: TestStore,
    model: Model,
    now: usize,
}

impl Life {
    async fn step(&mut self, step: CacheAction) {
        // So that the store's clock tells the steps apart.
        tokio::time::sleep(Duration::from_millis(2)).await;
        self.now += 1;
        let (store, team) = (self.ground.store.clone(), self.ground.team);
        match step {
            CacheAction::Put { key, size } => {
                let body = vec![key; size];
                store.put_page(team, page(key, &body).into()).await.unwrap();
                self.model.pages.insert(key, (body, self.now));
            }
            CacheAction::Record { batch } => self.record(batch).await,
            CacheAction::RecordAgain => {
                let mut known = self.model.last.clone();
                known.retain(|one| self.model.scrapes.contains_key(&one.id));
                let outcomes = store.record_scrapes(known).await.unwrap();
                assert!(outcomes.iter().all(|one| *one == Recorded::KnownBefore), "{outcomes:?}");
            }
            CacheAction::Touch { key } => {
                let there = self.model.pages.get_mut(&key);
                assert_eq!(store.touch_page(team, &[key; 32]).await.unwrap(), there.is_some());
                if let Some((_, touched)) = there {
                    *touched = self.now;
                }
            }
            CacheAction::Sweep { ceiling, limit } => self.sweep(ceiling, limit).await,
            CacheAction::Exchange { key, size } => {
                let body = vec![key; size];
                let new =
                    NewSnapshot { key: [key; 32], url: "u".into(), tag: "t".into(), body: body.clone() };
                let last = store.exchange_snapshot(team, new).await.unwrap().map(|last| last.body);
                let expected = self.model.snapshots.insert(key, (body, self.now)).map(|(body, _)| body);
                assert_eq!(last, expected);
            }
            CacheAction::EvictSnapshots { ceiling, limit } => {
                let before = store.snapshot_bytes().await.unwrap();
                let evicted = store.evict_snapshots(ceiling, limit).await.unwrap();
                assert_room(before, store.snapshot_bytes().await.unwrap(), evicted, ceiling, limit);
                let mut gone = Vec::new();
                for (key, (_, taken)) in &self.model.snapshots {
                    if store.snapshot(team, &[*key; 32]).await.unwrap().is_none() {
                        gone.push((*key, *taken));
                    }
                }
                self.model.snapshots.retain(|key, _| !gone.iter().any(|(lost, _)| lost == key));
                assert_eq!(gone.len() as u64, evicted);
                let youngest = gone.iter().map(|(_, taken)| *taken).max().unwrap_or(0);
                assert!(self.model.snapshots.values().all(|(_, taken)| *taken >= youngest), "oldest first");
            }
        }
    }

    async fn record(&mut self, batch: Vec<(u8, usize, bool)>) {
        let (store, team) = (self.ground.store.clone(), self.ground.team);
        let mut scrapes = Vec::new();
        for (credits, (key, size, reserved)) in (0..).zip(batch) {
            let body = vec![key; size];
            let new = NewReservation {
                team_id: team,
                key_id: None,
                amount: 9,
                allowance: None,
                purpose: "scrape".into(),
                hold_for: HOUR,
            };
            let reservation = if reserved { store.reserve(new).await.unwrap() } else { None };
            let page = Some(page(key, &body));
            scrapes.push(NewScrape {
                page,
                credits,
                reservation,
                result: Some(body.clone()),
                ..scrape(team)
            });
            self.model.pages.insert(key, (body, self.now));
            self.model.used += credits;
        }
        let outcomes = store.record_scrapes(scrapes.clone()).await.unwrap();
        assert!(outcomes.iter().all(|one| *one == Recorded::Written), "{outcomes:?}");
        self.model.scrapes.extend(scrapes.iter().map(|one| (one.id, self.now)));
        self.model.last = scrapes;
    }

    async fn sweep(&mut self, ceiling: u64, limit: u32) {
        let (store, team) = (self.ground.store.clone(), self.ground.team);
        let before = store.cache_bytes().await.unwrap();
        let swept = store.sweep_cache(ceiling, limit).await.unwrap();
        assert_eq!(swept.expired, 0);
        assert_room(before, store.cache_bytes().await.unwrap(), swept.evicted, ceiling, limit);
        let (mut gone, mut kept) = (Vec::new(), Vec::new());
        for (key, (body, used)) in std::mem::take(&mut self.model.pages) {
            if store.cached_page(team, &[key; 32]).await.unwrap().is_some() {
                kept.push(used);
                self.model.pages.insert(key, (body, used));
            } else {
                gone.push(used);
            }
        }
        for (id, made) in std::mem::take(&mut self.model.scrapes) {
            if store.scrape(team, id).await.unwrap().is_some() {
                kept.push(made);
                self.model.scrapes.insert(id, made);
            } else {
                gone.push(made);
            }
        }
        assert_eq!(gone.len() as u64, swept.evicted);
        assert!(gone.iter().max() <= kept.iter().min() || kept.is_empty(), "the oldest go first");
    }

    async fn check(&self) {
        let (store, team) = (&*self.ground.store, self.ground.team);
        for (key, (body, _)) in &self.model.pages {
            let page = store.cached_page(team, &[*key; 32]).await.unwrap().expect("the page");
            assert_eq!(&page.body, body);
        }
        for (key, (body, _)) in &self.model.snapshots {
            assert_eq!(&store.snapshot(team, &[*key; 32]).await.unwrap().expect("the snapshot").body, body);
        }
        assert_eq!(store.cache_bytes().await.unwrap(), self.ground.counted("cache").await);
        assert_eq!(store.snapshot_bytes().await.unwrap(), self.ground.counted("snapshots").await);
        let balance = store.balance(team).await.unwrap();
        assert_eq!((balance.used, balance.reserved), (self.model.used, 0));
    }
}

/// Nothing goes while there is room; otherwise there is room afterwards, or as much went as was allowed.
fn assert_room(before: i64, after: i64, evicted: u64, ceiling: u64, limit: u32) {
    let ceiling = i64::try_from(ceiling).unwrap();
    assert_eq!(evicted > 0, before > ceiling, "{before} bytes, {ceiling} allowed, {evicted} went");
    assert!(after <= ceiling || evicted == u64::from(limit), "{after} bytes are left of {before}");
}

async fn random_caches_match_the_model(ground: TestStore) {
    let url = ground.url.clone();
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    for case in 0..cases(6, 200) {
        let steps = steps().new_tree(&mut runner).expect("steps").current();
        let store = ground.store.clone();
        let team = crate::ground::team(&*store, "free").await;
        let mut life = Life { ground: ground.with_team(team), model: Model::default(), now: 0 };
        // An empty cache to begin with: ceilings are for all teams together.
        while store.sweep_cache(0, 1_000).await.unwrap().evicted > 0 {}
        while store.evict_snapshots(0, 1_000).await.unwrap() > 0 {}
        for step in &steps {
            println!("case {case} on {url}: {step:?}");
            life.step(step.clone()).await;
            life.check().await;
        }
    }
}
