//! The load: a list of requests, a number of them at a time over kept connections, each response checked.

use super::site::Page;
use anyhow::{Result, ensure};
use gannet_bench::connection::LoadConnection;
use gannet_bench::processes::KEY;
use gannet_bench::timing::{Figures, milliseconds};
use serde_json::Value;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task::LocalSet;

/// A request, and the page that its response must show.
#[derive(Clone)]
pub struct LoadRequest {
    bytes: Vec<u8>,
    page: Page,
}

impl LoadRequest {
    pub fn new(address: &str, body: &Value, page: &Page) -> Self {
        let body = body.to_string();
        let request = format!(
            "POST /v2/scrape HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {KEY}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { bytes: request.into_bytes(), page: page.clone() }
    }

    fn fits(&self, body: &[u8]) -> bool {
        let has = |word: &str| body.windows(word.len()).any(|window| window == word.as_bytes());
        body.starts_with(b"{\"success\":true")
            && self.page.kept.iter().all(|word| has(word))
            && !self.page.dropped.is_some_and(has)
    }
}

pub struct LoadResult {
    /// Correct responses.
    pub correct: usize,
    /// Milliseconds.
    pub latencies: Figures,
    time: Duration,
}

impl LoadResult {
    pub fn rate(&self) -> f64 {
        self.latencies.count() as f64 / self.time.as_secs_f64()
    }
}

/// Sends all requests, so many at once; on one thread, so that the load itself takes as little CPU time as possible.
pub fn run(address: &str, requests: &[LoadRequest], at_once: usize) -> Result<LoadResult> {
    ensure!(!requests.is_empty(), "there are no pages to scrape");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    let start = Instant::now();
    let next = Rc::new(Cell::new(0));
    let shared: Rc<[LoadRequest]> = requests.into();
    let connections: Vec<_> = (0..at_once)
        .map(|_| local.spawn_local(send_requests(address.to_owned(), shared.clone(), next.clone())))
        .collect();
    let mut responses = Vec::new();
    runtime.block_on(local.run_until(async {
        for connection in connections {
            responses.extend(connection.await??);
        }
        anyhow::Ok(())
    }))?;
    let time = start.elapsed();
    // Checked after the clock has stopped.
    let correct = responses.iter().filter(|response| requests[response.number].fits(&response.body)).count();
    let latencies = responses.iter().map(|response| milliseconds(response.time)).collect();
    Ok(LoadResult { correct, latencies, time })
}

struct TimedResponse {
    number: usize,
    time: Duration,
    body: Vec<u8>,
}

async fn send_requests(
    address: String,
    requests: Rc<[LoadRequest]>,
    next: Rc<Cell<usize>>,
) -> Result<Vec<TimedResponse>> {
    let mut connection = LoadConnection::open(&address).await?;
    let mut responses = Vec::new();
    loop {
        let number = next.get();
        let Some(request) = requests.get(number) else { return Ok(responses) };
        next.set(number + 1);
        let start = Instant::now();
        let body = connection.send(&request.bytes).await?.body.to_vec();
        responses.push(TimedResponse { number, time: start.elapsed(), body });
    }
}
