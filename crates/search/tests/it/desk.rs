//! Several providers: who is asked, who is spared, and what the caller sees when some of them are down.

use crate::server::{Says, Server, desk, fetcher, question, settings, soon};
use search::{Kind, Mode, SearchSettings, read_quota};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn list(urls: &[&str]) -> Value {
    let results: Vec<Value> =
        urls.iter().map(|url| json!({ "url": url, "title": url, "content": "about cats" })).collect();
    json!({ "results": results, "query": {} })
}

fn down() -> Says {
    Says::Raw(500, "text/plain", Vec::new())
}

/// What the caller sees for every set of providers that are down. Printed as the table of the documentation.
#[tokio::test]
async fn whoever_is_down() {
    let names = ["searxng", "tavily", "wikipedia"];
    let good = [
        Says::Json(list(&["http://s.example/"])),
        Says::Json(list(&["http://t.example/"])),
        Says::Json(json!({ "query": { "search": [{ "title": "W", "snippet": "cats" }] } })),
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
        let fallback = desk(&listed, Mode::Fallback).ask(&question("cats", Kind::Web), soon()).await;
        let parallel = desk(&listed, Mode::Parallel).ask(&question("cats", Kind::Web), soon()).await;
        assert_eq!(fallback.hits.len(), up.len().min(1), "the first that is up answers");
        assert_eq!(parallel.hits.len(), up.len(), "everybody who is up answers");
        let said = parallel.sentences();
        for (at, name) in names.iter().enumerate() {
            assert_eq!(
                said.iter().any(|said| said == &format!("{name} answered with status 500")),
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
    let hangs = Server::start(Says::Hangs).await;
    let good = Server::start(Says::Json(list(&["http://t.example/"]))).await;
    let listed = [format!("searxng={}", hangs.base), format!("tavily={}", good.base)];
    for mode in [Mode::Fallback, Mode::Parallel] {
        let began = Instant::now();
        let found = desk(&listed, mode).ask(&question("cats", Kind::Web), soon()).await;
        assert_eq!(found.hits.len(), 1);
        assert!(began.elapsed() < Duration::from_millis(1500), "{mode:?}: {:?}", began.elapsed());
        assert!(found.sentences()[0].starts_with("searxng gave no answer within"), "{:?}", found.sentences());
    }
    let short = net::Deadline::after(Duration::from_millis(200));
    let found = desk(&listed[..1], Mode::Fallback).ask(&question("cats", Kind::Web), short).await;
    assert!(found.ran_out_of_time());
}

#[tokio::test]
async fn what_fails_again_and_again_is_left_alone() {
    let broken = Server::start(down()).await;
    let desk = desk(&[format!("searxng={}", broken.base)], Mode::Fallback);
    for _ in 0..6 {
        assert!(desk.ask(&question("cats", Kind::Web), soon()).await.hits.is_empty());
    }
    assert_eq!(broken.asked().len(), 3, "after three failures it rests");
    let said = desk.ask(&question("cats", Kind::Web), soon()).await.sentences();
    assert!(said[0].starts_with("searxng is left alone for"), "{said:?}");
    assert!(said[0].ends_with("answered with status 500"), "{said:?}");
    let condition = &desk.conditions()[0];
    assert_eq!((condition.state, condition.asked, condition.failed), ("resting", 3, 3));
}

#[tokio::test]
async fn who_asks_to_wait_is_not_asked_again() {
    let busy = Server::start(Says::Header(429, "retry-after", "60")).await;
    let good = Server::start(Says::Json(list(&["http://t.example/"]))).await;
    let desk = desk(&[format!("brave={}", busy.base), format!("tavily={}", good.base)], Mode::Fallback);
    for _ in 0..3 {
        assert_eq!(desk.ask(&question("cats", Kind::Web), soon()).await.hits.len(), 1);
    }
    assert_eq!((busy.asked().len(), good.asked().len()), (1, 3));
}

#[tokio::test]
async fn quotas_hold_over_pages_and_questions() {
    let pages = json!({ "web": { "results": [{ "url": "http://a.example/", "title": "a", "description": "b" }] }, "query": { "more_results_available": true } });
    let server = Server::start(Says::Json(pages)).await;
    let mut settings = settings(&[format!("brave={}", server.base)]);
    read_quota(&mut settings.quotas, "brave=3/minute").unwrap();
    let desk = settings.open(&fetcher("search=127.0.0.0/8"), None);
    let mut many = question("cats", Kind::Web);
    many.limit = 100;
    let found = desk.ask(&many, soon()).await;
    assert_eq!(found.hits.len(), 1, "a page that cannot be asked for any more is a note, not a failure");
    assert_eq!(server.asked().len(), 3);
    let found = desk.ask(&many, soon()).await;
    assert_eq!(
        (server.asked().len(), found.sentences()[0].as_str()),
        (3, "brave has used up its quota for this minute")
    );
}

#[tokio::test]
async fn parallel_lists_are_fused() {
    let one = Server::start(Says::Json(list(&["http://a.example/", "http://both.example/x"]))).await;
    let two =
        Server::start(Says::Json(list(&["http://b.example/", "https://www.both.example/x?utm_source=s"])))
            .await;
    let settings = SearchSettings {
        mode: Mode::Parallel,
        ..settings(&[format!("searxng={}", one.base), format!("searxng={}", two.base)])
    };
    let desk = settings.open(&fetcher("search=127.0.0.0/8"), None);
    let found = desk.ask(&question("cats", Kind::Web), soon()).await;
    let hosts: Vec<_> = found.hits.iter().filter_map(|hit| hit.url.host_str()).collect();
    assert_eq!(hosts, ["both.example", "a.example", "b.example"]);
    let names: Vec<_> = desk.conditions().into_iter().map(|condition| condition.provider).collect();
    assert_eq!(names, ["searxng", "searxng-2"]);
}
