//! The language models: whether they respond, and what they support.

use super::{CheckResult, CheckStatus};
use crate::data_dir;
use crate::settings::Settings;
use engine::models::{Models, Task};
use model::chat::openai::ProbeReport;
use std::time::Duration;

/// Time limit for the probe of one model.
const PROBE_TIMEOUT: Duration = Duration::from_secs(45);
const SETUP_HINT: &str = "set model_url and model_name, for example http://localhost:11434/v1 and the name of a model in Ollama; \
                   see docs/models.md";

pub async fn check(settings: &Settings) -> CheckResult {
    let part = "model";
    let places = Task::ALL.map(|task| settings.models.endpoint(task));
    if places.iter().all(Option::is_none) {
        let text = format!("none; summaries, questions and prompts need one: {SETUP_HINT}");
        return CheckResult { part, verdict: CheckStatus::Missing, text };
    }
    let fetcher = match data_dir::open_fetcher(settings, None) {
        Ok(fetcher) => fetcher,
        Err(error) => return CheckResult { part, verdict: CheckStatus::Broken, text: format!("{error:#}") },
    };
    let reports = Models::open(&settings.models, &fetcher).probe(PROBE_TIMEOUT).await;
    let broken = reports.iter().any(|report| report.error.is_some());
    let verdict = if broken { CheckStatus::Broken } else { CheckStatus::Ok };
    let lines: Vec<String> =
        reports.iter().map(|report| describe(report, &tasks(settings, report))).collect();
    CheckResult { part, verdict, text: lines.join("\n                       ") }
}

/// The tasks of a model; empty if it is used for all of them.
fn tasks(settings: &Settings, report: &ProbeReport) -> String {
    let used = |task: &Task| settings.models.endpoint(*task).is_some_and(|place| place.name == report.model);
    let names: Vec<&str> = Task::ALL.iter().filter(|task| used(task)).map(|task| task.name()).collect();
    if names.len() == Task::ALL.len() { String::new() } else { format!(" for {}", names.join(", ")) }
}

fn describe(report: &ProbeReport, tasks: &str) -> String {
    let at = format!("{} at {}{tasks}", report.model, report.base);
    if let Some(error) = &report.error {
        let listed = if report.listed == Some(false) { "; the server does not list this model" } else { "" };
        return format!("{at}: {error}{listed}");
    }
    let yes = |able: bool| if able { "yes" } else { "no" };
    let context = match report.context {
        Some(tokens) => format!("{tokens} tokens"),
        None => format!("not reported, {} tokens are assumed (model_context)", report.context_tokens),
    };
    format!(
        "{at}: works; tools {}; JSON schema {}; context {context}",
        yes(report.tools),
        yes(report.json_schema)
    )
}
