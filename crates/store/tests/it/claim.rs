//! Accepting and handing out: order, fairness, slots, delays, dedup, and what readers see.

use crate::ground::{Ground, HOUR, a_moment, completed, ids, job, jobs, request, team};
use std::time::Duration;
use store::jobs::{Finish, JobState, KindSlots, NewJob, PlanSlots};
use store::{Store, StoreError};
use uuid::Uuid;

on_both!(
    an_accepted_job_comes_back_as_it_was,
    priority_goes_first_then_age_then_id,
    a_long_queue_does_not_delay_another_team,
    delayed_jobs_wait_and_block_nobody,
    slots_of_a_kind_hold,
    slots_of_a_plan_hold,
    one_key_one_top_level_job,
    bad_jobs_are_refused_whole,
    recent_jobs_page_backwards,
    the_queue_is_counted_per_team,
    work_is_signalled,
    teams_do_not_see_each_other,
);

async fn an_accepted_job_comes_back_as_it_was(ground: Ground) {
    let new = NewJob { priority: -7, max_attempts: 2, payload: "{\"a\":\"ü\"}".into(), ..job(ground.team) };
    let id = ground.enqueue(new.clone()).await;
    let waiting = ground.job(id).await;
    assert_eq!((waiting.state, waiting.priority, waiting.attempts), (JobState::Queued, -7, 0));
    assert_eq!((&waiting.payload, waiting.max_attempts, &waiting.kind), (&new.payload, 2, &new.kind));
    assert_eq!(waiting.run_at, waiting.created_at);
    assert_eq!(waiting.deadline_at - waiting.created_at, 3_600_000);
    assert_eq!((waiting.started_at, waiting.finished_at, waiting.expires_at), (None, None, None));
    let claimed = ground.claim_one().await;
    assert_eq!((claimed.job.id, claimed.job.state, claimed.job.attempts), (id, JobState::Running, 1));
    assert_eq!(claimed.lease.job, id);
    assert!((claimed.job.created_at..claimed.job.deadline_at).contains(&claimed.now), "the store's clock");
    let running = ground.job(id).await;
    assert_eq!(running, claimed.job);
    ground
        .finish(
            &claimed,
            Finish::Completed { result: Some("{}".into()), rows: vec![], spawn: vec![], credits: 0 },
        )
        .await;
    let done = ground.job(id).await;
    assert_eq!((done.state, done.result.as_deref()), (JobState::Completed, Some("{}")));
    assert_eq!(done.expires_at.unwrap() - done.finished_at.unwrap(), 3_600_000);
    assert!(done.started_at.unwrap() <= done.finished_at.unwrap());
    assert!(ground.claim(10).await.is_empty(), "a finished job is not handed out again");
}

async fn priority_goes_first_then_age_then_id(ground: Ground) {
    let with = |priority| NewJob { priority, ..job(ground.team) };
    let (first, second, third) = (with(0), with(5), with(i32::MIN));
    let expected = [second.id, first.id, third.id];
    ground.store.enqueue(vec![third, first.clone(), second]).await.unwrap();
    a_moment().await;
    let later = ground.enqueue(with(0)).await;
    let claimed = ids(&ground.claim(10).await);
    assert_eq!(claimed, [expected[0], expected[1], later, expected[2]]);
}

async fn a_long_queue_does_not_delay_another_team(ground: Ground) {
    let other = team(&*ground.store, "free").await;
    ground.store.enqueue(jobs(ground.team, 40)).await.unwrap();
    let busy = ground.claim(3).await;
    assert_eq!(busy.len(), 3);
    a_moment().await;
    let theirs = ground.enqueue(job(other)).await;
    assert_eq!(ground.claim_one().await.job.id, theirs, "the team with nothing running goes first");
    let more = jobs(other, 10);
    ground.store.enqueue(more).await.unwrap();
    let claimed = ground.claim(8).await;
    let count = |team| claimed.iter().filter(|claim| claim.job.team_id == team).count();
    // 3 against 1 running: after eight more both have six.
    assert_eq!((count(ground.team), count(other)), (3, 5));
}

async fn delayed_jobs_wait_and_block_nobody(ground: Ground) {
    let late = NewJob { delay: HOUR, priority: 9, ..job(ground.team) };
    let soon = NewJob { delay: Duration::from_millis(300), ..job(ground.team) };
    let (late_id, soon_id) = (late.id, soon.id);
    ground.store.enqueue(vec![late, soon]).await.unwrap();
    assert!(ground.claim(10).await.is_empty());
    let now_id = ground.enqueue(job(ground.team)).await;
    assert_eq!(ids(&ground.claim(10).await), [now_id]);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(ids(&ground.claim(10).await), [soon_id]);
    assert_eq!(ground.state(late_id).await, JobState::Queued);
}

async fn slots_of_a_kind_hold(ground: Ground) {
    let mut new = jobs(ground.team, 6);
    new[5].kind = "crawl".into();
    let crawl = new[5].id;
    ground.store.enqueue(new).await.unwrap();
    let mut request = request(10);
    request.kinds = vec![
        KindSlots { kind: "scrape".into(), max_running: Some(2) },
        KindSlots { kind: "crawl".into(), max_running: Some(0) },
    ];
    let claimed = ground.store.claim(&request).await.unwrap();
    assert_eq!(claimed.len(), 2);
    assert!(
        ground.another().await.claim(&request).await.unwrap().is_empty(),
        "another process sees them taken"
    );
    ground.finish(&claimed[0], completed()).await;
    assert_eq!(ground.store.claim(&request).await.unwrap().len(), 1);
    request.kinds[1].max_running = None;
    assert_eq!(ids(&ground.store.claim(&request).await.unwrap()), [crawl]);
    request.kinds = vec![KindSlots { kind: "other".into(), max_running: None }];
    assert!(ground.store.claim(&request).await.unwrap().is_empty(), "only kinds that were asked for");
    request.kinds = Vec::new();
    assert!(ground.store.claim(&request).await.unwrap().is_empty());
}

async fn slots_of_a_plan_hold(ground: Ground) {
    let big = team(&*ground.store, "scale").await;
    ground.store.enqueue(jobs(ground.team, 5)).await.unwrap();
    ground.store.enqueue(jobs(big, 5)).await.unwrap();
    let mut request = request(20);
    request.other_plans = Some(0);
    assert!(ground.store.claim(&request).await.unwrap().is_empty(), "for plans that are not listed");
    request.plans = vec![
        PlanSlots { plan: "free".into(), max_running: Some(2) },
        PlanSlots { plan: "scale".into(), max_running: None },
    ];
    let claimed = ground.store.claim(&request).await.unwrap();
    let count = |team| claimed.iter().filter(|claim| claim.job.team_id == team).count();
    assert_eq!((count(ground.team), count(big)), (2, 5));
    assert!(ground.store.claim(&request).await.unwrap().is_empty());
    ground.store.set_plan(ground.team, "scale").await.unwrap();
    assert_eq!(ground.store.claim(&request).await.unwrap().len(), 3, "the plan counts as it is now");
}

async fn one_key_one_top_level_job(ground: Ground) {
    let keyed = |key: &str| NewJob { dedup_key: Some(key.into()), ..job(ground.team) };
    let first = keyed("a");
    let accepted =
        ground.store.enqueue(vec![first.clone(), keyed("a"), keyed("b"), job(ground.team)]).await.unwrap();
    assert_eq!(accepted.iter().map(|one| one.created).collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(accepted[1].id, first.id);
    let claimed = ground.claim(1).await;
    ground.finish(&claimed[0], completed()).await;
    let again = ground.store.enqueue(vec![keyed("a")]).await.unwrap()[0];
    assert_eq!((again.id, again.created), (first.id, false), "also after it ended");
    let other = team(&*ground.store, "free").await;
    let theirs = NewJob { team_id: other, ..keyed("a") };
    let another_kind = NewJob { kind: "map".into(), ..keyed("a") };
    for new in [theirs, another_kind] {
        assert!(ground.store.enqueue(vec![new]).await.unwrap()[0].created, "keys are per team and kind");
    }
}

async fn bad_jobs_are_refused_whole(ground: Ground) {
    let good = job(ground.team);
    let orphan = job(Uuid::now_v7());
    let refused = ground.store.enqueue(vec![good.clone(), orphan]).await;
    assert!(matches!(refused, Err(StoreError::Misuse(_))), "{refused:?}");
    assert!(ground.store.job(ground.team, good.id).await.unwrap().is_none(), "all or nothing");
    ground.enqueue(good.clone()).await;
    let twice = ground.store.enqueue(vec![good]).await;
    assert!(matches!(twice, Err(StoreError::Misuse(_))), "{twice:?}");
    let unpaid = NewJob { reservation: Some(Uuid::now_v7()), ..job(ground.team) };
    let refused = ground.store.enqueue(vec![unpaid]).await;
    assert!(matches!(refused, Err(StoreError::Misuse(_))), "{refused:?}");
    assert_eq!(ground.store.enqueue(Vec::new()).await.unwrap(), []);
}

async fn recent_jobs_page_backwards(ground: Ground) {
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(ground.enqueue(job(ground.team)).await);
        a_moment().await;
    }
    ground.enqueue(NewJob { kind: "map".into(), ..job(ground.team) }).await;
    let page = ground.store.recent(ground.team, "scrape", None, 2).await.unwrap();
    assert_eq!(page.iter().map(|job| job.id).collect::<Vec<_>>(), [made[2], made[1]]);
    let before = page.last().map(|job| job.created_at);
    let page = ground.store.recent(ground.team, "scrape", before, 2).await.unwrap();
    assert_eq!(page.iter().map(|job| job.id).collect::<Vec<_>>(), [made[0]]);
}

async fn the_queue_is_counted_per_team(ground: Ground) {
    let other = team(&*ground.store, "free").await;
    ground.store.enqueue(jobs(other, 2)).await.unwrap();
    ground.store.enqueue(jobs(ground.team, 3)).await.unwrap();
    ground
        .store
        .enqueue_group(NewJob { kind: "crawl".into(), ..job(ground.team) }, jobs(ground.team, 4))
        .await
        .unwrap();
    let status = ground.store.queue_status(ground.team).await.unwrap();
    assert_eq!((status.waiting, status.active, status.most_recent_success), (7, 0, None));
    let claimed = ground.claim(9).await;
    let ours: Vec<_> = claimed.iter().filter(|claim| claim.job.team_id == ground.team).collect();
    assert_eq!(ours.len(), 7);
    ground.finish(ours[0], completed()).await;
    let status = ground.store.queue_status(ground.team).await.unwrap();
    assert_eq!((status.waiting, status.active), (0, 6));
    let done = ground.job(ours[0].job.id).await.finished_at;
    assert_eq!(status.most_recent_success, done);
}

async fn work_is_signalled(ground: Ground) {
    let elsewhere =
        if ground.store.backend() == "sqlite" { ground.store.clone() } else { ground.another().await };
    let mut signal = ground.store.work_signal();
    // On PostgreSQL the listener may still be connecting, and says so when it has.
    tokio::time::sleep(Duration::from_millis(300)).await;
    signal.mark_unchanged();
    elsewhere.enqueue(vec![job(ground.team)]).await.unwrap();
    tokio::time::timeout(Duration::from_secs(10), signal.changed())
        .await
        .expect("enqueue is signalled")
        .unwrap();
    let claimed = ground.claim_one().await;
    signal.mark_unchanged();
    elsewhere.finish(&claimed.lease, Finish::HandBack).await.unwrap();
    tokio::time::timeout(Duration::from_secs(10), signal.changed())
        .await
        .expect("a hand-back is signalled")
        .unwrap();
}

async fn teams_do_not_see_each_other(ground: Ground) {
    let other = team(&*ground.store, "free").await;
    let parent = job(ground.team);
    let id = parent.id;
    ground.store.enqueue_group(parent, jobs(ground.team, 1)).await.unwrap();
    let claimed = ground.claim_one().await;
    let rows = Finish::Completed { result: None, rows: vec!["1".into()], spawn: vec![], credits: 0 };
    ground.finish(&claimed, rows).await;
    let store: &dyn Store = &*ground.store;
    assert!(store.job(other, id).await.unwrap().is_none());
    assert!(store.rows(other, id, 0, 10).await.unwrap().is_empty());
    assert!(store.children(other, id, JobState::Completed, None, 10).await.unwrap().is_empty());
    assert!(store.recent(other, "scrape", None, 10).await.unwrap().is_empty());
    assert_eq!(store.rows(ground.team, id, 0, 10).await.unwrap().len(), 1);
}
