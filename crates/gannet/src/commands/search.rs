//! `gannet search`: the same search as the server's, from the command line, beside a running server or without one.

use crate::commands::serve::{open_scraper, open_searcher};
use crate::home::{self, IfMissing};
use crate::private::TempFolder;
use crate::settings::Settings;
use anyhow::{Context, Result};
use engine::search::feed::{Feeder, LocalIndex};
use engine::{Caller, Gate};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use store::Store;
use wire::search::{SearchAnswer, SearchRequest};

/// Search the web, or what this machine has seen of it; exit code 1 when nothing was found
#[derive(Debug, clap::Args)]
pub struct Search {
    /// What to look for, with operators such as site:, -word, "a phrase", filetype:, intitle:
    query: String,
    /// Most results
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: i64,
    /// web, news or images
    #[arg(long, value_name = "SOURCE", default_value = "web")]
    source: String,
    /// github, research, pdf, developer or gov
    #[arg(long, value_name = "CATEGORY")]
    category: Option<String>,
    /// How old results may be, for instance qdr:w
    #[arg(long, value_name = "TBS")]
    tbs: Option<String>,
    /// Scrape every result and print its markdown
    #[arg(long)]
    scrape: bool,
    /// The whole answer as JSON
    #[arg(long)]
    json: bool,
    /// Milliseconds until it must have ended
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    timeout: i64,
}

impl Search {
    pub async fn run(self, mut settings: Settings) -> Result<ExitCode> {
        let local = home::local_index(&settings);
        // Searching makes no data folder: where there is none, what this search has to keep goes with it.
        let missing = home::sqlite_file(&settings.database_url).is_some_and(|file| !file.exists());
        let folder = missing.then(TempFolder::make).transpose()?;
        if let Some(folder) = &folder {
            folder.hold_data_of(&mut settings);
        }
        let settings = &settings;
        let if_missing = if missing { IfMissing::Create } else { IfMissing::Fail };
        let opened = home::open_for_command(settings, if_missing).await?;
        let store = opened.store.clone();
        if let Some(first) = home::found(settings, store.as_ref()).await?
            && !missing
        {
            eprintln!("made the first team and its key, kept in {}", first.file.display());
        }
        let begun = Instant::now();
        let gate = Gate::new(store.clone());
        let scraper = open_scraper(settings, &store, &gate, None).await?;
        let browsers = scraper.browsers().cloned();
        if !missing {
            bring_up_to_date(&local, &store).await;
        }
        let team = store.teams().await?.into_iter().next().context("there is no team")?;
        let caller = Arc::new(Caller::new(team, None, &settings.plans));
        let searcher = open_searcher(settings, &store, &scraper, &local);
        let made = searcher.search(&caller, &self.asked()?, "").await;
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        gate.settle().await;
        store.shut_down().await;
        match made {
            Ok(answer) => self.show(&answer, begun),
            Err(error) => {
                eprintln!("gannet: {error}");
                if let Some(details) = error.details() {
                    eprintln!("{details:#}");
                }
                Ok(ExitCode::FAILURE)
            }
        }
    }

    fn asked(&self) -> Result<SearchRequest> {
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
        // Written by us in the words of the contract.
        wire::read::body(asked.to_string().as_bytes()).map_err(|error| anyhow::anyhow!("{error}"))
    }

    fn show(&self, answer: &SearchAnswer, begun: Instant) -> Result<ExitCode> {
        let answer = serde_json::to_value(answer)?;
        let hits = answer["data"][&self.source].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = if self.json {
            serde_json::to_string_pretty(&answer)? + "\n"
        } else {
            hits.iter().map(|hit| shown(hit, self.scrape)).collect::<String>()
        };
        let mut out = std::io::stdout().lock();
        // Whoever reads may have seen enough.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if let Some(warning) = answer["warning"].as_str() {
            eprintln!("gannet: {warning}");
        }
        if std::io::stderr().is_terminal() {
            eprintln!("{} results in {:.2} s", hits.len(), begun.elapsed().as_secs_f64());
        }
        Ok(if hits.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// One result for people.
fn shown(hit: &Value, scraped: bool) -> String {
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

/// What was scraped or imported since is found too. A server that runs keeps the index up to date; its folder is read then.
async fn bring_up_to_date(local: &Arc<LocalIndex>, store: &Arc<dyn Store>) {
    let fed = Feeder::new(local.clone(), store.clone()).catch_up(|_| {}).await;
    if let Err(error) = fed {
        if !error.is_elsewhere() {
            eprintln!("gannet: {error}");
        }
        if let Err(error) = local.open_to_read() {
            eprintln!("gannet: {error}");
        }
    }
}
