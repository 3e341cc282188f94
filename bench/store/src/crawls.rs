//! The cost of the crawl ledger: one crawl, worked on in rounds as the engine does it.
//!
//! A round claims `BATCH` entries, ends their attempts with an outcome and a document each, and settles what
//! can be settled; each settlement finds `LINKS` URLs, of which as many are new as were settled and the
//! others are known, as in the middle of a site. `WORKERS` do so concurrently. Prints the time of each step,
//! pages per second, and the disk space of a page.

use crate::{cpu, noise, number, team};
use anyhow::ensure;
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

/// What all workers share.
struct CrawledSite {
    store: Arc<dyn Store>,
    crawl: Uuid,
    pages: usize,
    batch: usize,
    links: usize,
    document: usize,
    found: AtomicUsize,
    settled: AtomicUsize,
}

pub async fn run(store: Arc<dyn Store>, rest: &[String]) -> anyhow::Result<()> {
    let (pages, workers) = (number(rest, 0, 20_000)?, number(rest, 1, 1)?.max(1));
    let batch = number(rest, 2, 16)?.max(1);
    let (links, document) = (number(rest, 3, 500)?, number(rest, 4, 8_000)?);
    let crawl = NewCrawl { team_id: team(&*store, "bench".into()).await?, ..new_crawl() };
    let (id, seeds) = (crawl.id, links.max(batch * workers * 2));
    store.start_crawl(crawl, (0..seeds).map(entry).collect()).await?;
    let before = store.size_bytes().await?;
    let site = Arc::new(CrawledSite {
        store,
        crawl: id,
        pages,
        batch,
        links,
        document,
        found: AtomicUsize::new(seeds),
        settled: AtomicUsize::new(0),
    });
    let (start, cpu) = (Instant::now(), cpu::spent());
    let tasks: Vec<_> = (0..workers).map(|_| tokio::spawn(work(site.clone()))).collect();
    let mut times = Times::default();
    for task in tasks {
        times.add(&task.await??);
    }
    let (elapsed, cpu) = (start.elapsed(), cpu::spent().saturating_sub(cpu));
    let done = site.settled.load(Ordering::Relaxed);

    println!("pages        {done} by {workers} workers, batches of {batch}");
    println!("each         {links} addresses found with a batch, documents of {document} bytes");
    for (name, steps) in [
        ("claim", &times.claim),
        ("end", &times.end),
        ("unsettled", &times.unsettled),
        ("settle", &times.settle),
    ] {
        println!("{name:<12} {:.2} ms, {:.2} ms at most", steps.mean(), steps.longest.as_secs_f64() * 1e3);
    }
    println!("pages/s      {:.0}, nothing else going on", done as f64 / elapsed.as_secs_f64());
    println!("processor    {:.3} ms per page (this process)", cpu.as_secs_f64() * 1e3 / done as f64);
    let grown = site.store.size_bytes().await?.saturating_sub(before);
    println!("disk         {:.0} bytes per page, its document included", grown as f64 / done as f64);
    Ok(())
}

async fn work(site: Arc<CrawledSite>) -> anyhow::Result<Times> {
    let (store, mut times) = (&site.store, Times::default());
    let request = EntryClaim {
        owner: Uuid::now_v7(),
        limit: u32::try_from(site.batch)?,
        lease_for: HOUR,
        plans: Vec::new(),
        other_plans: None,
    };
    while site.settled.load(Ordering::Relaxed) < site.pages {
        let claimed = times.claim.time(store.claim_entries(&request)).await?;
        if !claimed.is_empty() {
            let ends = claimed.iter().map(|one| (one.lease, site.fetched(one.lease.seq))).collect();
            let held = times.end.time(store.end_attempts(ends)).await?;
            ensure!(held.iter().all(|held| *held), "a lease was lost");
        }
        let unsettled = times.unsettled.time(store.unsettled_crawl(site.crawl, 64, HOUR)).await?;
        if let Some(unsettled) = unsettled.filter(|unsettled| !unsettled.fetched.is_empty()) {
            let (count, version) = (unsettled.fetched.len(), unsettled.crawl.version);
            let settlement = site.settlement(&unsettled);
            let settled = times.settle.time(store.settle_entries(site.crawl, version, settlement)).await?;
            if matches!(settled, Settled::Now(_)) {
                site.settled.fetch_add(count, Ordering::Relaxed);
            }
        }
    }
    Ok(times)
}

impl CrawledSite {
    fn fetched(&self, seq: u64) -> AttemptEnd {
        let seed = usize::try_from(seq).unwrap_or(0);
        let (outcome, document) = (noise(seed, 2_000), Some(noise(seed, self.document)));
        AttemptEnd::Fetched { outcome, document, page: None, search: None }
    }

    /// Everything is a document; links lead back to the newest URLs, and to some new ones.
    fn settlement(&self, unsettled: &UnsettledCrawl) -> Settlement {
        let count = unsettled.fetched.len();
        let end = self.found.fetch_add(count, Ordering::Relaxed) + count;
        Settlement {
            decisions: unsettled.fetched.iter().map(|one| (one.seq, EntryDecision::Completed)).collect(),
            found: (end.saturating_sub(self.links.max(count))..end).map(entry).collect(),
            memory: Some(noise(end, 4_000)),
            credits: i64::try_from(count).unwrap_or(0),
            ..Settlement::default()
        }
    }
}

#[derive(Default)]
struct Times {
    claim: Steps,
    end: Steps,
    unsettled: Steps,
    settle: Steps,
}

impl Times {
    fn add(&mut self, other: &Self) {
        self.claim.add(&other.claim);
        self.end.add(&other.end);
        self.unsettled.add(&other.unsettled);
        self.settle.add(&other.settle);
    }
}

/// The times of one step, including waiting for locks.
#[derive(Default)]
struct Steps {
    count: u32,
    sum: Duration,
    longest: Duration,
}

impl Steps {
    async fn time<T>(&mut self, step: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let done = step.await;
        let took = start.elapsed();
        self.add(&Self { count: 1, sum: took, longest: took });
        done
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    fn mean(&self) -> f64 {
        self.sum.as_secs_f64() * 1e3 / f64::from(self.count.max(1))
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
