//! Drills: rehearsals that take the same way as real work (rate token, credits, browser slot, queue,
//! workers, results) without touching the web. An operator runs one to see that a deployment loses
//! nothing and how fast it is; ours, not part of the v2 contract.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrillRequest {
    /// How many steps the queue has to carry.
    #[schema(minimum = 1, maximum = 10_000)]
    pub steps: u32,
    /// How long each step pretends to work.
    #[schema(minimum = 0, maximum = 60_000, default = 0)]
    pub step_millis: Option<u32>,
    /// Credits each step costs.
    #[schema(minimum = 0, maximum = 1_000, default = 0)]
    pub credits_per_step: Option<u32>,
    /// Each n-th step fails for good.
    #[schema(minimum = 1)]
    pub fail_every: Option<u32>,
    /// Hold one of the team's browser slots until the answer is sent.
    pub browser: Option<bool>,
    /// Wait for the end, at most `timeout`.
    pub wait: Option<bool>,
    /// Milliseconds to wait before answering 408; the drill goes on.
    #[schema(minimum = 1, maximum = 300_000, default = 60_000)]
    pub timeout: Option<u32>,
    /// Rehearse a fault of the request itself instead; only where the setting `drill_faults` is on.
    pub fault: Option<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// The handler panics: answered as 500, and nothing else is harmed.
    Panic,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrillStatus {
    pub success: bool,
    pub id: Uuid,
    /// `running`, `completed`, `failed` or `cancelled`.
    pub status: &'static str,
    pub total: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub open: u64,
    pub credits_used: i64,
    pub created_at: String,
    pub finished_at: Option<String>,
    pub expires_at: Option<String>,
    /// Why the drill ended early, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StepsQuery {
    /// Steps with a larger number than this.
    #[serde(default)]
    #[param(default = 0)]
    pub after: u64,
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    pub limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct StepPage {
    pub success: bool,
    pub data: Vec<StepView>,
}

/// The record that a finished step left, written once and together with its end.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    /// Place in the order of finishing, from 1 without gaps.
    pub seq: u64,
    pub step: u32,
    /// Which attempt finished it.
    pub attempt: u32,
    pub worker: Uuid,
}
