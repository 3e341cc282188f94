//! Catalogue tools. A self-hosted server has none and returns empty results of the right type.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// One of `alexandria` in `POST /v2/scrape`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    pub provider: String,
    pub capability: String,
    pub options: Option<Map<String, Value>>,
}

/// The response of `POST /v2/scrape` with `alexandria`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ToolAnswer)]
pub struct ToolResponse {
    pub success: bool,
    /// The id of the request, as clients expect it. Nothing is stored under it.
    pub scrape_id: Uuid,
    pub data: ToolResults,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResults {
    pub alexandria: Vec<ToolResult>,
    pub credits_cost: i64,
}

/// The result of one call.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    pub provider: String,
    pub capability: String,
    pub credits_cost: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<FoundTools>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

/// The found tools: none.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FoundTools {
    /// `categories`, `providers`, `groups` or `tools`.
    pub level: String,
    #[schema(value_type = Vec<Object>)]
    pub items: Vec<Value>,
    pub total: u64,
    #[schema(value_type = Option<Object>)]
    pub next: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolError {
    pub code: &'static str,
    pub message: String,
    pub status: u16,
}
