//! Profiles: a named browser state, one writer at a time.

use crate::scrape::{House, has, scrape_as};
use crate::server::browsers_in_use;
use serde_json::{Value, json};

async fn visit(house: &House, profile: Value) -> Value {
    house.document("/diary", json!({ "profile": profile, "onlyMainContent": false })).await["markdown"]
        .clone()
}

#[tokio::test]
async fn a_profile_remembers_and_others_do_not() {
    let house = House::open().await;
    has(&visit(&house, json!({ "name": "a" })).await, &["storage had 0, cookie had 0"]);
    has(&visit(&house, json!({ "name": "a" })).await, &["storage had 1, cookie had 1"]);
    let look = json!({ "name": "a", "saveChanges": false });
    has(&visit(&house, look.clone()).await, &["storage had 2, cookie had 2"]);
    has(&visit(&house, look).await, &["storage had 2, cookie had 2"]);
    has(&visit(&house, json!({ "name": "b" })).await, &["storage had 0, cookie had 0"]);
    let stranger = house.stranger().await;
    let reply = scrape_as(
        &stranger,
        &house.site.url("/diary"),
        json!({ "profile": { "name": "a" }, "onlyMainContent": false }),
    )
    .await;
    has(&reply.is_success()["data"]["markdown"], &["storage had 0"]);
    // Without a profile nothing is carried from one visit to the next.
    for _ in 0..2 {
        let page =
            house.document("/diary", json!({ "waitFor": 10, "maxAge": 0, "onlyMainContent": false })).await;
        has(&page["markdown"], &["storage had 0, cookie had 0"]);
    }
}

#[tokio::test]
async fn a_profile_has_one_writer() {
    let house = House::open().await;
    let (http, url) = (house.http().clone(), house.site.url("/diary"));
    let slow = tokio::spawn(async move {
        scrape_as(&http, &url, json!({ "profile": { "name": "p" }, "waitFor": 3000 })).await
    });
    browsers_in_use(house.http(), 1).await;
    let reply = house.scrape("/diary", json!({ "profile": { "name": "p" } })).await;
    reply.is_error(409, "Conflict");
    has(&reply.json["details"], &["profile"]);
    // Reading is open to everyone, and so are other profiles.
    visit(&house, json!({ "name": "p", "saveChanges": false })).await;
    visit(&house, json!({ "name": "q" })).await;
    slow.await.unwrap().is_success();
    has(&visit(&house, json!({ "name": "p" })).await, &["storage had 1"]);
}
