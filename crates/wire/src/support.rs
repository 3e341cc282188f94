//! Questions about a job or about this service, answered from the job's own record and the documentation.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// `POST /v2/support/ask`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskRequest {
    #[schema(min_length = 1, max_length = 8000)]
    pub question: Option<String>,
    /// Why it is asked; read for words to look up.
    pub rationale: Option<String>,
    /// What else is known; read for words to look up.
    #[schema(value_type = Option<Object>)]
    pub context: Option<Value>,
    /// The job that the question is about.
    pub job_id: Option<String>,
}

/// The answer to a question.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskResponse {
    pub request_id: Uuid,
    pub answer: String,
    /// `high`, `medium` or `low`.
    pub confidence: &'static str,
    /// Parameters with which the same request may succeed.
    #[schema(value_type = Option<Object>)]
    pub fix_parameters: Option<Value>,
    pub validation: Option<AskValidation>,
    /// Always null: nobody reads feedback on answers.
    pub feedback: Option<String>,
    pub duration_ms: u64,
}

/// What of the answer was checked.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AskValidation {
    pub tested: bool,
    pub result: String,
    pub evidence: String,
}

/// `POST /v2/support/docs-search`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
pub struct DocsSearchRequest {
    #[schema(min_length = 1, max_length = 8000)]
    pub question: Option<String>,
}

/// Sections of the documentation that fit a question.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocsSearchResponse {
    pub request_id: Uuid,
    pub answer: String,
    pub evidence: Vec<DocsEvidence>,
    pub usage: DocsUsage,
    pub duration_ms: u64,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocsEvidence {
    pub path_or_url: String,
    pub reason: String,
}

/// No language model is asked.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocsUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}
