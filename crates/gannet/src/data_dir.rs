//! The data directory and what is in it: opened the same way by every command.

pub use crate::database::{IfMissing, lock_database, open_for_command, open_store, sqlite_file};
use crate::ocr::find_ocr;
use crate::settings::{BrowserChoice, ObjectStorage, Settings, WebBotAuth};
use anyhow::{Context, Result};
use browser::{BrowserSettings, Browsers};
use document_process::{DocumentParser, ParserOptions};
use engine::models::SentenceModels;
use engine::search::feed::LocalIndex;
use engine::storage::{Folder, Storage, StorageLimits};
use net::{EgressPolicy, Fetcher, FetcherSettings};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use store::objects::{ObjectPlace, Objects, S3Place};
use store::{ObjectIndex, Store};

/// The folder of files that are being uploaded. They have no names there.
pub const INCOMING_FILES: &str = "incoming";

pub fn open_objects(settings: &Settings, index: Arc<dyn ObjectIndex>) -> Result<Objects> {
    let location = match &settings.objects {
        ObjectStorage::Folder(path) => ObjectPlace::Folder(path.clone()),
        ObjectStorage::S3 { bucket, prefix, endpoint, region, access_key, secret_key } => {
            ObjectPlace::S3(S3Place {
                bucket: bucket.clone(),
                prefix: prefix.clone(),
                endpoint: endpoint.clone(),
                region: region.clone(),
                access_key: access_key.clone(),
                secret_key: secret_key.clone(),
            })
        }
    };
    Objects::open(&location, index).context("Could not open the object storage")
}

/// The local search index of this machine; it is not opened yet.
pub fn local_index(settings: &Settings) -> Arc<LocalIndex> {
    Arc::new(LocalIndex::at(search_index_folder(settings), settings.search_index_limit))
}

/// The same for searches, whose first results a sentence model looks at where one is installed.
pub fn local_index_to_search(settings: &Settings, models: &Arc<SentenceModels>) -> Arc<LocalIndex> {
    let local = LocalIndex::at(search_index_folder(settings), settings.search_index_limit);
    Arc::new(local.with_last_look(models.clone()))
}

/// The same, for a command that takes in many pages at once.
pub fn local_index_to_fill(settings: &Settings) -> Arc<LocalIndex> {
    let local = LocalIndex::at(search_index_folder(settings), settings.search_index_limit);
    Arc::new(local.with_all_threads())
}

fn search_index_folder(settings: &Settings) -> PathBuf {
    settings.data_dir.join("search-index")
}

/// Every folder that a server writes to, with the name used in messages when its disk is full.
pub fn folders(settings: &Settings) -> Vec<Folder> {
    let database = sqlite_file(&settings.database_url).and_then(|file| Some(file.parent()?.to_owned()));
    let is_data = |path: &PathBuf| *path == settings.data_dir;
    let holds_database = database.as_ref().is_some_and(is_data);
    let mut folders = vec![Folder { name: "data folder", path: settings.data_dir.clone(), holds_database }];
    if let Some(path) = database.filter(|path| !is_data(path)) {
        folders.push(Folder { name: "database", path, holds_database: true });
    }
    if let ObjectStorage::Folder(path) = &settings.objects {
        folders.push(Folder { name: "objects folder", path: path.clone(), holds_database: false });
    }
    let path = search_index_folder(settings);
    folders.push(Folder { name: "search index folder", path, holds_database: false });
    folders
}

/// Watches the free space of these folders and the storage limits.
pub fn open_storage(settings: &Settings, store: &Arc<dyn Store>) -> Arc<Storage> {
    let limits = StorageLimits {
        min_free: settings.min_free_disk,
        crawl_ceiling: settings.crawls_limit,
        run_ceiling: settings.runs_limit,
    };
    Storage::new(store.clone(), folders(settings), limits)
}

/// The HTTP client for all outbound requests, with the egress rules of the settings. `own_listener` is the
/// address this process listens on, which is never fetched; `0.0.0.0` or `[::]` stands for every address of
/// this machine with that port.
pub fn open_fetcher(settings: &Settings, own_listener: Option<SocketAddr>) -> Result<Fetcher> {
    let allow = settings.models.open_hosts(settings.egress_allow.clone());
    let allow = settings.search.allow_hosts(allow);
    let allow = match &settings.mail {
        Some(mail) => mail.smtp.allow_in(allow),
        None => allow,
    };
    let allow = match &settings.collector {
        Some(collector) => collector.allow_in(allow),
        None => allow,
    };
    let mut policy = EgressPolicy::new(allow);
    if let Some(listener) = own_listener {
        policy = policy.refuse_own_listener(listener);
    }
    let extra_roots = match &settings.extra_certificates {
        None => Vec::new(),
        Some(path) => {
            let shown = || format!("setting `extra_certificates` = `{}`", path.display());
            let pem = std::fs::read(path).with_context(shown)?;
            net::parse_pem_certificates(&pem).with_context(shown)?
        }
    };
    let proxies = settings.proxies.clone();
    let bot_identity = settings.web_bot_auth.as_ref().map(WebBotAuth::open).transpose()?;
    let mut fetcher = FetcherSettings { proxies, extra_roots, bot_identity, ..FetcherSettings::new(policy) };
    if !settings.name_servers.is_empty() {
        let servers = net::DnsResolver::new(settings.name_servers.clone());
        fetcher.resolver = Arc::new(net::CachingResolver::new(servers));
    }
    Fetcher::new(fetcher).context("Could not set up outbound HTTP")
}

/// The browsers of this process, if any; none is started before it is needed.
pub fn open_browsers(settings: &Settings, fetcher: &Fetcher) -> Option<Browsers> {
    let executable = match &settings.browser {
        BrowserChoice::None => return None,
        BrowserChoice::Found => None,
        BrowserChoice::Program(path) => Some(path.clone()),
    };
    if let Err(error) = browser::find_chromium(executable.as_deref()) {
        tracing::warn!(%error, "no browser; pages that need one cannot be scraped");
        return None;
    }
    let chosen = BrowserSettings {
        executable,
        sandbox: settings.browser_sandbox,
        user: settings.browser_user,
        site_isolation: settings.browser_site_isolation,
        max_pages: settings.browser_pages,
        restrict_files: settings.browser_restrict_files,
        ..BrowserSettings::default()
    };
    Some(Browsers::new(fetcher.clone(), chosen))
}

/// Reads files in sandboxed processes, none of which is started before it is needed; with OCR, if its program
/// and its models are installed.
pub fn open_documents(settings: &Settings) -> DocumentParser {
    DocumentParser::new(ParserOptions { ocr: find_ocr(settings), ..ParserOptions::default() })
}

/// The same for a command that reads so many files: for a single one no process is kept for the next.
pub fn open_documents_for_command(settings: &Settings, files: usize) -> DocumentParser {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let warm_processes = if files > 1 { cores } else { 0 };
    DocumentParser::new(ParserOptions { ocr: find_ocr(settings), warm_processes, ..ParserOptions::default() })
}
