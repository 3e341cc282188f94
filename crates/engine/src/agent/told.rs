//! What a brain tells, as events of the trace: bounded, whatever it says.

use agent::{Actor, Change, Fault, FaultCode, FaultSource, Outcome, Phase, Role, Told};
use serde_json::{Value, json};
use store::agents::NewEvent;
use uuid::Uuid;
use wire::agent::{ArtifactChange, TraceAgent, TraceBody, TraceError, TraceFact};

/// Characters of a name, a message and a text.
const LONGEST_NAME: usize = 200;
const LONGEST_MESSAGE: usize = 2_000;
const LONGEST_TEXT: usize = 8_000;
/// Bytes of what goes into a tool and comes out of it.
const LARGEST_VALUE: usize = 16 * 1024;
const MOST_FIELDS: usize = 200;

/// Who tells of the run itself: it has the run's own id.
pub fn system(run: Uuid) -> Actor {
    Actor { id: run, role: Role::System, name: "run".to_owned(), parent: None }
}

/// An event that is written now.
pub fn event(actor: &Actor, fact: TraceFact) -> NewEvent {
    let agent = TraceAgent {
        id: actor.id,
        role: role(actor.role).to_owned(),
        name: cut(&actor.name, LONGEST_NAME),
        parent_id: actor.parent,
    };
    // Our own plain data always serialises.
    let body = serde_json::to_string(&TraceBody { agent, fact }).unwrap_or_default();
    NewEvent { id: Uuid::now_v7(), actor: actor.id, body }
}

/// The fact of what is told; `snapshot` is that of an artifact.
pub fn fact(told: &Told, snapshot: Uuid) -> TraceFact {
    match told {
        Told::AgentStarted => TraceFact::AgentStarted {},
        Told::AgentFinished { outcome, duration_ms, error } => TraceFact::AgentFinished {
            outcome: agent_outcome(*outcome).to_owned(),
            duration_ms: *duration_ms,
            error: error.as_ref().map(trace_error),
        },
        Told::Progress { phase, message } => TraceFact::ProgressReported {
            phase: phase_name(*phase).to_owned(),
            message: cut(message, LONGEST_MESSAGE),
        },
        Told::Reasoning { text } => TraceFact::ReasoningSummary { text: cut(text, LONGEST_TEXT) },
        Told::ToolStarted { call, tool, parameters } => TraceFact::ToolCallStarted {
            tool_call_id: *call,
            tool_name: cut(tool, LONGEST_NAME),
            parameters: bounded(parameters),
        },
        Told::ToolFinished { call, tool, result } => TraceFact::ToolCallFinished {
            tool_call_id: *call,
            tool_name: cut(tool, LONGEST_NAME),
            result: bounded(result),
        },
        Told::Artifact { change, changed_fields, items, source, .. } => {
            let fields = changed_fields.iter().take(MOST_FIELDS);
            TraceFact::ArtifactUpdated {
                artifact: ArtifactChange {
                    kind: "json".to_owned(),
                    artifact_id: "result".to_owned(),
                    snapshot_id: snapshot,
                    change: change_name(*change).to_owned(),
                    changed_fields: fields.map(|field| cut(field, LONGEST_NAME)).collect(),
                    item_count: *items,
                    source_tool_call_id: *source,
                },
            }
        }
        Told::Error(fault) => TraceFact::ErrorOccurred { error: trace_error(fault) },
    }
}

pub fn trace_error(fault: &Fault) -> TraceError {
    let code = match fault.code {
        FaultCode::Cancelled => "cancelled",
        FaultCode::CreditLimitReached => "credit_limit_reached",
        FaultCode::ParentFinished => "parent_finished",
        FaultCode::Refused => "refused",
        FaultCode::Internal => "internal",
    };
    let source = match fault.source {
        FaultSource::Agent => "agent",
        FaultSource::Tool => "tool",
        FaultSource::Billing => "billing",
        FaultSource::System => "system",
    };
    TraceError {
        code: code.to_owned(),
        source: source.to_owned(),
        retryable: fault.retryable,
        message: cut(&fault.message, LONGEST_MESSAGE),
    }
}

pub fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
        Outcome::Refused => "refused",
        Outcome::CreditLimitReached => "credit_limit_reached",
    }
}

/// The contract knows no agent that reached a limit, only runs; the error says it.
fn agent_outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::CreditLimitReached => "failed",
        other => outcome_name(other),
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Orchestrator => "orchestrator",
        Role::Subagent => "subagent",
        Role::System => "system",
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

/// A value as it is, or the beginning of its text when it is large: a trace is no place for pages.
pub fn bounded(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= LARGEST_VALUE {
        return value.clone();
    }
    let beginning = &text[..text.floor_char_boundary(LARGEST_VALUE / 4)];
    json!({ "truncated": true, "bytes": text.len(), "beginning": beginning })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_bounded() {
        let long = "ä".repeat(100_000);
        let actor = Actor { name: long.clone(), ..system(Uuid::nil()) };
        let call = Uuid::nil();
        let fault = Fault {
            code: FaultCode::Internal,
            source: FaultSource::Tool,
            retryable: true,
            message: long.clone(),
        };
        for told in [
            Told::Progress { phase: Phase::Working, message: long.clone() },
            Told::Reasoning { text: long.clone() },
            Told::ToolStarted { call, tool: long.clone(), parameters: json!({ "page": long }) },
            Told::ToolFinished { call, tool: "x".into(), result: json!([long]) },
            Told::Error(fault),
            Told::Artifact {
                change: Change::Update,
                content: Value::Null,
                changed_fields: vec![long.clone(); 1_000],
                items: None,
                source: None,
            },
        ] {
            let body = event(&actor, fact(&told, call)).body;
            assert!(body.len() < 100_000, "{}", body.len());
            serde_json::from_str::<TraceBody>(&body).expect("still an event");
        }
        assert_eq!(bounded(&json!({ "a": 1 })), json!({ "a": 1 }));
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "abc…");
    }

    #[test]
    fn an_agent_never_reached_a_limit() {
        let told = Told::AgentFinished { outcome: Outcome::CreditLimitReached, duration_ms: 1, error: None };
        let TraceFact::AgentFinished { outcome, .. } = fact(&told, Uuid::nil()) else { panic!() };
        assert_eq!(outcome, "failed");
    }
}
