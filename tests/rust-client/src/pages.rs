//! Single pages, files, the map of a site, and the catalogue of tools.

use crate::{World, get, refused};
use firecrawl::{
    Action, AlexandriaCall, Format, HighlightsFormat, LocationConfig, MapOptions, ParseFile, ParseFormat,
    ParseFormatKind, ParseOptions, ScrapeOptions, ScrollDirection, SitemapMode,
};
use serde_json::json;

pub async fn use_pages(world: &World) {
    scrapes(world).await;
    files(world).await;
    maps(world).await;
    tools(world).await;
}

async fn scrapes(world: &World) {
    let (client, article) = (&world.client, format!("{}/article", world.pages));
    let options = ScrapeOptions {
        formats: Some(vec![
            Format::Markdown,
            Format::Html,
            Format::RawHtml,
            Format::Links,
            Format::Images,
            Format::Highlights(HighlightsFormat { query: "how deep do gannets dive".to_owned() }),
        ]),
        location: Some(LocationConfig { country: Some("us-generic".to_owned()), languages: None }),
        timeout: Some(60_000),
        max_age: Some(0),
        ..ScrapeOptions::default()
    };
    let document = get!(client, scrape(&article, options));
    let metadata = document.metadata.expect("metadata");
    assert_eq!((metadata.status_code, metadata.source_url.as_deref()), (Some(200), Some(article.as_str())));
    assert!(metadata.scrape_id.is_some() && metadata.credits_used.is_some(), "{metadata:?}");
    let markdown = document.markdown.expect("markdown");
    assert!(markdown.to_lowercase().contains("gannet"), "{markdown}");
    assert!(document.html.is_some() && document.raw_html.is_some() && document.links.is_some());
    assert!(document.highlights.is_some_and(|text| !text.is_empty()));

    let options = ScrapeOptions {
        formats: Some(vec![Format::Markdown, Format::Screenshot]),
        actions: Some(vec![
            Action::Scroll { direction: ScrollDirection::Down, selector: None },
            Action::Screenshot { full_page: Some(true), quality: None, viewport: None },
            Action::Scrape,
        ]),
        ..ScrapeOptions::default()
    };
    let acted = get!(client, scrape(&article, options));
    assert!(acted.screenshot.is_some_and(|address| address.starts_with("http")), "no screenshot");
    let results = acted.actions.expect("results of actions");
    assert_eq!(results["screenshots"].as_array().map(Vec::len), Some(1), "{results:?}");
    assert_eq!(results["scrapes"].as_array().map(Vec::len), Some(1), "{results:?}");

    let schema =
        json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] });
    let data = get!(client, scrape_with_schema(&article, schema, None::<&str>));
    assert!(data["title"].as_str().is_some_and(|title| !title.is_empty()), "{data}");

    refused(crate::call!(world.stranger, scrape(&article, None)), "Unauthorized");
    refused(crate::call!(client, scrape("ftp://a.example/", None)), "unsupported protocol");
}

async fn files(world: &World) {
    let page = b"<!doctype html><title>Nests</title><main><h1>Nests</h1><p>Made of seaweed, high on a cliff.</p></main>";
    let file = ParseFile::from_bytes("nests.html", page.to_vec()).with_content_type("text/html");
    let options = ParseOptions {
        formats: Some(vec![ParseFormat::Markdown, ParseFormat::Links]),
        only_main_content: Some(true),
        ..ParseOptions::default()
    };
    let parsed = get!(world.client, parse(file, options));
    assert!(parsed.markdown.is_some_and(|text| text.contains("seaweed")));
    let formats = get!(world.client, get_parse_formats());
    let pdf = formats.iter().find(|format| format.format == "pdf").expect("PDF");
    assert_eq!(pdf.kind, ParseFormatKind::Document);
    let empty = ParseFile::from_bytes("broken.pdf", b"%PDF-1.7 nothing".to_vec());
    refused(crate::call!(world.client, parse(empty, None)), "Could not read the file");
}

async fn maps(world: &World) {
    let options = MapOptions {
        sitemap: Some(SitemapMode::Include),
        include_subdomains: Some(false),
        limit: Some(50),
        ..MapOptions::default()
    };
    let start = format!("{}/site/", world.site);
    let map = get!(world.client, map(&start, options.clone()));
    assert!(map.success && map.links.len() > 3, "{map:?}");
    let urls = get!(world.client, map_urls(&start, options));
    assert!(urls.iter().any(|url| url.ends_with("/site/one")), "{urls:?}");
}

async fn tools(world: &World) {
    let found = get!(world.client, find_tools(None));
    assert_eq!((found.items.len(), found.total), (0, 0), "{found:?}");
    let call = AlexandriaCall { provider: "acme".to_owned(), capability: "prices".to_owned(), options: None };
    let answer = get!(world.client, scrape_alexandria(vec![call], None));
    assert!(!answer.scrape_id.is_empty() && answer.alexandria[0].failed(), "{answer:?}");
}
