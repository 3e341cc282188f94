//! What can be said about a job from its own record: its kind, its state, why it failed, and what to do.

use crate::app::App;
use access::Caller;
use engine::Error;
use engine::agent::RunKind;
use engine::crawl::CrawlKind;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;
use wire::crawl::PageQuery;
use wire::error::{CATALOGUE, CatalogueEntry};
use wire::{Kind, Retry, Scope};

/// Pages that failed, named in an answer.
const MAX_NAMED_ERRORS: usize = 5;

/// What is known about a job.
#[derive(Debug, Default)]
pub struct JobReport {
    pub lines: Vec<String>,
    /// Parameters with which the same request may succeed.
    pub fix: Option<Value>,
    pub failed: bool,
}

/// Looks for a job of the caller's team under every kind that the caller's key may read.
pub async fn find_job(app: &App, caller: &Arc<Caller>, id: Uuid) -> Result<Option<JobReport>, Error> {
    if caller.require(Scope::Scrape).is_ok() {
        match app.scraper.find(caller, id).await {
            Ok(document) => return Ok(Some(scrape_report(&document.into_json()?))),
            Err(error) => {
                let wire = error.to_wire();
                if !matches!(wire.kind, Kind::NotFound) {
                    return Ok(Some(failure("scrape", wire.kind.entry(), wire.text())));
                }
            }
        }
    }
    if caller.require(Scope::Crawl).is_ok() {
        for (kind, name) in [(CrawlKind::Crawl, "crawl"), (CrawlKind::Batch, "batch scrape")] {
            let page = PageQuery { limit: Some("1".to_owned()), ..PageQuery::default() };
            if let Some(state) = found(app.crawler.status(caller, kind, id, &page, "").await)? {
                let errors = app.crawler.errors(caller, kind, id).await?;
                let state: Value = serde_json::from_slice(&state).unwrap_or_default();
                return Ok(Some(crawl_report(name, &state, &errors)));
            }
        }
    }
    if caller.require(Scope::Agent).is_ok() {
        if let Some(state) = found(app.agents.status(caller, id).await)? {
            let state = serde_json::to_value(state).unwrap_or_default();
            return Ok(Some(run_report("agent run", &state)));
        }
        if let Some(run) = found(app.agents.find(caller, RunKind::Extract, id).await)? {
            let state = json!({ "status": format!("{:?}", run.state).to_lowercase(), "error": run.error });
            return Ok(Some(run_report("extraction", &state)));
        }
    }
    Ok(None)
}

/// What was found; nothing where there is no such job.
fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.to_wire().status() == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

fn scrape_report(document: &[u8]) -> JobReport {
    let document: Value = serde_json::from_slice(document).unwrap_or_default();
    let metadata = &document["metadata"];
    let mut lines = vec![format!(
        "The scrape of {} succeeded with status {}.",
        metadata["sourceURL"].as_str().unwrap_or("the page"),
        metadata["statusCode"]
    )];
    if let Some(warning) = document["warning"].as_str() {
        lines.push(format!("It has a warning: {warning}"));
    }
    if metadata["statusCode"].as_u64().is_some_and(|status| status >= 400) {
        lines.push("The site itself answered with an error; the page is what it sent with it.".to_owned());
    }
    JobReport { lines, ..JobReport::default() }
}

fn crawl_report(name: &str, state: &Value, errors: &wire::crawl::JobErrors) -> JobReport {
    let status = state["status"].as_str().unwrap_or_default();
    let mut lines =
        vec![format!("The {name} is {status}: {} of {} pages.", state["completed"], state["total"])];
    for field in ["error", "warning"] {
        if let Some(text) = state[field].as_str() {
            lines.push(text.to_owned());
        }
    }
    if !errors.robots_blocked.is_empty() {
        lines.push(format!("robots.txt of the site forbids {} pages.", errors.robots_blocked.len()));
    }
    if !errors.errors.is_empty() {
        lines.push(format!("{} pages could not be read:", errors.errors.len()));
    }
    for error in errors.errors.iter().take(MAX_NAMED_ERRORS) {
        lines.push(format!("- {}: {}", error.url, error.error));
        if let Some(entry) = error.code.as_deref().and_then(by_code) {
            lines.push(format!("  {}", advice(entry)));
        }
    }
    let failed = status == "failed" || !errors.errors.is_empty();
    JobReport { lines, failed, fix: None }
}

fn run_report(name: &str, state: &Value) -> JobReport {
    let status = state["status"].as_str().unwrap_or_default();
    let mut lines = vec![format!("The {name} is {status}.")];
    for field in ["error", "warning", "stopReason"] {
        if let Some(text) = state[field].as_str() {
            lines.push(format!("{field}: {text}"));
        }
    }
    JobReport { lines, failed: state["error"].is_string(), fix: None }
}

fn failure(name: &str, entry: &CatalogueEntry, text: &str) -> JobReport {
    let lines = vec![format!("The {name} failed: {text}"), advice(entry)];
    let fix = match entry.kind {
        Kind::ScrapeTimeout => Some(json!({ "timeout": 120_000 })),
        _ => None,
    };
    JobReport { lines, failed: true, fix }
}

fn by_code(code: &str) -> Option<&'static CatalogueEntry> {
    CATALOGUE.iter().find(|entry| entry.code == code)
}

fn advice(entry: &CatalogueEntry) -> String {
    let retry = match entry.retry {
        Retry::No => "The same request will fail again.",
        Retry::Yes => "The same request may succeed later.",
        Retry::Sometimes => "The same request may succeed later, depending on the cause.",
    };
    format!("Cause: {}. {retry}", entry.cause.replace('`', ""))
}
