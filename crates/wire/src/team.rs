//! Usage, queue and activity of a team, as the clients expect them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// `{success: true, data: …}`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Answer)]
pub struct DataResponse<T> {
    pub success: bool,
    pub data: T,
}

impl<T> DataResponse<T> {
    pub fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditUsage {
    /// Credits left in this period. The plan of an unlimited team has 1000000000.
    pub remaining_credits: i64,
    pub plan_credits: i64,
    pub billing_period_start: Option<String>,
    pub billing_period_end: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    pub remaining_tokens: i64,
    pub plan_tokens: i64,
    pub billing_period_start: Option<String>,
    pub billing_period_end: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CreditHistory {
    pub success: bool,
    pub periods: Vec<CreditPeriod>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditPeriod {
    pub start_date: String,
    pub end_date: String,
    /// Name of the key, with `byApiKey=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    pub credits_used: i64,
    /// The same number under the name that older documentation uses.
    pub total_credits: i64,
}

/// An extra of ours: what was used, day by day.
#[derive(Debug, Serialize, ToSchema)]
pub struct DailyUsage {
    pub success: bool,
    /// Oldest first; every day is there, today last.
    pub days: Vec<UsedDay>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsedDay {
    /// The day in UTC, `YYYY-MM-DD`.
    pub date: String,
    pub credits_used: i64,
    pub tokens_used: i64,
    /// The credits by what they were for.
    pub credits_by_endpoint: BTreeMap<String, i64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DaysQuery {
    /// Number of days, today included.
    #[param(minimum = 1, maximum = 366, default = 30)]
    pub days: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TokenHistory {
    pub success: bool,
    pub periods: Vec<TokenPeriod>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenPeriod {
    pub start_date: String,
    pub end_date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    pub tokens_used: i64,
    /// The same number under the name that older documentation uses.
    pub total_tokens: i64,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// One row per key and period instead of one per period.
    #[serde(default)]
    pub by_api_key: bool,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueStatus {
    pub success: bool,
    pub jobs_in_queue: u64,
    pub active_jobs_in_queue: u64,
    pub waiting_jobs_in_queue: u64,
    pub max_concurrency: u32,
    /// When a job of the team last succeeded.
    pub most_recent_success: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Concurrency {
    pub success: bool,
    /// Browsers the team currently uses.
    pub concurrency: u32,
    pub max_concurrency: u32,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ActivityQuery {
    /// Only entries of this endpoint, for instance `scrape`.
    pub endpoint: Option<String>,
    /// Entries per page.
    #[param(minimum = 1, maximum = 100, default = 50)]
    pub limit: Option<u32>,
    /// The `cursor` of the previous page.
    pub cursor: Option<Uuid>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ActivityPage {
    pub success: bool,
    pub data: Vec<ActivityEntry>,
    /// Pass it as `cursor` for the next page; null on the last one.
    pub cursor: Option<String>,
    pub has_more: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ActivityEntry {
    pub id: Uuid,
    pub endpoint: String,
    pub api_version: String,
    pub created_at: String,
    pub target: String,
    /// `auditMetadata.username` of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// `running`, `completed`, `failed` or `cancelled`; null where the record of the request is gone. An extension
    /// of Gannet, like all that follows.
    pub status: Option<&'static str>,
    /// Of crawls and batches: pages that were read so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<i64>,
    /// Of crawls and batches: pages that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_pages: Option<i64>,
    /// What it cost, or has cost so far; null where the record is gone.
    pub credits: Option<i64>,
    /// How long it took, in milliseconds; null while it runs and where that is not known.
    pub duration_ms: Option<i64>,
    /// The name of the key that made the request: to keys with `admin`, and to the key itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_name: Option<String>,
}
