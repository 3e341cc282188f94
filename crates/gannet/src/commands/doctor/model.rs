//! The language models: whether they answer, and what they can do.

use super::{Finding, Verdict};
use crate::home;
use crate::settings::Settings;
use engine::models::{Models, Task};
use model::chat::openai::Report;
use std::time::Duration;

/// What the probe of one model may take.
const LONGEST_PROBE: Duration = Duration::from_secs(45);
const HOW: &str = "set model_url and model_name, for instance http://localhost:11434/v1 and the name of a model that Ollama has; \
                   see docs/models.md";

pub async fn find(settings: &Settings) -> Finding {
    let part = "model";
    let places = Task::ALL.map(|task| settings.models.place(task));
    if places.iter().all(Option::is_none) {
        let text = format!("none; summaries, questions and prompts need one: {HOW}");
        return Finding { part, verdict: Verdict::Missing, text };
    }
    let fetcher = match home::open_fetcher(settings, None) {
        Ok(fetcher) => fetcher,
        Err(error) => return Finding { part, verdict: Verdict::Broken, text: format!("{error:#}") },
    };
    let reports = Models::open(&settings.models, &fetcher).probe(LONGEST_PROBE).await;
    let broken = reports.iter().any(|report| report.trouble.is_some());
    let verdict = if broken { Verdict::Broken } else { Verdict::Ok };
    let told: Vec<String> = reports.iter().map(|report| line(report, &tasks(settings, report))).collect();
    Finding { part, verdict, text: told.join("\n                       ") }
}

/// What a model is used for; nothing when it is used for everything.
fn tasks(settings: &Settings, report: &Report) -> String {
    let used = |task: &Task| settings.models.place(*task).is_some_and(|place| place.name == report.model);
    let names: Vec<&str> = Task::ALL.iter().filter(|task| used(task)).map(|task| task.name()).collect();
    if names.len() == Task::ALL.len() { String::new() } else { format!(" for {}", names.join(", ")) }
}

fn line(report: &Report, tasks: &str) -> String {
    let at = format!("{} at {}{tasks}", report.model, report.base);
    if let Some(error) = &report.trouble {
        let listed = if report.listed == Some(false) { "; the server does not list this model" } else { "" };
        return format!("{at}: {error}{listed}");
    }
    let yes = |able: bool| if able { "yes" } else { "no" };
    let context = match report.context {
        Some(tokens) => format!("{tokens} tokens"),
        None => format!("not told, {} tokens are assumed (model_context)", report.context_tokens),
    };
    format!(
        "{at}: answers; tools {}; JSON schema {}; context {context}",
        yes(report.tools),
        yes(report.json_schema)
    )
}
