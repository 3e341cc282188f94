//! The trace: everything a run does, as it happens, with the artifact at every step.

use super::{AgentFixture, check_with_python_models, company};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a_trace_has_every_event_and_its_snapshots() {
    let fixture = AgentFixture::open().await;
    let id = fixture.start("/company", json!({ "schema": company() })).await;
    let status = fixture.wait_for_end(&id).await;
    let events = fixture.trace(&id).await;
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    assert!(!of("progress.reported").is_empty() && !of("tool_call.started").is_empty(), "{events:#?}");
    assert_eq!(of("tool_call.started").len(), of("tool_call.finished").len());
    let artifacts = of("artifact.updated");
    assert!(!artifacts.is_empty());
    for event in &artifacts {
        let artifact = &event["artifact"];
        assert_eq!((&artifact["kind"], &artifact["artifactId"]), (&json!("json"), &json!("result")));
        let snapshot = artifact["snapshotId"].as_str().unwrap();
        let kept = fixture.http().get(&format!("/v2/agent/{id}/snapshots/{snapshot}")).await.unwrap();
        assert_eq!((&kept.expect_success()["id"], &kept.json["snapshotId"]), (&json!(id), &json!(snapshot)));
        serde_json::from_str::<Value>(kept.json["snapshot"].as_str().unwrap()).expect("JSON in a text");
    }
    let snapshot = artifacts.last().unwrap()["artifact"]["snapshotId"].as_str().unwrap();
    let kept = fixture.http().get(&format!("/v2/agent/{id}/snapshots/{snapshot}")).await.unwrap();
    let last: Value = serde_json::from_str(kept.json["snapshot"].as_str().unwrap()).unwrap();
    assert_eq!(last, status["data"], "the last one is the result");
    let whole = fixture.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
    check_with_python_models(&[status, whole.json.clone(), kept.json]);

    let middle = events[2]["eventId"].as_str().unwrap();
    let rest = fixture.http().get(&format!("/v2/agent/{id}/trace?after={middle}")).await.unwrap();
    assert_eq!(rest.expect_success()["events"].as_array().unwrap(), &events[3..].to_vec());
    for wrong in ["x", "00000000-0000-0000-0000-000000000000"] {
        let refused = fixture.http().get(&format!("/v2/agent/{id}/trace?after={wrong}")).await.unwrap();
        assert_eq!(refused.status, 400, "{}", refused.text);
    }
    let live = fixture.http().get(&format!("/v2/agent/{id}/trace?liveView=true")).await.unwrap();
    assert!(live.expect_success().get("activeBrowserSessions").is_none(), "only while it runs");
    assert_eq!(
        fixture.http().get(&format!("/v2/agent/{id}/trace?liveView=maybe")).await.unwrap().status,
        400
    );
}

#[tokio::test]
async fn a_trace_is_streamed_while_the_run_goes_on() {
    let fixture = AgentFixture::open().await;
    let id = fixture.start("/hang/0", json!({})).await;
    let first = fixture.wait_for_event(&id, "tool_call.started").await;
    let live = fixture.http().get(&format!("/v2/agent/{id}/trace?liveView=true")).await.unwrap();
    assert_eq!(live.expect_success()["activeBrowserSessions"], json!([]));
    let path = format!("/v2/agent/{id}/trace");
    let follow = fixture.http().request(Method::GET, &path).header("accept", "text/event-stream");
    let following = tokio::spawn(async move { follow.send().await.unwrap().text().await.unwrap() });
    tokio::time::sleep(Duration::from_millis(300)).await;
    fixture.http().delete(&format!("/v2/agent/{id}")).await.unwrap().expect_success();
    let stream = following.await.unwrap();
    let events: Vec<Value> = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|json| serde_json::from_str(json).unwrap())
        .collect();
    assert_eq!(events, fixture.trace(&id).await, "all of it, and then it ends");
    let ids = stream.lines().filter_map(|line| line.strip_prefix("id: "));
    assert!(ids.eq(events.iter().map(|event| event["eventId"].as_str().unwrap())));
    // A client that reconnects continues after the last event it has.
    let again = fixture.http().request(Method::GET, &path).header("accept", "text/event-stream");
    let again = again.header("last-event-id", first["eventId"].as_str().unwrap());
    let rest = fixture.http().send(again).await.unwrap();
    assert_eq!(rest.header("content-type"), "text/event-stream");
    assert_eq!(rest.text.matches("data: ").count() + position_of(&events, &first), events.len());
}

fn position_of(events: &[Value], one: &Value) -> usize {
    let at = events.iter().position(|event| event["eventId"] == one["eventId"]).unwrap();
    at + 1
}
