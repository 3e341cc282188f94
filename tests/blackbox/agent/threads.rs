//! Threads, the list of runs, and chats.

use super::{AgentFixture, company, started_id, wait_for_end};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use uuid::Uuid;

#[tokio::test]
async fn a_follow_up_run_continues_its_thread() {
    let fixture = AgentFixture::open().await;
    let http = fixture.http();
    let request = fixture.pages.request_for("/company", json!({ "schema": company(), "effort": "low" }));
    let first = http.post("/v2/agent", &request).await.unwrap();
    let thread = first.expect_success()["threadId"].as_str().unwrap().to_owned();
    assert_eq!(first.json["threadTurn"], 1);
    fixture.wait_for_end(first.json["id"].as_str().unwrap()).await;
    // URLs and schema are taken over from the run before; only the prompt is new.
    let next = json!({ "prompt": "And once more: founded, employees?", "threadId": thread });
    let second = http.post("/v2/agent", &next).await.unwrap();
    assert_eq!(
        (&second.expect_success()["threadId"], &second.json["threadTurn"]),
        (&json!(thread), &json!(2))
    );
    let status = fixture.wait_for_end(second.json["id"].as_str().unwrap()).await;
    assert_eq!(status["data"], json!({ "founded": 1987, "employees": 42 }), "{status}");
    assert_eq!((&status["effort"], &status["threadTurn"]), (&json!("low"), &json!(2)));

    let hanging = fixture.pages.request_for("/hang/0", json!({ "threadId": thread }));
    let third = started_id(&http.post("/v2/agent", &hanging).await.unwrap());
    let busy = http.post("/v2/agent", &next).await.unwrap();
    assert_eq!(
        (busy.status, &busy.json["code"], &busy.json["runId"]),
        (409, &json!("thread_busy"), &json!(third))
    );
    let seen = http.get(&format!("/v2/agent/threads/{thread}?includeData=true")).await.unwrap();
    let view = &seen.expect_success()["thread"];
    assert_eq!(
        (&view["status"], view["runs"].as_array().unwrap().len()),
        (&json!("running"), 3),
        "{}",
        seen.text
    );
    assert_eq!(
        (&view["runs"][1]["status"], &view["runs"][1]["data"]),
        (&json!("succeeded"), &status["data"])
    );
    http.delete(&format!("/v2/agent/{third}")).await.unwrap().expect_success();
    wait_for_end(http, &third).await;
    let seen = http.get(&format!("/v2/agent/threads/{thread}")).await.unwrap();
    let view = &seen.expect_success()["thread"];
    assert_eq!((&view["status"], &view["runs"][2]["status"]), (&json!("idle"), &json!("cancelled")));
    assert!(view["runs"][1].get("data").is_none(), "only when asked for");

    for nobody in [Uuid::now_v7().to_string(), "x".to_owned()] {
        let missing = http.get(&format!("/v2/agent/threads/{nobody}")).await.unwrap();
        assert_eq!(
            (missing.status, &missing.json["code"]),
            (404, &json!("thread_not_found")),
            "{}",
            missing.text
        );
    }
    let strange = crate::scrape::other_team(&fixture.dir, http).await;
    assert_eq!(strange.get(&format!("/v2/agent/threads/{thread}")).await.unwrap().status, 404);
    assert_eq!(strange.post("/v2/agent", &next).await.unwrap().status, 404);
}

#[tokio::test]
async fn a_run_without_a_schema_answers_in_words() {
    let fixture = AgentFixture::open().await;
    let id = fixture
        .start("/company", json!({ "mode": "chat", "prompt": "When was Gannet Feeders founded?" }))
        .await;
    let status = fixture.wait_for_end(&id).await;
    assert_eq!((&status["status"], &status["mode"]), (&json!("completed"), &json!("chat")), "{status}");
    assert_eq!(status.get("data"), Some(&Value::Null), "there, and null");
    assert!(!status["message"].as_str().unwrap().is_empty(), "{status}");
}

#[tokio::test]
async fn the_list_shows_every_run_once() {
    let fixture = AgentFixture::with(|config| config.set("workers", "0")).await;
    let http = fixture.http();
    let mut ids = BTreeSet::new();
    for number in 0..45 {
        let request = json!({ "prompt": format!("number {number}"), "integration": "tests" });
        ids.insert(started_id(&http.post("/v2/agent", &request).await.unwrap()));
    }
    let (mut seen, mut path, mut pages) = (Vec::new(), "/v2/agent".to_owned(), 0);
    loop {
        let page = http.get(&path).await.unwrap();
        let agents = page.expect_success()["agents"].as_array().unwrap().clone();
        assert!(agents.len() <= 20);
        pages += 1;
        seen.extend(agents);
        let Some(next) = page.json["next"].as_str() else { break };
        path = next.strip_prefix(&http.base).expect("an absolute address of this server").to_owned();
    }
    assert_eq!((pages, seen.len()), (3, 45));
    assert_eq!(seen.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(), ids);
    let newest = &seen[0];
    assert_eq!((&newest["targetHint"], &newest["status"]), (&json!("number 44"), &json!("processing")));
    assert_eq!(
        (&newest["options"]["prompt"], &newest["integration"]),
        (&json!("number 44"), &json!("tests"))
    );
    assert_eq!(newest["settings"], json!({ "hidden": false, "starred": false }));
    for wrong in ["x", "-1", "1.5", ""] {
        let refused = http.get(&format!("/v2/agent?before={wrong}")).await.unwrap();
        refused.expect_error(400, "Invalid before timestamp.");
    }
    assert!(
        http.get("/v2/agent?before=1").await.unwrap().expect_success()["agents"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}
