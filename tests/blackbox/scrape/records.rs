//! What a scrape stores: its result for a day, its files under signed URLs.

use super::{ScrapeFixture, assert_contains, assert_failure, config, scrape_as};
use crate::site::Site;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TempDir, shared_database};

#[tokio::test]
async fn a_result_can_be_fetched_again_by_its_own_team() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/article", json!({ "formats": ["markdown", "links"] })).await;
    let id = page["metadata"]["scrapeId"].as_str().unwrap();
    let path = format!("/v2/scrape/{id}");
    let again = fixture.http().get(&path).await.unwrap();
    assert_eq!(again.expect_success()["data"], page);
    let other_team = fixture.other_team().await;
    other_team.get(&path).await.unwrap().expect_error(404, "Not Found");
    fixture
        .http()
        .get("/v2/scrape/01890000-0000-7000-8000-000000000000")
        .await
        .unwrap()
        .expect_error(404, "Not Found");
    let text = "Invalid job ID format. Job ID must be a valid UUID.";
    fixture.http().get("/v2/scrape/seven").await.unwrap().expect_error(400, text);
    fixture.http().with_key(None).get(&path).await.unwrap().expect_error(401, crate::http::NO_KEY);
}

#[tokio::test]
async fn results_survive_a_kill_of_the_server() {
    let dir = TempDir::new();
    let site = Site::start();
    let server = config(&dir).start().await;
    let page =
        scrape_as(&server.http, &site.url("/article"), json!({})).await.expect_success()["data"].clone();
    // The response is sent after the result is written, so even a kill loses nothing.
    server.kill();
    let server = config(&dir).start().await;
    let path = format!("/v2/scrape/{}", page["metadata"]["scrapeId"].as_str().unwrap());
    assert_eq!(server.http.get(&path).await.unwrap().expect_success()["data"], page);
    let stored =
        scrape_as(&server.http, &site.url("/article"), json!({})).await.expect_success()["data"].clone();
    assert_eq!((stored["metadata"]["cacheState"].as_str(), site.hits("/article")), (Some("hit"), 1));
}

#[tokio::test]
async fn an_idempotency_key_is_accepted_once() {
    let fixture = ScrapeFixture::open().await;
    let url = fixture.site.url("/article");
    let keyed = async |key: &str, body: Value| {
        let request =
            fixture.http().request(Method::POST, "/v2/scrape").header("x-idempotency-key", key).json(&body);
        fixture.http().send(request).await.unwrap()
    };
    keyed("k-1", json!({ "url": url })).await.expect_success();
    keyed("k-1", json!({ "url": url })).await.expect_error(409, "Idempotency key already used");
    keyed("k-2", json!({ "url": url })).await.expect_success();
    assert_eq!(fixture.credits_used().await, 2);
    // A key whose request failed can be used again: nothing was done with it.
    assert_failure(
        &keyed("k-3", json!({ "url": fixture.site.url("/archive") })).await,
        500,
        "SCRAPE_UNSUPPORTED_FILE_ERROR",
    );
    keyed("k-3", json!({ "url": url })).await.expect_success();
    let response = fixture.other_team().await;
    let request = response.request(Method::POST, "/v2/scrape").header("x-idempotency-key", "k-1");
    response.send(request.json(&json!({ "url": url }))).await.unwrap().expect_success();
}

#[tokio::test]
async fn files_are_served_by_signed_urls_only() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/form", json!({ "formats": ["screenshot"] })).await;
    let address = page["screenshot"].as_str().unwrap();
    let file = fixture.download(&page["screenshot"]).await;
    assert_eq!((file.status, file.mime.as_str()), (200, "image/png"));
    assert!(file.bytes.starts_with(b"\x89PNG"));
    let (path, query) = address.strip_prefix(&fixture.http().base).unwrap().split_once('?').unwrap();
    let expires: u64 =
        query.split('&').find_map(|part| part.strip_prefix("expires=")).unwrap().parse().unwrap();
    let signature = query.split('&').find_map(|part| part.strip_prefix("signature=")).unwrap();
    let forged = format!("{}{}", if signature.starts_with('0') { '1' } else { '0' }, &signature[1..]);
    for wrong in [
        format!("{path}?expires={expires}&signature={forged}"),
        format!("{path}?expires={}&signature={signature}", expires + 1),
        format!("{path}?expires=1&signature={signature}"),
        format!("{path}?expires={expires}&signature=zz"),
        format!("/v2/files/{}.png?expires={expires}&signature={signature}", "0".repeat(32)),
        format!("/v2/files/..%2F..%2Fgannet.db?expires={expires}&signature={signature}"),
    ] {
        fixture.http().get(&wrong).await.unwrap().expect_error(404, "Not Found");
    }
    let bare = fixture.http().get(path).await.unwrap();
    assert_eq!(bare.status, 400, "{}", bare.text);
    let left = expires - u64::try_from(stored_data::time::now() / 1000).unwrap();
    assert!((86_000..=86_400).contains(&left), "a day: {left} s");
}

#[tokio::test]
async fn results_and_files_work_on_postgresql() {
    let (dir, site) = (TempDir::new(), Site::start());
    let server = config(&dir).set("database_url", &shared_database()).start().await;
    let url = site.url("/article");
    let page = scrape_as(&server.http, &url, json!({})).await.expect_success()["data"].clone();
    assert_contains(&page["markdown"], &["firstword"]);
    let again = scrape_as(&server.http, &url, json!({})).await.expect_success()["data"].clone();
    assert_eq!((again["metadata"]["cacheState"].as_str(), site.hits("/article")), (Some("hit"), 1));
    let path = format!("/v2/scrape/{}", page["metadata"]["scrapeId"].as_str().unwrap());
    assert_eq!(server.http.get(&path).await.unwrap().expect_success()["data"], page);
    let revalidated = async || {
        let options = json!({ "maxAge": 1 });
        scrape_as(&server.http, &site.url("/etag"), options).await.expect_success()["data"]["metadata"]
            .clone()
    };
    revalidated().await;
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert_eq!(revalidated().await["cache"]["source"], "revalidated");
    site.change(200, "one");
    let tracking = json!({ "formats": ["markdown", "changeTracking"] });
    for (text, status) in [("one", "new"), ("one", "same"), ("two", "changed")] {
        site.change(200, text);
        let response = scrape_as(&server.http, &site.url("/changing"), tracking.clone()).await;
        assert_eq!(response.expect_success()["data"]["changeTracking"]["changeStatus"], status);
    }
    let keyed = || {
        let request = server.http.request(Method::POST, "/v2/scrape").header("x-idempotency-key", "k");
        server.http.send(request.json(&json!({ "url": url })))
    };
    keyed().await.unwrap().expect_success();
    keyed().await.unwrap().expect_error(409, "Idempotency key already used");
    let shot = scrape_as(&server.http, &site.url("/form"), json!({ "formats": ["screenshot"] })).await;
    let address = shot.expect_success()["data"]["screenshot"].as_str().unwrap().to_owned();
    let file = server.http.get(address.strip_prefix(&server.http.base).unwrap()).await.unwrap();
    assert_eq!((file.status, file.header("content-type")), (200, "image/png"));
}
