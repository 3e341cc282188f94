//! What is done once: keys of callers, and secrets of the server.

use crate::agents_ground::new_run;
use crate::crawls_ground::{batch, crawl, pages};
use crate::ground::{HOUR, NOW, TestStore, a_moment, scrape, team};
use store::admission::{Admission, NotAdmitted};
use store::agents::{NewRun, StartedRun};
use store::crawls::{Appended, NewCrawl, StartedCrawl};
use store::idempotency::{KeyClaim, UsedKey};
use store::scrapes::NewScrape;
use uuid::Uuid;

on_both!(
    a_key_is_claimed_once,
    one_of_many_racers_wins_a_key,
    a_pending_claim_lapses,
    a_recorded_scrape_completes_its_claim,
    only_its_holder_ends_a_pending_claim,
    pending_claims_are_given_back_together,
    what_is_started_uses_its_key_in_the_same_transaction,
    one_of_many_starts_with_a_key_wins,
    secrets_are_made_once,
);

fn claim(team_id: Uuid, scope: &str, key: &str) -> KeyClaim {
    let resource = Uuid::now_v7();
    KeyClaim { team_id, scope: scope.into(), key: key.into(), resource, keep_for: HOUR }
}

fn with_key(claim: &KeyClaim) -> Admission {
    Admission { max_waiting: None, claim: Some(claim.clone()) }
}

fn used(claim: &KeyClaim, done: bool) -> UsedKey {
    UsedKey { resource: Some(claim.resource), done }
}

async fn a_key_is_claimed_once(ground: TestStore) {
    let store = &*ground.store;
    let other = team(store, "free").await;
    let long = "k\0'".repeat(5_000);
    let first = claim(ground.team, "batch", &long);
    assert_eq!(store.used_key(ground.team, "batch", &long).await.unwrap(), None);
    assert_eq!(store.claim_key(&first, HOUR).await.unwrap(), None);
    let pending = Some(used(&first, false));
    assert_eq!(store.claim_key(&claim(ground.team, "batch", &long), HOUR).await.unwrap(), pending);
    assert_eq!(store.used_key(ground.team, "batch", &long).await.unwrap(), pending);
    let elsewhere = store.claim_key(&claim(ground.team, "crawl", &long), HOUR).await.unwrap();
    assert_eq!(elsewhere, None, "another scope");
    let stranger = claim(other, "batch", &long);
    assert_eq!(store.claim_key(&stranger, HOUR).await.unwrap(), None, "another team");
    store.release_key(&first).await.unwrap();
    assert_eq!(store.claim_key(&claim(ground.team, "batch", &long), HOUR).await.unwrap(), None, "given back");
    assert_eq!(store.used_key(other, "batch", &long).await.unwrap(), Some(used(&stranger, false)));
}

async fn one_of_many_racers_wins_a_key(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    for round in 0..5 {
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..32 {
            let (store, claim) = (stores[n % 2].clone(), claim(ground.team, "s", &round.to_string()));
            tasks.spawn(async move { store.claim_key(&claim, HOUR).await.unwrap() });
        }
        let won = tasks.join_all().await.into_iter().filter(Option::is_none).count();
        assert_eq!(won, 1, "round {round}");
    }
}

async fn a_pending_claim_lapses(ground: TestStore) {
    let store = &*ground.store;
    let (lost, long) = (claim(ground.team, "s", "brief"), claim(ground.team, "s", "long"));
    assert_eq!(store.claim_key(&lost, NOW).await.unwrap(), None);
    assert_eq!(store.claim_key(&long, HOUR).await.unwrap(), None);
    a_moment().await;
    assert_eq!(store.used_key(ground.team, "s", "brief").await.unwrap(), None, "its time had passed");
    let retry = claim(ground.team, "s", "brief");
    assert_eq!(store.claim_key(&retry, NOW).await.unwrap(), None);
    a_moment().await;
    assert_eq!(store.purge_idempotency_keys(10).await.unwrap(), 1);
    assert_eq!(store.purge_idempotency_keys(10).await.unwrap(), 0);
    let again = store.claim_key(&claim(ground.team, "s", "long"), HOUR).await.unwrap();
    assert_eq!(again, Some(used(&long, false)));
}

/// The claim ends in the transaction that records the scrape: used when it came to something, free when it did not.
async fn a_recorded_scrape_completes_its_claim(ground: TestStore) {
    let store = &*ground.store;
    for (ok, lapsed) in [(true, false), (false, false), (true, true), (false, true)] {
        let key = format!("{ok} {lapsed}");
        let held = claim(ground.team, "scrape", &key);
        assert_eq!(store.claim_key(&held, if lapsed { NOW } else { HOUR }).await.unwrap(), None);
        a_moment().await;
        if lapsed {
            // Nobody came: the work is recorded late, and its key stays used all the same.
            store.purge_idempotency_keys(10).await.unwrap();
        }
        let record = NewScrape { id: held.resource, ok, claim: Some(held.clone()), ..scrape(ground.team) };
        store.record_scrapes(vec![record, scrape(ground.team)]).await.unwrap();
        let expected = ok.then(|| used(&held, true));
        assert_eq!(store.used_key(ground.team, "scrape", &key).await.unwrap(), expected, "{key}");
        store.release_key(&held).await.unwrap();
        assert_eq!(store.used_key(ground.team, "scrape", &key).await.unwrap(), expected, "done stays done");
    }
}

/// A request that was taken for lost and wakes up changes nothing about who has its key now.
async fn only_its_holder_ends_a_pending_claim(ground: TestStore) {
    let store = &*ground.store;
    let (lost, retry) = (claim(ground.team, "scrape", "k"), claim(ground.team, "scrape", "k"));
    assert_eq!(store.claim_key(&lost, NOW).await.unwrap(), None);
    a_moment().await;
    assert_eq!(store.claim_key(&retry, HOUR).await.unwrap(), None);
    store.release_key(&lost).await.unwrap();
    let held = Some(used(&retry, false));
    assert_eq!(store.used_key(ground.team, "scrape", "k").await.unwrap(), held);
    let late = NewScrape { id: lost.resource, claim: Some(lost.clone()), ..scrape(ground.team) };
    store.record_scrapes(vec![late]).await.unwrap();
    assert_eq!(store.used_key(ground.team, "scrape", "k").await.unwrap(), held);
    let done = NewScrape { id: retry.resource, claim: Some(retry.clone()), ..scrape(ground.team) };
    store.record_scrapes(vec![done]).await.unwrap();
    assert_eq!(store.used_key(ground.team, "scrape", "k").await.unwrap(), Some(used(&retry, true)));
}

async fn pending_claims_are_given_back_together(ground: TestStore) {
    let store = &*ground.store;
    let (pending, done) = (claim(ground.team, "s", "pending"), claim(ground.team, "s", "done"));
    for claim in [&pending, &done] {
        assert_eq!(store.claim_key(claim, HOUR).await.unwrap(), None);
    }
    store.record_scrapes(vec![NewScrape { claim: Some(done.clone()), ..scrape(ground.team) }]).await.unwrap();
    assert_eq!(store.release_pending_keys().await.unwrap(), 1);
    assert_eq!(store.used_key(ground.team, "s", "pending").await.unwrap(), None);
    assert_eq!(store.used_key(ground.team, "s", "done").await.unwrap(), Some(used(&done, true)));
}

/// A crawl, a batch, more of a batch, a run: there with its key, or neither is.
async fn what_is_started_uses_its_key_in_the_same_transaction(ground: TestStore) {
    let store = &*ground.store;
    let key = claim(ground.team, "crawl", "k");
    let new = NewCrawl { id: key.resource, admission: with_key(&key), ..crawl(ground.team) };
    assert_eq!(store.start_crawl(new, pages(1..=2)).await.unwrap(), StartedCrawl::Accepted);
    let taken = NotAdmitted::KeyUsed(used(&key, true));
    let retry = NewCrawl { admission: with_key(&claim(ground.team, "crawl", "k")), ..crawl(ground.team) };
    let id = retry.id;
    assert_eq!(store.start_crawl(retry, pages(1..=2)).await.unwrap(), StartedCrawl::Refused(taken));
    assert!(store.crawl(ground.team, id).await.unwrap().is_none(), "nothing of it was written");

    let unkept = claim(ground.team, "crawl", "unkept");
    let reservation = Some(Uuid::now_v7());
    let broken = NewCrawl { reservation, admission: with_key(&unkept), ..crawl(ground.team) };
    assert!(store.start_crawl(broken, pages(1..=1)).await.is_err());
    assert_eq!(
        store.used_key(ground.team, "crawl", "unkept").await.unwrap(),
        None,
        "what failed used no key"
    );

    let list = batch(ground.team);
    let (id, more) = (list.id, claim(ground.team, "batch", "more"));
    store.start_crawl(list, pages(1..=1)).await.unwrap();
    let mut added = Vec::new();
    for numbers in [2..=3, 4..=5] {
        added.push(
            store.append_entries(ground.team, id, pages(numbers), None, with_key(&more)).await.unwrap(),
        );
    }
    assert_eq!(added, [Appended::Added(2), Appended::Refused(NotAdmitted::KeyUsed(used(&more, true)))]);
    assert_eq!(store.crawl(ground.team, id).await.unwrap().unwrap().counts.queued, 3);
    let unused = claim(ground.team, "batch", "unused");
    let nowhere = store.append_entries(ground.team, Uuid::now_v7(), pages(1..=1), None, with_key(&unused));
    assert_eq!(nowhere.await.unwrap(), Appended::NotFound);
    assert_eq!(store.used_key(ground.team, "batch", "unused").await.unwrap(), None);

    let key = claim(ground.team, "agent", "k");
    let run = NewRun { admission: with_key(&key), ..new_run(ground.team) };
    assert!(matches!(store.start_run(run).await.unwrap(), StartedRun::Accepted { .. }));
    let retry = NewRun { admission: with_key(&claim(ground.team, "agent", "k")), ..new_run(ground.team) };
    let refused = NotAdmitted::KeyUsed(used(&key, true));
    assert_eq!(store.start_run(retry).await.unwrap(), StartedRun::Refused(refused));
    assert_eq!(store.queue_status(ground.team).await.unwrap().waiting, 2 + 3 + 1);
}

async fn one_of_many_starts_with_a_key_wins(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..32 {
        let (store, key) = (stores[n % 2].clone(), claim(ground.team, "crawl", "k"));
        let new = NewCrawl { id: key.resource, admission: with_key(&key), ..crawl(ground.team) };
        tasks.spawn(async move { (key.resource, store.start_crawl(new, pages(1..=3)).await.unwrap()) });
    }
    let started = tasks.join_all().await;
    let won: Vec<Uuid> =
        started.iter().filter(|(_, how)| *how == StartedCrawl::Accepted).map(|(id, _)| *id).collect();
    assert_eq!(won.len(), 1);
    let told = StartedCrawl::Refused(NotAdmitted::KeyUsed(UsedKey { resource: Some(won[0]), done: true }));
    assert!(started.iter().all(|(id, how)| *id == won[0] || *how == told), "{started:?}");
    assert_eq!(ground.store.queue_status(ground.team).await.unwrap().waiting, 3);
}

async fn secrets_are_made_once(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..12 {
        let store = stores[n % 2].clone();
        tasks.spawn(async move { store.server_secret("links").await.unwrap() });
    }
    let made = tasks.join_all().await;
    assert!(made.iter().all(|secret| *secret == made[0]), "the same for all");
    assert_ne!(made[0], [0; 32]);
    assert_ne!(ground.store.server_secret("else").await.unwrap(), made[0]);
    assert_eq!(ground.another().await.server_secret("links").await.unwrap(), made[0], "and for later ones");
}
