//! `gannet index`: brings collections into the local search index, shows what it holds, and fills it again. Works beside a running
//! server, which takes in by itself what was added.

use crate::home::{self, IfMissing};
use crate::settings::Settings;
use anyhow::{Context, Result, ensure};
use engine::search::feed::import::{Import, Imported, import};
use engine::search::feed::{Fed, Feeder};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use store::Store;
use url::Url;
use uuid::Uuid;

const COLLECTIONS: [&str; 3] = ["web", "developer", "gov"];

#[derive(Debug, clap::Subcommand)]
pub enum Index {
    /// Import files, rows and web archives
    Add(Add),
    /// Let imported or scraped pages go
    Remove {
        /// Those whose address begins with this; empty = all of the collection
        prefix: String,
        #[arg(long, default_value = "web", value_parser = COLLECTIONS)]
        collection: String,
        /// Name or id of the team they belong to [default: everybody]
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
    },
    /// Show what is kept for search, and how far the index of this machine is
    Status {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Empty the index of this machine and fill it again from the database; no server may use it meanwhile
    Rebuild,
}

/// Import files, rows and web archives; exit code 1 when something could not be read
#[derive(Debug, clap::Args)]
pub struct Add {
    /// Folders of documents (.md, .html, .txt), rows (.jsonl, .json), web archives (.warc, .warc.gz)
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[arg(long, default_value = "web", value_parser = COLLECTIONS)]
    collection: String,
    /// Who may find it, by name or id [default: everybody]
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    /// Where it comes from, as `sources` of a developer search names it [default: the name of the folder or file]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// The repository it belongs to, owner/name
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<String>,
    /// What the addresses of files begin with [default: `import:///NAME-NUMBER/`]
    #[arg(long, value_name = "URL")]
    base_url: Option<Url>,
    /// Something to filter by, for instance license=MIT; may be repeated
    #[arg(long = "attribute", value_name = "NAME=VALUE", value_parser = crate::name_and_value)]
    attributes: Vec<(String, String)>,
}

impl Index {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let if_missing = if matches!(self, Self::Add(_)) { IfMissing::Create } else { IfMissing::Fail };
        let opened = home::open_for_command(settings, if_missing).await?;
        let store = opened.store.clone();
        let outcome = match self {
            Self::Add(add) => add.run(settings, &store).await,
            Self::Remove { prefix, collection, team, .. } => {
                let team = team_of(store.as_ref(), team.as_deref()).await?;
                let gone = store.forget_search_pages(team, &collection, &prefix).await?;
                println!("{gone} pages are gone");
                feed(settings, &store).await.map(|()| ExitCode::SUCCESS)
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
            ensure!(!base.cannot_be_a_base(), "--base-url must be an address such as https://docs.example/");
        }
        let team = team_of(store.as_ref(), self.team.as_deref()).await?;
        let mut failed = false;
        for path in &self.paths {
            let mut line = Line::start();
            let about = self.about(path);
            let imported = import(store, team, path, &about, |so_far| {
                line.show(so_far.read, &format!("{} new  {} failed", so_far.written, so_far.failed));
            })
            .await
            .with_context(|| format!("importing {}", path.display()))?;
            line.end();
            if self.base_url.is_none() {
                forget_file_addresses(store.as_ref(), team, &self.collection, path).await?;
            }
            failed |= imported.failed > 0;
            tell(path, &imported, line.seconds());
        }
        feed(settings, store).await?;
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn about(&self, path: &Path) -> Import {
        let mut attributes: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &self.attributes {
            // Named twice it is a list.
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

fn tell(path: &Path, imported: &Imported, seconds: f64) {
    let Imported { read, written, empty, failed, faults, warned, warnings } = imported;
    println!(
        "{}: {read} read, {written} new or changed, {empty} empty, {failed} failed in {seconds:.1} s",
        path.display()
    );
    for fault in faults {
        eprintln!("gannet: {fault}");
    }
    if *failed > faults.len() as u64 {
        eprintln!("gannet: and {} more", failed - faults.len() as u64);
    }
    for warning in warnings {
        eprintln!("gannet: {warning}");
    }
    if *warned > warnings.len() as u64 {
        eprintln!("gannet: and {} more warnings", warned - warnings.len() as u64);
    }
}

/// Earlier versions gave files their path on this machine as an address. What was just imported again has taken their place.
async fn forget_file_addresses(store: &dyn Store, team: Uuid, collection: &str, path: &Path) -> Result<()> {
    let whole = path.canonicalize().ok().filter(|path| path.is_dir());
    if let Some(prefix) = whole.and_then(|folder| Url::from_directory_path(folder).ok()) {
        store.forget_search_pages(team, collection, prefix.as_str()).await?;
    }
    Ok(())
}

/// Nil for everybody.
async fn team_of(store: &dyn Store, wanted: Option<&str>) -> Result<Uuid> {
    let Some(wanted) = wanted else { return Ok(Uuid::nil()) };
    let teams = store.teams().await?;
    let found = teams.iter().find(|team| team.id.to_string() == wanted || team.name == wanted);
    Ok(found.with_context(|| format!("there is no team `{wanted}`"))?.id)
}

/// Brings the index up to date, unless a server that runs does so.
pub async fn feed(settings: &Settings, store: &Arc<dyn Store>) -> Result<()> {
    let feeder = Feeder::new(home::local_index(settings), store.clone());
    let mut line = Line::start();
    let fed = feeder.catch_up(|so_far: Fed| line.show(so_far.lines, "indexed")).await;
    line.end();
    match fed {
        Ok(_) => Ok(()),
        Err(error) if error.is_elsewhere() => {
            eprintln!("gannet: the server that runs takes it in within seconds");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

async fn status(settings: &Settings, store: &Arc<dyn Store>, json: bool) -> Result<ExitCode> {
    let totals = store.search_totals().await?;
    let local = home::local_index(settings);
    let index = match local.open_to_read() {
        Ok(_) => local.status().await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let behind = match &index {
        // One line more than is there means that it is up to date.
        Ok(status) => !store.search_feed(status.last_seq, 1).await?.entries.is_empty(),
        Err(_) => true,
    };
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
    println!("kept in the database");
    if totals.is_empty() {
        println!("  nothing yet: pages come in by scraping, crawling, and gannet index add");
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
                println!("  {} had to go: raise search_index_limit to keep more", status.evicted);
            }
        }
        Err(why) => println!("  {why}"),
    }
    Ok(ExitCode::SUCCESS)
}

async fn rebuild(settings: &Settings, store: &Arc<dyn Store>) -> Result<ExitCode> {
    let feeder = Feeder::new(home::local_index(settings), store.clone());
    let mut line = Line::start();
    let rebuilt = feeder.rebuild(|so_far: Fed| line.show(so_far.lines, "indexed")).await;
    line.end();
    match rebuilt {
        Ok((fed, took)) => {
            let seconds = took.as_secs_f64();
            println!(
                "{} lines in {seconds:.1} s, {:.0} a second",
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

/// How far it is, on a terminal: one line that is written over.
struct Line {
    shown: bool,
    written: bool,
    begun: Instant,
}

impl Line {
    fn start() -> Self {
        Self { shown: std::io::stderr().is_terminal(), written: false, begun: Instant::now() }
    }

    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn show(&mut self, done: u64, rest: &str) {
        if self.shown {
            self.written = true;
            let rate = done as f64 / self.seconds().max(0.001);
            // Whoever closed the terminal does not want to know.
            let _ = write!(std::io::stderr(), "\r{done} pages  {rest}  {rate:.0} pages/s\x1b[K");
        }
    }

    fn end(&self) {
        if self.written {
            eprintln!();
        }
    }
}
