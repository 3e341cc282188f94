//! Cancelling: what stops now, what is asked to stop, and what can still be written then.

use crate::ground::{Ground, HOUR, NOW, a_moment, completed, job, jobs, request, team};
use store::jobs::{CancelOutcome, Finish, Finished, JobState, LeaseStatus, NewJob};
use uuid::Uuid;

on_both!(
    a_queued_job_is_cancelled_now,
    a_running_job_is_asked_to_stop,
    a_group_stops_queued_children_and_asks_running_ones,
    a_stopping_job_does_not_return_to_the_queue,
    a_stopping_job_spawns_nothing,
    only_ones_own_top_level_jobs,
);

async fn a_queued_job_is_cancelled_now(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    assert_eq!(ground.store.cancel(ground.team, id).await.unwrap(), CancelOutcome::Cancelled);
    let cancelled = ground.job(id).await;
    assert_eq!(cancelled.state, JobState::Cancelled);
    assert!(cancelled.expires_at.is_some());
    assert!(ground.claim(1).await.is_empty());
    let again = ground.store.cancel(ground.team, id).await.unwrap();
    assert_eq!(again, CancelOutcome::AlreadyFinished(JobState::Cancelled));
}

async fn a_running_job_is_asked_to_stop(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    let claimed = ground.claim_one().await;
    assert_eq!(ground.store.cancel(ground.team, id).await.unwrap(), CancelOutcome::Requested);
    assert_eq!(ground.store.cancel(ground.team, id).await.unwrap(), CancelOutcome::AlreadyRequested);
    assert!(ground.job(id).await.cancel_requested);
    assert_eq!(ground.store.heartbeat(&[claimed.lease], HOUR).await.unwrap(), [LeaseStatus::CancelRequested]);
    assert_eq!(ground.finish(&claimed, Finish::Cancelled).await, Finished::Now(JobState::Cancelled));
    assert_eq!(ground.state(id).await, JobState::Cancelled);
}

async fn a_group_stops_queued_children_and_asks_running_ones(ground: Ground) {
    let parent = NewJob { kind: "batch".into(), ..job(ground.team) };
    ground.store.enqueue_group(parent.clone(), jobs(ground.team, 5)).await.unwrap();
    let running = ground.claim(2).await;
    assert_eq!(ground.store.cancel(ground.team, parent.id).await.unwrap(), CancelOutcome::Requested);
    let stopping = ground.job(parent.id).await;
    assert_eq!(
        (stopping.state, stopping.children.open, stopping.children.cancelled),
        (JobState::Waiting, 2, 3)
    );
    assert!(ground.claim(10).await.is_empty());
    assert_eq!(ground.store.cancel(ground.team, parent.id).await.unwrap(), CancelOutcome::AlreadyRequested);
    // What was done before the stop counts: the row is kept.
    let rows =
        Finish::Completed { result: None, rows: vec!["r".into()], spawn: jobs(ground.team, 2), credits: 0 };
    assert_eq!(ground.finish(&running[0], rows).await, Finished::Now(JobState::Completed));
    assert_eq!(ground.finish(&running[1], Finish::Cancelled).await, Finished::Now(JobState::Cancelled));
    let done = ground.job(parent.id).await;
    let c = done.children;
    assert_eq!((done.state, c.total, c.open, c.completed, c.cancelled), (JobState::Cancelled, 5, 0, 1, 4));
    assert_eq!(ground.store.rows(ground.team, parent.id, 0, 9).await.unwrap().len(), 1);

    let idle = NewJob { kind: "batch".into(), ..job(ground.team) };
    ground.store.enqueue_group(idle.clone(), jobs(ground.team, 2)).await.unwrap();
    assert_eq!(ground.store.cancel(ground.team, idle.id).await.unwrap(), CancelOutcome::Cancelled);
    assert_eq!(ground.state(idle.id).await, JobState::Cancelled);
}

async fn a_stopping_job_does_not_return_to_the_queue(ground: Ground) {
    ground.store.enqueue(jobs(ground.team, 3)).await.unwrap();
    let mut short = request(3);
    short.lease_for = NOW;
    let running = ground.store.claim(&short).await.unwrap();
    for claim in &running {
        ground.store.cancel(ground.team, claim.job.id).await.unwrap();
    }
    let retry = Finish::Retry { error: "e".into(), delay: NOW };
    assert_eq!(ground.finish(&running[0], retry).await, Finished::Now(JobState::Cancelled));
    assert_eq!(ground.finish(&running[1], Finish::HandBack).await, Finished::Now(JobState::Cancelled));
    a_moment().await;
    let report = ground.store.sweep().await.unwrap();
    assert_eq!((report.cancelled, report.requeued, report.abandoned), (1, 0, 0));
    assert_eq!(ground.state(running[2].job.id).await, JobState::Cancelled);
}

async fn a_stopping_job_spawns_nothing(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    let claimed = ground.claim_one().await;
    ground.store.cancel(ground.team, id).await.unwrap();
    let finish =
        Finish::Completed { result: None, rows: vec!["r".into()], spawn: jobs(ground.team, 3), credits: 0 };
    assert_eq!(ground.finish(&claimed, finish).await, Finished::Now(JobState::Cancelled));
    assert_eq!(ground.job(id).await.children.total, 0);
    assert!(ground.claim(9).await.is_empty());

    let other = ground.enqueue(job(ground.team)).await;
    let claimed = ground.claim_one().await;
    ground.store.cancel(ground.team, other).await.unwrap();
    assert_eq!(ground.finish(&claimed, completed()).await, Finished::Now(JobState::Completed), "it was done");
}

async fn only_ones_own_top_level_jobs(ground: Ground) {
    let other = team(&*ground.store, "free").await;
    let parent = job(ground.team);
    let children = jobs(ground.team, 1);
    let child = children[0].id;
    ground.store.enqueue_group(parent.clone(), children).await.unwrap();
    for (team, job) in [(other, parent.id), (ground.team, child), (ground.team, Uuid::now_v7())] {
        assert_eq!(ground.store.cancel(team, job).await.unwrap(), CancelOutcome::NotFound);
    }
    assert_eq!(ground.state(child).await, JobState::Queued);
}
