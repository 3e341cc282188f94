//! The data directory and what is in it: opened the same way by every command.

pub use crate::database::{IfMissing, lock_database, open_for_command, open_store, sqlite_file};
use crate::settings::{BrowserChoice, ObjectStorage, Settings};
use anyhow::{Context, Result};
use browser::{BrowserSettings, Browsers};
use engine::keys::{Secret, new_key};
use engine::search::feed::LocalIndex;
use engine::storage::{Folder, Storage, StorageLimits};
use net::{EgressPolicy, Fetcher, FetcherSettings};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::keys::NewTeam;
use store::objects::{ObjectPlace, Objects, S3Place};
use store::{KeyStore, ObjectIndex, Store};
use uuid::Uuid;
use wire::Scope;

const FIRST_KEY: &str = "first-key";

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
    let mut policy = EgressPolicy::new(settings.search.allow_hosts(allow));
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
    let mut fetcher = FetcherSettings { proxies, extra_roots, ..FetcherSettings::new(policy) };
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
        ..BrowserSettings::default()
    };
    Some(Browsers::new(fetcher.clone(), chosen))
}

/// The key that the first start created.
#[derive(Debug)]
pub struct FirstKey {
    pub secret: Secret,
    pub file: PathBuf,
}

/// Creates the first team and key if there is none. Returns `None` on every later start.
pub async fn create_first_team(settings: &Settings, store: &dyn KeyStore) -> Result<Option<FirstKey>> {
    let secret = match &settings.api_key {
        Some(chosen) => chosen.clone(),
        None => Secret::random().context("no system randomness for a new key")?,
    };
    let team = NewTeam {
        id: Uuid::now_v7(),
        name: "default".to_owned(),
        plan: settings.plan.clone(),
        zero_data_retention: false,
    };
    let key = new_key(team.id, "first", Scope::ALL, None, &secret);
    if !store.teams().await?.is_empty() {
        return Ok(None);
    }
    // Write the file before the key exists, so that a crash in between cannot lose the only key.
    let file = first_key_file(&settings.data_dir);
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    write_secret(&draft, secret.reveal()).with_context(|| format!("cannot write {}", draft.display()))?;
    if store.found(team, key).await?.is_some() {
        std::fs::rename(&draft, &file).with_context(|| format!("cannot write {}", file.display()))?;
        return Ok(Some(FirstKey { secret, file }));
    }
    std::fs::remove_file(&draft)?;
    Ok(None)
}

pub fn first_key_file(data_dir: &Path) -> PathBuf {
    data_dir.join(FIRST_KEY)
}

/// Adds the `api_key` of the settings to the existing keys on later starts, unless it was revoked.
pub async fn accept_configured_key(settings: &Settings, store: &dyn KeyStore) -> Result<()> {
    let Some(chosen) = &settings.api_key else { return Ok(()) };
    match store.key_by_hash(&chosen.hash()).await? {
        Some((key, _)) if key.revoked_at.is_some() => {
            tracing::warn!("the configured api_key has been revoked and stays revoked");
        }
        Some(_) => {}
        None => {
            let team = store.teams().await?.into_iter().next().context("there is no team")?;
            let created = engine::keys::create(store, team.id, "configured", Scope::ALL, None, chosen).await;
            // Another server that started at the same time may have created it.
            if let Err(error) = created
                && store.key_by_hash(&chosen.hash()).await?.is_none()
            {
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// Creates the file readable by its owner only.
fn write_secret(path: &Path, secret: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{secret}")?;
    file.sync_all()
}
