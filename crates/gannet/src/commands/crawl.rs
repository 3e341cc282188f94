//! `gannet crawl`: crawl a site without a server.

use super::local_crawl::{LocalCrawl, LocalJob, OutputTarget, PageOptions};
use crate::Globals;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use wire::crawl::CrawlRequest;

/// Crawl a site without a server
///
/// Exit code 0: it reached its end; dead links of the site are named and counted, 1: no page could be scraped, 2:
/// invalid arguments, 3: it ended before its end, 130: interrupted (run the same command again to continue).
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
#[derive(Debug, clap::Args)]
pub struct Crawl {
    /// URL of the first page
    url: String,
    /// Output: a .jsonl file with one document per line, or a folder with one file per page
    #[arg(long, value_name = "FILE.jsonl|DIR")]
    out: PathBuf,
    /// Write every URL and its result to this file
    #[arg(long, value_name = "FILE.jsonl")]
    ledger: Option<PathBuf>,
    /// Maximum number of pages
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    limit: i64,
    /// Maximum link depth from the first page or a sitemap
    #[arg(long, value_name = "N")]
    depth: Option<i64>,
    /// Include only paths that match this regular expression; may be repeated
    #[arg(long, value_name = "REGEX")]
    include: Vec<String>,
    /// Exclude paths that match this regular expression; may be repeated
    #[arg(long, value_name = "REGEX")]
    exclude: Vec<String>,
    /// Crawl the whole host, not only paths below the first page
    #[arg(long)]
    entire_domain: bool,
    /// Include subdomains
    #[arg(long)]
    subdomains: bool,
    /// Include pages of other sites that this one links to
    #[arg(long)]
    external: bool,
    /// Use of sitemaps: include, only or skip
    #[arg(long, value_name = "HOW", default_value = "include")]
    sitemap: String,
    /// Ignore robots.txt
    #[arg(long)]
    ignore_robots: bool,
    /// Delay between two pages in seconds
    #[arg(long, value_name = "SECONDS")]
    delay: Option<f64>,
    /// Maximum number of concurrent pages
    #[arg(long, value_name = "N")]
    concurrency: Option<i64>,
    /// Print how it ended as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    page: PageOptions,
}

impl Crawl {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let some = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let scrape_options = match self.page.options() {
            Ok(options) => options,
            Err(message) => return Ok(crate::exit_code::usage_error(&message)),
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
        let target =
            OutputTarget { out: self.out, ledger: self.ledger, format: self.page.format(), json: self.json };
        LocalCrawl { job: LocalJob::Crawl(Box::new(asked)), target }.run(globals).await
    }
}
