//! The page cache: found by its key, replaced by newer, gone after its time, and under its ceiling.

use crate::ground::{HOUR, NOW, TestStore, a_moment, page, scrape, team};
use std::time::Duration;
use store::pages::NewPage;
use store::scrapes::NewScrape;

on_both!(
    a_page_is_found_again_by_its_team_alone,
    the_newer_page_replaces_the_older,
    pages_end_with_their_time,
    a_touched_page_is_fresh_again,
    the_oldest_go_when_there_is_too_much,
    eviction_takes_no_more_than_it_must,
);

async fn a_page_is_found_again_by_its_team_alone(ground: TestStore) {
    let store = &*ground.store;
    let new = NewPage {
        url: "http://x.test/a".into(),
        final_url: "http://x.test/b".into(),
        status: 404,
        content_type: "text/html".into(),
        headers: r#"{"etag":"\"1\""}"#.into(),
        rung: "browser".into(),
        ..page(7, &[0, 1, 255])
    };
    assert!(store.cached_page(ground.team, &[7; 32]).await.unwrap().is_none());
    store.put_page(ground.team, new.clone().into()).await.unwrap();
    let found = store.cached_page(ground.team, &[7; 32]).await.unwrap().expect("the page");
    assert_eq!((found.url, found.final_url, found.status), (new.url, new.final_url, 404));
    assert_eq!((found.content_type, found.headers, found.rung), (new.content_type, new.headers, new.rung));
    assert_eq!(found.body, [0, 1, 255]);
    assert!(found.age < Duration::from_mins(1) && found.fetched_at > 1_700_000_000_000);
    let other = team(store, "free").await;
    assert!(store.cached_page(other, &[7; 32]).await.unwrap().is_none());
    assert!(store.cached_page(ground.team, &[8; 32]).await.unwrap().is_none());
}

async fn the_newer_page_replaces_the_older(ground: TestStore) {
    let store = &*ground.store;
    store.put_page(ground.team, page(1, &[1; 1000]).into()).await.unwrap();
    let bytes = store.cache_bytes().await.unwrap();
    assert!((1000..2000).contains(&bytes), "{bytes}");
    store.put_page(ground.team, page(1, &[2; 400]).into()).await.unwrap();
    assert_eq!(store.cached_page(ground.team, &[1; 32]).await.unwrap().unwrap().body, [2; 400]);
    assert_eq!(store.cache_bytes().await.unwrap(), bytes - 600);
    // Within one batch the last of a key counts.
    let with = |body: &[u8]| NewScrape { page: Some(page(1, body)), ..scrape(ground.team) };
    store.record_scrapes(vec![with(b"one"), with(b"two")]).await.unwrap();
    assert_eq!(store.cached_page(ground.team, &[1; 32]).await.unwrap().unwrap().body, b"two");
    assert_eq!(store.cache_bytes().await.unwrap(), ground.counted("cache").await);
}

async fn pages_end_with_their_time(ground: TestStore) {
    let store = &*ground.store;
    store.put_page(ground.team, NewPage { keep_for: NOW, ..page(1, b"brief") }.into()).await.unwrap();
    store.put_page(ground.team, page(2, b"long").into()).await.unwrap();
    a_moment().await;
    assert!(store.cached_page(ground.team, &[1; 32]).await.unwrap().is_none(), "even before it is purged");
    assert!(!store.touch_page(ground.team, &[1; 32]).await.unwrap(), "nothing brings it back");
    let swept = store.sweep_cache(u64::MAX, 100).await.unwrap();
    assert_eq!((swept.expired, swept.evicted), (1, 0));
    assert!(store.cached_page(ground.team, &[2; 32]).await.unwrap().is_some());
    assert_eq!(store.cache_bytes().await.unwrap(), ground.counted("cache").await);
}

async fn a_touched_page_is_fresh_again(ground: TestStore) {
    let store = &*ground.store;
    store.put_page(ground.team, NewPage { keep_for: HOUR, ..page(1, b"x") }.into()).await.unwrap();
    let before = store.cached_page(ground.team, &[1; 32]).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    let aged = store.cached_page(ground.team, &[1; 32]).await.unwrap().unwrap();
    assert!(aged.age >= Duration::from_millis(50), "{:?}", aged.age);
    assert!(store.touch_page(ground.team, &[1; 32]).await.unwrap());
    let after = store.cached_page(ground.team, &[1; 32]).await.unwrap().unwrap();
    assert!(after.fetched_at >= before.fetched_at + 50);
    assert_eq!(after.body, before.body);
    assert!(!store.touch_page(ground.team, &[2; 32]).await.unwrap());
}

async fn the_oldest_go_when_there_is_too_much(ground: TestStore) {
    let store = &*ground.store;
    for n in 0..4 {
        store.put_page(ground.team, page(n, &[n; 1000]).into()).await.unwrap();
        a_moment().await;
    }
    let old_result = NewScrape { result: Some(vec![1; 1000]), ..scrape(ground.team) };
    let old_id = old_result.id;
    store.record_scrapes(vec![old_result]).await.unwrap();
    a_moment().await;
    store.touch_page(ground.team, &[0; 32]).await.unwrap();
    a_moment().await;
    let new_result = NewScrape { result: Some(vec![1; 1000]), ..scrape(ground.team) };
    let new_id = new_result.id;
    store.record_scrapes(vec![new_result]).await.unwrap();
    // Room for two and a half of the six: those used longest ago go, of whatever sort.
    let swept = store.sweep_cache(3_300, 100).await.unwrap();
    assert_eq!((swept.expired, swept.evicted), (0, 4));
    assert!(store.cache_bytes().await.unwrap() <= 3_300);
    for n in 1..4 {
        assert!(store.cached_page(ground.team, &[n; 32]).await.unwrap().is_none(), "page {n}");
    }
    assert!(store.scrape(ground.team, old_id).await.unwrap().is_none());
    assert!(store.cached_page(ground.team, &[0; 32]).await.unwrap().is_some(), "it was touched");
    assert!(store.scrape(ground.team, new_id).await.unwrap().is_some());
    assert_eq!(store.cache_bytes().await.unwrap(), ground.counted("cache").await);
}

async fn eviction_takes_no_more_than_it_must(ground: TestStore) {
    let store = &*ground.store;
    for n in 0..5 {
        store.put_page(ground.team, page(n, &[n; 1000]).into()).await.unwrap();
        a_moment().await;
    }
    let total = u64::try_from(store.cache_bytes().await.unwrap()).unwrap();
    assert_eq!(store.sweep_cache(total, 100).await.unwrap().evicted, 0);
    assert_eq!(store.sweep_cache(total - 1, 100).await.unwrap().evicted, 1);
    // No more than asked in one round; the next goes on.
    assert_eq!(store.sweep_cache(0, 3).await.unwrap().evicted, 3);
    assert_eq!(store.sweep_cache(0, 3).await.unwrap().evicted, 1);
    assert_eq!(store.cache_bytes().await.unwrap(), 0);
}
