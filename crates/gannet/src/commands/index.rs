//! `gannet index`: imports into, shows and rebuilds the local search index. Works while a server is running,
//! which adds imported pages to its index by itself.

use crate::data_dir::{self, IfMissing};
use crate::output::{count, shows_progress};
use crate::settings::Settings;
use anyhow::{Context, Result, ensure};
use engine::search::feed::{Fed, Feeder, LocalIndex};
use imports::{Import, ImportSummary, import};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{KeyStore, SearchStore, Store};
use url::Url;
use uuid::Uuid;

/// How long a command waits for the running server to index what the command changed, and how often it looks.
const SERVER_INDEXING_TIMEOUT: Duration = Duration::from_secs(30);
const SERVER_POLL_INTERVAL: Duration = Duration::from_millis(100);
const COLLECTIONS: [&str; 3] = ["web", "developer", "gov"];

#[derive(Debug, clap::Subcommand)]
pub enum Index {
    /// Import files, JSON rows and web archives
    Add(Add),
    /// Remove imported or scraped pages from the index
    Remove {
        /// URL prefix of the pages; empty = all pages of the collection
        prefix: String,
        #[arg(long, default_value = "web", value_parser = COLLECTIONS)]
        collection: String,
        /// Name or id of the team that owns them [default: shared pages]
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
    },
    /// Show what is stored for search and the state of the index of this machine
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Rebuild the index of this machine from the database; no server may use it meanwhile
    Rebuild,
}

/// Import files, JSON rows and web archives
///
/// Exit code 0: success, 1: something could not be read.
#[derive(Debug, clap::Args)]
pub struct Add {
    /// Folders of documents (.md, .html, .txt), rows (.jsonl, .json), web archives (.warc, .warc.gz)
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[arg(long, default_value = "web", value_parser = COLLECTIONS)]
    collection: String,
    /// Name or id of the team that may find it [default: all teams]
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    /// Name of the source, for `sources` of a developer search [default: name of the folder or file]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Repository, owner/name
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<String>,
    /// URL prefix of imported files [default: `import:///NAME-NUMBER/`]
    #[arg(long, value_name = "URL")]
    base_url: Option<Url>,
    /// Attribute to filter by, for example license=MIT; may be repeated
    #[arg(long = "attribute", value_name = "NAME=VALUE", value_parser = crate::name_and_value)]
    attributes: Vec<(String, String)>,
}

impl Index {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let if_missing = if matches!(self, Self::Add(_)) { IfMissing::Create } else { IfMissing::Fail };
        let opened = data_dir::open_for_command(settings, if_missing).await?;
        let store = opened.store.clone();
        let outcome = match self {
            Self::Add(add) => add.run(settings, &store).await,
            Self::Remove { prefix, collection, team, .. } => {
                let team = find_team(store.as_ref(), team.as_deref()).await?;
                let removed = store.forget_search_pages(team, &collection, &prefix).await?;
                println!("removed {}", count(removed, "page"));
                update_index(settings, &store).await.map(|()| ExitCode::SUCCESS)
            }
            Self::Status { json } => status(settings, &store, json).await,
            Self::Rebuild => rebuild(settings, &store).await,
        };
        store.shut_down().await;
        outcome
    }
}

impl Add {
    async fn run(self, settings: &Settings, store: &Arc<dyn Store>) -> Result<ExitCode> {
        if let Some(base) = &self.base_url {
            ensure!(!base.cannot_be_a_base(), "--base-url must be a URL such as https://docs.example/");
        }
        let team = find_team(store.as_ref(), self.team.as_deref()).await?;
        let mut failed = false;
        for path in &self.paths {
            let mut line = ProgressLine::start();
            let options = self.import_options(path);
            let imported = import(store.as_ref(), team, path, &options, &mut |so_far| {
                line.show(so_far.read, &format!("{} new  {} failed", so_far.written, so_far.failed));
            })
            .await
            .with_context(|| format!("importing {}", path.display()))?;
            line.end();
            if self.base_url.is_none() {
                forget_file_addresses(store.as_ref(), team, &self.collection, path).await?;
            }
            failed |= imported.failed > 0;
            print_imported(path, &imported, line.seconds());
        }
        update_index(settings, store).await?;
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn import_options(&self, path: &Path) -> Import {
        let mut attributes: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &self.attributes {
            // A repeated name makes a list.
            attributes
                .entry(name.clone())
                .and_modify(|known| *known = format!("{known}\n{value}"))
                .or_insert_with(|| value.clone());
        }
        if let Some(repo) = &self.repo {
            attributes.insert("repo".to_owned(), repo.clone());
        }
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let named = whole.file_stem().map(|name| name.to_string_lossy().into_owned());
        Import {
            collection: self.collection.clone(),
            source: self.source.clone().or(named),
            base: self.base_url.clone(),
            attributes,
        }
    }
}

fn print_imported(path: &Path, imported: &ImportSummary, seconds: f64) {
    let ImportSummary { read, written, empty, failed, errors, warned, warnings } = imported;
    println!(
        "{}: {read} read, {written} new or changed, {empty} empty, {failed} failed in {seconds:.1} s",
        path.display()
    );
    for fault in errors {
        eprintln!("gannet: {fault}");
    }
    if *failed > errors.len() as u64 {
        eprintln!("gannet: and {} more", failed - errors.len() as u64);
    }
    for warning in warnings {
        eprintln!("gannet: {warning}");
    }
    if *warned > warnings.len() as u64 {
        eprintln!("gannet: and {} more warnings", warned - warnings.len() as u64);
    }
}

/// Earlier versions used the path on this machine as the URL of a file. Removes these entries, which were
/// just imported again.
async fn forget_file_addresses(
    store: &dyn SearchStore,
    team: Uuid,
    collection: &str,
    path: &Path,
) -> Result<()> {
    let whole = path.canonicalize().ok().filter(|path| path.is_dir());
    if let Some(prefix) = whole.and_then(|folder| Url::from_directory_path(folder).ok()) {
        store.forget_search_pages(team, collection, prefix.as_str()).await?;
    }
    Ok(())
}

/// Finds a team; nil stands for all teams.
async fn find_team(store: &dyn KeyStore, wanted: Option<&str>) -> Result<Uuid> {
    let Some(wanted) = wanted else { return Ok(Uuid::nil()) };
    let teams = store.teams().await?;
    let found = teams.iter().find(|team| team.id.to_string() == wanted || team.name == wanted);
    Ok(found.with_context(|| format!("there is no team `{wanted}`"))?.id)
}

/// Whether the index of this machine lacks entries of the feed.
async fn is_behind(local: &LocalIndex, store: &Arc<dyn Store>) -> Result<bool> {
    let Ok(status) = local.status().await else { return Ok(true) };
    Ok(!store.search_feed(status.last_seq, 1).await?.entries.is_empty())
}

/// Waits until the running server has indexed what is in the database; false if it takes too long.
async fn wait_for_server(settings: &Settings, store: &Arc<dyn Store>) -> Result<bool> {
    let started = Instant::now();
    let local = data_dir::local_index(settings);
    loop {
        // The server may not have created the index yet.
        if local.open_to_read().is_ok() && !is_behind(&local, store).await? {
            return Ok(true);
        }
        if started.elapsed() > SERVER_INDEXING_TIMEOUT {
            return Ok(false);
        }
        tokio::time::sleep(SERVER_POLL_INTERVAL).await;
    }
}

/// Updates the index, or waits for the running server to do it: the next search finds the change.
pub async fn update_index(settings: &Settings, store: &Arc<dyn Store>) -> Result<()> {
    let feeder = Feeder::new(data_dir::local_index_to_fill(settings), store.clone());
    let mut line = ProgressLine::start();
    let fed = feeder.catch_up(&mut |so_far: Fed| line.show(so_far.lines, "indexed")).await;
    line.end();
    match fed {
        Ok(_) => Ok(()),
        Err(error) if error.is_elsewhere() => {
            if !wait_for_server(settings, store).await? {
                eprintln!("gannet: the running server is still updating its index");
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

async fn status(settings: &Settings, store: &Arc<dyn Store>, json: bool) -> Result<ExitCode> {
    let totals = store.search_totals().await?;
    let local = data_dir::local_index(settings);
    let index = match local.open_to_read() {
        Ok(_) => local.status().await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let behind = is_behind(&local, store).await?;
    if json {
        let collections: BTreeMap<_, _> = totals
            .iter()
            .map(|total| {
                (&total.collection, serde_json::json!({ "pages": total.pages, "bytes": total.bytes }))
            })
            .collect();
        let index = index.as_ref().ok().map(|status| {
            serde_json::json!({
                "documents": status.documents, "collections": status.collections, "bytes": status.bytes,
                "maxBytes": status.max_bytes, "evicted": status.evicted, "segments": status.segments,
                "version": status.version, "behind": behind,
            })
        });
        let all = serde_json::json!({ "kept": collections, "index": index, "folder": local.folder() });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!("stored in the database");
    if totals.is_empty() {
        println!("  nothing yet; pages are added by scraping, crawling, and gannet index add");
    }
    for total in &totals {
        println!("  {:<10} {:>9} pages {:>9}", total.collection, total.pages, size(total.bytes));
    }
    println!("index in {}", local.folder().display());
    match index {
        Ok(status) => {
            let state = if behind { "behind" } else { "up to date" };
            println!("  {} documents, {}, {state}", status.documents, size(status.bytes));
            if status.evicted > 0 {
                println!(
                    "  {} were removed because the index was full; raise search_index_limit to keep more",
                    status.evicted
                );
            }
        }
        Err(why) => println!("  {why}"),
    }
    Ok(ExitCode::SUCCESS)
}

async fn rebuild(settings: &Settings, store: &Arc<dyn Store>) -> Result<ExitCode> {
    let feeder = Feeder::new(data_dir::local_index_to_fill(settings), store.clone());
    let mut line = ProgressLine::start();
    let rebuilt = feeder.rebuild(&mut |so_far: Fed| line.show(so_far.lines, "indexed")).await;
    line.end();
    match rebuilt {
        Ok((fed, took)) => {
            let seconds = took.as_secs_f64();
            println!(
                "{} entries in {seconds:.1} s, {:.0} per second",
                fed.lines,
                fed.lines as f64 / seconds.max(0.001)
            );
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(error.into()),
    }
}

fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Progress on a terminal: one line that is overwritten.
struct ProgressLine {
    shown: bool,
    written: bool,
    begun: Instant,
}

impl ProgressLine {
    fn start() -> Self {
        Self { shown: shows_progress(), written: false, begun: Instant::now() }
    }

    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn show(&mut self, done: u64, rest: &str) {
        if self.shown {
            self.written = true;
            let rate = done as f64 / self.seconds().max(0.001);
            // Ignore a closed terminal.
            let _ = write!(std::io::stderr(), "\r{done} pages  {rest}  {rate:.0} pages/s\x1b[K");
        }
    }

    fn end(&self) {
        if self.written {
            eprintln!();
        }
    }
}
