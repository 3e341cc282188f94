//! Change tracking: how a page compares with the last time.

use super::{House, has, scrape_as};
use crate::http::Http;
use serde_json::{Value, json};

async fn tracked(http: &Http, url: &str, tag: Option<&str>) -> Value {
    let format = json!({ "type": "changeTracking", "modes": ["git-diff"], "tag": tag });
    let reply = scrape_as(http, url, json!({ "formats": ["markdown", format] })).await;
    reply.is_success()["data"]["changeTracking"].clone()
}

#[tokio::test]
async fn changes_are_told_from_the_last_time() {
    let house = House::open().await;
    let url = house.site.url("/changing");
    house.site.change(200, "The north light is out.");
    let first = tracked(house.http(), &url, None).await;
    assert_eq!((&first["changeStatus"], &first["previousScrapeAt"]), (&json!("new"), &Value::Null));
    assert_eq!(first["visibility"], "visible");
    let second = tracked(house.http(), &url, None).await;
    assert_eq!(second["changeStatus"], "same");
    assert!(second["previousScrapeAt"].as_str().unwrap().starts_with("20"), "{second}");
    assert!(second.get("diff").is_none(), "{second}");

    house.site.change(200, "The north light burns again.");
    let third = tracked(house.http(), &url, None).await;
    assert_eq!(third["changeStatus"], "changed");
    has(&third["diff"]["text"], &["-The north light is out.", "+The north light burns again."]);
    let changes = third["diff"]["json"]["files"][0]["chunks"][0]["changes"].as_array().unwrap();
    let kinds: Vec<_> = changes.iter().map(|change| change["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"add") && kinds.contains(&"del"), "{third}");

    house.site.change(404, "gone");
    let fourth = tracked(house.http(), &url, None).await;
    assert_eq!(fourth["changeStatus"], "removed");
    house.site.change(200, "The north light burns again.");
    let fifth = tracked(house.http(), &url, None).await;
    assert_eq!(fifth["changeStatus"], "same", "a page that is back is compared with what it was");
}

#[tokio::test]
async fn tags_and_teams_have_histories_of_their_own() {
    let house = House::open().await;
    let url = house.site.url("/changing");
    let stranger = house.stranger().await;
    house.site.change(200, "Buoy seven is adrift.");
    assert_eq!(tracked(house.http(), &url, None).await["changeStatus"], "new");
    assert_eq!(tracked(house.http(), &url, Some("weekly")).await["changeStatus"], "new");
    assert_eq!(tracked(&stranger, &url, None).await["changeStatus"], "new");
    house.site.change(200, "Buoy seven is back.");
    assert_eq!(tracked(house.http(), &url, Some("weekly")).await["changeStatus"], "changed");
    assert_eq!(tracked(&stranger, &url, None).await["changeStatus"], "changed");
    assert_eq!(tracked(house.http(), &url, None).await["changeStatus"], "changed");
    assert_eq!(tracked(house.http(), &url, Some("weekly")).await["changeStatus"], "same");
}

#[tokio::test]
async fn without_a_mode_only_the_fact_is_told() {
    let house = House::open().await;
    house.site.change(200, "one");
    let formats = json!({ "formats": ["markdown", "changeTracking"] });
    let before = house.document("/changing", formats.clone()).await;
    assert_eq!(before["changeTracking"]["changeStatus"], "new");
    house.site.change(200, "two");
    let after = house.document("/changing", formats).await;
    assert_eq!(after["changeTracking"]["changeStatus"], "changed");
    assert!(after["changeTracking"].get("diff").is_none(), "{after}");
}
