//! Which search providers are configured. No request is sent: some providers charge for each one.

use super::{CheckResult, CheckStatus};
use crate::settings::Settings;
use ::search::{ProviderKind, ProviderMode};

pub fn check(settings: &Settings) -> CheckResult {
    let listed = settings.search.listed();
    let names: Vec<&str> = listed.iter().map(|listed| listed.kind.name()).collect();
    let web = listed.iter().any(|listed| listed.kind != ProviderKind::Local);
    let how = match settings.search.mode {
        ProviderMode::Fallback => "one after another",
        ProviderMode::Parallel => "all at once",
    };
    let text = if web {
        format!("{}, {how}", names.join(", "))
    } else {
        "no web provider is configured (search_providers, docs/search.md); searches find what this server has \
         scraped or imported"
            .to_owned()
    };
    CheckResult { part: "search", verdict: if web { CheckStatus::Ok } else { CheckStatus::Missing }, text }
}
