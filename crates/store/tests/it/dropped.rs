//! Callers go away in the middle of a call (a client hangs up, a deadline passes): what was half done
//! is undone, and the store serves the next one.

use crate::ground::{Ground, cases, job, jobs};
use std::time::Duration;
use store::credits::NewReservation;
use store::jobs::NewJob;

on_both!(dropped_calls_leave_nothing_behind);

async fn dropped_calls_leave_nothing_behind(ground: Ground) {
    let rounds = cases(150, 3_000);
    let mut accepted = Vec::new();
    for round in 0..rounds {
        // From before the first statement to well after the last.
        let patience = Duration::from_micros(u64::from(round * 37 % 3_000));
        let parent = NewJob { kind: "group".into(), ..job(ground.team) };
        let id = parent.id;
        let call = ground.store.enqueue_group(parent, jobs(ground.team, 3));
        if let Ok(done) = tokio::time::timeout(patience, call).await {
            done.expect("a call that was waited for works");
            accepted.push(id);
        }
        let reservation = NewReservation {
            team_id: ground.team,
            key_id: None,
            amount: 1,
            allowance: Some(i64::from(rounds)),
            purpose: "dropped".into(),
            hold_for: Duration::ZERO,
        };
        let _ = tokio::time::timeout(patience / 2, ground.store.reserve(reservation)).await;
    }
    ground.store.ping().await.expect("still there");
    for id in &accepted {
        let parent = ground.job(*id).await;
        assert_eq!(parent.children.total, 3, "whole when it was accepted");
    }
    // A group whose caller left may be there or not, but never in part.
    let groups = ground.store.recent(ground.team, "group", None, rounds).await.unwrap();
    assert!(groups.len() >= accepted.len());
    assert!(groups.iter().all(|group| group.children.total == 3));
    let claimed = ground.claim(rounds * 3).await;
    assert_eq!(claimed.len(), groups.len() * 3, "every child can be claimed");
    crate::ground::a_moment().await;
    while ground.store.sweep_reservations().await.unwrap() > 0 {}
    assert_eq!(ground.store.balance(ground.team).await.unwrap().reserved, 0);
}
