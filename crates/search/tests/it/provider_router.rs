//! Several providers: which are asked, and what the caller sees when some of them are down.

use crate::server::{Scripted, Server, fetcher, five_seconds, provider_router, question, settings};
use search::{ProviderMode, SearchSettings, SourceKind, parse_quota};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn list(urls: &[&str]) -> Value {
    let results: Vec<Value> =
        urls.iter().map(|url| json!({ "url": url, "title": url, "content": "about cats" })).collect();
    json!({ "results": results, "query": {} })
}

fn down() -> Scripted {
    Scripted::Raw(500, "text/plain", Vec::new())
}

/// What the caller sees for every combination of providers that are down. Prints the table of the
/// documentation.
#[tokio::test]
async fn providers_that_are_down_are_reported() {
    let names = ["searxng", "tavily", "wikipedia"];
    let good = [
        Scripted::Json(list(&["http://s.example/"])),
        Scripted::Json(list(&["http://t.example/"])),
        Scripted::Json(json!({ "query": { "search": [{ "title": "W", "snippet": "cats" }] } })),
    ];
    println!(
        "| searxng | tavily | wikipedia | fallback: results of | parallel: results of | warning |\n| --- | --- | --- | --- | --- | --- |"
    );
    for broken in 0..8_u32 {
        let is_down = |at: usize| broken & (1 << at) != 0;
        let mut listed = Vec::new();
        for (at, (name, good)) in names.iter().zip(&good).enumerate() {
            let server = Server::start(if is_down(at) { down() } else { good.clone() }).await;
            listed.push(format!("{name}={}", server.base));
        }
        let up: Vec<&str> = (0..3).filter(|at| !is_down(*at)).map(|at| names[at]).collect();
        let fallback = provider_router(&listed, ProviderMode::Fallback)
            .search(&question("cats", SourceKind::Web), five_seconds())
            .await;
        let parallel = provider_router(&listed, ProviderMode::Parallel)
            .search(&question("cats", SourceKind::Web), five_seconds())
            .await;
        assert_eq!(fallback.hits.len(), up.len().min(1), "the first that is up answers");
        assert_eq!(parallel.hits.len(), up.len(), "every provider that is up answers");
        let said = parallel.warnings();
        for (at, name) in names.iter().enumerate() {
            assert_eq!(
                said.iter().any(|said| said == &format!("{name} responded with status 500")),
                is_down(at),
                "{said:?}"
            );
        }
        assert_eq!(said.len(), 3 - up.len());
        let mark = |at| if is_down(at) { "down" } else { "up" };
        let first = up.first().copied().unwrap_or("nobody");
        println!(
            "| {} | {} | {} | {first} | {} | {} |",
            mark(0),
            mark(1),
            mark(2),
            up.join(", "),
            said.join("; ")
        );
    }
}

#[tokio::test]
async fn a_provider_that_hangs_costs_its_share_of_the_time_and_no_more() {
    let hangs = Server::start(Scripted::Hangs).await;
    let good = Server::start(Scripted::Json(list(&["http://t.example/"]))).await;
    let listed = [format!("searxng={}", hangs.base), format!("tavily={}", good.base)];
    for mode in [ProviderMode::Fallback, ProviderMode::Parallel] {
        let began = Instant::now();
        let found =
            provider_router(&listed, mode).search(&question("cats", SourceKind::Web), five_seconds()).await;
        assert_eq!(found.hits.len(), 1);
        assert!(began.elapsed() < Duration::from_millis(1500), "{mode:?}: {:?}", began.elapsed());
        assert!(found.warnings()[0].starts_with("searxng did not respond within"), "{:?}", found.warnings());
    }
    let short = net::Deadline::after(Duration::from_millis(200));
    let found = provider_router(&listed[..1], ProviderMode::Fallback)
        .search(&question("cats", SourceKind::Web), short)
        .await;
    assert!(found.ran_out_of_time());
}

#[tokio::test]
async fn a_provider_that_keeps_failing_is_paused() {
    let broken = Server::start(down()).await;
    let provider_router = provider_router(&[format!("searxng={}", broken.base)], ProviderMode::Fallback);
    for _ in 0..6 {
        assert!(
            provider_router.search(&question("cats", SourceKind::Web), five_seconds()).await.hits.is_empty()
        );
    }
    assert_eq!(broken.asked().len(), 3, "after three errors it is paused");
    let said = provider_router.search(&question("cats", SourceKind::Web), five_seconds()).await.warnings();
    assert!(said[0].starts_with("searxng is paused for"), "{said:?}");
    assert!(said[0].ends_with("responded with status 500"), "{said:?}");
    let status = &provider_router.statuses()[0];
    assert_eq!((status.state, status.asked, status.failed), ("resting", 3, 3));
}

#[tokio::test]
async fn a_provider_that_asks_to_wait_is_not_asked_again() {
    let busy = Server::start(Scripted::Header(429, "retry-after", "60")).await;
    let good = Server::start(Scripted::Json(list(&["http://t.example/"]))).await;
    let provider_router = provider_router(
        &[format!("brave={}", busy.base), format!("tavily={}", good.base)],
        ProviderMode::Fallback,
    );
    for _ in 0..3 {
        assert_eq!(
            provider_router.search(&question("cats", SourceKind::Web), five_seconds()).await.hits.len(),
            1
        );
    }
    assert_eq!((busy.asked().len(), good.asked().len()), (1, 3));
}

#[tokio::test]
async fn quotas_hold_over_pages_and_questions() {
    let pages = json!({ "web": { "results": [{ "url": "http://a.example/", "title": "a", "description": "b" }] }, "query": { "more_results_available": true } });
    let server = Server::start(Scripted::Json(pages)).await;
    let mut settings = settings(&[format!("brave={}", server.base)]);
    parse_quota(&mut settings.quotas, "brave=3/minute").unwrap();
    let provider_router = settings.build_router(&fetcher("search=127.0.0.0/8"), None);
    let mut many = question("cats", SourceKind::Web);
    many.limit = 100;
    let found = provider_router.search(&many, five_seconds()).await;
    assert_eq!(found.hits.len(), 1, "a page beyond the quota is a note, not an error");
    assert_eq!(server.asked().len(), 3);
    let found = provider_router.search(&many, five_seconds()).await;
    assert_eq!(
        (server.asked().len(), found.warnings()[0].as_str()),
        (3, "brave has used up its quota for this minute")
    );
}

#[tokio::test]
async fn parallel_lists_are_fused() {
    let one = Server::start(Scripted::Json(list(&["http://a.example/", "http://both.example/x"]))).await;
    let two = Server::start(Scripted::Json(list(&[
        "http://b.example/",
        "https://www.both.example/x?utm_source=s",
    ])))
    .await;
    let settings = SearchSettings {
        mode: ProviderMode::Parallel,
        ..settings(&[format!("searxng={}", one.base), format!("searxng={}", two.base)])
    };
    let provider_router = settings.build_router(&fetcher("search=127.0.0.0/8"), None);
    let found = provider_router.search(&question("cats", SourceKind::Web), five_seconds()).await;
    let hosts: Vec<_> = found.hits.iter().filter_map(|hit| hit.url.host_str()).collect();
    assert_eq!(hosts, ["both.example", "a.example", "b.example"]);
    let names: Vec<_> = provider_router.statuses().into_iter().map(|status| status.provider).collect();
    assert_eq!(names, ["searxng", "searxng-2"]);
}
