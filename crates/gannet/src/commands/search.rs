//! `gannet search`: the same search as the server's, with or without a running server.

use crate::data_dir::{self, IfMissing};
use crate::exit_code;
use crate::first_team;
use crate::opening::{open_searcher, open_services};
use crate::output;
use crate::private_files::TempFolder;
use crate::settings::Settings;
use access::{Caller, Limiter};
use anyhow::{Context, Result};
use engine::models::SentenceModels;
use engine::scrape::Scraper;
use engine::search::feed::{Feeder, LocalIndex};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use store::Store;
use wire::search::{SearchRequest, SearchResponse};

/// Search the web or the local index
///
/// Exit code 0: success, 1: nothing found or failed.
#[derive(Debug, clap::Args)]
pub struct Search {
    /// Query, with operators such as site:, -word, "a phrase", filetype:, intitle:
    query: String,
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: i64,
    /// Source: web, news or images
    #[arg(long, value_name = "SOURCE", default_value = "web")]
    source: String,
    /// Category: github, research, pdf, developer or gov
    #[arg(long, value_name = "CATEGORY")]
    category: Option<String>,
    /// Time range of results, for example qdr:w for the last week
    #[arg(long, value_name = "TBS")]
    tbs: Option<String>,
    /// Scrape every result and print its markdown
    #[arg(long)]
    scrape: bool,
    /// Print the whole response as JSON
    #[arg(long)]
    json: bool,
    /// Timeout in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    timeout: i64,
}

impl Search {
    pub async fn run(self, mut settings: Settings) -> Result<ExitCode> {
        let models = Arc::new(SentenceModels::new(settings.models_folder()));
        let local = data_dir::local_index_to_search(&settings, &models);
        // A search does not create a data directory: without one, a temporary one is used.
        let missing = data_dir::sqlite_file(&settings.database_url).is_some_and(|file| !file.exists());
        let folder = missing.then(TempFolder::create).transpose()?;
        if let Some(folder) = &folder {
            folder.redirect_data(&mut settings);
        }
        let settings = &settings;
        let if_missing = if missing { IfMissing::Create } else { IfMissing::Fail };
        let opened = data_dir::open_for_command(settings, if_missing).await?;
        let store = opened.store.clone();
        if let Some(first) = first_team::create_first_team(settings, store.as_ref()).await?
            && !missing
        {
            eprintln!("created the first team and its API key; the key is in {}", first.file.display());
        }
        let begun = Instant::now();
        let gate = Limiter::new(store.clone());
        let services = open_services(settings, &store, &gate, None).await?;
        let scraper = Arc::new(Scraper::new(&services));
        let browsers = services.browsers.clone();
        if !missing {
            update_index(&local, &store).await;
        }
        let team = store.teams().await?.into_iter().next().context("there is no team")?;
        let caller = Arc::new(Caller::new(team, None, &settings.plans));
        let searcher = open_searcher(settings, &services, &scraper, &local);
        let outcome = searcher.search(&caller, &self.request()?, "").await;
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        gate.wait_for_releases().await;
        store.shut_down().await;
        match outcome {
            Ok(answer) => self.show(&answer, begun),
            Err(error) => Ok(exit_code::print_refusal(&error.to_wire())),
        }
    }

    fn request(&self) -> Result<SearchRequest> {
        let mut asked = json!({
            "query": self.query,
            "limit": self.limit,
            "sources": [self.source],
            "timeout": self.timeout,
        });
        if let Some(category) = &self.category {
            asked["categories"] = json!([category]);
        }
        if let Some(tbs) = &self.tbs {
            asked["tbs"] = json!(tbs);
        }
        if self.scrape {
            asked["scrapeOptions"] = json!({ "formats": ["markdown"] });
        }
        // Our own request is always valid.
        wire::read::body(asked.to_string().as_bytes()).map_err(|error| anyhow::anyhow!("{error}"))
    }

    fn show(&self, answer: &SearchResponse, begun: Instant) -> Result<ExitCode> {
        let answer = serde_json::to_value(answer)?;
        let hits = answer["data"][&self.source].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = if self.json {
            serde_json::to_string_pretty(&answer)? + "\n"
        } else {
            hits.iter().map(|hit| format_hit(hit, self.scrape)).collect::<String>()
        };
        output::print(format_args!("{text}"));
        if let Some(warning) = answer["warning"].as_str() {
            note!("gannet: {warning}");
        }
        if output::shows_progress() {
            let results = output::count(hits.len() as u64, "result");
            note!("{results} in {:.2} s", begun.elapsed().as_secs_f64());
        }
        Ok(if hits.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// A result as text.
fn format_hit(hit: &Value, scraped: bool) -> String {
    let text = |name: &str| hit[name].as_str().unwrap_or_default();
    let said = [text("description"), text("snippet")].into_iter().find(|said| !said.is_empty());
    let said = said.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines = vec![text("title"), text("url")];
    lines.extend([text("imageUrl"), &said].into_iter().filter(|line| !line.is_empty()));
    if scraped {
        let page = hit["markdown"].as_str().or(hit["metadata"]["error"].as_str()).unwrap_or_default();
        lines.extend(["", page.trim_end()]);
    }
    lines.join("\n") + "\n\n"
}

/// Updates the index with pages scraped or imported since. A running server does this itself; then its index
/// is read.
async fn update_index(local: &Arc<LocalIndex>, store: &Arc<dyn Store>) {
    let fed = Feeder::new(local.clone(), store.clone()).catch_up(&mut |_| {}).await;
    if let Err(error) = fed {
        if !error.is_elsewhere() {
            eprintln!("gannet: {error}");
        }
        if let Err(error) = local.open_to_read() {
            eprintln!("gannet: {error}");
        }
    }
}
