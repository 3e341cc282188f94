//! Search in what the server has: pages, developer sources, papers.

use crate::{World, eventually, get, refused};
use firecrawl::{
    DeveloperSearchOptions, ReadPaperOptions, RelatedPapersOptions, SearchGitHubOptions, SearchOptions,
    SearchPapersOptions, SearchResultOrDocument, SearchSource,
};

const SEED: &str = "doi:10.7554/elife.26957";

pub async fn use_searches(world: &World) {
    let client = &world.client;
    let hits = eventually(async || {
        let found = get!(client, search("gannets dive", None));
        found.data.web.filter(|hits| !hits.is_empty())
    })
    .await;
    assert!(
        matches!(&hits[0], SearchResultOrDocument::WebResult(hit) if hit.url.ends_with("/article")),
        "{hits:?}"
    );
    let options = SearchOptions {
        limit: Some(3),
        sources: Some(vec![
            SearchSource::Web,
            SearchSource::News,
            SearchSource::Images,
            SearchSource::Alexandria,
        ]),
        domain_tools: Some(true),
        include_domains: Some(vec!["127.0.0.1".to_owned()]),
        country: Some("GB".to_owned()),
        ..SearchOptions::default()
    };
    let every = get!(client, search("gannets dive", options)).data;
    assert!(every.web.is_some() && every.news.is_some() && every.images.is_some(), "{every:?}");
    // It sends options without a format, by which nothing is scraped, and keeps what was scraped.
    let documents = get!(client, search_and_scrape("gannets dive", 1));
    assert!(documents.is_empty(), "{documents:?}");
    refused(crate::call!(client, search("x".repeat(501), None)), "query");

    let options = DeveloperSearchOptions {
        k: Some(5),
        repos: Some(vec!["sea/birds".to_owned()]),
        types: Some(vec!["issue".to_owned()]),
        ..DeveloperSearchOptions::default()
    };
    let found = eventually(async || {
        let found = get!(client, developer_search("plunge", options.clone()));
        (!found.results.is_empty()).then_some(found)
    })
    .await;
    assert_eq!(found.results[0].id, "issue:sea/birds#7", "{found:?}");
    let found = get!(client, search_github("plunge", SearchGitHubOptions { k: Some(3) }));
    assert!(found.success && !found.results.is_empty(), "{found:?}");
    papers(world).await;
}

async fn papers(world: &World) {
    let client = &world.client;
    let options = SearchPapersOptions { k: Some(5), ..SearchPapersOptions::default() };
    let found = get!(client, search_papers("cell size control", options));
    assert_eq!(found.results.len(), 5, "{found:?}");
    let paper = get!(client, inspect_paper(SEED)).paper;
    assert!(paper.title.is_some_and(|title| title.contains("Cell size sensing")));
    let read = get!(client, read_paper(SEED, "growth rate", ReadPaperOptions { k: Some(2) }));
    let passages = read.passages.expect("passages");
    assert!(passages[0].text.as_ref().is_some_and(|text| !text.is_empty()), "{passages:?}");
    let options = RelatedPapersOptions { k: Some(7), ..RelatedPapersOptions::default() };
    let related = get!(client, related_papers(SEED, "how cells sense their own size", options));
    assert_eq!(related.results.len(), 7, "{related:?}");
    refused(crate::call!(client, inspect_paper("doi:10.1/none")), "Not Found");
}
