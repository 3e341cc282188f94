//! `kill -9` at random moments: no accepted batch is lost, no page of it is there twice, and the ledger agrees.
//!
//! Short here, hundreds of kills with `GANNET_TEST_SOAK=1`.

use crate::crawl::wait_for_end;
use crate::http::Http;
use crate::scrape::config;
use crate::server::ServerConfig;
use crate::site::Site;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use testkit::{TempDir, shared_database};

fn kills(short: u32, long: u32) -> u32 {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { long } else { short }
}

/// A small generator of our own: tests must not need a dependency for a coin toss. The seed is printed,
/// so a failure can be looked at again.
pub struct Random(u64);

impl Random {
    pub fn new() -> Self {
        let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let seed = u64::try_from(seed & u128::from(u64::MAX)).unwrap() | 1;
        println!("seed {seed}");
        Self(seed)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Everything the server has said "accepted" to: the id of a batch and how many pages it has.
#[derive(Default)]
struct Accepted(Vec<(String, u64)>);

impl Accepted {
    /// Sends batches until the server stops answering or the time is over.
    async fn fill(&mut self, http: &Http, site: &Site, dice: &mut Random, until: Instant) {
        while Instant::now() < until {
            let pages = 1 + dice.below(8);
            let urls: Vec<String> = (1..=pages).map(|page| site.url(&format!("/page/{page}"))).collect();
            match http.post("/v2/batch/scrape", &json!({ "urls": urls, "maxAge": 0 })).await {
                Ok(reply) if reply.status == 200 => {
                    self.0.push((reply.json["id"].as_str().unwrap().to_owned(), pages));
                }
                Ok(reply) => panic!("{}", reply.text),
                // The server died under the request: it may or may not have been accepted.
                Err(_) => return,
            }
            tokio::time::sleep(Duration::from_millis(dice.below(120))).await;
        }
    }

    /// Every accepted batch has ended, complete, and has each page exactly once.
    async fn all_done_once(&self, http: &Http) {
        for (id, pages) in &self.0 {
            let status = wait_for_end(http, &format!("/v2/batch/scrape/{id}")).await;
            assert_eq!(
                (&status["status"], &status["completed"]),
                (&json!("completed"), &json!(pages)),
                "{status}"
            );
            let documents = status["data"].as_array().unwrap();
            let sources: BTreeSet<&str> =
                documents.iter().map(|one| one["metadata"]["sourceURL"].as_str().unwrap()).collect();
            assert_eq!((documents.len() as u64, sources.len() as u64), (*pages, *pages), "{status}");
        }
    }
}

/// What the ledger says was spent is exactly what the finished pages cost: those of batches we were told of, and of those whose
/// acceptance was lost in a kill.
async fn ledger_agrees(http: &Http) {
    let mut finished = 0;
    let mut path = "/v2/team/activity?limit=100&endpoint=batch_scrape".to_owned();
    loop {
        let shown = http.get(&path).await.unwrap().expect_success().clone();
        for batch in shown["data"].as_array().unwrap() {
            let id = batch["id"].as_str().unwrap();
            finished +=
                wait_for_end(http, &format!("/v2/batch/scrape/{id}")).await["completed"].as_u64().unwrap();
        }
        let Some(cursor) = shown["cursor"].as_str() else { break };
        path = format!("/v2/team/activity?limit=100&endpoint=batch_scrape&cursor={cursor}");
    }
    let history = http.get("/v2/team/credit-usage/historical").await.unwrap();
    assert_eq!(history.expect_success()["periods"][0]["creditsUsed"], finished, "the ledger");
    let queue = http.get("/v2/team/queue-status").await.unwrap();
    assert_eq!(queue.expect_success()["jobsInQueue"], 0, "nothing stays open");
}

async fn survive(config: &ServerConfig, kills: u32) {
    let (site, mut dice) = (Site::start(), Random::new());
    let mut accepted = Accepted::default();
    let mut round = 0;
    // On a busy machine the first servers may die before they accept anything: later ones live longer.
    while round < kills || (accepted.0.is_empty() && round < kills + 20) {
        round += 1;
        let server = config.start().await;
        let extra = u64::from(round.saturating_sub(kills)) * 200;
        let until = Instant::now() + Duration::from_millis(20 + dice.below(300) + extra);
        let http = server.http.clone();
        let killer = tokio::task::spawn_blocking(move || {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            server.kill();
        });
        accepted.fill(&http, &site, &mut dice, until + Duration::from_secs(1)).await;
        killer.await.unwrap();
    }
    let server = config.start().await;
    println!("{round} kills, {} batches accepted", accepted.0.len());
    assert!(!accepted.0.is_empty());
    accepted.all_done_once(&server.http).await;
    ledger_agrees(&server.http).await;
}

#[tokio::test]
async fn nothing_is_lost_or_done_twice_on_sqlite() {
    let dir = TempDir::new();
    survive(&config(&dir).set("lease", "1s"), kills(5, 300)).await;
}

#[tokio::test]
async fn nothing_is_lost_or_done_twice_on_postgresql() {
    let dir = TempDir::new();
    survive(&config(&dir).set("lease", "1s").set("database_url", &shared_database()), kills(3, 300)).await;
}
