//! Profiles: kept by name, one writer at a time, bounded.

use crate::ground::{HOUR, NOW, TestStore, a_moment, team};
use store::StoreError;
use store::profiles::{MAX_PROFILE_BYTES, MAX_PROFILES, ProfileDeletion};

on_both!(
    a_saved_profile_is_read_again,
    there_is_one_writer,
    a_lost_lease_writes_nothing,
    profiles_are_bounded,
    unused_profiles_go,
    profiles_are_listed_and_deleted,
);

async fn a_saved_profile_is_read_again(ground: TestStore) {
    let store = &*ground.store;
    assert!(store.profile(ground.team, "shop").await.unwrap().is_none());
    let lease = store.acquire_profile(ground.team, "shop", HOUR).await.unwrap().expect("the lease");
    assert!(store.profile(ground.team, "shop").await.unwrap().is_none(), "nothing saved yet");
    assert!(store.save_profile(&lease, vec![1, 0, 2]).await.unwrap());
    assert!(store.save_profile(&lease, vec![3]).await.unwrap(), "as often as it likes");
    assert_eq!(store.profile(ground.team, "shop").await.unwrap(), Some(vec![3]));
    store.release_profile(&lease).await.unwrap();
    assert_eq!(store.profile(ground.team, "shop").await.unwrap(), Some(vec![3]));
    let other = team(store, "free").await;
    assert!(store.profile(other, "shop").await.unwrap().is_none());
    assert!(store.profile(ground.team, "Shop").await.unwrap().is_none());
}

async fn there_is_one_writer(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..12 {
        let (store, team) = (stores[n % 2].clone(), ground.team);
        tasks.spawn(async move { store.acquire_profile(team, "p", HOUR).await.unwrap() });
    }
    let mut leases: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(leases.len(), 1, "one of twelve");
    let lease = leases.remove(0);
    assert!(ground.store.acquire_profile(ground.team, "other", HOUR).await.unwrap().is_some());
    assert!(ground.store.renew_profile(&lease, HOUR).await.unwrap());
    ground.store.release_profile(&lease).await.unwrap();
    assert!(!ground.store.renew_profile(&lease, HOUR).await.unwrap(), "given back");
    assert!(ground.store.acquire_profile(ground.team, "p", HOUR).await.unwrap().is_some());
}

async fn a_lost_lease_writes_nothing(ground: TestStore) {
    let store = &*ground.store;
    let old = store.acquire_profile(ground.team, "p", NOW).await.unwrap().expect("the lease");
    a_moment().await;
    let new = store.acquire_profile(ground.team, "p", HOUR).await.unwrap().expect("the next");
    assert!(!store.save_profile(&old, b"old".to_vec()).await.unwrap());
    assert!(!store.renew_profile(&old, HOUR).await.unwrap());
    store.release_profile(&old).await.unwrap();
    assert!(store.acquire_profile(ground.team, "p", HOUR).await.unwrap().is_none(), "still held");
    assert!(store.save_profile(&new, b"new".to_vec()).await.unwrap());
    assert_eq!(store.profile(ground.team, "p").await.unwrap(), Some(b"new".to_vec()));
}

async fn profiles_are_bounded(ground: TestStore) {
    let store = &*ground.store;
    let lease = store.acquire_profile(ground.team, "p", HOUR).await.unwrap().unwrap();
    let error = store.save_profile(&lease, vec![0; MAX_PROFILE_BYTES + 1]).await.unwrap_err();
    assert!(matches!(error, StoreError::Misuse(_)), "{error:?}");
    assert!(store.save_profile(&lease, vec![7; MAX_PROFILE_BYTES]).await.unwrap());
    for n in 1..MAX_PROFILES {
        assert!(store.acquire_profile(ground.team, &n.to_string(), HOUR).await.unwrap().is_some());
    }
    let error = store.acquire_profile(ground.team, "one more", HOUR).await.unwrap_err();
    assert!(matches!(error, StoreError::Misuse(_)), "{error:?}");
    store.release_profile(&lease).await.unwrap();
    assert!(store.acquire_profile(ground.team, "p", HOUR).await.unwrap().is_some(), "known ones still work");
}

async fn unused_profiles_go(ground: TestStore) {
    let store = &*ground.store;
    let saved = store.acquire_profile(ground.team, "saved", HOUR).await.unwrap().unwrap();
    store.save_profile(&saved, b"x".to_vec()).await.unwrap();
    let held = store.acquire_profile(ground.team, "held", HOUR).await.unwrap().unwrap();
    store.save_profile(&held, b"y".to_vec()).await.unwrap();
    store.release_profile(&saved).await.unwrap();
    store.acquire_profile(ground.team, "never saved", NOW).await.unwrap().unwrap();
    a_moment().await;
    assert_eq!(store.sweep_profiles(HOUR, 10).await.unwrap(), 1, "what was never saved");
    assert_eq!(store.sweep_profiles(NOW, 10).await.unwrap(), 1, "what nobody holds");
    assert!(store.profile(ground.team, "saved").await.unwrap().is_none());
    assert!(store.profile(ground.team, "held").await.unwrap().is_some());
}

async fn profiles_are_listed_and_deleted(ground: TestStore) {
    let store = &*ground.store;
    for name in ["shop", "desk"] {
        let lease = store.acquire_profile(ground.team, name, HOUR).await.unwrap().expect("the lease");
        assert!(store.save_profile(&lease, vec![1]).await.unwrap());
        if name == "desk" {
            store.release_profile(&lease).await.unwrap();
        }
    }
    store.acquire_profile(ground.team, "unsaved", HOUR).await.unwrap().expect("the lease");
    let listed = store.profiles(ground.team).await.unwrap();
    let names: Vec<(&str, bool)> = listed.iter().map(|entry| (entry.name.as_str(), entry.leased)).collect();
    assert_eq!(names, [("desk", false), ("shop", true)], "by name, and only what was saved");
    assert!(listed.iter().all(|entry| entry.bytes > 0 && entry.used_at > 0), "{listed:?}");
    let other = team(store, "free").await;
    assert_eq!(store.profiles(other).await.unwrap(), []);
    assert_eq!(store.delete_profile(other, "desk").await.unwrap(), ProfileDeletion::Unknown);
    assert_eq!(store.delete_profile(ground.team, "shop").await.unwrap(), ProfileDeletion::Leased);
    assert_eq!(store.delete_profile(ground.team, "desk").await.unwrap(), ProfileDeletion::Deleted);
    assert_eq!(store.delete_profile(ground.team, "desk").await.unwrap(), ProfileDeletion::Unknown);
    assert!(store.profile(ground.team, "desk").await.unwrap().is_none());
}
