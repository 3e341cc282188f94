//! Crawls of a small site on a real store, whose clock the test moves.

use super::{CrawlWorker, Crawler};
use crate::Services;
use crate::cpu_pool::CpuPool;
use crate::files::Files;
use crate::models::Models;
use crate::page_memory::PageMemory;
use crate::records::RecordWriter;
use crate::scrape::Scraper;
use access::{Caller, Limiter, Plans};
use document_process::{DocumentParser, ParserOptions};
use net::{EgressAllow, EgressPolicy, Fetcher, FetcherSettings};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use store::crawls::CrawlState;
use store::objects::{ObjectPlace, Objects};
use store::secrets::{SecretKey, SecretKeys};
use store::{Store, StoreOptions, TestClock};
use testkit::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use work::{LeaseTimes, WorkSlots};

/// Longer than anything takes that a test waits for in real time.
const TEST_PATIENCE: Duration = Duration::from_secs(30);

/// A site of one page. Its first answer is 429, as a web server writes it.
struct Site {
    url: String,
    requests: Arc<AtomicUsize>,
}

impl Site {
    async fn start(retry_after: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let count = requests.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") && stream.read_buf(&mut head).await.unwrap() > 0 {}
                let (status, header, body) = if count.fetch_add(1, Ordering::SeqCst) == 0 {
                    let body = "<title>429</title><h1>429 Too Many Requests</h1><hr>nginx".to_owned();
                    ("429 Too Many Requests", format!("Retry-After: {retry_after}\r\n"), body)
                } else {
                    let words = "Words that make this a page with something to say. ".repeat(5);
                    ("200 OK", String::new(), format!("<title>A page</title><h1>A page</h1><p>{words}</p>"))
                };
                let size = body.len();
                let answer = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{header}Content-Length: {size}\r\nConnection: close\r\n\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

struct CrawlFixture {
    store: Arc<dyn Store>,
    services: Services,
    scraper: Arc<Scraper>,
    crawler: Crawler,
    caller: Caller,
    plans: Plans,
    _folder: TempDir,
}

impl CrawlFixture {
    async fn open() -> Self {
        let folder = TempDir::new();
        let url = format!("sqlite:{}", folder.join("store.db").display());
        let keys = SecretKeys::new(SecretKey::random().unwrap());
        let store = store::open(&StoreOptions::new(url).with_secret_keys(keys)).await.unwrap();
        let plans = Plans::new(BTreeMap::new());
        let team = store::keys::NewTeam {
            id: Uuid::now_v7(),
            name: "a team".into(),
            plan: "unlimited".into(),
            zero_data_retention: false,
        };
        let caller = Caller::new(store.create_team(team).await.unwrap(), None, &plans);
        let allow = EgressAllow::parse("scrape=127.0.0.0/8").unwrap();
        let fetcher = Fetcher::new(FetcherSettings::new(EgressPolicy::new(allow.clone()))).unwrap();
        let objects = Objects::open(&ObjectPlace::Folder(folder.join("objects")), store.clone()).unwrap();
        let files = Files::open(store.as_ref(), objects).await.unwrap();
        let services = Services {
            store: store.clone(),
            limiter: Limiter::new(store.clone()),
            fetcher,
            browsers: None,
            cpu_pool: CpuPool::new(),
            page_memory: PageMemory::default(),
            documents: DocumentParser::new(ParserOptions::default()),
            models: Models::default(),
            files: Arc::new(files),
            records: RecordWriter::start(store.clone()),
            egress_allow: allow.clone(),
            pages_for_search: true,
        };
        let scraper = Arc::new(Scraper::new(&services));
        let crawler = Crawler::new(store.clone(), allow);
        Self { store, services, scraper, crawler, caller, plans, _folder: folder }
    }

    fn start_workers(&self) -> tokio::task::JoinHandle<()> {
        let times = LeaseTimes {
            lease: Duration::from_mins(10),
            poll: Duration::from_millis(20),
            grace: Duration::from_millis(100),
        };
        let slots = WorkSlots::new(4).for_pages();
        let workers = CrawlWorker::new(&self.services, self.scraper.clone(), &self.plans, slots, times);
        tokio::spawn(workers.run(CancellationToken::new()))
    }

    async fn crawl(&self, id: Uuid) -> store::crawls::Crawl {
        self.store.crawl(self.caller.team, id).await.unwrap().unwrap()
    }
}

/// Waits in real time until something is so.
async fn until<F: Future<Output = bool>>(what: &str, is_so: impl Fn() -> F) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < TEST_PATIENCE, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The pause that a crawl makes by itself is a second, and a page that is judged to be a wall is an error
/// with a `Retry-After`.
#[tokio::test]
async fn a_crawl_waits_as_long_as_a_429_page_asks_for() {
    let clock = TestClock::freeze();
    let (site, fixture) = (Site::start("7").await, CrawlFixture::open().await);
    let request = json!({
        "url": site.url, "limit": 1, "ignoreRobotsTxt": true, "sitemap": "skip",
        "scrapeOptions": { "formats": ["markdown"], "maxAge": 0 },
    });
    let request = wire::read::body(request.to_string().as_bytes()).unwrap();
    let id = fixture.crawler.start(&fixture.caller, &request, None, "").await.unwrap().id;
    let workers = fixture.start_workers();
    until("the site complained", || async { site.requests() == 1 }).await;
    until("the page was put back", || async { fixture.crawl(id).await.counts.running == 0 }).await;

    clock.advance(Duration::from_millis(6_999));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(site.requests(), 1, "asked again before 7 seconds had passed");

    clock.advance(Duration::from_millis(1));
    until("the site was asked again", || async { site.requests() == 2 }).await;
    clock.advance(Duration::from_mins(1));
    until("the crawl ended", || async { fixture.crawl(id).await.state != CrawlState::Active }).await;
    let crawl = fixture.crawl(id).await;
    assert_eq!((crawl.state, crawl.counts.completed), (CrawlState::Completed, 1));
    workers.abort();
}
