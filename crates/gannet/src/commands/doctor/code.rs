//! Users' code in browser sessions: whether it can be locked in, and each language, tried as a session would run it.

use super::{CheckResult, CheckStatus};
use crate::settings::{CodeSettings, Settings};
use code_runner::{CodeUser, Language, LockIn, Runtimes};
use std::sync::Arc;

/// Starts a process as code runs in one, which tries what it still can do, and a trial of each language.
pub async fn check(settings: &Settings) -> Vec<CheckResult> {
    let part = "code";
    let Some(lock_in) = settings.code.lock_in else {
        let text = "off; browser sessions run no code".to_owned();
        return vec![CheckResult { part, verdict: CheckStatus::Ok, text }];
    };
    let layers = match code_runner::probe().await {
        Ok(layers) => layers,
        Err(error) => {
            return vec![CheckResult { part, verdict: CheckStatus::Broken, text: error.to_string() }];
        }
    };
    let verdict = match lock_in {
        LockIn::Required if layers.hold_all() => CheckStatus::Ok,
        _ => CheckStatus::Warning,
    };
    let account = match settings.code.user {
        CodeUser::Auto => "",
        CodeUser::Same => " under the account of the server",
    };
    let text = format!("{}{account}; {}", layers.describe_program(), describe_limits());
    let mut found = vec![CheckResult { part, verdict, text }];
    found.extend(languages(&settings.code, lock_in).await);
    found
}

async fn languages(settings: &CodeSettings, lock_in: LockIn) -> Vec<CheckResult> {
    let runtimes = Arc::new(Runtimes::find(&settings.runtimes, settings.user).await);
    let trials = Language::ALL.map(|language| {
        let runtimes = Arc::clone(&runtimes);
        async move {
            let part = language.name();
            let outcome = Arc::clone(&runtimes).try_language(language, lock_in, settings.user).await;
            match (outcome, runtimes.get(language)) {
                (Ok(()), Ok(runtime)) => {
                    let program = runtime.executable().display();
                    let text = format!("code in sessions runs with {program}, as a trial showed");
                    CheckResult { part, verdict: CheckStatus::Ok, text }
                }
                (Err(error), Ok(_)) => CheckResult {
                    part,
                    verdict: CheckStatus::Warning,
                    text: format!("found, but code in sessions does not run: {error}"),
                },
                (_, Err(error)) => {
                    CheckResult { part, verdict: CheckStatus::Missing, text: error.to_string() }
                }
            }
        }
    });
    futures_util::future::join_all(trials).await
}

/// Who holds the limits of a session.
fn describe_limits() -> String {
    match sandbox::describe_control_groups() {
        Ok(place) => {
            format!("the kernel holds the memory and processes of a session (control groups in {place})")
        }
        Err(reason) => format!(
            "the memory and processes of a session are looked at four times a second, and not held by the kernel: {reason}"
        ),
    }
}
