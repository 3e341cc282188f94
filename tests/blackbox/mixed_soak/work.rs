//! The work of the mixed soak: tasks that ask without pause, and the account of what they were promised.

use super::site::{SITE_PAGES, SoakSite};
use crate::http::{Http, Reply};
use crate::webhooks::{Got, Receiver};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How long the service may take to work again after a fault has ended.
const RECOVERY: Duration = Duration::from_secs(10);
/// How long accepted work may take to end after the last fault.
const MAX_WAIT_FOR_END: Duration = Duration::from_mins(3);

/// What was asked, accepted and answered so far.
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

    /// Counts an answer; whether it was a success. A refusal must say what is wrong, and an internal error is never an answer.
    fn take(&self, what: &str, reply: reqwest::Result<Reply>) -> Option<Value> {
        let Ok(reply) = reply else {
            self.broken_connections.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        if reply.status == 200 {
            return Some(reply.json);
        }
        let code = reply.json["code"].as_str().unwrap_or_default();
        let typed = !reply.json["error"].as_str().unwrap_or_default().is_empty();
        if !typed || (reply.status == 500 && !code.starts_with("SCRAPE_")) {
            self.unexplained.lock().unwrap().push(format!("{what}: {} {}", reply.status, reply.text));
        }
        *self.refusals.lock().unwrap().entry(format!("{} {code}", reply.status)).or_default() += 1;
        None
    }
}

pub struct Work {
    account: Arc<Account>,
    tasks: JoinSet<()>,
}

/// What came of it all.
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

    /// Waits until a page can be scraped and a crawl be started again; how long that took.
    pub async fn recovers(&self, http: &Http, site: &SoakSite) -> Duration {
        assert!(site.is_up(), "the fault is over");
        let began = Instant::now();
        loop {
            let body = json!({ "url": site.url("/probe"), "maxAge": 0, "timeout": 5000 });
            let scraped = http.post("/v2/scrape", &body).await;
            let ready = http.get("/ready").await;
            let works =
                |reply: &reqwest::Result<Reply>| reply.as_ref().is_ok_and(|reply| reply.status == 200);
            if works(&scraped) && works(&ready) {
                return began.elapsed();
            }
            let tell = |reply: &reqwest::Result<Reply>| {
                reply.as_ref().map_or("broken".into(), |reply| reply.text.clone())
            };
            assert!(
                began.elapsed() < RECOVERY,
                "not well {RECOVERY:?} after the fault: scrape {}; ready {}",
                tell(&scraped),
                tell(&ready)
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Ends the asking, and holds what was accepted against what came of it.
    pub async fn finish(mut self, http: &Http, receiver: &Receiver) -> Done {
        self.account.stop.store(true, Ordering::SeqCst);
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("a task of the soak");
        }
        let account = &self.account;
        let (crawls, runs) = (account.crawls.lock().unwrap().clone(), account.runs.lock().unwrap().clone());
        let end = Instant::now() + MAX_WAIT_FOR_END;
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
            told_to_the_end(receiver, id, end).await;
        }
        let unexplained = account.unexplained.lock().unwrap();
        assert!(unexplained.is_empty(), "{} errors say nothing, first {}", unexplained.len(), unexplained[0]);
        let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        let (pages, rendered) = (count(&account.pages), count(&account.browser_pages));
        assert!(pages > 20 && rendered > 1 && !crawls.is_empty() && !runs.is_empty(), "too little was done");
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
        if let Ok(reply) = http.get(path).await
            && reply.status == 200
            && !matches!(reply.json["status"].as_str(), Some("scraping" | "processing"))
        {
            return reply.json;
        }
        assert!(Instant::now() < end, "{path} does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The receiver of a crawl's webhooks heard its start and its end.
async fn told_to_the_end(receiver: &Receiver, id: &str, end: Instant) {
    loop {
        let got = receiver.got("/ok");
        let kinds = |wanted: &str| {
            got.iter().map(Got::json).any(|event| event["id"] == *id && event["type"] == wanted)
        };
        if kinds("crawl.started") && kinds("crawl.completed") {
            return;
        }
        assert!(Instant::now() < end, "the receiver was not told of crawl {id}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn scrape_pages(http: Http, site: Arc<SoakSite>, account: Arc<Account>) {
    while !account.stop.load(Ordering::SeqCst) {
        let number = account.number();
        let body = json!({ "url": site.url(&format!("/real/{number}")), "formats": ["markdown", "links"], "timeout": 20_000 });
        if account.take("scrape", http.post("/v2/scrape", &body).await).is_some() {
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
        if let Some(page) = account.take("browser", http.post("/v2/scrape", &body).await) {
            // While the site is down the browser may be the one that is told so.
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
        if let Some(started) = account.take("crawl", http.post("/v2/crawl", &body).await) {
            account.crawls.lock().unwrap().push(started["id"].as_str().expect("an id").to_owned());
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

async fn run_agents(http: Http, site: Arc<SoakSite>, account: Arc<Account>) {
    let schema = json!({ "type": "object", "properties": { "founded": { "type": "integer" }, "employees": { "type": "integer" } } });
    while !account.stop.load(Ordering::SeqCst) {
        let body = json!({ "prompt": "When was it founded, and how many employees has it?", "urls": [site.url("/company")], "schema": schema });
        if let Some(started) = account.take("agent", http.post("/v2/agent", &body).await) {
            account.runs.lock().unwrap().push(started["id"].as_str().expect("an id").to_owned());
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
}
