//! Lost workers, deadlines, and keeping.

use crate::ground::{Ground, HOUR, NOW, a_moment, completed, job, jobs, request, run_sql};
use std::time::Duration;
use store::credits::NewReservation;
use store::jobs::{Finish, Finished, JobState, LeaseStatus, NewJob};

on_both!(
    lost_jobs_return_until_their_attempts_are_used_up,
    an_overdue_job_fails_wherever_it_stands,
    an_overdue_parent_takes_its_children_along,
    ended_jobs_are_purged_with_all_that_is_theirs,
    sweepers_at_once_count_each_job_once,
    a_job_that_cannot_be_ended_holds_up_no_other,
);

async fn lost_jobs_return_until_their_attempts_are_used_up(ground: Ground) {
    let parent = NewJob { kind: "crawl".into(), ..job(ground.team) };
    let child = NewJob { max_attempts: 2, ..job(ground.team) };
    ground.store.enqueue_group(parent.clone(), vec![child.clone()]).await.unwrap();
    let mut short = request(1);
    short.lease_for = NOW;
    ground.store.claim(&short).await.unwrap();
    a_moment().await;
    let report = ground.store.sweep().await.unwrap();
    assert_eq!((report.requeued, report.abandoned), (1, 0));
    assert_eq!(ground.job(child.id).await.error.as_deref(), Some("the worker was lost"));
    ground.store.claim(&short).await.unwrap();
    a_moment().await;
    let report = ground.store.sweep().await.unwrap();
    assert_eq!((report.requeued, report.abandoned), (0, 1));
    assert_eq!(ground.state(child.id).await, JobState::Failed);
    let done = ground.job(parent.id).await;
    assert_eq!((done.state, done.children.failed), (JobState::Completed, 1));
    assert_eq!(ground.store.sweep().await.unwrap(), store::jobs::SweepReport::default());
}

async fn an_overdue_job_fails_wherever_it_stands(ground: Ground) {
    let soon = || NewJob { deadline: Duration::from_millis(5), ..job(ground.team) };
    let (running, waiting) = (soon(), NewJob { delay: HOUR, ..soon() });
    let fine = ground.enqueue(NewJob { kind: "map".into(), ..job(ground.team) }).await;
    ground.store.enqueue(vec![running.clone(), waiting.clone()]).await.unwrap();
    let claimed = ground.claim_one().await;
    a_moment().await;
    assert_eq!(ground.store.sweep().await.unwrap().overdue, 2);
    for id in [running.id, waiting.id] {
        let failed = ground.job(id).await;
        assert_eq!((failed.state, failed.error.as_deref()), (JobState::Failed, Some("the deadline passed")));
    }
    assert_eq!(ground.finish(&claimed, completed()).await, Finished::LeaseLost);
    assert_eq!(ground.state(fine).await, JobState::Queued);
}

async fn an_overdue_parent_takes_its_children_along(ground: Ground) {
    let reservation = NewReservation {
        team_id: ground.team,
        key_id: None,
        amount: 9,
        allowance: None,
        purpose: "crawl".into(),
        hold_for: NOW,
    };
    let purse = ground.store.reserve(reservation).await.unwrap();
    let parent = NewJob {
        kind: "crawl".into(),
        deadline: Duration::from_millis(5),
        reservation: purse,
        ..job(ground.team)
    };
    ground.store.enqueue_group(parent.clone(), jobs(ground.team, 3)).await.unwrap();
    let claimed = ground.claim_one().await;
    a_moment().await;
    assert_eq!(ground.store.sweep_reservations().await.unwrap(), 0, "a live job holds it");
    assert_eq!(ground.store.sweep().await.unwrap().overdue, 1);
    let failed = ground.job(parent.id).await;
    assert_eq!((failed.state, failed.children.open, failed.children.cancelled), (JobState::Failed, 1, 2));
    assert_eq!(ground.store.balance(ground.team).await.unwrap().reserved, 0);
    assert_eq!(ground.store.heartbeat(&[claimed.lease], HOUR).await.unwrap(), [LeaseStatus::CancelRequested]);
    // The parent is over: the late child changes nothing of it, and charges nothing.
    let late =
        Finish::Completed { result: None, rows: vec!["r".into()], spawn: jobs(ground.team, 1), credits: 5 };
    assert_eq!(ground.finish(&claimed, late).await, Finished::Now(JobState::Cancelled));
    let failed = ground.job(parent.id).await;
    let c = failed.children;
    assert_eq!((failed.state, c.total, c.open, c.cancelled), (JobState::Failed, 3, 0, 3));
    assert!(ground.store.rows(ground.team, parent.id, 0, 9).await.unwrap().is_empty());
    assert_eq!(ground.store.balance(ground.team).await.unwrap().used, 0);
}

async fn ended_jobs_are_purged_with_all_that_is_theirs(ground: Ground) {
    let parent =
        NewJob { kind: "crawl".into(), retain_for: NOW, dedup_key: Some("k".into()), ..job(ground.team) };
    ground.store.enqueue_group(parent.clone(), jobs(ground.team, 2)).await.unwrap();
    let kept = ground.enqueue(job(ground.team)).await;
    for claim in ground.claim(2).await {
        let finish = Finish::Completed { result: None, rows: vec!["r".into()], spawn: vec![], credits: 0 };
        ground.finish(&claim, finish).await;
    }
    let child =
        ground.store.children(ground.team, parent.id, JobState::Completed, None, 1).await.unwrap()[0].id;
    a_moment().await;
    assert_eq!(ground.store.purge(0).await.unwrap(), 0);
    // Two rows, two children and the parent, a few at a time.
    assert_eq!(ground.store.purge(3).await.unwrap(), 3);
    assert_eq!(ground.store.purge(10).await.unwrap(), 2);
    for id in [parent.id, child] {
        assert!(ground.store.job(ground.team, id).await.unwrap().is_none());
    }
    assert!(ground.store.rows(ground.team, parent.id, 0, 9).await.unwrap().is_empty());
    assert_eq!(ground.state(kept).await, JobState::Queued);
    let again = NewJob { id: uuid::Uuid::now_v7(), ..parent };
    assert!(ground.store.enqueue_group(again, vec![]).await.unwrap().created, "its key is free again");
}

async fn sweepers_at_once_count_each_job_once(ground: Ground) {
    ground.store.enqueue(jobs(ground.team, 20)).await.unwrap();
    let mut short = request(20);
    short.lease_for = NOW;
    ground.store.claim(&short).await.unwrap();
    a_moment().await;
    let mut sweepers = Vec::new();
    for _ in 0..4 {
        let store = ground.another().await;
        sweepers.push(tokio::spawn(async move { store.sweep().await.unwrap().requeued }));
    }
    let mut total = 0;
    for sweeper in sweepers {
        total += sweeper.await.unwrap();
    }
    assert_eq!(total, 20);
    assert_eq!(ground.claim(30).await.len(), 20);
}

/// The ledger was tampered with, so that one job's reservation cannot be given back.
async fn a_job_that_cannot_be_ended_holds_up_no_other(ground: Ground) {
    let reservation = NewReservation {
        team_id: ground.team,
        key_id: None,
        amount: 5,
        allowance: None,
        purpose: "x".into(),
        hold_for: HOUR,
    };
    let reservation = ground.store.reserve(reservation).await.unwrap();
    let soon = |deadline| NewJob { deadline: Duration::from_millis(deadline), ..job(ground.team) };
    let stuck = ground.enqueue(NewJob { reservation, ..soon(1) }).await;
    let fine = ground.enqueue(soon(3)).await;
    run_sql(&ground.url, "UPDATE credit_periods SET reserved = 0").await;
    a_moment().await;
    let report = ground.store.sweep().await.unwrap();
    assert_eq!((report.overdue, report.stuck), (1, 1));
    assert_eq!(ground.state(fine).await, JobState::Failed);
    assert_eq!(ground.state(stuck).await, JobState::Queued);
    run_sql(&ground.url, "UPDATE credit_periods SET reserved = 5").await;
    let report = ground.store.sweep().await.unwrap();
    assert_eq!((report.overdue, report.stuck), (1, 0), "it is tried again");
}
