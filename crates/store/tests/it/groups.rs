//! Parents and children: counters, rows, spawning, and the parent's own end.

use crate::ground::{Ground, HOUR, completed, job, jobs, team};
use store::StoreError;
use store::credits::{Credits, NewReservation};
use store::jobs::{Finish, Finished, JobState, NewJob};
use uuid::Uuid;

on_both!(
    a_parent_ends_with_its_last_child,
    a_parent_without_children_is_done,
    a_taken_key_creates_nothing,
    rows_are_numbered_without_gaps,
    a_child_spawns_siblings_once,
    a_single_job_becomes_a_parent,
    children_page_by_state,
    children_belong_to_the_parents_team,
    charges_come_from_the_parents_reservation,
);

fn parent(team: Uuid) -> NewJob {
    NewJob { kind: "crawl".into(), ..job(team) }
}

fn counts(job: &store::jobs::Job) -> [u64; 5] {
    let c = job.children;
    [c.total, c.open, c.completed, c.failed, c.cancelled]
}

async fn a_parent_ends_with_its_last_child(ground: Ground) {
    let new = parent(ground.team);
    let accepted = ground.store.enqueue_group(new.clone(), jobs(ground.team, 3)).await.unwrap();
    assert_eq!((accepted.id, accepted.created), (new.id, true));
    assert_eq!(counts(&ground.job(new.id).await), [3, 3, 0, 0, 0]);
    let claimed = ground.claim(10).await;
    assert_eq!(claimed.len(), 3, "the parent itself is never handed out");
    assert!(claimed.iter().all(|claim| claim.job.parent_id == Some(new.id)));
    ground.finish(&claimed[0], completed()).await;
    assert_eq!(counts(&ground.job(new.id).await), [3, 2, 1, 0, 0]);
    ground.finish(&claimed[1], Finish::Failed { error: "e".into(), credits: 0 }).await;
    let waiting = ground.job(new.id).await;
    assert_eq!((waiting.state, counts(&waiting)), (JobState::Waiting, [3, 1, 1, 1, 0]));
    assert_eq!(waiting.finished_at, None);
    ground.finish(&claimed[2], completed()).await;
    let done = ground.job(new.id).await;
    assert_eq!((done.state, counts(&done)), (JobState::Completed, [3, 0, 2, 1, 0]));
    assert_eq!(done.expires_at.unwrap() - done.finished_at.unwrap(), 3_600_000);
}

async fn a_parent_without_children_is_done(ground: Ground) {
    let new = parent(ground.team);
    ground.store.enqueue_group(new.clone(), Vec::new()).await.unwrap();
    let done = ground.job(new.id).await;
    assert_eq!(done.state, JobState::Completed);
    assert!(done.finished_at.is_some());
}

async fn a_taken_key_creates_nothing(ground: Ground) {
    let keyed = || NewJob { dedup_key: Some("k".into()), ..parent(ground.team) };
    let first = keyed();
    let child = |key: &str| NewJob { dedup_key: Some(key.into()), ..job(ground.team) };
    ground
        .store
        .enqueue_group(first.clone(), vec![child("a"), child("b"), child("a"), job(ground.team)])
        .await
        .unwrap();
    assert_eq!(counts(&ground.job(first.id).await), [3, 3, 0, 0, 0], "one of the two \"a\" is left out");
    let second = ground.store.enqueue_group(keyed(), jobs(ground.team, 2)).await.unwrap();
    assert_eq!((second.id, second.created), (first.id, false));
    assert_eq!(ground.store.queue_status(ground.team).await.unwrap().waiting, 3);
    let other = parent(ground.team);
    ground.store.enqueue_group(other.clone(), vec![child("a")]).await.unwrap();
    assert_eq!(ground.job(other.id).await.children.total, 1, "keys of children are per parent");
}

async fn rows_are_numbered_without_gaps(ground: Ground) {
    let new = parent(ground.team);
    ground.store.enqueue_group(new.clone(), jobs(ground.team, 6)).await.unwrap();
    let claimed = ground.claim(6).await;
    let mut finishers = Vec::new();
    for (n, claim) in claimed.iter().enumerate() {
        let store = if n % 2 == 0 { ground.store.clone() } else { ground.another().await };
        let (lease, rows) = (claim.lease, (0..n).map(|row| format!("{n}.{row}")).collect());
        let finish = Finish::Completed { result: None, rows, spawn: vec![], credits: 0 };
        finishers.push(tokio::spawn(async move { store.finish(&lease, finish).await.unwrap() }));
    }
    for finisher in finishers {
        assert_eq!(finisher.await.unwrap(), Finished::Now(JobState::Completed));
    }
    let rows = ground.store.rows(ground.team, new.id, 0, 100).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), (1..=15).collect::<Vec<_>>());
    for pair in rows.windows(2) {
        // The rows of one job stand together and in order.
        assert!(pair[0].job != pair[1].job || pair[0].body < pair[1].body);
    }
    assert_eq!(ground.state(new.id).await, JobState::Completed);
}

async fn a_child_spawns_siblings_once(ground: Ground) {
    let new = parent(ground.team);
    let page = |key: &str| NewJob { dedup_key: Some(key.into()), ..job(ground.team) };
    ground.store.enqueue_group(new.clone(), vec![page("/"), page("/a")]).await.unwrap();
    let claimed = ground.claim(2).await;
    let spawn = vec![page("/"), page("/a"), page("/b"), page("/c"), page("/b")];
    let finish = Finish::Completed { result: None, rows: vec![], spawn, credits: 0 };
    ground.finish(&claimed[0], finish.clone()).await;
    assert_eq!(counts(&ground.job(new.id).await), [4, 3, 1, 0, 0]);
    ground.finish(&claimed[1], finish).await;
    assert_eq!(counts(&ground.job(new.id).await), [4, 2, 2, 0, 0], "all keys were taken");
    for claim in ground.claim(10).await {
        assert_eq!(claim.job.parent_id, Some(new.id));
        ground.finish(&claim, completed()).await;
    }
    assert_eq!(ground.state(new.id).await, JobState::Completed);
}

async fn a_single_job_becomes_a_parent(ground: Ground) {
    let id = ground.enqueue(job(ground.team)).await;
    let claimed = ground.claim_one().await;
    let spawn = jobs(ground.team, 2);
    let finish =
        Finish::Completed { result: Some("seed".into()), rows: vec!["own".into()], spawn, credits: 0 };
    assert_eq!(ground.finish(&claimed, finish).await, Finished::Now(JobState::Waiting));
    let waiting = ground.job(id).await;
    assert_eq!((counts(&waiting), waiting.finished_at), ([2, 2, 0, 0, 0], None));
    for claim in ground.claim(10).await {
        let finish =
            Finish::Completed { result: None, rows: vec!["child".into()], spawn: vec![], credits: 0 };
        ground.finish(&claim, finish).await;
    }
    let done = ground.job(id).await;
    assert_eq!((done.state, done.result.as_deref()), (JobState::Completed, Some("seed")));
    assert_eq!(ground.store.rows(ground.team, id, 0, 10).await.unwrap().len(), 3);
}

async fn children_page_by_state(ground: Ground) {
    let new = parent(ground.team);
    let children = jobs(ground.team, 5);
    let all: Vec<Uuid> = children.iter().map(|child| child.id).collect();
    ground.store.enqueue_group(new.clone(), children).await.unwrap();
    let failed = ground.claim_one().await;
    ground.finish(&failed, Finish::Failed { error: "e".into(), credits: 0 }).await;
    let page = async |state, after, limit| {
        let page = ground.store.children(ground.team, new.id, state, after, limit).await.unwrap();
        page.iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(page(JobState::Failed, None, 10).await, [all[0]]);
    assert_eq!(page(JobState::Queued, None, 2).await, all[1..3]);
    assert_eq!(page(JobState::Queued, Some(all[2]), 10).await, all[3..]);
}

async fn children_belong_to_the_parents_team(ground: Ground) {
    let other = team(&*ground.store, "free").await;
    let new = parent(ground.team);
    let refused = ground.store.enqueue_group(new.clone(), jobs(other, 1)).await;
    assert!(matches!(refused, Err(StoreError::Misuse(_))));
    assert!(ground.store.job(ground.team, new.id).await.unwrap().is_none());
    let id = ground.enqueue(job(ground.team)).await;
    let claimed = ground.claim_one().await;
    let finish =
        Finish::Completed { result: None, rows: vec!["r".into()], spawn: jobs(other, 1), credits: 0 };
    assert!(matches!(ground.store.finish(&claimed.lease, finish).await, Err(StoreError::Misuse(_))));
    assert_eq!(ground.state(id).await, JobState::Running, "nothing was written");
    assert!(ground.store.rows(ground.team, id, 0, 10).await.unwrap().is_empty());
}

async fn charges_come_from_the_parents_reservation(ground: Ground) {
    let reservation = NewReservation {
        team_id: ground.team,
        key_id: None,
        amount: 10,
        allowance: Some(100),
        purpose: "crawl".into(),
        hold_for: HOUR,
    };
    let purse = ground.store.reserve(reservation).await.unwrap().unwrap();
    let new = NewJob { reservation: Some(purse), ..parent(ground.team) };
    ground.store.enqueue_group(new.clone(), jobs(ground.team, 3)).await.unwrap();
    let claimed = ground.claim(3).await;
    let done = |credits| Finish::Completed { result: None, rows: vec!["r".into()], spawn: vec![], credits };
    ground.finish(&claimed[0], done(4)).await;
    let balance = ground.store.balance(ground.team).await.unwrap();
    assert_eq!((balance.used, balance.reserved), (4, 6));
    let too_much = ground.store.finish(&claimed[1].lease, done(7)).await;
    assert!(matches!(too_much, Err(StoreError::Misuse(_))), "{too_much:?}");
    assert_eq!(ground.state(claimed[1].job.id).await, JobState::Running, "nothing was written");
    assert_eq!(ground.store.rows(ground.team, new.id, 0, 10).await.unwrap().len(), 1);
    ground.finish(&claimed[1], done(1)).await;
    ground.finish(&claimed[2], Finish::Failed { error: "e".into(), credits: 1 }).await;
    let balance = ground.store.balance(ground.team).await.unwrap();
    assert_eq!((balance.used, balance.reserved), (6, 0), "the parent ended and released the rest");
    assert!(!Credits::close(&*ground.store, purse).await.unwrap());

    ground.enqueue(job(ground.team)).await;
    let unpaid = ground.claim_one().await;
    assert!(matches!(ground.store.finish(&unpaid.lease, done(1)).await, Err(StoreError::Misuse(_))));
    ground.finish(&unpaid, done(0)).await;
}
