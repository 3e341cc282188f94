//! Every error of the contract, with its status and text; and what is refused before a run starts.

use super::{AgentFixture, company, started_id};
use crate::scrape::other_team;
use crate::server::KEY;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::agents::{NewRun, RunKind, TurnOf};
use store::secrets::{SecretKey, SecretKeys};
use testkit::TempDir;
use uuid::Uuid;

/// Opens the database of a running server.
async fn open_database(dir: &TempDir) -> Arc<dyn Store> {
    let url = format!("sqlite:{}", dir.join("data/gannet.db").display());
    let key = std::fs::read_to_string(dir.join("data/secret-key")).unwrap();
    let keys = SecretKeys::new(SecretKey::parse(&key).unwrap());
    store::open(&store::StoreOptions::new(url).with_secret_keys(keys)).await.unwrap()
}

#[tokio::test]
async fn run_ids_are_checked_and_belong_to_their_team() {
    let fixture = AgentFixture::open().await;
    let http = fixture.http();
    let id = fixture.start("/company", json!({ "schema": company() })).await;
    fixture.wait_for_end(&id).await;
    let text = "Invalid job ID format. Job ID must be a valid UUID.";
    for path in ["/v2/agent/x", "/v2/agent/x/trace", "/v2/agent/x/snapshots/y"] {
        http.get(path).await.unwrap().expect_error(400, text);
    }
    http.delete("/v2/agent/0123").await.unwrap().expect_error(400, text);
    let nobody = Uuid::now_v7();
    let strange = other_team(&fixture.dir, http).await;
    for (http, id) in [(http, nobody.to_string()), (&strange, id.clone())] {
        let missing = "Agent job not found";
        http.get(&format!("/v2/agent/{id}")).await.unwrap().expect_error(404, missing);
        http.delete(&format!("/v2/agent/{id}")).await.unwrap().expect_error(404, missing);
        http.get(&format!("/v2/agent/{id}/trace")).await.unwrap().expect_error(404, missing);
        http.get(&format!("/v2/agent/{id}/snapshots/{nobody}")).await.unwrap().expect_error(404, missing);
    }
    http.get(&format!("/v2/agent/{id}/snapshots/x")).await.unwrap().expect_error(400, "Invalid snapshot ID");
    http.get(&format!("/v2/agent/{id}/snapshots/{nobody}"))
        .await
        .unwrap()
        .expect_error(404, "Snapshot not found");
    http.delete(&format!("/v2/agent/{id}")).await.unwrap().expect_error(409, "Agent already finished");
    assert!(
        strange.get("/v2/agent").await.unwrap().expect_success()["agents"].as_array().unwrap().is_empty()
    );
    http.with_key(None).get(&format!("/v2/agent/{id}")).await.unwrap().expect_error(401, crate::http::NO_KEY);
}

#[tokio::test]
async fn runs_of_an_older_generation_have_no_trace() {
    let fixture = AgentFixture::own().await;
    let store = open_database(&fixture.dir).await;
    let team = store.teams().await.unwrap()[0].id;
    let id = Uuid::now_v7();
    let order = json!({
        "task": { "prompt": "old", "urls": [], "strict": false, "schema": null, "effort": null, "mode": "extract",
            "max_credits": 5, "earlier": [] },
        "scrape": {}, "webhook": null, "origin": "api", "integration": null,
    });
    let run = NewRun {
        id,
        team_id: team,
        key_id: None,
        kind: RunKind::Agent,
        generation: "Dive 0".into(),
        turn_of: TurnOf::Nothing,
        request: order.to_string(),
        target: "old".into(),
        max_credits: 5,
        run_for: Duration::from_mins(1),
        wait_for: Duration::from_mins(1),
        retain_for: Duration::from_mins(1),
        reservation: None,
        audit: None,
        events: Vec::new(),
        deliveries: Vec::new(),
        admission: store::admission::Admission::default(),
    };
    store.start_run(run).await.unwrap();
    store.shut_down().await;
    let trace = fixture.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
    trace.expect_error(400, "Trace is only available for Plunge 1 extracts");
    let snapshot = fixture.http().get(&format!("/v2/agent/{id}/snapshots/{id}")).await.unwrap();
    snapshot.expect_error(400, "Snapshots are only available for Plunge 1 extracts");
    assert!(
        fixture.http().get(&format!("/v2/agent/{id}")).await.unwrap().expect_success()["status"].is_string()
    );
}

#[tokio::test]
async fn a_team_with_zero_data_retention_has_no_runs() {
    let fixture = AgentFixture::open().await;
    let store = open_database(&fixture.dir).await;
    let team = store::keys::NewTeam {
        id: Uuid::now_v7(),
        name: "discreet".into(),
        plan: "unlimited".into(),
        zero_data_retention: true,
    };
    let team = store.create_team(team).await.unwrap().id;
    let secret = access::keys::Secret::random().unwrap();
    access::keys::create(
        store.as_ref(),
        team,
        "s",
        wire::Scope::ALL,
        None,
        &secret,
        &store::audit_log::Actor::server(),
    )
    .await
    .unwrap();
    store.shut_down().await;
    let http = fixture.http().with_key(Some(secret.reveal()));
    let refused = http.post("/v2/agent", &json!({ "prompt": "x" })).await.unwrap();
    refused.expect_error(400, "Your team has zero data retention enabled. This is not supported on extract.");
}

#[tokio::test]
async fn a_run_that_could_not_be_submitted_is_reported() {
    let fixture = AgentFixture::own().await;
    break_runs_table(&fixture.dir.join("data/gannet.db"));
    let refused = fixture.http().post("/v2/agent", &json!({ "prompt": "x" })).await.unwrap();
    refused.expect_error(500, "Failed to passthrough agent request.");
}

/// Removes from the database a table that every new run needs.
fn break_runs_table(path: &std::path::Path) {
    let python = std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run through `make test`");
    let code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=20); \
                c.execute('CREATE TRIGGER no BEFORE INSERT ON run_payloads BEGIN SELECT RAISE(ABORT, \\'no\\'); END'); \
                c.commit()";
    let done = std::process::Command::new(python).args(["-c", code]).arg(path).status().expect("python");
    assert!(done.success());
}

#[tokio::test]
async fn a_bad_request_names_the_wrong_field() {
    let fixture = AgentFixture::open().await;
    let post = async |body: Value| fixture.http().post("/v2/agent", &body).await.unwrap();
    for (body, status, words) in [
        (json!({}), 400, "prompt"),
        (json!({ "prompt": "" }), 400, "prompt"),
        (json!({ "prompt": "x".repeat(10_001) }), 400, "10000"),
        (json!({ "prompt": "x", "maxCredits": 0 }), 400, "maxCredits"),
        (json!({ "prompt": "x", "maxCredits": -5 }), 400, "maxCredits"),
        (json!({ "prompt": "x", "maxCredits": 2.5 }), 400, "maxCredits"),
        (json!({ "prompt": "x", "schema": { "type": "nothing" } }), 400, "Invalid JSON schema: "),
        (json!({ "prompt": "x", "schema": { "$ref": "#" } }), 400, "Invalid JSON schema: "),
        (
            json!({ "prompt": "x", "schema": { "$ref": "http://127.0.0.1/s.json" } }),
            400,
            "Invalid JSON schema: ",
        ),
        (json!({ "prompt": "x", "urls": ["javascript:alert(1)"] }), 400, "Invalid URL"),
        (json!({ "prompt": "x", "urls": ["http://intranet/"] }), 400, "Invalid URL"),
        (json!({ "prompt": "x", "model": "gpt-7" }), 400, "model"),
        (json!({ "prompt": "x", "effort": "extreme" }), 400, "effort"),
        (json!({ "prompt": "x", "mode": "sing" }), 400, "mode"),
        (json!({ "prompt": "x", "threadId": "x" }), 400, "threadId"),
        (json!({ "prompt": "x", "exchange": { "enabled": true } }), 400, "exchange.enabled"),
        (json!({ "prompt": "x", "strictConstrainToURLs": true }), 400, "strictConstrainToURLs"),
        (json!({ "prompt": "x", "zeroDataRetention": true }), 400, "zeroDataRetention"),
        (json!({ "prompt": "x", "webhook": "http://127.0.0.1:9/" }), 400, "webhook.url"),
        (json!({ "prompt": "x", "surprise": 1 }), 400, "Unrecognized key"),
        (json!({ "prompt": "x", "threadId": Uuid::now_v7() }), 404, "Thread not found"),
    ] {
        let response = post(body.clone()).await;
        assert_eq!(response.status, status, "{body}: {}", response.text);
        assert!(response.json["error"].as_str().unwrap().contains(words), "{body}: {}", response.text);
    }
    let agents = fixture.http().get("/v2/agent").await.unwrap();
    assert!(agents.expect_success()["agents"].as_array().unwrap().is_empty(), "nothing was begun");
}

#[tokio::test]
async fn plans_limit_queued_runs_and_their_cost() {
    // Without workers every run waits.
    let fixture =
        AgentFixture::with(|config| config.tiny_plan("credits = 10\nqueue = 2").set("workers", "0")).await;
    let post = async |body: Value| fixture.http().post("/v2/agent", &body).await.unwrap();
    post(json!({ "prompt": "x", "maxCredits": 11 }))
        .await
        .expect_error(402, "Payment Required: Insufficient credits");
    let first = started_id(&post(json!({ "prompt": "x", "maxCredits": 4 })).await);
    started_id(&post(json!({ "prompt": "x", "maxCredits": 4 })).await);
    let full = post(json!({ "prompt": "x", "maxCredits": 1 })).await;
    full.expect_error(429, "Queue limit reached");
    fixture.http().delete(&format!("/v2/agent/{first}")).await.unwrap().expect_success();
    let status = fixture.wait_for_end(&first).await;
    assert_eq!((&status["status"], &status["stopReason"]), (&json!("failed"), &json!("cancelled")));
    let again = post(json!({ "prompt": "x", "maxCredits": 6 })).await;
    started_id(&again);
    fixture.trace(&first).await;
    let usage = fixture.http().get("/v2/team/credit-usage").await.unwrap();
    assert_eq!(
        usage.expect_success()["data"]["remainingCredits"],
        0,
        "set aside for two runs: {}",
        usage.text
    );
}

#[tokio::test]
async fn agent_runs_need_the_scope() {
    let fixture = AgentFixture::open().await;
    let store = open_database(&fixture.dir).await;
    let team = store.teams().await.unwrap()[0].id;
    let secret = access::keys::Secret::random().unwrap();
    access::keys::create(
        store.as_ref(),
        team,
        "s",
        &[wire::Scope::Scrape],
        None,
        &secret,
        &store::audit_log::Actor::server(),
    )
    .await
    .unwrap();
    store.shut_down().await;
    assert_ne!(secret.reveal(), KEY);
    let http = fixture.http().with_key(Some(secret.reveal()));
    http.post("/v2/agent", &json!({ "prompt": "x" })).await.unwrap().expect_error(403, "Forbidden");
    http.get("/v2/agent").await.unwrap().expect_error(403, "Forbidden");
}
