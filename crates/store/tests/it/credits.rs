//! The ledger: reserve, charge, close, and what is told of it.

use crate::ground::{HOUR, TestStore, a_moment, key};
use std::time::Duration;
use store::StoreError;
use store::audit_log::Actor;
use store::credits::NewReservation;
use uuid::Uuid;

on_both!(
    an_allowance_covers_used_and_reserved,
    a_charge_stays_within_its_reservation,
    closing_releases_once,
    a_reservation_grows_within_the_allowance,
    usage_is_told_by_key,
    usage_is_told_by_day,
    unclosed_reservations_are_released_in_time,
);

fn reservation(team_id: Uuid, amount: i64, allowance: Option<i64>) -> NewReservation {
    NewReservation { team_id, key_id: None, amount, allowance, purpose: "scrape".into(), hold_for: HOUR }
}

async fn balance(ground: &TestStore) -> (i64, i64) {
    let balance = ground.store.balance(ground.team).await.unwrap();
    (balance.used, balance.reserved)
}

async fn an_allowance_covers_used_and_reserved(ground: TestStore) {
    assert_eq!(balance(&ground).await, (0, 0));
    let first = ground.store.reserve(reservation(ground.team, 6, Some(10))).await.unwrap().unwrap();
    ground.store.charge(first, 6).await.unwrap();
    assert!(ground.store.reserve(reservation(ground.team, 5, Some(10))).await.unwrap().is_none());
    assert!(ground.store.reserve(reservation(ground.team, 4, Some(10))).await.unwrap().is_some());
    assert!(ground.store.reserve(reservation(ground.team, 1, Some(10))).await.unwrap().is_none());
    assert!(ground.store.reserve(reservation(ground.team, 0, Some(10))).await.unwrap().is_some());
    assert_eq!(balance(&ground).await, (6, 4));
    assert!(
        ground.store.reserve(reservation(ground.team, 1_000, None)).await.unwrap().is_some(),
        "unlimited"
    );
    let negative = ground.store.reserve(reservation(ground.team, -1, None)).await;
    assert!(matches!(negative, Err(StoreError::Misuse(_))));
    let period = ground.store.balance(ground.team).await.unwrap();
    let days = (period.period_end - period.period_start) / 86_400_000;
    assert!((28..=31).contains(&days), "a calendar month, not {days} days");
}

async fn a_charge_stays_within_its_reservation(ground: TestStore) {
    let id = ground.store.reserve(reservation(ground.team, 5, Some(10))).await.unwrap().unwrap();
    ground.store.charge(id, 3).await.unwrap();
    assert!(matches!(ground.store.charge(id, 3).await, Err(StoreError::Misuse(_))));
    assert!(matches!(ground.store.charge(id, -1).await, Err(StoreError::Misuse(_))));
    assert!(matches!(ground.store.charge(Uuid::now_v7(), 0).await, Err(StoreError::Misuse(_))));
    assert_eq!(balance(&ground).await, (3, 2), "a refused charge changes nothing");
    ground.store.charge(id, 2).await.unwrap();
    ground.store.charge(id, 0).await.unwrap();
    assert_eq!(balance(&ground).await, (5, 0));
}

async fn closing_releases_once(ground: TestStore) {
    let id = ground.store.reserve(reservation(ground.team, 5, Some(5))).await.unwrap().unwrap();
    ground.store.charge(id, 2).await.unwrap();
    assert!(ground.store.close(id).await.unwrap());
    assert!(!ground.store.close(id).await.unwrap());
    assert!(!ground.store.close(Uuid::now_v7()).await.unwrap());
    assert!(matches!(ground.store.charge(id, 1).await, Err(StoreError::Misuse(_))), "closed");
    assert_eq!(balance(&ground).await, (2, 0));
    assert!(ground.store.reserve(reservation(ground.team, 3, Some(5))).await.unwrap().is_some());
}

async fn a_reservation_grows_within_the_allowance(ground: TestStore) {
    let id = ground.store.reserve(reservation(ground.team, 2, Some(10))).await.unwrap().unwrap();
    assert!(ground.store.extend(id, 5, 10).await.unwrap());
    assert_eq!(balance(&ground).await, (0, 7));
    assert!(!ground.store.extend(id, 4, 10).await.unwrap(), "11 of 10");
    assert_eq!(balance(&ground).await, (0, 7), "a refused extension changes nothing");
    ground.store.charge(id, 7).await.unwrap();
    assert!(ground.store.extend(id, 3, 10).await.unwrap(), "what is used counts");
    assert!(ground.store.close(id).await.unwrap());
    assert_eq!(balance(&ground).await, (7, 0));
    assert!(!ground.store.extend(id, 1, 10).await.unwrap(), "closed");
    assert!(matches!(ground.store.extend(id, -1, 10).await, Err(StoreError::Misuse(_))));
}

async fn usage_is_told_by_key(ground: TestStore) {
    let one = ground.store.create_key(key(ground.team, "one"), &Actor::server()).await.unwrap().id;
    let two = ground.store.create_key(key(ground.team, "two"), &Actor::server()).await.unwrap().id;
    for (key_id, amount, purpose) in
        [(Some(one), 3, "scrape"), (Some(one), 4, "map"), (Some(two), 5, "scrape"), (None, 6, "scrape")]
    {
        let new =
            NewReservation { key_id, purpose: purpose.into(), ..reservation(ground.team, amount, None) };
        let id = ground.store.reserve(new).await.unwrap().unwrap();
        ground.store.charge(id, amount).await.unwrap();
    }
    ground.store.add_tokens(ground.team, Some(two), 100).await.unwrap();
    ground.store.add_tokens(ground.team, None, 11).await.unwrap();
    assert!(matches!(ground.store.add_tokens(ground.team, None, -1).await, Err(StoreError::Misuse(_))));
    let now = ground.store.balance(ground.team).await.unwrap();
    assert_eq!((now.used, now.tokens), (18, 111));
    let whole = ground.store.usage_history(ground.team, false).await.unwrap();
    assert_eq!(whole.len(), 1);
    assert_eq!((whole[0].credits, whole[0].tokens, &whole[0].key), (18, 111, &None));
    assert_eq!((whole[0].start, whole[0].end), (now.period_start, now.period_end));
    let split = ground.store.usage_history(ground.team, true).await.unwrap();
    let split: Vec<_> = split.iter().map(|u| (u.key.as_deref(), u.credits, u.tokens)).collect();
    assert_eq!(split, [(None, 6, 11), (Some("one"), 7, 0), (Some("two"), 5, 100)]);
    assert!(ground.store.usage_history(Uuid::now_v7(), true).await.unwrap().is_empty());
}

async fn usage_is_told_by_day(ground: TestStore) {
    for (amount, purpose) in [(3, "scrape"), (4, "map"), (5, "scrape")] {
        let new = NewReservation { purpose: purpose.into(), ..reservation(ground.team, amount, None) };
        let id = ground.store.reserve(new).await.unwrap().unwrap();
        ground.store.charge(id, amount).await.unwrap();
    }
    ground.store.add_tokens(ground.team, None, 11).await.unwrap();
    let days = ground.store.usage_by_day(ground.team, 2).await.unwrap();
    assert!(days.iter().all(|one| one.day % 86_400_000 == 0 && one.day > 0), "{days:?}");
    let told = |purpose: &str| {
        let of = days.iter().filter(|one| one.purpose == purpose);
        of.fold((0, 0), |(credits, tokens), one| (credits + one.credits, tokens + one.tokens))
    };
    assert_eq!((told("scrape"), told("map"), told("")), ((8, 0), (4, 0), (0, 11)));
    assert!(ground.store.usage_by_day(Uuid::now_v7(), 30).await.unwrap().is_empty());
    assert_eq!(ground.store.purge_usage().await.unwrap(), 0, "nothing is old");
    let split = ground.store.usage_history(ground.team, true).await.unwrap();
    assert_eq!(split.iter().map(|one| one.credits).sum::<i64>(), 12, "months add up their days");
}

async fn unclosed_reservations_are_released_in_time(ground: TestStore) {
    let brief = |amount| NewReservation {
        hold_for: Duration::from_millis(1),
        ..reservation(ground.team, amount, None)
    };
    ground.store.reserve(brief(2)).await.unwrap().unwrap();
    ground.store.reserve(reservation(ground.team, 4, None)).await.unwrap().unwrap();
    a_moment().await;
    assert_eq!(ground.store.sweep_reservations().await.unwrap(), 1, "only the one whose time is over");
    assert_eq!(balance(&ground).await, (0, 4));
    assert_eq!(ground.store.sweep_reservations().await.unwrap(), 0);
}
