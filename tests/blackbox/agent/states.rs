//! Every row of the contract's table of states, and that cancelling is quick whatever hangs.

use super::{Office, company, ended, read_by_python, started, whole};
use crate::server::{Recipe, signal};
use crate::webhooks::{Got, Receiver};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{ModelServer, TempDir, shared_database};

fn last(events: &[Value]) -> &Value {
    events.last().expect("events")
}

#[tokio::test]
async fn a_run_that_is_answered_is_completed_and_paid_for() {
    let office = Office::open().await;
    let id = office
        .start("/company", json!({ "schema": company(), "effort": "low", "model": "spark-1-pro" }))
        .await;
    let status = office.ended(&id).await;
    assert_eq!(status["data"], json!({ "founded": 1987, "employees": 42 }), "{status}");
    assert_eq!(
        (&status["status"], &status["effort"], &status["mode"]),
        (&json!("completed"), &json!("low"), &json!("extract"))
    );
    assert!(status["creditsUsed"].as_i64().unwrap() >= 1 && status["expiresAt"].is_string(), "{status}");
    for absent in ["error", "partial", "stopReason", "message"] {
        assert!(status.get(absent).is_none(), "{absent}: {status}");
    }
    let events = office.trace(&id).await;
    assert_eq!((&last(&events)["outcome"], &last(&events)["error"]), (&json!("succeeded"), &Value::Null));
    let usage = office.http().get("/v2/team/credit-usage/historical").await.unwrap();
    assert_eq!(usage.json["periods"][0]["creditsUsed"], status["creditsUsed"], "{}", usage.text);
}

#[tokio::test]
async fn a_run_at_its_limit_fails_with_what_it_had_and_costs_nothing() {
    let office = Office::open().await;
    for most in [1, 4] {
        let before = office.pages.hits();
        let id = office.start("/walk/1", json!({ "schema": company(), "maxCredits": most })).await;
        let status = office.ended(&id).await;
        assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
        assert!(status["error"].as_str().unwrap().contains("credit limit"), "{status}");
        assert_eq!(status["stopReason"], "credit_limit_reached");
        assert!(status.get("data").is_none(), "{status}");
        let events = office.trace(&id).await;
        let end = last(&events);
        assert_eq!(
            (&end["outcome"], &end["error"]["code"]),
            (&json!("credit_limit_reached"), &json!("credit_limit_reached"))
        );
        assert_eq!(end["error"]["retryable"], false);
        let trace = office.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
        assert!(trace.json["creditsUsed"].as_i64().unwrap() <= most, "{}", trace.json["creditsUsed"]);
        assert!(office.pages.hits() - before <= usize::try_from(most).unwrap(), "never more than it may");
    }
    let usage = office.http().get("/v2/team/credit-usage/historical").await.unwrap();
    let used: i64 =
        usage.json["periods"].as_array().unwrap().iter().filter_map(|one| one["creditsUsed"].as_i64()).sum();
    assert_eq!(used, 0);
}

#[tokio::test]
async fn a_run_on_a_page_that_never_comes_is_cancelled_within_two_seconds() {
    let office = Office::open().await;
    let urls: Vec<String> = (0..3).map(|n| office.pages.url(&format!("/hang/{n}"))).collect();
    let id = office.start("/hang/0", json!({ "urls": urls, "schema": company() })).await;
    office.told(&id, "tool_call.started").await;
    let asked = Instant::now();
    let cancelled = office.http().delete(&format!("/v2/agent/{id}")).await.unwrap();
    assert_eq!(cancelled.is_success(), &json!({ "success": true }));
    let status = office.ended(&id).await;
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)));
    assert!(
        status["error"].as_str().unwrap().contains("cancelled") && status.get("data").is_none(),
        "{status}"
    );
    let events = office.trace(&id).await;
    let kinds: Vec<&Value> = events.iter().map(|event| &event["type"]).collect();
    assert!(kinds.contains(&&json!("run.cancel_requested")), "{kinds:?}");
    assert_eq!(
        (&last(&events)["outcome"], &last(&events)["error"]["code"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
    for event in &events {
        if event["type"] == "agent.finished" && event["agent"]["role"] == "subagent" {
            assert_eq!(event["error"]["code"], "parent_finished", "{event}");
        }
    }
    let again = office.http().delete(&format!("/v2/agent/{id}")).await.unwrap();
    again.is_error(409, "Agent already finished");
    read_by_python(&[status, office.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap().json]);
}

#[tokio::test]
async fn a_run_whose_model_never_answers_is_cancelled_within_two_seconds() {
    let model = ModelServer::start(|_| testkit::model_server::Said::Stall);
    let url = model.url();
    let office =
        Office::with(|recipe| recipe.set("model_agent", &format!("{url}|{}", testkit::model_server::MODEL)))
            .await;
    let id = office.start("/company", json!({ "schema": company() })).await;
    office.told(&id, "agent.started").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let asked = Instant::now();
    office.http().delete(&format!("/v2/agent/{id}")).await.unwrap().is_success();
    assert_eq!(office.ended(&id).await["stopReason"], "cancelled");
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    office.trace(&id).await;
}

/// The worker is another process and stands still: the wish waits for it, and a second one is told so.
#[tokio::test]
async fn a_run_that_is_being_cancelled_says_so() {
    let (dir, worker_dir) = (TempDir::new(), TempDir::new());
    let database = shared_database();
    let recipe =
        |dir: &TempDir| -> Recipe { super::recipe(dir).set("database_url", &database).set("browser", "off") };
    let api = recipe(&dir).set("role", "api").start().await;
    let worker = recipe(&worker_dir).set("role", "worker").set("lease", "2s").start().await;
    let pages = super::Pages::start();
    let id = started(&api.http.post("/v2/agent", &pages.asking("/hang/0", json!({}))).await.unwrap());
    let path = format!("/v2/agent/{id}");
    let end = Instant::now() + Duration::from_secs(20);
    while !api.http.get(&format!("{path}/trace")).await.unwrap().text.contains("tool_call.started") {
        assert!(Instant::now() < end, "the worker does not begin:\n{}", worker.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    signal(worker.pid(), "STOP");
    api.http.delete(&path).await.unwrap().is_success();
    api.http.delete(&path).await.unwrap().is_error(409, "Agent is already cancelled");
    assert_eq!(api.http.get(&path).await.unwrap().is_success()["status"], "processing");
    signal(worker.pid(), "CONT");
    let status = ended(&api.http, &id).await;
    assert_eq!(status["stopReason"], "cancelled", "{status}");
    api.http.delete(&path).await.unwrap().is_error(409, "Agent already finished");
    let trace = api.http.get(&format!("{path}/trace")).await.unwrap();
    whole(&id, trace.json["events"].as_array().unwrap());
}

#[tokio::test]
async fn a_run_that_takes_too_long_fails_and_may_be_tried_again() {
    let office = Office::with(|recipe| recipe.set("agent_deadline", "1s")).await;
    let id = office.start("/hang/0", json!({ "schema": company() })).await;
    let status = office.ended(&id).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
    let events = office.trace(&id).await;
    assert_eq!(last(&events)["error"]["code"], "internal");
}

#[tokio::test]
async fn who_asked_is_told_by_webhooks() {
    let office =
        Office::with(|recipe| recipe.set("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8")).await;
    let receiver = Receiver::start();
    let hook = |path: &str| json!({ "url": receiver.url(path), "metadata": { "k": "v" } });
    let id = office.start("/company", json!({ "schema": company(), "webhook": hook("/done") })).await;
    let status = office.ended(&id).await;
    let told = told(&receiver, "/done", "agent.completed").await;
    let kinds: Vec<&str> = told.iter().map(|body| body["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("agent.started", "agent.completed"));
    assert!(kinds.contains(&"agent.action"), "{kinds:?}");
    let action = told.iter().find(|body| body["type"] == "agent.action").unwrap();
    let item = &action["data"][0];
    assert!(
        item["creditsUsed"].is_u64() && item["action"].is_string() && item["input"].is_object(),
        "{action}"
    );
    let done = told.last().unwrap();
    assert_eq!(done["data"], json!([{ "creditsUsed": status["creditsUsed"], "data": status["data"] }]));
    assert_eq!(
        (&done["id"], &done["success"], &done["metadata"]),
        (&json!(id), &json!(true), &json!({ "k": "v" }))
    );

    let id = office.start("/hang/0", json!({ "webhook": hook("/cancelled") })).await;
    office.told(&id, "tool_call.started").await;
    office.http().delete(&format!("/v2/agent/{id}")).await.unwrap().is_success();
    let end = told_last(&receiver, "/cancelled", "agent.cancelled").await;
    assert_eq!((&end["success"], &end["data"]), (&json!(false), &json!([{ "creditsUsed": 0 }])));
    assert!(end["error"].as_str().unwrap().contains("cancelled"));

    let only = json!({ "url": receiver.url("/failed"), "events": ["failed"] });
    office.start("/walk/1", json!({ "schema": company(), "maxCredits": 1, "webhook": only })).await;
    told_last(&receiver, "/failed", "agent.failed").await;
    assert_eq!(receiver.got("/failed").len(), 1, "only what was asked for");
}

/// What came to a path, until an event did.
async fn told(receiver: &Receiver, path: &str, last: &str) -> Vec<Value> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let bodies: Vec<Value> = receiver.got(path).iter().map(Got::json).collect();
        if bodies.iter().any(|body| body["type"] == last) {
            return bodies;
        }
        assert!(Instant::now() < end, "no {last}: {bodies:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn told_last(receiver: &Receiver, path: &str, last: &str) -> Value {
    told(receiver, path, last).await.pop().unwrap()
}
