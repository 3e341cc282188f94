//! Teams and keys.

use crate::ground::{HOUR, TestStore, key, team};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::audit_log::Actor;
use store::keys::{ApiKey, KeyChange, KeyHosts, NewKey, NewTeam, NextSecret, ReplacedSecret};
use store::{Millis, StoreError};
use uuid::Uuid;

on_both!(
    only_one_founds,
    a_key_is_found_by_its_hash_alone,
    a_hash_is_unique,
    revoking_is_for_good_and_within_the_team,
    last_use_never_moves_back,
    plans_change_and_teams_are_listed,
    a_rotated_key_has_two_secrets_until_the_old_one_ends,
    only_an_active_key_of_the_team_is_rotated,
    a_sign_in_ends_with_the_secret_it_was_started_with,
    hosts_of_a_key_are_changed_and_taken_back,
    hosts_of_a_key_outlive_it_and_are_handed_on,
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
    let made = ground.store.create_key(new.clone(), &Actor::server()).await.unwrap();
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
    ground.store.create_key(first, &Actor::server()).await.unwrap();
    assert!(matches!(ground.store.create_key(second, &Actor::server()).await, Err(StoreError::Misuse(_))));
    assert_eq!(ground.store.keys(ground.team).await.unwrap().len(), 1);
    let orphan = ground.store.create_key(key(Uuid::now_v7(), "no team"), &Actor::server()).await;
    assert!(matches!(orphan, Err(StoreError::Misuse(_))), "{orphan:?}");
}

async fn revoking_is_for_good_and_within_the_team(ground: TestStore) {
    let made = ground.store.create_key(key(ground.team, "k"), &Actor::server()).await.unwrap();
    let other = team(&*ground.store, "free").await;
    assert!(!ground.store.revoke_key(other, made.id, &Actor::server()).await.unwrap());
    assert!(!ground.store.revoke_key(ground.team, Uuid::now_v7(), &Actor::server()).await.unwrap());
    assert!(ground.store.revoke_key(ground.team, made.id, &Actor::server()).await.unwrap());
    let first = ground.store.keys(ground.team).await.unwrap()[0].revoked_at;
    assert!(first.is_some());
    crate::ground::a_moment().await;
    assert!(ground.store.revoke_key(ground.team, made.id, &Actor::server()).await.unwrap());
    assert_eq!(ground.store.keys(ground.team).await.unwrap()[0].revoked_at, first, "the first time stays");
}

async fn last_use_never_moves_back(ground: TestStore) {
    let one = ground.store.create_key(key(ground.team, "one"), &Actor::server()).await.unwrap().id;
    let two = ground.store.create_key(key(ground.team, "two"), &Actor::server()).await.unwrap().id;
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
    assert!(ground.store.set_plan(other, "scale", &Actor::server()).await.unwrap());
    assert!(!ground.store.set_plan(Uuid::now_v7(), "scale", &Actor::server()).await.unwrap());
    assert_eq!(ground.store.team(other).await.unwrap().unwrap().plan, "scale");
    assert_eq!(ground.store.team(ground.team).await.unwrap().unwrap().plan, "free");
    assert!(ground.store.team(Uuid::now_v7()).await.unwrap().is_none());
    let listed: Vec<Uuid> = ground.store.teams().await.unwrap().iter().map(|team| team.id).collect();
    assert_eq!(listed, [ground.team, other], "oldest first");
}

fn now() -> Millis {
    Millis::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn next_secret(hash: u8, phase_out: Duration, expires_at: Option<Millis>) -> NextSecret {
    NextSecret { hint: "gn-next…".into(), hash: [hash; 32], phase_out, expires_at }
}

fn expect_rotated(rotated: KeyChange) -> ApiKey {
    match rotated {
        KeyChange::Key(key) => key,
        other => panic!("{other:?}"),
    }
}

async fn a_rotated_key_has_two_secrets_until_the_old_one_ends(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let first = NewKey { expires_at: Some(now() + 60 * 86_400_000), ..key(team, "rotated") };
    let made = store.create_key(first.clone(), &Actor::server()).await.unwrap();
    let rotated = expect_rotated(
        store.rotate_key(team, made.id, next_secret(1, HOUR, None), &Actor::server()).await.unwrap(),
    );
    assert_eq!((rotated.id, &rotated.name, &rotated.scopes), (made.id, &made.name, &made.scopes));
    assert_eq!((rotated.expires_at, rotated.hint.as_str()), (made.expires_at, "gn-next…"));
    let (by_new, _) = store.key_by_hash(&[1; 32]).await.unwrap().expect("the new secret");
    assert_eq!(by_new, rotated);
    let (by_old, found) = store.key_by_hash(&first.hash).await.unwrap().expect("the old secret");
    let left = by_old.expires_at.unwrap() - now();
    assert_eq!((by_old.id, found.id), (made.id, team));
    assert!((3_500_000..=3_600_000).contains(&left), "an hour: {left}");
    let replaced = store.replaced_secrets(team).await.unwrap();
    let expected =
        ReplacedSecret { key: made.id, hint: made.hint.clone(), expires_at: by_old.expires_at.unwrap() };
    assert_eq!(replaced, [expected]);

    // Once more, with no time left for the second secret and a new end for the key.
    let end = now() + 90 * 86_400_000;
    let next = next_secret(2, Duration::ZERO, Some(end));
    assert_eq!(
        expect_rotated(store.rotate_key(team, made.id, next, &Actor::server()).await.unwrap()).expires_at,
        Some(end)
    );
    let (second, _) = store.key_by_hash(&[1; 32]).await.unwrap().expect("it is known for what it was");
    assert!(second.expires_at.unwrap() <= now());
    assert_eq!(store.key_by_hash(&first.hash).await.unwrap().unwrap().0.expires_at, by_old.expires_at);
    assert_eq!(store.replaced_secrets(team).await.unwrap().len(), 1);

    store.revoke_key(team, made.id, &Actor::server()).await.unwrap();
    for hash in [first.hash, [1; 32], [2; 32]] {
        let (key, _) = store.key_by_hash(&hash).await.unwrap().expect("also when revoked");
        assert!(key.revoked_at.is_some(), "revoking ends all secrets");
    }
    assert_eq!(store.replaced_secrets(team).await.unwrap(), []);
}

async fn only_an_active_key_of_the_team_is_rotated(ground: TestStore) {
    let (store, of_team) = (&*ground.store, ground.team);
    let made = store.create_key(key(of_team, "k"), &Actor::server()).await.unwrap().id;
    let other = team(store, "free").await;
    let rotate = async |of, id, hash| {
        store.rotate_key(of, id, next_secret(hash, HOUR, None), &Actor::server()).await.unwrap()
    };
    assert_eq!(rotate(other, made, 1).await, KeyChange::Missing);
    assert_eq!(rotate(of_team, Uuid::now_v7(), 1).await, KeyChange::Missing);
    let expired = NewKey { expires_at: Some(now() - 1), ..key(of_team, "expired") };
    let expired = store.create_key(expired, &Actor::server()).await.unwrap().id;
    assert_eq!(rotate(of_team, expired, 1).await, KeyChange::Ended);
    store.revoke_key(of_team, made, &Actor::server()).await.unwrap();
    assert_eq!(rotate(of_team, made, 1).await, KeyChange::Ended);
    assert!(store.key_by_hash(&[1; 32]).await.unwrap().is_none());
}

async fn a_sign_in_ends_with_the_secret_it_was_started_with(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let made = store.create_key(key(team, "k"), &Actor::server()).await.unwrap().id;
    store.start_sign_in(&[1; 32], made, HOUR, None).await.unwrap();
    store.rotate_key(team, made, next_secret(1, HOUR * 2, None), &Actor::server()).await.unwrap();
    assert!(store.sign_in(&[1; 32]).await.unwrap().is_some(), "the old secret still works");
    store.rotate_key(team, made, next_secret(2, Duration::ZERO, None), &Actor::server()).await.unwrap();
    assert!(store.sign_in(&[1; 32]).await.unwrap().is_none());
}

async fn hosts_of_a_key_are_changed_and_taken_back(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let of = |hosts: &[&str]| hosts.iter().map(|&host| host.to_owned()).collect::<Vec<_>>();
    let made = store.create_key(key(team, "k"), &Actor::server()).await.unwrap().id;
    for hosts in [of(&["a.example"]), of(&["b.example", "c.example"])] {
        let changed = store.set_key_hosts(team, made, &hosts, &Actor::server()).await.unwrap();
        assert!(matches!(changed, KeyChange::Key(key) if key.id == made));
        assert_eq!(store.key_hosts(made).await.unwrap(), Some(hosts));
    }
    store.set_key_hosts(team, made, &[], &Actor::server()).await.unwrap();
    assert_eq!(store.key_hosts(made).await.unwrap(), None);
    let nobody = store.set_key_hosts(Uuid::now_v7(), made, &of(&["a.example"]), &Actor::server()).await;
    assert_eq!(nobody.unwrap(), KeyChange::Missing);
    store.revoke_key(team, made, &Actor::server()).await.unwrap();
    let ended = store.set_key_hosts(team, made, &of(&["a.example"]), &Actor::server()).await.unwrap();
    assert_eq!((ended, store.key_hosts(made).await.unwrap()), (KeyChange::Ended, None));
}

async fn hosts_of_a_key_outlive_it_and_are_handed_on(ground: TestStore) {
    let (store, team) = (&*ground.store, ground.team);
    let hosts = vec!["a.example".to_owned(), "*.b.example".to_owned()];
    let held = NewKey { hosts: hosts.clone(), ..key(team, "held") };
    let held = store.create_key(held, &Actor::server()).await.unwrap().id;
    let free = store.create_key(key(team, "free"), &Actor::server()).await.unwrap().id;
    assert_eq!(store.key_hosts(held).await.unwrap(), Some(hosts.clone()));
    assert_eq!(store.key_hosts(free).await.unwrap(), None);
    let listed = store.hosts_of_keys(team).await.unwrap();
    assert_eq!(listed, [KeyHosts { key: held, hosts: hosts.clone() }]);
    store.revoke_key(team, held, &Actor::server()).await.unwrap();
    assert_eq!(store.key_hosts(held).await.unwrap(), Some(hosts), "work that it began goes on within them");
}
