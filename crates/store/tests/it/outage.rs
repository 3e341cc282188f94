//! The database goes away under the pool and comes back: calls fail as unavailable, then work again by
//! themselves, and so do wake-ups.

use crate::ground::{HOUR, completed, job, request, team};
use std::time::{Duration, Instant};
use store::jobs::{Finished, JobState};
use store::{StoreError, StoreOptions};
use testkit::PostgresCluster;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_dies_and_comes_back() {
    let mut cluster = PostgresCluster::start();
    let mut options = StoreOptions::new(cluster.database());
    options.wait = Duration::from_secs(3);
    let store = store::open(&options).await.unwrap();
    let team = team(&*store, "free").await;
    let new = job(team);
    store.enqueue(vec![new.clone()]).await.unwrap();
    let claimed = store.claim(&request(1)).await.unwrap().remove(0);

    cluster.kill();
    for _ in 0..3 {
        let started = Instant::now();
        let error = store.heartbeat(&[claimed.lease], HOUR).await.expect_err("nobody answers");
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
    let finished = store.finish(&claimed.lease, completed()).await.unwrap();
    assert_eq!(finished, Finished::Now(JobState::Completed), "what was committed survived");

    // Only another process's enqueue can be heard through the database.
    let mut signal = store.work_signal();
    let elsewhere = store::open(&options).await.unwrap();
    let end = Instant::now() + Duration::from_secs(40);
    loop {
        signal.mark_unchanged();
        elsewhere.enqueue(vec![job(team)]).await.unwrap();
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
    let mut options = StoreOptions::new(&url);
    options.wait = Duration::from_millis(500);
    let store = store::open(&options).await.unwrap();
    let team = team(&*store, "free").await;
    store.enqueue(vec![job(team)]).await.unwrap();
    // Somebody claims and then neither goes on nor goes away.
    let mut stalled = sqlx::PgConnection::connect(&url).await.unwrap();
    let turn = include_str!("../../src/postgres/sql/jobs/claim_lock.sql");
    let mut tx = stalled.begin().await.unwrap();
    sqlx::query(turn).execute(&mut *tx).await.unwrap();
    let started = Instant::now();
    let error = store.claim(&request(1)).await.expect_err("it is not our turn");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(15), "waiting ends");
    tx.rollback().await.unwrap();
    assert_eq!(store.claim(&request(1)).await.unwrap().len(), 1);
}
