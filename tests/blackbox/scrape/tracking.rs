//! Change tracking: how a page compares with its previous version.

use super::{ScrapeFixture, assert_contains, scrape_as};
use crate::http::Http;
use serde_json::{Value, json};

async fn tracked(http: &Http, url: &str, tag: Option<&str>) -> Value {
    let format = json!({ "type": "changeTracking", "modes": ["git-diff"], "tag": tag });
    let response = scrape_as(http, url, json!({ "formats": ["markdown", format] })).await;
    response.expect_success()["data"]["changeTracking"].clone()
}

#[tokio::test]
async fn changes_since_the_last_scrape_are_reported() {
    let fixture = ScrapeFixture::open().await;
    let url = fixture.site.url("/changing");
    fixture.site.change(200, "The north light is out.");
    let first = tracked(fixture.http(), &url, None).await;
    assert_eq!((&first["changeStatus"], &first["previousScrapeAt"]), (&json!("new"), &Value::Null));
    assert_eq!(first["visibility"], "visible");
    let second = tracked(fixture.http(), &url, None).await;
    assert_eq!(second["changeStatus"], "same");
    assert!(second["previousScrapeAt"].as_str().unwrap().starts_with("20"), "{second}");
    assert!(second.get("diff").is_none(), "{second}");

    fixture.site.change(200, "The north light burns again.");
    let third = tracked(fixture.http(), &url, None).await;
    assert_eq!(third["changeStatus"], "changed");
    assert_contains(&third["diff"]["text"], &["-The north light is out.", "+The north light burns again."]);
    let changes = third["diff"]["json"]["files"][0]["chunks"][0]["changes"].as_array().unwrap();
    let kinds: Vec<_> = changes.iter().map(|change| change["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"add") && kinds.contains(&"del"), "{third}");

    fixture.site.change(404, "gone");
    let fourth = tracked(fixture.http(), &url, None).await;
    assert_eq!(fourth["changeStatus"], "removed");
    fixture.site.change(200, "The north light burns again.");
    let fifth = tracked(fixture.http(), &url, None).await;
    assert_eq!(fifth["changeStatus"], "same", "a page that is back is compared with what it was");
}

#[tokio::test]
async fn tags_and_teams_have_separate_histories() {
    let fixture = ScrapeFixture::open().await;
    let url = fixture.site.url("/changing");
    let other_team = fixture.other_team().await;
    fixture.site.change(200, "Buoy seven is adrift.");
    assert_eq!(tracked(fixture.http(), &url, None).await["changeStatus"], "new");
    assert_eq!(tracked(fixture.http(), &url, Some("weekly")).await["changeStatus"], "new");
    assert_eq!(tracked(&other_team, &url, None).await["changeStatus"], "new");
    fixture.site.change(200, "Buoy seven is back.");
    assert_eq!(tracked(fixture.http(), &url, Some("weekly")).await["changeStatus"], "changed");
    assert_eq!(tracked(&other_team, &url, None).await["changeStatus"], "changed");
    assert_eq!(tracked(fixture.http(), &url, None).await["changeStatus"], "changed");
    assert_eq!(tracked(fixture.http(), &url, Some("weekly")).await["changeStatus"], "same");
}

#[tokio::test]
async fn without_a_mode_only_the_status_is_reported() {
    let fixture = ScrapeFixture::open().await;
    fixture.site.change(200, "one");
    let formats = json!({ "formats": ["markdown", "changeTracking"] });
    let before = fixture.scrape_document("/changing", formats.clone()).await;
    assert_eq!(before["changeTracking"]["changeStatus"], "new");
    fixture.site.change(200, "two");
    let after = fixture.scrape_document("/changing", formats).await;
    assert_eq!(after["changeTracking"]["changeStatus"], "changed");
    assert!(after["changeTracking"].get("diff").is_none(), "{after}");
}
