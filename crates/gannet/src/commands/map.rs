//! `gannet map`: list the URLs of a site without a server.

use crate::data_dir;
use crate::exit_code;
use crate::output;
use crate::settings::Settings;
use access::limits::free_slot;
use anyhow::Result;
use engine::map::{self, MapPlan};
use engine::scrape::Ladder;
use net::Purpose;
use std::process::ExitCode;
use std::time::Instant;
use uuid::Uuid;
use wire::map::MapRequest;

/// List the URLs of a site without a server
///
/// Exit code 0: success, 1: failed.
#[derive(Debug, clap::Args)]
pub struct Map {
    /// URL of any page of the site
    url: String,
    /// Words to rank the URLs by
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Maximum number of URLs
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    limit: i64,
    /// Use of sitemaps: include, only or skip
    #[arg(long, value_name = "HOW", default_value = "include")]
    sitemap: String,
    /// Only this host
    #[arg(long)]
    no_subdomains: bool,
    /// Print URLs with titles and descriptions as JSON
    #[arg(long)]
    json: bool,
    /// Timeout in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    timeout: i64,
}

impl Map {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let asked = MapRequest {
            url: Some(self.url),
            search: self.search,
            limit: Some(self.limit),
            sitemap: Some(self.sitemap),
            include_subdomains: Some(!self.no_subdomains),
            timeout: Some(self.timeout),
            ..MapRequest::default()
        };
        let fetcher = data_dir::open_fetcher(settings, None)?;
        let browsers = data_dir::open_browsers(settings, &fetcher);
        let documents = data_dir::open_documents(settings);
        let ladder = Ladder::without_server(fetcher, browsers.clone(), documents);
        let names_host = |host: &str| settings.egress_allow.names_host(Purpose::Scrape, host);
        let begun = Instant::now();
        let outcome = match MapPlan::resolve(&asked, &names_host) {
            Ok(plan) => map::map(&ladder, &plan, &free_slot, Uuid::nil(), Uuid::now_v7()).await,
            Err(error) => Err(error),
        };
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        let answer = match outcome {
            Ok(answer) => answer,
            Err(error) => return Ok(exit_code::print_refusal(&error.to_wire())),
        };
        let text = if self.json {
            serde_json::to_string_pretty(&answer)? + "\n"
        } else {
            answer.links.iter().fold(String::new(), |text, link| text + &link.url + "\n")
        };
        output::print(format_args!("{text}"));
        if output::shows_progress() {
            let urls = output::count(answer.links.len() as u64, "URL");
            note!("{urls} in {:.1} s", begun.elapsed().as_secs_f64());
        }
        if let Some(warning) = &answer.warning {
            note!("gannet: {warning}");
        }
        Ok(ExitCode::SUCCESS)
    }
}
