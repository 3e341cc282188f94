//! Threads: runs that go on from each other.

use super::ending::state_name;
use super::order::{Order, effort_name, mode_name};
use super::start::Agents;
use super::status::{credits_used, stop_reason};
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use serde_json::Value;
use store::agents::{Run, RunState};
use stored_data::time::iso;
use uuid::Uuid;
use wire::Kind;
use wire::agent::{AgentThread, AgentThreadRun};

/// The last turns of a thread that are shown.
const MAX_RUNS: u32 = 200;

impl Agents {
    pub fn thread<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        with_data: bool,
    ) -> BoxFuture<'a, Result<AgentThread, Error>> {
        Box::pin(async move {
            let thread = self.store.thread(caller.team, id).await.map_err(from_store)?;
            let thread = thread.ok_or(Kind::ThreadNotFound)?;
            let found = self.store.thread_runs(id, MAX_RUNS).await.map_err(from_store)?;
            if found.is_empty() {
                return Err(Kind::ThreadNotFound.into());
            }
            let running = found.iter().any(|run| !run.state.is_terminal());
            let mut runs = Vec::with_capacity(found.len());
            for run in &found {
                runs.push(self.turn(run, with_data).await?);
            }
            Ok(AgentThread {
                id,
                created_at: iso(thread.created_at),
                updated_at: iso(thread.updated_at),
                status: if running { "running" } else { "idle" },
                runs,
            })
        })
    }

    async fn turn(&self, run: &Run, with_data: bool) -> Result<AgentThreadRun, Error> {
        let order = Order::from_run(run)?;
        let result = self.result(&order, run).await?;
        let data =
            (with_data && run.state == RunState::Succeeded).then(|| result.data.unwrap_or(Value::Null));
        Ok(AgentThreadRun {
            id: run.id,
            turn: run.turn,
            mode: mode_name(order.task.mode),
            prompt: order.task.prompt,
            urls: order.task.urls,
            schema: order.task.schema,
            effort: order.task.effort.map(|effort| effort_name(effort).to_owned()),
            status: state_name(run.state),
            created_at: iso(run.created_at),
            finished_at: run.finished_at.map(iso),
            credits_used: credits_used(run),
            message: result.message,
            data,
            partial: result.partial.filter(|_| with_data),
            partial_schema_valid: result.partial_schema_valid.filter(|_| with_data),
            stop_reason: stop_reason(run.state),
            suggestions: Some(result.suggestions).filter(|some| !some.is_empty()),
        })
    }
}
