//! Sessions of browsers: of one team, ended once, lost with their process, gone when their time is over.

use crate::ground::{HOUR, TestStore, a_moment, team};
use std::time::Duration;
use store::browser_sessions::{NewBrowserSession, SessionFilter};
use uuid::Uuid;

on_both!(
    a_session_is_listed_while_it_runs_and_after,
    a_session_ends_once,
    a_silent_holder_loses_its_sessions,
    ended_sessions_go_after_their_time,
);

fn new_session(team_id: Uuid, hold_for: Duration, keep_for: Duration) -> NewBrowserSession {
    NewBrowserSession {
        id: Uuid::now_v7(),
        team_id,
        scrape_id: None,
        holder: Uuid::now_v7(),
        hold_for,
        reservation: Uuid::now_v7(),
        stream: true,
        prompted: false,
        ttl: Duration::from_mins(10),
        keep_for,
    }
}

async fn a_session_is_listed_while_it_runs_and_after(ground: TestStore) {
    let (store, team_id) = (&*ground.store, ground.team);
    let scrape = Uuid::now_v7();
    let new = NewBrowserSession { scrape_id: Some(scrape), ..new_session(team_id, HOUR, HOUR) };
    let (began, expires) = store.begin_browser_session(new.clone()).await.unwrap();
    assert_eq!(expires - began, 600_000);
    let kept = store.browser_session(team_id, new.id).await.unwrap().expect("it is there");
    assert_eq!((kept.scrape_id, kept.ended_at, kept.stream), (Some(scrape), None, true));
    assert_eq!(
        store.browser_session_of_scrape(team_id, scrape).await.unwrap().map(|one| one.id),
        Some(new.id)
    );
    let other = team(store, "free").await;
    assert_eq!(store.browser_session(other, new.id).await.unwrap(), None);
    assert_eq!(store.browser_session_of_scrape(other, scrape).await.unwrap(), None);
    let listed = async |filter| store.browser_sessions(team_id, filter, 10).await.unwrap().len();
    assert_eq!((listed(SessionFilter::Running).await, listed(SessionFilter::Ended).await), (1, 0));
    assert!(store.end_browser_session(new.id, "deleted", 2, HOUR).await.unwrap());
    assert_eq!((listed(SessionFilter::Running).await, listed(SessionFilter::Ended).await), (0, 1));
    assert_eq!(listed(SessionFilter::All).await, 1);
    assert_eq!(store.browser_session_of_scrape(team_id, scrape).await.unwrap(), None);
    let ended = store.browser_session(team_id, new.id).await.unwrap().expect("still listed");
    assert_eq!((ended.end_reason.as_deref(), ended.credits), (Some("deleted"), 2));
}

async fn a_session_ends_once(ground: TestStore) {
    let store = &*ground.store;
    let new = new_session(ground.team, HOUR, HOUR);
    store.begin_browser_session(new.clone()).await.unwrap();
    let renew = async |holder| store.renew_browser_session(new.id, holder, HOUR, 7, true).await.unwrap();
    assert!(renew(new.holder).await && !renew(Uuid::now_v7()).await);
    let kept = store.browser_session(ground.team, new.id).await.unwrap().expect("it is there");
    assert_eq!((kept.last_activity, kept.prompted), (7, true));
    let end = async |reason| store.end_browser_session(new.id, reason, 3, HOUR).await.unwrap();
    assert!(end("deleted").await && !end("expired").await);
    assert!(!renew(new.holder).await, "its holder learns that it has ended");
}

async fn a_silent_holder_loses_its_sessions(ground: TestStore) {
    let store = &*ground.store;
    let silent = new_session(ground.team, Duration::from_millis(1), HOUR);
    let alive = new_session(ground.team, HOUR, HOUR);
    store.begin_browser_session(silent.clone()).await.unwrap();
    store.begin_browser_session(alive).await.unwrap();
    a_moment().await;
    let lost = store.lost_browser_sessions(10).await.unwrap();
    assert_eq!(lost.iter().map(|one| one.id).collect::<Vec<_>>(), [silent.id]);
    assert_eq!(store.browser_sessions(ground.team, SessionFilter::Running, 10).await.unwrap().len(), 1);
}

async fn ended_sessions_go_after_their_time(ground: TestStore) {
    let store = &*ground.store;
    let new = new_session(ground.team, HOUR, HOUR);
    store.begin_browser_session(new.clone()).await.unwrap();
    assert_eq!(store.purge_browser_sessions(10).await.unwrap(), 0);
    store.end_browser_session(new.id, "deleted", 2, Duration::ZERO).await.unwrap();
    a_moment().await;
    assert_eq!(store.browser_session(ground.team, new.id).await.unwrap(), None);
    assert_eq!(store.purge_browser_sessions(10).await.unwrap(), 1);
}
