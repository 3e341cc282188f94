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
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let seed = u64::try_from(seed & u128::from(u64::MAX)).unwrap() | 1;
        println!("seed {seed}");
        Self(seed)
    }

    fn below(&mut self, end: u64) -> u64 {
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
            let rows =
                http.get(&format!("/admin/drills/{id}/steps")).await.unwrap().is_success()["data"].clone();
            let rows: Vec<Value> = rows.as_array().unwrap().clone();
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

/// What the ledger says was spent, and what the finished steps add up to.
async fn ledger_agrees(http: &Http, accepted: &Accepted) {
    let spent =
        http.get("/v2/team/credit-usage/historical").await.unwrap().is_success()["periods"][0]["creditsUsed"]
            .clone();
    let known: u64 = accepted.0.iter().map(|(_, steps)| steps).sum();
    // Drills whose answer was lost in a kill were accepted and paid for too.
    assert!(spent.as_u64().unwrap() >= known, "spent {spent}, finished {known}");
    let mut all = 0;
    let mut path = "/v2/team/activity?limit=100&endpoint=drill".to_owned();
    loop {
        let page = http.get(&path).await.unwrap().is_success().clone();
        for entry in page["data"].as_array().unwrap() {
            let drill = http.get(&format!("/admin/drills/{}", entry["id"].as_str().unwrap())).await.unwrap();
            all += drill.is_success()["creditsUsed"].as_u64().unwrap();
        }
        match page["cursor"].as_str() {
            Some(cursor) => path = format!("/v2/team/activity?limit=100&endpoint=drill&cursor={cursor}"),
            None => break,
        }
    }
    assert!(all >= known && all <= spent.as_u64().unwrap(), "known {known}, listed {all}, spent {spent}");
}

async fn survive(recipe: &Recipe, kills: u32) {
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
    ledger_agrees(&server.http, &accepted).await;
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
    let mut workers = BTreeSet::new();
    for _ in 0..kills(3, 50) {
        let left: Server = recipe(&left_dir).start().await;
        let body = json!({ "steps": 120, "stepMillis": 20 });
        let id = left.http.post("/admin/drills", &body).await.unwrap().is_success()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        tokio::time::sleep(Duration::from_millis(150 + dice.below(300))).await;
        left.kill();
        let ended = drill_ended(&right.http, &id, Duration::from_mins(1)).await.json;
        assert_eq!((&ended["status"], &ended["completed"]), (&json!("completed"), &json!(120)), "{ended}");
        let rows =
            right.http.get(&format!("/admin/drills/{id}/steps")).await.unwrap().is_success()["data"].clone();
        let rows = rows.as_array().unwrap().clone();
        let steps: BTreeSet<u64> = rows.iter().map(|row| row["step"].as_u64().unwrap()).collect();
        assert_eq!((rows.len(), steps.len()), (120, 120));
        let of: BTreeSet<&str> = rows.iter().map(|row| row["worker"].as_str().unwrap()).collect();
        assert_eq!(of.len(), 2, "both servers worked");
        workers.extend(of.into_iter().map(str::to_owned));
    }
    assert!(workers.len() > 2);
}
