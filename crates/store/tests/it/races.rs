//! Sixty-four clients race for the last credit, the last token, the last slot, the last place: there is
//! never one too many. They come from two stores on one database, as two processes would.

use crate::agents_ground::new_run;
use crate::crawls_ground::{batch, crawl, pages, request};
use crate::ground::{HOUR, TestStore, cases, team};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::collections::HashSet;
use std::sync::Arc;
use store::CreditStore;
use store::Store;
use store::admission::Admission;
use store::agents::{NewRun, StartedRun};
use store::crawls::{Appended, EntryClaim, NewCrawl, StartedCrawl};
use store::credits::NewReservation;
use store::work::PlanSlots;
use uuid::Uuid;

on_both!(
    the_last_credits,
    the_last_rate_tokens,
    the_last_browser_slots,
    the_last_slots_of_a_plan,
    the_last_places_for_crawls_batches_and_runs,
);

const CLIENTS: usize = 64;

/// Runs a property over random numbers, each case on a fresh team.
async fn for_all<S, F>(ground: TestStore, strategy: S, property: F)
where
    S: proptest::strategy::Strategy,
    F: AsyncFn(&[Arc<dyn Store>; 2], Uuid, S::Value),
{
    let stores = [ground.store.clone(), ground.another().await];
    let config = Config { cases: cases(4, 100), failure_persistence: None, ..Config::default() };
    tokio::task::block_in_place(|| {
        let runtime = tokio::runtime::Handle::current();
        TestRunner::new(config).run(&strategy, |value| {
            runtime.block_on(async {
                let team = team(&*stores[0], "free").await;
                property(&stores, team, value).await;
            });
            Ok::<(), TestCaseError>(())
        })
    })
    .expect("the property holds");
}

/// Lets all clients loose at once and gathers what they got.
async fn race<T, R>(stores: &[Arc<dyn Store>; 2], client: impl Fn(Arc<dyn Store>, usize) -> R) -> Vec<T>
where
    T: Send + 'static,
    R: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(tokio::sync::Barrier::new(CLIENTS));
    let mut running = Vec::with_capacity(CLIENTS);
    for n in 0..CLIENTS {
        let (store, barrier) = (stores[n % 2].clone(), barrier.clone());
        let run = client(store, n);
        running.push(tokio::spawn(async move {
            barrier.wait().await;
            run.await
        }));
    }
    let mut results = Vec::with_capacity(CLIENTS);
    for one in running {
        results.push(one.await.expect("a client"));
    }
    results
}

async fn the_last_credits(ground: TestStore) {
    for_all(ground, (0_i64..90, 1_i64..4), async |stores, team, (allowance, amount)| {
        let got = race(stores, move |store, _| async move {
            let new = NewReservation {
                team_id: team,
                key_id: None,
                amount,
                allowance: Some(allowance),
                purpose: "race".into(),
                hold_for: HOUR,
            };
            let id = store.reserve(new).await.unwrap()?;
            store.charge(id, amount - 1).await.unwrap();
            // Two close what one reserved: only one of them may release it.
            let other = store.clone();
            let (first, second) =
                tokio::join!(CreditStore::close(&*store, id), CreditStore::close(&*other, id));
            assert!(first.unwrap() != second.unwrap(), "closed exactly once");
            Some(())
        })
        .await;
        let balance = stores[1].balance(team).await.unwrap();
        let granted = i64::try_from(got.iter().flatten().count()).unwrap();
        assert_eq!((balance.used, balance.reserved), (granted * (amount - 1), 0));
        assert!(balance.used <= allowance, "{balance:?} of {allowance}");
    })
    .await;
}

async fn the_last_rate_tokens(ground: TestStore) {
    for_all(ground, (1_u32..100, 1_u32..4), async |stores, team, (limit, wanted)| {
        let got = race(stores, move |store, _| async move {
            store.take_rate(team, "race", limit, HOUR, wanted).await.unwrap().granted
        })
        .await;
        let all = u32::try_from(CLIENTS).unwrap() * wanted;
        assert_eq!(got.iter().sum::<u32>(), limit.min(all), "all of them and not one more");
    })
    .await;
}

async fn the_last_browser_slots(ground: TestStore) {
    for_all(ground, 0_u32..80, async |stores, team, max| {
        let got =
            race(stores, move |store, _| async move { store.acquire_slot(team, max, HOUR).await.unwrap() })
                .await;
        let held: HashSet<Uuid> = got.into_iter().flatten().collect();
        assert_eq!(held.len(), usize::try_from(max).unwrap().min(CLIENTS));
        assert_eq!(stores[0].slots_in_use(team).await.unwrap() as usize, held.len());
    })
    .await;
}

async fn the_last_slots_of_a_plan(ground: TestStore) {
    for_all(ground, (0_u32..50, 1_u32..5), async |stores, team, (plan_slots, limit)| {
        let new = crawl(team);
        let id = new.id;
        stores[0].start_crawl(new, pages(1..=40)).await.unwrap();
        let got = race(stores, move |store, _| {
            let plans = vec![PlanSlots { plan: "free".into(), max_running: Some(plan_slots) }];
            let claim = EntryClaim { plans, ..request(limit) };
            async move { store.claim_entries(&claim).await.unwrap() }
        })
        .await;
        let claimed: Vec<_> = got.into_iter().flatten().collect();
        let pages: HashSet<u64> = claimed.iter().map(|one| one.lease.seq).collect();
        assert_eq!(pages.len(), claimed.len(), "no page twice");
        assert_eq!(pages.len(), plan_slots.min(40) as usize, "every slot and not one more");
        stores[1].cancel_crawl(team, id).await.unwrap();
    })
    .await;
}

/// The queue is one for everything that waits: whoever starts what, there is never one too many.
async fn the_last_places_for_crawls_batches_and_runs(ground: TestStore) {
    for_all(ground, (1_u64..4, 0_u64..20), async |stores, team, (size, places)| {
        let list = NewCrawl { id: Uuid::now_v7(), ..batch(team) };
        let batch_id = list.id;
        stores[0].start_crawl(list, Vec::new()).await.unwrap();
        let got = race(stores, move |store, n| async move {
            let admission = Admission { max_waiting: Some(places), claim: None };
            let first = 1 + n as u64 * 10;
            match n % 3 {
                0 => {
                    let new = NewCrawl { admission, ..crawl(team) };
                    let started = store.start_crawl(new, pages(first..first + size)).await.unwrap();
                    (started == StartedCrawl::Accepted).then_some(size)
                }
                1 => {
                    let entries = pages(first..first + size);
                    let added = store.append_entries(team, batch_id, entries, None, admission).await.unwrap();
                    (added == Appended::Added(size)).then_some(size)
                }
                _ => {
                    let run = NewRun { admission, ..new_run(team) };
                    let started = store.start_run(run).await.unwrap();
                    matches!(started, StartedRun::Accepted { .. }).then_some(1)
                }
            }
        })
        .await;
        let waiting = stores[0].queue_status(team).await.unwrap().waiting;
        assert_eq!(waiting, got.iter().flatten().sum::<u64>(), "what was accepted waits, and nothing else");
        // Runs need one place each, so none is left.
        assert_eq!(waiting, places, "as many as fit and not one more");
    })
    .await;
}
