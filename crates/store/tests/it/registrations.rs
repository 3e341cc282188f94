//! Registrations: an assertion is used once, keys of a user are bounded and revoked together, what expired goes.

use crate::ground::{TestStore, a_moment};
use std::time::{SystemTime, UNIX_EPOCH};
use store::audit_log::Actor;
use store::keys::NewKey;
use store::registrations::NewRegistration;
use uuid::Uuid;

const DAY_MILLIS: i64 = 24 * 3600 * 1000;

on_both!(
    an_assertion_is_used_once,
    older_keys_of_a_user_are_revoked,
    all_keys_of_one_user_are_revoked_together,
    expired_assertions_and_tokens_go,
);

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// One that no other test has: they share a database.
fn random_hash() -> [u8; 32] {
    let halves = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()];
    halves.concat().try_into().unwrap()
}

fn new_registration(ground: &TestStore, user: [u8; 32], expires_at: Option<i64>) -> NewRegistration {
    let key = NewKey {
        id: Uuid::now_v7(),
        team_id: ground.team,
        name: "an agent".to_owned(),
        hint: "gn-abc…".to_owned(),
        hash: random_hash(),
        scopes: vec!["scrape".to_owned()],
        expires_at,
        hosts: Vec::new(),
    };
    NewRegistration { user, client: "client".to_owned(), key, max_keys: 2 }
}

async fn valid_keys(ground: &TestStore) -> usize {
    let keys = ground.store.keys(ground.team).await.unwrap();
    keys.iter().filter(|key| key.revoked_at.is_none()).count()
}

async fn an_assertion_is_used_once(ground: TestStore) {
    let (assertion, until) = (random_hash(), now() + DAY_MILLIS);
    let mut stores = vec![ground.another().await];
    stores.resize(8, ground.store.clone());
    let uses: Vec<_> = stores
        .into_iter()
        .map(|store| tokio::spawn(async move { store.use_assertion(&assertion, until).await.unwrap() }))
        .collect();
    let mut first = 0;
    for used in uses {
        first += usize::from(used.await.unwrap());
    }
    assert_eq!(first, 1);
    assert!(ground.store.use_assertion(&random_hash(), until).await.unwrap());
}

async fn older_keys_of_a_user_are_revoked(ground: TestStore) {
    let (one, other) = (random_hash(), random_hash());
    for user in [one, one, one, other] {
        ground.store.register(new_registration(&ground, user, None), &Actor::server()).await.unwrap();
        a_moment().await;
    }
    let keys = ground.store.keys(ground.team).await.unwrap();
    let revoked: Vec<bool> = keys.iter().map(|key| key.revoked_at.is_some()).collect();
    assert_eq!(revoked, [true, false, false, false], "the newest two of one user and the other's stay");
}

async fn all_keys_of_one_user_are_revoked_together(ground: TestStore) {
    let (one, other) = (random_hash(), random_hash());
    for user in [one, one, other] {
        ground.store.register(new_registration(&ground, user, None), &Actor::server()).await.unwrap();
    }
    assert_eq!(ground.store.revoke_user(&one, &Actor::server()).await.unwrap(), 2);
    assert_eq!(
        ground.store.revoke_user(&one, &Actor::server()).await.unwrap(),
        0,
        "nothing is left to revoke"
    );
    assert_eq!(valid_keys(&ground).await, 1);
}

async fn expired_assertions_and_tokens_go(ground: TestStore) {
    let (store, user, assertion) = (&ground.store, random_hash(), random_hash());
    assert!(store.use_assertion(&assertion, 1).await.unwrap());
    store
        .register(new_registration(&ground, user, Some(now() - 2 * DAY_MILLIS)), &Actor::server())
        .await
        .unwrap();
    store.register(new_registration(&ground, user, None), &Actor::server()).await.unwrap();
    while store.purge_registrations(10).await.unwrap() > 0 {}
    assert_eq!(store.keys(ground.team).await.unwrap().len(), 1, "the key without an end stays");
    assert!(store.use_assertion(&assertion, 1).await.unwrap(), "forgotten: it had expired");
}
