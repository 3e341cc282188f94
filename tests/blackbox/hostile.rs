//! Hostile sites through the real binary: every case gets its exact error within its deadline, the next page
//! works as usual, and no resources leak.

mod cases;
pub mod servers;

use crate::http::Http;
use crate::processes::{self, Process};
use crate::scrape::{ScrapeFixture, scrape_as};
use crate::wait::eventually;
use cases::{Case, Expect};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::{DnsResponse, DnsServer};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const CONCURRENT_CASES: usize = 6;
/// How much later than its timeout a response may come on a busy machine.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(8);

/// Names that resolve to loopback; all others do not exist. The name servers of this machine are never asked.
fn names() -> DnsServer {
    DnsServer::start(|name, _| match name {
        name if name.ends_with(".example") && name.len() < 200 => DnsResponse::from_addresses(&["127.0.0.1"]),
        _ => DnsResponse::NoSuchName,
    })
}

/// Sends the request of one case; returns what was wrong with the response.
async fn try_case(http: &Http, case: &Case) -> Result<(), String> {
    let began = Instant::now();
    let response = scrape_as(http, &case.url, case.options.clone()).await;
    let allowed = Duration::from_millis(case.options["timeout"].as_u64().unwrap_or(0)) + TIMEOUT_MARGIN;
    let took = began.elapsed();
    let shown = format!("{}: {} in {took:?}: {:.300}", case.name, response.status, response.text);
    if took > allowed {
        return Err(format!("too late: {shown}"));
    }
    let as_it_should = match case.expect {
        Expect::Fails(status, code) => {
            let error = response.json["error"].as_str().unwrap_or_default();
            (response.status, response.json["code"].as_str()) == (status, Some(code))
                && response.json["success"] == false
                && !error.is_empty()
        }
        Expect::Page(text) => {
            let markdown = response.json["data"]["markdown"].as_str().unwrap_or_default();
            response.status == 200 && markdown.contains(text)
        }
    };
    if as_it_should { Ok(()) } else { Err(format!("expected {:?}: {shown}", case.expect)) }
}

/// Runs all cases, a few at a time, each followed by a plain page; panics with everything that went wrong.
async fn try_all(fixture: &Arc<ScrapeFixture>, cases: Vec<Case>) {
    let places = Arc::new(Semaphore::new(CONCURRENT_CASES));
    let mut running = JoinSet::new();
    for case in cases {
        let (fixture, places) = (Arc::clone(fixture), Arc::clone(&places));
        running.spawn(async move {
            let _place = places.acquire().await.unwrap();
            try_case(fixture.http(), &case).await?;
            let after = fixture.scrape("/article", json!({ "maxAge": 0, "fastMode": true })).await;
            if after.status == 200 { Ok(()) } else { Err(format!("after {}: {}", case.name, after.text)) }
        });
    }
    let mut wrong = Vec::new();
    while let Some(ended) = running.join_next().await {
        wrong.extend(ended.unwrap().err());
    }
    assert!(wrong.is_empty(), "{} cases went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn resources_in_use(processes: &[Process]) -> (usize, u64) {
    let handles = processes.iter().map(Process::handles).sum();
    (handles, processes.iter().map(Process::memory_kb).sum::<u64>() / 1024)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_hostile_site_gets_its_error_and_leaks_nothing() {
    let names = names();
    let fixture =
        Arc::new(ScrapeFixture::with(|config| config.set("name_servers", &names.address.to_string())).await);
    fixture.scrape_document("/article", json!({})).await;
    let own = format!("{}/v2/openapi.json", fixture.http().base);
    let mut large = cases::bodies().await;
    large.extend(cases::encodings().await);
    // The allocator keeps memory for each thread that has freed some, so more on a machine with more cores. What leaks grows
    // with each further response.
    try_all(&fixture, large.clone()).await;
    let before = resources_in_use(&processes::tree(fixture.server.pid()));
    let mut all = large;
    all.extend(cases::heads().await);
    all.extend(cases::redirects(&own).await);
    all.extend(cases::tls().await);
    all.extend(cases::addresses().await);
    let servers = all.iter().filter(|case| case.url.contains("://127.0.0.1")).count();
    assert!(servers >= 60, "{servers} servers");
    try_all(&fixture, all).await;
    // Fetches that may be joined later are dropped after a while; few connections are kept for the next page.
    let pid = fixture.server.pid();
    let handles = async || resources_in_use(&processes::tree(pid)).0;
    eventually("file handles are closed", async || handles().await <= before.0 + 64).await;
    let tree = processes::tree(pid);
    assert_eq!(tree.len(), 1, "nothing was started for it: {tree:?}");
    let after = resources_in_use(&tree);
    println!(
        "{servers} servers; handles {} then {}, memory {} MB then {} MB",
        before.0, after.0, before.1, after.1
    );
    assert!(after.1 <= before.1 + 200, "{} MB became {} MB", before.1, after.1);
}

/// Some sites break the connection unless a browser asks, so a broken response is tried again in one. That
/// must end too.
#[tokio::test(flavor = "multi_thread")]
async fn responses_broken_over_http_end_in_the_browser_too() {
    const ENDS: [&str; 3] = ["SCRAPE_SITE_ERROR", "SCRAPE_ALL_ENGINES_FAILED", "SCRAPE_TIMEOUT"];
    let fixture = Arc::new(ScrapeFixture::own().await);
    let mut running = JoinSet::new();
    for (name, server) in [
        ("nothing at all", servers::respond_and_close("").await),
        ("HTTP/0.9", servers::respond_and_close("<html>no head before this</html>").await),
        ("a reset", servers::resetting("").await),
        (
            "a chunk of no size",
            servers::respond_and_close("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").await,
        ),
        (
            "gzip that is none",
            servers::respond_and_close("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain").await,
        ),
        ("a status that is no number", servers::respond_and_close("HTTP/1.1 abc OK\r\n\r\nbody").await),
    ] {
        let fixture = Arc::clone(&fixture);
        running.spawn(async move {
            let began = Instant::now();
            let options = json!({ "timeout": 15_000, "maxAge": 0 });
            let response = scrape_as(fixture.http(), &server.url("/"), options).await;
            assert!(
                began.elapsed() < Duration::from_secs(15) + TIMEOUT_MARGIN,
                "{name}: {:?}",
                began.elapsed()
            );
            let code = response.json["code"].as_str().unwrap_or_default();
            assert!(ENDS.contains(&code), "{name}: {} {}", response.status, response.text);
            assert!(server.reached() > 1, "{name}: requested over HTTP and by the browser");
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    let page = fixture.scrape_document("/app", json!({ "maxAge": 0 })).await;
    assert_eq!(page["metadata"]["statusCode"], 200, "the next page that needs a browser has one: {page}");
    let tree = processes::tree(fixture.server.pid());
    assert!(tree.iter().any(Process::is_chromium) && tree.len() < 24, "{tree:?}");
    drop(fixture);
    processes::all_gone(&tree, Duration::from_secs(10));
}
