//! The cost of a scrape through the API, in one run on a generated site: CPU per page compared with the floor
//! (fetching a page and building its tree, nothing else, measured before and after each round), latency of single
//! requests, rate and tail latency of sixteen concurrent ones, and pages that only a browser can read. The site is
//! served by a separate process whose CPU is not counted; the server's CPU includes everything it started, Chromium
//! too. Every response is checked for the marker words of its page, so that what is fast is also right.
//!
//! The floor is measured here, or by a separate program with the same method, which `--floor` names: called
//! with `SITE_DIR HOST:PORT`, it prints one JSON row per mode, among them `fetch+tree`.

mod crawl;
mod floor;
mod load;
mod long;
mod site;

use anyhow::{Context, Result, bail, ensure};
use clap::Subcommand;
use gannet_bench::processes::{Server, own_command, tree_cpu_ms, tree_cpu_ms_at_rest};
use gannet_bench::timing::Figures;
use load::{LoadRequest, LoadResult};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 3;
const SINGLE_REQUESTS: usize = 300;
const BROWSER_PAGES: usize = 100;
/// Pages that start the browsers before the clock starts.
const WARM_UP_PAGES: usize = 8;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(flatten)]
    site: Option<SiteOptions>,
    #[command(subcommand)]
    command: Option<Measurement>,
}

#[derive(Debug, Subcommand)]
enum Measurement {
    /// A crawl of the whole site, and its speed compared with scrapy.
    Crawl {
        #[command(flatten)]
        site: SiteOptions,
        /// A Python that has scrapy.
        #[arg(long)]
        scrapy: Option<PathBuf>,
    },
    /// The same by one, two and four worker processes on one PostgreSQL, whose own CPU is not counted.
    Share {
        #[command(flatten)]
        site: SiteOptions,
    },
    /// A crawl of a generated site of so many pages, tenth by tenth.
    Long {
        pages: u64,
        #[arg(long, default_value = "target/release/gannet")]
        gannet: PathBuf,
    },
    /// Serves the site.
    #[command(hide = true)]
    Site { folder: PathBuf },
    /// Serves a site of so many pages.
    #[command(hide = true)]
    LongSite { pages: u64 },
    /// Prints the row that an external floor program prints.
    #[command(hide = true)]
    Floor { folder: PathBuf, address: String },
}

#[derive(Debug, clap::Args)]
struct SiteOptions {
    /// The folder of a generated site.
    folder: PathBuf,
    #[arg(long, default_value = "target/release/gannet")]
    gannet: PathBuf,
    /// A program that measures the floor.
    #[arg(long)]
    floor: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.command {
        Some(Measurement::Crawl { site, scrapy }) => crawl::measure(site, scrapy.as_deref()),
        Some(Measurement::Share { site }) => crawl::share(site),
        Some(Measurement::Long { pages, gannet }) => long::measure(gannet, *pages),
        Some(Measurement::Site { folder }) => site::serve(folder),
        Some(Measurement::LongSite { pages }) => long::serve(*pages),
        Some(Measurement::Floor { folder, address }) => floor::measure(folder, address),
        None => measure(arguments.site.as_ref().context("the folder of a generated site is missing")?),
    }
}

fn measure(options: &SiteOptions) -> Result<()> {
    let data = testkit::TempDir::new();
    let site = serve_site(options)?;
    let server = start_gannet(&options.gannet, data.path(), &[], &[])?;
    let bench = Bench { options, site, server, pages: site::articles(&options.folder)? };
    bench.cost("first time, stored", &json!({}), 1)?;
    bench.cost("from the cache", &json!({}), 1)?;
    bench.cost("maxAge 0", &json!({ "maxAge": 0 }), ROUNDS)?;
    bench.cost("maxAge 0, not stored", &json!({ "maxAge": 0, "storeInCache": false }), ROUNDS)?;
    bench.alone()?;
    bench.scripted(&site::scripted(&options.folder))
}

/// Serves the site from a separate process.
fn serve_site(options: &SiteOptions) -> Result<Server> {
    Server::start(own_command()?.args(["scrape", "site"]).arg(&options.folder))
}

fn start_gannet(binary: &Path, data: &Path, more: &[(&str, &str)], arguments: &[&str]) -> Result<Server> {
    let settings = [("GANNET_EGRESS_ALLOW", "scrape=127.0.0.0/8"), ("GANNET_RESEARCH_STARTER", "off")];
    Server::start_gannet(binary, data, &[&settings, more].concat(), arguments)
}

/// CPU per page of the floor.
fn floor_ms(options: &SiteOptions, site: &Server) -> Result<f64> {
    let mut own = own_command()?;
    own.args(["scrape", "floor"]);
    let mut command = options.floor.as_ref().map_or(own, Command::new);
    let output = command.arg(&options.folder).arg(&site.address).output().context("the floor's program")?;
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

struct Bench<'a> {
    options: &'a SiteOptions,
    site: Server,
    server: Server,
    pages: Vec<site::Page>,
}

impl Bench<'_> {
    fn requests(&self, pages: &[site::Page], options: &Value) -> Vec<LoadRequest> {
        pages
            .iter()
            .map(|page| {
                let mut body = options.clone();
                body["url"] = format!("http://{}{}", self.site.address, page.path).into();
                LoadRequest::new(&self.server.address, &body, page)
            })
            .collect()
    }

    fn run(&self, requests: &[LoadRequest], at_once: usize) -> Result<LoadResult> {
        load::run(&self.server.address, requests, at_once)
    }

    /// CPU per page, rate and tail latency of sixteen concurrent requests. The floor is measured before and after
    /// each round, because a shared machine is not equally fast all the time.
    fn cost(&self, name: &str, body: &Value, rounds: usize) -> Result<()> {
        let requests = self.requests(&self.pages, body);
        let (mut costs, mut ratios, mut correct) = (Vec::new(), Vec::new(), 0);
        let mut fastest: Option<LoadResult> = None;
        for _ in 0..rounds {
            let floor_before = floor_ms(self.options, &self.site)?;
            let before = tree_cpu_ms(self.server.pid())?;
            let result = self.run(&requests, 16)?;
            let cpu = (tree_cpu_ms_at_rest(self.server.pid())? - before) / requests.len() as f64;
            let floor = f64::midpoint(floor_before, floor_ms(self.options, &self.site)?);
            costs.push(cpu);
            ratios.push(cpu / floor);
            correct += result.correct;
            if fastest.as_ref().is_none_or(|fastest| result.rate() > fastest.rate()) {
                fastest = Some(result);
            }
        }
        let fastest = fastest.context("no rounds")?;
        let median = |figures: Vec<f64>| figures.into_iter().collect::<Figures>().median();
        println!(
            "{name:<28} {:.3} CPU-ms per page, {:.2} × the floor around it (goal: at most 3); {correct} of {} right",
            median(costs),
            median(ratios),
            requests.len() * rounds
        );
        println!(
            "  16 at once                 {:.0} requests/s (goal: at least 450), p50 {:.1} ms, p99 {:.1} ms (goal: at most 100)",
            fastest.rate(),
            fastest.latencies.percentile(50),
            fastest.latencies.percentile(99)
        );
        Ok(())
    }

    fn alone(&self) -> Result<()> {
        let pages = &self.pages[..SINGLE_REQUESTS.min(self.pages.len())];
        let requests = self.requests(pages, &json!({ "maxAge": 0 }));
        let result = self.run(&requests, 1)?;
        println!(
            "one at a time, maxAge 0      p50 {:.2} ms (goal: at most 3), p99 {:.2} ms; {} of {} right",
            result.latencies.percentile(50),
            result.latencies.percentile(99),
            result.correct,
            requests.len()
        );
        Ok(())
    }

    /// Pages that only a browser can read.
    fn scripted(&self, pages: &[site::Page]) -> Result<()> {
        ensure!(!pages.is_empty(), "the site has no script pages");
        let pages: Vec<_> = pages.iter().cycle().take(BROWSER_PAGES).cloned().collect();
        let requests = self.requests(&pages, &json!({ "maxAge": 0 }));
        self.run(&requests[..WARM_UP_PAGES], 4)?;
        let before = tree_cpu_ms(self.server.pid())?;
        let result = self.run(&requests, 4)?;
        let cpu = (tree_cpu_ms(self.server.pid())? - before) / requests.len() as f64;
        println!(
            "JavaScript pages, 4 at once  {cpu:.0} CPU-ms per page with Chromium (goal: at most 400), p50 {:.0} ms; {} of {} right",
            result.latencies.percentile(50),
            result.correct,
            requests.len()
        );
        Ok(())
    }
}
