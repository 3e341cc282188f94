//! `kill -9` at random moments: no accepted job is lost, none is finished twice, every job ends.
//!
//! Short here, hundreds of kills with `GANNET_TEST_SOAK=1`.

use crate::http::Http;
use crate::server::{Recipe, Server, drill_ended};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use testkit::{TempDir, shared_database};

fn kills(short: u32, long: u32) -> u32 {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { long } else { short }
}

/// A small generator of our own: tests must not need a dependency for a coin toss. The seed is printed,
/// so a failure can be looked at again.
pub struct Dice(u64);

impl Dice {
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

/// Everything the server has said "accepted" to.
#[derive(Default)]
struct Accepted(Vec<(String, u64)>);

impl Accepted {
    /// Sends drills until the server stops answering or the time is over.
    async fn fill(&mut self, http: &Http, dice: &mut Dice, until: Instant) {
        while Instant::now() < until {
            let steps = 1 + dice.below(40);
            let body = json!({ "steps": steps, "stepMillis": dice.below(30), "creditsPerStep": 1 });
            match http.post("/admin/drills", &body).await {
                Ok(reply) if reply.status == 200 => {
                    self.0.push((reply.json["id"].as_str().unwrap().to_owned(), steps));
                }
                Ok(reply) => panic!("{}", reply.text),
                // The server died under the request: it may or may not have been accepted.
                Err(_) => return,
            }
            tokio::time::sleep(Duration::from_millis(dice.below(40))).await;
        }
    }

    /// Every accepted drill has ended, complete, each step exactly once, and the ledger agrees.
    async fn all_done_once(&self, http: &Http) {
        let patience = Duration::from_mins(2);
        for (id, steps) in &self.0 {
            let ended = drill_ended(http, id, patience).await.json;
            assert_eq!(
                (&ended["status"], &ended["completed"]),
                (&json!("completed"), &json!(steps)),
                "{ended}"
            );
            let rows = records(http, id).await;
            let sequence: Vec<u64> = rows.iter().map(|row| row["seq"].as_u64().unwrap()).collect();
            assert_eq!(sequence, (1..=*steps).collect::<Vec<_>>(), "records of {id}");
            let distinct: BTreeSet<u64> = rows.iter().map(|row| row["step"].as_u64().unwrap()).collect();
            assert_eq!(distinct, (1..=*steps).collect(), "steps of {id}");
        }
        let queue = http.get("/v2/team/queue-status").await.unwrap().is_success().clone();
        // A drill that was accepted while the server died under its answer may still be running.
        let end = Instant::now() + patience;
        let mut open = queue["jobsInQueue"].clone();
        while open != 0 {
            assert!(Instant::now() < end, "jobs stay open: {open}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            open = http.get("/v2/team/queue-status").await.unwrap().is_success()["jobsInQueue"].clone();
        }
    }
}

/// What the ledger says was spent is exactly what the finished steps cost: those we were told of and
/// those whose acceptance was lost in a kill.
async fn ledger_agrees(http: &Http, database_url: &str) {
    let store = store::open(&store::StoreOptions::new(database_url)).await.unwrap();
    let team = store.teams().await.unwrap().remove(0).id;
    let mut finished = 0;
    let mut before = None;
    loop {
        let page = store.recent(team, "drill", before, 500).await.unwrap();
        finished += page.iter().map(|drill| drill.children.completed).sum::<u64>();
        match page.last() {
            Some(last) if page.len() == 500 => before = Some(last.created_at),
            _ => break,
        }
    }
    store.shut_down().await;
    let history = http.get("/v2/team/credit-usage/historical").await.unwrap();
    assert_eq!(history.is_success()["periods"][0]["creditsUsed"], finished, "the ledger");
}

async fn survive(recipe: &Recipe, kills: u32) {
    let given = recipe.settings.iter().find(|(name, _)| name == "database_url").map(|(_, url)| url.clone());
    let database_url =
        given.unwrap_or_else(|| format!("sqlite:{}", recipe.dir.join("data/gannet.db").display()));
    let mut dice = Dice::new();
    let mut accepted = Accepted::default();
    for _ in 0..kills {
        let server = recipe.start().await;
        let until = Instant::now() + Duration::from_millis(20 + dice.below(300));
        let http = server.http.clone();
        let killer = tokio::task::spawn_blocking(move || {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            server.kill();
        });
        accepted.fill(&http, &mut dice, until + Duration::from_secs(1)).await;
        killer.await.unwrap();
    }
    let server = recipe.start().await;
    println!("{kills} kills, {} drills accepted", accepted.0.len());
    assert!(!accepted.0.is_empty());
    accepted.all_done_once(&server.http).await;
    ledger_agrees(&server.http, &database_url).await;
}

#[tokio::test]
async fn nothing_is_lost_or_done_twice_on_sqlite() {
    let dir = TempDir::new();
    survive(&Recipe::at(dir.path()).set("lease", "1s"), kills(25, 300)).await;
}

#[tokio::test]
async fn nothing_is_lost_or_done_twice_on_postgresql() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path()).set("lease", "1s").set("database_url", &shared_database());
    survive(&recipe, kills(15, 300)).await;
}

#[tokio::test]
async fn two_servers_share_the_work_and_either_may_die() {
    let url = shared_database();
    let (left_dir, right_dir) = (TempDir::new(), TempDir::new());
    let recipe = |dir: &TempDir| {
        Recipe::at(dir.path()).set("lease", "1s").set("workers", "4").set("database_url", &url)
    };
    let right = recipe(&right_dir).start().await;
    let mut dice = Dice::new();
    for _ in 0..kills(3, 50) {
        let left: Server = recipe(&left_dir).start().await;
        let body = json!({ "steps": STEPS, "stepMillis": 20 });
        let started = left.http.post("/admin/drills", &body).await.unwrap().is_success().clone();
        let id = started["id"].as_str().unwrap().to_owned();
        // Both take their share; then one dies in the middle of it.
        let end = Instant::now() + Duration::from_secs(20);
        while workers_of(&right.http, &id).await.len() < 2 {
            assert!(Instant::now() < end, "one server does all the work");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(dice.below(200))).await;
        left.kill();
        let ended = drill_ended(&right.http, &id, Duration::from_mins(1)).await.json;
        assert_eq!((&ended["status"], &ended["completed"]), (&json!("completed"), &json!(STEPS)), "{ended}");
        let rows = records(&right.http, &id).await;
        let steps: BTreeSet<u64> = rows.iter().map(|row| row["step"].as_u64().unwrap()).collect();
        assert_eq!((rows.len(), steps.len()), (STEPS, STEPS));
    }
}

const STEPS: usize = 400;

async fn records(http: &Http, id: &str) -> Vec<Value> {
    let page = http.get(&format!("/admin/drills/{id}/steps")).await.unwrap().is_success()["data"].clone();
    page.as_array().unwrap().clone()
}

async fn workers_of(http: &Http, id: &str) -> BTreeSet<String> {
    records(http, id).await.iter().map(|row| row["worker"].as_str().unwrap().to_owned()).collect()
}
