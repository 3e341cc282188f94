//! Invalid requests get a 400 that names the field, before anything is fetched.

use super::{ScrapeFixture, assert_failure, scrape_as};
use serde_json::{Value, json};

#[tokio::test]
async fn invalid_values_are_named_with_their_path() {
    let fixture = ScrapeFixture::open().await;
    let many: Vec<Value> = (0..51).map(|_| json!({ "type": "scrape" })).collect();
    for (options, path) in [
        (json!({ "timeout": 999 }), json!(["timeout"])),
        (json!({ "timeout": 300_001 }), json!(["timeout"])),
        (json!({ "waitFor": 60_001 }), json!(["waitFor"])),
        (json!({ "waitFor": 1000, "timeout": 2000 }), json!(["waitFor"])),
        (json!({ "maxAge": -1 }), json!(["maxAge"])),
        (json!({ "minAge": -1 }), json!(["minAge"])),
        (json!({ "formats": ["markdwon"] }), json!(["formats", 0, "type"])),
        (json!({ "formats": ["screenshot", "screenshot"] }), json!(["formats", 1, "type"])),
        (json!({ "formats": ["changeTracking"] }), json!(["formats"])),
        (json!({ "formats": ["rawBase64", "markdown"] }), json!(["formats"])),
        (json!({ "formats": [{ "type": "markdown", "fullPage": true }] }), json!(["formats", 0, "fullPage"])),
        (json!({ "formats": [{ "type": "screenshot", "quality": 0 }] }), json!(["formats", 0, "quality"])),
        (
            json!({ "formats": [{ "type": "screenshot", "viewport": { "width": 7681, "height": 1 } }] }),
            json!(["formats", 0, "viewport"]),
        ),
        (
            json!({ "formats": [{ "type": "attributes", "selectors": [] }] }),
            json!(["formats", 0, "selectors"]),
        ),
        (json!({ "formats": [{ "type": "highlights", "query": "" }] }), json!(["formats", 0, "query"])),
        (json!({ "includeTags": ["p", "a["] }), json!(["includeTags", 1])),
        (json!({ "excludeTags": [":::"] }), json!(["excludeTags", 0])),
        (json!({ "headers": { "bad name": "x" } }), json!(["headers"])),
        (json!({ "parsers": ["word"] }), json!(["parsers", 0, "type"])),
        (json!({ "parsers": [{ "type": "pdf", "maxPages": 0 }] }), json!(["parsers", 0, "maxPages"])),
        (json!({ "actions": many }), json!(["actions"])),
        (json!({ "actions": [{ "type": "dance" }] }), json!(["actions", 0, "type"])),
        (json!({ "actions": [{ "type": "wait" }] }), json!(["actions", 0, "milliseconds"])),
        (json!({ "actions": [{ "type": "wait", "milliseconds": 60_001 }] }), json!(["actions"])),
        (json!({ "actions": [{ "type": "click" }] }), json!(["actions", 0, "selector"])),
        (json!({ "actions": [{ "type": "press", "key": "a", "text": "b" }] }), json!(["actions", 0, "text"])),
        (
            json!({ "actions": [{ "type": "scroll", "direction": "left" }] }),
            json!(["actions", 0, "direction"]),
        ),
        (json!({ "actions": [{ "type": "pdf", "format": "A9" }] }), json!(["actions", 0, "format"])),
        (json!({ "actions": [{ "type": "pdf", "scale": 3.0 }] }), json!(["actions", 0, "scale"])),
        (json!({ "location": { "country": "XX" } }), json!(["location", "country"])),
        (json!({ "proxy": "magic" }), json!(["proxy"])),
        (json!({ "useMock": "x" }), json!(["useMock"])),
        (json!({ "toolDetail": "verbose" }), json!(["toolDetail"])),
        (json!({ "alexandria": {} }), json!(["alexandria"])),
        (json!({ "redactPII": { "entities": ["SHOESIZE"] } }), json!(["redactPII", "entities"])),
        (json!({ "redactPII": { "mode": "wild" } }), json!(["redactPII", "mode"])),
        (json!({ "redactPII": { "replaceStyle": "paint" } }), json!(["redactPII", "replaceStyle"])),
        (json!({ "threatProtection": { "mode": "zscaler" } }), json!(["threatProtection", "mode"])),
        (
            json!({ "threatProtection": { "riskScoreThreshold": 101 } }),
            json!(["threatProtection", "riskScoreThreshold"]),
        ),
        (json!({ "auditMetadata": { "username": "x".repeat(1025) } }), json!(["auditMetadata", "username"])),
        (json!({ "profile": { "name": "" } }), json!(["profile", "name"])),
        (json!({ "zeroDataRetention": true, "formats": ["screenshot"] }), json!(["formats"])),
        (json!({ "zeroDataRetention": true, "profile": { "name": "x" } }), json!(["profile"])),
        (json!({ "zeroDataRetention": true, "formats": ["markdown", "changeTracking"] }), json!(["formats"])),
        (json!({ "lockdown": true, "formats": ["screenshot"] }), json!(["formats"])),
        (json!({ "mobile": "yes" }), json!(["mobile"])),
        (json!({ "formats": "markdown" }), json!(["formats"])),
        (json!({ "formats": [7] }), json!(["formats", 0])),
    ] {
        let response = fixture.scrape("/article", options.clone()).await;
        let details = assert_failure(&response, 400, "BAD_REQUEST");
        assert_eq!(details[0]["path"], path, "{options}: {}", response.text);
        assert!(details[0]["message"].is_string() && details[0]["code"].is_string(), "{}", response.text);
    }
    assert_eq!(fixture.site.hits("/article"), 0, "nothing was requested");
    assert_eq!(fixture.credits_used().await, 0);
}

#[tokio::test]
async fn unknown_keys_are_refused_at_every_level() {
    let fixture = ScrapeFixture::open().await;
    for (options, path) in [
        (json!({ "onlyMainContnt": true }), json!(["onlyMainContnt"])),
        (
            json!({ "formats": [{ "type": "screenshot", "fullpage": true }] }),
            json!(["formats", 0, "fullpage"]),
        ),
        (json!({ "actions": [{ "type": "wait", "ms": 3 }] }), json!(["actions", 0, "ms"])),
        (json!({ "location": { "land": "DE" } }), json!(["location", "land"])),
        (json!({ "profile": { "name": "x", "save": true } }), json!(["profile", "save"])),
    ] {
        let response = fixture.scrape("/article", options).await;
        let text =
            "Unrecognized key in body -- please review the v2 API documentation for request body changes";
        let error = response.json["error"].as_str().unwrap_or_default();
        assert!(response.status == 400 && error.starts_with(text), "{}", response.text);
        assert_eq!(response.json["details"][0]["path"], path);
    }
    let misspelled = fixture.scrape("/article", json!({ "location": { "countr": "DE" } })).await;
    let error = misspelled.json["error"].as_str().unwrap();
    assert!(error.ends_with(": location.countr (did you mean country?)"), "{error}");
}

#[tokio::test]
async fn invalid_urls_are_refused() {
    let fixture = ScrapeFixture::open().await;
    for url in [
        "",
        " ",
        "file:///etc/passwd",
        "ftp://example.com/x",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://",
        "http://nodots/",
        "http://exa mple.com/",
        "mailto:a@b.example",
        "http://[::1",
        "http://127.0.0.1:99999/",
        "chrome://version",
    ] {
        let response = scrape_as(fixture.http(), url, json!({})).await;
        response.expect_error(400, "Invalid URL");
        assert_eq!(response.json["details"][0]["path"], json!(["url"]), "{url}");
    }
    let long = format!("http://127.0.0.1/{}", "x".repeat(9000));
    scrape_as(fixture.http(), &long, json!({})).await.expect_error(400, "Invalid URL");
    let response = fixture.http().post("/v2/scrape", &json!({ "formats": ["markdown"] })).await.unwrap();
    response.expect_error(400, "Invalid URL");
}

#[tokio::test]
async fn formats_that_need_a_model_or_a_media_site_say_so() {
    let fixture = ScrapeFixture::open().await;
    for format in [
        json!({ "type": "json", "prompt": "the title" }),
        json!("summary"),
        json!({ "type": "question", "question": "how deep?" }),
        json!({ "type": "query", "prompt": "how deep?" }),
        json!({ "type": "changeTracking", "modes": ["json"], "prompt": "the title" }),
    ] {
        let response = fixture.scrape("/article", json!({ "formats": ["markdown", format] })).await;
        assert_failure(&response, 400, "MODEL_NOT_CONFIGURED");
    }
    assert_failure(
        &fixture.scrape("/article", json!({ "onlyCleanContent": true })).await,
        400,
        "MODEL_NOT_CONFIGURED",
    );
    for (format, code) in
        [("audio", "SCRAPE_AUDIO_UNSUPPORTED_URL"), ("video", "SCRAPE_VIDEO_UNSUPPORTED_URL")]
    {
        assert_failure(&fixture.scrape("/article", json!({ "formats": [format] })).await, 400, code);
    }
    assert_eq!(fixture.site.hits("/article"), 0, "nothing was requested");
}
