//! Every error of a provider is reported in one sentence, in time, and without secrets.

use crate::server::{
    BRAVE_KEY, SERPER_KEY, Scripted, Server, TAVILY_KEY, fetcher, five_seconds, question, router_with,
    settings,
};
use search::{ProviderError, ProviderOutcome, SourceKind};
use serde_json::json;
use std::time::{Duration, Instant};

const WEB_COLLECTION: [&str; 5] = ["searxng", "brave", "serper", "tavily", "wikipedia"];

fn raw(status: u16, mime: &'static str, body: &[u8]) -> Scripted {
    Scripted::Raw(status, mime, body.to_vec())
}

async fn error(name: &str, scripted: Scripted) -> ProviderError {
    let server = Server::start(scripted).await;
    let began = Instant::now();
    let found = router_with(name, &server).search(&question("cats", SourceKind::Web), five_seconds()).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{name} took {:?}", began.elapsed());
    for said in found.warnings() {
        for secret in [BRAVE_KEY, SERPER_KEY, TAVILY_KEY, "127.0.0.1"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
    match found.reports.into_iter().next().unwrap().outcome {
        ProviderOutcome::Failed(error) => error,
        ProviderOutcome::Answered { hits, .. } => panic!("{name} answered with {hits} hits"),
    }
}

#[tokio::test]
async fn an_html_page_instead_of_json() {
    for name in WEB_COLLECTION {
        let page = raw(200, "text/html", b"<!doctype html><title>Please log in</title>");
        assert_eq!(
            error(name, page).await,
            ProviderError::InvalidResponse("an HTML page instead of JSON"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn invalid_and_empty_responses() {
    for name in WEB_COLLECTION {
        assert_eq!(
            error(name, raw(200, "application/json", b"")).await,
            ProviderError::InvalidResponse("an empty body"),
            "{name}"
        );
        assert_eq!(
            error(name, raw(200, "application/json", b"{\"results\": [")).await,
            ProviderError::InvalidResponse("not JSON"),
            "{name}"
        );
        assert_eq!(
            error(name, raw(200, "application/json", b"[1, 2]")).await,
            ProviderError::InvalidResponse("no JSON object"),
            "{name}"
        );
        assert_eq!(
            error(name, raw(200, "application/json", b"null")).await,
            ProviderError::InvalidResponse("no JSON object"),
            "{name}"
        );
        assert_eq!(
            error(name, Scripted::Json(json!({ "detail": "x" }))).await,
            ProviderError::InvalidResponse("no list of results"),
            "{name}"
        );
        let deep = format!("{{\"results\": {}", "[".repeat(200_000));
        assert!(
            matches!(
                error(name, raw(200, "application/json", deep.as_bytes())).await,
                ProviderError::InvalidResponse(_)
            ),
            "{name}"
        );
    }
}

#[tokio::test]
async fn statuses() {
    for name in WEB_COLLECTION {
        assert_eq!(error(name, raw(500, "text/plain", b"oh no")).await, ProviderError::Status(500), "{name}");
        assert_eq!(
            error(name, Scripted::Header(302, "location", "http://127.0.0.1:1/")).await,
            ProviderError::Status(302),
            "{name}"
        );
        let wait = Duration::from_secs(17);
        assert_eq!(
            error(name, Scripted::Header(429, "retry-after", "17")).await,
            ProviderError::RateLimited(Some(wait)),
            "{name}"
        );
        assert_eq!(
            error(name, raw(429, "text/plain", b"")).await,
            ProviderError::RateLimited(None),
            "{name}"
        );
    }
    for name in ["brave", "serper", "tavily"] {
        assert_eq!(
            error(name, raw(401, "application/json", b"{}")).await,
            ProviderError::KeyRejected,
            "{name}"
        );
    }
    assert!(error("searxng", raw(403, "text/html", b"")).await.to_string().contains("JSON output is off"));
    assert_eq!(error("tavily", raw(432, "application/json", b"{}")).await, ProviderError::RateLimited(None));
}

#[tokio::test]
async fn hanging_flooding_and_breaking() {
    for name in WEB_COLLECTION {
        assert!(matches!(error(name, Scripted::Hangs).await, ProviderError::Timeout(_)), "{name}");
        assert_eq!(error(name, Scripted::Floods).await, ProviderError::TooLarge(4), "{name}");
        assert!(matches!(error(name, Scripted::Breaks).await, ProviderError::InvalidResponse(_)), "{name}");
        let lie = Scripted::Header(200, "content-encoding", "gzip");
        assert!(matches!(error(name, lie).await, ProviderError::InvalidResponse(_)), "{name}");
    }
}

#[tokio::test]
async fn unreachable_and_not_permitted() {
    // The port of a connection: nobody listens there, and nobody else can get it.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connection = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let closed = format!("searxng=http://{}", connection.local_addr().unwrap());
    let provider_router =
        settings(std::slice::from_ref(&closed)).build_router(&fetcher("search=127.0.0.0/8"), None);
    let found = provider_router.search(&question("cats", SourceKind::Web), five_seconds()).await;
    assert_eq!(found.warnings(), ["searxng could not be reached"]);
    let provider_router = settings(&[closed]).build_router(&fetcher("scrape=127.0.0.0/8"), None);
    let found = provider_router.search(&question("cats", SourceKind::Web), five_seconds()).await;
    assert!(
        found.warnings()[0].contains("egress_allow"),
        "permission for scraping is not permission for search"
    );
}

#[tokio::test]
async fn a_response_in_another_encoding_is_still_read() {
    let body =
        b"{\"results\": [{\"url\": \"https://a.example/\", \"title\": \"caf\xe9\", \"content\": \"x\"}]}";
    let server = Server::start(raw(200, "application/json; charset=iso-8859-1", body)).await;
    let found =
        router_with("searxng", &server).search(&question("cats", SourceKind::Web), five_seconds()).await;
    assert_eq!(found.hits[0].title, "caf\u{fffd}");
}

#[tokio::test]
async fn an_empty_page_of_a_metasearch_engine_names_the_engines() {
    let scripted =
        json!({ "results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"], 3] });
    let text = error("searxng", Scripted::Json(scripted)).await.to_string();
    assert_eq!(text, "got nothing from its engines: google (CAPTCHA), bing (timeout)");
}
