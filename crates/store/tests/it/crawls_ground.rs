//! What tests of crawls stand on: short ways to start, claim, fetch and settle, with the ledger audited after each.

use crate::ground::{HOUR, TestStore};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::crawls::{
    AttemptEnd, ClaimedEntry, Crawl, CrawlKind, CrawlState, Entry, EntryClaim, EntryCounts, EntryDecision,
    EntryState, NewCrawl, NewEntry, NewEntryKind, Settled, Settlement, UnsettledCrawl,
};
use store::webhooks::{DeliveryEnd, NewDelivery};
use uuid::Uuid;

pub const HOST: &str = "site.test";

pub fn crawl(team_id: Uuid) -> NewCrawl {
    NewCrawl {
        id: Uuid::now_v7(),
        team_id,
        key_id: None,
        kind: CrawlKind::Crawl,
        request: r#"{"start":"http://site.test/"}"#.into(),
        target: "http://site.test/".into(),
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

pub fn batch(team_id: Uuid) -> NewCrawl {
    NewCrawl { kind: CrawlKind::Batch, ..crawl(team_id) }
}

pub fn page(n: u64) -> NewEntry {
    NewEntry {
        key: key(n),
        url: format!("http://{HOST}/{n}"),
        host: HOST.into(),
        depth: u32::try_from(n % 5).unwrap(),
        kind: NewEntryKind::Page,
    }
}

pub fn key(n: u64) -> [u8; 16] {
    u128::from(n).to_be_bytes()
}

pub fn pages(numbers: impl IntoIterator<Item = u64>) -> Vec<NewEntry> {
    numbers.into_iter().map(page).collect()
}

pub fn lists(n: u64) -> NewEntry {
    NewEntry { kind: NewEntryKind::Lists, ..page(n) }
}

pub fn skipped(n: u64, word: &str) -> NewEntry {
    NewEntry { kind: NewEntryKind::Skipped(word.into()), ..page(n) }
}

pub fn request(limit: u32) -> EntryClaim {
    EntryClaim { owner: Uuid::now_v7(), limit, lease_for: HOUR, plans: Vec::new(), other_plans: None }
}

/// What a worker brings of an entry: a document that can be told from others.
pub fn fetched(seq: u64) -> AttemptEnd {
    AttemptEnd::Fetched {
        outcome: seq.to_be_bytes().to_vec(),
        document: Some(document(seq)),
        page: None,
        search: None,
    }
}

/// An attempt that came to nothing that could be kept.
pub fn came_to_nothing() -> AttemptEnd {
    AttemptEnd::Fetched { outcome: b"nothing".to_vec(), document: None, page: None, search: None }
}

pub fn document(seq: u64) -> Vec<u8> {
    vec![u8::try_from(seq % 251).unwrap(); usize::try_from(10 + seq % 7).unwrap()]
}

pub fn numbers(claimed: &[ClaimedEntry]) -> Vec<u64> {
    claimed.iter().map(|one| one.lease.seq).collect()
}

pub fn delivery(team_id: Uuid, subject: Uuid, event: &str) -> NewDelivery {
    NewDelivery {
        id: Uuid::now_v7(),
        team_id,
        subject,
        event: event.into(),
        target: r#"{"url":"http://hook.test/"}"#.into(),
        body: b"{}".to_vec(),
        document: None,
        not_before: None,
    }
}

/// A crawl under test.
pub struct Book {
    pub store: Arc<dyn Store>,
    pub team: Uuid,
    pub id: Uuid,
}

impl Book {
    pub async fn start(ground: &TestStore, new: NewCrawl, entries: Vec<NewEntry>) -> Self {
        let book = Self { store: ground.store.clone(), team: new.team_id, id: new.id };
        book.store.start_crawl(new, entries).await.expect("the crawl starts");
        book.audit().await;
        book
    }

    pub async fn crawl(&self) -> Crawl {
        self.store.crawl(self.team, self.id).await.expect("crawl").expect("the crawl is there")
    }

    pub async fn state(&self) -> CrawlState {
        self.crawl().await.state
    }

    pub async fn claim(&self, limit: u32) -> Vec<ClaimedEntry> {
        let claimed = self.store.claim_entries(&request(limit)).await.expect("claim");
        self.audit().await;
        claimed
    }

    /// Ends the attempts of all of these with a document each.
    pub async fn fetch(&self, claimed: &[ClaimedEntry]) {
        let ends = claimed.iter().map(|one| (one.lease, fetched(one.lease.seq))).collect();
        let held = self.store.end_attempts(ends).await.expect("end");
        assert!(held.iter().all(|held| *held), "all leases are held");
        self.audit().await;
    }

    pub async fn end(&self, claimed: &ClaimedEntry, end: AttemptEnd) -> bool {
        let held = self.store.end_attempts(vec![(claimed.lease, end)]).await.expect("end");
        self.audit().await;
        held[0]
    }

    /// What can be settled, however long others run.
    pub async fn unsettled(&self) -> UnsettledCrawl {
        let unsettled =
            self.store.unsettled_crawl(self.id, 1_000, Duration::ZERO).await.expect("unsettled entries");
        unsettled.expect("the crawl is live")
    }

    pub async fn settle_entries(&self, settlement: Settlement) -> Settled {
        let version = self.crawl().await.version;
        let settled = self.store.settle_entries(self.id, version, settlement).await.expect("settle");
        self.audit().await;
        settled
    }

    /// Gives a decision to everything that is fetched, in the order of numbers.
    pub async fn settle_by(&self, decision: impl Fn(u64) -> EntryDecision, found: Vec<NewEntry>) -> Settled {
        let decisions =
            self.unsettled().await.fetched.iter().map(|one| (one.seq, decision(one.seq))).collect();
        self.settle_entries(Settlement { decisions, found, ..Settlement::default() }).await
    }

    pub async fn settle_all(&self, found: Vec<NewEntry>) -> Settled {
        self.settle_by(|_| EntryDecision::Completed, found).await
    }

    /// Claims, fetches and completes some entries.
    pub async fn work(&self, limit: u32, found: Vec<NewEntry>) -> Settled {
        let claimed = self.claim(limit).await;
        self.fetch(&claimed).await;
        self.settle_all(found).await
    }

    pub async fn lines(&self, state: Option<EntryState>) -> Vec<Entry> {
        self.store.crawl_entries(self.id, state, 0, 10_000).await.expect("entries")
    }

    /// The entries that read so.
    pub async fn in_state(&self, state: EntryState) -> Vec<u64> {
        self.lines(Some(state)).await.iter().map(|line| line.seq).collect()
    }

    pub async fn balance(&self) -> (i64, i64) {
        let balance = self.store.balance(self.team).await.expect("balance");
        (balance.used, balance.reserved)
    }

    /// The events that wait to be told of the crawl, in order. Takes them away.
    pub async fn told(&self) -> Vec<String> {
        let mut events = Vec::new();
        loop {
            let claimed = self.store.claim_deliveries(100, HOUR).await.expect("deliveries");
            if claimed.is_empty() {
                return events;
            }
            for (lease, delivery) in claimed {
                assert_eq!((delivery.subject, delivery.team_id), (self.id, self.team));
                events.push(delivery.event);
                assert!(self.store.end_delivery(lease, DeliveryEnd::Delivered).await.expect("delivered"));
            }
        }
    }

    /// Holds the counters against the lines of the ledger and against the documents.
    pub async fn audit(&self) {
        let crawl = self.crawl().await;
        let counts = crawl.counts;
        let open = counts.queued + counts.running + counts.fetched;
        let ended = counts.completed + counts.failed + counts.skipped + counts.cancelled;
        assert_eq!(counts.discovered, open + ended, "{counts:?}");
        if crawl.state != CrawlState::Active {
            assert_eq!((open, counts.reading_lists), (0, 0), "nothing is open in what has ended");
        }
        if let Some(limit) = crawl.limit {
            assert!(counts.completed + counts.running + counts.fetched <= limit, "{counts:?} of {limit}");
        }
        let lines = self.lines(None).await;
        assert_eq!(counted(&lines), EntryCounts { reading_lists: 0, ..counts }, "counters and lines");
        let mut by_state = Vec::new();
        for state in [
            EntryState::Queued,
            EntryState::Running,
            EntryState::Fetched,
            EntryState::Completed,
            EntryState::Failed,
            EntryState::Skipped,
            EntryState::Cancelled,
        ] {
            by_state.extend(self.lines(Some(state)).await);
        }
        by_state.sort_by_key(|line| line.seq);
        assert_eq!(by_state, lines, "the states together are all");
        let documents = self.store.crawl_documents(self.id, 0, 10_000, u64::MAX).await.expect("documents");
        assert!(documents.iter().map(|one| one.number).eq(1..=counts.completed), "numbers without a gap");
        assert_eq!(documents.iter().map(|one| one.body.len() as u64).sum::<u64>(), crawl.bytes);
        assert_eq!(crawl.finished_at.is_some(), crawl.state != CrawlState::Active);
    }
}

fn counted(lines: &[Entry]) -> EntryCounts {
    let mut by_state: BTreeMap<String, u64> = BTreeMap::new();
    for line in lines {
        *by_state.entry(format!("{:?}", line.state)).or_default() += 1;
    }
    let count = |state: EntryState| by_state.get(&format!("{state:?}")).copied().unwrap_or(0);
    EntryCounts {
        discovered: lines.len() as u64,
        queued: count(EntryState::Queued),
        running: count(EntryState::Running),
        fetched: count(EntryState::Fetched),
        completed: count(EntryState::Completed),
        failed: count(EntryState::Failed),
        skipped: count(EntryState::Skipped),
        cancelled: count(EntryState::Cancelled),
        reading_lists: 0,
    }
}
