//! Feedback on search results: validated, kept once, and used.

use super::{SearchFixture, search_as, urls};
use serde_json::{Value, json};

async fn send_feedback(fixture: &SearchFixture, id: &str, body: &Value) -> crate::http::HttpResponse {
    fixture.http().post(&format!("/v2/search/{id}/feedback"), body).await.unwrap()
}

#[tokio::test]
async fn results_a_team_found_valuable_rank_higher_for_that_team_only() {
    let fixture = SearchFixture::open().await;
    fixture.engine.set_results(&[
        "https://a.example/".into(),
        "https://b.example/".into(),
        "https://good.example/page".into(),
    ]);
    let first = fixture.search_ok("birds", json!({})).await;
    assert_eq!(urls(&first["data"]["web"])[0], "https://a.example/");
    let id = first["id"].as_str().unwrap();
    let good = json!({ "rating": "good", "valuableSources": [{ "url": "https://good.example/page", "reason": "answers it" }] });
    let response = send_feedback(&fixture, id, &good).await;
    let answer = response.expect_success();
    assert!(
        answer["feedbackId"].is_string()
            && answer["alreadySubmitted"] == false
            && answer["creditsRefunded"] == 0,
        "{answer}"
    );
    let again = send_feedback(&fixture, id, &good).await;
    assert_eq!(
        (&again.expect_success()["alreadySubmitted"], &again.json["feedbackId"]),
        (&json!(true), &answer["feedbackId"])
    );
    let second = fixture.search_ok("birds", json!({})).await;
    assert_eq!(urls(&second["data"]["web"])[0], "https://good.example/page");
    assert_eq!(second["data"]["web"][0]["position"], 1);
    let other_team = crate::scrape::other_team(&fixture.dir, fixture.http()).await;
    let theirs = search_as(&other_team, "birds", json!({})).await;
    assert_eq!(urls(&theirs.expect_success()["data"]["web"])[0], "https://a.example/");
    let path = format!("/v2/search/{id}/feedback");
    let refused = other_team.post(&path, &good).await.unwrap();
    assert_eq!(
        (refused.status, &refused.json["feedbackErrorCode"]),
        (404, &json!("NOT_FOUND")),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn feedback_is_validated() {
    let fixture = SearchFixture::open().await;
    fixture.set_results(&["/article"]);
    let found = fixture.search_ok("birds", json!({ "scrapeOptions": { "formats": ["markdown"] } })).await;
    let id = found["id"].as_str().unwrap();
    for wrong in [
        json!({}),
        json!({ "rating": "good" }),
        json!({ "rating": "excellent", "valuableSources": [{ "url": "https://a.example" }] }),
        json!({ "rating": "partial" }),
        json!({ "rating": "bad", "valuableSources": [{ "url": "https://a.example" }] }),
        json!({ "rating": "good", "valuableSources": [{ "url": "not an address" }] }),
        json!({ "rating": "good", "valuableSources": [{ "url": "https://a.example", "stars": 5 }] }),
        json!({ "rating": "bad", "querySuggestions": "x".repeat(2001) }),
    ] {
        let response = send_feedback(&fixture, id, &wrong).await;
        assert_eq!(response.status, 400, "{wrong}: {}", response.text);
    }
    let bad = json!({ "rating": "bad", "missingContent": [{ "topic": "prices", "description": "none" }] });
    let unknown = send_feedback(&fixture, "0199f0a0-0000-7000-8000-000000000000", &bad).await;
    assert_eq!(unknown.status, 404, "{}", unknown.text);
    assert_eq!(send_feedback(&fixture, "7", &bad).await.status, 400);
    send_feedback(&fixture, id, &bad).await.expect_success();

    let scrape = &found["data"]["web"][0]["metadata"]["scrapeId"];
    let body = json!({ "endpoint": "scrape", "jobId": scrape, "rating": "partial", "issues": ["missing-table"], "tags": ["docs"],
                       "note": "half of it", "url": "https://a.example", "pageNumbers": [1], "metadata": { "run": 7 } });
    let response = fixture.http().post("/v2/feedback", &body).await.unwrap();
    assert_eq!(response.expect_success()["dailyRefundCap"], 0);
    let mut elsewhere = body.clone();
    elsewhere["endpoint"] = "search".into();
    elsewhere["missingContent"] = json!([{ "topic": "x" }]);
    assert_eq!(
        fixture.http().post("/v2/feedback", &elsewhere).await.unwrap().status,
        404,
        "a scrape is no search"
    );
}
