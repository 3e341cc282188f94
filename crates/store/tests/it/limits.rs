//! Rate windows and slots.

use crate::ground::{HOUR, NOW, TestStore, a_moment, team};
use std::time::Duration;
use uuid::Uuid;

on_both!(
    a_window_grants_its_limit_and_starts_anew,
    windows_are_per_team_and_group,
    looking_starts_no_window,
    slots_are_leased,
    slots_of_other_teams_do_not_count,
    sweeping_forgets_only_what_ended,
);

async fn a_window_grants_its_limit_and_starts_anew(ground: TestStore) {
    let window = Duration::from_millis(400);
    let take = async |wanted| ground.store.take_rate(ground.team, "scrape", 5, window, wanted).await.unwrap();
    let first = take(3).await;
    assert_eq!((first.granted, first.remaining), (3, 2));
    assert!(first.resets_in <= window && first.resets_in > NOW);
    let second = take(4).await;
    assert_eq!((second.granted, second.remaining), (2, 0), "what is left");
    assert!(second.resets_in <= first.resets_in, "the window does not move");
    assert_eq!(take(1).await.granted, 0);
    tokio::time::sleep(second.resets_in + Duration::from_millis(20)).await;
    let fresh = take(9).await;
    assert_eq!((fresh.granted, fresh.remaining), (5, 0), "never more than the limit");
}

async fn windows_are_per_team_and_group(ground: TestStore) {
    let other = team(&*ground.store, "free").await;
    for (team, group) in [(ground.team, "scrape"), (ground.team, "crawl"), (other, "scrape")] {
        assert_eq!(ground.store.take_rate(team, group, 1, HOUR, 1).await.unwrap().granted, 1);
        assert_eq!(ground.store.take_rate(team, group, 1, HOUR, 1).await.unwrap().granted, 0);
    }
    let more = ground.store.take_rate(ground.team, "scrape", 3, HOUR, 5).await.unwrap();
    assert_eq!((more.granted, more.remaining), (2, 0), "a raised limit counts at once");
    let less = ground.store.take_rate(ground.team, "scrape", 2, HOUR, 1).await.unwrap();
    assert_eq!((less.granted, less.remaining), (0, 0), "so does a lowered one");
}

async fn looking_starts_no_window(ground: TestStore) {
    let window = Duration::from_mins(1);
    let look = ground.store.take_rate(ground.team, "g", 4, window, 0).await.unwrap();
    assert_eq!((look.granted, look.remaining, look.resets_in), (0, 4, window));
    let none = ground.store.take_rate(ground.team, "g", 0, window, 2).await.unwrap();
    assert_eq!((none.granted, none.remaining), (0, 0));
    a_moment().await;
    let first = ground.store.take_rate(ground.team, "g", 4, window, 1).await.unwrap();
    assert_eq!(first.resets_in, window, "it starts with the first token");
    let look = ground.store.take_rate(ground.team, "g", 4, window, 0).await.unwrap();
    assert_eq!((look.granted, look.remaining), (0, 3));
}

async fn slots_are_leased(ground: TestStore) {
    let acquire = async |lease| ground.store.acquire_slot(ground.team, 2, lease).await.unwrap();
    let short = acquire(Duration::from_secs(1)).await.unwrap();
    let long = acquire(HOUR).await.unwrap();
    assert_eq!(acquire(HOUR).await, None);
    assert_eq!(ground.store.slots_in_use(ground.team).await.unwrap(), 2);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(ground.store.slots_in_use(ground.team).await.unwrap(), 1, "one ran out");
    let next = acquire(HOUR).await.unwrap();
    let renewed = ground.store.renew_slots(&[next, short, long, Uuid::now_v7()], HOUR).await.unwrap();
    assert_eq!(renewed, [next, long], "what ran out is not brought back");
    ground.store.release_slot(long).await.unwrap();
    ground.store.release_slot(long).await.unwrap();
    assert_eq!(ground.store.slots_in_use(ground.team).await.unwrap(), 1);
    assert!(acquire(HOUR).await.is_some());
    assert!(ground.store.renew_slots(&[], HOUR).await.unwrap().is_empty());
    assert_eq!(ground.store.acquire_slot(ground.team, 0, HOUR).await.unwrap(), None);
}

async fn slots_of_other_teams_do_not_count(ground: TestStore) {
    let other = team(&*ground.store, "free").await;
    assert!(ground.store.acquire_slot(other, 1, HOUR).await.unwrap().is_some());
    assert!(ground.store.acquire_slot(ground.team, 1, HOUR).await.unwrap().is_some());
}

async fn sweeping_forgets_only_what_ended(ground: TestStore) {
    ground.store.take_rate(ground.team, "old", 1, Duration::from_millis(1), 1).await.unwrap();
    ground.store.take_rate(ground.team, "new", 1, HOUR, 1).await.unwrap();
    ground.store.acquire_slot(ground.team, 9, NOW).await.unwrap();
    let kept = ground.store.acquire_slot(ground.team, 9, HOUR).await.unwrap().unwrap();
    a_moment().await;
    ground.store.sweep_limits().await.unwrap();
    assert_eq!(ground.store.take_rate(ground.team, "new", 1, HOUR, 1).await.unwrap().granted, 0);
    assert_eq!(ground.store.take_rate(ground.team, "old", 1, HOUR, 1).await.unwrap().granted, 1);
    assert_eq!(ground.store.renew_slots(&[kept], HOUR).await.unwrap(), [kept]);
}
