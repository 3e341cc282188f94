//! Every format that plain HTTP can give.

use super::{ScrapeFixture, assert_contains, assert_lacks};
use crate::site::{ARTICLE, PDF};
use serde_json::{Value, json};

#[tokio::test]
async fn several_formats_cost_one_fetch() {
    let fixture = ScrapeFixture::open().await;
    let formats = json!([
        "markdown", "html", "rawHtml", "links", "images", "product", "menu",
        { "type": "attributes", "selectors": [{ "selector": "article img", "attribute": "alt" }] },
        { "type": "highlights", "query": "what depth do they reach?" },
    ]);
    let page = fixture.scrape_document("/article", json!({ "formats": formats })).await;
    assert_eq!(fixture.site.hits("/article"), 1);
    let base = &fixture.site.base;
    assert_contains(
        &page["markdown"],
        &[
            "# How gannets dive",
            "firstword",
            "lastword",
            "| Cellword | 31 m | 12 m |",
            "```python\ndef speed(height):\n    # codeword: free fall without drag\n",
            &format!("[described here]({base}/birds/gannet?part=wings#fold)"),
            "> The bird is an arrow that has learnt to fish.",
        ],
    );
    assert_lacks(&page["markdown"], &["navigationword", "sidebarword", "footerword", "base64,"]);
    assert_contains(
        &page["html"],
        &["<h1>How gannets dive</h1>", "<table", &format!("href=\"{base}/birds/gannet")],
    );
    assert_lacks(&page["html"], &["<script", "<head", "navigationword"]);
    assert_eq!(page["rawHtml"], ARTICLE);
    assert_links(&page["links"], base);
    let images: Vec<&str> =
        page["images"].as_array().unwrap().iter().map(|url| url.as_str().unwrap()).collect();
    assert!(images.contains(&format!("{base}/images/dive.jpg").as_str()), "{images:?}");
    assert!(images.contains(&format!("{base}/images/logo.png").as_str()), "{images:?}");
    assert_eq!(
        page["attributes"],
        json!([{ "selector": "article img", "attribute": "alt", "values": ["A gannet just above the water", "inlinedimage"] }])
    );
    assert_contains(&page["highlights"], &["Depth: 3 to 22 metres"]);
    assert_eq!(page["menu"]["isMenu"], false);
    assert!(page.get("product").is_none(), "an article is no product: {}", page["product"]);
    assert_contains(&page["warning"], &["no product"]);
    assert_metadata(&page["metadata"], base);
}

fn assert_links(links: &Value, base: &str) {
    let links: Vec<&str> = links.as_array().unwrap().iter().map(|url| url.as_str().unwrap()).collect();
    let expected = ["/birds", "/cliffs", "/people/mary", "/birds/gannet?part=wings#fold", "/puffins"];
    let places: Vec<_> =
        expected.iter().map(|path| links.iter().position(|link| *link == format!("{base}{path}"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{links:?}");
    assert!(links.contains(&"https://example.com/elsewhere"));
    assert!(!links.iter().any(|link| link.starts_with("javascript:")), "{links:?}");
    let mut once = links.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), links.len(), "each link once: {links:?}");
}

fn assert_metadata(metadata: &Value, base: &str) {
    let expected = json!({
        "title": "How gannets dive | The Seabird Journal",
        "description": "What happens between the air and the water when a gannet dives.",
        "language": "en",
        "ogTitle": "How gannets dive",
        "favicon": format!("{base}/favicon.png"),
        "sourceURL": format!("{base}/article"),
        "url": format!("{base}/article"),
        "statusCode": 200,
        "contentType": "text/html; charset=utf-8",
        "proxyUsed": "basic",
        "cacheState": "miss",
        "creditsUsed": 1,
        "engine": "http",
        "verdict": "content",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&metadata[name], value, "{name} in {metadata}");
    }
    assert!(uuid::Uuid::parse_str(metadata["scrapeId"].as_str().unwrap()).is_ok());
    let steps = metadata["ladder"].as_array().unwrap();
    assert_eq!(
        (steps.len(), &steps[0]["rung"], &steps[0]["outcome"]),
        (1, &json!("http"), &json!("content"))
    );
    assert!(steps[0]["ms"].is_u64(), "{metadata}");
}

#[tokio::test]
async fn only_requested_formats_are_returned() {
    let fixture = ScrapeFixture::open().await;
    for (formats, expected) in [
        (json!(["markdown"]), vec!["markdown"]),
        (json!(["links"]), vec!["links"]),
        (json!(["html", "images"]), vec!["html", "images"]),
        (json!([{ "type": "rawHtml" }]), vec!["rawHtml"]),
        (json!([{ "type": "highlights", "query": "gannets" }]), vec!["highlights"]),
        (json!([]), vec![]),
    ] {
        let page = fixture.scrape_document("/article", json!({ "formats": formats })).await;
        let mut keys: Vec<&str> = page.as_object().unwrap().keys().map(String::as_str).collect();
        keys.retain(|key| *key != "metadata");
        assert_eq!(keys, expected, "{formats}");
    }
    let page = fixture.scrape_document("/article", json!({})).await;
    assert_contains(&page["markdown"], &["firstword"]);
}

#[tokio::test]
async fn highlights_quote_the_page_exactly() {
    let fixture = ScrapeFixture::open().await;
    let formats =
        json!(["markdown", { "type": "highlights", "query": "how fast does the bird hit the water?" }]);
    let page = fixture.scrape_document("/article", json!({ "formats": formats })).await;
    assert_contains(&page["highlights"], &["a hundred kilometres an hour"]);
    let markdown = page["markdown"].as_str().unwrap();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let known = words(markdown);
    for word in words(page["highlights"].as_str().unwrap()) {
        assert!(known.contains(&word), "{word:?} is not in the page");
    }
    assert!(page["highlights"].as_str().unwrap().len() < markdown.len() / 2, "not a selection");
    let formats = json!([{ "type": "highlights", "query": "price of copper in Santiago" }]);
    let page = fixture.scrape_document("/article", json!({ "formats": formats })).await;
    assert_eq!(page["highlights"], "", "nothing fits");
}

#[tokio::test]
async fn products_and_menus_are_read_from_structured_data() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/product", json!({ "formats": ["product"] })).await;
    let product = &page["product"];
    assert_eq!((&product["title"], &product["brand"]), (&json!("Storm jacket"), &json!("Harbour")));
    assert_eq!(product["url"], fixture.site.url("/product"));
    let variant = &product["variants"][0];
    assert_eq!((&variant["price"]["amount"], &variant["price"]["currency"]), (&json!(149.5), &json!("EUR")));
    assert_eq!(variant["availability"]["inStock"], true);
    let page = fixture.scrape_document("/menu", json!({ "formats": ["menu"] })).await;
    let menu = &page["menu"];
    assert_eq!((&menu["isMenu"], &menu["merchant"]["name"]), (&json!(true), &json!("The Anchor")));
    assert_eq!((&menu["currency"], &menu["sourceUrl"]), (&json!("EUR"), &json!(fixture.site.url("/menu"))));
    let sections: Vec<&str> = menu["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["name"].as_str().unwrap())
        .collect();
    assert_eq!(sections, ["Soups", "Mains"]);
    let soup = &menu["sections"][0]["items"][0];
    assert_eq!((&soup["name"], &soup["price"]["amount"]), (&json!("Fish soup"), &json!(8.5)));
    for item in menu["sections"][1]["items"].as_array().unwrap() {
        assert!(item["id"].is_string() && item["availability"]["inStock"].is_boolean(), "{item}");
        assert!(item["sourceUrl"].is_string(), "{item}");
    }
}

#[tokio::test]
async fn json_and_plain_text_are_content() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/json", json!({ "formats": ["markdown", "rawHtml"] })).await;
    let parsed: Value = serde_json::from_str(page["rawHtml"].as_str().unwrap()).unwrap();
    assert_eq!(parsed, json!({ "harbour": "Wick", "berths": [1, 2, 3] }));
    assert_contains(&page["markdown"], &["```json", "\"harbour\""]);
    let page = fixture.scrape_document("/text", json!({})).await;
    assert_contains(&page["markdown"], &["# not a heading\n*stars* stay & <tags> stay"]);
}

#[tokio::test]
async fn encodings_follow_the_header_then_the_page() {
    let fixture = ScrapeFixture::open().await;
    for (path, title, text) in [
        ("/latin-1", "Café", "Die Küche öffnet um zwölf"),
        ("/shift-jis", "日本語", "日本語のページ"),
        ("/meta-charset", "Привет", "Привет, гавань"),
    ] {
        let page = fixture.scrape_document(path, json!({ "formats": ["markdown", "rawHtml"] })).await;
        assert_eq!(page["metadata"]["title"], title);
        assert_contains(&page["markdown"], &[text]);
        assert_contains(&page["rawHtml"], &[text]);
    }
}

#[tokio::test]
async fn files_are_returned_as_bytes_on_request() {
    let fixture = ScrapeFixture::open().await;
    let base64 = |value: &Value| {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.decode(value.as_str().unwrap()).unwrap()
    };
    let page = fixture.scrape_document("/pdf", json!({ "formats": ["rawBase64"] })).await;
    assert_eq!(base64(&page["rawBase64"]), PDF);
    assert_eq!(page["metadata"]["contentType"], "application/pdf");
    let page = fixture.scrape_document("/pdf", json!({ "parsers": [] })).await;
    assert_eq!(base64(&page["markdown"]), PDF);
    let page = fixture.scrape_document("/article", json!({ "formats": ["rawBase64"] })).await;
    assert_eq!(base64(&page["rawBase64"]), ARTICLE.as_bytes());
}

#[tokio::test]
async fn pages_with_an_error_status_are_returned_with_it() {
    let fixture = ScrapeFixture::open().await;
    for (path, status, word) in [("/missing", 404, "missingword"), ("/broken", 500, "brokenword")] {
        let page = fixture.scrape_document(path, json!({})).await;
        assert_eq!(page["metadata"]["statusCode"], status);
        assert_contains(&page["markdown"], &[word]);
    }
}
