//! Use without a key: what is left to an address.

use serde::Serialize;
use utoipa::ToSchema;

/// Whether the address that asks could send a request without a key now. Asking counts as none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeylessEligibility {
    pub success: bool,
    pub eligible: bool,
    /// Why not: `requests` or `credits` are used up for today, or it is `off` on this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(requests|credits|off)$")]
    pub reason: Option<&'static str>,
    /// When the day of the address ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_left: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_left: Option<u32>,
}
