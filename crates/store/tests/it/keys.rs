//! Teams and keys.

use crate::ground::{TestStore, key, team};
use store::StoreError;
use store::keys::NewTeam;
use uuid::Uuid;

on_both!(
    only_one_founds,
    a_key_is_found_by_its_hash_alone,
    a_hash_is_unique,
    revoking_is_for_good_and_within_the_team,
    last_use_never_moves_back,
    plans_change_and_teams_are_listed,
);

fn first_team(name: &str) -> NewTeam {
    NewTeam { id: Uuid::now_v7(), name: name.into(), plan: "local".into(), zero_data_retention: true }
}

async fn only_one_founds(ground: TestStore) {
    // The ground has a team already, so nobody founds another.
    let late = ground.store.create_first_team(first_team("late"), key(Uuid::nil(), "k")).await.unwrap();
    assert!(late.is_none());

    let url = if ground.store.backend() == "sqlite" {
        ground.url.replace("store.db", "fresh.db")
    } else {
        testkit::postgres::shared_database()
    };
    let mut founders = Vec::new();
    for n in 0..8 {
        let store = crate::ground::open(&url).await;
        founders.push(tokio::spawn(async move {
            store.create_first_team(first_team(&format!("team {n}")), key(Uuid::nil(), "first")).await
        }));
    }
    let mut founded = Vec::new();
    for founder in founders {
        founded.extend(founder.await.unwrap().unwrap());
    }
    assert_eq!(founded.len(), 1);
    let (team, key) = founded.remove(0);
    assert_eq!(key.team_id, team.id, "the key belongs to the new team");
    let store = crate::ground::open(&url).await;
    assert_eq!(store.teams().await.unwrap(), std::slice::from_ref(&team));
    assert_eq!(store.keys(team.id).await.unwrap(), [key]);
    assert!(team.zero_data_retention);
}

async fn a_key_is_found_by_its_hash_alone(ground: TestStore) {
    let mut new = key(ground.team, "na\0me");
    new.expires_at = Some(5);
    let made = ground.store.create_key(new.clone()).await.unwrap();
    assert_eq!(made.name, "na\u{fffd}me", "text that one database refuses is the same on both");
    assert_eq!(made.scopes, new.scopes);
    let (found, team) = ground.store.key_by_hash(&new.hash).await.unwrap().expect("also when expired");
    assert_eq!((found, team.id), (made, ground.team));
    assert!(ground.store.key_by_hash(&[0; 32]).await.unwrap().is_none());
}

async fn a_hash_is_unique(ground: TestStore) {
    let first = key(ground.team, "one");
    let mut second = key(ground.team, "two");
    second.hash = first.hash;
    ground.store.create_key(first).await.unwrap();
    assert!(matches!(ground.store.create_key(second).await, Err(StoreError::Misuse(_))));
    assert_eq!(ground.store.keys(ground.team).await.unwrap().len(), 1);
    let orphan = ground.store.create_key(key(Uuid::now_v7(), "no team")).await;
    assert!(matches!(orphan, Err(StoreError::Misuse(_))), "{orphan:?}");
}

async fn revoking_is_for_good_and_within_the_team(ground: TestStore) {
    let made = ground.store.create_key(key(ground.team, "k")).await.unwrap();
    let other = team(&*ground.store, "free").await;
    assert!(!ground.store.revoke_key(other, made.id).await.unwrap());
    assert!(!ground.store.revoke_key(ground.team, Uuid::now_v7()).await.unwrap());
    assert!(ground.store.revoke_key(ground.team, made.id).await.unwrap());
    let first = ground.store.keys(ground.team).await.unwrap()[0].revoked_at;
    assert!(first.is_some());
    crate::ground::a_moment().await;
    assert!(ground.store.revoke_key(ground.team, made.id).await.unwrap());
    assert_eq!(ground.store.keys(ground.team).await.unwrap()[0].revoked_at, first, "the first time stays");
}

async fn last_use_never_moves_back(ground: TestStore) {
    let one = ground.store.create_key(key(ground.team, "one")).await.unwrap().id;
    let two = ground.store.create_key(key(ground.team, "two")).await.unwrap().id;
    ground.store.touch_keys(&[(one, 50), (two, 10), (one, 70), (Uuid::now_v7(), 5)]).await.unwrap();
    ground.store.touch_keys(&[(one, 60), (two, 20)]).await.unwrap();
    ground.store.touch_keys(&[]).await.unwrap();
    let keys = ground.store.keys(ground.team).await.unwrap();
    assert_eq!(
        keys.iter().map(|key| (key.id, key.last_used_at)).collect::<Vec<_>>(),
        [(one, Some(70)), (two, Some(20))]
    );
}

async fn plans_change_and_teams_are_listed(ground: TestStore) {
    let other = team(&*ground.store, "free").await;
    assert!(ground.store.set_plan(other, "scale").await.unwrap());
    assert!(!ground.store.set_plan(Uuid::now_v7(), "scale").await.unwrap());
    assert_eq!(ground.store.team(other).await.unwrap().unwrap().plan, "scale");
    assert_eq!(ground.store.team(ground.team).await.unwrap().unwrap().plan, "free");
    assert!(ground.store.team(Uuid::now_v7()).await.unwrap().is_none());
    let listed: Vec<Uuid> = ground.store.teams().await.unwrap().iter().map(|team| team.id).collect();
    assert_eq!(listed, [ground.team, other], "oldest first");
}
