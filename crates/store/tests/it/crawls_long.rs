//! What a crawl has behind it costs nothing: claims, reads and settlements do not grow with its ledger.

use crate::crawls_ground::{Book, crawl, fetched, pages, request, skipped};
use crate::ground::TestStore;
use std::time::{Duration, Instant};
use store::crawls::{AttemptEnd, EntryDecision, Settlement};

on_both!(a_round_does_not_grow_with_the_ledger);

const MANY: u64 = 40_000;

async fn a_round_does_not_grow_with_the_ledger(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=100)).await;
    let short = best_rounds(&book).await;
    // As after days of work: most of what was found is behind the crawl and before the entries that wait.
    let found = (200..200 + MANY).map(|n| skipped(n, "depth")).chain(pages(100_000..100_100)).collect();
    let claimed = book.store.claim_entries(&request(100)).await.unwrap();
    book.store
        .end_attempts(claimed.iter().map(|one| (one.lease, fetched(one.lease.seq))).collect())
        .await
        .unwrap();
    let unsettled = book.unsettled().await;
    let decisions = unsettled.fetched.iter().map(|one| (one.seq, EntryDecision::Completed)).collect();
    let settlement = Settlement { decisions, found, ..Settlement::default() };
    book.store.settle_entries(book.id, unsettled.crawl.version, settlement).await.unwrap();
    let long = best_rounds(&book).await;
    for (step, (long, short)) in long.into_iter().zip(short).enumerate() {
        // A walk through the ledger would make it many times dearer; a deeper index does not.
        let bound = short * 4 + Duration::from_millis(3);
        assert!(long < bound, "step {step}: {long:?} with {MANY} entries behind, {short:?} without");
    }
}

/// The quickest of some claims, reads, settlements and returns: what others do on this machine only adds to one.
async fn best_rounds(book: &Book) -> [Duration; 4] {
    let mut best = [Duration::MAX; 4];
    for _ in 0..12 {
        let mut started = Instant::now();
        let mut lap = |step: usize| {
            best[step] = best[step].min(started.elapsed());
            started = Instant::now();
        };
        let claimed = book.store.claim_entries(&request(4)).await.unwrap();
        lap(0);
        assert_eq!(claimed.len(), 4);
        let unsettled = book.unsettled().await;
        lap(1);
        let known = pages(1..=20);
        let settlement = Settlement { found: known, ..Settlement::default() };
        book.store.settle_entries(book.id, unsettled.crawl.version, settlement).await.unwrap();
        lap(2);
        let back = claimed.iter().map(|one| (one.lease, AttemptEnd::HandBack)).collect();
        book.store.end_attempts(back).await.unwrap();
        lap(3);
    }
    best
}
