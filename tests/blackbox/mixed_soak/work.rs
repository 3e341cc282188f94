//! The work of the mixed soak: tasks that send requests without a pause, and a record of what was accepted.

use super::site::{SITE_PAGES, SoakSite};
use crate::http::{Http, HttpResponse};
use crate::webhooks::{Delivery, Receiver};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How long the service may take to work again after a fault has ended.
const MAX_RECOVERY: Duration = Duration::from_secs(10);
/// How long accepted work may take to end after the last fault.
const MAX_TIME_TO_END: Duration = Duration::from_mins(3);

/// What was sent, accepted and answered so far.
#[derive(Default)]
struct Account {
    stop: AtomicBool,
    next_number: AtomicUsize,
    pages: AtomicUsize,
    browser_pages: AtomicUsize,
    broken_connections: AtomicUsize,
    refusals: Mutex<BTreeMap<String, usize>>,
    crawls: Mutex<Vec<String>>,
    runs: Mutex<Vec<String>>,
    unexplained: Mutex<Vec<String>>,
}

impl Account {
    fn number(&self) -> usize {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a response; returns whether it was a success. A refusal must say what is wrong, and an internal
    /// error is never allowed.
    fn count_response(&self, what: &str, response: reqwest::Result<HttpResponse>) -> Option<Value> {
        let Ok(response) = response else {
            self.broken_connections.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        if response.status == 200 {
            return Some(response.json);
        }
        let code = response.json["code"].as_str().unwrap_or_default();
        let typed = !response.json["error"].as_str().unwrap_or_default().is_empty();
        if !typed || (response.status == 500 && !code.starts_with("SCRAPE_")) {
            self.unexplained.lock().unwrap().push(format!("{what}: {} {}", response.status, response.text));
        }
        *self.refusals.lock().unwrap().entry(format!("{} {code}", response.status)).or_default() += 1;
        None
    }
}

pub struct Work {
    account: Arc<Account>,
    tasks: JoinSet<()>,
}

/// The totals, for printing.
pub struct Done(String);

impl fmt::Display for Done {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Work {
    pub fn start(http: &Http, site: &Arc<SoakSite>, receiver: &Arc<Receiver>) -> Self {
        let account = Arc::new(Account::default());
        let mut tasks = JoinSet::new();
        for _ in 0..3 {
            tasks.spawn(scrape_pages(http.clone(), site.clone(), account.clone()));
        }
        tasks.spawn(scrape_in_browser(http.clone(), site.clone(), account.clone()));
        tasks.spawn(crawl_sites(http.clone(), site.clone(), receiver.clone(), account.clone()));
        tasks.spawn(run_agents(http.clone(), site.clone(), account.clone()));
        Self { account, tasks }
    }

    /// Waits until a page can be scraped and a crawl can be started again; returns how long that took.
    pub async fn wait_for_recovery(&self, http: &Http, site: &SoakSite) -> Duration {
        assert!(site.is_up(), "the fault is over");
        let began = Instant::now();
        loop {
            let body = json!({ "url": site.url("/probe"), "maxAge": 0, "timeout": 5000 });
            let scraped = http.post("/v2/scrape", &body).await;
            let ready = http.get("/ready").await;
            let works = |response: &reqwest::Result<HttpResponse>| {
                response.as_ref().is_ok_and(|response| response.status == 200)
            };
            if works(&scraped) && works(&ready) {
                return began.elapsed();
            }
            let tell = |response: &reqwest::Result<HttpResponse>| {
                response.as_ref().map_or("broken".into(), |response| response.text.clone())
            };
            assert!(
                began.elapsed() < MAX_RECOVERY,
                "not well {MAX_RECOVERY:?} after the fault: scrape {}; ready {}",
                tell(&scraped),
                tell(&ready)
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Stops the tasks, and checks that everything accepted has ended.
    pub async fn finish(mut self, http: &Http, receiver: &Receiver) -> Done {
        self.account.stop.store(true, Ordering::SeqCst);
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("a task of the soak");
        }
        let account = &self.account;
        let (crawls, runs) = (account.crawls.lock().unwrap().clone(), account.runs.lock().unwrap().clone());
        let end = Instant::now() + MAX_TIME_TO_END;
        for id in &crawls {
            let status = wait_for_end(http, &format!("/v2/crawl/{id}"), end).await;
            assert_eq!(status["status"], "completed", "crawl {id}: {status}");
            assert_eq!(status["completed"], SITE_PAGES, "crawl {id}: every page of its site: {status}");
        }
        for id in &runs {
            let status = wait_for_end(http, &format!("/v2/agent/{id}"), end).await;
            assert!(matches!(status["status"].as_str(), Some("completed" | "failed")), "run {id}: {status}");
        }
        for id in &crawls {
            wait_for_last_webhook(receiver, id, end).await;
        }
        let unexplained = account.unexplained.lock().unwrap();
        assert!(unexplained.is_empty(), "{} errors say nothing, first {}", unexplained.len(), unexplained[0]);
        let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        let (pages, rendered) = (count(&account.pages), count(&account.browser_pages));
        assert!(pages > 10 && rendered > 0 && !crawls.is_empty() && !runs.is_empty(), "too little was done");
        Done(format!(
            "pages {pages}, in the browser {rendered}, crawls {} (all pages of all of them), agent runs {}, refused {:?}, connections broken {}",
            crawls.len(),
            runs.len(),
            account.refusals.lock().unwrap(),
            count(&account.broken_connections)
        ))
    }
}

async fn wait_for_end(http: &Http, path: &str, end: Instant) -> Value {
    loop {
        if let Ok(response) = http.get(path).await
            && response.status == 200
            && !matches!(response.json["status"].as_str(), Some("scraping" | "processing"))
        {
            return response.json;
        }
        assert!(Instant::now() < end, "{path} does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The webhook receiver of a crawl got its start and its end.
async fn wait_for_last_webhook(receiver: &Receiver, id: &str, end: Instant) {
    loop {
        let got = receiver.deliveries("/ok");
        let kinds = |wanted: &str| {
            got.iter().map(Delivery::json).any(|event| event["id"] == *id && event["type"] == wanted)
        };
        if kinds("crawl.started") && kinds("crawl.completed") {
            return;
        }
        assert!(Instant::now() < end, "the receiver got no event of crawl {id}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn scrape_pages(http: Http, site: Arc<SoakSite>, account: Arc<Account>) {
    while !account.stop.load(Ordering::SeqCst) {
        let number = account.number();
        let body = json!({ "url": site.url(&format!("/real/{number}")), "formats": ["markdown", "links"], "timeout": 20_000 });
        if account.count_response("scrape", http.post("/v2/scrape", &body).await).is_some() {
            account.pages.fetch_add(1, Ordering::Relaxed);
        } else {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn scrape_in_browser(http: Http, site: Arc<SoakSite>, account: Arc<Account>) {
    while !account.stop.load(Ordering::SeqCst) {
        let number = account.number();
        let body = json!({ "url": site.url(&format!("/script/{number}")), "timeout": 30_000 });
        if let Some(page) = account.count_response("browser", http.post("/v2/scrape", &body).await) {
            // While the site is down, the browser may be the one that reports it.
            if page["data"]["metadata"]["statusCode"] == 200 {
                let markdown = page["data"]["markdown"].as_str().unwrap_or_default();
                assert!(markdown.contains(&format!("Script page {number}")), "{page}");
                account.browser_pages.fetch_add(1, Ordering::Relaxed);
            }
        }
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
}

async fn crawl_sites(http: Http, site: Arc<SoakSite>, receiver: Arc<Receiver>, account: Arc<Account>) {
    while !account.stop.load(Ordering::SeqCst) {
        let number = account.number();
        let body = json!({
            "url": site.url(&format!("/site/{number}/0")),
            "crawlEntireDomain": true,
            "includePaths": [format!("^/site/{number}/")],
            "sitemap": "skip",
            "webhook": { "url": receiver.url("/ok"), "events": ["started", "completed"] },
        });
        if let Some(started) = account.count_response("crawl", http.post("/v2/crawl", &body).await) {
            account.crawls.lock().unwrap().push(started["id"].as_str().expect("an id").to_owned());
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

async fn run_agents(http: Http, site: Arc<SoakSite>, account: Arc<Account>) {
    let schema = json!({ "type": "object", "properties": { "founded": { "type": "integer" }, "employees": { "type": "integer" } } });
    while !account.stop.load(Ordering::SeqCst) {
        let body = json!({ "prompt": "When was it founded, and how many employees has it?", "urls": [site.url("/company")], "schema": schema });
        if let Some(started) = account.count_response("agent", http.post("/v2/agent", &body).await) {
            account.runs.lock().unwrap().push(started["id"].as_str().expect("an id").to_owned());
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
}
