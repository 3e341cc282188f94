//! The database goes away under the pool and comes back: calls fail as unavailable, then work again by
//! themselves, and so do wake-ups.

use crate::crawls_ground::{batch, fetched, pages, request};
use crate::ground::{HOUR, plain_options, team};
use std::time::{Duration, Instant};
use store::admission::Admission;
use store::{StoreError, StoreOptions};
use testkit::PostgresCluster;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_dies_and_comes_back() {
    let mut cluster = PostgresCluster::start();
    let mut options = plain_options(&cluster.database());
    options.wait = Duration::from_secs(3);
    let store = store::open(&options).await.unwrap();
    let team = team(&*store, "free").await;
    let new = batch(team);
    let id = new.id;
    store.start_crawl(new, pages(1..=1)).await.unwrap();
    let claimed = store.claim_entries(&request(1)).await.unwrap().remove(0);

    cluster.kill();
    for _ in 0..3 {
        let started = Instant::now();
        let error = store.keep_entries(&[claimed.lease], HOUR).await.expect_err("nobody answers");
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(20), "a call does not hang");
    }
    assert!(store.ping().await.is_err());

    cluster.restart();
    let end = Instant::now() + Duration::from_secs(30);
    while let Err(error) = store.ping().await {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        assert!(Instant::now() < end, "the pool recovers by itself");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut held = store.end_attempts(vec![(claimed.lease, fetched(1))]).await.unwrap();
    if held == [false] {
        // Claims do not wait for the disk: this one was lost with the server, and its page is queued as before.
        let again = store.claim_entries(&request(1)).await.unwrap().remove(0);
        held = store.end_attempts(vec![(again.lease, fetched(1))]).await.unwrap();
    }
    assert_eq!(held, [true], "the page that was accepted survived");

    // Only what another process adds can be heard through the database.
    let mut signal = store.work_signal();
    let elsewhere = store::open(&options).await.unwrap();
    let end = Instant::now() + Duration::from_secs(40);
    for page in 2.. {
        signal.mark_unchanged();
        let added = pages(page..=page);
        elsewhere.append_entries(team, id, added, None, Admission::default()).await.unwrap();
        if tokio::time::timeout(Duration::from_secs(1), signal.changed()).await.is_ok() {
            break;
        }
        assert!(Instant::now() < end, "wake-ups come back");
    }
}

#[tokio::test]
async fn no_server_is_unavailable_and_says_so_soon() {
    let testkit::FreePort(port) = testkit::FreePort::find();
    let mut options = StoreOptions::new(format!("postgres://gannet:secret@127.0.0.1:{port}/none"));
    options.wait = Duration::from_secs(2);
    let started = Instant::now();
    let error = store::open(&options).await.err().expect("nobody answers");
    assert!(error.is_retryable(), "{error:?}");
    assert!(!error.to_string().contains("secret"));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_stalled_process_does_not_hang_the_others() {
    use sqlx::Connection;
    let url = testkit::postgres::shared_database();
    let mut options = plain_options(&url);
    options.wait = Duration::from_millis(500);
    let store = store::open(&options).await.unwrap();
    let team = team(&*store, "free").await;
    store.start_crawl(batch(team), pages(1..=1)).await.unwrap();
    // Somebody claims and then neither goes on nor goes away.
    let mut stalled = sqlx::PgConnection::connect(&url).await.unwrap();
    let lock = "SELECT pg_advisory_xact_lock(1735289201, 'entries'::regclass::oid::int)";
    let mut tx = stalled.begin().await.unwrap();
    sqlx::query(lock).execute(&mut *tx).await.unwrap();
    let started = Instant::now();
    let error = store.claim_entries(&request(1)).await.expect_err("the lock is taken");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(15), "waiting ends");
    tx.rollback().await.unwrap();
    assert_eq!(store.claim_entries(&request(1)).await.unwrap().len(), 1);
}
