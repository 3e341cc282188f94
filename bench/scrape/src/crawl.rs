//! A crawl of the generated site to markdown, compared with the floor and with scrapy, which only follows
//! links.

use super::processes::{Running, cpu_ms};
use super::{KEY, Options, floor_ms, serve_gannet, serve_site, start_gannet};
use crate::load::ask;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

pub fn measure(options: &Options) -> Result<()> {
    let site = serve_site(options)?;
    let floor = floor_ms(options, &site)?;
    println!("floor: fetch + tree          {floor:.3} CPU-ms per page");
    let data = testkit::TempDir::new();
    let server = serve_gannet(options, data.path())?;
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        let done = crawl(&server, &site, &[server.pid()])?;
        done.print("crawl to markdown", floor);
        best = best.max(done.rate());
    }
    map(&server, &site)?;
    if let Some(python) = &options.scrapy {
        let rate = scrapy_rate(python, &site)?;
        println!(
            "scrapy on the same site      {rate:.0} pages/s; ours is {:.1} × that (goal: at least 6)",
            best / rate
        );
    }
    Ok(())
}

/// Processes that share crawls on one PostgreSQL: one API process, and 1, 2, 4 workers.
pub fn share(options: &Options) -> Result<()> {
    let site = serve_site(options)?;
    let floor = floor_ms(options, &site)?;
    println!("floor: fetch + tree          {floor:.3} CPU-ms per page");
    for workers in [1, 2, 4] {
        let cluster = testkit::PostgresCluster::start();
        let (database, data) = (cluster.database(), testkit::TempDir::new());
        let shared = [("GANNET_DATABASE_URL", database.as_str())];
        let start = |role| start_gannet(options, data.path(), &shared, &["--role", role]);
        let api = start("api")?;
        let crew = (0..workers).map(|_| start("worker")).collect::<Result<Vec<_>>>()?;
        let mut processes: Vec<u32> = crew.iter().map(Running::pid).collect();
        processes.push(api.pid());
        let mut best: Option<CrawlResult> = None;
        for _ in 0..ROUNDS {
            let done = crawl(&api, &site, &processes)?;
            if best.as_ref().is_none_or(|best| done.rate() > best.rate()) {
                best = Some(done);
            }
        }
        if let Some(best) = best {
            best.print(&format!("{workers} workers on PostgreSQL"), floor);
        }
    }
    Ok(())
}

/// A finished crawl.
struct CrawlResult {
    pages: f64,
    took: Duration,
    /// From the last page to the end.
    tail: Duration,
    cpu_ms: f64,
}

impl CrawlResult {
    fn rate(&self) -> f64 {
        self.pages / self.took.as_secs_f64()
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

fn crawl(server: &Running, site: &Running, processes: &[u32]) -> Result<CrawlResult> {
    let request = json!({
        "url": format!("http://{}/index.html", site.address), "crawlEntireDomain": true, "limit": 10_000,
        // Pages that need scripts are measured separately.
        "excludePaths": ["^/js/"],
        "scrapeOptions": { "formats": ["markdown"], "maxAge": 0 },
    });
    let cpu = |processes: &[u32]| processes.iter().map(|pid| cpu_ms(*pid)).sum::<Result<f64>>();
    let before = cpu(processes)?;
    let begun = Instant::now();
    let id = text(&ask(&server.address, KEY, "POST", "/v2/crawl", Some(&request))?, "id")?;
    let mut last_page = begun.elapsed();
    let mut seen = 0;
    let status = loop {
        let status = ask(&server.address, KEY, "GET", &format!("/v2/crawl/{id}?limit=1"), None)?;
        let completed = status["completed"].as_u64().unwrap_or(0);
        if completed > seen {
            (seen, last_page) = (completed, begun.elapsed());
        }
        match status["status"].as_str() {
            Some("scraping") => std::thread::sleep(Duration::from_millis(10)),
            _ => break status,
        }
    };
    let took = begun.elapsed();
    ensure!(status["status"] == "completed" && status["failed"] == 0, "{status}");
    Ok(CrawlResult {
        pages: seen as f64,
        took,
        tail: took.saturating_sub(last_page),
        cpu_ms: cpu(processes)? - before,
    })
}

fn map(server: &Running, site: &Running) -> Result<()> {
    let request = json!({ "url": format!("http://{}/index.html", site.address), "limit": 10_000 });
    let mut best = Duration::MAX;
    let mut count = 0;
    for _ in 0..5 {
        let begun = Instant::now();
        let answer = ask(&server.address, KEY, "POST", "/v2/map", Some(&request))?;
        best = best.min(begun.elapsed());
        count = answer["links"].as_array().map_or(0, Vec::len);
    }
    println!(
        "map                          {count} addresses in {:.1} ms (goal: at most 100)",
        best.as_secs_f64() * 1e3
    );
    Ok(())
}

/// Runs scrapy, which only follows the links of the site.
fn scrapy_rate(python: &Path, site: &Running) -> Result<f64> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("follow_links.py");
    let output = Command::new(python)
        .arg(script)
        .arg(format!("http://{}/index.html", site.address))
        .output()
        .context("cannot start scrapy")?;
    ensure!(output.status.success(), "scrapy failed: {}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout)?;
    let (pages, seconds) = (told["pages"].as_f64(), told["seconds"].as_f64());
    Ok(pages.context("no pages")? / seconds.context("no time")?)
}

fn text(value: &Value, name: &str) -> Result<String> {
    value[name].as_str().map(str::to_owned).with_context(|| format!("no {name} in {value}"))
}
