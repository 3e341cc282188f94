//! How an extraction stands, as callers read it.

use super::Extractor;
use crate::Error;
use crate::agent::{Agents, Order, StoredResult, sources};
use access::Caller;
use futures_util::future::BoxFuture;
use store::agents::{RunKind, RunState};
use uuid::Uuid;
use wire::Kind;
use wire::extract::{EXTRACT_REPLACEMENT, EXTRACT_WARNING, ExtractStatus};

impl Extractor {
    pub fn status<'a>(&'a self, caller: &'a Caller, id: Uuid) -> BoxFuture<'a, Result<ExtractStatus, Error>> {
        Box::pin(async move {
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
