//! What a scrape leaves behind: its result for a day, its files under signed addresses.

use super::{House, failed, has, recipe, scrape_as};
use crate::site::Site;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TempDir, shared_database};

#[tokio::test]
async fn a_result_can_be_fetched_again_by_its_own_team() {
    let house = House::open().await;
    let page = house.document("/article", json!({ "formats": ["markdown", "links"] })).await;
    let id = page["metadata"]["scrapeId"].as_str().unwrap();
    let path = format!("/v2/scrape/{id}");
    let again = house.http().get(&path).await.unwrap();
    assert_eq!(again.is_success()["data"], page);
    let stranger = house.stranger().await;
    stranger.get(&path).await.unwrap().is_error(404, "Not Found");
    house
        .http()
        .get("/v2/scrape/01890000-0000-7000-8000-000000000000")
        .await
        .unwrap()
        .is_error(404, "Not Found");
    let text = "Invalid job ID format. Job ID must be a valid UUID.";
    house.http().get("/v2/scrape/seven").await.unwrap().is_error(400, text);
    house.http().with_key(None).get(&path).await.unwrap().is_error(401, "Unauthorized: Invalid token");
}

#[tokio::test]
async fn results_outlive_the_server() {
    let dir = TempDir::new();
    let site = Site::start();
    let server = recipe(&dir).start().await;
    let page = scrape_as(&server.http, &site.url("/article"), json!({})).await.is_success()["data"].clone();
    // The answer is given after it is written, so even this loses nothing.
    server.kill();
    let server = recipe(&dir).start().await;
    let path = format!("/v2/scrape/{}", page["metadata"]["scrapeId"].as_str().unwrap());
    assert_eq!(server.http.get(&path).await.unwrap().is_success()["data"], page);
    let stored = scrape_as(&server.http, &site.url("/article"), json!({})).await.is_success()["data"].clone();
    assert_eq!((stored["metadata"]["cacheState"].as_str(), site.hits("/article")), (Some("hit"), 1));
}

#[tokio::test]
async fn an_idempotency_key_is_taken_once() {
    let house = House::open().await;
    let url = house.site.url("/article");
    let keyed = async |key: &str, body: Value| {
        let request =
            house.http().request(Method::POST, "/v2/scrape").header("x-idempotency-key", key).json(&body);
        house.http().send(request).await.unwrap()
    };
    keyed("k-1", json!({ "url": url })).await.is_success();
    keyed("k-1", json!({ "url": url })).await.is_error(409, "Idempotency key already used");
    keyed("k-2", json!({ "url": url })).await.is_success();
    assert_eq!(house.credits_used().await, 2);
    // A key whose request failed may be used again: nothing was done under it.
    failed(
        &keyed("k-3", json!({ "url": house.site.url("/pdf") })).await,
        500,
        "SCRAPE_UNSUPPORTED_FILE_ERROR",
    );
    keyed("k-3", json!({ "url": url })).await.is_success();
    let reply = house.stranger().await;
    let request = reply.request(Method::POST, "/v2/scrape").header("x-idempotency-key", "k-1");
    reply.send(request.json(&json!({ "url": url }))).await.unwrap().is_success();
}

#[tokio::test]
async fn files_are_had_by_signed_addresses_alone() {
    let house = House::open().await;
    let page = house.document("/form", json!({ "formats": ["screenshot"] })).await;
    let address = page["screenshot"].as_str().unwrap();
    let file = house.download(&page["screenshot"]).await;
    assert_eq!((file.status, file.mime.as_str()), (200, "image/png"));
    assert!(file.bytes.starts_with(b"\x89PNG"));
    let (path, query) = address.strip_prefix(&house.http().base).unwrap().split_once('?').unwrap();
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
        house.http().get(&wrong).await.unwrap().is_error(404, "Not Found");
    }
    let bare = house.http().get(path).await.unwrap();
    assert_eq!(bare.status, 400, "{}", bare.text);
    let left = expires - u64::try_from(engine::time::now() / 1000).unwrap();
    assert!((86_000..=86_400).contains(&left), "a day: {left} s");
}

#[tokio::test]
async fn the_core_holds_on_postgresql() {
    let (dir, site) = (TempDir::new(), Site::start());
    let server = recipe(&dir).set("database_url", &shared_database()).start().await;
    let url = site.url("/article");
    let page = scrape_as(&server.http, &url, json!({})).await.is_success()["data"].clone();
    has(&page["markdown"], &["firstword"]);
    let again = scrape_as(&server.http, &url, json!({})).await.is_success()["data"].clone();
    assert_eq!((again["metadata"]["cacheState"].as_str(), site.hits("/article")), (Some("hit"), 1));
    let path = format!("/v2/scrape/{}", page["metadata"]["scrapeId"].as_str().unwrap());
    assert_eq!(server.http.get(&path).await.unwrap().is_success()["data"], page);
    let revalidated = async || {
        let options = json!({ "maxAge": 1 });
        scrape_as(&server.http, &site.url("/etag"), options).await.is_success()["data"]["metadata"].clone()
    };
    revalidated().await;
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert_eq!(revalidated().await["cache"]["source"], "revalidated");
    site.change(200, "one");
    let tracking = json!({ "formats": ["markdown", "changeTracking"] });
    for (text, status) in [("one", "new"), ("one", "same"), ("two", "changed")] {
        site.change(200, text);
        let reply = scrape_as(&server.http, &site.url("/changing"), tracking.clone()).await;
        assert_eq!(reply.is_success()["data"]["changeTracking"]["changeStatus"], status);
    }
    let keyed = || {
        let request = server.http.request(Method::POST, "/v2/scrape").header("x-idempotency-key", "k");
        server.http.send(request.json(&json!({ "url": url })))
    };
    keyed().await.unwrap().is_success();
    keyed().await.unwrap().is_error(409, "Idempotency key already used");
    let shot = scrape_as(&server.http, &site.url("/form"), json!({ "formats": ["screenshot"] })).await;
    let address = shot.is_success()["data"]["screenshot"].as_str().unwrap().to_owned();
    let file = server.http.get(address.strip_prefix(&server.http.base).unwrap()).await.unwrap();
    assert_eq!((file.status, file.header("content-type")), (200, "image/png"));
}
