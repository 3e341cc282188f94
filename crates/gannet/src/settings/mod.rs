//! Configuration: flags over environment over `gannet.toml` over defaults. Each value remembers where
//! it came from, and a wrong or unknown one is an error that names both.

mod models;
mod search;
mod table;
mod values;

pub use net::{EgressAllow, ProxySettings};
pub use table::{SETTINGS, Setting};

use anyhow::{Context, Result, bail};
use engine::{Plan, Plans};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::secrets::SecretKey;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Default,
    File(PathBuf),
    Environment(&'static str),
    Flag,
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(out, "default"),
            Self::File(path) => write!(out, "{}", path.display()),
            Self::Environment(name) => write!(out, "environment {name}"),
            Self::Flag => write!(out, "command line"),
        }
    }
}

/// A value as text, before it is understood.
#[derive(Clone)]
pub struct Given {
    pub setting: &'static Setting,
    pub text: String,
    pub source: Source,
}

impl Given {
    /// The value for people: secrets hidden, also those inside URLs.
    pub fn shown(&self) -> String {
        if self.text.is_empty() {
            "(none)".to_owned()
        } else if self.setting.secret {
            "(hidden)".to_owned()
        } else {
            without_password(&self.text)
        }
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} = {} ({})", self.setting.name, self.shown(), self.source)
    }
}

/// All settings, understood.
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the configuration")]
#[derive(Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    pub data_dir: PathBuf,
    pub database_url: String,
    pub database_connections: u32,
    pub api_key: Option<engine::keys::Secret>,
    pub secret_key: Option<SecretKey>,
    pub previous_secret_keys: Vec<SecretKey>,
    pub plan: String,
    pub plans: Plans,
    pub auth: bool,
    pub public_url: Option<String>,
    pub trusted_proxies: Vec<server::Network>,
    /// 0 = no limit.
    pub connections_per_address: usize,
    pub write_timeout: Duration,
    pub cors: server::Cors,
    pub egress_allow: EgressAllow,
    pub proxies: ProxySettings,
    pub name_servers: Vec<SocketAddr>,
    pub extra_certificates: Option<PathBuf>,
    pub browser: BrowserChoice,
    pub browser_pages: usize,
    pub browser_sandbox: browser::Sandbox,
    pub browser_user: browser::BrowserUser,
    pub browser_site_isolation: bool,
    pub models: engine::models::ModelSettings,
    pub search: ::search::SearchSettings,
    pub body_limit: usize,
    pub role: Role,
    /// None in a process that only answers.
    pub workers: usize,
    pub lease: Duration,
    pub agent_deadline: Duration,
    pub webhook_retries: Vec<Duration>,
    pub webhook_timeout: Duration,
    pub shutdown_grace: Duration,
    pub objects: ObjectsAt,
    pub objects_limit: u64,
    pub cache_limit: u64,
    /// What bodies of pages may take in memory at once.
    pub page_memory: u64,
    pub snapshots_limit: u64,
    pub search_limit: u64,
    pub search_index_limit: u64,
    pub crawls_limit: u64,
    pub single_crawl_limit: u64,
    pub runs_limit: u64,
    pub webhooks_limit: u64,
    pub min_free_disk: u64,
    pub drill_faults: bool,
    pub research_starter: bool,
    pub log: String,
    pub log_json: bool,
    /// Everything as it was given, for `gannet doctor`.
    pub given: Vec<Given>,
}

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    All,
    /// Answers, and starts no work.
    Api,
    /// Works, and answers only how it is.
    Worker,
}

/// Which browser is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserChoice {
    /// Whichever is found.
    Found,
    Program(PathBuf),
    None,
}

/// Where stored objects go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectsAt {
    Folder(PathBuf),
    S3 {
        bucket: String,
        prefix: String,
        endpoint: String,
        region: String,
        access_key: String,
        secret_key: String,
    },
}

/// What was said on the command line.
#[derive(Debug, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    /// Setting names with their values.
    pub values: Vec<(String, String)>,
}

/// Reads everything; the environment is passed in so that tests need not change their own.
pub fn load(flags: &Flags, environment: &BTreeMap<String, String>) -> Result<Settings> {
    let file = read_file(flags.config.as_deref(), environment)?;
    refuse_unknown_environment(environment)?;
    for (name, _) in &flags.values {
        table::find(name).with_context(|| "on the command line".to_owned())?;
    }
    let given: Vec<Given> =
        SETTINGS.iter().map(|setting| choose(setting, flags, environment, file.as_ref())).collect();
    let plans = file.map(|file| file.plans).unwrap_or_default();
    values::understand(given, plans)
}

/// What the file holds: settings as text, and plans.
#[derive(Debug)]
struct File {
    path: PathBuf,
    values: BTreeMap<String, String>,
    plans: BTreeMap<String, Plan>,
}

const DEFAULT_FILE: &str = "gannet.toml";

fn read_file(flag: Option<&Path>, environment: &BTreeMap<String, String>) -> Result<Option<File>> {
    let named = flag.map(Path::to_path_buf).or_else(|| environment.get("GANNET_CONFIG").map(PathBuf::from));
    let path = match named {
        Some(path) => path,
        None if Path::new(DEFAULT_FILE).exists() => PathBuf::from(DEFAULT_FILE),
        None => return Ok(None),
    };
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    parse_file(path, &text).map(Some)
}

fn parse_file(path: PathBuf, text: &str) -> Result<File> {
    let table: toml::Table = text.parse().with_context(|| format!("{} is not valid TOML", path.display()))?;
    let mut file = File { path, values: BTreeMap::new(), plans: BTreeMap::new() };
    for (name, value) in table {
        if name == "plans" {
            file.plans =
                value.try_into().with_context(|| format!("wrong plan in {}", file.path.display()))?;
            continue;
        }
        table::find(&name).with_context(|| format!("in {}", file.path.display()))?;
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(true) => "on".to_owned(),
            toml::Value::Boolean(false) => "off".to_owned(),
            _ => bail!("setting `{name}` in {} must be text, a number or true/false", file.path.display()),
        };
        file.values.insert(name, text);
    }
    Ok(file)
}

fn refuse_unknown_environment(environment: &BTreeMap<String, String>) -> Result<()> {
    for name in environment.keys() {
        // What tests set is theirs; so is what Kubernetes sets for a service that is called gannet.
        let others = ["GANNET_TEST_", "GANNET_SERVICE_", "GANNET_PORT"];
        let ours = name.starts_with("GANNET_")
            && name != "GANNET_CONFIG"
            && !others.iter().any(|prefix| name.starts_with(prefix));
        if ours && !SETTINGS.iter().any(|setting| setting.environment == name) {
            let near = table::nearest(&name["GANNET_".len()..].to_ascii_lowercase());
            bail!(
                "unknown setting in the environment: {name}{}",
                near.map(|near| format!(" (did you mean {}?)", near.environment)).unwrap_or_default()
            );
        }
    }
    Ok(())
}

fn choose(
    setting: &'static Setting,
    flags: &Flags,
    environment: &BTreeMap<String, String>,
    file: Option<&File>,
) -> Given {
    let flag = flags.values.iter().rev().find(|(name, _)| name == setting.name);
    let (text, source) = if let Some((_, text)) = flag {
        (text.clone(), Source::Flag)
    } else if let Some(text) = environment.get(setting.environment) {
        (text.clone(), Source::Environment(setting.environment))
    } else if let Some((file, text)) = file.and_then(|file| Some((file, file.values.get(setting.name)?))) {
        (text.clone(), Source::File(file.path.clone()))
    } else {
        (setting.default.to_owned(), Source::Default)
    };
    Given { setting, text, source }
}

/// A URL without its secrets: no password, and no parameters, which may hold one too.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (rest, more) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?…"));
    // A password may hold any character that was not encoded, so the last @ ends it.
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}:…@{host}{more}")
        }
        None => format!("{scheme}://{rest}{more}"),
    }
}

#[cfg(test)]
mod tests;
