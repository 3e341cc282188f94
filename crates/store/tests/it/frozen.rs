//! A PostgreSQL server that hangs: connections stay open and nothing answers. Every call ends as
//! unavailable within a bound, and the store works again as soon as the server does.

use crate::crawls_ground::{batch, pages, request};
use crate::ground::{page, plain_options, scrape, team};
use std::time::{Duration, Instant};
use store::scrapes::NewScrape;
use store::{StoreError, StoreResult};
use testkit::PostgresCluster;

/// A second for a connection, two for an answer, and room for a slow machine.
const BOUND: Duration = Duration::from_secs(10);

async fn fails_in_time<T>(what: &str, call: impl Future<Output = StoreResult<T>>) {
    let started = Instant::now();
    let Ok(done) = tokio::time::timeout(BOUND * 2, call).await else { panic!("{what} hangs") };
    match done {
        Err(StoreError::Unavailable(_)) => {}
        Err(error) => panic!("{what}: {error:?}"),
        Ok(_) => panic!("{what}: who answered?"),
    }
    assert!(started.elapsed() < BOUND, "{what} took {:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_holds_nobody() {
    let cluster = PostgresCluster::start();
    let mut options = plain_options(&cluster.database());
    options.wait = Duration::from_secs(1);
    let store = store::open(&options).await.unwrap();
    let team = team(&*store, "free").await;
    store.start_crawl(batch(team), pages(1..=1)).await.unwrap();
    // Several connections that rest in the pool, and are taken for good.
    let pings = (0..4).map(|_| store.ping());
    assert!(futures_util::future::join_all(pings).await.iter().all(Result::is_ok));

    let frozen = cluster.freeze();
    let claim = request(1);
    let with_page = NewScrape { page: Some(page(1, b"x")), ..scrape(team) };
    tokio::join!(
        fails_in_time("a read", store.balance(team)),
        fails_in_time("a read of a page", store.cached_page(team, &[1; 32])),
        fails_in_time("a statement", store.used_key(team, "s", "k")),
        fails_in_time("a transaction", store.record_scrapes(vec![with_page.clone()])),
        fails_in_time("a claim", store.claim_entries(&claim)),
        fails_in_time("a ping", store.ping()),
    );
    // More than the pool has connections: later ones do not get one, and are told.
    for _ in 0..4 {
        fails_in_time("a later call", store.ping()).await;
    }
    let sent = Instant::now();
    drop(frozen);
    while let Err(error) = store.ping().await {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        assert!(sent.elapsed() < Duration::from_mins(2), "it comes back by itself");
    }
    store.record_scrapes(vec![with_page]).await.unwrap();
    assert_eq!(store.balance(team).await.unwrap().used, 1, "written once, then or now");
    assert_eq!(store.claim_entries(&request(1)).await.unwrap().len(), 1);
    store.shut_down().await;
}
