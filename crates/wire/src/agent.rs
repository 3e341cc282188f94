//! Agent runs: requests, status, list, threads and trace.

mod responses;
mod skill;
mod trace;

pub use responses::{
    AgentCancelled, AgentListItem, AgentListOptions, AgentListSettings, AgentPage, AgentQuestion,
    AgentSnapshot, AgentStarted, AgentStatus, AgentSuggestion, AgentThread, AgentThreadResponse,
    AgentThreadRun,
};
pub use skill::{AgentBlueprint, AgentSkill, AgentSkillResponse, AgentSkillStep, AgentSource};
pub use trace::{
    ActiveBrowserSession, AgentTrace, ArtifactChange, ToolCallResult, TraceAgent, TraceBody, TraceError,
    TraceEvent, TraceFact, Viewport, event_json,
};

use crate::scrape::{AuditInput, LocationInput, ThreatInput};
use crate::webhook::WebhookInput;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// The model that is used, whatever `model` asks for.
pub const AGENT_MODEL: &str = "plunge-1";
/// Accepted values of `model`; all mean the current one.
pub const MODELS_ACCEPTED: [&str; 4] = ["spark-1-pro", "spark-1-mini", "spark-2", AGENT_MODEL];

/// `POST /v2/agent`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRequest {
    /// The task, 1 to 10,000 characters.
    #[schema(min_length = 1, max_length = 10_000)]
    pub prompt: Option<String>,
    /// Start URLs; at most 100.
    pub urls: Option<Vec<String>>,
    /// A JSON Schema of the result. A field `<field>_citation` next to a field asks for its source.
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    /// Maximum number of credits; a run that would need more fails and costs nothing.
    #[schema(minimum = 1, maximum = 1_000_000_000, default = 2_500)]
    pub max_credits: Option<i64>,
    /// Visit only `urls`.
    // The Rust client spells it by the rule of its other fields.
    #[serde(rename = "strictConstrainToURLs", alias = "strictConstrainToUrls")]
    #[schema(default = false)]
    pub strict_constrain_to_urls: Option<bool>,
    /// `spark-1-pro`, `spark-1-mini` or `spark-2`; accepted without effect: there is one generation.
    pub model: Option<String>,
    /// `low`, `medium` or `high`.
    pub effort: Option<String>,
    /// A webhook: a URL, or an object with options.
    pub webhook: Option<WebhookInput>,
    /// Continues a thread; missing options are taken from its last turn.
    #[schema(format = Uuid)]
    pub thread_id: Option<String>,
    /// `extract` or `chat`.
    #[schema(default = "extract")]
    pub mode: Option<String>,
    /// Paid tools of a catalogue; there is none here, so `enabled` must not be `true`.
    pub exchange: Option<ExchangeInput>,
    /// Country and languages of the requests.
    pub location: Option<LocationInput>,
    /// Hosts that must not be contacted.
    pub threat_protection: Option<ThreatInput>,
    /// Recorded with the request.
    pub audit_metadata: Option<AuditInput>,
    /// Must not be `true`: a run consists of its stored trace and result.
    #[schema(default = false)]
    pub zero_data_retention: Option<bool>,
    /// Shown in the list.
    pub origin: Option<String>,
    /// Shown in the list.
    pub integration: Option<String>,
}

/// Paid tools of a catalogue.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[schema(as = ExchangeAsked)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeInput {
    pub enabled: Option<bool>,
    /// At most 5.
    pub toolkits: Option<Vec<String>>,
    #[schema(minimum = 1, maximum = 30)]
    pub max_calls: Option<i64>,
    pub require_approval: Option<bool>,
    #[schema(value_type = Option<Object>)]
    pub approve: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub decline: Option<Value>,
    /// `skip` or `ask`.
    pub on_terms_required: Option<String>,
}

/// Which runs to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AgentListQuery {
    /// Milliseconds since 1970: only runs that were started before.
    #[param(value_type = Option<i64>)]
    pub before: Option<String>,
}

/// Options of a trace.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct TraceQuery {
    /// `true` or `false`: also return open browser sessions.
    #[param(value_type = Option<bool>)]
    pub live_view: Option<String>,
    /// Only events after the one with this id.
    #[param(value_type = Option<uuid::Uuid>)]
    pub after: Option<String>,
}

/// Options of a thread.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ThreadQuery {
    /// `true` or `false`: include the result of each run.
    #[param(value_type = Option<bool>)]
    pub include_data: Option<String>,
}

/// A field of the request and its effect: a test compares `docs/agent.md` with this table.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct AgentField {
    pub name: &'static str,
    pub note: &'static str,
}

macro_rules! fields {
    ($($name:literal $note:literal;)+) => {
        pub const AGENT_FIELDS: &[AgentField] = &[$(AgentField { name: $name, note: $note }),+];
    };
}

fields! {
    "prompt" "1 to 10,000 characters";
    "urls" "where to begin, at most 100; checked like those of a scrape. A login in one is used for its origin alone; neither the trace nor the model sees it (one written into the `prompt` is not used, and a model reads it)";
    "schema" "a JSON Schema; one that is none is a 400 `Invalid JSON schema: …`";
    "maxCredits" "default 2,500, at least 1; reaching it fails the run, which then costs nothing and hands out what [the table](#how-it-ends) says";
    "strictConstrainToURLs" "nothing but `urls` is visited, and a page that redirects or moves to another site is not read; then `urls` must not be empty";
    "model" "`spark-1-pro`, `spark-1-mini`, `spark-2`; accepted without effect";
    "effort" "`low`, `medium`, `high`: how many pages, and how many at once";
    "webhook" "`started`, `action`, `completed`, `failed`, `cancelled`";
    "threadId" "continues a thread; what is left out is taken over from its last turn";
    "mode" "`extract` or `chat`; a chat answers in `message`";
    "exchange" "there is no catalogue here: `enabled: true`, `approve` and `decline` are refused, the rest has no effect";
    "location" "as for a scrape";
    "threatProtection" "as for a scrape; also on redirects, maps and searches";
    "auditMetadata" "`username` is kept with the activity";
    "zeroDataRetention" "`true` is refused: a run is its trace and its result";
    "origin" "shown in the list";
    "integration" "shown in the list";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use serde_json::json;
    use utoipa::PartialSchema;

    fn asked(body: &Value) -> Result<AgentRequest, crate::WireError> {
        crate::read::body(body.to_string().as_bytes())
    }

    #[test]
    fn reads_what_clients_send() {
        let asked = asked(&json!({
            "urls": ["https://example.com"], "prompt": "find", "schema": { "type": "object" }, "integration": "x",
            "maxCredits": 100, "strictConstrainToURLs": true, "model": "spark-2", "effort": "low",
            "webhook": { "url": "https://a.test/", "events": ["action"] },
            "threatProtection": { "blacklist": ["b.test"] }, "auditMetadata": { "username": "ann" },
            "threadId": "019a0000-0000-7000-8000-000000000000", "mode": "chat",
            "exchange": { "enabled": false, "maxCalls": 3, "onTermsRequired": "skip" },
            "location": { "country": "DE" }, "zeroDataRetention": false, "origin": "python-sdk@4.54.0",
        }))
        .unwrap();
        assert_eq!((asked.max_credits, asked.strict_constrain_to_urls), (Some(100), Some(true)));
        assert_eq!(asked.origin.as_deref(), Some("python-sdk@4.54.0"));
    }

    #[test]
    fn an_unknown_key_is_named_where_it_stands() {
        let error = asked(&json!({ "prompt": "x", "exchange": { "maxcalls": 1 } })).unwrap_err();
        assert_eq!(error.kind, Kind::UnknownKeys);
        assert_eq!(error.details().unwrap()[0]["path"], json!(["exchange", "maxcalls"]));
        assert_eq!(asked(&json!({ "prompt": "x", "maxCredits": 1.5 })).unwrap_err().kind, Kind::BadRequest);
    }

    #[test]
    fn every_field_of_the_request_is_in_the_table() {
        let schema = serde_json::to_value(AgentRequest::schema()).unwrap();
        let fields = schema["properties"].as_object().unwrap();
        let known: Vec<&str> = AGENT_FIELDS.iter().map(|field| field.name).collect();
        assert!(fields.keys().all(|name| known.contains(&name.as_str())), "{fields:?}");
        assert_eq!(fields.len(), known.len());
    }
}
