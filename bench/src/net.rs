//! The cost of a fetch, in one run: `net::Fetcher` over kept connections against a blocking loop that writes
//! a request and reads its response, the least any client can do. Pages of 40 KB over loopback; the server is
//! a separate process, so that the CPU time printed is the client's alone.

use anyhow::{Result, ensure};
use gannet_bench::processes::{CpuTimes, Server};
use net::{Credentials, Deadline, EgressAllow, EgressPolicy, Fetcher, FetcherSettings, Purpose, Request};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const PAGE_BYTES: usize = 40 * 1024;
const FETCHES: usize = 20_000;
const ROUNDS: usize = 5;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    server: Option<OwnServer>,
}

#[derive(Debug, clap::Subcommand)]
enum OwnServer {
    /// Serves the pages.
    #[command(hide = true)]
    Serve,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.server.is_some() {
        return serve();
    }
    let server = Server::start_self(&["net", "serve"])?;
    for at_once in [1, 16] {
        let floor = median(|| fetch_blocking(&server.address, at_once))?;
        let fetch = median(|| fetch_with_fetcher(&server.address, at_once))?;
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

/// One thread for each connection, the same page for every request.
fn serve() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("listening http://{}", listener.local_addr()?);
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
        let (start, before) = (Instant::now(), CpuTimes::read("self")?);
        measure()?;
        let after = CpuTimes::read("self")?;
        costs.push(FetchCost {
            per_second: FETCHES as f64 / start.elapsed().as_secs_f64(),
            cpu_ms: (after.own() - before.own()) / FETCHES as f64,
            user_ms: (after.user - before.user) / FETCHES as f64,
        });
    }
    costs.sort_by(|left, right| left.cpu_ms.total_cmp(&right.cpu_ms));
    Ok(costs[ROUNDS / 2])
}

fn fetch_blocking(address: &str, at_once: usize) -> Result<()> {
    let left = AtomicUsize::new(FETCHES);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(|| drain(address, &left))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker"))
    })
}

fn drain(address: &str, left: &AtomicUsize) -> Result<()> {
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

fn fetch_with_fetcher(address: &str, at_once: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let policy = EgressPolicy::new(EgressAllow::parse("scrape=127.0.0.0/8")?);
        let fetcher = Fetcher::new(FetcherSettings::new(policy))?;
        let left = Arc::new(AtomicUsize::new(FETCHES));
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..at_once {
            let (fetcher, left) = (fetcher.clone(), Arc::clone(&left));
            let url = format!("http://{address}/a/page.html");
            workers.spawn(async move {
                while take_one(&left) {
                    let request = Request::get(Purpose::Scrape, &url, Credentials::none())?;
                    let page = fetcher.fetch(request, Deadline::after(Duration::from_secs(30))).await?;
                    ensure!(page.body.len() == PAGE_BYTES, "a page is cut");
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
