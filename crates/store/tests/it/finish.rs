//! Leases, heartbeats and the ends of attempts.

use crate::ground::{Ground, HOUR, NOW, a_moment, completed, ids, job, jobs, request};
use std::time::Duration;
use store::jobs::{Finish, Finished, JobState, Lease, LeaseStatus, NewJob};
use uuid::Uuid;

on_both!(
    a_lost_lease_writes_nothing,
    heartbeats_extend_and_answer_in_order,
    retries_wait_and_run_out,
    a_hand_back_is_uncounted_and_fenced,
    a_job_ends_once,
    rows_of_a_single_job_are_its_own,
    a_failure_keeps_its_reason,
);

async fn a_lost_lease_writes_nothing(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    let mut short = request(1);
    short.lease_for = NOW;
    let lost = ground.store.claim(&short).await.unwrap().remove(0);
    a_moment().await;
    assert_eq!(ground.store.sweep().await.unwrap().requeued, 1);
    let current = ground.claim_one().await;
    assert_eq!(current.job.id, id);
    assert_ne!(current.lease.attempt, lost.lease.attempt);
    let before = ground.job(id).await;
    let rows = Finish::Completed {
        result: Some("1".into()),
        rows: vec!["r".into()],
        spawn: vec![job(ground.team)],
        credits: 0,
    };
    for finish in
        [rows, Finish::HandBack, Finish::Cancelled, Finish::Failed { error: "e".into(), credits: 0 }]
    {
        assert_eq!(ground.finish(&lost, finish).await, Finished::LeaseLost);
    }
    let forged = [
        Lease { owner: Uuid::now_v7(), ..current.lease },
        Lease { attempt: current.lease.attempt + 1, ..current.lease },
        Lease { job: Uuid::now_v7(), ..current.lease },
    ];
    for lease in forged {
        assert_eq!(ground.store.finish(&lease, completed()).await.unwrap(), Finished::LeaseLost);
    }
    assert_eq!(ground.job(id).await, before);
    assert_eq!(ground.store.queue_status(ground.team).await.unwrap().waiting, 0, "nothing was spawned");
    assert_eq!(ground.finish(&current, completed()).await, Finished::Now(JobState::Completed));
}

async fn heartbeats_extend_and_answer_in_order(ground: Ground) {
    ground.store.enqueue(jobs(ground.team, 3)).await.unwrap();
    let mut short = request(3);
    short.lease_for = Duration::from_millis(1);
    let claimed = ground.store.claim(&short).await.unwrap();
    a_moment().await;
    let forged = Lease { owner: Uuid::now_v7(), ..claimed[1].lease };
    ground.store.cancel(ground.team, claimed[2].job.id).await.unwrap();
    // The leases have run out, but nobody took the jobs: a heartbeat saves them.
    let asked = [claimed[2].lease, forged, claimed[0].lease, claimed[0].lease];
    let statuses = ground.store.heartbeat(&asked, HOUR).await.unwrap();
    assert_eq!(
        statuses,
        [LeaseStatus::CancelRequested, LeaseStatus::Lost, LeaseStatus::Held, LeaseStatus::Held]
    );
    let report = ground.store.sweep().await.unwrap();
    assert_eq!((report.requeued, report.cancelled), (1, 0), "only the one without a heartbeat");
    assert_eq!(ground.state(claimed[1].job.id).await, JobState::Queued);
    assert_eq!(ground.store.heartbeat(&[claimed[1].lease], HOUR).await.unwrap(), [LeaseStatus::Lost]);
    assert_eq!(ground.store.heartbeat(&[], HOUR).await.unwrap(), []);
}

async fn retries_wait_and_run_out(ground: Ground) {
    let id = ground.enqueue(NewJob { max_attempts: 2, ..job(ground.team) }).await;
    let retry = |delay| Finish::Retry { error: "no \0 luck".into(), delay };
    let first = ground.claim_one().await;
    assert_eq!(
        ground.finish(&first, retry(Duration::from_millis(250))).await,
        Finished::Now(JobState::Queued)
    );
    assert!(ground.claim(1).await.is_empty(), "waits");
    let waiting = ground.job(id).await;
    assert_eq!((waiting.error.as_deref(), waiting.attempts), (Some("no \u{fffd} luck"), 1));
    tokio::time::sleep(Duration::from_millis(350)).await;
    let second = ground.claim_one().await;
    assert_eq!(second.job.attempts, 2);
    assert_eq!(ground.finish(&second, retry(NOW)).await, Finished::Now(JobState::Failed));
    let failed = ground.job(id).await;
    assert_eq!((failed.state, failed.error.as_deref()), (JobState::Failed, Some("no \u{fffd} luck")));
    assert!(failed.expires_at.is_some());
}

async fn a_hand_back_is_uncounted_and_fenced(ground: Ground) {
    let id = ground.enqueue(NewJob { max_attempts: 1, ..job(ground.team) }).await;
    let request = request(1);
    let first = ground.store.claim(&request).await.unwrap().remove(0);
    assert_eq!(ground.finish(&first, Finish::HandBack).await, Finished::Now(JobState::Queued));
    assert_eq!(ground.job(id).await.attempts, 0);
    // The same owner gets it again: the old lease must not pass for the new one.
    let second = ground.store.claim(&request).await.unwrap().remove(0);
    assert_eq!(second.job.attempts, 1);
    assert_eq!(ground.finish(&first, completed()).await, Finished::LeaseLost);
    assert_eq!(ground.finish(&second, completed()).await, Finished::Now(JobState::Completed));
}

async fn a_job_ends_once(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    let claimed = ground.claim_one().await;
    let mut finishers = Vec::new();
    for n in 0..8 {
        let store = if n % 2 == 0 { ground.store.clone() } else { ground.another().await };
        let lease = claimed.lease;
        finishers.push(tokio::spawn(async move {
            let rows = vec![format!("{n}")];
            let finish = Finish::Completed { result: Some(n.to_string()), rows, spawn: vec![], credits: 0 };
            store.finish(&lease, finish).await.unwrap()
        }));
    }
    let mut won = 0;
    for finisher in finishers {
        won += usize::from(finisher.await.unwrap() == Finished::Now(JobState::Completed));
    }
    assert_eq!(won, 1);
    let rows = ground.store.rows(ground.team, id, 0, 10).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(ground.job(id).await.result.as_ref(), Some(&rows[0].body));
}

async fn rows_of_a_single_job_are_its_own(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    let claimed = ground.claim_one().await;
    let rows = (1..=5).map(|n| format!("{{\"n\":{n}}}")).collect();
    ground.finish(&claimed, Finish::Completed { result: None, rows, spawn: vec![], credits: 0 }).await;
    let all = ground.store.rows(ground.team, id, 0, 100).await.unwrap();
    assert_eq!(all.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(all.iter().all(|row| row.job == id));
    let page = ground.store.rows(ground.team, id, 2, 2).await.unwrap();
    assert_eq!(page, all[2..4]);
    assert!(ground.store.rows(ground.team, id, u64::MAX, 2).await.unwrap().is_empty());
}

async fn a_failure_keeps_its_reason(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    let claimed = ground.claim_one().await;
    let failed = Finish::Failed { error: "blocked".into(), credits: 0 };
    assert_eq!(ground.finish(&claimed, failed).await, Finished::Now(JobState::Failed));
    let job = ground.job(id).await;
    assert_eq!((job.error.as_deref(), job.attempts), (Some("blocked"), 1));
    assert!(ids(&ground.claim(1).await).is_empty(), "not tried again");
}
