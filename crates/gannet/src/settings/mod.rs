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
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn flags(pairs: &[(&str, &str)]) -> Flags {
        let values = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Flags { config: None, values }
    }

    fn fails(result: Result<Settings>) -> String {
        format!("{:#}", result.expect_err("should have been refused"))
    }

    #[test]
    fn flags_win_over_environment_over_defaults() {
        let set = load(&flags(&[]), &environment(&[])).unwrap();
        assert_eq!(set.listen.to_string(), "127.0.0.1:3002");
        let set = load(&flags(&[]), &environment(&[("GANNET_LISTEN", "127.0.0.1:1")])).unwrap();
        assert_eq!(set.listen.port(), 1);
        let set =
            load(&flags(&[("listen", "127.0.0.1:2")]), &environment(&[("GANNET_LISTEN", "127.0.0.1:1")]))
                .unwrap();
        assert_eq!(set.listen.port(), 2);
        let source = &set.given.iter().find(|given| given.setting.name == "listen").unwrap().source;
        assert_eq!(*source, Source::Flag);
    }

    #[test]
    fn the_file_is_read_and_its_mistakes_are_named() {
        let good =
            parse_file("g.toml".into(), "listen = '127.0.0.1:5'\nauth = true\n[plans.tiny]\ncredits = 3\n")
                .unwrap();
        assert_eq!(good.values["listen"], "127.0.0.1:5");
        assert_eq!(good.plans["tiny"].credits, Some(3));
        let typo = format!("{:#}", parse_file("g.toml".into(), "listn = 'x'").unwrap_err());
        assert!(typo.contains("g.toml") && typo.contains("listn") && typo.contains("`listen`"), "{typo}");
        let plan = format!("{:#}", parse_file("g.toml".into(), "[plans.x]\ncredit = 3").unwrap_err());
        assert!(plan.contains("g.toml") && plan.contains("credit"), "{plan}");
    }

    #[test]
    fn wrong_values_name_the_setting_and_its_source() {
        let text = fails(load(&flags(&[]), &environment(&[("GANNET_LISTEN", "nowhere")])));
        assert!(text.contains("listen") && text.contains("GANNET_LISTEN"), "{text}");
        let text = fails(load(&flags(&[]), &environment(&[("GANNET_LISTN", "x")])));
        assert!(text.contains("GANNET_LISTN") && text.contains("GANNET_LISTEN"), "{text}");
        let text = fails(load(&flags(&[("plan", "gold")]), &environment(&[])));
        assert!(text.contains("plan") && text.contains("unlimited"), "{text}");
    }

    #[test]
    fn an_open_door_without_a_lock_is_refused() {
        let text = fails(load(&flags(&[("listen", "0.0.0.0:3002"), ("auth", "off")]), &environment(&[])));
        assert!(text.contains("auth"), "{text}");
        assert!(load(&flags(&[("listen", "127.0.0.1:0"), ("auth", "off")]), &environment(&[])).is_ok());
        assert!(load(&flags(&[("listen", "0.0.0.0:3002")]), &environment(&[])).is_ok());
    }

    #[test]
    fn roles_are_for_several_processes() {
        let with = |pairs: &[(&str, &str)]| load(&flags(pairs), &environment(&[]));
        assert_eq!(with(&[]).unwrap().role, Role::All);
        let text = fails(with(&[("role", "api")]));
        assert!(text.contains("role") && text.contains("PostgreSQL"), "{text}");
        let database = ("database_url", "postgres://h/d");
        let api = with(&[("role", "api"), database]).unwrap();
        assert_eq!((api.role, api.workers), (Role::Api, 0));
        assert!(with(&[("role", "worker"), database]).unwrap().workers > 0);
        let text = fails(with(&[("role", "worker"), ("workers", "0"), database]));
        assert!(text.contains("workers"), "{text}");
        assert!(fails(with(&[("role", "both")])).contains("all, api or worker"));
    }

    #[test]
    fn proxies_serve_the_purposes_they_are_given() {
        let with = |pairs: &[(&str, &str)]| load(&flags(pairs), &environment(&[]));
        let set = with(&[]).unwrap();
        assert!(set.proxies.pool.is_empty() && !set.proxies.per_request);
        let set = with(&[("proxies", "http://a.example"), ("proxy_purposes", "scrape, model")]).unwrap();
        assert_eq!(set.proxies.purposes, [net::Purpose::Scrape, net::Purpose::Model]);
        let text = fails(with(&[("proxy_purposes", "mail")]));
        assert!(text.contains("mail") && text.contains("webhook"), "{text}");
    }

    #[test]
    fn models_are_set_by_purpose() {
        let with = |pairs: &[(&str, &str)]| load(&flags(pairs), &environment(&[]));
        assert!(with(&[]).unwrap().models.extract.is_none());
        let own = [("model_url", "http://localhost:11434"), ("model_name", "small"), ("model_key", "k")];
        let set = with(
            &[&own[..], &[("model_agent", "large"), ("model_summary", "http://h.example/v1|other|s3cret")]]
                .concat(),
        );
        let models = set.unwrap().models;
        let (agent, extract, summary) =
            (models.agent.unwrap(), models.extract.unwrap(), models.summary.unwrap());
        assert_eq!((agent.name.as_str(), agent.key.as_deref()), ("large", Some("k")));
        assert_eq!(extract.name, "small");
        assert_eq!((summary.name.as_str(), summary.url.host_str()), ("other", Some("h.example")));
        assert_eq!(summary.key.as_deref(), Some("s3cret"), "a key goes nowhere but where it belongs");
        let other = [&own[..], &[("model_extract", "http://h.example|x")]].concat();
        assert_eq!(with(&other).unwrap().models.extract.unwrap().key, None);
        for (wrong, named) in [
            (vec![("model_url", "http://localhost:8080")], "model_name"),
            (vec![("model_name", "x")], "model_url"),
            (vec![("model_url", "ftp://h"), ("model_name", "x")], "model_url"),
            (vec![("model_agent", "x")], "model_agent"),
            (vec![("model_agent", "http://h|s3cret|b|c")], "model_agent"),
            (vec![("model_context", "10")], "model_context"),
        ] {
            let text = fails(with(&wrong));
            assert!(text.contains(named) && !text.contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn name_servers_have_port_53_unless_they_say_another() {
        let with = |text: &str| load(&flags(&[("name_servers", text)]), &environment(&[]));
        assert!(with("").unwrap().name_servers.is_empty());
        let shown: Vec<String> = with("10.0.0.2, fd00::2,[::1]:5353,127.0.0.1:54")
            .unwrap()
            .name_servers
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(shown, ["10.0.0.2:53", "[fd00::2]:53", "[::1]:5353", "127.0.0.1:54"]);
        let text = fails(with("dns.example"));
        assert!(text.contains("name_servers") && text.contains("dns.example"), "{text}");
    }

    #[test]
    fn proxies_in_front_are_addresses_or_networks() {
        let with = |text: &str| load(&flags(&[("trusted_proxies", text)]), &environment(&[]));
        assert!(with("").unwrap().trusted_proxies.is_empty());
        assert_eq!(with("127.0.0.1, fd00::/8").unwrap().trusted_proxies.len(), 2);
        let text = fails(with("127.0.0.1,proxy.example"));
        assert!(text.contains("trusted_proxies") && text.contains("proxy.example"), "{text}");
    }

    #[test]
    fn secrets_stay_hidden() {
        let set = load(
            &flags(&[("api_key", "fc-0123456789abcdef"), ("database_url", "postgres://me:pw@h/d")]),
            &environment(&[]),
        )
        .unwrap();
        let shown: String = set.given.iter().map(Given::shown).collect();
        assert!(
            !shown.contains("0123456789") && !shown.contains("pw") && shown.contains("me:…@h/d"),
            "{shown}"
        );
        assert!(!format!("{:?}", set.api_key).contains("0123456789abcdef"));
        let proxies = "http://me:s3cret@p.example:3128, socks5://me:s3cret@[::1]";
        let set = load(&flags(&[("proxies", proxies)]), &environment(&[])).unwrap();
        let shown: String = set.given.iter().map(Given::shown).collect();
        assert!(!format!("{shown}{set:?}").contains("s3cret"), "{shown}");
        for wrong in ["http://me:s3cret@p.example:3128,nonsense", "gopher://me:s3cret@p.example", "s3cret"] {
            let text = fails(load(&flags(&[("proxies", wrong)]), &environment(&[])));
            assert!(text.contains("proxies") && !text.contains("s3cret"), "{text}");
        }
        for url in
            ["postgres://u:s3cret@h/d", "postgres://u:a/s3cret@h/d", "postgres://u@h/d?password=s3cret"]
        {
            assert!(!without_password(url).contains("s3cret"), "{}", without_password(url));
        }
        assert_eq!(without_password("sqlite:x/y.db"), "sqlite:x/y.db");
    }
}
