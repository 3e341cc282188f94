//! A crawl of the generated site to markdown, compared with the floor and with scrapy, which only follows
//! links.

use super::{SiteOptions, floor_ms, serve_site, start_gannet};
use anyhow::{Context, Result, ensure};
use gannet_bench::connection::Connection;
use gannet_bench::processes::{KEY, Server, tree_cpu_ms};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

pub fn measure(options: &SiteOptions, scrapy: Option<&Path>) -> Result<()> {
    let site = serve_site(options)?;
    let floor = print_floor(options, &site)?;
    let data = testkit::TempDir::new();
    let server = start_gannet(&options.gannet, data.path(), &[], &[])?;
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        let result = crawl(&server, &site, &[server.pid()])?;
        result.print("crawl to markdown", floor);
        best = best.max(result.rate());
    }
    map(&server, &site)?;
    if let Some(python) = scrapy {
        let rate = scrapy_rate(python, &site)?;
        println!(
            "scrapy on the same site      {rate:.0} pages/s; ours is {:.1} × that (goal: at least 6)",
            best / rate
        );
    }
    Ok(())
}

/// Processes that share crawls on one PostgreSQL: one API process, and 1, 2, 4 workers.
pub fn share(options: &SiteOptions) -> Result<()> {
    let site = serve_site(options)?;
    let floor = print_floor(options, &site)?;
    for workers in [1, 2, 4] {
        let cluster = testkit::PostgresCluster::start();
        let (database, data) = (cluster.database(), testkit::TempDir::new());
        let shared = [("GANNET_DATABASE_URL", database.as_str())];
        let start = |role| start_gannet(&options.gannet, data.path(), &shared, &["--role", role]);
        let api = start("api")?;
        let crew = (0..workers).map(|_| start("worker")).collect::<Result<Vec<_>>>()?;
        let processes: Vec<u32> = crew.iter().chain([&api]).map(Server::pid).collect();
        let results = (0..ROUNDS).map(|_| crawl(&api, &site, &processes)).collect::<Result<Vec<_>>>()?;
        if let Some(best) = results.iter().max_by(|one, other| one.rate().total_cmp(&other.rate())) {
            best.print(&format!("{workers} workers on PostgreSQL"), floor);
        }
    }
    Ok(())
}

fn print_floor(options: &SiteOptions, site: &Server) -> Result<f64> {
    let floor = floor_ms(options, site)?;
    println!("floor: fetch + tree          {floor:.3} CPU-ms per page");
    Ok(floor)
}

/// A finished crawl.
struct CrawlResult {
    pages: f64,
    time: Duration,
    /// From the last page to the end.
    tail: Duration,
    cpu_ms: f64,
}

impl CrawlResult {
    fn rate(&self) -> f64 {
        self.pages / self.time.as_secs_f64()
    }

    fn print(&self, name: &str, floor: f64) {
        let cpu = self.cpu_ms / self.pages;
        println!(
            "{name:<28} {cpu:.3} CPU-ms per page, {:.2} × the floor (goal: at most 4); {} pages at {:.0}/s (goal: at least 300); \
             completed {:.2} s after the last page (goal: at most 0.1)",
            cpu / floor,
            self.pages,
            self.rate(),
            self.tail.as_secs_f64(),
        );
    }
}

/// A crawl that a server works on.
pub struct Crawl<'a> {
    server: &'a Server,
    id: String,
}

pub fn start_crawl<'a>(server: &'a Server, request: &Value) -> Result<Crawl<'a>> {
    let response = send(server, "POST", "/v2/crawl", Some(request))?;
    let id = response["id"].as_str().with_context(|| format!("no id in {response}"))?.to_owned();
    Ok(Crawl { server, id })
}

impl Crawl<'_> {
    pub fn status(&self) -> Result<Value> {
        send(self.server, "GET", &format!("/v2/crawl/{}?limit=1", self.id), None)
    }
}

/// Over a connection of its own.
fn send(server: &Server, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
    Connection::open(&server.address)?.send_json(KEY, method, path, body)
}

fn crawl(server: &Server, site: &Server, processes: &[u32]) -> Result<CrawlResult> {
    let cpu = || processes.iter().map(|pid| tree_cpu_ms(*pid)).sum::<Result<f64>>();
    let before = cpu()?;
    let start = Instant::now();
    let crawl = start_crawl(
        server,
        &json!({
            "url": format!("http://{}/index.html", site.address), "crawlEntireDomain": true, "limit": 10_000,
            // Pages that need scripts are measured separately.
            "excludePaths": ["^/js/"],
            "scrapeOptions": { "formats": ["markdown"], "maxAge": 0 },
        }),
    )?;
    let (mut pages, mut last_page) = (0, start.elapsed());
    let status = loop {
        let status = crawl.status()?;
        let completed = status["completed"].as_u64().unwrap_or(0);
        if completed > pages {
            (pages, last_page) = (completed, start.elapsed());
        }
        if status["status"] != "scraping" {
            break status;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let time = start.elapsed();
    ensure!(status["status"] == "completed" && status["failed"] == 0, "{status}");
    let tail = time.saturating_sub(last_page);
    Ok(CrawlResult { pages: pages as f64, time, tail, cpu_ms: cpu()? - before })
}

fn map(server: &Server, site: &Server) -> Result<()> {
    let request = json!({ "url": format!("http://{}/index.html", site.address), "limit": 10_000 });
    let mut best = Duration::MAX;
    let mut count = 0;
    for _ in 0..5 {
        let start = Instant::now();
        let response = send(server, "POST", "/v2/map", Some(&request))?;
        best = best.min(start.elapsed());
        count = response["links"].as_array().map_or(0, Vec::len);
    }
    println!(
        "map                          {count} addresses in {:.1} ms (goal: at most 100)",
        best.as_secs_f64() * 1e3
    );
    Ok(())
}

/// Runs scrapy, which only follows the links of the site.
fn scrapy_rate(python: &Path, site: &Server) -> Result<f64> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scrape/follow_links.py");
    let output = Command::new(python)
        .arg(script)
        .arg(format!("http://{}/index.html", site.address))
        .output()
        .context("cannot start scrapy")?;
    ensure!(output.status.success(), "scrapy failed: {}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout)?;
    let (pages, seconds) = (result["pages"].as_f64(), result["seconds"].as_f64());
    Ok(pages.context("no pages")? / seconds.context("no time")?)
}
