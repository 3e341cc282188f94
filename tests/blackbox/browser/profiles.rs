//! Profiles: a named browser state, one writer at a time.

use crate::scrape::{ScrapeFixture, assert_contains, scrape_as};
use crate::server::wait_for_browsers_in_use;
use serde_json::{Value, json};

async fn visit(fixture: &ScrapeFixture, profile: Value) -> Value {
    fixture.scrape_document("/diary", json!({ "profile": profile, "onlyMainContent": false })).await["markdown"]
        .clone()
}

#[tokio::test]
async fn a_profile_keeps_its_state_and_others_do_not_see_it() {
    let fixture = ScrapeFixture::open().await;
    assert_contains(&visit(&fixture, json!({ "name": "a" })).await, &["storage had 0, cookie had 0"]);
    assert_contains(&visit(&fixture, json!({ "name": "a" })).await, &["storage had 1, cookie had 1"]);
    let look = json!({ "name": "a", "saveChanges": false });
    assert_contains(&visit(&fixture, look.clone()).await, &["storage had 2, cookie had 2"]);
    assert_contains(&visit(&fixture, look).await, &["storage had 2, cookie had 2"]);
    assert_contains(&visit(&fixture, json!({ "name": "b" })).await, &["storage had 0, cookie had 0"]);
    let other_team = fixture.other_team().await;
    let response = scrape_as(
        &other_team,
        &fixture.site.url("/diary"),
        json!({ "profile": { "name": "a" }, "onlyMainContent": false }),
    )
    .await;
    assert_contains(&response.expect_success()["data"]["markdown"], &["storage had 0"]);
    // Without a profile no state is kept between visits.
    for _ in 0..2 {
        let page = fixture
            .scrape_document("/diary", json!({ "waitFor": 10, "maxAge": 0, "onlyMainContent": false }))
            .await;
        assert_contains(&page["markdown"], &["storage had 0, cookie had 0"]);
    }
}

#[tokio::test]
async fn a_profile_has_one_writer() {
    let fixture = ScrapeFixture::open().await;
    let (http, url) = (fixture.http().clone(), fixture.site.url("/diary"));
    let slow = tokio::spawn(async move {
        scrape_as(&http, &url, json!({ "profile": { "name": "p" }, "waitFor": 3000 })).await
    });
    wait_for_browsers_in_use(fixture.http(), 1).await;
    let response = fixture.scrape("/diary", json!({ "profile": { "name": "p" } })).await;
    response.expect_error(409, "Conflict");
    assert_contains(&response.json["details"], &["profile"]);
    // Anyone may read it at the same time, and other profiles are free.
    visit(&fixture, json!({ "name": "p", "saveChanges": false })).await;
    visit(&fixture, json!({ "name": "q" })).await;
    slow.await.unwrap().expect_success();
    assert_contains(&visit(&fixture, json!({ "name": "p" })).await, &["storage had 1"]);
}
