//! `gannet crawl`: a whole site from the command line, without a server.

use super::gather::{Gathering, Job, PageOptions, Place};
use crate::Globals;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use wire::crawl::CrawlRequest;

/// Crawl a site; 1 = no page could be had, 2 = mistake, 3 = some pages could not be had, 130 = stopped, and the same command goes on
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
#[derive(Debug, clap::Args)]
pub struct Crawl {
    /// Where to begin
    url: String,
    /// A file that ends in .jsonl, one document a line; or a folder, one file a page
    #[arg(long, value_name = "FILE.jsonl|DIR")]
    out: PathBuf,
    /// Write every address, and what became of it, to this file
    #[arg(long, value_name = "FILE.jsonl")]
    ledger: Option<PathBuf>,
    /// The most pages
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    limit: i64,
    /// How many links away from the start or a sitemap
    #[arg(long, value_name = "N")]
    depth: Option<i64>,
    /// Only paths that this regex finds something in; may be repeated
    #[arg(long, value_name = "REGEX")]
    include: Vec<String>,
    /// No paths that this regex finds something in; may be repeated
    #[arg(long, value_name = "REGEX")]
    exclude: Vec<String>,
    /// Everything on the host, not only below the start
    #[arg(long)]
    entire_domain: bool,
    /// Every host of the domain
    #[arg(long)]
    subdomains: bool,
    /// Pages of other sites that this one links to
    #[arg(long)]
    external: bool,
    /// include, only or skip
    #[arg(long, value_name = "HOW", default_value = "include")]
    sitemap: String,
    /// Do not ask for robots.txt
    #[arg(long)]
    ignore_robots: bool,
    /// Seconds between two pages
    #[arg(long, value_name = "SECONDS")]
    delay: Option<f64>,
    /// The most pages at once
    #[arg(long, value_name = "N")]
    concurrency: Option<i64>,
    #[command(flatten)]
    page: PageOptions,
}

impl Crawl {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let some = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let scrape_options = match self.page.options() {
            Ok(options) => options,
            Err(mistake) => return Ok(super::gather::mistake(&mistake)),
        };
        let asked = CrawlRequest {
            url: Some(self.url),
            limit: Some(self.limit),
            max_discovery_depth: self.depth,
            include_paths: some(self.include),
            exclude_paths: some(self.exclude),
            crawl_entire_domain: Some(self.entire_domain),
            allow_subdomains: Some(self.subdomains),
            allow_external_links: Some(self.external),
            sitemap: Some(self.sitemap),
            ignore_robots_txt: Some(self.ignore_robots),
            delay: self.delay,
            max_concurrency: self.concurrency,
            scrape_options: Some(scrape_options),
            ..CrawlRequest::default()
        };
        let place = Place { out: self.out, ledger: self.ledger, form: self.page.form() };
        Gathering { job: Job::Crawl(Box::new(asked)), place }.run(globals).await
    }
}
