//! The load: a list of requests, a number of them at a time over kept connections, each response checked.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::cell::Cell;
use std::io::{Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

/// A request, and what its response must and must not contain.
#[derive(Clone)]
pub struct LoadRequest {
    pub body: String,
    pub kept: Vec<String>,
    pub dropped: Option<&'static str>,
}

impl LoadRequest {
    fn fits(&self, answer: &[u8]) -> bool {
        let has = |word: &str| answer.windows(word.len()).any(|window| window == word.as_bytes());
        answer.starts_with(b"{\"success\":true")
            && self.kept.iter().all(|word| has(word))
            && !self.dropped.is_some_and(has)
    }
}

pub struct Load<'a> {
    pub address: &'a str,
    pub key: &'a str,
    pub asked: &'a [LoadRequest],
    pub at_once: usize,
}

pub struct LoadResult {
    /// Correct responses.
    pub right: usize,
    took: Duration,
    /// Milliseconds each, sorted.
    latencies: Vec<f64>,
}

impl LoadResult {
    pub fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.took.as_secs_f64()
    }

    pub fn percentile(&self, share: usize) -> f64 {
        self.latencies[(self.latencies.len() * share / 100).min(self.latencies.len() - 1)]
    }
}

impl Load<'_> {
    /// On one thread, so that the load itself takes as little CPU time as possible.
    pub fn run(&self) -> Result<LoadResult> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let local = LocalSet::new();
        let began = Instant::now();
        let next = Rc::new(Cell::new(0));
        let asked: Rc<[LoadRequest]> = self.asked.into();
        let connections: Vec<_> = (0..self.at_once)
            .map(|_| {
                let (address, key) = (self.address.to_owned(), self.key.to_owned());
                local.spawn_local(connection(address, key, asked.clone(), next.clone()))
            })
            .collect();
        let mut answers = Vec::new();
        runtime.block_on(local.run_until(async {
            for connection in connections {
                answers.extend(connection.await??);
            }
            anyhow::Ok(())
        }))?;
        let took = began.elapsed();
        // Checked after the clock has stopped.
        let right = answers.iter().filter(|answer| self.asked[answer.number].fits(&answer.body)).count();
        let mut latencies: Vec<f64> = answers.iter().map(|answer| answer.took.as_secs_f64() * 1e3).collect();
        latencies.sort_by(f64::total_cmp);
        ensure!(!latencies.is_empty(), "nothing was asked");
        Ok(LoadResult { right, took, latencies })
    }
}

struct LoadResponse {
    number: usize,
    took: Duration,
    body: Vec<u8>,
}

async fn connection(
    address: String,
    key: String,
    asked: Rc<[LoadRequest]>,
    next: Rc<Cell<usize>>,
) -> Result<Vec<LoadResponse>> {
    let mut stream = TcpStream::connect(&address).await?;
    stream.set_nodelay(true)?;
    let mut answers = Vec::new();
    loop {
        let number = next.get();
        let Some(one) = asked.get(number) else { return Ok(answers) };
        next.set(number + 1);
        let request = format!(
            "POST /v2/scrape HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
            one.body.len(),
            one.body
        );
        let began = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        let body = read_answer(&mut stream).await?;
        answers.push(LoadResponse { number, took: began.elapsed(), body });
    }
}

/// Reads one response with a `content-length`, whatever its status.
async fn read_answer(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut buffer = Vec::with_capacity(1 << 16);
    let (head, length) = loop {
        ensure!(stream.read_buf(&mut buffer).await? > 0, "the server closed the connection");
        let Some(head) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&buffer[..head])?;
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")).context("no length")?;
        break (head + 4, length.parse::<usize>()?);
    };
    while buffer.len() < head + length {
        ensure!(stream.read_buf(&mut buffer).await? > 0, "the server closed the connection");
    }
    Ok(buffer.split_off(head))
}

/// Sends one request; returns its response as JSON.
pub fn ask(address: &str, key: &str, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
    let mut stream = std::net::TcpStream::connect(address)?;
    let body = body.map(Value::to_string).unwrap_or_default();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let head = answer.windows(4).position(|end| end == b"\r\n\r\n").context("no head")?;
    let (head, body) = (String::from_utf8_lossy(&answer[..head]), &answer[head + 4..]);
    ensure!(!head.to_ascii_lowercase().contains("transfer-encoding"), "an answer in chunks: {head}");
    Ok(serde_json::from_slice(body)?)
}
