//! Invalid search requests, and the field each error names.

use super::SearchFixture;
use crate::server::start_plain;
use serde_json::json;

#[tokio::test]
async fn invalid_values_of_a_search_are_named_with_their_path() {
    let fixture = SearchFixture::open().await;
    for (body, path) in [
        (json!({}), json!(["query"])),
        (json!({ "query": "" }), json!(["query"])),
        (json!({ "query": "x".repeat(501) }), json!(["query"])),
        (json!({ "query": 5 }), json!(["query"])),
        (json!({ "query": "x", "limit": 0 }), json!(["limit"])),
        (json!({ "query": "x", "limit": 101 }), json!(["limit"])),
        (json!({ "query": "x", "timeout": 999 }), json!(["timeout"])),
        (json!({ "query": "x", "timeout": 300_001 }), json!(["timeout"])),
        (json!({ "query": "x", "sources": ["videos"] }), json!(["sources", 0])),
        (json!({ "query": "x", "sources": [{ "type": "web", "tbs": "x" }] }), json!(["sources", 0, "tbs"])),
        (json!({ "query": "x", "categories": ["news"] }), json!(["categories", 0])),
        (json!({ "query": "x", "categories": ["developer", "github"] }), json!(["categories"])),
        (json!({ "query": "x", "includeDomains": ["a b"] }), json!(["includeDomains", 0])),
        (json!({ "query": "x", "includeDomains": vec!["a.example"; 101] }), json!(["includeDomains"])),
        (json!({ "query": "x", "tbs": "qdr:q" }), json!(["tbs"])),
        (json!({ "query": "x", "asyncScraping": true }), json!(["asyncScraping"])),
        (json!({ "query": "x", "enterprise": ["free"] }), json!(["enterprise"])),
        (
            json!({ "query": "x", "scrapeOptions": { "formats": ["markdwn"] } }),
            json!(["scrapeOptions", "formats", 0, "type"]),
        ),
        (
            json!({ "query": "x", "scrapeOptions": { "formats": ["markdown"], "timeout": 1 } }),
            json!(["scrapeOptions", "timeout"]),
        ),
    ] {
        let response = fixture.http().post("/v2/search", &body).await.unwrap();
        assert_eq!(
            (response.status, &response.json["details"][0]["path"]),
            (400, &path),
            "{body}: {}",
            response.text
        );
    }
    let both = json!({ "query": "x", "includeDomains": ["a.example"], "excludeDomains": ["b.example"] });
    let response = fixture.http().post("/v2/search", &both).await.unwrap();
    response.expect_error(400, "includeDomains and excludeDomains cannot both be specified");
    let unknown = fixture.search("x", json!({ "num": 3 })).await;
    assert!(unknown.json["error"].as_str().unwrap().starts_with("Unrecognized key"), "{}", unknown.text);
    assert!(fixture.engine.requests().is_empty(), "an invalid request reaches no provider");
    let limited = fixture.search_ok("x", json!({ "limit": 100, "sources": [] })).await;
    assert_eq!(limited["data"]["web"], json!([]), "no sources are the default");
}

#[tokio::test]
async fn search_needs_the_scope() {
    let (_dir, server) = start_plain().await;
    let made = server.http.post("/admin/keys", &json!({ "name": "other", "scopes": ["map"] })).await.unwrap();
    let key = made.json["key"].as_str().or(made.json["secret"].as_str()).unwrap_or_default().to_owned();
    assert!(!key.is_empty(), "{}", made.text);
    let response = super::search_as(&server.http.with_key(Some(&key)), "x", json!({})).await;
    response.expect_error(403, "Forbidden");
    let nobody = super::search_as(&server.http.with_key(None), "x", json!({})).await;
    nobody.expect_error(401, crate::http::NO_KEY);
}
