//! The server's own index as one provider among others.

use crate::server::{Scripted, Server, fetcher, five_seconds, question, settings};
use index::{Document, Image, IndexHit, Query};
use search::{Category, LocalSearch, SearchSettings, SourceKind, TimeRange};
use std::sync::{Arc, Mutex};

/// An index of a few pages that records its queries.
#[derive(Debug, Default)]
struct Pages {
    documents: Vec<Document>,
    asked: Mutex<Vec<Query>>,
}

#[async_trait::async_trait]
impl LocalSearch for Pages {
    async fn search(&self, query: Query) -> Result<index::IndexResults, String> {
        let fits = |document: &&Document| {
            (query.sites.is_empty() || query.sites.iter().any(|site| document.url.contains(site.as_str())))
                && (query.file_types.is_empty()
                    || query.file_types.iter().any(|kind| document.url.ends_with(kind.as_str())))
        };
        let hits = self.documents.iter().filter(fits).map(|document| IndexHit {
            document: document.clone(),
            seen_at: 0,
            score: 1.0,
            passages: if query.passages > 0 { vec!["what it scripted".into()] } else { Vec::new() },
        });
        let found = index::IndexResults {
            hits: hits.collect(),
            matched: None,
            searched: self.documents.len() as u64,
        };
        self.asked.lock().unwrap().push(query);
        Ok(found)
    }
}

fn document(url: &str) -> Document {
    Document {
        url: url.into(),
        title: url.into(),
        description: "its own words".into(),
        body: "body".into(),
        ..Document::default()
    }
}

fn pages(documents: Vec<Document>) -> Arc<Pages> {
    Arc::new(Pages { documents, ..Pages::default() })
}

fn shared(pages: &Arc<Pages>) -> Arc<dyn LocalSearch> {
    pages.clone()
}

fn provider_router(pages: &Arc<Pages>) -> search::ProviderRouter {
    SearchSettings::default().build_router(&fetcher(""), Some(&shared(pages)))
}

#[tokio::test]
async fn a_question_reaches_the_index_in_its_parts() {
    let pages = pages(vec![document("http://a.example/x")]);
    let mut asked =
        question("cats -dog \"big cats\" intitle:t inurl:u filetype:x site:a.example", SourceKind::Web);
    asked.time_range = TimeRange::parse("cdr:1,cd_min:1/1/2026,cd_max:2/1/2026,sbd:1").unwrap();
    asked.language = Some("de".into());
    asked.valued = vec![("a.example".into(), 0.5)];
    provider_router(&pages).search(&asked, five_seconds()).await;
    let query = &pages.asked.lock().unwrap()[0];
    assert_eq!((query.text.as_str(), query.collection.as_str()), ("cats", "web"));
    assert_eq!(
        (&query.phrases[0], &query.without[0], &query.in_title[0], &query.in_url[0]),
        (&"big cats".into(), &"dog".into(), &"t".into(), &"u".into())
    );
    assert_eq!(
        (&query.file_types[0], &query.sites[0], query.language.as_deref()),
        (&"x".into(), &"a.example".into(), Some("de"))
    );
    assert!(query.since.is_some() && query.until.is_some() && query.newest_first && !query.valued.is_empty());
}

#[tokio::test]
async fn descriptions_are_what_was_asked_for() {
    let pages = pages(vec![document("http://a.example/x")]);
    let mut asked = question("cats", SourceKind::Web);
    assert_eq!(provider_router(&pages).search(&asked, five_seconds()).await.hits[0].text, "what it scripted");
    asked.highlights = false;
    assert_eq!(provider_router(&pages).search(&asked, five_seconds()).await.hits[0].text, "its own words");
}

#[tokio::test]
async fn categories_are_asked_for_one_by_one() {
    let pages = pages(vec![
        document("https://github.com/a/b"),
        document("https://x.example/y.pdf"),
        document("https://x.example/z"),
    ]);
    let mut asked = question("cats", SourceKind::Web);
    asked.categories = vec![Category::Github, Category::Pdf];
    let found = provider_router(&pages).search(&asked, five_seconds()).await;
    let categories: Vec<_> = found.hits.iter().map(|hit| (hit.url.path(), hit.category)).collect();
    assert_eq!(categories, [("/a/b", Some("github")), ("/y.pdf", Some("pdf"))]);
}

#[tokio::test]
async fn news_have_dates_and_pictures_have_words() {
    let mut with_date = document("http://a.example/news");
    with_date.published = Some(1_794_744_000_000);
    let image = |name: &str, text: &str| Image {
        url: format!("http://a.example/{name}"),
        text: text.into(),
        width: Some(5),
        height: None,
    };
    with_date.images =
        vec![image("1.png", "a dog"), image("2.png", "a Cat"), image("3.png", ""), image("4.png", "cat")];
    let pages = pages(vec![document("http://a.example/undated"), with_date]);
    let news = provider_router(&pages).search(&question("cat", SourceKind::News), five_seconds()).await;
    assert_eq!((news.hits.len(), news.hits[0].date.as_deref()), (1, Some("2026-11-15")));
    let images = provider_router(&pages).search(&question("cat", SourceKind::Images), five_seconds()).await;
    let shown: Vec<_> =
        images.hits.iter().map(|hit| hit.image.as_ref().unwrap().url.rsplit('/').next().unwrap()).collect();
    assert_eq!(shown, ["2.png", "4.png", "1.png"], "those whose words fit come first, three of a page");
}

#[tokio::test]
async fn the_local_index_answers_when_no_web_provider_does() {
    let pages = pages(vec![document("http://a.example/x")]);
    let broken = Server::start(Scripted::Raw(500, "text/plain", Vec::new())).await;
    let both = settings(&[format!("brave={}", broken.base)])
        .build_router(&fetcher("search=127.0.0.0/8"), Some(&shared(&pages)));
    let found = both.search(&question("cats", SourceKind::Web), five_seconds()).await;
    assert_eq!((found.hits.len(), found.warnings()), (1, vec!["brave responded with status 500".to_owned()]));
    let mut elsewhere = question("cats", SourceKind::Web);
    elsewhere.sites = vec!["b.example".into()];
    let found = provider_router(&pages).search(&elsewhere, five_seconds()).await;
    assert_eq!(
        found.warnings(),
        ["the local index has 1 pages and none matches", "no web provider is configured (docs/search.md)"]
    );
}

/// An index that is still being opened.
#[derive(Debug)]
struct NotYet;

#[async_trait::async_trait]
impl LocalSearch for NotYet {
    async fn search(&self, _: Query) -> Result<index::IndexResults, String> {
        Err("it is being opened".into())
    }
}

#[tokio::test]
async fn the_local_index_is_never_paused() {
    let local: Arc<dyn LocalSearch> = Arc::new(NotYet);
    let provider_router = SearchSettings::default().build_router(&fetcher(""), Some(&local));
    for _ in 0..10 {
        let said =
            provider_router.search(&question("cats", SourceKind::Web), five_seconds()).await.warnings();
        assert_eq!(said[0], "local cannot answer: it is being opened");
    }
}

#[tokio::test]
async fn collections_of_the_operator_are_not_looked_for_on_the_web() {
    let pages = pages(vec![document("http://a.example/x")]);
    let web = Server::start(Scripted::Json(serde_json::json!({ "results": [] }))).await;
    let provider_router = settings(&[format!("searxng={}", web.base)])
        .build_router(&fetcher("search=127.0.0.0/8"), Some(&shared(&pages)));
    let mut asked = question("cats", SourceKind::Web);
    asked.collection = "developer";
    assert_eq!(provider_router.search(&asked, five_seconds()).await.hits.len(), 1);
    assert_eq!((web.asked().len(), pages.asked.lock().unwrap()[0].collection.as_str()), (0, "developer"));
}
