//! `gannet-bench-scrape [crawl] SITE_DIR [--gannet PATH] [--floor PATH] [--scrapy PYTHON]`
//!
//! The cost of a scrape through the API, in one run on a generated site: CPU per page compared with the floor
//! (fetching a page and building its tree, nothing else, measured before and after each round), latency of single requests, rate and tail latency
//! of sixteen concurrent ones, and pages that only a browser can read. The site is served by a separate
//! process whose CPU is not counted; the server's CPU includes everything it started, Chromium too. Every
//! response is checked for the marker words of its page, so that what is fast is also right. With `long
//! PAGES` in place of the folder, a crawl of a generated site of so many pages, tenth by tenth. With `share`,
//! the same by one, two and four worker processes on one PostgreSQL, whose own CPU is not counted. With
//! `crawl`, the cost of a crawl of the whole site, and its speed compared with scrapy, for which `--scrapy`
//! names a Python.
//!
//! The floor is measured here, or by a separate program with the same method, which `--floor` names: called
//! with `SITE_DIR HOST:PORT`, it prints one JSON row per mode, among them `fetch+tree`.

mod crawl;
mod floor;
mod load;
mod long;
mod processes;
mod site;

use anyhow::{Context, Result, bail, ensure};
use load::{Load, LoadRequest};
use processes::{Running, cpu_ms, cpu_ms_at_rest};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const KEY: &str = "gn-bench-0123456789abcdef";
const ROUNDS: usize = 3;
const SINGLE_REQUESTS: usize = 300;
const BROWSER_PAGES: usize = 100;
/// Pages that start the browsers before the clock starts.
const WARM_UP_PAGES: usize = 8;

struct Options {
    site: PathBuf,
    gannet: PathBuf,
    floor: Option<PathBuf>,
    scrapy: Option<PathBuf>,
}

impl Options {
    fn parse(folder: &str, mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options =
            Self { site: folder.into(), gannet: "target/release/gannet".into(), floor: None, scrapy: None };
        while let Some(name) = arguments.next() {
            let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
            match name.as_str() {
                "--gannet" => options.gannet = value.into(),
                "--floor" => options.floor = Some(value.into()),
                "--scrapy" => options.scrapy = Some(value.into()),
                _ => bail!("unknown option {name}"),
            }
        }
        Ok(options)
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().context(
        "usage: gannet-bench-scrape [crawl] SITE_DIR [--gannet PATH] [--floor PATH] [--scrapy PYTHON]",
    )?;
    match first.as_str() {
        "site" => site::serve(Path::new(&arguments.next().context("a folder")?)),
        "floor" => {
            let (folder, address) =
                (arguments.next().context("a folder")?, arguments.next().context("an address")?);
            floor::measure(Path::new(&folder), &address)
        }
        "long-site" => long::serve(arguments.next().context("how many pages")?.parse()?),
        "long" => {
            let pages = arguments.next().context("how many pages")?.parse()?;
            long::measure(&Options::parse("", arguments)?, pages)
        }
        "share" => crawl::share(&Options::parse(&arguments.next().context("a folder")?, arguments)?),
        "crawl" => crawl::measure(&Options::parse(&arguments.next().context("a folder")?, arguments)?),
        folder => measure(&Options::parse(folder, arguments)?),
    }
}

fn measure(options: &Options) -> Result<()> {
    let data = testkit::TempDir::new();
    let site = serve_site(options)?;
    let server = serve_gannet(options, data.path())?;
    let bench = Bench { options, site, server, pages: site::articles(&options.site)? };
    bench.cost("first time, stored", &json!({}), 1)?;
    bench.cost("from the cache", &json!({}), 1)?;
    bench.cost("maxAge 0", &json!({ "maxAge": 0 }), ROUNDS)?;
    bench.cost("maxAge 0, not stored", &json!({ "maxAge": 0, "storeInCache": false }), ROUNDS)?;
    bench.alone()?;
    bench.scripted(&site::scripted(&options.site))
}

/// Serves the site from a separate process.
fn serve_site(options: &Options) -> Result<Running> {
    Running::start(Command::new(std::env::current_exe()?).arg("site").arg(&options.site))
}

fn serve_gannet(options: &Options, data: &Path) -> Result<Running> {
    start_gannet(options, data, &[], &[])
}

fn start_gannet(options: &Options, data: &Path, settings: &[(&str, &str)], more: &[&str]) -> Result<Running> {
    let mut command = Command::new(&options.gannet);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data).args(more);
    command
        .envs(settings.iter().copied())
        .env("GANNET_API_KEY", KEY)
        .env("GANNET_EGRESS_ALLOW", "scrape=127.0.0.0/8")
        .env("GANNET_RESEARCH_STARTER", "off");
    Running::start(&mut command).with_context(|| format!("cannot start {}", options.gannet.display()))
}

/// CPU per page of the floor.
fn floor_ms(options: &Options, site: &Running) -> Result<f64> {
    let mut command = if let Some(program) = &options.floor {
        Command::new(program)
    } else {
        let mut own = Command::new(std::env::current_exe()?);
        own.arg("floor");
        own
    };
    let output = command.arg(&options.site).arg(&site.address).output().context("the floor's program")?;
    ensure!(
        output.status.success(),
        "the floor's program failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    for line in String::from_utf8(output.stdout)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        if row["what"] == "fetch+tree" {
            return row["cpu_ms_per_page"].as_f64().context("no figure in the floor's row");
        }
    }
    bail!("the floor's program printed no row for fetch+tree")
}

/// The middle one; of an even number the upper of the two.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

struct Bench<'a> {
    options: &'a Options,
    site: Running,
    server: Running,
    pages: Vec<site::Page>,
}

impl Bench<'_> {
    fn asked(&self, pages: &[site::Page], options: &Value) -> Vec<LoadRequest> {
        pages
            .iter()
            .map(|page| {
                let mut body = options.clone();
                body["url"] = format!("http://{}{}", self.site.address, page.path).into();
                LoadRequest { body: body.to_string(), kept: page.kept.clone(), dropped: page.dropped }
            })
            .collect()
    }

    fn run(&self, asked: &[LoadRequest], at_once: usize) -> Result<load::LoadResult> {
        Load { address: &self.server.address, key: KEY, asked, at_once }.run()
    }

    /// CPU per page, rate and tail latency of sixteen concurrent requests. The floor is measured before and after
    /// each round, because a shared machine is not equally fast all the time.
    fn cost(&self, name: &str, body: &Value, rounds: usize) -> Result<()> {
        let asked = self.asked(&self.pages, body);
        let (mut costs, mut ratios, mut right) = (Vec::new(), Vec::new(), 0);
        let mut fastest: Option<load::LoadResult> = None;
        for _ in 0..rounds {
            let floor_before = floor_ms(self.options, &self.site)?;
            let before = cpu_ms(self.server.pid())?;
            let done = self.run(&asked, 16)?;
            let cpu = (cpu_ms_at_rest(self.server.pid())? - before) / asked.len() as f64;
            let floor = f64::midpoint(floor_before, floor_ms(self.options, &self.site)?);
            costs.push(cpu);
            ratios.push(cpu / floor);
            right += done.right;
            if fastest.as_ref().is_none_or(|fastest| done.rate() > fastest.rate()) {
                fastest = Some(done);
            }
        }
        let fastest = fastest.context("no rounds")?;
        println!(
            "{name:<28} {:.3} CPU-ms per page, {:.2} × the floor around it (goal: at most 3); {right} of {} right",
            median(&mut costs),
            median(&mut ratios),
            asked.len() * rounds
        );
        println!(
            "  16 at once                 {:.0} requests/s (goal: at least 450), p50 {:.1} ms, p99 {:.1} ms (goal: at most 100)",
            fastest.rate(),
            fastest.percentile(50),
            fastest.percentile(99)
        );
        Ok(())
    }

    fn alone(&self) -> Result<()> {
        let asked = self.asked(&self.pages[..SINGLE_REQUESTS.min(self.pages.len())], &json!({ "maxAge": 0 }));
        let done = self.run(&asked, 1)?;
        println!(
            "one at a time, maxAge 0      p50 {:.2} ms (goal: at most 3), p99 {:.2} ms; {} of {} right",
            done.percentile(50),
            done.percentile(99),
            done.right,
            asked.len()
        );
        Ok(())
    }

    /// Pages that only a browser can read.
    fn scripted(&self, pages: &[site::Page]) -> Result<()> {
        ensure!(!pages.is_empty(), "the site has no script pages");
        let pages: Vec<_> = pages.iter().cycle().take(BROWSER_PAGES).cloned().collect();
        let asked = self.asked(&pages, &json!({ "maxAge": 0 }));
        self.run(&asked[..WARM_UP_PAGES], 4)?;
        let before = cpu_ms(self.server.pid())?;
        let done = self.run(&asked, 4)?;
        let cpu = (cpu_ms(self.server.pid())? - before) / asked.len() as f64;
        println!(
            "JavaScript pages, 4 at once  {cpu:.0} CPU-ms per page with Chromium (goal: at most 400), p50 {:.0} ms; {} of {} right",
            done.percentile(50),
            done.right,
            asked.len()
        );
        Ok(())
    }
}
