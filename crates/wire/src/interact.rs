//! Interact: sessions of browsers that callers drive.

use crate::scrape::{LocationInput, ProfileInput};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// `POST /v2/browser`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserRequest {
    /// Seconds after which the session ends.
    #[schema(minimum = 30, maximum = 3600, default = 600)]
    pub ttl: Option<i64>,
    /// Seconds without activity after which the session ends.
    #[schema(minimum = 10, maximum = 3600, default = 300)]
    pub activity_ttl: Option<i64>,
    /// Whether the session can be watched under `liveViewUrl`.
    #[schema(default = true)]
    pub stream_web_view: Option<bool>,
    /// Block hosts that only serve advertisements and trackers.
    #[schema(default = true)]
    pub block_ads: Option<bool>,
    /// Whether the session can be played back afterwards.
    #[schema(default = true)]
    pub record_session: Option<bool>,
    /// A named browser state to start from.
    pub profile: Option<ProfileInput>,
    /// Languages and time zone that pages see. Requests come from where this server is.
    pub location: Option<LocationInput>,
}

/// A session that has begun.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserCreated {
    pub success: bool,
    pub id: Uuid,
    /// A WebSocket that speaks the Chrome DevTools Protocol.
    pub cdp_url: String,
    /// A page that shows the session.
    pub live_view_url: String,
    /// The same, with mouse and keyboard.
    pub interactive_live_view_url: String,
    pub expires_at: String,
}

/// `GET /v2/browser`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub struct BrowserListQuery {
    /// `active` or `destroyed`; both without it.
    #[param(pattern = "^(active|destroyed)$")]
    pub status: Option<String>,
}

/// The sessions of a team, newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BrowserList {
    pub success: bool,
    pub sessions: Vec<BrowserSessionItem>,
}

/// A session in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserSessionItem {
    pub id: Uuid,
    /// `active` or `destroyed`.
    pub status: &'static str,
    pub cdp_url: String,
    pub live_view_url: String,
    pub interactive_live_view_url: String,
    pub stream_web_view: bool,
    pub created_at: String,
    pub last_activity: String,
    pub expires_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroyed_at: Option<String>,
    /// Why the session ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroyed_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_billed: Option<i64>,
}

/// `POST /v2/browser/{id}/execute`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
pub struct ExecuteRequest {
    /// At most 100,000 characters.
    pub code: Option<String>,
    /// `node`, `python` or `bash`.
    #[schema(default = "node", pattern = "^(node|python|bash)$")]
    pub language: Option<String>,
    /// Seconds.
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: Option<i64>,
}

/// What code came to.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecuteResponse {
    pub success: bool,
    pub stdout: String,
    /// The value of the last expression, or else the output.
    pub result: String,
    pub stderr: String,
    pub exit_code: i32,
    /// Whether it was ended because its time was over.
    pub killed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `POST /v2/scrape/{id}/interact`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
pub struct InteractRequest {
    /// At most 100,000 characters; instead of `prompt`.
    pub code: Option<String>,
    /// What to do, in words; at most 10,000 characters; instead of `code`.
    pub prompt: Option<String>,
    /// `node`, `python` or `bash`.
    #[schema(default = "node", pattern = "^(node|python|bash)$")]
    pub language: Option<String>,
    /// Seconds.
    #[schema(minimum = 1, maximum = 300, default = 30)]
    pub timeout: Option<i64>,
}

/// What code or a prompt came to in the session of a scrape.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InteractResponse {
    pub session_id: Uuid,
    pub cdp_url: String,
    pub live_view_url: String,
    pub interactive_live_view_url: String,
    /// The answer to a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// `success` is false for code that failed.
    #[serde(flatten)]
    pub outcome: ExecuteResponse,
}

/// A session that was ended.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserDeleted {
    pub success: bool,
    pub session_duration_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_billed: Option<i64>,
    /// The browser is still being ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup_queued: Option<bool>,
    /// `destroyed`
    pub status: &'static str,
}

/// `GET /v2/browser/{id}/replay`
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayPages {
    pub success: bool,
    pub pages: Vec<ReplayPage>,
    pub page_count: usize,
    /// The recording stops here: it reached its largest size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// A page of a recorded session.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayPage {
    pub page_id: String,
    /// A web page that plays it.
    pub url: String,
    /// What the page showed last.
    pub page_url: String,
    /// Milliseconds from the beginning of the session to the first picture of the page.
    pub start_time_ms: u64,
    /// The same for the last one.
    pub end_time_ms: u64,
}

/// A recording, or a profile, that was deleted.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Deleted {
    pub success: bool,
}

/// `GET /v2/profiles`
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProfileList {
    pub success: bool,
    pub profiles: Vec<ProfileItem>,
}

/// A saved browser state.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileItem {
    pub name: String,
    /// As it is stored: compressed and encrypted.
    pub bytes: i64,
    /// When it was last read or written, to the hour.
    pub last_used: String,
    /// Whether a request or a session is about to save it.
    pub in_use: bool,
}
