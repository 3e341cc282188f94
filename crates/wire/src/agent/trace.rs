//! The trace of a run: thirteen kinds of events in one envelope.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// The response of `GET /v2/agent/{jobId}/trace`. Events are stored as JSON and copied as they are, so the
/// response is assembled by hand; this declaration is for the documentation.
#[derive(Debug, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentTrace {
    pub success: bool,
    pub id: Uuid,
    pub events: Vec<TraceEvent>,
    /// Credits used so far, whether they are charged or not.
    pub credits_used: i64,
    /// With `liveView`, while it runs: browser sessions that can be watched.
    pub active_browser_sessions: Option<Vec<ActiveBrowserSession>>,
}

/// A browser session of a run that goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveBrowserSession {
    pub id: Uuid,
    /// Shows it to whoever has the link.
    pub live_view_url: String,
    pub viewport: Viewport,
}

/// Size of a page in its own pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Viewport {
    pub width: u32,
    pub height: u32,
}

/// An event as callers see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceEvent {
    /// 1
    pub schema_version: u8,
    pub event_id: Uuid,
    pub run_id: Uuid,
    pub occurred_at: String,
    /// From 1, over all events of the same agent.
    pub producer_sequence: u64,
    #[serde(flatten)]
    #[schema(inline)]
    pub body: TraceBody,
}

/// The part of an event that is known before it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TraceBody {
    pub agent: TraceAgent,
    #[serde(flatten)]
    #[schema(inline)]
    pub fact: TraceFact,
}

/// The agent that reports the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceAgent {
    pub id: Uuid,
    /// `orchestrator`, `subagent` or `system`.
    pub role: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Uuid>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub enum TraceFact {
    #[serde(rename = "run.started")]
    RunStarted {},
    #[serde(rename = "run.cancel_requested")]
    RunCancelRequested {
        /// `user`
        reason: String,
    },
    #[serde(rename = "run.finished")]
    RunFinished {
        /// `succeeded`, `failed`, `cancelled`, `refused` or `credit_limit_reached`.
        outcome: String,
        error: Option<TraceError>,
    },
    #[serde(rename = "agent.started")]
    AgentStarted {},
    #[serde(rename = "agent.finished")]
    AgentFinished {
        /// `succeeded`, `failed`, `cancelled` or `refused`.
        outcome: String,
        #[serde(rename = "durationMs")]
        duration_ms: u64,
        error: Option<TraceError>,
    },
    #[serde(rename = "browser.session.started")]
    BrowserSessionStarted {
        #[serde(rename = "sessionId")]
        session_id: String,
    },
    #[serde(rename = "browser.session.finished")]
    BrowserSessionFinished {
        #[serde(rename = "sessionId")]
        session_id: String,
        #[serde(rename = "durationMs")]
        duration_ms: u64,
    },
    #[serde(rename = "progress.reported")]
    ProgressReported {
        /// `planning`, `working` or `finalizing`.
        phase: String,
        message: String,
    },
    #[serde(rename = "reasoning.summary")]
    ReasoningSummary { text: String },
    #[serde(rename = "tool_call.started")]
    ToolCallStarted {
        #[serde(rename = "toolCallId")]
        tool_call_id: Uuid,
        #[serde(rename = "toolName")]
        tool_name: String,
        parameters: Value,
    },
    #[serde(rename = "tool_call.finished")]
    ToolCallFinished {
        #[serde(rename = "toolCallId")]
        tool_call_id: Uuid,
        #[serde(rename = "toolName")]
        tool_name: String,
        #[schema(value_type = Value)]
        result: ToolCallResult,
    },
    #[serde(rename = "artifact.updated")]
    ArtifactUpdated { artifact: ArtifactChange },
    #[serde(rename = "error.occurred")]
    ErrorOccurred { error: TraceError },
}

/// How a tool call ended: in JSON the output itself, or an object whose `error` says what went wrong. No tool
/// has an output with a field of that name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ToolCallResult {
    Error { error: String },
    Output(Value),
}

/// An artifact that changed; its snapshot has the new content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactChange {
    /// `json`
    pub kind: String,
    /// `result`
    pub artifact_id: String,
    pub snapshot_id: Uuid,
    /// `init`, `partial`, `append`, `modify` or `update`.
    pub change: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_fields: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_tool_call_id: Option<Uuid>,
}

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TraceError {
    /// `cancelled`, `credit_limit_reached`, `parent_finished`, `refused` or `internal`.
    pub code: String,
    /// `agent`, `tool`, `billing` or `system`.
    pub source: String,
    pub retryable: bool,
    pub message: String,
}

/// The JSON of an event, from a body that is already JSON.
pub fn event_json(event: Uuid, run: Uuid, occurred_at: &str, sequence: u64, body: &str) -> String {
    let rest = body.strip_prefix('{').unwrap_or(body);
    format!(
        "{{\"schemaVersion\":1,\"eventId\":\"{event}\",\"runId\":\"{run}\",\"occurredAt\":\"{occurred_at}\",\
         \"producerSequence\":{sequence},{rest}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(fact: TraceFact) -> TraceBody {
        let agent =
            TraceAgent { id: Uuid::nil(), role: "system".into(), name: "run".into(), parent_id: None };
        TraceBody { agent, fact }
    }

    #[test]
    fn an_event_is_put_into_its_envelope_as_it_is() {
        let fact = TraceFact::ToolCallStarted {
            tool_call_id: Uuid::max(),
            tool_name: "scrape".into(),
            parameters: json!({ "url": "https://a.test/\u{0}" }),
        };
        let text = serde_json::to_string(&body(fact.clone())).unwrap();
        let event = event_json(Uuid::max(), Uuid::nil(), "2026-11-15T09:30:00.000Z", 3, &text);
        let value: Value = serde_json::from_str(&event).unwrap();
        assert_eq!((&value["type"], &value["schemaVersion"]), (&json!("tool_call.started"), &json!(1)));
        assert_eq!((&value["toolName"], &value["producerSequence"]), (&json!("scrape"), &json!(3)));
        assert_eq!(value["agent"], json!({ "id": Uuid::nil(), "role": "system", "name": "run" }));
        let read: TraceEvent = serde_json::from_str(&event).unwrap();
        assert_eq!(read.body, body(fact));
    }

    #[test]
    fn keys_that_clients_ask_for_are_there_even_when_empty() {
        let finished = TraceFact::AgentFinished { outcome: "succeeded".into(), duration_ms: 7, error: None };
        let value = serde_json::to_value(body(finished)).unwrap();
        assert_eq!((&value["error"], &value["durationMs"]), (&Value::Null, &json!(7)));
        let done = TraceFact::ToolCallFinished {
            tool_call_id: Uuid::nil(),
            tool_name: "x".into(),
            result: ToolCallResult::Output(Value::Null),
        };
        assert!(serde_json::to_value(body(done)).unwrap().as_object().unwrap().contains_key("result"));
        let started = serde_json::to_value(body(TraceFact::RunStarted {})).unwrap();
        assert_eq!(started["type"], "run.started");
    }

    #[test]
    fn a_failed_call_is_told_from_one_with_a_result() {
        let read = |value: Value| {
            let result: ToolCallResult = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(&result).unwrap(), value, "written as it was read");
            matches!(result, ToolCallResult::Error { .. })
        };
        assert!(read(json!({ "error": "this page was not read" })));
        assert!(!read(json!({ "recorded": ["/a"], "refused": [] })) && !read(Value::Null));
    }
}
