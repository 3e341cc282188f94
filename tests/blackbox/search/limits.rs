//! Timeouts, credits and privacy of searches, and what operators see of their providers.

use super::{SearchFixture, search_as};
use crate::server::run;
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_timeout_without_results_is_a_408() {
    let fixture = SearchFixture::open().await;
    fixture.engine.set_hanging();
    let began = Instant::now();
    let response = fixture.search("x", json!({ "timeout": 1_000 })).await;
    // The provider's own limit is ten seconds.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    response.expect_error(408, "Request Timeout: no search source answered in time");
    assert!(
        response.json["details"][0].as_str().unwrap().starts_with("searxng did not respond within"),
        "{}",
        response.text
    );
    let usage = fixture.http().get("/v2/team/credit-usage/historical").await.unwrap();
    assert_eq!(usage.json["periods"][0]["creditsUsed"].as_i64().unwrap_or(0), 0, "{}", usage.text);
}

#[tokio::test]
async fn ten_results_cost_two_credits_and_a_page_one() {
    let fixture = SearchFixture::with(|config| config.tiny_plan("credits = 9")).await;
    fixture.set_results(&["/page/1", "/page/2", "/page/3"]);
    let left = async || {
        let usage = fixture.http().get("/v2/team/credit-usage").await.unwrap();
        usage.expect_success()["data"]["remainingCredits"].as_i64().unwrap()
    };
    assert_eq!(fixture.search_ok("x", json!({})).await["creditsUsed"], 2);
    assert_eq!(left().await, 7);
    let found = fixture.search_ok("x", json!({ "scrapeOptions": { "formats": ["markdown"] } })).await;
    assert_eq!((&found["creditsUsed"], left().await), (&json!(5), 2));
    let activity = fixture.http().get("/v2/team/activity").await.unwrap();
    let searches: Vec<_> = activity.expect_success()["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["endpoint"] == "search")
        .collect();
    assert_eq!((searches.len(), &searches[0]["target"]), (2, &json!("x")));
    let many = fixture.search("x", json!({ "limit": 100 })).await;
    many.expect_error(402, "Payment Required: Insufficient credits");
    let found =
        fixture.search_ok("x", json!({ "scrapeOptions": { "formats": ["markdown"], "maxAge": 0 } })).await;
    assert_eq!(
        (&found["creditsUsed"], left().await),
        (&json!(2), 0),
        "pages that cannot be paid are not scraped"
    );
    assert!(
        found["data"]["web"][0]["metadata"]["error"].as_str().unwrap().contains("Insufficient credits"),
        "{found}"
    );
}

#[tokio::test]
async fn a_private_search_leaves_nothing_behind() {
    let fixture = SearchFixture::open().await;
    fixture.set_results(&["/article"]);
    for private in [
        json!({ "enterprise": ["zdr"] }),
        json!({ "zeroDataRetention": true }),
        json!({ "enterprise": ["anon"] }),
    ] {
        let mut body = private;
        body["scrapeOptions"] = json!({ "formats": ["markdown"] });
        let found = fixture.search_ok("quebrantahuesos", body).await;
        assert!(found["data"]["web"][0]["markdown"].is_string(), "{found}");
    }
    let activity = fixture.http().get("/v2/team/activity").await.unwrap();
    assert_eq!(activity.expect_success()["data"], json!([]));
    tokio::time::sleep(Duration::from_millis(300)).await;
    for file in std::fs::read_dir(fixture.dir.join("data")).unwrap().flatten() {
        if file.path().is_file() {
            let bytes = std::fs::read(file.path()).unwrap();
            let found = bytes.windows(15).any(|window| window == b"quebrantahuesos");
            assert!(!found, "{} has the query", file.path().display());
        }
    }
}

#[tokio::test]
async fn operators_see_the_state_of_their_providers() {
    let fixture = SearchFixture::with(|config| {
        config.set("search_quotas", "searxng=100/month").set("brave_key", "s3cret-key")
    })
    .await;
    fixture.set_results(&["/article"]);
    fixture.search_ok("x", json!({})).await;
    let metrics = fixture.http().get("/metrics").await.unwrap();
    assert!(
        metrics.text.contains("gannet_search_asked_total{provider=\"searxng\",outcome=\"answered\"} 1"),
        "{}",
        metrics.text
    );
    let mut command = crate::server::gannet();
    command.args(["doctor", "--data-dir"]).arg(fixture.dir.join("data")).current_dir(fixture.dir.path());
    command
        .env("GANNET_SEARCH_PROVIDERS", format!("searxng={}", fixture.engine.base))
        .env("GANNET_BRAVE_KEY", "s3cret-key");
    let (_, text, _) = run(command);
    let line = text.lines().find(|line| line.contains(" search ")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("searxng") && line.contains("local"), "{line}");
    assert!(!text.contains("s3cret-key") && !fixture.server.log().contains("s3cret-key"));
    let wrong = [
        ("search_providers", "bing"),
        ("search_providers", "brave"),
        ("search_mode", "both"),
        ("search_quotas", "brave=1/day"),
    ];
    for (name, value) in wrong {
        let mut command = crate::server::gannet();
        command
            .arg("doctor")
            .env(format!("GANNET_{}", name.to_uppercase()), value)
            .current_dir(fixture.dir.path());
        let (code, _, message) = run(command);
        assert!(code != Some(0) && message.contains(name), "{name}={value}: {message}");
    }
}

#[tokio::test]
async fn a_provider_that_keeps_failing_is_paused() {
    let fixture = SearchFixture::open().await;
    fixture.engine.set_failing(503);
    for _ in 0..5 {
        search_as(fixture.http(), "x", json!({})).await.expect_success();
    }
    let message = fixture.search_ok("x", json!({})).await;
    assert!(message["warning"].as_str().unwrap().contains("searxng is paused for"), "{message}");
    assert_eq!(fixture.engine.requests().len(), 3);
}
