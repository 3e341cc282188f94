//! Search results: groups, fields, and a reason wherever something is missing.

use super::{SearchFixture, search_as, urls};
use crate::server::start_plain;
use serde_json::{Value, json};

#[tokio::test]
async fn only_requested_groups_are_returned() {
    let fixture = SearchFixture::open().await;
    fixture.engine.set_response(vec![
        json!({ "url": "https://a.example/x?utm_source=y", "title": "One", "content": "first", "publishedDate": "2026-11-01", "img_src": "https://a.example/1.png", "resolution": "10x20" }),
        json!({ "url": "https://www.a.example/x/", "title": "The same page", "content": "again" }),
        json!({ "url": "https://b.example/", "title": "Two", "content": "second", "img_src": "https://b.example/2.png" }),
    ]);
    let found = fixture.search_ok("birds", json!({})).await;
    let hit = json!({ "url": "https://a.example/x?utm_source=y", "title": "One", "description": "first", "position": 1 });
    assert_eq!(found["data"]["web"][0], hit);
    assert_eq!(
        urls(&found["data"]["web"]),
        ["https://a.example/x?utm_source=y", "https://b.example/"],
        "each page once"
    );
    assert_eq!(found["data"]["web"][1]["position"], 2);
    assert_eq!(found["data"].as_object().unwrap().keys().collect::<Vec<_>>(), ["web"]);
    assert!(found["id"].as_str().is_some_and(|id| id.len() == 36) && found["warning"].is_null(), "{found}");
    assert_eq!(found["creditsUsed"], 2);

    let found = fixture.search_ok("birds", json!({ "explain": true })).await;
    let ranking = &found["data"]["web"][0]["ranking"];
    assert_eq!((&ranking["places"][0]["place"], &ranking["rating"]), (&json!(1), &json!(0.0)), "{found}");
    assert!(ranking["places"][0]["provider"].is_string(), "{found}");

    let sources = json!([{ "type": "news" }, "images", "alexandria"]);
    let found = fixture.search_ok("birds", json!({ "sources": sources, "limit": 1 })).await;
    assert_eq!(found["data"].as_object().unwrap().keys().collect::<Vec<_>>(), ["images", "news", "tools"]);
    let news = json!({ "title": "One", "url": "https://a.example/x?utm_source=y", "snippet": "first", "date": "2026-11-01", "imageUrl": "https://a.example/1.png", "position": 1 });
    assert_eq!(found["data"]["news"], json!([news]));
    let image = json!({ "title": "One", "imageUrl": "https://a.example/1.png", "imageWidth": 10, "imageHeight": 20, "url": "https://a.example/x?utm_source=y", "position": 1 });
    assert_eq!(found["data"]["images"], json!([image]));
    assert_eq!((&found["data"]["tools"], &found["creditsUsed"]), (&json!([]), &json!(2)));
}

#[tokio::test]
async fn every_field_works_together() {
    let fixture = SearchFixture::open().await;
    fixture.engine.set_results(&[
        "https://github.com/a/b".into(),
        "https://docs.example/x.pdf".into(),
        "https://docs.example/y".into(),
    ]);
    let found = fixture
        .search_ok(
            "birds \"of prey\" -owl",
            json!({
                "limit": 5, "sources": [{ "type": "web", "tbs": "qdr:w", "lang": "de", "country": "AT", "filter": "x" }, "news"],
                "categories": ["github", { "type": "pdf" }, "research"], "excludeDomains": ["spam.example"], "tbs": "qdr:d",
                "location": "Vienna", "country": "US", "safe": true, "timeout": 20_000, "ignoreInvalidURLs": true,
                "highlights": false, "enterprise": ["default"], "asyncScraping": false, "lang": "en", "filter": "0",
                "domainTools": true, "toolDetail": "compact", "threatProtection": { "blacklist": ["github.com"] },
                "scrapeOptions": { "onlyMainContent": true }, "integration": "test", "origin": "js-sdk@4.42.0",
                "zeroDataRetention": false,
            }),
        )
        .await;
    // The engine's snippets do not contain the phrase, so no web result passes: the response says so.
    assert!(found["warning"].as_str().unwrap().contains("found nothing that matches all filters"), "{found}");
    let requests = fixture.engine.requests();
    let web = requests.iter().find(|request| request["categories"] == "general").unwrap();
    assert!(web["q"].starts_with("birds \"of prey\" -owl ("), "{}", web["q"]);
    assert!(web["q"].contains("site:github.com") && web["q"].ends_with("-site:spam.example"), "{}", web["q"]);
    assert_eq!(
        (web["language"].as_str(), web["time_range"].as_str(), web["safesearch"].as_str()),
        ("de-AT", "week", "2")
    );
    let news = requests.iter().find(|request| request["categories"] == "news").unwrap();
    assert_eq!((news["language"].as_str(), news["time_range"].as_str()), ("en-US", "day"));

    let found = fixture.search_ok("birds", json!({ "categories": ["github", "pdf"] })).await;
    let marked: Vec<(&str, &Value)> = found["data"]["web"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| (hit["url"].as_str().unwrap(), &hit["category"]))
        .collect();
    assert_eq!(marked[0], ("https://github.com/a/b", &json!("github")));
    assert_eq!(marked[1], ("https://docs.example/x.pdf", &json!("pdf")));
    let only = fixture.search_ok("birds", json!({ "includeDomains": ["docs.example"] })).await;
    assert_eq!(urls(&only["data"]["web"]), ["https://docs.example/x.pdf", "https://docs.example/y"]);
    let without =
        fixture.search_ok("birds -site:github.com", json!({ "excludeDomains": ["docs.example"] })).await;
    assert_eq!(urls(&without["data"]["web"]), Vec::<&str>::new());
    let safe = fixture
        .search_ok(
            "birds",
            json!({ "threatProtection": { "mode": "manual-only", "blacklist": ["docs.example"] } }),
        )
        .await;
    assert_eq!(urls(&safe["data"]["web"]), ["https://github.com/a/b"]);
    assert!(safe["warning"].as_str().unwrap().contains("threatProtection"), "{safe}");
}

#[tokio::test]
async fn an_empty_result_always_has_a_reason() {
    let (_dir, server) = start_plain().await;
    let response = server.http.post("/v2/search", &json!({ "query": "birds" })).await.unwrap();
    assert_eq!(response.expect_success()["data"]["web"], json!([]));
    let warning = response.json["warning"].as_str().unwrap();
    assert!(warning.contains("no web provider is configured"), "{warning}");
    assert!(warning.contains("local index"), "{warning}");
    assert_eq!(response.json["creditsUsed"], 0);

    let fixture = SearchFixture::open().await;
    let found = fixture.search_ok("birds", json!({})).await;
    assert!(found["warning"].as_str().unwrap().contains("searxng found nothing"), "{found}");
    fixture.engine.set_failing(500);
    let found = fixture.search_ok("birds", json!({ "sources": ["web", "images"] })).await;
    let warning = found["warning"].as_str().unwrap();
    assert!(
        warning.contains("web: searxng responded with status 500") && warning.contains("images: searxng"),
        "{warning}"
    );
    assert!(!warning.contains("127.0.0.1"), "the warning does not show where providers are: {warning}");
}

#[tokio::test]
async fn a_query_reaches_the_provider_unchanged_and_cannot_inject_parameters() {
    let fixture = SearchFixture::open().await;
    fixture.set_results(&["/article"]);
    for nasty in [
        "a&format=csv&categories=images",
        "a#b?c=d",
        "a\r\nX-Evil: 1",
        "%00%0d%0a",
        "\u{202e}\u{0}ü', \"x\"",
        "../../search?q=b",
    ] {
        let response = fixture.search(nasty, json!({ "tbs": "qdr:d" })).await;
        assert_eq!(response.status, 200, "{nasty:?}: {}", response.text);
        let request = fixture.engine.requests().pop().unwrap();
        assert_eq!(
            (request["format"].as_str(), request["categories"].as_str()),
            ("json", "general"),
            "{nasty:?}"
        );
        assert!(!request["q"].contains(['\r', '\n', '\0']), "{nasty:?}");
    }
}

#[tokio::test]
async fn scraped_pages_are_found_without_any_provider() {
    let (dir, server) = crate::scrape::shared(&[]).await;
    let site = crate::site::Site::start();
    crate::scrape::scrape_as(&server.http, &site.url("/article"), json!({})).await.expect_success();
    let end = std::time::Instant::now() + crate::index::MAX_INDEXING_DELAY;
    let found = loop {
        let response = search_as(&server.http, "gannets dive", json!({})).await;
        if !urls(&response.expect_success()["data"]["web"]).is_empty() {
            break response.json;
        }
        assert!(std::time::Instant::now() < end, "{}", response.text);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    assert_eq!(urls(&found["data"]["web"]), [site.url("/article")]);
    let other_team = crate::scrape::other_team(&dir, &server.http).await;
    let other = search_as(&other_team, "gannets dive", json!({})).await;
    assert_eq!(other.expect_success()["data"]["web"], json!([]), "what one team scraped is not for another");
}

#[tokio::test]
async fn the_catalogue_is_empty_in_the_right_shape() {
    let (_dir, server) = start_plain().await;
    let call = |calls: Value| {
        let http = server.http.clone();
        async move { http.post("/v2/scrape", &json!({ "alexandria": calls, "timeout": 30_000 })).await.unwrap() }
    };
    let response =
        call(json!({ "provider": "firecrawl", "capability": "find-tools", "options": { "level": "tools" } }))
            .await;
    let entry = &response.expect_success()["data"]["alexandria"][0];
    assert_eq!(entry["data"], json!({ "level": "tools", "items": [], "total": 0, "next": null }));
    assert_eq!((&response.json["data"]["creditsCost"], &entry["creditsCost"]), (&json!(0), &json!(0)));
    let response = call(json!([{ "provider": "acme", "capability": "x" }])).await;
    assert_eq!(response.expect_success()["data"]["alexandria"][0]["error"]["code"], "unknown_provider");
    assert_eq!(call(json!([])).await.status, 400);
    let with_url =
        json!({ "alexandria": { "provider": "a", "capability": "b" }, "url": "https://a.example" });
    assert_eq!(server.http.post("/v2/scrape", &with_url).await.unwrap().status, 400);
    let request =
        server.http.request(reqwest::Method::POST, "/v2/scrape").header("x-request-id", "not good!");
    let response = server
        .http
        .send(request.json(&json!({ "alexandria": { "provider": "a", "capability": "b" } })))
        .await
        .unwrap();
    assert_eq!(response.status, 400, "{}", response.text);
}

#[tokio::test]
async fn papers_are_among_the_results_of_research() {
    let (_dir, server) = crate::research::filled().await;
    let found = search_as(&server.http, "attention of neurons", json!({ "categories": ["research"] })).await;
    let hit = &found.expect_success()["data"]["web"][0];
    assert_eq!((&hit["category"], &hit["position"]), (&json!("research"), &json!(1)), "{hit}");
    assert!(hit["url"].as_str().unwrap().starts_with("https://doi.org/10.1/"), "{hit}");
    assert!(hit["description"].as_str().unwrap().contains("ttention"), "{hit}");
    let anything = search_as(&server.http, "attention of neurons", json!({})).await;
    assert_eq!(anything.expect_success()["data"]["web"], json!([]), "papers answer for research alone");
    let elsewhere = json!({ "categories": ["research"], "includeDomains": ["arxiv.org"] });
    assert_eq!(
        search_as(&server.http, "attention", elsewhere).await.expect_success()["data"]["web"],
        json!([])
    );
}
