//! The local search index of this machine; read even while a server writes to it.

use super::{CheckResult, CheckStatus};
use crate::data_dir;
use crate::settings::Settings;

pub async fn check(settings: &Settings) -> CheckResult {
    let part = "index";
    let local = data_dir::local_index(settings);
    if !local.folder().exists() {
        let text = "does not exist yet; the first start creates it".to_owned();
        return CheckResult { part, verdict: CheckStatus::Ok, text };
    }
    let status = match local.open_to_read() {
        Ok(_) => local.status().await,
        Err(error) => Err(error),
    };
    match status {
        Ok(status) => {
            let megabytes = status.bytes / 1_000_000;
            let evicted = match status.evicted {
                0 => String::new(),
                evicted => {
                    format!("; {evicted} were removed because the index was full (search_index_limit)")
                }
            };
            let text = format!("{} documents, {megabytes} MB{evicted}", status.documents);
            CheckResult { part, verdict: CheckStatus::Ok, text }
        }
        // The next start replaces it and fills it again.
        Err(error) => CheckResult { part, verdict: CheckStatus::Missing, text: error.to_string() },
    }
}
