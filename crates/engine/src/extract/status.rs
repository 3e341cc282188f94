//! How an extraction stands, as callers read it.

use super::Extractor;
use crate::Error;
use crate::agent::{Agents, Order, StoredResult};
use crate::callers::Caller;
use agent::Citation;
use std::collections::BTreeMap;
use store::agents::{RunKind, RunState};
use uuid::Uuid;
use wire::Kind;
use wire::extract::{EXTRACT_REPLACEMENT, EXTRACT_WARNING, ExtractStatus};

impl Extractor {
    pub async fn status(&self, caller: &Caller, id: Uuid) -> Result<ExtractStatus, Error> {
        let found = self.0.find(caller, RunKind::Extract, id).await;
        let run = found.map_err(|error| match error.kind() {
            Kind::AgentNotFound => Kind::JobNotFound.into(),
            _ => error,
        })?;
        let order = Order::from_run(&run)?;
        let StoredResult { data, partial, note, citations, .. } = self.0.result(&order, &run).await?;
        let completed = run.state == RunState::Succeeded;
        let (expires_at, credits_used) = Agents::terms(&run);
        Ok(ExtractStatus {
            success: !run.state.is_terminal() || completed,
            id,
            status: name(run.state),
            data: if completed { data } else { partial },
            sources: (completed && order.sources).then(|| sources(&citations)),
            error: run.error.clone(),
            warning: note,
            expires_at,
            credits_used,
            warnings: [EXTRACT_WARNING],
            replacement: EXTRACT_REPLACEMENT,
        })
    }
}

fn name(state: RunState) -> &'static str {
    match state {
        RunState::Queued | RunState::Running => "processing",
        RunState::Succeeded => "completed",
        RunState::Cancelled => "cancelled",
        RunState::Failed | RunState::Refused | RunState::CreditLimitReached => "failed",
    }
}

/// The pages of each field, each once.
pub(crate) fn sources(citations: &[Citation]) -> BTreeMap<String, Vec<String>> {
    let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for citation in citations {
        let pages = sources.entry(citation.field.trim_start_matches('/').to_owned()).or_default();
        if !pages.contains(&citation.url) {
            pages.push(citation.url.clone());
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_of_a_field_is_named_once() {
        let cite =
            |field: &str, url: &str| Citation { field: field.into(), url: url.into(), quote: String::new() };
        let found = sources(&[cite("/a/0", "u"), cite("/a/0", "u"), cite("/a/0", "v"), cite("/b", "u")]);
        assert_eq!(found["a/0"], ["u", "v"]);
        assert_eq!(found["b"], ["u"]);
    }
}
