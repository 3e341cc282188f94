//! The collector of OpenTelemetry: whether it takes an empty request.

use super::{CheckResult, CheckStatus};
use crate::settings::Settings;
use crate::{collector, data_dir};

pub async fn check(settings: &Settings) -> CheckResult {
    let part = "telemetry";
    let Some(configured) = &settings.collector else {
        let text = "nothing is sent to a collector of OpenTelemetry (otlp)".to_owned();
        return CheckResult { part, verdict: CheckStatus::Ok, text };
    };
    let fetcher = match data_dir::open_fetcher(settings, None) {
        Ok(fetcher) => fetcher,
        Err(error) => return CheckResult { part, verdict: CheckStatus::Broken, text: format!("{error:#}") },
    };
    let place = configured.shown();
    // A server works without its collector: a warning.
    let (verdict, text) = match collector::probe(configured, &fetcher).await {
        Ok(answer) if (200..300).contains(&answer.status) => (CheckStatus::Ok, format!("{place}: works")),
        Ok(answer) => (CheckStatus::Warning, format!("{place}: answers {} to OTLP over HTTP", answer.status)),
        Err(error) => (CheckStatus::Warning, format!("{place}: {error}")),
    };
    CheckResult { part, verdict, text }
}
