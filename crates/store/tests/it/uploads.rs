//! Uploads: received once, parsed once, of one team only, bounded, gone when they expire.

use crate::ground::{HOUR, NOW, TestStore, a_moment, team};
use std::time::Duration;
use store::UploadStore;
use store::uploads::{NewUpload, Receipt, UploadClaim, UploadLimits, UploadState};
use uuid::Uuid;

const LIMITS: UploadLimits = UploadLimits { uploads: 3, bytes: 100 };

on_both!(
    an_upload_is_received_and_parsed_once,
    another_team_has_no_such_upload,
    uploads_of_a_team_are_bounded,
    of_many_who_come_at_once_one_gets_it,
    expired_uploads_go,
);

fn new_upload(team_id: Uuid, declared_bytes: u64, keep_for: Duration) -> NewUpload {
    NewUpload { id: Uuid::now_v7(), team_id, declared_bytes, keep_for }
}

async fn create(store: &dyn UploadStore, upload: NewUpload) -> Option<Uuid> {
    let id = upload.id;
    store.create_upload(upload, LIMITS).await.unwrap().map(|_| id)
}

async fn an_upload_is_received_and_parsed_once(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let id = create(store, new_upload(team, 10, HOUR)).await.expect("room");
    assert_eq!(store.claim_upload(team, id).await.unwrap(), UploadClaim::Waiting);
    let (object, other) = (Uuid::now_v7(), Uuid::now_v7());
    assert_eq!(store.receive_upload(id, object, 12, LIMITS).await.unwrap(), Receipt::Received);
    assert_eq!(store.receive_upload(id, other, 13, LIMITS).await.unwrap(), Receipt::NotWaiting);
    let kept = store.upload(id).await.unwrap().expect("it is there");
    assert_eq!((kept.team_id, kept.state, kept.bytes), (team, UploadState::Received, 12));
    let claimed = UploadClaim::Claimed { object, bytes: 12 };
    assert_eq!(store.claim_upload(team, id).await.unwrap(), claimed);
    assert_eq!(store.claim_upload(team, id).await.unwrap(), UploadClaim::Used);
    store.release_upload(team, id).await.unwrap();
    assert_eq!(store.claim_upload(team, id).await.unwrap(), claimed, "given back");
    let unknown = Uuid::now_v7();
    assert_eq!(store.receive_upload(unknown, object, 1, LIMITS).await.unwrap(), Receipt::NotWaiting);
    assert_eq!(store.claim_upload(team, unknown).await.unwrap(), UploadClaim::Unknown);
}

async fn another_team_has_no_such_upload(ground: TestStore) {
    let store = &*ground.store;
    let stranger = team(store, "free").await;
    let id = create(store, new_upload(ground.team, 0, HOUR)).await.expect("room");
    assert_eq!(store.claim_upload(stranger, id).await.unwrap(), UploadClaim::Unknown);
    store.receive_upload(id, Uuid::now_v7(), 1, LIMITS).await.unwrap();
    assert_eq!(store.claim_upload(stranger, id).await.unwrap(), UploadClaim::Unknown);
    assert!(matches!(store.claim_upload(ground.team, id).await.unwrap(), UploadClaim::Claimed { .. }));
    store.release_upload(stranger, id).await.unwrap();
    assert_eq!(store.claim_upload(ground.team, id).await.unwrap(), UploadClaim::Used, "not given back");
}

async fn uploads_of_a_team_are_bounded(ground: TestStore) {
    let (store, one_team) = (&*ground.store, ground.team);
    let first = create(store, new_upload(one_team, 60, HOUR)).await.expect("room");
    assert!(create(store, new_upload(one_team, 41, HOUR)).await.is_none(), "too many bytes declared");
    let second = create(store, new_upload(one_team, 0, HOUR)).await.expect("room");
    assert_eq!(
        store.receive_upload(second, Uuid::now_v7(), 41, LIMITS).await.unwrap(),
        Receipt::OverLimit,
        "too many bytes came"
    );
    assert_eq!(store.receive_upload(second, Uuid::now_v7(), 40, LIMITS).await.unwrap(), Receipt::Received);
    assert_eq!(store.receive_upload(first, Uuid::now_v7(), 60, LIMITS).await.unwrap(), Receipt::Received);
    create(store, new_upload(one_team, 0, HOUR)).await.expect("room for a third");
    assert!(create(store, new_upload(one_team, 0, HOUR)).await.is_none(), "too many");
    let stranger = team(store, "free").await;
    assert!(create(store, new_upload(stranger, 100, HOUR)).await.is_some(), "a limit of each team");
    assert!(matches!(store.claim_upload(one_team, first).await.unwrap(), UploadClaim::Claimed { .. }));
    assert!(create(store, new_upload(one_team, 60, HOUR)).await.is_some(), "parsed ones do not count");
}

async fn of_many_who_come_at_once_one_gets_it(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    let id = create(&*ground.store, new_upload(ground.team, 0, HOUR)).await.expect("room");
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let store = stores[n % 2].clone();
        tasks.spawn(async move { store.receive_upload(id, Uuid::now_v7(), 5, LIMITS).await.unwrap() });
    }
    let received = tasks.join_all().await.into_iter().filter(|one| *one == Receipt::Received).count();
    assert_eq!(received, 1);
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let (store, team) = (stores[n % 2].clone(), ground.team);
        tasks.spawn(async move { store.claim_upload(team, id).await.unwrap() });
    }
    let claims = tasks.join_all().await;
    let claimed = claims.iter().filter(|one| matches!(one, UploadClaim::Claimed { .. })).count();
    let used = claims.iter().filter(|one| **one == UploadClaim::Used).count();
    assert_eq!((claimed, used), (1, 7));
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let (store, upload) = (stores[n % 2].clone(), new_upload(ground.team, 0, HOUR));
        tasks.spawn(async move { store.create_upload(upload, LIMITS).await.unwrap().is_some() });
    }
    let created = tasks.join_all().await.into_iter().filter(|created| *created).count();
    assert_eq!(created, 3, "never one too many");
}

async fn expired_uploads_go(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let short = create(store, new_upload(team, 100, Duration::from_millis(1))).await.expect("room");
    a_moment().await;
    assert!(store.upload(short).await.unwrap().is_none());
    assert_eq!(store.receive_upload(short, Uuid::now_v7(), 1, LIMITS).await.unwrap(), Receipt::NotWaiting);
    assert_eq!(store.claim_upload(team, short).await.unwrap(), UploadClaim::Unknown);
    let kept = create(store, new_upload(team, 100, HOUR)).await.expect("expired ones do not count");
    create(store, new_upload(team, 0, NOW)).await.expect("room");
    a_moment().await;
    assert_eq!(store.purge_uploads(1).await.unwrap(), 1, "no more than asked for");
    assert_eq!(store.purge_uploads(10).await.unwrap(), 1);
    assert_eq!(store.purge_uploads(10).await.unwrap(), 0);
    assert!(store.upload(kept).await.unwrap().is_some());
}
