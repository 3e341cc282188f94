//! Every row of the contract's table of states, and that cancelling is quick whatever hangs.

use super::{
    AgentFixture, assert_complete_trace, check_with_python_models, company, started_id, wait_for_end,
};
use crate::server::{ServerConfig, signal};
use crate::webhooks::{Delivery, Receiver};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{ModelServer, TempDir, shared_database};

/// Two seconds are promised, and more is allowed for here: a busy machine takes its time. What hangs would
/// hang for half a minute and longer.
const MAX_CANCEL_TIME: Duration = Duration::from_secs(10);

fn last(events: &[Value]) -> &Value {
    events.last().expect("events")
}

#[tokio::test]
async fn a_successful_run_is_completed_and_charged() {
    let fixture = AgentFixture::open().await;
    let id = fixture
        .start("/company", json!({ "schema": company(), "effort": "low", "model": "spark-1-pro" }))
        .await;
    let status = fixture.wait_for_end(&id).await;
    assert_eq!(status["data"], json!({ "founded": 1987, "employees": 42 }), "{status}");
    assert_eq!(
        (&status["status"], &status["effort"], &status["mode"]),
        (&json!("completed"), &json!("low"), &json!("extract"))
    );
    assert!(status["creditsUsed"].as_i64().unwrap() >= 1 && status["expiresAt"].is_string(), "{status}");
    for absent in ["error", "partial", "stopReason", "message"] {
        assert!(status.get(absent).is_none(), "{absent}: {status}");
    }
    let events = fixture.trace(&id).await;
    assert_eq!((&last(&events)["outcome"], &last(&events)["error"]), (&json!("succeeded"), &Value::Null));
    let usage = fixture.http().get("/v2/team/credit-usage/historical").await.unwrap();
    assert_eq!(usage.json["periods"][0]["creditsUsed"], status["creditsUsed"], "{}", usage.text);
}

#[tokio::test]
async fn a_run_at_its_credit_limit_fails_with_partial_data_and_costs_nothing() {
    let fixture = AgentFixture::open().await;
    for most in [1, 4] {
        let before = fixture.pages.hits();
        let id = fixture.start("/walk/1", json!({ "schema": company(), "maxCredits": most })).await;
        let status = fixture.wait_for_end(&id).await;
        assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
        assert!(status["error"].as_str().unwrap().contains("credit limit"), "{status}");
        assert_eq!(status["stopReason"], "credit_limit_reached");
        assert!(status.get("data").is_none(), "{status}");
        let events = fixture.trace(&id).await;
        let end = last(&events);
        assert_eq!(
            (&end["outcome"], &end["error"]["code"]),
            (&json!("credit_limit_reached"), &json!("credit_limit_reached"))
        );
        assert_eq!(end["error"]["retryable"], false);
        let trace = fixture.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
        assert!(trace.json["creditsUsed"].as_i64().unwrap() <= most, "{}", trace.json["creditsUsed"]);
        assert!(fixture.pages.hits() - before <= usize::try_from(most).unwrap(), "never more than it may");
    }
    let usage = fixture.http().get("/v2/team/credit-usage/historical").await.unwrap();
    let used: i64 =
        usage.json["periods"].as_array().unwrap().iter().filter_map(|one| one["creditsUsed"].as_i64()).sum();
    assert_eq!(used, 0);
}

#[tokio::test]
async fn a_run_on_a_page_that_never_loads_is_cancelled_at_once() {
    let fixture = AgentFixture::open().await;
    let urls: Vec<String> = (0..3).map(|n| fixture.pages.url(&format!("/hang/{n}"))).collect();
    let id = fixture.start("/hang/0", json!({ "urls": urls, "schema": company() })).await;
    fixture.wait_for_event(&id, "tool_call.started").await;
    let cancelled_at = Instant::now();
    let cancelled = fixture.http().delete(&format!("/v2/agent/{id}")).await.unwrap();
    assert_eq!(cancelled.expect_success(), &json!({ "success": true }));
    let status = fixture.wait_for_end(&id).await;
    assert!(cancelled_at.elapsed() < MAX_CANCEL_TIME, "{:?}", cancelled_at.elapsed());
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)));
    assert!(
        status["error"].as_str().unwrap().contains("cancelled") && status.get("data").is_none(),
        "{status}"
    );
    let events = fixture.trace(&id).await;
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
    let again = fixture.http().delete(&format!("/v2/agent/{id}")).await.unwrap();
    again.expect_error(409, "Agent already finished");
    check_with_python_models(&[
        status,
        fixture.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap().json,
    ]);
}

#[tokio::test]
async fn a_run_whose_model_never_responds_is_cancelled_at_once() {
    let model = ModelServer::start(|_| testkit::model_server::ScriptedResponse::Stall);
    let url = model.url();
    let fixture = AgentFixture::with(|config| {
        config.set("model_agent", &format!("{url}|{}", testkit::model_server::MODEL))
    })
    .await;
    let id = fixture.start("/company", json!({ "schema": company() })).await;
    fixture.wait_for_event(&id, "agent.started").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let cancelled_at = Instant::now();
    fixture.http().delete(&format!("/v2/agent/{id}")).await.unwrap().expect_success();
    assert_eq!(fixture.wait_for_end(&id).await["stopReason"], "cancelled");
    assert!(cancelled_at.elapsed() < MAX_CANCEL_TIME, "{:?}", cancelled_at.elapsed());
    fixture.trace(&id).await;
}

/// The worker is another process and is stopped: the cancel request waits for it, and a second request is
/// told so.
#[tokio::test]
async fn a_run_that_is_being_cancelled_says_so() {
    let (dir, worker_dir) = (TempDir::new(), TempDir::new());
    let database = shared_database();
    let config = |dir: &TempDir| -> ServerConfig {
        super::config(dir).set("database_url", &database).set("browser", "off")
    };
    let api = config(&dir).set("role", "api").start().await;
    let worker = config(&worker_dir).set("role", "worker").set("lease", "2s").start().await;
    let pages = super::AgentSite::start();
    let id = started_id(&api.http.post("/v2/agent", &pages.request_for("/hang/0", json!({}))).await.unwrap());
    let path = format!("/v2/agent/{id}");
    let end = Instant::now() + Duration::from_secs(20);
    while !api.http.get(&format!("{path}/trace")).await.unwrap().text.contains("tool_call.started") {
        assert!(Instant::now() < end, "the worker does not begin:\n{}", worker.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    signal(worker.pid(), "STOP");
    api.http.delete(&path).await.unwrap().expect_success();
    api.http.delete(&path).await.unwrap().expect_error(409, "Agent is already cancelled");
    assert_eq!(api.http.get(&path).await.unwrap().expect_success()["status"], "processing");
    signal(worker.pid(), "CONT");
    let status = wait_for_end(&api.http, &id).await;
    assert_eq!(status["stopReason"], "cancelled", "{status}");
    api.http.delete(&path).await.unwrap().expect_error(409, "Agent already finished");
    let trace = api.http.get(&format!("{path}/trace")).await.unwrap();
    assert_complete_trace(&id, trace.json["events"].as_array().unwrap());
}

#[tokio::test]
async fn a_run_that_takes_too_long_fails_and_can_be_retried() {
    let fixture = AgentFixture::with(|config| config.set("agent_deadline", "1s")).await;
    let id = fixture.start("/hang/0", json!({ "schema": company() })).await;
    let status = fixture.wait_for_end(&id).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
    let events = fixture.trace(&id).await;
    assert_eq!(last(&events)["error"]["code"], "internal");
}

#[tokio::test]
async fn webhooks_report_the_run() {
    let fixture =
        AgentFixture::with(|config| config.set("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8"))
            .await;
    let receiver = Receiver::start();
    let hook = |path: &str| json!({ "url": receiver.url(path), "metadata": { "k": "v" } });
    let id = fixture.start("/company", json!({ "schema": company(), "webhook": hook("/done") })).await;
    let status = fixture.wait_for_end(&id).await;
    let deliveries = wait_for_deliveries(&receiver, "/done", "agent.completed").await;
    let kinds: Vec<&str> = deliveries.iter().map(|body| body["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("agent.started", "agent.completed"));
    assert!(kinds.contains(&"agent.action"), "{kinds:?}");
    let action = deliveries.iter().find(|body| body["type"] == "agent.action").unwrap();
    let item = &action["data"][0];
    assert!(
        item["creditsUsed"].is_u64() && item["action"].is_string() && item["input"].is_object(),
        "{action}"
    );
    let done = deliveries.last().unwrap();
    assert_eq!(done["data"], json!([{ "creditsUsed": status["creditsUsed"], "data": status["data"] }]));
    assert_eq!(
        (&done["id"], &done["success"], &done["metadata"]),
        (&json!(id), &json!(true), &json!({ "k": "v" }))
    );

    let id = fixture.start("/hang/0", json!({ "webhook": hook("/cancelled") })).await;
    fixture.wait_for_event(&id, "tool_call.started").await;
    fixture.http().delete(&format!("/v2/agent/{id}")).await.unwrap().expect_success();
    let end = last_delivery(&receiver, "/cancelled", "agent.cancelled").await;
    assert_eq!((&end["success"], &end["data"]), (&json!(false), &json!([{ "creditsUsed": 0 }])));
    assert!(end["error"].as_str().unwrap().contains("cancelled"));

    let only = json!({ "url": receiver.url("/failed"), "events": ["failed"] });
    fixture.start("/walk/1", json!({ "schema": company(), "maxCredits": 1, "webhook": only })).await;
    last_delivery(&receiver, "/failed", "agent.failed").await;
    assert_eq!(receiver.deliveries("/failed").len(), 1, "only what was asked for");
}

/// The deliveries to a path, once one of this event has arrived.
async fn wait_for_deliveries(receiver: &Receiver, path: &str, last: &str) -> Vec<Value> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let bodies: Vec<Value> = receiver.deliveries(path).iter().map(Delivery::json).collect();
        if bodies.iter().any(|body| body["type"] == last) {
            return bodies;
        }
        assert!(Instant::now() < end, "no {last}: {bodies:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn last_delivery(receiver: &Receiver, path: &str, last: &str) -> Value {
    wait_for_deliveries(receiver, path, last).await.pop().unwrap()
}
