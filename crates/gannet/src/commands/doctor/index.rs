//! What the local search index of this machine holds. It is looked at beside whoever writes to it.

use super::{Finding, Verdict};
use crate::home;
use crate::settings::Settings;

pub async fn find(settings: &Settings) -> Finding {
    let part = "index";
    let local = home::local_index(settings);
    if !local.folder().exists() {
        let text = "made by the first start; nothing to find yet".to_owned();
        return Finding { part, verdict: Verdict::Ok, text };
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
                evicted => format!("; {evicted} had to go (search_index_limit)"),
            };
            let text = format!("{} documents, {megabytes} MB{evicted}", status.documents);
            Finding { part, verdict: Verdict::Ok, text }
        }
        // The next start sets it aside and fills it again.
        Err(error) => Finding { part, verdict: Verdict::Missing, text: error.to_string() },
    }
}
