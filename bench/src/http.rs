//! The overhead of the service, in one run: start to ready, idle memory, and an authenticated `GET
//! /v2/concurrency-check` against a bare axum handler that returns the same bytes. The two servers are separate
//! processes, driven in turn by the same load from the same machine.

use anyhow::{Result, bail, ensure};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use gannet_bench::connection::{Connection, LoadConnection};
use gannet_bench::processes::{CpuTimes, KEY, Server, resident_mb};
use gannet_bench::timing::Figures;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const CONNECTIONS: usize = 16;
const ROUND_DURATION: Duration = Duration::from_secs(3);
const ROUNDS: usize = 5;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[arg(default_value = "target/release/gannet")]
    gannet: PathBuf,
    #[command(subcommand)]
    server: Option<OwnServer>,
}

#[derive(Debug, clap::Subcommand)]
enum OwnServer {
    /// The floor: a server that answers this body.
    #[command(hide = true)]
    Bare { body: String },
}

pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.server {
        Some(OwnServer::Bare { body }) => serve_bare(body),
        None => compare(&arguments.gannet),
    }
}

/// The floor: axum, one route, fixed bytes.
#[tokio::main]
async fn serve_bare(body: &str) -> Result<()> {
    let body: &'static str = body.to_owned().leak();
    let handler = get(move || async move { ([(CONTENT_TYPE, "application/json")], body) });
    let router = Router::new().route("/v2/concurrency-check", handler);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening http://{}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

/// One of the two servers, and what was measured of it.
struct Measured {
    server: Server,
    rates: Vec<f64>,
    cpu_us: f64,
}

impl Measured {
    fn new(server: Server) -> Self {
        Self { server, rates: Vec::new(), cpu_us: 0.0 }
    }

    fn rate(&self) -> f64 {
        self.rates.iter().copied().collect::<Figures>().median()
    }

    async fn run_round(&mut self, request: &str) -> Result<()> {
        let cpu_us = |server: &Server| anyhow::Ok(CpuTimes::read(server.pid())?.own() * 1e3);
        let (before, start) = (cpu_us(&self.server)?, Instant::now());
        let requests = load(&self.server.address, request, start + ROUND_DURATION).await? as f64;
        let seconds = start.elapsed().as_secs_f64();
        self.cpu_us += (cpu_us(&self.server)? - before) / requests / ROUNDS as f64;
        self.rates.push(requests / seconds);
        Ok(())
    }
}

fn compare(binary: &Path) -> Result<()> {
    let folder = testkit::TempDir::new();
    let mut starts = Vec::new();
    for round in 0..5 {
        let start = Instant::now();
        let _server = start_gannet(binary, &folder.join(&format!("start-{round}")))?;
        starts.push(start.elapsed());
    }
    starts.sort();
    let server = start_gannet(binary, &folder.join("data"))?;
    std::thread::sleep(Duration::from_secs(2));
    let idle = resident_mb(server.pid())?;
    println!("start to ready      median {:?}, worst {:?} (goal: under 500 ms)", starts[2], starts[4]);
    println!("idle memory         {idle:.1} MB resident (goal: under 40 MB)");

    let request = format!(
        "GET /v2/concurrency-check HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {KEY}\r\n\r\n",
        server.address
    );
    let body = Connection::open(&server.address)?.send(&request)?.to_vec();
    let bare = Server::start_self(&["http", "bare", std::str::from_utf8(&body)?])?;
    ensure!(Connection::open(&bare.address)?.send(&request)? == body, "the two servers answer differently");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut bare, mut ours) = (Measured::new(bare), Measured::new(server));
    for _ in 0..ROUNDS {
        for measured in [&mut bare, &mut ours] {
            runtime.block_on(measured.run_round(&request))?;
        }
    }
    println!("bare axum handler   {:.0} requests/s, {:.1} CPU-µs each", bare.rate(), bare.cpu_us);
    println!("gannet, with a key  {:.0} requests/s, {:.1} CPU-µs each", ours.rate(), ours.cpu_us);
    println!("ratio               {:.2} of bare axum (goal: at least 0.50)", ours.rate() / bare.rate());
    Ok(())
}

/// Starts a server, and waits until it is ready.
fn start_gannet(binary: &Path, data: &Path) -> Result<Server> {
    let server = Server::start_gannet(binary, data, &[], &[])?;
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        if Connection::open(&server.address)?.get("/ready").is_ok() {
            return Ok(server);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    bail!("not ready after 10 s")
}

/// A number of connections, each sending the same request again as soon as it gets a response; how many they sent.
async fn load(address: &str, request: &str, end: Instant) -> Result<u64> {
    let mut connections = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (address, request) = (address.to_owned(), request.to_owned());
        // One task per connection on one thread: the load itself should cost as little as possible.
        connections.spawn(async move {
            let (mut connection, mut requests) = (LoadConnection::open(&address).await?, 0);
            while Instant::now() < end {
                let response = connection.send(request.as_bytes()).await?;
                ensure!(response.head.starts_with("HTTP/1.1 200"), "answered {}", response.head);
                requests += 1;
            }
            Ok(requests)
        });
    }
    let mut requests = 0;
    while let Some(count) = connections.join_next().await {
        requests += count??;
    }
    Ok(requests)
}
