//! CPU work of one request ends at its timeout, and one caller cannot stop the others.

use crate::http::{Http, Reply};
use crate::scrape::{House, failed, scrape_as};
use crate::site::Site;
use crate::stand::Stand;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Siblings on the hostile page: the selectors look at each pair of them.
const SIBLINGS: usize = 20_000;
/// What an answer may be late by on a busy machine.
const LATE: Duration = Duration::from_secs(2);

/// Selectors that cost the square of the number of siblings, each in a place of its own.
fn hostile_selectors() -> Value {
    let selector = |number: usize| format!("i:is(b ~ i ~ i):not(.n{number})");
    json!({
        "excludeTags": (0..4).map(selector).collect::<Vec<_>>(),
        "includeTags": (4..8).map(selector).collect::<Vec<_>>(),
        "timeout": 1000,
    })
}

fn siblings() -> String {
    format!("<h1>A page with very many parts</h1><p>Some words.</p>{}", "<i>x</i>".repeat(SIBLINGS))
}

/// Three megabytes of names, numbers and sentences.
fn huge() -> String {
    let line = "Mr. John Smith, 12 Main Street, Berlin, called +49 30 1234567 about 4111 1111 1111 1111. ";
    format!("<h1>All of them</h1><p>{}</p>", line.repeat(35_000))
}

/// Links whose addresses a regular expression can be slow about.
fn links() -> String {
    let mut page = String::from("<h1>Links</h1><p>Some words around them.</p>");
    for number in 0..2_000 {
        let _ = write!(page, "<a href='/{}{number:014b}'>link {number}</a> ", "ab".repeat(400));
    }
    page.replace('0', "a").replace('1', "b")
}

fn hostile_site() -> Stand {
    let router = Router::new()
        .route("/siblings", get(|| async { Html(siblings()) }))
        .route("/huge/{number}", get(|| async { Html(huge()) }))
        .route("/links", get(|| async { Html(links()) }));
    Stand::start(router)
}

/// Processor time of a process so far.
fn cpu(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the server runs");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("ticks")).sum();
    Duration::from_millis(ticks * 10)
}

/// The server is at rest soon: it uses little of a processor in one of the next seconds.
async fn comes_to_rest(pid: u32, what: &str) {
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

/// Asks for a stored page in a way that takes minutes.
async fn ask(http: &Http, url: &str) -> (Reply, Duration) {
    let begun = Instant::now();
    let reply = scrape_as(http, url, hostile_selectors()).await;
    (reply, begun.elapsed())
}

#[tokio::test]
async fn a_stored_page_is_answered_within_the_timeout_whatever_the_selectors_and_the_work_stops() {
    let (house, stand) = (House::open().await, hostile_site());
    let url = stand.url("/siblings");
    scrape_as(house.http(), &url, json!({ "timeout": 60_000 })).await.is_success();
    let mut asking = JoinSet::new();
    for _ in 0..4 {
        let (http, url) = (house.http().clone(), url.clone());
        asking.spawn(async move { ask(&http, &url).await });
    }
    while let Some(answered) = asking.join_next().await {
        let (reply, took) = answered.unwrap();
        assert!(took < Duration::from_secs(1) + LATE, "{took:?}: {}", reply.text);
        failed(&reply, 408, "SCRAPE_TIMEOUT");
    }
    comes_to_rest(house.server.pid(), "after the time of its callers").await;
}

#[tokio::test]
async fn work_stops_when_its_caller_hangs_up() {
    let (house, stand) = (House::open().await, hostile_site());
    let url = stand.url("/siblings");
    scrape_as(house.http(), &url, json!({ "timeout": 60_000 })).await.is_success();
    let before = cpu(house.server.pid());
    let mut asking = JoinSet::new();
    for _ in 0..2 {
        let (http, url) = (house.http().clone(), url.clone());
        let mut options = hostile_selectors();
        options["timeout"] = 60_000.into();
        asking.spawn(async move { scrape_as(&http, &url, options).await });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(
        cpu(house.server.pid()).saturating_sub(before) > Duration::from_millis(300),
        "the work had begun"
    );
    asking.abort_all();
    comes_to_rest(house.server.pid(), "after its callers hung up").await;
}

#[tokio::test]
async fn selectors_of_ordinary_use_cost_no_square() {
    let (house, stand) = (House::open().await, hostile_site());
    let options =
        json!({ "excludeTags": ["b ~ i ~ i", "b + i > i"], "onlyMainContent": false, "timeout": 60_000 });
    let begun = Instant::now();
    let reply = scrape_as(house.http(), &stand.url("/siblings"), options).await;
    reply.is_success();
    assert!(reply.json["data"]["markdown"].as_str().unwrap().contains("Some words"));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let metrics = house.http().get("/metrics").await.unwrap().text;
    assert!(metrics.contains("gannet_work_cpu_seconds_count{capability=\"scrape\"}"), "{metrics}");
}

/// The time that so many in a hundred requests stay below.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() * percent / 100]
}

/// Scrapes pages of the site one after the other, as somebody does who is in no hurry.
async fn ordinary(http: &Http, site: &Site, pages: std::ops::Range<usize>) -> Vec<Duration> {
    let mut times = Vec::new();
    for page in pages {
        let begun = Instant::now();
        let reply = scrape_as(http, &site.url(&format!("/page/{page}")), json!({ "maxAge": 0 })).await;
        times.push(begun.elapsed());
        reply.is_success();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times
}

/// Callers who ask for everything that takes a processor for long, again and again until this is dropped. They would sit at another
/// machine: here they have a runtime of their own, which makes way for what is measured.
struct HostileCallers(Option<tokio::runtime::Runtime>);

impl HostileCallers {
    fn start(http: &Http, stand: &Stand) -> Self {
        let lower_priority = || {
            // A machine that does not let us is measured as it is.
            let _ = rustix::process::setpriority_process(None, 19);
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .on_thread_start(lower_priority)
            .build()
            .expect("a runtime");
        let (http, stand) = (http.clone(), stand.url(""));
        runtime.spawn(async move { hostile(&http, &stand).join_all().await });
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

fn hostile(http: &Http, stand: &str) -> JoinSet<()> {
    let mut callers = JoinSet::new();
    for number in 0..3 {
        let (http, url) = (http.clone(), format!("{stand}/siblings"));
        let mut options = hostile_selectors();
        options["timeout"] = (2_000 + 500 * number).into();
        callers.spawn(async move {
            loop {
                let _ = http.post("/v2/scrape", &with_url(&options, &url)).await;
            }
        });
    }
    for number in 0..2 {
        let (http, url) = (http.clone(), format!("{stand}/huge/{number}"));
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
    let (http, url) = (http.clone(), format!("{stand}/links"));
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
    let (rounds, pages) = if is_long { (6, 100) } else { (1, 40) };
    let (house, stand) = (House::open().await, hostile_site());
    let stranger = house.stranger().await;
    scrape_as(&stranger, &stand.url("/siblings"), json!({ "timeout": 60_000 })).await.is_success();
    ordinary(house.http(), &house.site, 0..10).await;
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    // In turns, so that whatever else the machine does falls on both.
    for round in 1..=rounds {
        let begun = cpu(house.server.pid());
        alone.extend(ordinary(house.http(), &house.site, round * 1_000..round * 1_000 + pages).await);
        let used_alone = cpu(house.server.pid()).saturating_sub(begun);
        let callers = HostileCallers::start(&stranger, &stand);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let before = cpu(house.server.pid());
        beside.extend(
            ordinary(house.http(), &house.site, round * 1_000 + 500..round * 1_000 + 500 + pages).await,
        );
        let used = cpu(house.server.pid()).saturating_sub(before);
        let more = used.saturating_sub(used_alone);
        assert!(
            more > Duration::from_millis(500),
            "the hostile ones are still at it: {used_alone:?}, {used:?}"
        );
        drop(callers);
        if round < rounds {
            comes_to_rest(house.server.pid(), "after its hostile callers left").await;
        }
    }
    for percent in [50, 95] {
        let (alone, beside) = (percentile(&alone, percent), percentile(&beside, percent));
        let ratio = beside.as_secs_f64() / alone.as_secs_f64();
        println!("p{percent} alone {alone:?}, beside a hostile team {beside:?}: {ratio:.2} times");
    }
    let (alone, beside) = (percentile(&alone, 95), percentile(&beside, 95));
    // Beside other tests, which take the processors away from both of its halves, only a standstill can be told from chance.
    let is_alone = std::env::var_os("GANNET_TEST_ALONE").is_some();
    let (times, slack) = if is_alone { (2, 0) } else { (4, 500) };
    assert!(beside <= times * alone + Duration::from_millis(slack), "{alone:?} alone, {beside:?} beside");
}
