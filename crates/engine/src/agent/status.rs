//! How runs stand, as callers read it, and the list of a team's runs.

use super::ending::{StoredResult, state_name};
use super::order::{Order, effort_name, mode_name};
use super::start::{Agents, RESULT_RETENTION};
use super::unpaid;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use serde_json::Value;
use store::Millis;
use store::agents::{Run, RunKind, RunState};
use stored_data::time::iso;
use uuid::Uuid;
use wire::Kind;
use wire::agent::{
    AGENT_MODEL, AgentListItem, AgentListOptions, AgentListQuery, AgentListSettings, AgentPage,
    AgentQuestion, AgentStatus,
};

const RUNS_PER_PAGE: u32 = 20;

impl Agents {
    pub fn status<'a>(&'a self, caller: &'a Caller, id: Uuid) -> BoxFuture<'a, Result<AgentStatus, Error>> {
        Box::pin(async move {
            let run = self.find(caller, RunKind::Agent, id).await?;
            let order = Order::from_run(&run)?;
            let result = self.result(&order, &run).await?;
            let completed = run.state == RunState::Succeeded;
            let suggestions = Some(result.suggestions).filter(|some| !some.is_empty());
            Ok(AgentStatus {
                success: true,
                id,
                status: status(run.state),
                // A chat answers in its message; its data is null, not missing.
                data: completed.then(|| result.data.unwrap_or(Value::Null)),
                error: run.error.clone(),
                model: AGENT_MODEL,
                effort: order.task.effort.map(|effort| effort_name(effort).to_owned()),
                expires_at: iso(expires_at(&run)),
                credits_used: credits_used(&run),
                thread_id: run.thread,
                thread_turn: run.thread.map(|_| run.turn),
                mode: mode_name(order.task.mode),
                message: result.message,
                suggestions,
                partial: result.partial,
                partial_schema_valid: result.partial_schema_valid,
                stop_reason: stop_reason(run.state),
                warning: result.note,
            })
        })
    }

    /// What a run was asked.
    pub fn question<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
    ) -> BoxFuture<'a, Result<AgentQuestion, Error>> {
        Box::pin(async move {
            let run = self.find(caller, RunKind::Agent, id).await?;
            Ok(AgentQuestion { success: true, agent: item(&run)? })
        })
    }

    /// Until when a run is kept, and what it costs: so far, or in the end.
    pub fn terms(run: &Run) -> (String, i64) {
        (iso(expires_at(run)), credits_used(run))
    }

    /// What a run came to, as far as it is shown; nothing while it runs.
    pub async fn result(&self, order: &Order, run: &Run) -> Result<StoredResult, Error> {
        if !run.state.is_terminal() || unpaid::withholds(order, run) {
            return Ok(StoredResult::default());
        }
        let payload = self.store.run_payload(run.id).await.map_err(from_store)?.unwrap_or_default();
        let Some(packed) = payload.result else { return Ok(StoredResult::default()) };
        StoredResult::unpack(&packed).map_err(|error| {
            tracing::error!(run = %run.id, %error, "the result of a run cannot be read");
            Error::already_logged(error)
        })
    }

    /// The team's runs, newest first. `base` is how the caller reaches this server.
    pub fn list<'a>(
        &'a self,
        caller: &'a Caller,
        query: &'a AgentListQuery,
        base: &'a str,
    ) -> BoxFuture<'a, Result<AgentPage, Error>> {
        Box::pin(async move {
            let before = query.before.as_deref().map(moment).transpose()?;
            let found = self
                .store
                .runs(caller.team, RunKind::Agent, before, RUNS_PER_PAGE + 1)
                .await
                .map_err(from_store)?;
            let shown = &found[..found.len().min(RUNS_PER_PAGE as usize)];
            let more = found.len() > shown.len();
            let next = shown
                .last()
                .filter(|_| more)
                .map(|last| format!("{base}/v2/agent?before={}", last.created_at));
            let agents = shown.iter().map(item).collect::<Result<_, _>>()?;
            Ok(AgentPage { success: true, agents, next })
        })
    }
}

/// Milliseconds since 1970.
fn moment(written: &str) -> Result<Millis, Error> {
    let digits = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
    let moment = digits.then(|| written.parse().ok()).flatten();
    moment.ok_or_else(|| Kind::InvalidBefore.into())
}

fn item(run: &Run) -> Result<AgentListItem, Error> {
    let order = Order::from_run(run)?;
    Ok(AgentListItem {
        id: run.id,
        created_at: iso(run.created_at),
        target_hint: run.target.clone(),
        origin: order.origin,
        integration: order.integration,
        settings: AgentListSettings::default(),
        status: status(run.state),
        options: AgentListOptions {
            urls: order.task.urls,
            prompt: order.task.prompt,
            schema: order.task.schema,
            model: AGENT_MODEL,
            effort: order.task.effort.map(|effort| effort_name(effort).to_owned()),
            thread_id: run.thread,
            thread_turn: run.thread.map(|_| run.turn),
        },
    })
}

/// Clients read three words only: a run that was cancelled has failed.
pub fn status(state: RunState) -> &'static str {
    match state {
        RunState::Queued | RunState::Running => "processing",
        RunState::Succeeded => "completed",
        _ => "failed",
    }
}

/// So far while it runs; what was charged when it ended.
pub fn credits_used(run: &Run) -> i64 {
    if run.state.is_terminal() { run.charged() } else { run.credits.min(run.max_credits) }
}

pub fn stop_reason(state: RunState) -> Option<String> {
    let stopped = state.is_terminal() && state != RunState::Succeeded;
    stopped.then(|| state_name(state).to_owned())
}

/// While it runs, the earliest that can be.
fn expires_at(run: &Run) -> Millis {
    let kept = i64::try_from(RESULT_RETENTION.as_millis()).unwrap_or(i64::MAX);
    run.expires_at.unwrap_or_else(|| run.now.saturating_add(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_number_of_milliseconds() {
        assert_eq!(moment("1763198400123").unwrap(), 1_763_198_400_123);
        for wrong in ["", "x", "-1", "1.5", "+1", "99999999999999999999", "2026-11-15", " 1"] {
            assert_eq!(moment(wrong).unwrap_err().text(), "Invalid before timestamp.", "{wrong:?}");
        }
    }
}
