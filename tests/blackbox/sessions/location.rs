//! What pages of sessions claim: the language and time zone of a location, and the device of the scrape they begin with.

use super::commands::command;
use super::{begin, end};
use crate::scrape::ScrapeFixture;
use serde_json::{Value, json};

const CLAIMS: &str = "eval \"[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, /Mobile/.test(navigator.userAgent) ? 'phone' : 'desktop'].join(' ')\"";

#[tokio::test]
async fn pages_of_a_session_are_where_its_location_says() {
    let fixture = ScrapeFixture::open().await;
    let session = begin(&fixture, json!({ "location": { "country": "DE" } })).await;
    for line in
        [format!("open {}", fixture.site.url("/echo")), format!("tab new {}", fixture.site.url("/echo"))]
    {
        command(&fixture, &session, &line).await;
        let claims = command(&fixture, &session, CLAIMS).await;
        assert!(claims.contains("de-DE Europe/Berlin desktop"), "{claims}");
    }
    let asked = fixture.site.requests("/echo");
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|request| request.header("accept-language").starts_with("de-DE")));
    end(&fixture, &session).await;
}

#[tokio::test]
async fn a_scrape_is_opened_again_as_it_was_asked_for() {
    let fixture = ScrapeFixture::open().await;
    let interact = async |options: Value| {
        let scraped = fixture.scrape_document("/article", options).await;
        let path = format!("/v2/scrape/{}/interact", scraped["metadata"]["scrapeId"].as_str().unwrap());
        let claims = fixture.http().post(&path, &json!({ "language": "bash", "code": CLAIMS })).await;
        // Where the scrape was refused there is nothing to end.
        fixture.http().delete(&path).await.unwrap();
        claims.unwrap()
    };
    let phone = interact(json!({ "mobile": true, "location": { "country": "JP" } })).await;
    assert!(phone.text.contains("ja-JP Asia/Tokyo phone"), "{}", phone.text);
    let plain = interact(json!({})).await;
    assert!(plain.text.contains("en-US") && plain.text.contains(" desktop"), "{}", plain.text);
    let refused = interact(json!({ "headers": { "X-Token": "t0ps3cret" } })).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("headers"), "{}", refused.text);
}

#[tokio::test]
async fn what_was_typed_is_typed_again_for_the_same_key_only() {
    let fixture = ScrapeFixture::open().await;
    let created = json!({ "name": "colleague", "scopes": ["interact"] });
    let created = fixture.http().post("/admin/keys", &created).await.unwrap();
    let colleague = fixture.http().with_key(created.json["key"].as_str());
    for (http, typed) in [(&colleague, ""), (fixture.http(), "s3cret")] {
        let actions =
            json!([{ "type": "click", "selector": "#name" }, { "type": "write", "text": "s3cret" }]);
        let scraped = fixture.scrape_document("/form", json!({ "actions": actions })).await;
        let path = format!("/v2/scrape/{}/interact", scraped["metadata"]["scrapeId"].as_str().unwrap());
        let value = json!({ "language": "bash", "code": "eval \"'<' + document.querySelector('#name').value + '>'\"" });
        let read = http.post(&path, &value).await.unwrap();
        http.delete(&path).await.unwrap();
        assert_eq!(read.status, 200, "{}", read.text);
        assert!(read.json["result"].as_str().unwrap().contains(&format!("<{typed}>")), "{}", read.text);
    }
}
