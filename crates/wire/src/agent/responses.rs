//! Responses about agent runs. Missing values are absent rather than null, except for `data` of a chat.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// An accepted run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStarted {
    pub success: bool,
    pub id: Uuid,
    /// Pass it in the next request to continue from this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<Uuid>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_turn: Option<u32>,
}

/// The status of a run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatus {
    pub success: bool,
    pub id: Uuid,
    /// `processing`, `completed` or `failed`; a cancelled run has failed.
    pub status: &'static str,
    /// The result if completed; null for a chat, which responds in `message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The model that runs it.
    pub model: &'static str,
    /// Set if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// When it expires; while it runs, the earliest possible time.
    pub expires_at: String,
    /// Credits used so far; 0 if it failed.
    pub credits_used: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_turn: Option<u32>,
    /// `extract` or `chat`.
    pub mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<AgentSuggestion>>,
    /// What a failed run had found so far; never a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<Value>,
    /// Whether `partial` conforms to the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_schema_valid: Option<bool>,
    /// Why a failed run stopped: an outcome of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Remarks about the result, for instance what could not be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A suggested prompt for the next turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentSuggestion {
    pub label: String,
    pub prompt: String,
}

/// The response to a cancellation.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct AgentCancelled {
    pub success: bool,
}

/// A page of the team's runs, newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentPage {
    pub success: bool,
    pub agents: Vec<AgentListItem>,
    /// The URL of the next runs, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentListItem {
    pub id: Uuid,
    pub created_at: String,
    /// The first URL, or the prompt.
    pub target_hint: String,
    pub origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
    pub settings: AgentListSettings,
    /// `processing`, `completed` or `failed`.
    pub status: &'static str,
    pub options: AgentListOptions,
}

/// What a run was asked. An extension of Gannet.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AgentQuestion {
    pub success: bool,
    /// As in the list of runs.
    pub agent: AgentListItem,
}

/// Flags that a dashboard could set; there is none here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct AgentListSettings {
    pub hidden: bool,
    pub starred: bool,
}

/// What a run was started with.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentListOptions {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    pub prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    pub model: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_turn: Option<u32>,
}

/// An artifact at one moment.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSnapshot {
    pub success: bool,
    pub id: Uuid,
    pub snapshot_id: Uuid,
    /// JSON artifacts are JSON inside this string.
    pub snapshot: String,
}

/// The response of `GET /v2/agent/threads/{threadId}`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = AgentThreadAnswer)]
pub struct AgentThreadResponse {
    pub success: bool,
    pub thread: AgentThread,
}

/// A thread, oldest turn first.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentThread {
    pub id: Uuid,
    pub created_at: String,
    pub updated_at: String,
    /// `idle` or `running`.
    pub status: &'static str,
    pub runs: Vec<AgentThreadRun>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentThreadRun {
    pub id: Uuid,
    pub turn: u32,
    /// `extract` or `chat`.
    pub mode: &'static str,
    pub prompt: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// `processing`, `succeeded`, `failed`, `cancelled`, `refused` or `credit_limit_reached`.
    pub status: &'static str,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    pub credits_used: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// With `includeData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_schema_valid: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<AgentSuggestion>>,
}
