//! The outbox: order within a subject, leases, retries, dead letters, and the secrets webhooks are signed with.

use crate::ground::{HOUR, NOW, TestStore, a_moment, cases, number, team};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use store::Store;
use store::audit_log::Actor;
use store::webhooks::{Delivery, DeliveryEnd, DeliveryLease, NewDelivery};
use uuid::Uuid;

on_both!(
    what_waits_for_its_time_is_not_handed_out_before,
    what_is_written_comes_out_as_it_was,
    deliveries_of_a_subject_come_one_at_a_time_in_their_order,
    a_lost_lease_is_handed_out_again_and_writes_nothing,
    a_failed_attempt_waits_and_counts_and_a_handed_back_one_does_not_count,
    what_is_given_up_makes_room_and_can_be_read_and_revived,
    a_revived_delivery_has_its_turn_now_but_never_beside_another,
    dead_letters_are_read_in_pages,
    dead_letters_end,
    what_was_written_twice_goes_out_once,
    many_writers_and_senders_lose_nothing_and_keep_the_order,
    a_claim_does_not_slow_down_with_what_waits_behind,
    the_first_secret_is_the_same_for_all,
    a_secret_is_rotated,
);

fn delivery(team_id: Uuid, subject: Uuid) -> NewDelivery {
    NewDelivery {
        id: Uuid::now_v7(),
        team_id,
        subject,
        event: "crawl.page".into(),
        target: r#"{"url":"http://receiver.test/"}"#.into(),
        body: br#"{"data":[]}"#.to_vec(),
        document: None,
        not_before: None,
    }
}

/// So many deliveries of one subject, written; their ids.
async fn written(ground: &TestStore, subject: Uuid, count: usize) -> Vec<Uuid> {
    let all: Vec<_> = (0..count).map(|_| delivery(ground.team, subject)).collect();
    let ids = all.iter().map(|one| one.id).collect();
    ground.store.enqueue_deliveries(all).await.unwrap();
    ids
}

async fn claim(store: &dyn Store, limit: u32) -> Vec<(DeliveryLease, Delivery)> {
    store.claim_deliveries(limit, HOUR).await.unwrap()
}

/// The one delivery that is due, or will be in a moment, should the clock be set back by one.
async fn claim_one(ground: &TestStore) -> (DeliveryLease, Delivery) {
    let mut claimed = claim(&*ground.store, 10).await;
    if claimed.is_empty() {
        a_moment().await;
        claimed = claim(&*ground.store, 10).await;
    }
    assert_eq!(claimed.len(), 1, "one delivery is due");
    claimed.remove(0)
}

async fn end(ground: &TestStore, lease: DeliveryLease, end: DeliveryEnd) {
    assert!(ground.store.end_delivery(lease, end).await.unwrap(), "the lease is held");
}

fn given_up() -> DeliveryEnd {
    DeliveryEnd::GivenUp { error: "the receiver answered 500".into(), keep_for: HOUR }
}

async fn what_is_written_comes_out_as_it_was(ground: TestStore) {
    let new = NewDelivery {
        event: "crawl.page\0".into(),
        body: vec![0, 1, 255],
        document: Some(7),
        ..delivery(ground.team, Uuid::now_v7())
    };
    ground.store.enqueue_deliveries(Vec::new()).await.unwrap();
    ground.store.enqueue_deliveries(vec![new.clone()]).await.unwrap();
    let (lease, read) = claim_one(&ground).await;
    assert_eq!(
        (lease.delivery, read.id, read.team_id, read.subject),
        (new.id, new.id, ground.team, new.subject)
    );
    assert_eq!((read.event.as_str(), read.target), ("crawl.page\u{fffd}", new.target));
    assert_eq!((read.body, read.document), (new.body, Some(7)));
    assert_eq!((read.attempts, read.last_error, read.given_up_at), (0, None, None));
    assert!(read.created_at > 1_700_000_000_000 && read.queued_at == read.created_at);
    assert!(claim(&*ground.store, 0).await.is_empty());
}

async fn deliveries_of_a_subject_come_one_at_a_time_in_their_order(ground: TestStore) {
    let (one, other) = (Uuid::now_v7(), Uuid::now_v7());
    let ids = written(&ground, one, 2).await;
    let beside = written(&ground, other, 1).await;
    let mut later = written(&ground, one, 1).await;
    let claimed = claim(&*ground.store, 10).await;
    let first: HashSet<_> = claimed.iter().map(|(lease, _)| lease.delivery).collect();
    assert_eq!(first, HashSet::from([ids[0], beside[0]]), "the first of each subject");
    assert!(claim(&*ground.store, 10).await.is_empty(), "and no more while they are out");
    for (lease, _) in claimed {
        end(&ground, lease, DeliveryEnd::Delivered).await;
    }
    for id in [ids[1], later.remove(0)] {
        let (lease, read) = claim_one(&ground).await;
        assert_eq!(read.id, id);
        end(&ground, lease, DeliveryEnd::Delivered).await;
    }
    assert!(claim(&*ground.store, 10).await.is_empty());
    for table in ["SELECT count(*) FROM deliveries", "SELECT count(*) FROM delivery_subjects"] {
        assert_eq!(number(&ground.url, table).await, 0, "nothing is left behind");
    }
}

async fn a_lost_lease_is_handed_out_again_and_writes_nothing(ground: TestStore) {
    let ids = written(&ground, Uuid::now_v7(), 2).await;
    let lost = ground.store.claim_deliveries(1, NOW).await.unwrap();
    a_moment().await;
    let (held, again) = claim_one(&ground).await;
    assert_eq!((again.id, again.attempts), (ids[0], 0), "the same once more");
    for late in [DeliveryEnd::Delivered, given_up(), DeliveryEnd::HandBack { delay: NOW }] {
        assert!(!ground.store.end_delivery(lost[0].0, late).await.unwrap());
    }
    end(&ground, held, DeliveryEnd::Delivered).await;
    assert!(!ground.store.end_delivery(held, DeliveryEnd::Delivered).await.unwrap(), "it is gone");
    assert_eq!(claim_one(&ground).await.1.id, ids[1]);
}

async fn a_failed_attempt_waits_and_counts_and_a_handed_back_one_does_not_count(ground: TestStore) {
    let ids = written(&ground, Uuid::now_v7(), 2).await;
    let later = |delay| DeliveryEnd::Later { error: "no answer\0".into(), delay };
    let (lease, _) = claim_one(&ground).await;
    end(&ground, lease, later(Duration::from_millis(5))).await;
    a_moment().await;
    let (lease, read) = claim_one(&ground).await;
    assert_eq!((read.id, read.attempts), (ids[0], 1), "the next one still waits");
    assert_eq!(read.last_error.as_deref(), Some("no answer\u{fffd}"));
    end(&ground, lease, DeliveryEnd::HandBack { delay: NOW }).await;
    let (lease, read) = claim_one(&ground).await;
    assert_eq!((read.id, read.attempts), (ids[0], 1));
    end(&ground, lease, later(HOUR)).await;
    assert!(claim(&*ground.store, 10).await.is_empty(), "an hour has not passed");
}

async fn what_is_given_up_makes_room_and_can_be_read_and_revived(ground: TestStore) {
    let subject = Uuid::now_v7();
    let ids = written(&ground, subject, 2).await;
    let (lease, _) = claim_one(&ground).await;
    end(&ground, lease, given_up()).await;
    assert!(!ground.store.end_delivery(lease, DeliveryEnd::Delivered).await.unwrap(), "it has ended");
    let (second, read) = claim_one(&ground).await;
    assert_eq!(read.id, ids[1], "the next has its turn");
    end(&ground, second, DeliveryEnd::Delivered).await;

    let dead = ground.store.dead_letters(ground.team, None, 10).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!((dead[0].id, dead[0].attempts), (ids[0], 1));
    assert_eq!(dead[0].last_error.as_deref(), Some("the receiver answered 500"));
    assert!(dead[0].given_up_at.unwrap() >= dead[0].created_at);

    let other = team(&*ground.store, "free").await;
    assert!(ground.store.dead_letters(other, None, 10).await.unwrap().is_empty());
    assert!(!ground.store.revive_delivery(other, ids[0]).await.unwrap());
    assert!(!ground.store.revive_delivery(ground.team, Uuid::now_v7()).await.unwrap());
    assert!(!ground.store.revive_delivery(ground.team, ids[1]).await.unwrap(), "it was delivered");
    a_moment().await;
    assert!(ground.store.revive_delivery(ground.team, ids[0]).await.unwrap());
    assert!(!ground.store.revive_delivery(ground.team, ids[0]).await.unwrap(), "once");
    assert!(ground.store.dead_letters(ground.team, None, 10).await.unwrap().is_empty());
    let (again, read) = claim_one(&ground).await;
    assert_eq!((read.id, read.attempts, read.last_error), (ids[0], 0, None));
    assert!(read.queued_at > read.created_at && read.given_up_at.is_none());
    assert!(
        !ground.store.end_delivery(lease, DeliveryEnd::Delivered).await.unwrap(),
        "an old lease stays lost"
    );
    end(&ground, again, DeliveryEnd::Delivered).await;
}

async fn a_revived_delivery_has_its_turn_now_but_never_beside_another(ground: TestStore) {
    let ids = written(&ground, Uuid::now_v7(), 2).await;
    let (lease, _) = claim_one(&ground).await;
    end(&ground, lease, given_up()).await;
    let (held, _) = claim_one(&ground).await;
    assert!(ground.store.revive_delivery(ground.team, ids[0]).await.unwrap());
    assert!(claim(&*ground.store, 10).await.is_empty(), "the other one is out");
    end(&ground, held, DeliveryEnd::Later { error: "no".into(), delay: HOUR }).await;
    let (revived, read) = claim_one(&ground).await;
    assert_eq!(read.id, ids[0], "it does not wait for what the other one waits for");
    end(&ground, revived, DeliveryEnd::Delivered).await;
    assert!(claim(&*ground.store, 10).await.is_empty(), "and the other one still waits");

    let ids = written(&ground, Uuid::now_v7(), 2).await;
    let (lease, _) = claim_one(&ground).await;
    end(&ground, lease, given_up()).await;
    let (waiting, _) = claim_one(&ground).await;
    end(&ground, waiting, DeliveryEnd::Later { error: "no".into(), delay: HOUR }).await;
    assert!(ground.store.revive_delivery(ground.team, ids[0]).await.unwrap());
    assert_eq!(claim_one(&ground).await.1.id, ids[0], "whoever asks for it does not wait for the others");
}

async fn dead_letters_are_read_in_pages(ground: TestStore) {
    let ids = written(&ground, Uuid::now_v7(), 5).await;
    for _ in 0..5 {
        let (lease, _) = claim_one(&ground).await;
        end(&ground, lease, given_up()).await;
    }
    let mut seen = Vec::new();
    let mut before = None;
    for expected in [2, 2, 1, 0] {
        let page = ground.store.dead_letters(ground.team, before, 2).await.unwrap();
        assert_eq!(page.len(), expected);
        before = page.last().map(|letter| letter.id);
        seen.extend(page.iter().map(|letter| letter.id));
    }
    assert_eq!(seen, ids.into_iter().rev().collect::<Vec<_>>(), "newest first, each once");
}

async fn dead_letters_end(ground: TestStore) {
    written(&ground, Uuid::now_v7(), 4).await;
    for keep_for in [NOW, NOW, HOUR] {
        let (lease, _) = claim_one(&ground).await;
        end(&ground, lease, DeliveryEnd::GivenUp { error: "no".into(), keep_for }).await;
    }
    a_moment().await;
    assert_eq!(ground.store.purge_deliveries(1).await.unwrap(), 1);
    assert_eq!(ground.store.purge_deliveries(10).await.unwrap(), 1);
    assert_eq!(ground.store.purge_deliveries(10).await.unwrap(), 0);
    assert_eq!(ground.store.dead_letters(ground.team, None, 10).await.unwrap().len(), 1);
    claim_one(&ground).await;
}

async fn what_was_written_twice_goes_out_once(ground: TestStore) {
    let one = delivery(ground.team, Uuid::now_v7());
    for _ in 0..2 {
        ground.store.enqueue_deliveries(vec![one.clone(), one.clone()]).await.unwrap();
    }
    let (lease, _) = claim_one(&ground).await;
    end(&ground, lease, given_up()).await;
    // Its subject has nothing open, and writing what is known opens nothing.
    ground.store.enqueue_deliveries(vec![one.clone()]).await.unwrap();
    assert!(claim(&*ground.store, 10).await.is_empty());
    assert_eq!(number(&ground.url, "SELECT count(*) FROM delivery_subjects").await, 0);
    let next = delivery(ground.team, one.subject);
    ground.store.enqueue_deliveries(vec![one, next.clone()]).await.unwrap();
    assert_eq!(claim_one(&ground).await.1.id, next.id);
}

/// Subjects become empty and are written to again at the same time, from two processes.
async fn many_writers_and_senders_lose_nothing_and_keep_the_order(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    let rounds = cases(25, 400);
    let subjects: Vec<Uuid> = (0..4).map(|_| Uuid::now_v7()).collect();
    let mut writers = tokio::task::JoinSet::new();
    for (n, subject) in subjects.iter().enumerate() {
        let (store, team, subject) = (stores[n % 2].clone(), ground.team, *subject);
        writers.spawn(async move {
            let mut ids = Vec::new();
            for round in 0..rounds {
                let batch: Vec<_> = (0..=round % 3).map(|_| delivery(team, subject)).collect();
                ids.extend(batch.iter().map(|one| one.id));
                store.enqueue_deliveries(batch).await.unwrap();
            }
            (subject, ids)
        });
    }
    let delivered: Arc<Mutex<HashMap<Uuid, Vec<Uuid>>>> = Arc::default();
    let mut senders = tokio::task::JoinSet::new();
    for n in 0..4 {
        let (store, delivered) = (stores[n % 2].clone(), delivered.clone());
        senders.spawn(async move {
            loop {
                for (lease, one) in claim(&*store, 3).await {
                    delivered.lock().unwrap().entry(one.subject).or_default().push(one.id);
                    assert!(store.end_delivery(lease, DeliveryEnd::Delivered).await.unwrap());
                }
                tokio::task::yield_now().await;
            }
        });
    }
    let expected: HashMap<Uuid, Vec<Uuid>> = writers.join_all().await.into_iter().collect();
    let started = Instant::now();
    while *delivered.lock().unwrap() != expected {
        assert!(started.elapsed() < Duration::from_mins(1), "everything is delivered, once, in its order");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    senders.shutdown().await;
}

async fn a_claim_does_not_slow_down_with_what_waits_behind(ground: TestStore) {
    let (subject, waiting) = (Uuid::now_v7(), Uuid::now_v7());
    written(&ground, waiting, 1).await;
    let (lease, _) = claim_one(&ground).await;
    end(&ground, lease, DeliveryEnd::Later { error: "no".into(), delay: HOUR }).await;
    written(&ground, subject, 10).await;
    let short = best_turn(&ground).await;
    for subject in [subject, waiting] {
        written(&ground, subject, 6_000).await;
    }
    let long = best_turn(&ground).await;
    // A walk through what waits would make it hundreds of times dearer; a deeper index does not.
    assert!(
        long < short * 10 + Duration::from_millis(5),
        "{short:?} before a few, {long:?} before thousands"
    );
}

/// The quickest of some claims, each given back: what others do on this machine only adds to one.
async fn best_turn(ground: &TestStore) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..12 {
        let started = Instant::now();
        let (lease, _) = claim_one(ground).await;
        end(ground, lease, DeliveryEnd::HandBack { delay: NOW }).await;
        best = best.min(started.elapsed());
    }
    best
}

async fn the_first_secret_is_the_same_for_all(ground: TestStore) {
    assert!(ground.store.webhook_secrets(ground.team).await.unwrap().is_empty());
    let stores = [ground.store.clone(), ground.another().await];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..12 {
        let (store, team) = (stores[n % 2].clone(), ground.team);
        tasks.spawn(async move { store.first_webhook_secret(team, &format!("secret {n}")).await.unwrap() });
    }
    let answers = tasks.join_all().await;
    assert!(answers.iter().all(|answer| answer.len() == 1 && *answer == answers[0]), "{answers:?}");
    assert_eq!(ground.store.webhook_secrets(ground.team).await.unwrap(), answers[0]);
    let other = team(&*ground.store, "free").await;
    assert!(ground.store.webhook_secrets(other).await.unwrap().is_empty());
}

async fn a_secret_is_rotated(ground: TestStore) {
    let store = &*ground.store;
    let texts = async || {
        let known = store.webhook_secrets(ground.team).await.unwrap();
        known.into_iter().map(|one| (one.secret, one.until.is_some())).collect::<Vec<_>>()
    };
    let rotated = store.rotate_webhook_secret(ground.team, "one", HOUR, &Actor::server()).await.unwrap();
    assert_eq!((rotated.secret.as_str(), rotated.until), ("one", None));
    assert_eq!(texts().await, [("one".to_owned(), false)], "also as the first");
    store.rotate_webhook_secret(ground.team, "two", HOUR, &Actor::server()).await.unwrap();
    assert_eq!(texts().await, [("two".to_owned(), false), ("one".to_owned(), true)]);
    store
        .rotate_webhook_secret(ground.team, "three", Duration::from_millis(5), &Actor::server())
        .await
        .unwrap();
    a_moment().await;
    assert_eq!(texts().await, [("three".to_owned(), false)], "two was phased out and one dropped at once");
    store.purge_deliveries(10).await.unwrap();
    assert_eq!(number(&ground.url, "SELECT count(*) FROM webhook_secrets").await, 1);

    let stores = [ground.store.clone(), ground.another().await];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let (store, team) = (stores[n % 2].clone(), ground.team);
        tasks.spawn(async move {
            store.rotate_webhook_secret(team, &format!("r{n}"), HOUR, &Actor::server()).await
        });
    }
    assert!(tasks.join_all().await.iter().all(Result::is_ok), "many at once take turns");
    assert_eq!(texts().await.len(), 2, "never more than two");
}

async fn what_waits_for_its_time_is_not_handed_out_before(ground: TestStore) {
    let store = &*ground.store;
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let at = |millis| NewDelivery { not_before: Some(millis), ..delivery(ground.team, Uuid::now_v7()) };
    let (past, later, soon) = (at(now - 1_000), at(now + 3_600_000), at(now + 1_500));
    store.enqueue_deliveries(vec![past.clone(), later.clone(), soon.clone()]).await.unwrap();
    // Written again with the same id, as each check of a night does: it is sent once, at its time.
    store.enqueue_deliveries(vec![later.clone(), soon.clone()]).await.unwrap();
    let claimed = async || {
        let claimed = store.claim_deliveries(9, HOUR).await.unwrap();
        claimed.iter().map(|(lease, _)| lease.delivery).collect::<Vec<_>>()
    };
    assert_eq!(claimed().await, [past.id]);
    tokio::time::sleep(Duration::from_millis(1_700)).await;
    assert_eq!(claimed().await, [soon.id]);
}
