//! The cost of a fetch, in one run: `net::Fetcher` over kept connections against a blocking loop that writes
//! a request and reads its response, the least any client can do. Pages of 40 KB over loopback; the server is
//! a separate process, so that the CPU time printed is the client's alone.

use anyhow::{Context, Result, ensure};
use net::{Credentials, Deadline, EgressAllow, EgressPolicy, Fetcher, FetcherSettings, Purpose, Request};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const PAGE_BYTES: usize = 40 * 1024;
const FETCHES: usize = 20_000;
const ROUNDS: usize = 5;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    let server = Server::start()?;
    for at_once in [1, 16] {
        let floor = median(|| blocking(server.address, at_once))?;
        let fetch = median(|| fetching(server.address, at_once))?;
        for (what, cost) in [("floor", &floor), ("fetch", &fetch)] {
            println!(
                "{{\"what\":\"{what}\",\"at_once\":{at_once},\"per_s\":{:.0},\"cpu_ms\":{:.4},\"user_ms\":{:.4}}}",
                cost.per_second, cost.cpu_ms, cost.user_ms
            );
        }
        println!(
            "{{\"what\":\"fetch beyond the floor\",\"at_once\":{at_once},\"cpu_ms\":{:.4}}}",
            fetch.cpu_ms - floor.cpu_ms
        );
    }
    Ok(())
}

/// Serves the pages from a separate process, which is stopped when this is dropped.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start() -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?).arg("serve").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        Ok(Self { child, address: line.trim().parse()? })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One thread for each connection, the same page for every request.
fn serve() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {PAGE_BYTES}\r\n\r\n"
    );
    let answer: &'static [u8] = [head.into_bytes(), vec![b'x'; PAGE_BYTES]].concat().leak();
    for stream in listener.incoming() {
        let mut stream = stream?;
        stream.set_nodelay(true)?;
        std::thread::spawn(move || -> std::io::Result<()> {
            let mut lines = BufReader::new(stream.try_clone()?);
            let mut line = String::new();
            while lines.read_line(&mut line)? > 0 {
                if line == "\r\n" {
                    stream.write_all(answer)?;
                }
                line.clear();
            }
            Ok(())
        });
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
struct FetchCost {
    per_second: f64,
    cpu_ms: f64,
    user_ms: f64,
}

fn median(mut measure: impl FnMut() -> Result<()>) -> Result<FetchCost> {
    let mut costs = Vec::new();
    for _ in 0..ROUNDS {
        let (began, before) = (Instant::now(), processor_time()?);
        measure()?;
        let after = processor_time()?;
        let each = |seconds: f64| seconds * 1000.0 / FETCHES as f64;
        costs.push(FetchCost {
            per_second: FETCHES as f64 / began.elapsed().as_secs_f64(),
            cpu_ms: each(after.0 + after.1 - before.0 - before.1),
            user_ms: each(after.0 - before.0),
        });
    }
    costs.sort_by(|left, right| left.cpu_ms.total_cmp(&right.cpu_ms));
    Ok(costs[ROUNDS / 2])
}

/// User and system seconds of this process.
fn processor_time() -> Result<(f64, f64)> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(')').next().context("no fields")?.split_whitespace().collect();
    Ok((fields[11].parse::<f64>()? / 100.0, fields[12].parse::<f64>()? / 100.0))
}

fn blocking(address: SocketAddr, at_once: usize) -> Result<()> {
    let left = AtomicUsize::new(FETCHES);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(|| drain(address, &left))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker"))
    })
}

fn drain(address: SocketAddr, left: &AtomicUsize) -> Result<()> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::with_capacity(64 * 1024, stream);
    let (mut line, mut body) = (String::new(), vec![0; PAGE_BYTES]);
    while take_one(left) {
        stream.get_mut().write_all(format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes())?;
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line)?;
        }
        line.clear();
        stream.read_exact(&mut body)?;
    }
    Ok(())
}

fn fetching(address: SocketAddr, at_once: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let policy = EgressPolicy::new(EgressAllow::parse("scrape=127.0.0.0/8")?);
        let fetcher = Fetcher::new(FetcherSettings::new(policy))?;
        let left = Arc::new(AtomicUsize::new(FETCHES));
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..at_once {
            let (fetcher, left) = (fetcher.clone(), Arc::clone(&left));
            workers.spawn(async move {
                while take_one(&left) {
                    let request = Request::get(
                        Purpose::Scrape,
                        &format!("http://{address}/a/page.html"),
                        Credentials::none(),
                    )?;
                    let found = fetcher.fetch(request, Deadline::after(Duration::from_secs(30))).await?;
                    ensure!(found.body.len() == PAGE_BYTES, "a page is cut");
                }
                Ok(())
            });
        }
        while let Some(worker) = workers.join_next().await {
            worker??;
        }
        Ok(())
    })
}

fn take_one(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}
