//! `gannet doctor`: checks the installation and prints every setting with its source.
//! Exit code 0: success. 1: something required does not work.

mod code;
mod collector;
mod documents;
mod index;
mod mail;
mod model;
mod ocr;
mod print;
mod search;
mod secrets;
mod web_bot_auth;

use crate::data_dir;
use crate::settings::{Settings, hide_password};
use access::plans::UNLIMITED_CONCURRENCY;
use access::{Plan, RateGroup};
use anyhow::Result;
use engine::page_memory::PageMemory;
use engine::storage::DiskSpace;
use serde::Serialize;
use std::process::ExitCode;
use wire::admin::{PartView, ServerReport, SettingView};

/// Less free space is reported as a problem.
const MIN_FREE_DISK_BYTES: u64 = 1024 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CheckStatus {
    Ok,
    /// Optional and not available.
    Missing,
    /// Works, but is less secure than it should be.
    Warning,
    /// Required and not working.
    Broken,
}

impl CheckStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing => "missing",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }
}

#[derive(Debug, Serialize)]
struct CheckResult {
    part: &'static str,
    verdict: CheckStatus,
    text: String,
}

impl Doctor {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let findings = check_parts(settings).await;
        if self.json {
            print::print_json(settings, &findings)?;
        } else {
            print::print_text(settings, &findings);
        }
        let broken = findings.iter().any(|finding| finding.verdict == CheckStatus::Broken);
        Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// All checks. Those that start processes or wait for other servers run at the same time.
async fn check_parts(settings: &Settings) -> Vec<CheckResult> {
    // One after the other: each opens the database.
    let stored =
        async { [database(settings).await, secrets::check(settings).await, objects(settings).await] };
    // On the heap: together they are large.
    let ([database, secrets, objects], sandbox, documents, chromium, code, model, mail, index, collector) = tokio::join!(
        Box::pin(stored),
        Box::pin(sandboxed_process()),
        Box::pin(documents::check(settings)),
        Box::pin(chromium(settings)),
        Box::pin(code::check(settings)),
        Box::pin(model::check(settings)),
        Box::pin(mail::check(settings)),
        Box::pin(index::check(settings)),
        Box::pin(collector::check(settings)),
    );
    let first = [
        database,
        secrets,
        objects,
        disks(settings),
        network(settings),
        web_bot_auth::check(settings),
        sandbox,
        documents,
        ocr::check(settings),
        chromium,
    ];
    let last = [postgresql(settings), model, mail, search::check(settings), index, collector];
    first.into_iter().chain(code).chain(last).collect()
}

/// The same for the server that is running with these settings.
pub async fn parts(settings: &Settings) -> Vec<PartView> {
    let view = |found: CheckResult| PartView {
        part: found.part.to_owned(),
        verdict: found.verdict.name().to_owned(),
        text: found.text,
    };
    check_parts(settings).await.into_iter().map(view).collect()
}

/// A report of a server with these settings, before anything was checked.
pub fn outline(settings: &Settings) -> ServerReport {
    let given = settings.given.iter().map(|given| SettingView {
        name: given.setting.name.to_owned(),
        value: given.shown(),
        source: given.source.to_string(),
        help: given.setting.help.to_owned(),
    });
    ServerReport {
        checked_at: None,
        checking: false,
        parts: Vec::new(),
        limits: limits(settings).into_iter().collect(),
        settings: given.collect(),
    }
}

async fn database(settings: &Settings) -> CheckResult {
    let part = "database";
    let shown = hide_password(&settings.database_url);
    if data_dir::sqlite_file(&settings.database_url).is_some_and(|path| !path.exists()) {
        return CheckResult {
            part,
            verdict: CheckStatus::Ok,
            text: format!("{shown} does not exist yet; the first start creates it"),
        };
    }
    // Inspect instead of open: opening would migrate the schema.
    match store::inspect(&settings.store_options()).await {
        Ok(report) => CheckResult { part, verdict: CheckStatus::Ok, text: format!("{shown}: {report}") },
        Err(error) => CheckResult { part, verdict: CheckStatus::Broken, text: format!("{shown}: {error}") },
    }
}

async fn objects(settings: &Settings) -> CheckResult {
    use crate::settings::ObjectStorage;
    let part = "objects";
    let place = match &settings.objects {
        ObjectStorage::Folder(path) => format!("folder {}", path.display()),
        ObjectStorage::S3 { bucket, prefix, endpoint, .. } => format!("s3://{bucket}/{prefix} at {endpoint}"),
    };
    match probe_objects(settings).await {
        Ok(true) => CheckResult {
            part,
            verdict: CheckStatus::Ok,
            text: format!("{place}: test object written, read and deleted"),
        },
        Ok(false) => CheckResult {
            part,
            verdict: CheckStatus::Ok,
            text: format!("{place}: tested after the first start"),
        },
        Err(error) => CheckResult { part, verdict: CheckStatus::Broken, text: format!("{place}: {error:#}") },
    }
}

/// Writes, reads and deletes a small object; returns `false` if the database is not ready for that.
async fn probe_objects(settings: &Settings) -> Result<bool> {
    let absent = data_dir::sqlite_file(&settings.database_url).is_some_and(|path| !path.exists());
    let ready = |seen: store::Inspection| seen.version == seen.newest;
    if absent || !store::inspect(&settings.store_options()).await.is_ok_and(ready) {
        return Ok(false);
    }
    let store = data_dir::open_store(settings).await?;
    let Some(team) = store.teams().await?.into_iter().next() else { return Ok(false) };
    data_dir::open_objects(settings, store.clone())?.probe(team.id).await?;
    store.shut_down().await;
    Ok(true)
}

/// The disks of all folders that a server writes to, and whether they are full.
fn disks(settings: &Settings) -> CheckResult {
    let mut verdict = CheckStatus::Ok;
    let mut texts: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    for folder in data_dir::folders(settings) {
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
                    (space.free < MIN_FREE_DISK_BYTES, free)
                }
            }
            Err(error) => (true, format!("{}: {error}", folder.path.display())),
        };
        if broken {
            verdict = CheckStatus::Broken;
        }
        texts.push(text);
    }
    CheckResult { part: "disk", verdict, text: texts.join("; ") }
}

/// Whether outbound HTTP can be set up; no request is sent.
fn network(settings: &Settings) -> CheckResult {
    let part = "network";
    let proxies = &settings.proxies;
    let route = if proxies.pool.is_empty() {
        "direct".to_owned()
    } else {
        let purposes: Vec<&str> = proxies.purposes.iter().map(|purpose| purpose.name()).collect();
        format!("{} through {} in turn", purposes.join(", "), join(&proxies.pool))
    };
    let own = if proxies.per_request { "requests may name a proxy" } else { "requests may not name a proxy" };
    match data_dir::open_fetcher(settings, None) {
        Ok(_) => CheckResult { part, verdict: CheckStatus::Ok, text: format!("{route}; {own}") },
        Err(error) => CheckResult { part, verdict: CheckStatus::Broken, text: format!("{error:#}") },
    }
}

/// Proxies without their passwords.
fn join(proxies: &[net::Proxy]) -> String {
    proxies.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Starts a sandboxed process, which tries what it still can do.
async fn sandboxed_process() -> CheckResult {
    let (verdict, text) = match sandbox::probe().await {
        Ok(layers) if layers.hold_all() => (CheckStatus::Ok, layers.describe()),
        Ok(layers) => (CheckStatus::Warning, layers.describe()),
        Err(error) => (CheckStatus::Broken, format!("{error}; untrusted files cannot be parsed")),
    };
    CheckResult { part: "sandbox", verdict, text }
}

/// Starts the browser to check that it runs, and how it is isolated from the server.
async fn chromium(settings: &Settings) -> CheckResult {
    use crate::settings::BrowserChoice;
    let part = "chromium";
    let configured = match &settings.browser {
        BrowserChoice::None => {
            let text = "disabled; pages that need a browser will fail".to_owned();
            return CheckResult { part, verdict: CheckStatus::Ok, text };
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
                None => (CheckStatus::Broken, "does not start".to_owned()),
            };
            CheckResult { part, verdict, text: format!("{}: {said}", path.display()) }
        }
        Err(error) => {
            let verdict = if configured.is_some() { CheckStatus::Broken } else { CheckStatus::Missing };
            let text =
                format!("{error}; pages that need a browser will fail (Debian: apt-get install chromium)");
            CheckResult { part, verdict, text }
        }
    }
}

/// The user and the sandbox of the browser.
async fn confinement(settings: &Settings) -> (CheckStatus, String) {
    let browsers =
        data_dir::open_fetcher(settings, None).ok().and_then(|way| data_dir::open_browsers(settings, &way));
    let Some(browsers) = browsers else { return (CheckStatus::Broken, "does not start".to_owned()) };
    let started = browsers.start_confined().await;
    browsers.shut_down().await;
    match started {
        Ok(confinement)
            if confinement.sandboxed && confinement.uid != 0 && confinement.files_restricted.is_ok() =>
        {
            (CheckStatus::Ok, confinement.describe())
        }
        Ok(confinement) => (CheckStatus::Warning, confinement.describe()),
        Err(error) => (CheckStatus::Broken, format!("does not start: {error}")),
    }
}

fn postgresql(settings: &Settings) -> CheckResult {
    let text = if settings.database_url.starts_with("sqlite:") {
        "not used; set database_url to run several servers"
    } else {
        "in use; see database"
    };
    CheckResult { part: "postgresql", verdict: CheckStatus::Ok, text: text.to_owned() }
}

fn page_memory(settings: &Settings) -> String {
    let (small, large) = PageMemory::slots(settings.page_memory);
    format!(
        "{}: {small} pages at once, {large} of them larger than 1 MB; others wait",
        size(settings.page_memory)
    )
}

/// As sizes are written in settings: in the largest unit that is exact.
fn size(bytes: u64) -> String {
    let units = [(1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"), (1, "B")];
    let (unit, name) =
        units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit) && bytes >= *unit).unwrap_or((1, "B"));
    format!("{} {name}", bytes / unit)
}

fn limits(settings: &Settings) -> Vec<(String, String)> {
    let mut rows = vec![
        ("JSON body".to_owned(), size(settings.body_limit as u64)),
        (
            "stored objects".to_owned(),
            format!("{}, those that expire first are deleted first", size(settings.objects_limit)),
        ),
        (
            "pages and results".to_owned(),
            format!("{}, the oldest are deleted first", size(settings.cache_limit)),
        ),
        ("snapshots".to_owned(), format!("{}, the oldest are deleted first", size(settings.snapshots_limit))),
        (
            "crawls and batches".to_owned(),
            format!(
                "{}, the oldest finished are deleted first; {} for one",
                size(settings.crawls_limit),
                size(settings.single_crawl_limit)
            ),
        ),
        (
            "agent runs".to_owned(),
            format!("{}, the oldest finished are deleted first", size(settings.runs_limit)),
        ),
        ("webhooks".to_owned(), format!("{}, failed ones are deleted first", size(settings.webhooks_limit))),
        ("free disk space".to_owned(), format!("{}, no new work below this", size(settings.min_free_disk))),
        ("memory of pages".to_owned(), page_memory(settings)),
        (
            "memory of responses".to_owned(),
            format!("{}, half of it for one team; more are refused", size(settings.response_memory as u64)),
        ),
        ("browser pages at once".to_owned(), format!("{} in this process", settings.browser_pages)),
        ("pages and runs at once".to_owned(), format!("{} in this process", settings.workers)),
        ("lease of a page or run".to_owned(), format!("{} s", settings.lease.as_secs_f64())),
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
