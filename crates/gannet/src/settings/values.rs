//! Parses the settings and rejects conflicts; error messages name the source of a value.

use super::{
    BrowserChoice, DashboardFiles, EgressAllow, ObjectStorage, ProcessRole, ProxySettings, SettingValue,
    Settings,
};
use access::keyless::KeylessSettings;
use access::{Plan, Plans};
use anyhow::{Context, Result, anyhow, bail, ensure};
use browser::{BrowserUser, Sandbox};
use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::secrets::SecretKey;

#[expect(clippy::too_many_lines, reason = "one line for each setting")]
pub fn parse_settings(
    given: Vec<SettingValue>,
    obsolete: Vec<String>,
    plans: BTreeMap<String, Plan>,
    trust: Vec<identity::TrustedIssuer>,
) -> Result<Settings> {
    let values = Values(&given);
    let plans = Plans::new(plans);
    let known_plan = |text: &str| {
        let names: Vec<&str> = plans.iter().map(|(name, _)| name).collect();
        ensure!(plans.contains(text), "unknown plan; use one of {}", names.join(", "));
        Ok(text.to_owned())
    };
    let plan = values.parse("plan", known_plan)?;
    let anonymous_registration = values
        .parse("anonymous_registration", |text| (text != "off").then(|| known_plan(text)).transpose())?;
    let keyless = keyless(&values, known_plan)?;
    let data_dir = values.parse("data_dir", folder)?;
    let listen = values.parse("listen", address)?;
    let auth = values.parse("auth", switch)?;
    let objects = objects(&values, &data_dir)?;
    let database_url = values.parse("database_url", |text| database_url(text, &data_dir))?;
    let role = values.parse("role", role)?;
    let workers = values.parse("workers", |text| between(text, 0..=10_000))?;
    refuse_conflicts((auth, listen), (role, &database_url, workers))?;
    let public_url = values.parse("public_url", public_url)?;
    require_own_address(&trust, public_url.as_deref())?;
    Ok(Settings {
        listen,
        auth,
        dashboard: values.parse("dashboard", dashboard_files)?,
        oauth: values.parse("oauth", switch)?,
        database_url,
        role,
        database_connections: values.parse("database_connections", |text| between(text, 1..=1000))?,
        api_key: values.parse("api_key", |text| {
            optional(text)
                .map(|key| access::keys::Secret::chosen(&key).map_err(|error| anyhow!(error)))
                .transpose()
        })?,
        secret_key: values
            .parse("secret_key", |text| optional(text).map(|key| secret_key(&key)).transpose())?,
        previous_secret_keys: values.parse("previous_secret_keys", |text| list(text, secret_key))?,
        plan,
        anonymous_registration,
        keyless,
        trust,
        plans,
        public_url,
        trusted_proxies: values
            .parse("trusted_proxies", |text| list(text, |one| one.parse().map_err(anyhow::Error::msg)))?,
        connections_per_address: values
            .parse("connections_per_address", |text| between(text, 0..=server::serve::MAX_CONNECTIONS))?,
        write_timeout: values.parse("write_timeout", |text| duration(text, Duration::from_millis(100)))?,
        cors: values.parse("cors", cors)?,
        egress_allow: values.parse("egress_allow", |text| Ok(EgressAllow::parse(text)?))?,
        proxies: proxies(&values)?,
        name_servers: values.parse("name_servers", |text| list(text, name_server))?,
        extra_certificates: values
            .parse("extra_certificates", |text| Ok(optional(text).map(PathBuf::from)))?,
        web_bot_auth: super::web_bot_auth::parse_settings(&values)?,
        browser: values.parse("browser", |text| Ok(browser_choice(text)))?,
        browser_pages: values.parse("browser_pages", |text| between(text, 1..=256))?,
        browser_sandbox: values.parse("browser_sandbox", sandbox)?,
        browser_user: values.parse("browser_user", |text| Ok(BrowserUser::parse(text)?))?,
        browser_site_isolation: values.parse("browser_site_isolation", switch)?,
        browser_restrict_files: values.parse("browser_restrict_files", switch)?,
        code: super::code::parse_settings(&values, &data_dir)?,
        interact: super::interact::parse_settings(&values)?,
        models: super::models::parse_settings(&values)?,
        search: super::search::parse_settings(&values)?,
        body_limit: usize::try_from(values.parse("body_limit", bytes)?).unwrap_or(usize::MAX),
        workers: if role == ProcessRole::Api { 0 } else { workers },
        lease: values.parse("lease", |text| duration(text, Duration::from_millis(300)))?,
        agent_deadline: values.parse("agent_deadline", |text| duration(text, Duration::from_secs(1)))?,
        webhook_retries: values.parse("webhook_retries", webhook_retries)?,
        webhook_timeout: values.parse("webhook_timeout", |text| duration(text, Duration::from_millis(50)))?,
        mail: super::mail::parse_settings(&values)?,
        shutdown_grace: values.parse("shutdown_grace", |text| duration(text, Duration::ZERO))?,
        objects,
        objects_limit: values.parse("objects_limit", bytes)?,
        cache_limit: values.parse("cache_limit", bytes)?,
        page_memory: values.parse("page_memory", bytes)?,
        response_memory: usize::try_from(values.parse("response_memory", bytes)?).unwrap_or(usize::MAX),
        snapshots_limit: values.parse("snapshots_limit", bytes)?,
        search_pages: values.parse("search_pages", switch)?,
        search_limit: values.parse("search_limit", bytes)?,
        search_index_limit: values.parse("search_index_limit", bytes)?,
        crawls_limit: values.parse("crawls_limit", bytes)?,
        single_crawl_limit: values.parse("single_crawl_limit", bytes)?,
        runs_limit: values.parse("runs_limit", bytes)?,
        webhooks_limit: values.parse("webhooks_limit", bytes)?,
        key_days: values
            .parse("key_days", |text| (text != "off").then(|| between(text, 1_u32..=3650)).transpose())?,
        audit_retention: values
            .parse("audit_days", |text| Ok(Duration::from_hours(24 * between(text, 1_u64..=3650)?)))?,
        min_free_disk: values.parse("min_free_disk", bytes)?,
        research_starter: values.parse("research_starter", switch)?,
        collector: super::collector::parse_settings(&values)?,
        log: values.parse("log", |text| {
            tracing_subscriber::EnvFilter::try_new(text)?;
            Ok(text.to_owned())
        })?,
        log_json: values.parse("log_format", is_json)?,
        data_dir,
        obsolete,
        given,
    })
}

fn is_json(log_format: &str) -> Result<bool> {
    match log_format {
        "text" => Ok(false),
        "json" => Ok(true),
        _ => bail!("must be text or json"),
    }
}

fn folder(text: &str) -> Result<PathBuf> {
    ensure!(!text.is_empty(), "must not be empty");
    Ok(PathBuf::from(text))
}

fn keyless(
    values: &Values<'_>,
    known_plan: impl Fn(&str) -> Result<String>,
) -> Result<Option<KeylessSettings>> {
    let plan = values.parse("keyless", |text| (text != "off").then(|| known_plan(text)).transpose())?;
    let requests_per_day = values.parse("keyless_requests", |text| between(text, 1..=1_000_000))?;
    let credits_per_day = values.parse("keyless_credits", |text| between(text, 1..=1_000_000))?;
    Ok(plan.map(|plan| KeylessSettings { plan, requests_per_day, credits_per_day }))
}

/// Settings that are right by themselves and wrong together.
fn refuse_conflicts(
    (auth, listen): (bool, SocketAddr),
    (role, database_url, workers): (ProcessRole, &str, usize),
) -> Result<()> {
    ensure!(
        auth || listen.ip().is_loopback(),
        "auth is off, but listen is {listen}: without authentication the server may only listen on a loopback address"
    );
    ensure!(
        role == ProcessRole::All || !database_url.starts_with("sqlite:"),
        "role must be all with SQLite; several processes need PostgreSQL (database_url)"
    );
    ensure!(
        role != ProcessRole::Worker || workers > 0,
        "role is worker, but workers is 0: the process would do nothing"
    );
    Ok(())
}

pub struct Values<'a>(&'a [SettingValue]);

impl Values<'_> {
    pub fn parse<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T>) -> Result<T> {
        let given =
            self.0.iter().find(|given| given.setting.name == name).context("a setting without a row")?;
        parse(given.text.trim())
            .with_context(|| format!("setting `{name}` = `{}` (from: {})", given.shown(), given.source))
    }

    fn text(&self, name: &str) -> Result<String> {
        self.parse(name, |text| Ok(text.to_owned()))
    }
}

pub fn optional(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn proxies(values: &Values<'_>) -> Result<ProxySettings> {
    Ok(ProxySettings {
        pool: values.parse("proxies", |text| list(text, |one| Ok(one.parse()?)))?,
        purposes: values.parse("proxy_purposes", |text| list(text, purpose))?,
        per_request: values.parse("proxy_requests", switch)?,
    })
}

/// Parses a comma-separated list; empty text is an empty list.
pub fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(parse).collect()
}

/// What may go through a proxy: all but mail, which is not sent over HTTP.
fn purpose(name: &str) -> Result<net::Purpose> {
    let mut proxied = net::Purpose::ALL.into_iter().filter(|purpose| *purpose != net::Purpose::Mail);
    let known = proxied.clone().map(net::Purpose::name).collect::<Vec<_>>().join(", ");
    let named = proxied.find(|purpose| purpose.name() == name);
    named.with_context(|| format!("unknown purpose `{name}`; use one of {known}"))
}

/// Parses an IP address, with port 53 unless another is given. A host name would itself need a name server.
fn name_server(text: &str) -> Result<SocketAddr> {
    let bare = text.parse().map(|address| SocketAddr::new(address, 53));
    bare.or_else(|_| text.parse())
        .map_err(|_| anyhow!("`{text}` is not an address such as 10.0.0.2 or [fd00::2]:5353"))
}

fn secret_key(text: &str) -> Result<SecretKey> {
    SecretKey::parse(text).map_err(|why| anyhow!(why))
}

/// Whoever presents an assertion writes the header `Host`, so the address that it must name is a setting.
fn require_own_address(trust: &[identity::TrustedIssuer], public_url: Option<&str>) -> Result<()> {
    ensure!(
        trust.is_empty() || public_url.is_some(),
        "`[[trust]]` needs public_url: an assertion must name the address of this server, or one that was made for \
         another server would be taken here"
    );
    Ok(())
}

fn public_url(text: &str) -> Result<Option<String>> {
    let url = optional(text);
    let absolute = |url: &String| url.starts_with("http://") || url.starts_with("https://");
    ensure!(url.as_ref().is_none_or(absolute), "must start with http:// or https://");
    Ok(url)
}

fn dashboard_files(text: &str) -> Result<DashboardFiles> {
    match text {
        "on" => Ok(DashboardFiles::Embedded),
        "off" => Ok(DashboardFiles::Off),
        folder if Path::new(folder).join("index.html").is_file() => {
            Ok(DashboardFiles::Folder(PathBuf::from(folder)))
        }
        _ => bail!("must be on, off, or a folder with the files of the dashboard"),
    }
}

fn browser_choice(text: &str) -> BrowserChoice {
    match text {
        "" => BrowserChoice::Found,
        "off" => BrowserChoice::None,
        path => BrowserChoice::Program(PathBuf::from(path)),
    }
}

fn sandbox(text: &str) -> Result<Sandbox> {
    match text {
        "auto" => Ok(Sandbox::Auto),
        "on" => Ok(Sandbox::On),
        "off" => Ok(Sandbox::Off),
        _ => bail!("must be auto, on or off"),
    }
}

fn webhook_retries(text: &str) -> Result<Vec<Duration>> {
    let retries = list(text, |delay| duration(delay, Duration::from_millis(1)))?;
    ensure!(retries.len() <= 20, "must be at most 20 times");
    Ok(retries)
}

fn role(text: &str) -> Result<ProcessRole> {
    match text {
        "all" => Ok(ProcessRole::All),
        "api" => Ok(ProcessRole::Api),
        "worker" => Ok(ProcessRole::Worker),
        _ => bail!("must be all, api or worker"),
    }
}

pub fn switch(text: &str) -> Result<bool> {
    match text {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => bail!("must be on or off"),
    }
}

fn address(text: &str) -> Result<SocketAddr> {
    let found = text.to_socket_addrs().map_err(|error| anyhow!("must be ADDRESS:PORT ({error})"))?.next();
    found.context("this name has no IP address")
}

fn database_url(text: &str, data_dir: &Path) -> Result<String> {
    let known = ["sqlite:", "postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    if text.is_empty() {
        return Ok(format!("sqlite:{}", data_dir.join("gannet.db").display()));
    }
    ensure!(known, "must start with sqlite: or postgres://");
    Ok(text.to_owned())
}

fn cors(text: &str) -> Result<server::Cors> {
    match text {
        "none" | "" => Ok(server::Cors::None),
        "*" => Ok(server::Cors::Any),
        list => {
            let origins: Vec<String> = list.split(',').map(|origin| origin.trim().to_owned()).collect();
            for origin in &origins {
                let absolute = origin.starts_with("http://") || origin.starts_with("https://");
                ensure!(
                    absolute && !origin.ends_with('/'),
                    "`{origin}` is not an origin such as https://app.example"
                );
            }
            Ok(server::Cors::Origins(origins))
        }
    }
}

pub fn between<T: std::str::FromStr + PartialOrd + std::fmt::Display>(
    text: &str,
    range: std::ops::RangeInclusive<T>,
) -> Result<T> {
    let value = text.parse().map_err(|_| anyhow!("must be a whole number"))?;
    ensure!(range.contains(&value), "must be {} to {}", range.start(), range.end());
    Ok(value)
}

/// `10MB`, `512KB`, `2GB` or plain bytes.
pub fn bytes(text: &str) -> Result<u64> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1024,
        "MB" => 1024 * 1024,
        "GB" => 1024 * 1024 * 1024,
        "TB" => 1024_u64.pow(4),
        _ => bail!("must be a size such as 10MB"),
    };
    let number: u64 = digits.trim().parse().map_err(|_| anyhow!("must be a size such as 10MB"))?;
    number.checked_mul(unit).filter(|bytes| *bytes > 0).context("must be a size above 0 that fits in 64 bits")
}

/// `500ms`, `15s`, `2m`.
pub fn duration(text: &str, least: Duration) -> Result<Duration> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let number: u64 = digits.trim().parse().map_err(|_| anyhow!("must be a time such as 15s"))?;
    ensure!(number <= 1_000_000, "is too long");
    let duration = match &text[digits.len()..] {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number * 60),
        _ => bail!("must be a time with its unit, such as 500ms, 15s or 2m"),
    };
    ensure!(duration >= least, "must be at least {}ms", least.as_millis());
    Ok(duration)
}

fn objects(values: &Values<'_>, data_dir: &Path) -> Result<ObjectStorage> {
    let at = values.text("objects")?;
    let Some(place) = at.strip_prefix("s3://") else {
        let folder = if at.is_empty() { data_dir.join("objects") } else { PathBuf::from(at) };
        return Ok(ObjectStorage::Folder(folder));
    };
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    ensure!(!bucket.is_empty(), "setting `objects` = `{at}`: the bucket is missing");
    let access_key = values.text("s3_access_key")?;
    let secret_key = values.text("s3_secret_key")?;
    ensure!(
        !access_key.is_empty() && !secret_key.is_empty(),
        "setting `objects` = `{at}` needs `s3_access_key` and `s3_secret_key`"
    );
    let region = values.text("s3_region")?;
    let endpoint = optional(&values.text("s3_endpoint")?);
    Ok(ObjectStorage::S3 {
        bucket: bucket.to_owned(),
        prefix: prefix.trim_matches('/').to_owned(),
        endpoint: endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com")),
        region,
        access_key,
        secret_key,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!(bytes("10MB").unwrap(), 10 * 1024 * 1024);
        assert_eq!(bytes("7").unwrap(), 7);
        assert_eq!(duration("1500ms", Duration::ZERO).unwrap(), Duration::from_millis(1500));
        for wrong in ["", "ten", "10XB", "-1", "0", "99999999999999TB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "15", "s", "1h", "9999999s"] {
            assert!(duration(wrong, Duration::ZERO).is_err(), "{wrong}");
        }
    }
}
