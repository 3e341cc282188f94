//! Following a crawl by server-sent events.

use super::site::HELD_PAGES;
use super::{CrawlFixture, empty, wait_until_count};
use futures_util::StreamExt;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// One event.
#[derive(Debug)]
struct Event {
    name: String,
    id: Option<u64>,
    data: Value,
}

/// A stream of events, read as they arrive.
struct Events {
    response: Response,
    text: String,
    waiting: VecDeque<Event>,
}

impl Events {
    async fn open(fixture: &CrawlFixture, path: &str, last: Option<u64>) -> Self {
        let mut request = fixture.http().request(Method::GET, path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new(), waiting: VecDeque::new() }
    }

    /// The next event; none when the stream has ended.
    async fn next(&mut self) -> Option<Event> {
        while self.waiting.is_empty() {
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk()).await;
            let chunk = chunk.expect("something comes").unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
            while let Some(end) = self.text.find("\n\n") {
                self.waiting.extend(parse_event(&self.text[..end]));
                self.text.drain(..end + 2);
            }
        }
        self.waiting.pop_front()
    }

    async fn rest(mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

fn parse_event(text: &str) -> Option<Event> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let data = serde_json::from_str(field("data:")?).expect("JSON");
    let id = field("id:").map(|id| id.parse().expect("a number"));
    Some(Event { name: field("event:").unwrap_or("message").to_owned(), id, data })
}

#[tokio::test]
async fn documents_are_streamed_as_they_are_made_and_the_end_is_reported() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/held/", json!({ "limit": 20 })).await;
    let path = format!("/v2/crawl/{id}");
    wait_until_count(fixture.http(), &path, "discovered", HELD_PAGES as u64).await;
    let mut events = Events::open(&fixture, &format!("{path}/events"), None).await;
    let first = events.next().await.unwrap();
    assert_eq!((first.name.as_str(), first.id), ("document", Some(1)));
    assert!(first.data["markdown"].as_str().unwrap().contains("word-held-word"), "{first:?}");
    let status = events.next().await.unwrap();
    assert_eq!((status.name.as_str(), &status.data["status"]), ("status", &json!("scraping")));
    super::assert_counts_add_up(&status.data);
    fixture.site.release(HELD_PAGES);
    let rest = events.rest().await;
    let numbers: Vec<u64> = rest.iter().filter_map(|event| event.id).collect();
    assert_eq!(numbers, (2..=HELD_PAGES as u64).collect::<Vec<_>>(), "each once, in order");
    let last = rest.last().unwrap();
    assert_eq!((last.name.as_str(), &last.data["status"]), ("done", &json!("completed")));
    assert_eq!(rest.iter().filter(|event| event.name == "done").count(), 1);
}

#[tokio::test]
async fn a_client_that_reconnects_continues_after_its_last_event() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/site/", empty()).await;
    super::wait_for_end(fixture.http(), &format!("/v2/crawl/{id}")).await;
    let path = format!("/v2/crawl/{id}/events");
    let all = Events::open(&fixture, &path, None).await.rest().await;
    assert_eq!(all.iter().filter_map(|event| event.id).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let rest = Events::open(&fixture, &path, Some(3)).await.rest().await;
    assert_eq!(rest.iter().filter_map(|event| event.id).collect::<Vec<_>>(), [4]);
    assert_eq!(rest.last().unwrap().name, "done");
    let wrong = fixture.http().request(Method::GET, &path).header("last-event-id", "x");
    assert_eq!(fixture.http().send(wrong).await.unwrap().status, 400);
}

#[tokio::test]
async fn streams_end_with_the_server_and_are_limited() {
    let fixture = CrawlFixture::with(|config| config.set("shutdown_grace", "2s")).await;
    let id = fixture.crawl("/held/", empty()).await;
    let path = format!("/v2/crawl/{id}/events");
    let open = (0..100).map(|_| Events::open(&fixture, &path, None));
    let mut open: Vec<Events> = futures_util::stream::iter(open).buffered(10).collect().await;
    let one_more = fixture.http().get(&path).await.unwrap();
    one_more.expect_error(429, "Concurrency limit reached");
    open.pop();
    let end = std::time::Instant::now() + Duration::from_secs(10);
    while fixture.http().request(Method::GET, &path).send().await.unwrap().status() != 200 {
        assert!(std::time::Instant::now() < end, "a seat is not given back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let CrawlFixture { server, dir: _dir, site: _village } = fixture;
    let (code, _, log) = tokio::task::spawn_blocking(move || server.terminate()).await.unwrap();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("stopped") && !log.contains("were aborted"), "watchers held it up: {log}");
}
