//! Eight workers of two processes claim, end and settle at once: no entry is handed out twice, every limit
//! holds exactly, the counters add up at every moment, and nobody waits in a circle.

use crate::ground::{HOUR, TestStore, cases, team};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::Store;
use store::crawls::{
    AttemptEnd, CancelOutcome, ClaimedEntry, Crawl, CrawlKind, CrawlState, EntryClaim, EntryDecision,
    EntryKey, EntryLease, NewCrawl, NewEntry, NewEntryKind, Settled, Settlement, UnsettledCrawl,
};
use store::credits::NewReservation;
use store::work::PlanSlots;
use uuid::Uuid;

on_both!(
    one_crawl_comes_to_its_exact_limit,
    several_crawls_share_the_workers,
    eight_workers_come_to_the_same_end_as_one,
    a_cancelled_crawl_takes_nothing_more,
);

const WORKERS: usize = 8;
/// Far more than any of these takes: only a circle of waiting exceeds it.
const PATIENCE: Duration = Duration::from_mins(2);
/// Where page `n` leads to `2n` and `2n + 1`, up to this one.
const PAGES: u64 = 90;

fn new_crawl(team_id: Uuid, kind: CrawlKind) -> NewCrawl {
    NewCrawl {
        id: Uuid::now_v7(),
        team_id,
        key_id: None,
        kind,
        request: "{}".into(),
        target: "http://site.test/1".into(),
        limit: None,
        max_running: None,
        gap: None,
        deadline: HOUR,
        retain_for: HOUR,
        reservation: None,
        private: false,
        audit: None,
        deliveries: Vec::new(),
        admission: store::admission::Admission::default(),
    }
}

fn page(n: u64) -> NewEntry {
    let mut key = EntryKey::default();
    key[..8].copy_from_slice(&n.to_be_bytes());
    let url = format!("http://site.test/{n}");
    NewEntry { key, url, host: "site.test".into(), depth: n.ilog2(), kind: NewEntryKind::Page }
}

fn number_of(url: &str) -> u64 {
    url.rsplit('/').next().and_then(|number| number.parse().ok()).expect("an address of the site")
}

/// What becomes of page `n`, always the same.
fn decision(n: u64) -> EntryDecision {
    match n {
        n if n.is_multiple_of(11) => EntryDecision::Failed(r#"{"error":"gone"}"#.into()),
        n if n.is_multiple_of(13) => EntryDecision::Skipped("duplicate".into()),
        _ => EntryDecision::Completed,
    }
}

/// Where a page leads: two further pages, one that is not to be scraped, and some that are known.
fn links(n: u64) -> Vec<NewEntry> {
    let mut found: Vec<NewEntry> =
        [n, n / 2 + 1, 2 * n, 2 * n + 1, 2 * n].into_iter().filter(|n| *n <= PAGES).map(page).collect();
    found.push(NewEntry { kind: NewEntryKind::Skipped("external".into()), ..page(1_000_000 + n) });
    found
}

fn settlement(unsettled: &UnsettledCrawl) -> Settlement {
    let mut settlement = Settlement { memory: unsettled.memory.clone(), ..Settlement::default() };
    let follow = unsettled.crawl.kind == CrawlKind::Crawl;
    let room = unsettled.crawl.limit.map(|limit| limit - unsettled.crawl.counts.completed);
    let mut completed = 0;
    for entry in &unsettled.fetched {
        let n = number_of(&entry.url);
        assert_eq!(entry.outcome.as_deref(), Some(&n.to_be_bytes()[..]), "the outcome of this very entry");
        let decision = decision(n);
        completed += u64::from(decision == EntryDecision::Completed);
        settlement.decisions.push((entry.seq, decision));
        if follow {
            settlement.found.extend(links(n));
        }
    }
    assert!(room.is_none_or(|room| completed <= room), "nothing was fetched that could not be kept");
    settlement.credits = i64::try_from(completed).unwrap();
    settlement
}

fn assert_adds_up(crawl: &Crawl) {
    let c = crawl.counts;
    let ended = c.completed + c.failed + c.skipped + c.cancelled;
    assert_eq!(c.discovered, c.queued + c.running + c.fetched + ended, "{crawl:?}");
    assert!(crawl.limit.is_none_or(|limit| c.completed + c.running + c.fetched <= limit), "{crawl:?}");
}

/// What the workers of a test know of each other.
#[derive(Default)]
struct Held {
    now: Mutex<HashMap<Uuid, HashSet<u64>>>,
    leases: Mutex<HashSet<EntryLease>>,
}

impl Held {
    fn note_claimed(&self, claimed: &[ClaimedEntry], most: usize) {
        let mut now = self.now.lock().unwrap();
        for entry in claimed {
            let held = now.entry(entry.lease.crawl).or_default();
            assert!(held.insert(entry.lease.seq), "somebody else holds {entry:?}");
            assert!(held.len() <= most, "{} of {most} at once", held.len());
            assert!(self.leases.lock().unwrap().insert(entry.lease), "a lease is new: {entry:?}");
        }
    }

    /// Before the store hears of it, so that nobody is blamed for taking what is just being let go.
    fn let_go(&self, claimed: &[ClaimedEntry]) {
        let mut now = self.now.lock().unwrap();
        for entry in claimed {
            now.get_mut(&entry.lease.crawl).unwrap().remove(&entry.lease.seq);
        }
    }
}

/// How the workers of a test work.
#[derive(Clone, Copy)]
struct Manner {
    /// The most entries of one crawl at once.
    most: usize,
    /// Some attempts are not the last.
    stumbles: bool,
}

fn end_of(entry: &ClaimedEntry, manner: Manner) -> AttemptEnd {
    let n = number_of(&entry.url);
    match (n % 10, entry.attempt) {
        (3, 1) if manner.stumbles => AttemptEnd::Retry { error: "busy".into(), delay: Duration::ZERO },
        (7, 1) if manner.stumbles && entry.lease.number < 3 => AttemptEnd::HandBack,
        _ => AttemptEnd::Fetched {
            outcome: n.to_be_bytes().to_vec(),
            document: (decision(n) == EntryDecision::Completed).then(|| entry.url.clone().into_bytes()),
            page: None,
            search: None,
        },
    }
}

/// Works until all the crawls have ended.
async fn work(store: Arc<dyn Store>, crawls: Arc<[Uuid]>, held: Arc<Held>, manner: Manner) {
    let request = EntryClaim {
        owner: Uuid::now_v7(),
        limit: 3,
        lease_for: HOUR,
        plans: vec![PlanSlots { plan: "free".into(), max_running: Some(6) }],
        other_plans: None,
    };
    loop {
        let claimed = store.claim_entries(&request).await.expect("a claim");
        held.note_claimed(&claimed, manner.most);
        tokio::task::yield_now().await;
        let ends = claimed.iter().map(|entry| (entry.lease, end_of(entry, manner))).collect();
        held.let_go(&claimed);
        let kept = store.end_attempts(ends).await.expect("the end of attempts");
        let lost = claimed.iter().zip(kept).filter(|(_, kept)| !kept).map(|(entry, _)| entry.lease.crawl);
        for crawl in lost.collect::<HashSet<_>>() {
            let state = store.crawl_for_work(crawl).await.unwrap().unwrap().state;
            assert_ne!(state, CrawlState::Active, "a lease is lost with its crawl only");
        }
        if claimed.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut live = 0;
        for crawl in crawls.iter() {
            let touched = claimed.is_empty() || claimed.iter().any(|entry| entry.lease.crawl == *crawl);
            live += usize::from(!touched || settle_ready(&*store, *crawl).await);
        }
        if live == 0 {
            return;
        }
    }
}

/// Settles what can be settled; whether the crawl is live.
async fn settle_ready(store: &dyn Store, crawl: Uuid) -> bool {
    loop {
        let Some(unsettled) = store.unsettled_crawl(crawl, 16, HOUR).await.expect("unsettled entries") else {
            return false;
        };
        assert_adds_up(&unsettled.crawl);
        if unsettled.fetched.is_empty() {
            return true;
        }
        let settlement = settlement(&unsettled);
        match store.settle_entries(crawl, unsettled.crawl.version, settlement).await.expect("a settlement") {
            Settled::Now(CrawlState::Active) | Settled::Overtaken => {}
            Settled::Now(_) => return false,
        }
    }
}

/// Lets workers loose on crawls, and looks at the counters all the while.
async fn work_off(ground: &TestStore, crawls: &[Uuid], workers: usize, manner: Manner) {
    let stores = [ground.store.clone(), ground.another().await];
    let (crawls, held): (Arc<[Uuid]>, _) = (crawls.into(), Arc::new(Held::default()));
    let mut running = tokio::task::JoinSet::new();
    for n in 0..workers {
        running.spawn(work(stores[n % 2].clone(), crawls.clone(), held.clone(), manner));
    }
    let all = async { while running.join_next().await.transpose().expect("a worker").is_some() {} };
    let watch = async {
        loop {
            for crawl in crawls.iter() {
                assert_adds_up(&stores[1].crawl_for_work(*crawl).await.unwrap().unwrap());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        done = tokio::time::timeout(PATIENCE, all) => done.expect("nobody waits in a circle"),
        () = watch => {}
    }
}

async fn reserve(store: &dyn Store, team_id: Uuid, amount: i64) -> Uuid {
    let new = NewReservation {
        team_id,
        key_id: None,
        amount,
        allowance: Some(10_000),
        purpose: "crawl".into(),
        hold_for: HOUR,
    };
    store.reserve(new).await.unwrap().expect("credits")
}

async fn documents(store: &dyn Store, crawl: Uuid) -> Vec<(u64, String)> {
    let kept = store.crawl_documents(crawl, 0, 10_000, u64::MAX).await.unwrap();
    for document in &kept {
        assert_eq!(document.body, document.url.as_bytes(), "each page has its own document");
    }
    kept.into_iter().map(|document| (document.number, document.url)).collect()
}

/// How many of the first pages are completed, when all are done.
fn completed_among(pages: u64) -> u64 {
    (1..=pages).filter(|n| decision(*n) == EntryDecision::Completed).count() as u64
}

async fn one_crawl_comes_to_its_exact_limit(ground: TestStore) {
    for round in 0..cases(2, 20) {
        let limit = 20 + u64::from(round % 8) * 7;
        let reservation = reserve(&*ground.store, ground.team, 500).await;
        let before = ground.store.balance(ground.team).await.unwrap().used;
        let new = NewCrawl {
            limit: Some(limit),
            max_running: Some(5),
            reservation: Some(reservation),
            ..new_crawl(ground.team, CrawlKind::Crawl)
        };
        let id = new.id;
        ground.store.start_crawl(new, vec![page(1)]).await.unwrap();
        work_off(&ground, &[id], WORKERS, Manner { most: 5, stumbles: true }).await;

        let crawl = ground.store.crawl(ground.team, id).await.unwrap().unwrap();
        assert_eq!(crawl.state, CrawlState::Completed);
        assert_eq!(crawl.counts.completed, limit, "the limit and not one less or more");
        let numbers: Vec<u64> =
            documents(&*ground.store, id).await.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (1..=limit).collect::<Vec<_>>());
        let balance = ground.store.balance(ground.team).await.unwrap();
        let charged = u64::try_from(balance.used - before).unwrap();
        assert_eq!((charged, balance.reserved), (limit, 0), "each document is paid for once");
        assert_eq!(crawl.credits, i64::try_from(limit).unwrap());
    }
}

async fn several_crawls_share_the_workers(ground: TestStore) {
    let mut crawls = Vec::new();
    for kind in [CrawlKind::Crawl, CrawlKind::Batch, CrawlKind::Crawl] {
        let team = team(&*ground.store, "free").await;
        for _ in 0..2 {
            let new = new_crawl(team, kind);
            crawls.push((team, new.id, kind));
            let pages = if kind == CrawlKind::Batch { (1..=40).map(page).collect() } else { vec![page(1)] };
            ground.store.start_crawl(new, pages).await.unwrap();
        }
    }
    let ids: Vec<Uuid> = crawls.iter().map(|(_, id, _)| *id).collect();
    work_off(&ground, &ids, WORKERS, Manner { most: 6, stumbles: true }).await;
    for (team, id, kind) in crawls {
        let crawl = ground.store.crawl(team, id).await.unwrap().unwrap();
        assert_eq!(crawl.state, CrawlState::Completed);
        let urls: HashSet<String> =
            documents(&*ground.store, id).await.into_iter().map(|(_, url)| url).collect();
        if kind == CrawlKind::Batch {
            assert_eq!((crawl.counts.discovered, crawl.counts.completed), (40, completed_among(40)));
        }
        assert_eq!(urls.len() as u64, crawl.counts.completed, "no page twice");
    }
}

async fn eight_workers_come_to_the_same_end_as_one(ground: TestStore) {
    let mut ends = Vec::new();
    for workers in [1, WORKERS] {
        let new = new_crawl(ground.team, CrawlKind::Crawl);
        let id = new.id;
        ground.store.start_crawl(new, vec![page(1)]).await.unwrap();
        work_off(&ground, &[id], workers, Manner { most: 6, stumbles: false }).await;
        let crawl = ground.store.crawl(ground.team, id).await.unwrap().unwrap();
        let lines = ground.store.crawl_entries(id, None, 0, 10_000).await.unwrap();
        let lines: Vec<_> =
            lines.into_iter().map(|line| (line.seq, line.url, line.state, line.reason)).collect();
        ends.push((crawl.counts, documents(&*ground.store, id).await, lines));
    }
    assert!(ends[0].0.completed > 50, "{:?}", ends[0].0);
    assert_eq!(ends[0], ends[1], "the same numbers, documents and reasons");
}

async fn a_cancelled_crawl_takes_nothing_more(ground: TestStore) {
    let (rounds, mut cancelled_in_time) = (cases(3, 30), 0);
    for round in 0..rounds {
        let reservation = reserve(&*ground.store, ground.team, 500).await;
        let new = NewCrawl { reservation: Some(reservation), ..new_crawl(ground.team, CrawlKind::Crawl) };
        let id = new.id;
        ground.store.start_crawl(new, vec![page(1)]).await.unwrap();
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(12 * u64::from(round % 4))).await;
            let outcome = ground.store.cancel_crawl(ground.team, id).await.unwrap();
            let crawl = ground.store.crawl(ground.team, id).await.unwrap().unwrap();
            (outcome, crawl, documents(&*ground.store, id).await)
        };
        let manner = Manner { most: 6, stumbles: true };
        let ids = [id];
        let ((), (outcome, cancelled, kept)) = tokio::join!(work_off(&ground, &ids, WORKERS, manner), cancel);
        // A fast machine may have done all of it before.
        if matches!(outcome, CancelOutcome::AlreadyFinished(_)) {
            continue;
        }
        assert_eq!(outcome, CancelOutcome::Cancelled);
        cancelled_in_time += 1;
        assert_eq!(cancelled.state, CrawlState::Cancelled);
        let open = cancelled.counts.queued + cancelled.counts.running + cancelled.counts.fetched;
        assert_eq!(open, 0, "what was open is cancelled: {cancelled:?}");
        let later = ground.store.crawl(ground.team, id).await.unwrap().unwrap();
        assert_eq!(
            (later.counts, later.version),
            (cancelled.counts, cancelled.version),
            "it stays as it was"
        );
        assert_eq!(documents(&*ground.store, id).await, kept);
        let balance = ground.store.balance(ground.team).await.unwrap();
        assert_eq!(balance.reserved, 0, "the reservation is closed");
    }
    // Those of every fourth round are cancelled at once.
    assert!(cancelled_in_time >= rounds / 4, "{cancelled_in_time} of {rounds}");
}
