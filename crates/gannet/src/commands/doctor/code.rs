//! Users' code in browser sessions: whether it can be locked in, and which languages there are.

use super::{CheckResult, CheckStatus};
use crate::settings::Settings;
use code_runner::{CodeUser, Language, LockIn, Runtimes};

/// Starts a process as code runs in one, which tries what it still can do, and looks for the runtimes.
pub async fn check(settings: &Settings) -> CheckResult {
    let part = "code";
    let Some(lock_in) = settings.code.lock_in else {
        let text = "off; browser sessions run no code".to_owned();
        return CheckResult { part, verdict: CheckStatus::Ok, text };
    };
    let layers = match code_runner::probe().await {
        Ok(layers) => layers,
        Err(error) => return CheckResult { part, verdict: CheckStatus::Broken, text: error.to_string() },
    };
    let verdict = match lock_in {
        LockIn::Required if layers.hold_all() => CheckStatus::Ok,
        _ => CheckStatus::Warning,
    };
    let runtimes = Runtimes::find(&settings.code.runtimes).await;
    let languages = Language::ALL.map(|language| match runtimes.get(language) {
        Ok(runtime) => format!("{}: {}", language.name(), runtime.executable().display()),
        Err(error) => error.to_string(),
    });
    let account = match settings.code.user {
        CodeUser::Auto => "",
        CodeUser::Same => " under the account of the server",
    };
    let text =
        format!("{}{account}; {}; {}", layers.describe_program(), describe_limits(), languages.join("; "));
    CheckResult { part, verdict, text }
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
