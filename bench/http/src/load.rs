//! The load: a number of connections, each sending the same request again as soon as it gets a response.

use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

pub struct Load<'a> {
    pub address: &'a str,
    pub request: &'a str,
    pub connections: usize,
    pub time: Duration,
}

pub struct LoadResult {
    pub requests: u64,
    pub took: Duration,
}

impl Load<'_> {
    pub async fn run(&self) -> Result<LoadResult> {
        let began = Instant::now();
        let end = began + self.time;
        let mut connections = JoinSet::new();
        for _ in 0..self.connections {
            let (address, request) = (self.address.to_owned(), self.request.to_owned());
            // One task per connection on one thread: the load itself should cost as little as possible.
            connections.spawn(async move { ask_until(&address, request.as_bytes(), end).await });
        }
        let mut requests = 0;
        while let Some(done) = connections.join_next().await {
            requests += done??;
        }
        Ok(LoadResult { requests, took: began.elapsed() })
    }
}

async fn ask_until(address: &str, request: &[u8], end: Instant) -> Result<u64> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 16 * 1024];
    let mut requests = 0;
    while Instant::now() < end {
        stream.write_all(request).await?;
        read_answer(&mut stream, &mut buffer).await?;
        requests += 1;
    }
    Ok(requests)
}

/// Reads one response with a `content-length`; anything but 200 is an error.
async fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<()> {
    let mut filled = 0;
    loop {
        let count = stream.read(&mut buffer[filled..]).await?;
        ensure!(count > 0, "the server closed the connection");
        filled += count;
        let Some(head) = buffer[..filled].windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&buffer[..head])?;
        ensure!(text.starts_with("HTTP/1.1 200"), "answered {text}");
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")).context("no length")?;
        if filled >= head + 4 + length.parse::<usize>()? {
            return Ok(());
        }
    }
}
