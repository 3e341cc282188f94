//! What is done once: keys of callers, and secrets of the server.

use crate::ground::{Ground, HOUR, NOW, a_moment, team};

on_both!(a_key_is_claimed_once, one_of_many_racers_wins_a_key, a_claim_ends, secrets_are_made_once);

async fn a_key_is_claimed_once(ground: Ground) {
    let store = &*ground.store;
    let other = team(store, "free").await;
    let long = "k\0'".repeat(5_000);
    assert!(store.claim_key(ground.team, "batch", &long, HOUR).await.unwrap());
    assert!(!store.claim_key(ground.team, "batch", &long, HOUR).await.unwrap());
    assert!(store.claim_key(ground.team, "crawl", &long, HOUR).await.unwrap(), "another scope");
    assert!(store.claim_key(other, "batch", &long, HOUR).await.unwrap(), "another team");
    store.release_key(ground.team, "batch", &long).await.unwrap();
    assert!(store.claim_key(ground.team, "batch", &long, HOUR).await.unwrap(), "given back");
    assert!(!store.claim_key(other, "batch", &long, HOUR).await.unwrap());
}

async fn one_of_many_racers_wins_a_key(ground: Ground) {
    let stores = [ground.store.clone(), ground.another().await];
    for round in 0..5 {
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..16 {
            let (store, team) = (stores[n % 2].clone(), ground.team);
            tasks.spawn(async move { store.claim_key(team, "s", &round.to_string(), HOUR).await.unwrap() });
        }
        let won = tasks.join_all().await.into_iter().filter(|won| *won).count();
        assert_eq!(won, 1, "round {round}");
    }
}

async fn a_claim_ends(ground: Ground) {
    let store = &*ground.store;
    assert!(store.claim_key(ground.team, "s", "brief", NOW).await.unwrap());
    assert!(store.claim_key(ground.team, "s", "long", HOUR).await.unwrap());
    a_moment().await;
    assert!(store.claim_key(ground.team, "s", "brief", NOW).await.unwrap(), "its time had passed");
    a_moment().await;
    assert_eq!(store.purge_claims(10).await.unwrap(), 1);
    assert_eq!(store.purge_claims(10).await.unwrap(), 0);
    assert!(!store.claim_key(ground.team, "s", "long", HOUR).await.unwrap());
}

async fn secrets_are_made_once(ground: Ground) {
    let stores = [ground.store.clone(), ground.another().await];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..12 {
        let store = stores[n % 2].clone();
        tasks.spawn(async move { store.secret("links").await.unwrap() });
    }
    let made = tasks.join_all().await;
    assert!(made.iter().all(|secret| *secret == made[0]), "the same for all");
    assert_ne!(made[0], [0; 32]);
    assert_ne!(ground.store.secret("else").await.unwrap(), made[0]);
    assert_eq!(ground.another().await.secret("links").await.unwrap(), made[0], "and for later ones");
}
