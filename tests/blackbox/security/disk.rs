//! With a full or failing disk the server refuses work, keeps serving reads and recovers without a restart;
//! nothing a caller can start fills the disk without bound.
//!
//! A few rounds here, many with `GANNET_TEST_SOAK=1`.

use crate::http::{Http, HttpResponse};
use crate::scrape::config;
use crate::server::{Server, ServerConfig, run};
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::Path as Segment;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::{SmallDisk, TempDir};

/// Everything works again this soon after the fault is over.
const MAX_RECOVERY: Duration = Duration::from_secs(10);
const PAGES: u64 = 60;

pub fn rounds(short: u32, long: u32) -> u32 {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { long } else { short }
}

/// Text that hardly compresses, different for each number.
fn words(number: u64, count: usize) -> String {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::new();
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let _ = write!(text, "{:x} ", state >> 20);
    }
    text
}

fn page(number: u64, links: &str) -> Html<String> {
    let text = words(number, 1_500);
    Html(format!(
        "<html><head><title>Page {number}</title></head><body><main><h1>Page {number}</h1><p>{text}</p>{links}</main></body></html>"
    ))
}

/// A site of this many large, slow pages.
pub fn slow_site(pages: u64, each: Duration) -> SiteServer {
    let front = move || async move {
        let link = |links: String, n: u64| links + &format!("<a href=\"/p/{n}\">{n}</a> ");
        let links = (0..pages).fold(String::new(), link);
        page(u64::MAX, &links)
    };
    let one = move |Segment(number): Segment<u64>| async move {
        tokio::time::sleep(each).await;
        page(number, "<a href=\"/\">front</a>")
    };
    SiteServer::start(
        Router::new()
            .route("/", get(front))
            .route("/p/{number}", get(one))
            .route("/other/{number}", get(one)),
    )
}

/// An endless site: every page links to more.
fn endless_site() -> SiteServer {
    let one = |Segment(number): Segment<u64>| async move {
        let link = |links: String, n: u64| {
            links + &format!("<a href=\"/p/{}\">{n}</a> ", number.wrapping_mul(5) + n)
        };
        let links = (1..=4).fold(String::new(), link);
        page(number, &links)
    };
    SiteServer::start(Router::new().route("/p/{number}", get(one)))
}

async fn scrape(http: &Http, url: &str) -> HttpResponse {
    http.post("/v2/scrape", &json!({ "url": url, "maxAge": 0, "fastMode": true })).await.unwrap()
}

pub async fn start_crawl(http: &Http, url: &str) -> String {
    let request = json!({
        "url": url, "limit": 1_000, "maxConcurrency": 4, "sitemap": "skip", "crawlEntireDomain": true,
        "scrapeOptions": { "formats": ["markdown"], "fastMode": true, "maxAge": 0 },
    });
    let started = http.post("/v2/crawl", &request).await.unwrap();
    started.expect_success()["id"].as_str().unwrap().to_owned()
}

pub async fn status(http: &Http, id: &str) -> Value {
    let response = http.get(&format!("/v2/crawl/{id}?limit=1")).await.unwrap();
    assert_eq!(response.status, 200, "{}", response.text);
    response.json
}

/// Waits until a crawl has ended; returns its last status.
pub async fn wait_for_end(http: &Http, id: &str, max_wait: Duration) -> Value {
    let end = Instant::now() + max_wait;
    loop {
        let status = status(http, id).await;
        if status["status"] != "scraping" {
            return status;
        }
        assert!(Instant::now() < end, "still at it: {:.600}", status.to_string());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until a server is ready and scrapes again.
pub async fn wait_for_recovery(server: &Server, url: &str) {
    let began = Instant::now();
    loop {
        let ready = server.http.get("/ready").await.unwrap();
        let scraped = scrape(&server.http, url).await;
        if ready.status == 200 && scraped.status == 200 {
            return;
        }
        assert!(
            began.elapsed() < MAX_RECOVERY,
            "no recovery within {MAX_RECOVERY:?}: /ready {} {}, scrape {} {:.300}\n{}",
            ready.status,
            ready.text,
            scraped.status,
            scraped.text,
            server.log().lines().rev().take(12).collect::<Vec<_>>().join("\n")
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// A server on a small disk of its own, with limits that must be counted for every request.
fn on_a_small_disk(dir: &TempDir, size: &str) -> (SmallDisk, ServerConfig) {
    let disk = SmallDisk::mount(&dir.join("data"), size);
    let launcher = disk.enter(dir.path());
    let config = config(dir).set("browser", "off").set("lease", "2s").tiny_plan(
        "credits = 1000000\nconcurrency = 20\n[plans.tiny.rates]\nstatus = 150000\nscrape = 150000\ncrawl = 150000",
    );
    (disk, ServerConfig { launcher, ..config })
}

/// Fills the disk until a scrape is refused; returns that response.
async fn fill_disk_until_refused(disk: &SmallDisk, http: &Http, site: &SiteServer) -> HttpResponse {
    let end = Instant::now() + Duration::from_secs(30);
    for number in 0.. {
        disk.fill();
        let response = scrape(http, &site.url(&format!("/other/{number}"))).await;
        if response.status != 200 {
            return response;
        }
        assert!(Instant::now() < end, "scrapes are accepted on a full disk");
    }
    unreachable!()
}

fn assert_database_is_intact(disk: &SmallDisk) {
    let python = std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run through `make test`");
    let check = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchone()[0])";
    let output =
        Command::new(python).args(["-c", check]).arg(disk.seen("gannet.db")).output().expect("python");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "ok",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_work_serves_reads_and_recovers_without_a_restart() {
    let dir = TempDir::new();
    let (disk, config) = on_a_small_disk(&dir, "14m");
    let site = slow_site(PAGES, Duration::from_millis(120));
    let mut server = config.start().await;
    let first = scrape(&server.http, &site.url("/other/1")).await;
    let first = first.expect_success()["data"]["metadata"]["scrapeId"].as_str().unwrap().to_owned();
    let mut crawls = vec![start_crawl(&server.http, &site.base).await];
    for round in 0..rounds(3, 20) {
        let refused = fill_disk_until_refused(&disk, &server.http, &site).await;
        // Everything stored can still be read, also where every request is counted.
        let id = crawls.last().unwrap();
        for path in [format!("/v2/crawl/{id}"), format!("/v2/scrape/{first}"), "/v2/team/activity".to_owned()]
        {
            let read = server.http.get(&path).await.unwrap();
            assert_eq!(read.status, 200, "{path}: {}", read.text);
        }
        let end = Instant::now() + Duration::from_secs(10);
        let unready = loop {
            disk.fill();
            let ready = server.http.get("/ready").await.unwrap();
            if ready.status != 200 {
                break ready;
            }
            assert!(Instant::now() < end, "ready on a full disk");
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        // In some rounds the server is killed while its disk is full.
        if round % 3 == 1 {
            server.kill();
            disk.empty();
            server = config.start().await;
        } else {
            // Long enough for all running work to meet the full disk.
            tokio::time::sleep(Duration::from_millis(700)).await;
            disk.empty();
        }
        wait_for_recovery(&server, &site.url(&format!("/other/{}", 1_000 + round))).await;
        for response in [&refused, &unready] {
            assert_eq!(response.status, 503, "{}", response.text);
            let error = response.json["error"].as_str().unwrap_or_default();
            assert!(
                error.contains("disk") && error.contains("full"),
                "it says what is wrong: {}",
                response.text
            );
            assert!(!response.header("retry-after").is_empty());
        }
        if status(&server.http, crawls.last().unwrap()).await["status"] != "scraping" && round < 3 {
            crawls.push(start_crawl(&server.http, &site.base).await);
        }
    }
    for id in &crawls {
        let last = wait_for_end(&server.http, id, Duration::from_mins(3)).await;
        assert_eq!(last["status"], "completed", "{last}");
        assert_eq!(
            (last["completed"].as_u64(), last["failed"].as_u64()),
            (Some(PAGES + 1), Some(0)),
            "{last}"
        );
    }
    server.terminate();
    assert_database_is_intact(&disk);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_is_refused_before_the_disk_is_full_and_doctor_says_so() {
    let dir = TempDir::new();
    let (disk, config) = on_a_small_disk(&dir, "40m");
    let site = slow_site(1, Duration::ZERO);
    let server = config.start().await;
    wait_for_recovery(&server, &site.url("/other/1")).await;
    // A little space is left, which running work needs to end.
    std::fs::write(disk.seen("filler"), vec![b'x'; 36 << 20]).unwrap();
    let end = Instant::now() + Duration::from_secs(10);
    let requests = [
        ("/v2/scrape", json!({ "url": site.url("/other/2") })),
        ("/v2/crawl", json!({ "url": site.base })),
        ("/v2/batch/scrape", json!({ "urls": [site.base] })),
        ("/v2/map", json!({ "url": site.base })),
        ("/v2/agent", json!({ "prompt": "what is on the front page?", "urls": [site.base] })),
        ("/v2/search", json!({ "query": "page" })),
    ];
    for (path, body) in &requests {
        loop {
            let response = server.http.post(path, body).await.unwrap();
            if response.status == 503 {
                let text = "Service Unavailable: the disk that holds the data folder is full";
                response.expect_error(503, text);
                break;
            }
            assert!(Instant::now() < end, "{path}: {}", response.text);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    let (code, out, _) = run(config.command(&["doctor"]));
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("the disk that holds the data folder is full"), "{out}");
    disk.empty();
    wait_for_recovery(&server, &site.url("/other/3")).await;
    let (_, out, _) = run(config.command(&["doctor"]));
    assert!(!out.contains("is full"), "{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_object_storage_disk_is_named() {
    let dir = TempDir::new();
    let objects = dir.join("objects");
    let disk = SmallDisk::mount(&objects, "2m");
    let config = config(&dir).set("browser", "off").set("objects", &objects.display().to_string());
    let config = ServerConfig { launcher: disk.enter(dir.path()), ..config };
    let server = config.start().await;
    disk.fill();
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let ready = server.http.get("/ready").await.unwrap();
        if ready.status == 503 {
            ready.expect_error(503, "Service Unavailable: the disk that holds the objects folder is full");
            break;
        }
        assert!(Instant::now() < end, "ready with a full disk");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    disk.empty();
    wait_for_recovery(&server, &slow_site(1, Duration::ZERO).url("/other/1")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_over_its_storage_limit_ends_with_a_reason_and_keeps_its_pages() {
    let dir = TempDir::new();
    let config = config(&dir).set("browser", "off").set("lease", "1s").set("single_crawl_limit", "300KB");
    let server = config.start().await;
    let site = endless_site();
    let id = start_crawl(&server.http, &site.url("/p/1")).await;
    let last = wait_for_end(&server.http, &id, Duration::from_mins(1)).await;
    assert_eq!(last["status"], "failed", "{last}");
    assert!(last["error"].as_str().unwrap().contains("storage limit"), "{last}");
    let completed = last["completed"].as_u64().unwrap();
    assert!(completed > 0 && completed < 900, "{last}");
    let page = server.http.get(&format!("/v2/crawl/{id}?limit=3")).await.unwrap().json;
    assert!(page["data"][0]["markdown"].as_str().unwrap().contains("Page 1"), "what it has can be read");
    // Other crawls are not affected.
    wait_for_recovery(&server, &site.url("/p/7")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crawls_together_stay_below_their_storage_limit() {
    let dir = TempDir::new();
    let config = config(&dir).set("browser", "off").set("lease", "1s").set("crawls_limit", "300KB");
    let server = config.start().await;
    let site = endless_site();
    let id = start_crawl(&server.http, &site.url("/p/1")).await;
    let last = wait_for_end(&server.http, &id, Duration::from_mins(1)).await;
    assert_eq!(last["status"], "failed", "{last}");
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let refused = server.http.post("/v2/crawl", &json!({ "url": site.url("/p/1") })).await.unwrap();
        if refused.status == 503 {
            assert!(refused.json["error"].as_str().unwrap().contains("crawls_limit"), "{}", refused.text);
            break;
        }
        assert!(Instant::now() < end, "more crawls are accepted: {}", refused.text);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(scrape(&server.http, &site.url("/p/3")).await.status, 200, "a scrape is not a crawl");
    assert!(
        status(&server.http, &id).await["completed"].as_u64().unwrap() > 0,
        "what ended can still be read"
    );
}
