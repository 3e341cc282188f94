//! A search as a target: each result is told once, by its address, when it fits the goal.

use super::{counts, run};
use crate::search::SearchFixture;
use serde_json::{Value, json};

fn statuses(check: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let pages = check["pages"].as_array().unwrap().iter();
    let mut found: Vec<(String, String)> = pages
        .map(|page| (text(&page["metadata"]["title"]), text(&page["metadata"]["searchStatus"])))
        .collect();
    found.sort();
    found
}

fn pairs(found: &[(&str, &str)]) -> Vec<(String, String)> {
    found.iter().map(|(title, status)| ((*title).to_owned(), (*status).to_owned())).collect()
}

#[tokio::test]
async fn results_are_told_once_when_they_fit_the_goal() {
    let fixture = SearchFixture::open().await;
    let http = &fixture.server.http;
    let hit =
        |url: &str, title: &str, content: &str| json!({ "url": url, "title": title, "content": content });
    let cheap = hit("https://flats.example/1", "Flat in Berlin one", "850 EUR, two rooms");
    let dear = |price: u32| {
        hit("https://flats.example/2", "Flat in Berlin two", &format!("{price} EUR, three rooms"))
    };
    let other = hit("https://bread.example/", "Recipes", "for bread with seeds");
    fixture.engine.set_response(vec![cheap.clone(), dear(1200), other.clone()]);
    let body = json!({
        "name": "Flats", "schedule": { "cron": super::RARELY }, "goal": "flats in Berlin below 900 EUR",
        "targets": [{ "type": "search", "queries": ["flats berlin", "berlin flat"], "maxResults": 5 }],
    });
    let created = http.post("/v2/monitor", &body).await.unwrap();
    let monitor = created.expect_success()["data"]["id"].as_str().unwrap().to_owned();
    let first = run(http, &monitor).await;
    let expected =
        [("Flat in Berlin one", "alert"), ("Flat in Berlin two", "watching"), ("Recipes", "ignored")];
    assert_eq!(statuses(&first), pairs(&expected), "{first}");
    assert_eq!(counts(&first), [3, 2, 0, 1, 0, 0]);
    let result = &first["targetResults"][0];
    assert_eq!(
        (&result["searchCompleted"], &result["resultCount"], &result["matches"]),
        (&json!(true), &json!(3), &json!(1))
    );
    assert_eq!(result["resultsJudged"], 3, "{result}");
    // The same page in another spelling; and one that has become what the goal asks for.
    let respelled = hit("http://www.flats.example/1/", "Flat in Berlin one", "850 EUR, two rooms");
    fixture.engine.set_response(vec![respelled, dear(890), other.clone()]);
    let second = run(http, &monitor).await;
    let expected =
        [("Flat in Berlin one", "already_seen"), ("Flat in Berlin two", "alert"), ("Recipes", "ignored")];
    assert_eq!(statuses(&second), pairs(&expected), "{second}");
    assert_eq!(second["targetResults"][0]["resultsJudged"], 1);
    // Another goal judges again what is found.
    let patch = json!({ "goal": "recipes for bread" });
    let patched =
        http.send(http.request(reqwest::Method::PATCH, &format!("/v2/monitor/{monitor}")).json(&patch)).await;
    patched.unwrap().expect_success();
    fixture.engine.set_response(vec![cheap, other]);
    let third = run(http, &monitor).await;
    assert_eq!(
        statuses(&third),
        pairs(&[("Flat in Berlin one", "ignored"), ("Recipes", "alert")]),
        "{third}"
    );
    fixture.engine.set_failing(500);
    let failed = run(http, &monitor).await;
    assert_eq!(counts(&failed), [0; 6], "{failed}");
}
