//! What callers are told of runs. Absent rather than null, but for `data` of a chat.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// A run that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStarted {
    pub success: bool,
    pub id: Uuid,
    /// Pass it back to go on from this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<Uuid>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_turn: Option<u32>,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatus {
    pub success: bool,
    /// `processing`, `completed` or `failed`; a cancelled run has failed.
    pub status: &'static str,
    /// The result, when completed; null for a chat, which answers in `message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What runs it.
    pub model: &'static str,
    /// When it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Until when it is kept; while it runs, the earliest that can be.
    pub expires_at: String,
    /// What it costs: so far while it runs, nothing when it failed.
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
    /// What a failed run had until then; never a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<Value>,
    /// Whether `partial` is of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_schema_valid: Option<bool>,
    /// Why a failed run stopped: an outcome of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// What to know of the result, for instance what could not be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A follow-up for the next turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentSuggestion {
    pub label: String,
    pub prompt: String,
}

/// The answer to a cancellation.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct AgentCancelled {
    pub success: bool,
}

/// A page of the team's runs, newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentPage {
    pub success: bool,
    pub agents: Vec<AgentListItem>,
    /// Where the next runs are, when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentListItem {
    pub id: Uuid,
    pub created_at: String,
    /// The first address, or the prompt.
    pub target_hint: String,
    pub origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
    pub settings: AgentListSettings,
    /// `processing`, `completed` or `failed`.
    pub status: &'static str,
    pub options: AgentListOptions,
}

/// Marks that a dashboard could set; there is none here.
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

/// An artifact as it stood at one moment.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSnapshot {
    pub success: bool,
    pub id: Uuid,
    pub snapshot_id: Uuid,
    /// JSON artifacts are JSON inside this text.
    pub snapshot: String,
}

/// The answer of `GET /v2/agent/threads/{threadId}`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentThreadAnswer {
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
