//! Settings: flags override the environment, which overrides `gannet.toml`, which overrides defaults. Each
//! value knows its source, and the error for a wrong or unknown value names both.

mod code;
mod collector;
mod interact;
mod mail;
mod models;
mod search;
mod table;
mod values;
mod web_bot_auth;

pub use net::{EgressAllow, ProxySettings};
pub use table::{SETTINGS, Setting};
pub use web_bot_auth::WebBotAuth;

use access::{Plan, Plans};
use anyhow::{Context, Result, bail};
pub use code::CodeSettings;
pub use collector::CollectorSettings;
pub use interact::SessionSettings;
pub use mail::MailSettings;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::StoreOptions;
use store::secrets::SecretKey;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    Default,
    File(PathBuf),
    Environment(&'static str),
    Flag,
}

impl fmt::Display for ValueSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(out, "default"),
            Self::File(path) => write!(out, "{}", path.display()),
            Self::Environment(name) => write!(out, "environment {name}"),
            Self::Flag => write!(out, "command line"),
        }
    }
}

/// A value as text, before it is parsed.
#[derive(Clone)]
pub struct SettingValue {
    pub setting: &'static Setting,
    pub text: String,
    pub source: ValueSource,
}

impl SettingValue {
    /// The value for display: secrets are hidden, also those in URLs.
    pub fn shown(&self) -> String {
        if self.text.is_empty() {
            "(none)".to_owned()
        } else if self.setting.secret {
            "(hidden)".to_owned()
        } else {
            hide_password(&self.text)
        }
    }
}

impl fmt::Debug for SettingValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} = {} ({})", self.setting.name, self.shown(), self.source)
    }
}

/// All settings, parsed.
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the configuration")]
#[derive(Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    pub data_dir: PathBuf,
    pub database_url: String,
    pub database_connections: u32,
    pub api_key: Option<access::keys::Secret>,
    pub secret_key: Option<SecretKey>,
    pub previous_secret_keys: Vec<SecretKey>,
    pub plan: String,
    pub plans: Plans,
    /// Issuers whose identity assertions are accepted.
    pub trust: Vec<identity::TrustedIssuer>,
    /// The plan of agents that register without an assertion; `None`: they may not.
    pub anonymous_registration: Option<String>,
    /// What callers without a key may do; `None`: nothing.
    pub keyless: Option<access::keyless::KeylessSettings>,
    pub auth: bool,
    pub dashboard: DashboardFiles,
    /// Whether people can allow applications.
    pub oauth: bool,
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
    /// None where requests for pages are not signed.
    pub web_bot_auth: Option<WebBotAuth>,
    pub browser: BrowserChoice,
    pub browser_pages: usize,
    pub browser_sandbox: browser::Sandbox,
    pub browser_user: browser::BrowserUser,
    pub browser_site_isolation: bool,
    pub browser_restrict_files: bool,
    pub code: CodeSettings,
    pub interact: SessionSettings,
    pub models: engine::models::ModelSettings,
    pub search: ::search::SearchSettings,
    pub body_limit: usize,
    pub role: ProcessRole,
    /// 0 in a process that only serves the API.
    pub workers: usize,
    pub lease: Duration,
    pub agent_deadline: Duration,
    pub webhook_retries: Vec<Duration>,
    pub webhook_timeout: Duration,
    /// None where mail is not set up.
    pub mail: Option<MailSettings>,
    pub shutdown_grace: Duration,
    pub objects: ObjectStorage,
    pub objects_limit: u64,
    pub cache_limit: u64,
    /// Limit of memory for page bodies.
    pub page_memory: u64,
    /// Limit of memory for responses that are not read yet.
    pub response_memory: usize,
    pub snapshots_limit: u64,
    /// Whether scraped pages are kept for search.
    pub search_pages: bool,
    pub search_limit: u64,
    pub search_index_limit: u64,
    pub crawls_limit: u64,
    pub single_crawl_limit: u64,
    pub runs_limit: u64,
    pub webhooks_limit: u64,
    /// Days until a new key expires, where nothing else is said.
    pub key_days: Option<u32>,
    /// How long rows of the audit log are kept.
    pub audit_retention: Duration,
    pub min_free_disk: u64,
    pub research_starter: bool,
    /// None where nothing is sent to a collector of OpenTelemetry.
    pub collector: Option<CollectorSettings>,
    pub log: String,
    pub log_json: bool,
    /// Settings of an earlier version that were given and have no effect any more.
    pub obsolete: Vec<String>,
    /// All values as text, for `gannet doctor`.
    pub given: Vec<SettingValue>,
}

impl Settings {
    /// Whether keys travel in the clear between this server and callers on other machines, as far as it can know.
    pub fn is_open_without_tls(&self, address: SocketAddr) -> bool {
        let has_tls = self.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
        !address.ip().is_loopback() && !has_tls && self.trusted_proxies.is_empty()
    }

    /// Where the database is and how to reach it.
    pub fn store_options(&self) -> StoreOptions {
        let mut options = StoreOptions::new(self.database_url.clone());
        options.max_connections = self.database_connections;
        options
    }

    /// The folder of installed models.
    pub fn models_folder(&self) -> PathBuf {
        self.data_dir.join("models")
    }
}

/// The role of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessRole {
    All,
    /// Serves the API and runs no jobs.
    Api,
    /// Runs jobs; serves only health, readiness and metrics.
    Worker,
}

/// Which files the dashboard consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DashboardFiles {
    /// There is no dashboard.
    Off,
    /// Those in this binary.
    Embedded,
    /// Those of a folder, read for every request.
    Folder(PathBuf),
}

/// Which browser is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserChoice {
    /// The first one found.
    Found,
    Program(PathBuf),
    None,
}

/// Where objects are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectStorage {
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

/// Options of the command line.
#[derive(Debug, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    /// Setting names with their values.
    pub values: Vec<(String, String)>,
}

/// Loads all settings. The environment is a parameter, so that tests need not change the real one.
pub fn load(flags: &Flags, environment: &BTreeMap<String, String>) -> Result<Settings> {
    let file = read_file(flags.config.as_deref(), environment)?;
    reject_unknown_environment(environment)?;
    let mut obsolete = BTreeSet::new();
    for (name, _) in &flags.values {
        if table::is_obsolete(name) {
            obsolete.insert(name.clone());
        } else {
            table::find(name).with_context(|| "on the command line".to_owned())?;
        }
    }
    obsolete.extend(environment.keys().filter_map(|name| table::obsolete_in_environment(name)));
    let given: Vec<SettingValue> =
        SETTINGS.iter().map(|setting| choose(setting, flags, environment, file.as_ref())).collect();
    let (plans, trust) = file.map_or_else(Default::default, |file| {
        obsolete.extend(file.obsolete);
        (file.plans, file.trust)
    });
    values::parse_settings(given, obsolete.into_iter().collect(), plans, trust)
}

/// The parsed file: settings as text, and plans.
#[derive(Debug)]
struct SettingsFile {
    path: PathBuf,
    values: BTreeMap<String, String>,
    obsolete: Vec<String>,
    plans: BTreeMap<String, Plan>,
    trust: Vec<identity::TrustedIssuer>,
}

const DEFAULT_FILE: &str = "gannet.toml";

fn read_file(flag: Option<&Path>, environment: &BTreeMap<String, String>) -> Result<Option<SettingsFile>> {
    let named = flag.map(Path::to_path_buf).or_else(|| environment.get("GANNET_CONFIG").map(PathBuf::from));
    let path = match named {
        Some(path) => path,
        None if Path::new(DEFAULT_FILE).exists() => PathBuf::from(DEFAULT_FILE),
        None => return Ok(None),
    };
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    parse_file(path, &text).map(Some)
}

fn parse_file(path: PathBuf, text: &str) -> Result<SettingsFile> {
    let table: toml::Table = text.parse().with_context(|| format!("{} is not valid TOML", path.display()))?;
    let mut file = SettingsFile {
        path,
        values: BTreeMap::new(),
        obsolete: Vec::new(),
        plans: BTreeMap::new(),
        trust: Vec::new(),
    };
    for (name, value) in table {
        if name == "plans" {
            file.plans =
                value.try_into().with_context(|| format!("invalid plan in {}", file.path.display()))?;
            continue;
        }
        if name == "trust" {
            file.trust = value
                .try_into()
                .with_context(|| format!("invalid `[[trust]]` in {}", file.path.display()))?;
            for issuer in &file.trust {
                let checked = issuer.validate().map_err(anyhow::Error::msg);
                checked.with_context(|| format!("invalid `[[trust]]` in {}", file.path.display()))?;
            }
            continue;
        }
        if table::is_obsolete(&name) {
            file.obsolete.push(name);
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

fn reject_unknown_environment(environment: &BTreeMap<String, String>) -> Result<()> {
    for name in environment.keys() {
        // Ignore variables of tests, and those that Kubernetes sets for a service named gannet.
        let others = ["GANNET_TEST_", "GANNET_SERVICE_", "GANNET_PORT"];
        let ours = name.starts_with("GANNET_")
            && name != "GANNET_CONFIG"
            && !others.iter().any(|prefix| name.starts_with(prefix));
        let known = SETTINGS.iter().any(|setting| setting.environment == name)
            || table::obsolete_in_environment(name).is_some();
        if ours && !known {
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
    file: Option<&SettingsFile>,
) -> SettingValue {
    let flag = flags.values.iter().rev().find(|(name, _)| name == setting.name);
    let (text, source) = if let Some((_, text)) = flag {
        (text.clone(), ValueSource::Flag)
    } else if let Some(text) = environment.get(setting.environment) {
        (text.clone(), ValueSource::Environment(setting.environment))
    } else if let Some((file, text)) = file.and_then(|file| Some((file, file.values.get(setting.name)?))) {
        (text.clone(), ValueSource::File(file.path.clone()))
    } else {
        (setting.default.to_owned(), ValueSource::Default)
    };
    SettingValue { setting, text, source }
}

/// A URL without password and parameters, which may contain secrets.
pub fn hide_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (rest, more) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?…"));
    // A password may contain an unencoded @, so the last @ ends it.
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
