//! Snapshots for change tracking: each sees the one before it, and the oldest go when there are too many.

use crate::ground::{TestStore, a_moment, team};
use std::collections::HashSet;
use store::snapshots::NewSnapshot;

on_both!(an_exchange_returns_the_last_one, racing_exchanges_form_a_chain, the_oldest_snapshots_go);

fn snapshot(n: u8, body: &[u8]) -> NewSnapshot {
    NewSnapshot { key: [n; 32], url: format!("http://x.test/{n}"), tag: "a\0tag".into(), body: body.to_vec() }
}

async fn an_exchange_returns_the_last_one(ground: TestStore) {
    let store = &*ground.store;
    assert!(store.snapshot(ground.team, &[1; 32]).await.unwrap().is_none());
    assert!(store.exchange_snapshot(ground.team, snapshot(1, b"one")).await.unwrap().is_none());
    assert!(store.exchange_snapshot(ground.team, snapshot(2, b"else")).await.unwrap().is_none());
    a_moment().await;
    let last = store.exchange_snapshot(ground.team, snapshot(1, b"two")).await.unwrap().expect("the first");
    assert_eq!(last.body, b"one");
    let now = store.snapshot(ground.team, &[1; 32]).await.unwrap().expect("the second");
    assert_eq!(now.body, b"two");
    assert!(now.taken_at > last.taken_at);
    let other = team(store, "free").await;
    assert!(store.snapshot(other, &[1; 32]).await.unwrap().is_none());
    assert_eq!(store.snapshot_bytes().await.unwrap(), ground.counted("snapshots").await);
}

/// Whoever comes first sees nothing; every other sees exactly one that nobody else sees.
async fn racing_exchanges_form_a_chain(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..20_u8 {
        let (store, team) = (stores[usize::from(n) % 2].clone(), ground.team);
        tasks.spawn(async move { store.exchange_snapshot(team, snapshot(1, &[n])).await.unwrap() });
    }
    let mut seen = HashSet::new();
    let mut first = 0;
    while let Some(done) = tasks.join_next().await {
        match done.unwrap() {
            Some(last) => assert!(seen.insert(last.body.clone()), "seen twice: {:?}", last.body),
            None => first += 1,
        }
    }
    assert_eq!((first, seen.len()), (1, 19));
    let last = ground.store.snapshot(ground.team, &[1; 32]).await.unwrap().unwrap();
    assert!(!seen.contains(&last.body), "the one that stands was not seen yet");
}

async fn the_oldest_snapshots_go(ground: TestStore) {
    let store = &*ground.store;
    for n in 0..4 {
        store.exchange_snapshot(ground.team, snapshot(n, &[n; 1000])).await.unwrap();
        a_moment().await;
    }
    store.exchange_snapshot(ground.team, snapshot(0, &[9; 1000])).await.unwrap();
    let total = u64::try_from(store.snapshot_bytes().await.unwrap()).unwrap();
    assert_eq!(store.evict_snapshots(total, 100).await.unwrap(), 0);
    assert_eq!(store.evict_snapshots(total - 1, 100).await.unwrap(), 1);
    assert!(store.snapshot(ground.team, &[1; 32]).await.unwrap().is_none(), "the oldest");
    assert!(store.snapshot(ground.team, &[0; 32]).await.unwrap().is_some(), "it was taken anew");
    assert_eq!(store.evict_snapshots(0, 2).await.unwrap(), 2);
    assert_eq!(store.evict_snapshots(0, 2).await.unwrap(), 1);
    assert_eq!(store.snapshot_bytes().await.unwrap(), 0);
    assert_eq!(store.cache_bytes().await.unwrap(), 0, "a ceiling of their own");
}
