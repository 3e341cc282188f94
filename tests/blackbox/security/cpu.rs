//! CPU work of one request ends at its timeout, and one caller cannot block the others.

use crate::http::{Http, HttpResponse};
use crate::scrape::{ScrapeFixture, assert_failure, scrape_as};
use crate::site::Site;
use crate::site_server::{SiteServer, lower_priority};
use crate::wait::eventually;
use axum::Router;
use axum::body::Bytes;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Siblings on the hostile page: the selectors compare each pair of them.
const SIBLING_ELEMENTS: usize = 20_000;
/// How much later than its timeout a response may come on a busy machine.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(2);

/// Selectors whose cost is quadratic in the number of siblings, each in another option.
fn hostile_selectors() -> Value {
    let selector = |number: usize| format!("i:is(b ~ i ~ i):not(.n{number})");
    json!({
        "excludeTags": (0..4).map(selector).collect::<Vec<_>>(),
        "includeTags": (4..8).map(selector).collect::<Vec<_>>(),
        "timeout": 1000,
    })
}

fn siblings() -> String {
    format!("<h1>A page with very many parts</h1><p>Some words.</p>{}", "<i>x</i>".repeat(SIBLING_ELEMENTS))
}

/// Three megabytes of names, numbers and sentences.
fn huge() -> String {
    let line = "Mr. John Smith, 12 Main Street, Berlin, called +49 30 1234567 about 4111 1111 1111 1111. ";
    format!("<h1>All of them</h1><p>{}</p>", line.repeat(35_000))
}

/// Links whose URLs are slow to match for a regular expression.
fn links() -> String {
    let mut page = String::from("<h1>Links</h1><p>Some words around them.</p>");
    for number in 0..2_000 {
        let _ = write!(page, "<a href='/{}{number:014b}'>link {number}</a> ", "ab".repeat(400));
    }
    page.replace('0', "a").replace('1', "b")
}

fn hostile_site() -> SiteServer {
    // Written once: a page that is made anew for each request would cost the machine more than the server.
    let page = |html: String| {
        let html = Bytes::from(html);
        get(move || async move { Html(html) })
    };
    let router = Router::new()
        .route("/siblings", page(siblings()))
        .route("/huge/{number}", page(huge()))
        .route("/links", page(links()));
    SiteServer::start_at_low_priority(router)
}

/// CPU time of a process so far.
fn cpu(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the server runs");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("ticks")).sum();
    Duration::from_millis(ticks * 10)
}

/// Asserts that the server becomes idle: it uses little CPU in one of the next seconds.
async fn wait_until_idle(pid: u32, what: &str) {
    let mut used = Duration::MAX;
    for _ in 0..4 {
        let before = cpu(pid);
        tokio::time::sleep(Duration::from_secs(1)).await;
        used = cpu(pid).saturating_sub(before);
        if used < Duration::from_millis(250) {
            return;
        }
    }
    panic!("{what}: the server still uses {used:?} of each second");
}

/// A request for a stored page that would take minutes.
async fn expensive_request(http: &Http, url: &str) -> (HttpResponse, Duration) {
    let begun = Instant::now();
    let response = scrape_as(http, url, hostile_selectors()).await;
    (response, begun.elapsed())
}

#[tokio::test]
async fn hostile_selectors_end_at_the_timeout_and_their_work_stops() {
    let (fixture, site) = (ScrapeFixture::own().await, hostile_site());
    let url = site.url("/siblings");
    scrape_as(fixture.http(), &url, json!({ "timeout": 60_000 })).await.expect_success();
    let mut asking = JoinSet::new();
    for _ in 0..4 {
        let (http, url) = (fixture.http().clone(), url.clone());
        asking.spawn(async move { expensive_request(&http, &url).await });
    }
    while let Some(answered) = asking.join_next().await {
        let (response, took) = answered.unwrap();
        assert!(took < Duration::from_secs(1) + TIMEOUT_MARGIN, "{took:?}: {}", response.text);
        assert_failure(&response, 408, "SCRAPE_TIMEOUT");
    }
    wait_until_idle(fixture.server.pid(), "after the time of its callers").await;
}

#[tokio::test]
async fn work_stops_when_its_caller_disconnects() {
    let (fixture, site) = (ScrapeFixture::own().await, hostile_site());
    let url = site.url("/siblings");
    scrape_as(fixture.http(), &url, json!({ "timeout": 60_000 })).await.expect_success();
    let before = cpu(fixture.server.pid());
    let mut asking = JoinSet::new();
    for _ in 0..2 {
        let (http, url) = (fixture.http().clone(), url.clone());
        let mut options = hostile_selectors();
        options["timeout"] = 60_000.into();
        asking.spawn(async move { scrape_as(&http, &url, options).await });
    }
    let used = || cpu(fixture.server.pid()).saturating_sub(before);
    eventually("the work has begun", async || used() > Duration::from_millis(300)).await;
    asking.abort_all();
    wait_until_idle(fixture.server.pid(), "after its callers hung up").await;
}

#[tokio::test]
async fn ordinary_selectors_are_not_quadratic() {
    let (fixture, site) = (ScrapeFixture::own().await, hostile_site());
    let options =
        json!({ "excludeTags": ["b ~ i ~ i", "b + i > i"], "onlyMainContent": false, "timeout": 60_000 });
    let begun = Instant::now();
    let response = scrape_as(fixture.http(), &site.url("/siblings"), options).await;
    response.expect_success();
    assert!(response.json["data"]["markdown"].as_str().unwrap().contains("Some words"));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let metrics = fixture.http().get("/metrics").await.unwrap().text;
    assert!(metrics.contains("gannet_work_cpu_seconds_count{capability=\"scrape\"}"), "{metrics}");
}

/// The given percentile of response times.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() * percent / 100]
}

/// Scrapes pages of the site one after the other, with pauses.
async fn measure_ordinary_scrapes(http: &Http, site: &Site, pages: std::ops::Range<usize>) -> Vec<Duration> {
    let mut times = Vec::new();
    for page in pages {
        let begun = Instant::now();
        let response = scrape_as(http, &site.url(&format!("/page/{page}")), json!({ "maxAge": 0 })).await;
        times.push(begun.elapsed());
        response.expect_success();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times
}

/// Callers who keep sending the most expensive requests until this is dropped. They would be on another
/// machine: here they have a runtime of their own with a low priority, so that they do not disturb the
/// measurement.
struct HostileCallers(Option<tokio::runtime::Runtime>);

impl HostileCallers {
    fn start(http: &Http, site: &SiteServer) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .on_thread_start(lower_priority)
            .build()
            .expect("a runtime");
        let (http, site) = (http.clone(), site.url(""));
        runtime.spawn(async move { spawn_hostile_requests(&http, &site).join_all().await });
        Self(Some(runtime))
    }
}

impl Drop for HostileCallers {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

fn spawn_hostile_requests(http: &Http, site: &str) -> JoinSet<()> {
    let mut callers = JoinSet::new();
    for number in 0..3 {
        let (http, url) = (http.clone(), format!("{site}/siblings"));
        let mut options = hostile_selectors();
        options["timeout"] = (2_000 + 500 * number).into();
        callers.spawn(async move {
            loop {
                let _ = http.post("/v2/scrape", &with_url(&options, &url)).await;
            }
        });
    }
    for number in 0..2 {
        let (http, url) = (http.clone(), format!("{site}/huge/{number}"));
        let options = json!({
            "redactPII": true,
            "formats": ["markdown", "links", "html", { "type": "highlights", "query": "who called" }],
            "timeout": 4_000,
            "maxAge": 0,
        });
        callers.spawn(async move {
            loop {
                let _ = http.post("/v2/scrape", &with_url(&options, &url)).await;
            }
        });
    }
    let (http, url) = (http.clone(), format!("{site}/links"));
    callers.spawn(async move {
        let body = json!({ "url": url, "limit": 3, "includePaths": ["(?:[ab]*a[ab]{14}){3}x", "links"] });
        loop {
            let _ = http.post("/v2/crawl", &body).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    callers
}

fn with_url(options: &Value, url: &str) -> Value {
    let mut body = options.clone();
    body["url"] = url.into();
    body
}

#[tokio::test]
async fn a_hostile_team_does_not_slow_another_one_down() {
    let is_long = std::env::var_os("GANNET_TEST_SOAK").is_some();
    let is_alone = std::env::var_os("GANNET_TEST_ALONE").is_some();
    let (rounds, pages) = if is_long { (6, 100) } else { (1, 40) };
    let (fixture, site) = (ScrapeFixture::own().await, hostile_site());
    let other_team = fixture.other_team().await;
    scrape_as(&other_team, &site.url("/siblings"), json!({ "timeout": 60_000 })).await.expect_success();
    measure_ordinary_scrapes(fixture.http(), &fixture.site, 0..10).await;
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    // Alternating, so that other load on the machine affects both.
    for round in 1..=rounds {
        let begun = cpu(fixture.server.pid());
        alone.extend(
            measure_ordinary_scrapes(fixture.http(), &fixture.site, round * 1_000..round * 1_000 + pages)
                .await,
        );
        let used_alone = cpu(fixture.server.pid()).saturating_sub(begun);
        let callers = HostileCallers::start(&other_team, &site);
        // Time for them to take all that they can get.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let before = cpu(fixture.server.pid());
        beside.extend(
            measure_ordinary_scrapes(
                fixture.http(),
                &fixture.site,
                round * 1_000 + 500..round * 1_000 + 500 + pages,
            )
            .await,
        );
        let used = cpu(fixture.server.pid()).saturating_sub(before);
        let more = used.saturating_sub(used_alone);
        // Beside other tests the hostile callers, who have a low priority, get little CPU time themselves.
        let least = Duration::from_millis(if is_alone { 500 } else { 50 });
        assert!(more > least, "the hostile ones are still at it: {used_alone:?}, {used:?}");
        drop(callers);
        if round < rounds {
            wait_until_idle(fixture.server.pid(), "after its hostile callers left").await;
        }
    }
    for percent in [50, 95] {
        let (alone, beside) = (percentile(&alone, percent), percentile(&beside, percent));
        let ratio = beside.as_secs_f64() / alone.as_secs_f64();
        println!("p{percent} alone {alone:?}, beside a hostile team {beside:?}: {ratio:.2} times");
    }
    let (alone, beside) = (percentile(&alone, 95), percentile(&beside, 95));
    // While other tests take CPU time from both halves, only a complete standstill can be told from chance.
    let (times, slack) = if is_alone { (2, 0) } else { (4, 500) };
    assert!(beside <= times * alone + Duration::from_millis(slack), "{alone:?} alone, {beside:?} beside");
}
