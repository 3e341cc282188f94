//! Sign-ins: act as their key, end by time, by hand and with others, bounded for each key.

use crate::ground::{HOUR, TestStore, a_moment};
use std::time::Duration;
use store::Store;
use store::audit_log::Actor;
use store::keys::NewKey;
use store::sign_ins::MAX_SIGN_INS_PER_KEY;
use uuid::Uuid;

on_both!(a_sign_in_acts_as_its_key_until_it_ends, expired_sign_ins_go, sign_ins_of_a_key_are_bounded,);

async fn key(store: &dyn Store, team_id: Uuid, hash: u8) -> Uuid {
    let new = NewKey {
        id: Uuid::now_v7(),
        team_id,
        name: "dashboard".to_owned(),
        hint: "gn-…".to_owned(),
        hash: [hash; 32],
        scopes: vec!["scrape".to_owned()],
        expires_at: None,
        hosts: Vec::new(),
    };
    store.create_key(new, &Actor::server()).await.unwrap().id
}

async fn a_sign_in_acts_as_its_key_until_it_ends(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let (key, other) = (key(store, team, 201).await, key(store, team, 202).await);
    for (hash, of) in [(1, key), (2, key), (3, other)] {
        assert!(store.start_sign_in(&[hash; 32], of, HOUR, None).await.unwrap().is_some());
    }
    let found = store.sign_in(&[1; 32]).await.unwrap().expect("it is there");
    assert_eq!((found.key.id, found.team.id), (key, team));
    assert!(store.sign_in(&[9; 32]).await.unwrap().is_none());
    assert!(store.end_sign_in(&[1; 32], &Actor::server()).await.unwrap());
    assert!(!store.end_sign_in(&[1; 32], &Actor::server()).await.unwrap(), "ended already");
    assert!(store.sign_in(&[1; 32]).await.unwrap().is_none());
    assert_eq!(store.end_sign_ins(key, &Actor::server()).await.unwrap(), 1);
    assert!(store.sign_in(&[2; 32]).await.unwrap().is_none());
    assert!(store.sign_in(&[3; 32]).await.unwrap().is_some(), "of another key");
    store.revoke_key(team, other, &Actor::server()).await.unwrap();
    let revoked = store.sign_in(&[3; 32]).await.unwrap().expect("the caller decides");
    assert!(revoked.key.revoked_at.is_some());
}

async fn expired_sign_ins_go(ground: TestStore) {
    let store = &*ground.store;
    let key = key(store, ground.team, 203).await;
    store.start_sign_in(&[1; 32], key, Duration::from_millis(1), None).await.unwrap();
    store.start_sign_in(&[2; 32], key, HOUR, None).await.unwrap();
    a_moment().await;
    assert!(store.sign_in(&[1; 32]).await.unwrap().is_none());
    assert_eq!(store.purge_sign_ins(100).await.unwrap(), 1);
    assert!(store.sign_in(&[2; 32]).await.unwrap().is_some());
}

async fn sign_ins_of_a_key_are_bounded(ground: TestStore) {
    let store = &*ground.store;
    let key = key(store, ground.team, 204).await;
    store.start_sign_in(&[255; 32], key, Duration::from_mins(1), None).await.unwrap();
    for number in 0..MAX_SIGN_INS_PER_KEY {
        let hash = [u8::try_from(number).unwrap(); 32];
        store.start_sign_in(&hash, key, HOUR, None).await.unwrap();
    }
    assert!(store.sign_in(&[255; 32]).await.unwrap().is_none(), "the one that would have ended first");
    assert!(store.sign_in(&[0; 32]).await.unwrap().is_some());
    assert_eq!(
        store.end_sign_ins(key, &Actor::server()).await.unwrap(),
        u64::try_from(MAX_SIGN_INS_PER_KEY).unwrap()
    );
}
