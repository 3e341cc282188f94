//! The cost of the crawl ledger: one crawl, worked on in rounds as the engine does it.
//!
//! A round claims `BATCH` entries, ends their attempts with an outcome and a document each, and settles what
//! can be settled; each settlement finds `LINKS` URLs, of which as many are new as were settled and the
//! others are known, as in the middle of a site. `WORKERS` do so concurrently. Prints the time of each step,
//! pages per second, and the disk space of a page.

use super::{noise, team};
use anyhow::{Result, ensure};
use gannet_bench::timing::{Stopwatch, milliseconds};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use store::Store;
use store::crawls::{
    AttemptEnd, CrawlKind, EntryClaim, EntryDecision, NewCrawl, NewEntry, NewEntryKind, Settled, Settlement,
    UnsettledCrawl,
};
use uuid::Uuid;

const HOUR: Duration = Duration::from_hours(1);
/// The steps of a round, in the order of [`Times`].
const STEPS: [&str; 4] = ["claim", "end", "unsettled", "settle"];

#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Size {
    #[arg(default_value_t = 20_000)]
    pages: usize,
    #[arg(default_value_t = 1)]
    workers: usize,
    #[arg(default_value_t = 16)]
    batch: usize,
    #[arg(default_value_t = 500)]
    links: usize,
    #[arg(default_value_t = 8_000)]
    document_bytes: usize,
}

/// What all workers share.
struct CrawledSite {
    store: Arc<dyn Store>,
    crawl: Uuid,
    size: Size,
    found: AtomicUsize,
    settled: AtomicUsize,
}

pub async fn run(store: Arc<dyn Store>, size: Size) -> Result<()> {
    let size = Size { workers: size.workers.max(1), batch: size.batch.max(1), ..size };
    let crawl = NewCrawl { team_id: team(&*store, "bench".into()).await?, ..new_crawl() };
    let (id, seeds) = (crawl.id, size.links.max(size.batch * size.workers * 2));
    store.start_crawl(crawl, (0..seeds).map(entry).collect()).await?;
    let before = store.size_bytes().await?;
    let (found, settled) = (AtomicUsize::new(seeds), AtomicUsize::new(0));
    let site = Arc::new(CrawledSite { store, crawl: id, size, found, settled });
    let watch = Stopwatch::for_process();
    let tasks: Vec<_> = (0..size.workers).map(|_| tokio::spawn(work(site.clone()))).collect();
    let mut times = Times::default();
    for task in tasks {
        for (sum, step) in times.iter_mut().zip(&task.await??) {
            sum.add(step);
        }
    }
    let cost = watch.cost();
    let pages = site.settled.load(Ordering::Relaxed);

    println!("pages        {pages} by {} workers, batches of {}", size.workers, size.batch);
    println!(
        "each         {} addresses found with a batch, documents of {} bytes",
        size.links, size.document_bytes
    );
    for (name, step) in STEPS.iter().zip(&times) {
        println!("{name:<12} {:.2} ms, {:.2} ms at most", step.mean(), milliseconds(step.longest));
    }
    println!("pages/s      {:.0}, nothing else going on", pages as f64 * 1e3 / cost.wall);
    println!("processor    {:.3} ms per page (this process)", cost.cpu / pages as f64);
    let growth = site.store.size_bytes().await?.saturating_sub(before);
    println!("disk         {:.0} bytes per page, its document included", growth as f64 / pages as f64);
    Ok(())
}

async fn work(site: Arc<CrawledSite>) -> Result<Times> {
    let store = &site.store;
    let [mut claim, mut end, mut unsettled_times, mut settle] = Times::default();
    let request = EntryClaim {
        owner: Uuid::now_v7(),
        limit: u32::try_from(site.size.batch)?,
        lease_for: HOUR,
        plans: Vec::new(),
        other_plans: None,
    };
    while site.settled.load(Ordering::Relaxed) < site.size.pages {
        let claimed = claim.time(store.claim_entries(&request)).await?;
        if !claimed.is_empty() {
            let ends = claimed.iter().map(|one| (one.lease, site.fetched(one.lease.seq))).collect();
            let leased = end.time(store.end_attempts(ends)).await?;
            ensure!(leased.iter().all(|leased| *leased), "a lease was lost");
        }
        let unsettled = unsettled_times.time(store.unsettled_crawl(site.crawl, 64, HOUR)).await?;
        if let Some(unsettled) = unsettled.filter(|unsettled| !unsettled.fetched.is_empty()) {
            let (count, version) = (unsettled.fetched.len(), unsettled.crawl.version);
            let settlement = site.settlement(&unsettled);
            let settled = settle.time(store.settle_entries(site.crawl, version, settlement)).await?;
            if matches!(settled, Settled::Now(_)) {
                site.settled.fetch_add(count, Ordering::Relaxed);
            }
        }
    }
    Ok([claim, end, unsettled_times, settle])
}

impl CrawledSite {
    fn fetched(&self, seq: u64) -> AttemptEnd {
        let seed = usize::try_from(seq).unwrap_or(0);
        let (outcome, document) = (noise(seed, 2_000), Some(noise(seed, self.size.document_bytes)));
        AttemptEnd::Fetched { outcome, document, page: None, search: None }
    }

    /// Everything is a document; links lead back to the newest URLs, and to some new ones.
    fn settlement(&self, unsettled: &UnsettledCrawl) -> Settlement {
        let count = unsettled.fetched.len();
        let end = self.found.fetch_add(count, Ordering::Relaxed) + count;
        Settlement {
            decisions: unsettled.fetched.iter().map(|one| (one.seq, EntryDecision::Completed)).collect(),
            found: (end.saturating_sub(self.size.links.max(count))..end).map(entry).collect(),
            memory: Some(noise(end, 4_000)),
            credits: i64::try_from(count).unwrap_or(0),
            ..Settlement::default()
        }
    }
}

type Times = [StepTimes; STEPS.len()];

/// The times of one step, including waiting for locks.
#[derive(Default)]
struct StepTimes {
    count: u32,
    sum: Duration,
    longest: Duration,
}

impl StepTimes {
    async fn time<T>(&mut self, step: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let output = step.await;
        let time = start.elapsed();
        self.add(&Self { count: 1, sum: time, longest: time });
        output
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    fn mean(&self) -> f64 {
        milliseconds(self.sum) / f64::from(self.count.max(1))
    }
}

fn entry(n: usize) -> NewEntry {
    NewEntry {
        // Distributed like hashes.
        key: (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes(),
        url: format!("https://www.example.test/some/section/of/the/site/page-{n}.html"),
        host: "www.example.test".into(),
        depth: 3,
        kind: NewEntryKind::Page,
    }
}

fn new_crawl() -> NewCrawl {
    NewCrawl {
        id: Uuid::now_v7(),
        team_id: Uuid::nil(),
        key_id: None,
        kind: CrawlKind::Crawl,
        request: "{}".into(),
        target: "https://www.example.test/".into(),
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
