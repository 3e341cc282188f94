//! Feedback of callers about a response.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// `POST /v2/search/{id}/feedback`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchFeedbackRequest {
    /// `good`, `partial` or `bad`.
    pub rating: Option<String>,
    /// Helpful results; at most 50. A good rating needs some.
    pub valuable_sources: Option<Vec<ValuableSource>>,
    /// What was missing; at most 20.
    pub missing_content: Option<Vec<MissingContent>>,
    /// At most 2000 characters.
    pub query_suggestions: Option<String>,
}

/// `POST /v2/feedback`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackRequest {
    /// `search`, `scrape`, `parse` or `map`.
    pub endpoint: Option<String>,
    /// The `id` of the response; for a scrape its `metadata.scrapeId`.
    pub job_id: Option<String>,
    /// `good`, `partial` or `bad`.
    pub rating: Option<String>,
    /// Helpful results; at most 50.
    pub valuable_sources: Option<Vec<ValuableSource>>,
    /// What was missing; at most 20.
    pub missing_content: Option<Vec<MissingContent>>,
    /// At most 2000 characters.
    pub query_suggestions: Option<String>,
    /// What is wrong, as slugs; at most 20.
    pub issues: Option<Vec<String>>,
    /// Your own tags, as slugs; at most 20.
    pub tags: Option<Vec<String>>,
    /// At most 4000 characters.
    pub note: Option<String>,
    /// The page it is about.
    pub url: Option<String>,
    /// At most 100 numbers, from 1.
    pub page_numbers: Option<Vec<i64>>,
    /// At most 8 KB.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A helpful result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = Valuable)]
pub struct ValuableSource {
    pub url: String,
    /// At most 1000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Something that was missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = Missing)]
pub struct MissingContent {
    /// At most 200 characters.
    pub topic: String,
    /// At most 2000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Credits are never refunded for feedback here: they are the operator's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FeedbackAnswer)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackResponse {
    pub success: bool,
    pub feedback_id: Uuid,
    pub credits_refunded: i64,
    /// There was already feedback for this response; it is kept, and this one is not stored.
    pub already_submitted: bool,
    pub daily_cap_reached: bool,
    pub credits_refunded_today: i64,
    pub daily_refund_cap: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl FeedbackResponse {
    pub fn new(feedback_id: Uuid, already_submitted: bool) -> Self {
        Self {
            success: true,
            feedback_id,
            credits_refunded: 0,
            already_submitted,
            daily_cap_reached: false,
            credits_refunded_today: 0,
            daily_refund_cap: 0,
            warning: None,
        }
    }
}
