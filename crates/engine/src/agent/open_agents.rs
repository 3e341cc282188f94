//! Which agents and browser sessions of a run have started and not ended, read from its trace.

use super::trace_event;
use agent::{Actor, ActorRole};
use store::RunStore;
use store::StoreResult;
use store::agents::{Event, NewEvent};
use stored_data::stored_json;
use uuid::Uuid;
use wire::agent::{TraceBody, TraceFact};

/// Events that one read returns at most, and their bytes.
const EVENTS_PER_READ: u32 = 1_000;
const BYTES_PER_READ: u64 = 4 << 20;

/// What began and has not ended, in the order in which it began.
#[derive(Debug, Default)]
pub struct OpenParts {
    pub actors: Vec<Actor>,
    /// Ids of browser sessions, each with its agent.
    pub sessions: Vec<(String, Actor)>,
}

impl OpenParts {
    /// The events that end the sessions. How long they ran is not known: the process that had them is gone.
    pub fn session_ends(&self) -> impl Iterator<Item = NewEvent> {
        self.sessions.iter().map(|(session, actor)| {
            let fact = TraceFact::BrowserSessionFinished { session_id: session.clone(), duration_ms: 0 };
            trace_event::new_event(actor, fact)
        })
    }

    /// Takes an event of the trace into account.
    pub fn note(&mut self, body: &TraceBody) {
        let id = body.agent.id;
        match &body.fact {
            TraceFact::AgentStarted {} => self.actors.push(actor(body)),
            TraceFact::AgentFinished { .. } => self.actors.retain(|actor| actor.id != id),
            TraceFact::BrowserSessionStarted { session_id } => {
                self.sessions.push((session_id.clone(), actor(body)));
            }
            TraceFact::BrowserSessionFinished { session_id, .. } => {
                self.sessions.retain(|(open, _)| open != session_id);
            }
            _ => {}
        }
    }
}

pub async fn open_parts(store: &dyn RunStore, run: Uuid) -> StoreResult<OpenParts> {
    let mut open = OpenParts::default();
    let mut after = 0;
    loop {
        let events = store.run_events(run, after, EVENTS_PER_READ, BYTES_PER_READ).await?;
        let Some(last) = events.last() else { return Ok(open) };
        after = last.number;
        for body in events.iter().filter_map(body) {
            open.note(&body);
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
