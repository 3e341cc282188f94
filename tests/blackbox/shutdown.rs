//! SIGTERM: nothing new is taken, what is open is finished or handed back, and it ends in bounded time.

use crate::http::Http;
use crate::server::{Recipe, drill_ended, signal};
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::TempDir;

/// Waits until this many jobs run.
async fn running(http: &Http, jobs: u64) {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let queue = http.get("/v2/team/queue-status").await.unwrap().is_success().clone();
        if queue["activeJobsInQueue"] == jobs {
            return;
        }
        assert!(Instant::now() < end, "not running: {queue}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn open_requests_finish_and_new_ones_are_not_taken() {
    let dir = TempDir::new();
    let server = Recipe::at(dir.path()).start().await;
    let http = server.http.clone();
    let body = json!({ "steps": 1, "stepMillis": 2000, "wait": true });
    let open = tokio::spawn(async move { http.post("/admin/drills", &body).await.unwrap() });
    running(&server.http, 1).await;
    signal(server.pid(), "TERM");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let fresh = crate::http::Http::new(&server.http.base, None);
    assert!(fresh.get("/health").await.is_err(), "took a new connection while stopping");
    assert_eq!(open.await.unwrap().is_success()["completed"], 1);
}

#[tokio::test]
async fn jobs_that_cannot_finish_go_back_to_the_queue() {
    let dir = TempDir::new();
    let recipe =
        Recipe::at(dir.path()).set("shutdown_grace", "200ms").set("lease", "60m").set("workers", "2");
    let server = recipe.start().await;
    let body = json!({ "steps": 4, "stepMillis": 20_000 });
    let id = server.http.post("/admin/drills", &body).await.unwrap().is_success()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    running(&server.http, 2).await;
    let (code, took, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    assert!(took < Duration::from_secs(8), "took {took:?}");
    // The leases would hold for an hour; handed-back jobs start at once.
    let server = recipe.set("workers", "4").start().await;
    running(&server.http, 4).await;
    server.http.delete(&format!("/admin/drills/{id}")).await.unwrap().is_success();
    let ended = drill_ended(&server.http, &id, Duration::from_secs(30)).await.json;
    assert_eq!(ended["cancelled"], 4);
}

#[tokio::test]
async fn cancelling_stops_what_runs_and_what_waits() {
    let dir = TempDir::new();
    let server = Recipe::at(dir.path()).set("workers", "2").start().await;
    let body = json!({ "steps": 10, "stepMillis": 60_000, "creditsPerStep": 1 });
    let id = server.http.post("/admin/drills", &body).await.unwrap().is_success()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    running(&server.http, 2).await;
    let path = format!("/admin/drills/{id}");
    server.http.delete(&path).await.unwrap().is_success();
    let second = server.http.delete(&path).await.unwrap();
    second.is_error(409, "Conflict");
    let began = Instant::now();
    let ended = drill_ended(&server.http, &id, Duration::from_secs(10)).await.json;
    assert!(began.elapsed() < Duration::from_secs(6), "took {:?}", began.elapsed());
    assert_eq!((&ended["status"], &ended["cancelled"]), (&json!("cancelled"), &json!(10)), "{ended}");
    let usage = server.http.get("/v2/team/credit-usage").await.unwrap().is_success()["data"].clone();
    assert_eq!(usage["remainingCredits"], usage["planCredits"], "reserved credits came back");
}
