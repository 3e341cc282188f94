//! Thousands of hostile responses must not leak sockets or memory.

use crate::servers::{Server, fetcher, get, page, redirect, response};
use gannet_net::{Deadline, Fetcher, Limits};
use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

const TEST_NAME: &str = "leaks::thousands_of_hostile_responses_leave_nothing_behind";
const CHILD_VARIABLE: &str = "GANNET_TEST_GROWTH";
const MAX_CONCURRENT: usize = 32;

/// Open file handles and resident memory (in kilobytes) of this process.
fn handles_and_memory() -> (usize, u64) {
    let handles = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    (handles, line.split_whitespace().nth(1).unwrap().parse().unwrap())
}

/// Servers that misbehave in different ways; only the last one behaves.
async fn servers() -> Vec<Server> {
    let bomb = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; 4 << 20]).unwrap();
        response("200 OK", &[("Content-Encoding", "gzip")], &encoder.finish().unwrap())
    };
    let headers = "X-More: and more\r\n".repeat(2000);
    let many = format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes();
    let fixed: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"HTTP/1.1 200 OK\r\nContent-Le".to_vec(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort".to_vec(),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nbad".to_vec(),
        b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(),
        many,
        bomb,
        response("200 OK", &[("Content-Encoding", "br")], b"not brotli"),
    ];
    let mut all = Vec::new();
    for bytes in fixed {
        let bytes = Arc::new(bytes);
        all.push(
            Server::raw("127.0.0.1:0", move |mut stream| {
                let bytes = Arc::clone(&bytes);
                async move { drop(stream.write_all(&bytes).await) }
            })
            .await,
        );
    }
    // Sends nothing until the client disconnects.
    all.push(Server::raw("127.0.0.1:0", |stream| async move { drop(gone(&stream).await) }).await);
    all.push(Server::http("127.0.0.1:0", |_| redirect("/again")).await);
    all.push(
        Server::raw("127.0.0.1:0", |mut stream| async move {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while stream.write_all(&[b'x'; 16 * 1024]).await.is_ok() {}
        })
        .await,
    );
    all.push(Server::http("127.0.0.1:0", |_| page("fine")).await);
    all
}

/// Returns when the other side has closed.
async fn gone(stream: &TcpStream) -> std::io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut buffer) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
}

async fn round(fetcher: &Fetcher, servers: &[Server], times: usize) {
    let permits = Arc::new(Semaphore::new(MAX_CONCURRENT));
    let limits = Limits { retries: 0, wire_bytes: 1 << 20, body_bytes: 1 << 20, ..Limits::default() };
    let mut running = tokio::task::JoinSet::new();
    for number in 0..times {
        let permits = Arc::clone(&permits).acquire_owned().await.unwrap();
        let (fetcher, limits) = (fetcher.clone(), limits.clone());
        let good = number % servers.len() == servers.len() - 1;
        let url = servers[number % servers.len()].url("/");
        running.spawn(async move {
            // The silent server gets a short limit; the good one the time a busy machine needs.
            let time_limit = Duration::from_millis(if good { 10_000 } else { 300 });
            let outcome = fetcher.fetch(get(&url).limits(limits), Deadline::after(time_limit)).await;
            assert_eq!(outcome.is_ok(), good, "{url}: {:?}", outcome.map(|found| found.meta));
            drop(permits);
        });
        // A task that has ended keeps its memory until it is joined.
        while let Some(ended) = running.try_join_next() {
            ended.unwrap();
        }
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

/// Measured in a process of its own, because other tests of this one open and close files at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_hostile_responses_leave_nothing_behind() {
    if std::env::var_os(CHILD_VARIABLE).is_none() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", TEST_NAME, "--nocapture"]).env(CHILD_VARIABLE, "1");
        let output = tokio::task::spawn_blocking(move || alone.output().unwrap()).await.unwrap();
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let times = if std::env::var_os("GANNET_TEST_SOAK").is_some() { 20_000 } else { 2_000 };
    let (fetcher, servers) = (fetcher("scrape=127.0.0.0/8"), servers().await);
    round(&fetcher, &servers, 600).await;
    let (handles, memory) = handles_and_memory();
    round(&fetcher, &servers, times).await;
    let end = Instant::now() + Duration::from_secs(5);
    // The servers run in this process too, and need a moment to notice closed connections.
    while handles_and_memory().0 > handles && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (handles_after, memory_after) = handles_and_memory();
    println!("file handles {handles}, then {handles_after}; {memory} KB, then {memory_after} KB");
    assert!(handles_after <= handles + 16, "{handles} file handles became {handles_after}");
    assert!(memory_after <= memory + 16 * 1024, "{memory} KB became {memory_after} KB");
    assert!(fetcher.idle_connections() <= MAX_CONCURRENT);
}
