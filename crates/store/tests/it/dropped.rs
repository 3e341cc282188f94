//! Callers go away in the middle of a call (a client hangs up, a deadline passes): what was half done
//! is undone, and the store serves the next one.

use crate::crawls_ground::{crawl, pages, request};
use crate::ground::{TestStore, cases};
use std::time::Duration;
use store::crawls::CrawlKind;
use store::credits::NewReservation;

on_both!(dropped_calls_leave_nothing_behind);

async fn dropped_calls_leave_nothing_behind(ground: TestStore) {
    let rounds = cases(150, 3_000);
    let mut accepted = Vec::new();
    for round in 0..rounds {
        // From before the first statement to well after the last.
        let patience = Duration::from_micros(u64::from(round * 37 % 3_000));
        let new = crawl(ground.team);
        let id = new.id;
        let call = ground.store.start_crawl(new, pages(1..=3));
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
        let crawl = ground.store.crawl(ground.team, *id).await.unwrap().expect("it was accepted");
        assert_eq!(crawl.counts.discovered, 3, "whole when it was accepted");
    }
    // A crawl whose caller left may be there or not, but never in part.
    let crawls = ground.store.active_crawls(ground.team, CrawlKind::Crawl, rounds).await.unwrap();
    assert!(crawls.len() >= accepted.len());
    assert!(crawls.iter().all(|crawl| crawl.counts.discovered == 3));
    // One claim looks at a bounded number of crawls.
    let mut claimed = 0;
    loop {
        match ground.store.claim_entries(&request(rounds * 3)).await.unwrap().len() {
            0 => break,
            more => claimed += more,
        }
    }
    assert_eq!(claimed, crawls.len() * 3, "every page can be claimed");
    crate::ground::a_moment().await;
    while ground.store.sweep_reservations().await.unwrap() > 0 {}
    assert_eq!(ground.store.balance(ground.team).await.unwrap().reserved, 0);
}
