//! What a brain reports, as events of the trace. Their size is bounded, whatever a brain says.

use agent::{
    Actor, ActorRole, AgentError, AgentErrorCode, AgentErrorSource, AgentEvent, AgentOutcome, Change, Phase,
};
use serde_json::{Value, json};
use store::agents::NewEvent;
use stored_data::stored_json;
use uuid::Uuid;
use wire::agent::{ArtifactChange, ToolCallResult, TraceAgent, TraceBody, TraceError, TraceFact};

/// Characters of a name, a message and a text.
const MAX_NAME_CHARS: usize = 200;
const MAX_MESSAGE_CHARS: usize = 2_000;
const MAX_TEXT_CHARS: usize = 8_000;
/// Bytes of what goes into a tool and comes out of it.
const MAX_VALUE_BYTES: usize = 16 * 1024;
const MAX_FIELDS: usize = 200;

/// The actor of events about the run itself; it has the run's id.
pub fn system_actor(run: Uuid) -> Actor {
    Actor { id: run, role: ActorRole::System, name: "run".to_owned(), parent: None }
}

/// A new event of the trace.
pub fn new_event(actor: &Actor, fact: TraceFact) -> NewEvent {
    let agent = TraceAgent {
        id: actor.id,
        role: role(actor.role).to_owned(),
        name: cut(&actor.name, MAX_NAME_CHARS),
        parent_id: actor.parent,
    };
    let body = stored_json::to_text("an event of an agent run", &TraceBody { agent, fact });
    // Plain data of ours always serialises. If it did not, the run would lose this event and not its work.
    let body = stored_json::or_log(body).unwrap_or_else(|| "{}".to_owned());
    NewEvent { id: Uuid::now_v7(), actor: actor.id, body }
}

/// The trace's form of a report; `snapshot` is the id of an artifact's snapshot.
pub fn to_fact(told: &AgentEvent, snapshot: Uuid) -> TraceFact {
    match told {
        AgentEvent::AgentStarted => TraceFact::AgentStarted {},
        AgentEvent::AgentFinished { outcome, duration_ms, error } => TraceFact::AgentFinished {
            outcome: agent_outcome(*outcome).to_owned(),
            duration_ms: *duration_ms,
            error: error.as_ref().map(trace_error),
        },
        AgentEvent::Progress { phase, message } => TraceFact::ProgressReported {
            phase: phase_name(*phase).to_owned(),
            message: cut(message, MAX_MESSAGE_CHARS),
        },
        AgentEvent::Reasoning { text } => TraceFact::ReasoningSummary { text: cut(text, MAX_TEXT_CHARS) },
        AgentEvent::ToolStarted { call, tool, parameters } => TraceFact::ToolCallStarted {
            tool_call_id: *call,
            tool_name: cut(tool, MAX_NAME_CHARS),
            parameters: bounded(parameters),
        },
        AgentEvent::ToolFinished { call, tool, result } => TraceFact::ToolCallFinished {
            tool_call_id: *call,
            tool_name: cut(tool, MAX_NAME_CHARS),
            result: match result {
                agent::ToolCallResult::Output(output) => ToolCallResult::Output(bounded(output)),
                agent::ToolCallResult::Error(error) => {
                    ToolCallResult::Error { error: cut(error, MAX_MESSAGE_CHARS) }
                }
            },
        },
        AgentEvent::BrowserStarted { session } => {
            TraceFact::BrowserSessionStarted { session_id: session.to_string() }
        }
        AgentEvent::BrowserFinished { session, duration_ms } => {
            TraceFact::BrowserSessionFinished { session_id: session.to_string(), duration_ms: *duration_ms }
        }
        AgentEvent::Artifact { change, changed_fields, items, source, .. } => {
            let fields = changed_fields.iter().take(MAX_FIELDS);
            TraceFact::ArtifactUpdated {
                artifact: ArtifactChange {
                    kind: "json".to_owned(),
                    artifact_id: "result".to_owned(),
                    snapshot_id: snapshot,
                    change: change_name(*change).to_owned(),
                    changed_fields: fields.map(|field| cut(field, MAX_NAME_CHARS)).collect(),
                    item_count: *items,
                    source_tool_call_id: *source,
                },
            }
        }
        AgentEvent::Error(fault) => TraceFact::ErrorOccurred { error: trace_error(fault) },
    }
}

pub fn trace_error(fault: &AgentError) -> TraceError {
    let code = match fault.code {
        AgentErrorCode::Cancelled => "cancelled",
        AgentErrorCode::CreditLimitReached => "credit_limit_reached",
        AgentErrorCode::ParentFinished => "parent_finished",
        AgentErrorCode::Refused => "refused",
        AgentErrorCode::Internal => "internal",
    };
    let source = match fault.source {
        AgentErrorSource::Agent => "agent",
        AgentErrorSource::Tool => "tool",
        AgentErrorSource::Billing => "billing",
        AgentErrorSource::System => "system",
    };
    TraceError {
        code: code.to_owned(),
        source: source.to_owned(),
        retryable: fault.retryable,
        message: cut(&fault.message, MAX_MESSAGE_CHARS),
    }
}

pub fn outcome_name(outcome: AgentOutcome) -> &'static str {
    match outcome {
        AgentOutcome::Succeeded => "succeeded",
        AgentOutcome::Failed => "failed",
        AgentOutcome::Cancelled => "cancelled",
        AgentOutcome::Refused => "refused",
        AgentOutcome::CreditLimitReached => "credit_limit_reached",
    }
}

/// The contract knows no agent that reached a limit, only runs; the error says it.
fn agent_outcome(outcome: AgentOutcome) -> &'static str {
    match outcome {
        AgentOutcome::CreditLimitReached => "failed",
        other => outcome_name(other),
    }
}

fn role(role: ActorRole) -> &'static str {
    match role {
        ActorRole::Orchestrator => "orchestrator",
        ActorRole::Subagent => "subagent",
        ActorRole::System => "system",
    }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Planning => "planning",
        Phase::Working => "working",
        Phase::Finalizing => "finalizing",
    }
}

fn change_name(change: Change) -> &'static str {
    match change {
        Change::Init => "init",
        Change::Partial => "partial",
        Change::Append => "append",
        Change::Modify => "modify",
        Change::Update => "update",
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A value as it is, or the beginning of its text when it is large: whole pages do not belong into a trace.
pub fn bounded(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= MAX_VALUE_BYTES {
        return value.clone();
    }
    let beginning = &text[..text.floor_char_boundary(MAX_VALUE_BYTES / 4)];
    json!({ "truncated": true, "bytes": text.len(), "beginning": beginning })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_bounded() {
        let long = "ä".repeat(100_000);
        let actor = Actor { name: long.clone(), ..system_actor(Uuid::nil()) };
        let call = Uuid::nil();
        let finished = |result| AgentEvent::ToolFinished { call, tool: "x".into(), result };
        let fault = AgentError {
            code: AgentErrorCode::Internal,
            source: AgentErrorSource::Tool,
            retryable: true,
            message: long.clone(),
        };
        for told in [
            AgentEvent::Progress { phase: Phase::Working, message: long.clone() },
            AgentEvent::Reasoning { text: long.clone() },
            AgentEvent::ToolStarted { call, tool: long.clone(), parameters: json!({ "page": long }) },
            finished(agent::ToolCallResult::Output(json!([long]))),
            finished(agent::ToolCallResult::Error(long.clone())),
            AgentEvent::Error(fault),
            AgentEvent::Artifact {
                change: Change::Update,
                content: Value::Null,
                changed_fields: vec![long.clone(); 1_000],
                items: None,
                source: None,
            },
        ] {
            let body = new_event(&actor, to_fact(&told, call)).body;
            assert!(body.len() < 100_000, "{}", body.len());
            serde_json::from_str::<TraceBody>(&body).expect("still an event");
        }
        assert_eq!(bounded(&json!({ "a": 1 })), json!({ "a": 1 }));
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "abc…");
    }

    #[test]
    fn an_agent_never_reached_a_limit() {
        let told = AgentEvent::AgentFinished {
            outcome: AgentOutcome::CreditLimitReached,
            duration_ms: 1,
            error: None,
        };
        let TraceFact::AgentFinished { outcome, .. } = to_fact(&told, Uuid::nil()) else { panic!() };
        assert_eq!(outcome, "failed");
    }
}
