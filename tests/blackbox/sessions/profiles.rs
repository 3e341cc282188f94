//! Profiles of sessions: saved at the end, read by the next, one writer at a time.

use super::{begin, run_in_session};
use crate::scrape::ScrapeFixture;
use serde_json::json;

#[tokio::test]
async fn a_login_outlives_its_session() {
    let fixture = ScrapeFixture::open().await;
    let writer = json!({ "profile": { "name": "shop" } });
    let session = begin(&fixture, writer.clone()).await;
    let second = fixture.http().post("/v2/browser", &writer).await.unwrap();
    assert_eq!(second.status, 409, "one writer at a time: {}", second.text);
    run_in_session(&fixture, "profile_write.mjs", &session).await;
    let path = format!("/v2/browser/{}", session["id"].as_str().unwrap());
    assert_eq!(fixture.http().delete(&path).await.unwrap().status, 200);
    let reader = json!({ "profile": { "name": "shop", "saveChanges": false } });
    for _ in 0..2 {
        let session = begin(&fixture, reader.clone()).await;
        run_in_session(&fixture, "profile_read.mjs", &session).await;
    }
    begin(&fixture, writer).await;
}
