//! What callers say of answers: checked, kept once, and used.

use super::{Library, search_as, urls};
use serde_json::{Value, json};

async fn say(library: &Library, id: &str, body: &Value) -> crate::http::Reply {
    library.http().post(&format!("/v2/search/{id}/feedback"), body).await.unwrap()
}

#[tokio::test]
async fn what_a_team_found_valuable_ranks_higher_for_it_and_for_nobody_else() {
    let library = Library::open().await;
    library.engine.finds(&[
        "https://a.example/".into(),
        "https://b.example/".into(),
        "https://good.example/page".into(),
    ]);
    let first = library.found("birds", json!({})).await;
    assert_eq!(urls(&first["data"]["web"])[0], "https://a.example/");
    let id = first["id"].as_str().unwrap();
    let good = json!({ "rating": "good", "valuableSources": [{ "url": "https://good.example/page", "reason": "answers it" }] });
    let reply = say(&library, id, &good).await;
    let answer = reply.is_success();
    assert!(
        answer["feedbackId"].is_string()
            && answer["alreadySubmitted"] == false
            && answer["creditsRefunded"] == 0,
        "{answer}"
    );
    let again = say(&library, id, &good).await;
    assert_eq!(
        (&again.is_success()["alreadySubmitted"], &again.json["feedbackId"]),
        (&json!(true), &answer["feedbackId"])
    );
    let second = library.found("birds", json!({})).await;
    assert_eq!(urls(&second["data"]["web"])[0], "https://good.example/page");
    assert_eq!(second["data"]["web"][0]["position"], 1);
    let stranger = crate::scrape::stranger(&library.dir, library.http()).await;
    let theirs = search_as(&stranger, "birds", json!({})).await;
    assert_eq!(urls(&theirs.is_success()["data"]["web"])[0], "https://a.example/");
    let path = format!("/v2/search/{id}/feedback");
    let refused = stranger.post(&path, &good).await.unwrap();
    assert_eq!(
        (refused.status, &refused.json["feedbackErrorCode"]),
        (404, &json!("NOT_FOUND")),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn feedback_has_rules() {
    let library = Library::open().await;
    library.finds(&["/article"]);
    let found = library.found("birds", json!({ "scrapeOptions": { "formats": ["markdown"] } })).await;
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
        let reply = say(&library, id, &wrong).await;
        assert_eq!(reply.status, 400, "{wrong}: {}", reply.text);
    }
    let bad = json!({ "rating": "bad", "missingContent": [{ "topic": "prices", "description": "none" }] });
    let unknown = say(&library, "0199f0a0-0000-7000-8000-000000000000", &bad).await;
    assert_eq!(unknown.status, 404, "{}", unknown.text);
    assert_eq!(say(&library, "7", &bad).await.status, 400);
    say(&library, id, &bad).await.is_success();

    let scrape = &found["data"]["web"][0]["metadata"]["scrapeId"];
    let body = json!({ "endpoint": "scrape", "jobId": scrape, "rating": "partial", "issues": ["missing-table"], "tags": ["docs"],
                       "note": "half of it", "url": "https://a.example", "pageNumbers": [1], "metadata": { "run": 7 } });
    let reply = library.http().post("/v2/feedback", &body).await.unwrap();
    assert_eq!(reply.is_success()["dailyRefundCap"], 0);
    let mut elsewhere = body.clone();
    elsewhere["endpoint"] = "search".into();
    elsewhere["missingContent"] = json!([{ "topic": "x" }]);
    assert_eq!(
        library.http().post("/v2/feedback", &elsewhere).await.unwrap().status,
        404,
        "a scrape is no search"
    );
}
