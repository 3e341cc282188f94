//! Activity, and the index of objects.

use crate::ground::{HOUR, NOW, TestStore, a_moment, key, team};
use std::time::Duration;
use store::StoreError;
use store::activity::{ActivityFilter, NewActivity, Viewer};
use store::audit_log::Actor;
use uuid::Uuid;

on_both!(
    activity_pages_newest_first,
    a_key_sees_its_own_activity_and_that_of_its_endpoints,
    old_activity_is_purged,
    objects_are_noted_and_totalled,
    an_object_noted_anew_is_not_forgotten,
);

fn entry(team_id: Uuid, endpoint: &str) -> NewActivity {
    NewActivity {
        id: Uuid::now_v7(),
        team_id,
        key_id: None,
        endpoint: endpoint.into(),
        target: "http://a/\0".into(),
    }
}

async fn activity_pages_newest_first(ground: TestStore) {
    let other = team(&*ground.store, "free").await;
    let mut made = Vec::new();
    for endpoint in ["scrape", "crawl", "scrape", "scrape"] {
        let new = entry(ground.team, endpoint);
        made.push(new.id);
        ground.store.record_activity(new.clone()).await.unwrap();
        ground.store.record_activity(new).await.unwrap();
        ground.store.record_activity(entry(other, endpoint)).await.unwrap();
    }
    let list = async |endpoint, before, within, limit| {
        let page = ground.store.activity(ground.team, endpoint, before, within, limit).await.unwrap();
        page.iter().map(|entry| entry.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None, HOUR, 10).await, [made[3], made[2], made[1], made[0]]);
    assert_eq!(list(None, Some(made[2]), HOUR, 1).await, [made[1]]);
    assert_eq!(list(Some("scrape"), Some(made[3]), HOUR, 10).await, [made[2], made[0]]);
    a_moment().await;
    assert!(list(None, None, Duration::from_millis(1), 10).await.is_empty());
    let first = &ground.store.activity(ground.team, None, None, HOUR, 1).await.unwrap()[0];
    assert_eq!((first.target.as_str(), first.endpoint.as_str()), ("http://a/\u{fffd}", "scrape"));
    assert_eq!((first.outcome, first.credits, first.took), (None, None, None), "nothing else is known of it");
}

async fn a_key_sees_its_own_activity_and_that_of_its_endpoints(ground: TestStore) {
    let own = ground.store.create_key(key(ground.team, "own"), &Actor::server()).await.unwrap().id;
    let made = async |endpoint, key_id| {
        let new = NewActivity { key_id, ..entry(ground.team, endpoint) };
        let id = new.id;
        ground.store.record_activity(new).await.unwrap();
        id
    };
    let (scrape, crawl, mine) =
        (made("scrape", None).await, made("crawl", None).await, made("map", Some(own)).await);
    let seen = async |filter: ActivityFilter<'_>| {
        let page = ground.store.list_activity(ground.team, filter, None, HOUR, 10).await.unwrap();
        page.iter().map(|entry| entry.id).collect::<Vec<_>>()
    };
    let viewer = Viewer { key: Some(own), endpoints: &["scrape", "search"] };
    assert_eq!(seen(ActivityFilter::default()).await, [mine, crawl, scrape]);
    assert_eq!(seen(ActivityFilter { endpoint: None, seen_by: Some(viewer) }).await, [mine, scrape]);
    assert!(seen(ActivityFilter { endpoint: Some("crawl"), seen_by: Some(viewer) }).await.is_empty());
    let nobody = Viewer { key: None, endpoints: &[] };
    assert!(seen(ActivityFilter { endpoint: None, seen_by: Some(nobody) }).await.is_empty());
}

async fn old_activity_is_purged(ground: TestStore) {
    for _ in 0..3 {
        ground.store.record_activity(entry(ground.team, "scrape")).await.unwrap();
    }
    assert_eq!(ground.store.purge_activity(HOUR).await.unwrap(), 0);
    a_moment().await;
    assert_eq!(ground.store.purge_activity(Duration::from_millis(1)).await.unwrap(), 3);
    assert!(ground.store.activity(ground.team, None, None, HOUR, 9).await.unwrap().is_empty());
}

async fn objects_are_noted_and_totalled(ground: TestStore) {
    let other = team(&*ground.store, "free").await;
    let note = async |key: &str, team, bytes, keep| ground.store.note_object(key, team, bytes, keep).await;
    note("a", ground.team, 100, HOUR).await.unwrap();
    note("b", other, 20, NOW).await.unwrap();
    note("c", ground.team, 3, Duration::from_mins(1)).await.unwrap();
    assert_eq!(ground.store.object_bytes().await.unwrap(), 123);
    note("a", other, 50, Duration::from_secs(30)).await.unwrap();
    assert_eq!(ground.store.object_bytes().await.unwrap(), 73, "the new size counts");
    assert!(matches!(note("d", ground.team, -1, HOUR).await, Err(StoreError::Misuse(_))));
    a_moment().await;
    let keys =
        |entries: Vec<store::objects::ObjectEntry>| entries.into_iter().map(|e| e.key).collect::<Vec<_>>();
    assert_eq!(keys(ground.store.expired_objects(9).await.unwrap()), ["b"]);
    assert_eq!(keys(ground.store.soonest_objects(9).await.unwrap()), ["b", "a", "c"]);
    assert_eq!(keys(ground.store.soonest_objects(1).await.unwrap()), ["b"]);
    let b = ground.store.expired_objects(1).await.unwrap();
    ground.store.forget_objects(&b).await.unwrap();
    ground.store.forget_objects(&b).await.unwrap();
    ground.store.forget_objects(&[]).await.unwrap();
    assert_eq!(ground.store.object_bytes().await.unwrap(), 53, "forgotten once");
    assert!(ground.store.object("b").await.unwrap().is_none());
    let a = ground.store.object("a").await.unwrap().unwrap();
    assert_eq!((a.bytes, a.team_id), (50, ground.team));
    assert!(a.expires_at > a.created_at);
}

async fn an_object_noted_anew_is_not_forgotten(ground: TestStore) {
    ground.store.note_object("k", ground.team, 10, NOW).await.unwrap();
    let seen = ground.store.soonest_objects(1).await.unwrap();
    // Within the same millisecond, with the same expiry: still a new note.
    ground.store.note_object("k", ground.team, 10, NOW).await.unwrap();
    ground.store.forget_objects(&seen).await.unwrap();
    assert!(ground.store.object("k").await.unwrap().is_some());
    assert_eq!(ground.store.object_bytes().await.unwrap(), 10);
}
