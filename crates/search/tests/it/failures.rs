//! Every way a provider may fail: told in one sentence, in time, without a secret.

use crate::server::{
    BRAVE_KEY, SERPER_KEY, Says, Server, TAVILY_KEY, fetcher, one, question, settings, soon,
};
use search::{Kind, Outcome, Problem};
use serde_json::json;
use std::time::{Duration, Instant};

const WEB: [&str; 5] = ["searxng", "brave", "serper", "tavily", "wikipedia"];

fn raw(status: u16, mime: &'static str, body: &[u8]) -> Says {
    Says::Raw(status, mime, body.to_vec())
}

async fn problem(name: &str, says: Says) -> Problem {
    let server = Server::start(says).await;
    let began = Instant::now();
    let found = one(name, &server).ask(&question("cats", Kind::Web), soon()).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{name} took {:?}", began.elapsed());
    for said in found.sentences() {
        for secret in [BRAVE_KEY, SERPER_KEY, TAVILY_KEY, "127.0.0.1"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
    match found.reports.into_iter().next().unwrap().outcome {
        Outcome::Failed(problem) => problem,
        Outcome::Answered { hits, .. } => panic!("{name} answered with {hits} hits"),
    }
}

#[tokio::test]
async fn a_page_instead_of_an_answer() {
    for name in WEB {
        let page = raw(200, "text/html", b"<!doctype html><title>Please log in</title>");
        assert_eq!(problem(name, page).await, Problem::Nonsense("a page instead of JSON"), "{name}");
    }
}

#[tokio::test]
async fn nonsense_and_nothing() {
    for name in WEB {
        assert_eq!(
            problem(name, raw(200, "application/json", b"")).await,
            Problem::Nonsense("nothing"),
            "{name}"
        );
        assert_eq!(
            problem(name, raw(200, "application/json", b"{\"results\": [")).await,
            Problem::Nonsense("not JSON"),
            "{name}"
        );
        assert_eq!(
            problem(name, raw(200, "application/json", b"[1, 2]")).await,
            Problem::Nonsense("no JSON object"),
            "{name}"
        );
        assert_eq!(
            problem(name, raw(200, "application/json", b"null")).await,
            Problem::Nonsense("no JSON object"),
            "{name}"
        );
        assert_eq!(
            problem(name, Says::Json(json!({ "detail": "x" }))).await,
            Problem::Nonsense("no list of results"),
            "{name}"
        );
        let deep = format!("{{\"results\": {}", "[".repeat(200_000));
        assert!(
            matches!(
                problem(name, raw(200, "application/json", deep.as_bytes())).await,
                Problem::Nonsense(_)
            ),
            "{name}"
        );
    }
}

#[tokio::test]
async fn statuses() {
    for name in WEB {
        assert_eq!(problem(name, raw(500, "text/plain", b"oh no")).await, Problem::Status(500), "{name}");
        assert_eq!(
            problem(name, Says::Header(302, "location", "http://127.0.0.1:1/")).await,
            Problem::Status(302),
            "{name}"
        );
        let wait = Duration::from_secs(17);
        assert_eq!(
            problem(name, Says::Header(429, "retry-after", "17")).await,
            Problem::Limited(Some(wait)),
            "{name}"
        );
        assert_eq!(problem(name, raw(429, "text/plain", b"")).await, Problem::Limited(None), "{name}");
    }
    for name in ["brave", "serper", "tavily"] {
        assert_eq!(problem(name, raw(401, "application/json", b"{}")).await, Problem::Refused, "{name}");
    }
    assert!(problem("searxng", raw(403, "text/html", b"")).await.to_string().contains("JSON output is off"));
    assert_eq!(problem("tavily", raw(432, "application/json", b"{}")).await, Problem::Limited(None));
}

#[tokio::test]
async fn hanging_flooding_and_breaking() {
    for name in WEB {
        assert!(matches!(problem(name, Says::Hangs).await, Problem::Timeout(_)), "{name}");
        assert_eq!(problem(name, Says::Floods).await, Problem::TooLarge(4), "{name}");
        assert!(matches!(problem(name, Says::Breaks).await, Problem::Nonsense(_)), "{name}");
        let lie = Says::Header(200, "content-encoding", "gzip");
        assert!(matches!(problem(name, lie).await, Problem::Nonsense(_)), "{name}");
    }
}

#[tokio::test]
async fn nobody_there_and_nobody_allowed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("searxng=http://{}", listener.local_addr().unwrap());
    drop(listener);
    let desk = settings(std::slice::from_ref(&closed)).open(&fetcher("search=127.0.0.0/8"), None);
    let found = desk.ask(&question("cats", Kind::Web), soon()).await;
    assert_eq!(found.sentences(), ["searxng could not be reached"]);
    let desk = settings(&[closed]).open(&fetcher("scrape=127.0.0.0/8"), None);
    let found = desk.ask(&question("cats", Kind::Web), soon()).await;
    assert!(
        found.sentences()[0].contains("egress_allow"),
        "what is open for scraping is not open for search"
    );
}

#[tokio::test]
async fn another_encoding_costs_letters_and_not_the_answer() {
    let body =
        b"{\"results\": [{\"url\": \"https://a.example/\", \"title\": \"caf\xe9\", \"content\": \"x\"}]}";
    let server = Server::start(raw(200, "application/json; charset=iso-8859-1", body)).await;
    let found = one("searxng", &server).ask(&question("cats", Kind::Web), soon()).await;
    assert_eq!(found.hits[0].title, "caf\u{fffd}");
}

#[tokio::test]
async fn an_empty_page_of_a_metasearch_engine_names_the_engines() {
    let says =
        json!({ "results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"], 3] });
    let text = problem("searxng", Says::Json(says)).await.to_string();
    assert_eq!(text, "got nothing from its engines: google (CAPTCHA), bing (timeout)");
}
