//! Records of scrapes: written whole in one go, charged once, kept for their time, seen by their team only.

use crate::ground::{HOUR, NOW, TestStore, a_moment, key, page, scrape, team};
use std::time::Duration;
use store::Store;
use store::activity::ActivityOutcome;
use store::audit_log::Actor;
use store::credits::{Balance, NewReservation};
use store::scrapes::{NewScrape, Recorded};
use uuid::Uuid;

on_both!(
    a_record_is_read_back_by_its_team_alone,
    a_scrape_leaves_page_activity_and_price,
    reservations_are_charged_and_closed,
    a_refused_record_does_not_hold_up_the_others,
    recording_twice_charges_once,
    unlimited_teams_are_metered,
    records_end_with_their_time,
    the_activity_says_who_stood_behind_it,
    odd_text_is_kept,
    many_at_once_add_up,
);

async fn record(store: &dyn Store, scrapes: Vec<NewScrape>) -> Vec<Recorded> {
    store.record_scrapes(scrapes).await.expect("recorded")
}

async fn reserve(ground: &TestStore, key_id: Option<Uuid>, amount: i64) -> Option<Uuid> {
    let new = NewReservation {
        team_id: ground.team,
        key_id,
        amount,
        allowance: Some(10_000),
        purpose: "scrape".into(),
        hold_for: HOUR,
    };
    ground.store.reserve(new).await.unwrap()
}

async fn balance(ground: &TestStore) -> (i64, i64) {
    let Balance { used, reserved, .. } = ground.store.balance(ground.team).await.unwrap();
    (used, reserved)
}

async fn a_record_is_read_back_by_its_team_alone(ground: TestStore) {
    let store = &*ground.store;
    let good = NewScrape { result: Some(vec![0, 255, 7]), credits: 3, ..scrape(ground.team) };
    let bad = NewScrape { ok: false, error: Some(r#"{"code":"X"}"#.into()), ..scrape(ground.team) };
    let (good_id, bad_id, url) = (good.id, bad.id, good.url.clone());
    assert_eq!(record(store, vec![good, bad]).await, [Recorded::Written, Recorded::Written]);

    let found = store.scrape(ground.team, good_id).await.unwrap().expect("the record");
    assert_eq!((found.id, found.url, found.ok, found.credits), (good_id, url, true, 3));
    assert_eq!((found.result, found.error, found.private), (Some(vec![0, 255, 7]), None, false));
    assert!(found.created_at > 1_700_000_000_000);
    let found = store.scrape(ground.team, bad_id).await.unwrap().expect("the record");
    assert_eq!((found.ok, found.error.as_deref(), found.result), (false, Some(r#"{"code":"X"}"#), None));

    let other = team(store, "free").await;
    assert!(store.scrape(other, good_id).await.unwrap().is_none());
    assert!(store.scrape(ground.team, Uuid::now_v7()).await.unwrap().is_none());
    assert!(record(store, Vec::new()).await.is_empty());
}

async fn a_scrape_leaves_page_activity_and_price(ground: TestStore) {
    let store = &*ground.store;
    let key_id = store.create_key(key(ground.team, "k"), &Actor::server()).await.unwrap().id;
    let one = NewScrape {
        key_id: Some(key_id),
        page: Some(page(1, b"body")),
        credits: 2,
        took: Some(Duration::from_millis(321)),
        ..scrape(ground.team)
    };
    let (id, url) = (one.id, one.url.clone());
    record(store, vec![one]).await;
    assert_eq!(store.cached_page(ground.team, &[1; 32]).await.unwrap().expect("the page").body, b"body");
    let seen = store.activity(ground.team, Some("scrape"), None, HOUR, 10).await.unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].id, seen[0].target.as_str()), (id, url.as_str()));
    assert_eq!((seen[0].key_name.as_deref(), seen[0].key_id), (Some("k"), Some(key_id)));
    assert_eq!((seen[0].credits, seen[0].took), (Some(2), Some(321)));
    assert_eq!(seen[0].outcome, Some(ActivityOutcome::Completed));
    record(store, vec![NewScrape { ok: false, credits: 0, ..scrape(ground.team) }]).await;
    let failed = &store.activity(ground.team, None, None, HOUR, 1).await.unwrap()[0];
    assert_eq!((failed.outcome, failed.credits, failed.took), (Some(ActivityOutcome::Failed), Some(0), None));
    assert_eq!(balance(&ground).await, (2, 0));
    let history = store.usage_history(ground.team, true).await.unwrap();
    assert_eq!((history[0].key.as_deref(), history[0].credits), (Some("k"), 2));
}

async fn reservations_are_charged_and_closed(ground: TestStore) {
    let store = &*ground.store;
    let (first, second) = (reserve(&ground, None, 5).await, reserve(&ground, None, 7).await);
    assert_eq!(balance(&ground).await, (0, 12));
    let batch = vec![
        NewScrape { reservation: first, credits: 1, ..scrape(ground.team) },
        // A failed scrape costs nothing; its reservation is released.
        NewScrape { reservation: second, credits: 0, ok: false, ..scrape(ground.team) },
    ];
    assert_eq!(record(store, batch).await, [Recorded::Written, Recorded::Written]);
    assert_eq!(balance(&ground).await, (1, 0));
    assert!(!store.close(first.unwrap()).await.unwrap(), "closed already");
    assert!(!store.close(second.unwrap()).await.unwrap(), "closed already");
    assert_eq!(store.usage_history(ground.team, false).await.unwrap()[0].credits, 1);
}

async fn a_refused_record_does_not_hold_up_the_others(ground: TestStore) {
    let store = &*ground.store;
    let closed = reserve(&ground, None, 5).await;
    store.close(closed.unwrap()).await.unwrap();
    let small = reserve(&ground, None, 1).await;
    let twice = scrape(ground.team);
    let batch = vec![
        NewScrape { reservation: closed, page: Some(page(1, b"no")), ..scrape(ground.team) },
        NewScrape { page: Some(page(2, b"yes")), ..scrape(ground.team) },
        NewScrape { reservation: small, credits: 2, ..scrape(ground.team) },
        NewScrape { credits: -1, ..scrape(ground.team) },
        twice.clone(),
        twice,
        NewScrape { reservation: Some(Uuid::now_v7()), ..scrape(ground.team) },
    ];
    let ids: Vec<Uuid> = batch.iter().map(|one| one.id).collect();
    let outcomes = record(store, batch).await;
    let written: Vec<bool> = outcomes.iter().map(|one| *one == Recorded::Written).collect();
    assert_eq!(written, [false, true, false, false, true, false, false], "{outcomes:?}");
    assert!(outcomes.iter().all(|one| *one != Recorded::KnownBefore));
    for refused in [0, 2, 3, 6] {
        assert!(store.scrape(ground.team, ids[refused]).await.unwrap().is_none(), "{refused}");
    }
    assert!(store.cached_page(ground.team, &[1; 32]).await.unwrap().is_none(), "nothing of it is written");
    assert!(store.cached_page(ground.team, &[2; 32]).await.unwrap().is_some());
    assert_eq!(store.activity(ground.team, None, None, HOUR, 10).await.unwrap().len(), 2);
    assert_eq!(balance(&ground).await, (2, 1), "two written at one each; the small reservation stays open");
}

async fn recording_twice_charges_once(ground: TestStore) {
    let store = &*ground.store;
    let reserved = NewScrape { reservation: reserve(&ground, None, 3).await, ..scrape(ground.team) };
    let metered = NewScrape { page: Some(page(1, b"first")), ..scrape(ground.team) };
    let batch = vec![reserved, metered];
    assert_eq!(record(store, batch.clone()).await, [Recorded::Written, Recorded::Written]);
    let bytes = store.cache_bytes().await.unwrap();
    let mut again = batch;
    again[1].page = Some(page(1, b"a repeat"));
    again.push(scrape(ground.team));
    let outcomes = record(store, again).await;
    assert_eq!(outcomes, [Recorded::KnownBefore, Recorded::KnownBefore, Recorded::Written]);
    assert_eq!(balance(&ground).await, (3, 0));
    assert_eq!(store.cached_page(ground.team, &[1; 32]).await.unwrap().unwrap().body, b"first");
    assert!(store.cache_bytes().await.unwrap() > bytes);
}

async fn unlimited_teams_are_metered(ground: TestStore) {
    let store = &*ground.store;
    let key_id = store.create_key(key(ground.team, "k"), &Actor::server()).await.unwrap().id;
    let batch = (0..5)
        .map(|n| NewScrape { key_id: Some(key_id).filter(|_| n % 2 == 0), credits: n, ..scrape(ground.team) })
        .collect();
    record(store, batch).await;
    assert_eq!(balance(&ground).await, (10, 0));
    let mut by_key: Vec<_> = store
        .usage_history(ground.team, true)
        .await
        .unwrap()
        .into_iter()
        .map(|period| (period.key, period.credits))
        .collect();
    by_key.sort();
    assert_eq!(by_key, [(None, 4), (Some("k".to_owned()), 6)]);
}

async fn records_end_with_their_time(ground: TestStore) {
    let store = &*ground.store;
    let (brief, long) = (NewScrape { keep_for: NOW, ..scrape(ground.team) }, scrape(ground.team));
    let ids = [brief.id, long.id];
    record(store, vec![brief, long]).await;
    a_moment().await;
    assert!(store.scrape(ground.team, ids[0]).await.unwrap().is_none(), "even before it is purged");
    assert!(store.scrape(ground.team, ids[1]).await.unwrap().is_some());
    assert_eq!(store.sweep_cache(u64::MAX, 100).await.unwrap().expired, 1);
    assert_eq!(store.sweep_cache(u64::MAX, 100).await.unwrap().expired, 0);
    assert!(store.scrape(ground.team, ids[1]).await.unwrap().is_some());
}

async fn the_activity_says_who_stood_behind_it(ground: TestStore) {
    let store = &*ground.store;
    let named = NewScrape { audit: Some("ada".into()), ..scrape(ground.team) };
    let (id, plain) = (named.id, scrape(ground.team));
    record(store, vec![named, plain]).await;
    let seen = store.activity(ground.team, None, None, HOUR, 10).await.unwrap();
    for entry in &seen {
        assert_eq!(entry.audit.as_deref(), (entry.id == id).then_some("ada"));
    }
    assert_eq!(seen.len(), 2);
}

async fn odd_text_is_kept(ground: TestStore) {
    let store = &*ground.store;
    let mut odd = NewScrape {
        url: "http://x.test/\0'\"ä\u{1}".into(),
        error: Some("\0".into()),
        page: Some(page(1, b"\0")),
        ..scrape(ground.team)
    };
    odd.page.as_mut().unwrap().content_type = "a\0b".into();
    let id = odd.id;
    assert_eq!(record(store, vec![odd]).await, [Recorded::Written]);
    let found = store.scrape(ground.team, id).await.unwrap().unwrap();
    assert_eq!(found.url, "http://x.test/\u{fffd}'\"ä\u{1}");
    let kept = store.cached_page(ground.team, &[1; 32]).await.unwrap().unwrap();
    assert_eq!((kept.content_type.as_str(), kept.body.as_slice()), ("a\u{fffd}b", b"\0".as_slice()));
}

/// Batches of two stores meet at the same pages, the same period and the same sweep.
async fn many_at_once_add_up(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    let second = team(&*ground.store, "free").await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..16_u8 {
        let (store, team) = (stores[usize::from(n) % 2].clone(), ground.team);
        tasks.spawn(async move {
            for round in 0..4_u8 {
                let batch = (0..6)
                    .map(|k: u8| {
                        let body = vec![n; usize::from(n) * 10 + usize::from(round)];
                        let owner = if (k + n).is_multiple_of(2) { team } else { second };
                        NewScrape { page: Some(page((k + n) % 4, &body)), ..scrape(owner) }
                    })
                    .collect();
                assert!(record(&*store, batch).await.iter().all(|one| *one == Recorded::Written));
                store.sweep_cache(40_000, 20).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no writer fails");
    }
    let used = balance(&ground).await.0 + ground.store.balance(second).await.unwrap().used;
    assert_eq!(used, 16 * 4 * 6);
    assert_eq!(ground.store.cache_bytes().await.unwrap(), ground.counted("cache").await);
    while ground.store.sweep_cache(0, 100).await.unwrap().evicted > 0 {}
    assert_eq!(ground.store.cache_bytes().await.unwrap(), 0, "nothing is left, and the total says so");
}
