//! Authorizations: a code works once whoever uses it, refresh tokens rotate, and all of it ends by time, by hand, by a
//! second use, and with the key of the person.

use crate::ground::{HOUR, TestStore, a_moment};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::audit_log::Actor;
use store::authorizations::{NewAuthorization, OAuthClient, RefreshHashes, RenewedSecret, Traded};
use store::keys::{KeyChange, NewKey};
use uuid::Uuid;

on_both!(
    a_code_is_used_once_and_a_second_use_revokes,
    refresh_tokens_rotate_and_reuse_revokes,
    a_key_ends_with_the_key_of_the_person,
    what_expired_goes,
);

/// One that no other test has: they share a database.
fn random_hash() -> [u8; 32] {
    [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat().try_into().unwrap()
}

fn new_key(ground: &TestStore) -> NewKey {
    NewKey {
        id: Uuid::now_v7(),
        team_id: ground.team,
        name: "app".to_owned(),
        hint: "gn-…".to_owned(),
        hash: random_hash(),
        scopes: vec!["scrape".to_owned()],
        expires_at: Some(i64::MAX),
        hosts: Vec::new(),
    }
}

fn new_refresh() -> RefreshHashes {
    RefreshHashes { family: random_hash(), newest: random_hash() }
}

/// Somebody allows a client; the code, and the key of that person.
async fn allow(ground: &TestStore, keep_for: Duration) -> ([u8; 32], Uuid) {
    let hosts = vec!["a.example".to_owned()];
    let approver = ground
        .store
        .create_key(NewKey { expires_at: None, hosts, ..new_key(ground) }, &Actor::server())
        .await
        .unwrap()
        .id;
    let new = NewAuthorization {
        key: Uuid::now_v7(),
        team: ground.team,
        approver,
        client: "client".to_owned(),
        name: "App".to_owned(),
        redirect_uri: "http://127.0.0.1/".to_owned(),
        challenge: "challenge".to_owned(),
        scopes: vec!["scrape".to_owned()],
        code: random_hash(),
    };
    let code = new.code;
    assert!(ground.store.authorize(new, keep_for, &Actor::server()).await.unwrap());
    (code, approver)
}

#[track_caller]
fn key_of(traded: Traded) -> store::keys::ApiKey {
    match traded {
        Traded::Key(key) => key,
        other => panic!("{other:?}"),
    }
}

async fn a_code_is_used_once_and_a_second_use_revokes(ground: TestStore) {
    let (code, approver) = allow(&ground, HOUR).await;
    let found = ground.store.authorization_by_code(&code).await.unwrap().expect("it is there");
    assert_eq!((found.client.as_str(), found.team), ("client", ground.team));
    let mut stores: Vec<Arc<dyn Store>> = vec![ground.another().await];
    stores.resize(8, ground.store.clone());
    let trades: Vec<_> = stores
        .into_iter()
        .map(|store| {
            let key = new_key(&ground);
            tokio::spawn(async move {
                store.redeem_code(&code, key, new_refresh(), HOUR, &Actor::server()).await.unwrap()
            })
        })
        .collect();
    let mut keys = Vec::new();
    for trade in trades {
        match trade.await.unwrap() {
            Traded::Key(key) => keys.push(key),
            other => assert_eq!(other, Traded::UsedBefore),
        }
    }
    assert_eq!(keys.iter().map(|key| key.id).collect::<Vec<_>>(), [found.key]);
    let listed = ground.store.keys(ground.team).await.unwrap();
    let revoked: Vec<_> = listed.iter().filter(|key| key.revoked_at.is_some()).map(|key| key.id).collect();
    assert_eq!(revoked, [found.key], "of the person {approver} only what the client had");
    assert_eq!(
        ground
            .store
            .redeem_code(&random_hash(), new_key(&ground), new_refresh(), HOUR, &Actor::server())
            .await
            .unwrap(),
        Traded::Gone
    );
    let (late, _) = allow(&ground, Duration::from_millis(1)).await;
    a_moment().await;
    assert_eq!(
        ground
            .store
            .redeem_code(&late, new_key(&ground), new_refresh(), HOUR, &Actor::server())
            .await
            .unwrap(),
        Traded::Gone
    );
}

async fn refresh_tokens_rotate_and_reuse_revokes(ground: TestStore) {
    let (code, approver) = allow(&ground, HOUR).await;
    let first = new_refresh();
    let key = key_of(
        ground.store.redeem_code(&code, new_key(&ground), first, HOUR, &Actor::server()).await.unwrap(),
    );
    let hosts = ground.store.key_hosts(key.id).await.unwrap();
    assert_eq!(hosts, Some(vec!["a.example".to_owned()]), "those of the key of the person");
    let store = &ground.store;
    for hosts in [vec!["b.example".to_owned()], Vec::new(), vec!["a.example".to_owned()]] {
        store.set_key_hosts(ground.team, approver, &hosts, &Actor::server()).await.unwrap();
        let held = store.key_hosts(key.id).await.unwrap().unwrap_or_default();
        assert_eq!(held, hosts, "the key of the client follows");
    }
    let own = store.set_key_hosts(ground.team, key.id, &[], &Actor::server()).await.unwrap();
    assert_eq!(own, KeyChange::OfClient);
    let (next, last) = (random_hash(), random_hash());
    let secret = || RenewedSecret { hash: random_hash(), hint: "gn-2…".to_owned(), expires_at: 7 };
    let (renewed, kept) = (secret(), RefreshHashes { newest: next, ..first });
    let hash = renewed.hash;
    let again = key_of(ground.store.renew_key(first, &next, renewed, HOUR, &Actor::server()).await.unwrap());
    assert_eq!((again.id, again.hint.as_str(), again.expires_at), (key.id, "gn-2…", Some(7)), "the same key");
    assert_eq!(ground.store.key_by_hash(&hash).await.unwrap().unwrap().0.id, key.id);
    assert_eq!(
        ground.store.renew_key(first, &last, secret(), HOUR, &Actor::server()).await.unwrap(),
        Traded::UsedBefore
    );
    assert!(ground.store.key_by_hash(&hash).await.unwrap().unwrap().0.revoked_at.is_some());
    assert_eq!(
        ground.store.renew_key(kept, &last, secret(), HOUR, &Actor::server()).await.unwrap(),
        Traded::Gone
    );
    assert_eq!(
        ground.store.renew_key(new_refresh(), &last, secret(), HOUR, &Actor::server()).await.unwrap(),
        Traded::Gone
    );
}

async fn a_key_ends_with_the_key_of_the_person(ground: TestStore) {
    let (store, team) = (&ground.store, ground.team);
    let (code, approver) = allow(&ground, HOUR).await;
    let (pending, _) = allow(&ground, HOUR).await;
    let (refresh, new) = (new_refresh(), new_key(&ground));
    let hash = new.hash;
    let key = key_of(store.redeem_code(&code, new, refresh, HOUR, &Actor::server()).await.unwrap());
    let nested = NewAuthorization {
        key: Uuid::now_v7(),
        team,
        approver: key.id,
        client: "other".to_owned(),
        name: "Other".to_owned(),
        redirect_uri: String::new(),
        challenge: String::new(),
        scopes: Vec::new(),
        code: random_hash(),
    };
    assert!(
        !store.authorize(nested, HOUR, &Actor::server()).await.unwrap(),
        "a client must not allow others"
    );
    assert!(store.key_by_hash(&hash).await.unwrap().unwrap().0.revoked_at.is_none());
    store.revoke_key(team, approver, &Actor::server()).await.unwrap();
    assert!(store.key_by_hash(&hash).await.unwrap().unwrap().0.revoked_at.is_some());
    let secret = RenewedSecret { hash: random_hash(), hint: String::new(), expires_at: 7 };
    assert_eq!(
        store.renew_key(refresh, &random_hash(), secret, HOUR, &Actor::server()).await.unwrap(),
        Traded::Gone
    );
    let other = store.authorization_by_code(&pending).await.unwrap().unwrap();
    key_of(
        store.redeem_code(&pending, new_key(&ground), new_refresh(), HOUR, &Actor::server()).await.unwrap(),
    );
    assert!(store.keys(team).await.unwrap().iter().any(|key| key.id == other.key), "another person's");
}

async fn what_expired_goes(ground: TestStore) {
    let store = &ground.store;
    let client = |name: &str| OAuthClient {
        id: Uuid::new_v4(),
        name: name.to_owned(),
        redirect_uris: vec!["http://127.0.0.1/".to_owned()],
    };
    let (brief, kept) = (client("brief"), client("kept"));
    for one in [&brief, &kept] {
        store.create_client(one.clone(), Duration::from_millis(1)).await.unwrap();
    }
    store.keep_client(kept.id, HOUR).await.unwrap();
    a_moment().await;
    assert_eq!(store.client(brief.id).await.unwrap(), None);
    assert_eq!(store.client(kept.id).await.unwrap(), Some(kept.clone()));
    while store.purge_authorizations(10).await.unwrap() > 0 {}
    assert_eq!(store.client(kept.id).await.unwrap(), Some(kept));
    let (code, _) = allow(&ground, HOUR).await;
    key_of(store.redeem_code(&code, new_key(&ground), new_refresh(), HOUR, &Actor::server()).await.unwrap());
    while store.purge_authorizations(10).await.unwrap() > 0 {}
    assert!(store.authorization_by_code(&code).await.unwrap().is_some());
}
