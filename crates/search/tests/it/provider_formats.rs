//! Each API's own format: the request that is sent, and how the response is read. The responses are small
//! ones after each API's documentation, with some fields null, missing or of another type.

use crate::server::{
    BRAVE_KEY, SERPER_KEY, Scripted, Server, TAVILY_KEY, five_seconds, question, router_with,
};
use search::{Category, Question, SearchResults, SourceKind, TimeRange};
use serde_json::{Value, json};

async fn search_with(name: &str, server: &Server, question: &Question) -> SearchResults {
    let found = router_with(name, server).search(question, five_seconds()).await;
    assert!(!found.hits.is_empty(), "{name}: {:?}", found.warnings());
    found
}

fn urls(found: &SearchResults) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.url.as_str()).collect()
}

fn narrowed(query: &str, kind: SourceKind) -> Question {
    Question {
        sites: vec!["docs.example".into()],
        without_sites: vec!["old.docs.example".into()],
        time_range: TimeRange::parse("qdr:w").unwrap(),
        country: Some("DE".into()),
        language: Some("de".into()),
        safe: Some(true),
        ..question(query, kind)
    }
}

#[tokio::test]
async fn searxng() {
    let results = json!({ "query": "q", "number_of_results": 0, "unresponsive_engines": [["bing", "timeout"]], "results": [
        { "url": "https://docs.example/a", "title": "About cats", "content": "Cats &amp; more", "publishedDate": null, "engines": ["x"] },
        { "url": "https://elsewhere.example/", "title": "Other", "content": null },
        { "url": null, "title": "No address" }, { "title": 3 }, "nonsense",
        { "url": "https://docs.example/b", "title": null, "content": "the cats again" },
    ] });
    let server = Server::start(Scripted::Page(results, json!({ "results": [] }))).await;
    let found = search_with("searxng", &server, &narrowed("cats", SourceKind::Web)).await;
    assert_eq!(
        urls(&found),
        ["https://docs.example/a", "https://docs.example/b"],
        "results of other sites are left out"
    );
    assert_eq!((found.hits[0].title.as_str(), found.hits[0].text.as_str()), ("About cats", "Cats & more"));
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/search");
    for (name, value) in [
        ("q", "cats site:docs.example -site:old.docs.example"),
        ("format", "json"),
        ("categories", "general"),
        ("language", "de-DE"),
        ("time_range", "week"),
        ("safesearch", "2"),
        ("pageno", "1"),
    ] {
        assert_eq!(asked.query.get(name).map(String::as_str), Some(value), "{name}");
    }

    let news = json!({ "results": [{ "url": "https://n.example/1", "title": "News", "content": "c", "publishedDate": "2026-11-01T10:00:00", "thumbnail": "https://n.example/t.png" }] });
    let server = Server::start(Scripted::Json(news)).await;
    let found = search_with("searxng", &server, &question("cats", SourceKind::News)).await;
    assert_eq!(found.hits[0].date.as_deref(), Some("2026-11-01T10:00:00"));
    assert_eq!(found.hits[0].image.as_ref().unwrap().url, "https://n.example/t.png");
    assert_eq!(server.asked()[0].query["categories"], "news");

    let images = json!({ "results": [
        { "url": "https://i.example/p", "title": "Cat", "img_src": "//i.example/cat.jpg", "resolution": "800 x 600" },
        { "url": "https://i.example/q", "title": "No picture" },
    ] });
    let server = Server::start(Scripted::Json(images)).await;
    let found = search_with("searxng", &server, &question("cats", SourceKind::Images)).await;
    let image = found.hits[0].image.as_ref().unwrap();
    assert_eq!(
        (image.url.as_str(), image.width, image.height),
        ("https://i.example/cat.jpg", Some(800), Some(600))
    );
    assert_eq!(found.hits.len(), 1);
}

#[tokio::test]
async fn brave() {
    let results = json!({ "type": "search", "query": { "original": "cats", "more_results_available": true }, "web": { "type": "search", "results": [
        { "title": "Cats", "url": "https://docs.example/a", "description": "All about <strong>cats</strong>.", "age": "November 1, 2026", "page_age": "2026-11-12T00:00:00", "thumbnail": { "src": "https://t.example/1" } },
        { "title": "Dogs", "url": "https://other.example/", "description": 7 },
    ] }, "mixed": null });
    let server =
        Server::start(Scripted::Page(results, json!({ "query": {}, "web": { "results": [] } }))).await;
    let mut asked = narrowed("cats", SourceKind::Web);
    asked.limit = 30;
    asked.now = 1_794_744_000_000;
    let found = search_with("brave", &server, &asked).await;
    assert_eq!(urls(&found), ["https://docs.example/a"]);
    assert_eq!(found.hits[0].text, "All about cats.");
    let pages = server.asked();
    assert_eq!(pages.len(), 2, "two pages of twenty hold thirty");
    assert_eq!(pages[0].path, "/res/v1/web/search");
    assert_eq!(pages[0].headers["x-subscription-token"], BRAVE_KEY);
    for (name, value) in [
        ("q", "cats site:docs.example -site:old.docs.example"),
        ("count", "20"),
        ("offset", "0"),
        ("country", "DE"),
        ("search_lang", "de"),
        ("safesearch", "strict"),
        ("freshness", "2026-11-08to2026-11-15"),
        ("result_filter", "web"),
    ] {
        assert_eq!(pages[0].query.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!(pages[1].query["offset"], "1");

    let news = json!({ "type": "news", "results": [{ "title": "N", "url": "https://n.example/", "description": "d", "age": "2 hours ago", "thumbnail": { "src": "https://n.example/t.jpg" } }] });
    let server = Server::start(Scripted::Json(news)).await;
    let found = search_with("brave", &server, &question("cats", SourceKind::News)).await;
    assert_eq!(
        (found.hits[0].date.as_deref(), found.hits[0].published.is_some()),
        (Some("2 hours ago"), true)
    );
    assert_eq!(server.asked()[0].path, "/res/v1/news/search");

    let images = json!({ "type": "images", "results": [{ "title": "I", "url": "https://i.example/", "source": "i.example", "thumbnail": { "src": "https://t.example/x" }, "properties": { "url": "https://i.example/x.png", "width": 640, "height": "480" } }] });
    let server = Server::start(Scripted::Json(images)).await;
    let found = search_with("brave", &server, &question("cats", SourceKind::Images)).await;
    let image = found.hits[0].image.as_ref().unwrap();
    assert_eq!(
        (image.url.as_str(), image.width, image.height),
        ("https://i.example/x.png", Some(640), Some(480))
    );
}

#[tokio::test]
async fn serper() {
    let results = json!({ "searchParameters": { "q": "cats" }, "knowledgeGraph": {}, "organic": [
        { "title": "Cats", "link": "https://docs.example/a", "snippet": "All of them", "position": 1, "date": "Nov 14, 2026" },
        { "title": "Elsewhere", "link": "https://old.docs.example/", "snippet": null, "position": 2 },
        { "position": 3 },
    ], "credits": 1 });
    let server = Server::start(Scripted::Json(results)).await;
    let mut asked = narrowed("cats OR \"big cats\"", SourceKind::Web);
    asked.location = Some("Berlin".into());
    asked.categories = vec![Category::Pdf];
    let found = search_with("serper", &server, &asked).await;
    assert_eq!(urls(&found), ["https://docs.example/a"]);
    assert_eq!(found.hits[0].category, Some("pdf"), "Google knows the kind of a file whatever its address");
    assert!(found.warnings().iter().any(|said| said == "serper does not support safe"));
    let request = &server.asked()[0];
    assert_eq!(
        (request.path.as_str(), request.headers["x-api-key"].to_str().unwrap()),
        ("/search", SERPER_KEY)
    );
    assert_eq!(
        request.body,
        json!({ "q": "cats OR \"big cats\" site:docs.example filetype:pdf -site:old.docs.example", "num": 10,
                "gl": "de", "hl": "de", "location": "Berlin", "tbs": "qdr:w" })
    );

    for (kind, path, body) in [
        (
            SourceKind::News,
            "/news",
            json!({ "news": [{ "title": "N", "link": "https://n.example/", "snippet": "s", "date": "1 day ago", "source": "N", "imageUrl": "https://n.example/i.jpg" }] }),
        ),
        (
            SourceKind::Images,
            "/images",
            json!({ "images": [{ "title": "I", "imageUrl": "https://i.example/i.jpg", "imageWidth": 10, "imageHeight": 20, "link": "https://i.example/", "position": 1 }, { "link": "https://x.example/" }] }),
        ),
    ] {
        let server = Server::start(Scripted::Json(body)).await;
        let found = search_with("serper", &server, &question("cats", kind)).await;
        assert_eq!((found.hits.len(), server.asked()[0].path.as_str()), (1, path));
        assert!(found.hits[0].image.is_some());
    }
}

#[tokio::test]
async fn tavily() {
    let results = json!({ "query": "cats", "answer": null, "images": [], "results": [
        { "title": "Cats", "url": "https://docs.example/a", "content": "cats and big cats", "score": 0.9, "raw_content": null },
        { "title": "Dogs", "url": "https://docs.example/b", "content": "a dog among big cats", "score": 0.8 },
        { "title": "None", "url": "https://docs.example/c", "content": "only cats", "score": 0.7 },
    ], "response_time": 1.2 });
    let server = Server::start(Scripted::Json(results)).await;
    let found =
        search_with("tavily", &server, &narrowed("cats -dog \"big cats\" -site:x.example", SourceKind::Web))
            .await;
    assert_eq!(urls(&found), ["https://docs.example/a"], "unsupported filters are applied to its results");
    let request = &server.asked()[0];
    assert_eq!(request.path, "/search");
    assert_eq!(request.headers["authorization"], format!("Bearer {TAVILY_KEY}"));
    assert_eq!(
        request.body,
        json!({ "query": "cats big cats", "topic": "general", "search_depth": "basic", "max_results": 20,
                "include_images": false, "include_image_descriptions": false, "include_domains": ["docs.example"],
                "exclude_domains": ["old.docs.example", "x.example"], "time_range": "week" })
    );

    let body = json!({ "results": [], "images": ["https://i.example/a.png", { "url": "https://i.example/b.png", "description": "a cat" }, 3] });
    let server = Server::start(Scripted::Json(body)).await;
    let found = search_with("tavily", &server, &question("cats", SourceKind::Images)).await;
    assert_eq!((found.hits.len(), found.hits[1].title.as_str()), (2, "a cat"));

    let body = json!({ "results": [{ "title": "N", "url": "https://n.example/", "content": "c", "published_date": "Sun, 15 Nov 2026 08:00:00 GMT" }] });
    let server = Server::start(Scripted::Json(body)).await;
    let found = search_with("tavily", &server, &question("cats", SourceKind::News)).await;
    assert!(found.hits[0].published.is_some());
    assert_eq!(server.asked()[0].body["topic"], "news");
}

#[tokio::test]
async fn wikipedia() {
    let results = json!({ "batchcomplete": true, "query": { "searchinfo": { "totalhits": 2 }, "search": [
        { "ns": 0, "title": "Cat (animal)", "pageid": 6678, "snippet": "The <span class=\"searchmatch\">cat</span> &quot;Felis&quot;", "timestamp": "2026-11-01T00:00:00Z" },
        { "ns": 0, "title": "AC/DC", "pageid": 1, "snippet": null },
    ] } });
    let server = Server::start(Scripted::Json(results)).await;
    let found =
        search_with("wikipedia", &server, &question("cat -dog \"house cat\" intitle:cat", SourceKind::Web))
            .await;
    assert_eq!(
        urls(&found),
        [format!("{}/wiki/Cat_(animal)", server.base), format!("{}/wiki/AC%2FDC", server.base)]
    );
    assert_eq!(found.hits[0].text, "The cat \"Felis\"");
    let request = &server.asked()[0];
    assert_eq!(request.path, "/w/api.php");
    assert_eq!(request.query["srsearch"], "cat \"house cat\" -\"dog\" intitle:\"cat\"");
    assert!(request.headers["user-agent"].to_str().unwrap().starts_with("Gannet/"), "it scripted who it is");
    let found =
        router_with("wikipedia", &server).search(&question("cat", SourceKind::Images), five_seconds()).await;
    assert!(found.hits.is_empty() && server.asked().len() == 1, "it has no images and is not asked");
}

#[tokio::test]
async fn no_query_escapes_its_parameter() {
    let nasty =
        "x&format=csv&q=y#frag \"q\": \"z\", \"num\": 99} \r\nX-Api-ApiKey: stolen ../../admin?a=b%00";
    let empty: [(&str, Value); 5] = [
        ("searxng", json!({ "results": [] })),
        ("brave", json!({ "query": {} })),
        ("serper", json!({ "searchParameters": {} })),
        ("tavily", json!({ "results": [] })),
        ("wikipedia", json!({ "query": { "search": [] } })),
    ];
    for (name, scripted) in empty {
        let server = Server::start(Scripted::Json(scripted)).await;
        let mut asked = question(nasty, SourceKind::Web);
        asked.location = Some("Berlin&x=y".into());
        let found = router_with(name, &server).search(&asked, five_seconds()).await;
        assert!(found.hits.is_empty());
        let request = &server.asked()[0];
        let sent = ["q", "srsearch"].iter().find_map(|field| request.query.get(*field).cloned());
        let sent = sent
            .or_else(|| request.body["q"].as_str().or(request.body["query"].as_str()).map(str::to_owned))
            .unwrap();
        assert!(sent.contains("x&format=csv&q=y#frag") && !sent.contains('\n'), "{name}: {sent}");
        assert!(
            matches!(request.path.as_str(), "/search" | "/res/v1/web/search" | "/w/api.php"),
            "{name}: {}",
            request.path
        );
        assert_ne!(request.query.get("format").map(String::as_str), Some("csv"), "{name}");
        assert!(request.headers.get("x-api-key").is_none_or(|key| key == SERPER_KEY), "{name}");
        assert!(request.body.get("num").is_none_or(|num| num == 10), "{name}");
    }
}
