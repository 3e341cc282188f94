//! Which agents of a run have started and not ended, read from its trace.

use crate::stored_json;
use agent::{Actor, ActorRole};
use store::StoreResult;
use store::{RunStore, agents::Event};
use uuid::Uuid;
use wire::agent::{TraceBody, TraceFact};

/// Events that one read returns at most, and their bytes.
const EVENTS_PER_READ: u32 = 1_000;
const BYTES_PER_READ: u64 = 4 << 20;

/// Agents that began and have not ended, in the order in which they began.
pub async fn open_actors(store: &dyn RunStore, run: Uuid) -> StoreResult<Vec<Actor>> {
    let mut open: Vec<Actor> = Vec::new();
    let mut after = 0;
    loop {
        let events = store.run_events(run, after, EVENTS_PER_READ, BYTES_PER_READ).await?;
        let Some(last) = events.last() else { return Ok(open) };
        after = last.number;
        for body in events.iter().filter_map(body) {
            let id = body.agent.id;
            match body.fact {
                TraceFact::AgentStarted {} => open.push(actor(&body)),
                TraceFact::AgentFinished { .. } => open.retain(|actor| actor.id != id),
                _ => {}
            }
        }
    }
}

pub fn body(event: &Event) -> Option<TraceBody> {
    stored_json::or_log(stored_json::from_text("an event of an agent run", &event.body))
}

fn actor(body: &TraceBody) -> Actor {
    let role = match body.agent.role.as_str() {
        "orchestrator" => ActorRole::Orchestrator,
        "subagent" => ActorRole::Subagent,
        _ => ActorRole::System,
    };
    Actor { id: body.agent.id, role, name: body.agent.name.clone(), parent: body.agent.parent_id }
}
