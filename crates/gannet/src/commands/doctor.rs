//! `gannet doctor`: what is found and what is missing, and every setting with where it came from.
//! Exit code 0: everything needed works. 1: something needed is broken.

mod index;
mod model;
mod search;
mod secrets;

use crate::home;
use crate::settings::{Settings, without_password};
use anyhow::Result;
use engine::RateGroup;
use engine::plans::{Plan, UNLIMITED_CONCURRENCY};
use engine::scrape::memory::PageMemory;
use engine::storage::DiskSpace;
use serde::Serialize;
use std::process::ExitCode;

/// Below this a server soon cannot write.
const LITTLE_DISK: u64 = 1024 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub struct Doctor {
    /// For programs
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// Works without it, with less.
    Missing,
    /// Works, but less safely than it should.
    Warning,
    /// Needed, and does not work.
    Broken,
}

#[derive(Debug, Serialize)]
struct Finding {
    part: &'static str,
    verdict: Verdict,
    text: String,
}

impl Doctor {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let findings = [
            database(settings).await,
            secrets::find(settings).await,
            objects(settings).await,
            disks(settings),
            network(settings),
            chromium(settings).await,
            postgresql(settings),
            model::find(settings).await,
            search::find(settings),
            index::find(settings).await,
        ];
        if self.json {
            print_json(settings, &findings)?;
        } else {
            print_text(settings, &findings);
        }
        let broken = findings.iter().any(|finding| finding.verdict == Verdict::Broken);
        Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

async fn database(settings: &Settings) -> Finding {
    let part = "database";
    let shown = without_password(&settings.database_url);
    if home::sqlite_file(&settings.database_url).is_some_and(|path| !path.exists()) {
        return Finding {
            part,
            verdict: Verdict::Ok,
            text: format!("{shown} does not exist yet; the first start makes it"),
        };
    }
    // Opening would migrate; a doctor looks and changes nothing.
    match store::inspect(&home::store_options(settings)).await {
        Ok(report) => Finding { part, verdict: Verdict::Ok, text: format!("{shown}: {report}") },
        Err(error) => Finding { part, verdict: Verdict::Broken, text: format!("{shown}: {error}") },
    }
}

async fn objects(settings: &Settings) -> Finding {
    use crate::settings::ObjectsAt;
    let part = "objects";
    let place = match &settings.objects {
        ObjectsAt::Folder(path) => format!("folder {}", path.display()),
        ObjectsAt::S3 { bucket, prefix, endpoint, .. } => format!("s3://{bucket}/{prefix} at {endpoint}"),
    };
    match probe_objects(settings).await {
        Ok(true) => {
            Finding { part, verdict: Verdict::Ok, text: format!("{place}: written, read and deleted") }
        }
        Ok(false) => {
            Finding { part, verdict: Verdict::Ok, text: format!("{place}: tried after the first start") }
        }
        Err(error) => Finding { part, verdict: Verdict::Broken, text: format!("{place}: {error:#}") },
    }
}

/// Writes, reads and deletes a small object, where the database is ready to note it; else `false`.
async fn probe_objects(settings: &Settings) -> Result<bool> {
    let absent = home::sqlite_file(&settings.database_url).is_some_and(|path| !path.exists());
    let ready = |seen: store::Inspection| seen.version == seen.newest;
    if absent || !store::inspect(&home::store_options(settings)).await.is_ok_and(ready) {
        return Ok(false);
    }
    let store = home::open_store(settings).await?;
    let Some(team) = store.teams().await?.into_iter().next() else { return Ok(false) };
    home::open_objects(settings, store.clone())?.probe(team.id).await?;
    store.shut_down().await;
    Ok(true)
}

/// The disks under everything that a server writes to: which of them are full, or nearly.
fn disks(settings: &Settings) -> Finding {
    let mut verdict = Verdict::Ok;
    let mut told: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    for folder in home::folders(settings) {
        let (broken, text) = match DiskSpace::at(&folder.path) {
            Ok(space) if seen.contains(&space.id) => continue,
            Ok(space) => {
                seen.push(space.id);
                let free = format!("{} MB free at {}", space.free / 1024 / 1024, folder.path.display());
                if space.is_full(settings.min_free_disk) {
                    (
                        true,
                        format!(
                            "the disk that holds the {} is full: {free}; no new work is accepted",
                            folder.name
                        ),
                    )
                } else {
                    (space.free < LITTLE_DISK, free)
                }
            }
            Err(error) => (true, format!("{}: {error}", folder.path.display())),
        };
        if broken {
            verdict = Verdict::Broken;
        }
        told.push(text);
    }
    Finding { part: "disk", verdict, text: told.join("; ") }
}

/// Whether the way out can be set up; nothing is sent.
fn network(settings: &Settings) -> Finding {
    let part = "network";
    let proxies = &settings.proxies;
    let way = if proxies.pool.is_empty() {
        "straight out".to_owned()
    } else {
        let purposes: Vec<&str> = proxies.purposes.iter().map(|purpose| purpose.name()).collect();
        format!("{} through {} in turn", purposes.join(", "), join(&proxies.pool))
    };
    let own = if proxies.per_request { "requests may name a proxy" } else { "requests may name no proxy" };
    match home::open_fetcher(settings, None) {
        Ok(_) => Finding { part, verdict: Verdict::Ok, text: format!("{way}; {own}") },
        Err(error) => Finding { part, verdict: Verdict::Broken, text: format!("{error:#}") },
    }
}

/// Proxies show no password.
fn join(proxies: &[net::Proxy]) -> String {
    proxies.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The browser, started to see whether it runs and how it is separated from the server.
async fn chromium(settings: &Settings) -> Finding {
    use crate::settings::BrowserChoice;
    let part = "chromium";
    let configured = match &settings.browser {
        BrowserChoice::None => {
            let text = "switched off; pages that need a browser will fail".to_owned();
            return Finding { part, verdict: Verdict::Ok, text };
        }
        BrowserChoice::Found => None,
        BrowserChoice::Program(path) => Some(path.as_path()),
    };
    match browser::find_chromium(configured) {
        Ok(path) => {
            let version = browser::chromium_version(&path).await;
            let (verdict, said) = match &version {
                Some(version) => {
                    let (verdict, confined) = confinement(settings).await;
                    (verdict, format!("{version}; {confined}"))
                }
                None => (Verdict::Broken, "does not start".to_owned()),
            };
            Finding { part, verdict, text: format!("{}: {said}", path.display()) }
        }
        Err(error) => {
            let verdict = if configured.is_some() { Verdict::Broken } else { Verdict::Missing };
            let text =
                format!("{error}; pages that need a browser will fail (Debian: apt-get install chromium)");
            Finding { part, verdict, text }
        }
    }
}

/// Under which account and with which sandbox a browser starts here.
async fn confinement(settings: &Settings) -> (Verdict, String) {
    let browsers =
        home::open_fetcher(settings, None).ok().and_then(|way| home::open_browsers(settings, &way));
    let Some(browsers) = browsers else { return (Verdict::Broken, "does not start".to_owned()) };
    let started = browsers.start_confined().await;
    browsers.shut_down().await;
    match started {
        Ok(confinement) if confinement.sandboxed && confinement.uid != 0 => {
            (Verdict::Ok, confinement.describe())
        }
        Ok(confinement) => (Verdict::Warning, confinement.describe()),
        Err(error) => (Verdict::Broken, format!("does not start: {error}")),
    }
}

fn postgresql(settings: &Settings) -> Finding {
    let text = if settings.database_url.starts_with("sqlite:") {
        "not used; set database_url to share work between machines"
    } else {
        "in use; see database"
    };
    Finding { part: "postgresql", verdict: Verdict::Ok, text: text.to_owned() }
}

fn print_text(settings: &Settings, findings: &[Finding]) {
    println!("Parts");
    for Finding { part, verdict, text } in findings {
        let mark = match verdict {
            Verdict::Ok => "ok     ",
            Verdict::Missing => "missing",
            Verdict::Warning => "WARNING",
            Verdict::Broken => "BROKEN ",
        };
        println!("  {mark}  {part:<11} {text}");
    }
    println!("\nLimits in force");
    for (name, text) in limits(settings) {
        println!("  {name:<22} {text}");
    }
    println!("\nSettings");
    for given in &settings.given {
        println!(
            "  {:<22} {:<26} {:<28} {}",
            given.setting.name,
            given.shown(),
            given.source.to_string(),
            given.setting.help
        );
    }
}

fn print_json(settings: &Settings, findings: &[Finding]) -> Result<()> {
    let given: Vec<_> = settings
        .given
        .iter()
        .map(|given| {
            serde_json::json!({ "name": given.setting.name, "value": given.shown(), "source": given.source.to_string() })
        })
        .collect();
    let limits: serde_json::Map<_, _> =
        limits(settings).into_iter().map(|(name, text)| (name, serde_json::Value::from(text))).collect();
    let report = serde_json::json!({ "parts": findings, "limits": limits, "settings": given });
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

fn page_memory(settings: &Settings) -> String {
    let (small, large) = PageMemory::places(settings.page_memory);
    format!(
        "{} bytes: {small} pages at once, {large} of them larger than 1 MiB; more wait",
        settings.page_memory
    )
}

fn limits(settings: &Settings) -> Vec<(String, String)> {
    let mut rows = vec![
        ("JSON body".to_owned(), format!("{} bytes", settings.body_limit)),
        (
            "stored objects".to_owned(),
            format!("{} bytes, soonest to expire go first", settings.objects_limit),
        ),
        ("pages and results".to_owned(), format!("{} bytes, oldest go first", settings.cache_limit)),
        ("snapshots".to_owned(), format!("{} bytes, oldest go first", settings.snapshots_limit)),
        (
            "crawls and batches".to_owned(),
            format!(
                "{} bytes, oldest that ended go first; {} bytes for one",
                settings.crawls_limit, settings.single_crawl_limit
            ),
        ),
        ("agent runs".to_owned(), format!("{} bytes, oldest that ended go first", settings.runs_limit)),
        ("webhooks".to_owned(), format!("{} bytes, those given up go first", settings.webhooks_limit)),
        ("free disk space".to_owned(), format!("{} bytes, no new work below", settings.min_free_disk)),
        ("memory of pages".to_owned(), page_memory(settings)),
        ("browser pages at once".to_owned(), format!("{} in this process", settings.browser_pages)),
        ("jobs at once".to_owned(), format!("{} in this process", settings.workers)),
        ("lease of a job".to_owned(), format!("{} ms", settings.lease.as_millis())),
        (
            "connections".to_owned(),
            format!("{}, database {}", server::serve::MAX_CONNECTIONS, settings.database_connections),
        ),
        ("private addresses".to_owned(), settings.egress_allow.to_string()),
    ];
    for (name, plan) in settings.plans.iter() {
        rows.push((format!("plan {name}"), describe(plan)));
    }
    rows
}

fn describe(plan: &Plan) -> String {
    let number = |value: Option<String>| value.unwrap_or_else(|| "unlimited".to_owned());
    let rates: Vec<String> = RateGroup::ALL
        .iter()
        .filter_map(|group| Some(format!("{} {}", group.name(), plan.rate(*group)?)))
        .collect();
    let rates = if rates.is_empty() { "unlimited".to_owned() } else { rates.join(", ") };
    format!(
        "credits {} a month; browsers {}; queue {}; a minute: {rates}",
        number(plan.credits.map(|value| value.to_string())),
        plan.concurrency.unwrap_or(UNLIMITED_CONCURRENCY),
        number(plan.queue.map(|value| value.to_string())),
    )
}
