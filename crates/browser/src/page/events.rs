//! The events we handle, with the fields we use.

use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestSent<'a> {
    #[serde(borrow)]
    pub(crate) request_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) loader_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) frame_id: Cow<'a, str>,
    #[serde(borrow, default, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResponseReceived<'a> {
    #[serde(borrow)]
    pub(crate) request_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) loader_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) frame_id: Cow<'a, str>,
    #[serde(borrow, default, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    pub(crate) response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response {
    pub(crate) url: String,
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) headers: HashMap<String, String>,
    #[serde(default)]
    pub(crate) mime_type: String,
}

/// The end of a request, successful or not.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoadingEnded<'a> {
    #[serde(borrow)]
    pub(crate) request_id: Cow<'a, str>,
    /// The error, if it failed.
    pub(crate) error_text: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Navigated {
    pub(crate) frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    pub(crate) parent_id: Option<String>,
    pub(crate) loader_id: String,
    #[serde(default)]
    pub(crate) url: String,
    /// The requested URL, if the browser shows its own error page instead.
    pub(crate) unreachable_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameEvent {
    pub(crate) frame_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduledNavigation {
    pub(crate) frame_id: String,
    /// Seconds.
    pub(crate) delay: f64,
}

#[derive(Deserialize)]
pub(crate) struct Dialog {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChildAttached {
    pub(crate) session_id: String,
    pub(crate) target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetInfo {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChildDetached {
    pub(crate) session_id: String,
}

/// A request that is paused until we decide.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PausedRequest {
    pub(crate) request_id: String,
    pub(crate) request: RequestInfo,
    #[serde(default)]
    pub(crate) resource_type: String,
    #[serde(default)]
    pub(crate) frame_id: String,
    /// The request that redirected here.
    pub(crate) redirected_request_id: Option<String>,
    /// Only for `Fetch.authRequired`.
    pub(crate) auth_challenge: Option<Challenge>,
}

#[derive(Deserialize)]
pub(crate) struct RequestInfo {
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) headers: HashMap<String, String>,
}

#[derive(Deserialize)]
pub(crate) struct Challenge {
    #[serde(default)]
    pub(crate) source: String,
}
