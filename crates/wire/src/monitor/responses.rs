//! Monitors, their checks and pages, as callers see them.

use super::{EmailInput, QuietHoursInput, TargetInput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// A schedule as it is returned, always with its cron expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScheduleView {
    pub cron: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub timezone: String,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorView {
    pub id: Uuid,
    pub name: String,
    /// `active` or `paused`.
    pub status: &'static str,
    pub schedule: ScheduleView,
    pub targets: Vec<TargetInput>,
    #[schema(value_type = Option<Object>)]
    pub webhook: Option<Value>,
    pub notification: Option<NotificationView>,
    /// The recipients of mail, and whether they want it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_recipient_subscriptions: Option<Vec<EmailSubscriptionView>>,
    pub retention_days: u32,
    pub goal: Option<String>,
    pub judge_enabled: bool,
    pub next_run_at: Option<String>,
    pub last_run_at: Option<String>,
    pub current_check_id: Option<Uuid>,
    pub last_check_summary: Option<CheckSummary>,
    /// At most this many.
    pub estimated_credits_per_month: i64,
    /// A page with the checks over time, for whoever has the address. An extension of Gannet.
    pub timeline_url: String,
    /// The same as an Atom feed. An extension of Gannet.
    pub feed_url: String,
    pub created_at: String,
    pub updated_at: String,
}

/// Who is told, without what is secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<EmailInput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<ChannelView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHoursInput>,
}

/// A channel. Its address, token and room are secrets and never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChannelView {
    pub id: Uuid,
    #[serde(rename = "type")]
    pub kind: String,
    pub host: String,
}

/// Whether a recipient wants mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailSubscriptionView {
    pub email: String,
    /// `pending`, `confirmed` or `unsubscribed`.
    pub status: &'static str,
    /// `team` for addresses that the operator trusts, `opt_in` for others, which are asked first.
    pub source: &'static str,
    /// After a request that asked them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation_email_sent: Option<bool>,
}

/// How many pages of a check came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckSummary {
    pub total_pages: u64,
    pub same: u64,
    pub changed: u64,
    pub new: u64,
    pub removed: u64,
    pub error: u64,
}

/// Pages of a site that a check found and could not read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadPages {
    /// How many failed: dead links, time-outs, names that do not resolve, walls.
    pub failed: u64,
    /// How many robots.txt forbids.
    pub robots_blocked: u64,
    /// The first ten of each kind.
    pub pages: Vec<UnreadPage>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadPage {
    pub url: String,
    /// Why.
    pub error: String,
}

/// What one target of a check came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetResult {
    pub target_id: Uuid,
    #[serde(rename = "type")]
    pub kind: String,
    /// Of `scrape`: the ids of its scrapes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_jobs: Option<Vec<String>>,
    /// Of `crawl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_id: Option<Uuid>,
    /// Of `crawl`: what it found and could not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadPages>,
    /// Of `search`: whether all queries were answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_completed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_degraded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_credits: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_credits: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results_judged: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckView {
    pub id: Uuid,
    pub monitor_id: Uuid,
    /// `queued`, `running`, `completed`, `failed`, `partial`, `skipped_overlap` or `skipped_no_credits`.
    pub status: &'static str,
    /// `scheduled` or `manual`.
    pub trigger: &'static str,
    pub scheduled_for: String,
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    pub estimated_credits: i64,
    pub reserved_credits: Option<i64>,
    pub actual_credits: i64,
    /// `not_applicable`, `reserved`, `confirmed`, `released` or `failed`.
    pub billing_status: &'static str,
    pub summary: CheckSummary,
    pub target_results: Vec<TargetResult>,
    /// What became of messages: `none` (nothing to tell), `queued`, `held` (until quiet hours end) or
    /// `no_recipients` (nobody has confirmed, or mail is not set up).
    pub notification_status: Option<String>,
    /// A page with what changed, for whoever has the address. An extension of Gannet.
    pub diff_url: String,
    pub error: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

/// A check with its pages.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckDetailView {
    #[serde(flatten)]
    pub check: CheckView,
    pub pages: Vec<CheckPageView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckPageView {
    pub id: Uuid,
    pub target_id: Uuid,
    pub url: String,
    /// `same`, `new`, `changed`, `removed` or `error`.
    pub status: String,
    pub previous_scrape_id: Option<String>,
    pub current_scrape_id: Option<String>,
    pub status_code: Option<u16>,
    pub error: Option<String>,
    /// Of searches: `searchStatus`; of pages: what was ignored, and why, and `screenshots` where the formats
    /// ask for them.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map<String, Value>>,
    pub diff: Option<DiffView>,
    pub snapshot: Option<SnapshotView>,
    pub judgment: Option<JudgmentView>,
    pub created_at: String,
}

/// A difference: of text as a unified diff and as a tree, of data as a map of places.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DiffView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub json: Option<Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SnapshotView {
    #[schema(value_type = Option<Object>)]
    pub json: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgmentView {
    pub meaningful: bool,
    /// `high`, `medium` or `low`.
    pub confidence: String,
    pub reason: String,
    pub meaningful_changes: Vec<MeaningfulChangeView>,
    /// Where these changes are: places of the data (`plans[0].price`), or `markdown`.
    #[serde(default)]
    pub fields: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MeaningfulChangeView {
    /// `added`, `removed` or `changed`.
    #[serde(rename = "type")]
    pub kind: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MonitorResponse {
    pub success: bool,
    pub data: MonitorView,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MonitorListResponse {
    pub success: bool,
    pub data: Vec<MonitorView>,
}

/// What a recipient has decided.
#[derive(Debug, Serialize, ToSchema)]
pub struct SubscriptionResponse {
    pub success: bool,
    pub email: String,
    /// `confirmed` or `unsubscribed`.
    pub status: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MonitorDeleted {
    pub success: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WatchAgainResponse {
    pub success: bool,
    /// How many places and lines were remembered as changing by themselves, and are not any more.
    pub forgotten: u64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MonitorRunResponse {
    pub success: bool,
    /// Of the check.
    pub id: Uuid,
    pub data: CheckView,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CheckListResponse {
    pub success: bool,
    pub data: Vec<CheckView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CheckResponse {
    pub success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    pub data: CheckDetailView,
}
