//! Whether requests for pages are signed, and by which key.

use super::{CheckResult, CheckStatus};
use crate::settings::Settings;
use net::BOT_DIRECTORY_PATH;

pub fn check(settings: &Settings) -> CheckResult {
    let part = "signatures";
    let Some(auth) = &settings.web_bot_auth else {
        let text = "requests for pages are not signed (web_bot_auth_key)".to_owned();
        return CheckResult { part, verdict: CheckStatus::Ok, text };
    };
    let identity = match auth.open() {
        Ok(identity) => identity,
        Err(error) => return CheckResult { part, verdict: CheckStatus::Broken, text: format!("{error:#}") },
    };
    let agent = identity.agent();
    let mut text = format!("by key {}; directory at {agent}{BOT_DIRECTORY_PATH}", identity.key_id());
    let mut verdict = CheckStatus::Ok;
    if auth.is_open_to_others() {
        (verdict, text) = (CheckStatus::Warning, format!("{text}; other users can read the key file"));
    }
    if !agent.starts_with("https://") {
        (verdict, text) = (CheckStatus::Warning, format!("{text}; sites accept https:// only"));
    }
    CheckResult { part, verdict, text }
}
