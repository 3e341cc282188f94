//! The overhead of the service, in one run: start to ready, idle memory, and an authenticated `GET
//! /v2/concurrency-check` against a bare axum handler that returns the same bytes.
//!
//! `bench-http [GANNET]` measures the given binary (default `target/release/gannet`). The two servers are
//! separate processes, driven in turn by the same load from the same machine.

mod load;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use load::Load;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const KEY: &str = "gn-bench-0123456789abcdef";
const CONNECTIONS: usize = 16;
const ROUND_DURATION: Duration = Duration::from_secs(3);
const ROUNDS: usize = 5;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("bare") => bare(&arguments.next().context("the body to answer")?),
        binary => compare(Path::new(binary.unwrap_or("target/release/gannet"))),
    }
}

/// The floor: axum, one route, fixed bytes.
fn bare(body: &str) -> Result<()> {
    let body: &'static str = body.to_owned().leak();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let handler = get(move || async move { ([(CONTENT_TYPE, "application/json")], body) });
        let router = Router::new().route("/v2/concurrency-check", handler);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening http://{}", listener.local_addr()?);
        axum::serve(listener, router).await?;
        Ok(())
    })
}

fn compare(binary: &Path) -> Result<()> {
    let folder = testkit::TempDir::new();
    let mut starts = Vec::new();
    for round in 0..5 {
        let data = folder.join(&format!("start-{round}"));
        let began = Instant::now();
        let server = start_gannet(binary, &data)?;
        wait_ready(&server.address)?;
        starts.push(began.elapsed());
    }
    starts.sort();
    let server = start_gannet(binary, &folder.join("data"))?;
    wait_ready(&server.address)?;
    std::thread::sleep(Duration::from_secs(2));
    let idle = memory_kb(server.child.id())?;
    println!("start to ready      median {:?}, worst {:?} (goal: under 500 ms)", starts[2], starts[4]);
    println!("idle memory         {:.1} MB resident (goal: under 40 MB)", idle as f64 / 1024.0);

    let request = format!(
        "GET /v2/concurrency-check HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {KEY}\r\n\r\n",
        server.address
    );
    let body = body_of(&server.address, &request)?;
    let floor = start(Command::new(std::env::current_exe()?).args(["bare", &body]))?;
    if body_of(&floor.address, &request)? != body {
        bail!("the two servers answer differently");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut rates = (Vec::new(), Vec::new());
    let mut cpu = (0.0, 0.0);
    for _ in 0..ROUNDS {
        for (server, rates, cpu) in [(&floor, &mut rates.0, &mut cpu.0), (&server, &mut rates.1, &mut cpu.1)]
        {
            let before = cpu_seconds(server.child.id())?;
            let load = Load {
                address: &server.address,
                request: &request,
                connections: CONNECTIONS,
                time: ROUND_DURATION,
            };
            let done = runtime.block_on(load.run())?;
            *cpu += (cpu_seconds(server.child.id())? - before) * 1e6 / done.requests as f64 / ROUNDS as f64;
            rates.push(done.requests as f64 / done.took.as_secs_f64());
        }
    }
    let (bare, ours) = (median(&mut rates.0), median(&mut rates.1));
    println!("bare axum handler   {bare:.0} requests/s, {:.1} CPU-µs each", cpu.0);
    println!("gannet, with a key  {ours:.0} requests/s, {:.1} CPU-µs each", cpu.1);
    println!("ratio               {:.2} of bare axum (goal: at least 0.50)", ours / bare);
    Ok(())
}

struct Running {
    child: Child,
    address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start_gannet(binary: &Path, data: &Path) -> Result<Running> {
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data).env("GANNET_API_KEY", KEY);
    start(&mut command).with_context(|| format!("cannot start {}", binary.display()))
}

/// Starts a server that prints where it listens.
fn start(command: &mut Command) -> Result<Running> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let lines = BufReader::new(child.stdout.take().context("no output")?).lines();
    for line in lines {
        if let Some(address) = line?.trim().strip_prefix("listening") {
            let address = address.trim().trim_start_matches("http://").to_owned();
            return Ok(Running { child, address });
        }
    }
    bail!("it ended before it listened")
}

fn wait_ready(address: &str) -> Result<()> {
    let request = format!("GET /ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        let mut answer = String::new();
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(request.as_bytes())?;
        stream.read_to_string(&mut answer)?;
        if answer.starts_with("HTTP/1.1 200") {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    bail!("not ready after 10 s")
}

fn body_of(address: &str, request: &str) -> Result<String> {
    let request = request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request.as_bytes())?;
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no body")?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("answered {head}");
    }
    Ok(body.to_owned())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn memory_kb(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// User and system time of a process so far.
fn cpu_seconds(pid: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().context("odd stat")?.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    // The kernel reports in hundredths of a second on every platform we run on.
    Ok(ticks / 100.0)
}
