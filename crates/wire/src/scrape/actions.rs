//! Actions: what is done in a page before it is read.

use super::Viewport;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// One action. Which fields belong to which `type` is checked when the request is resolved.
#[derive(Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionAsked {
    /// `wait`, `click`, `write`, `press`, `scroll`, `screenshot`, `scrape`, `executeJavascript` or `pdf`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// `wait`: how long; or `selector`.
    #[schema(minimum = 1)]
    pub milliseconds: Option<i64>,
    /// `wait`, `click`, `scroll`: a CSS selector.
    pub selector: Option<String>,
    /// `click`: every match instead of the first.
    pub all: Option<bool>,
    /// `write`: typed into what has the focus.
    pub text: Option<String>,
    /// `press`: a key by its name.
    pub key: Option<String>,
    /// `scroll`: `up` or `down`.
    pub direction: Option<String>,
    /// `screenshot`: the whole page.
    pub full_page: Option<bool>,
    /// `screenshot`: 1 to 100, as JPEG.
    #[schema(minimum = 1, maximum = 100)]
    pub quality: Option<i64>,
    /// `screenshot`: the size of the window.
    pub viewport: Option<Viewport>,
    /// `executeJavascript`: its last value is returned.
    pub script: Option<String>,
    /// `pdf`: `A0` to `A6`, `Letter`, `Legal`, `Tabloid` or `Ledger`.
    pub format: Option<String>,
    /// `pdf`: the long side across.
    pub landscape: Option<bool>,
    /// `pdf`: 0.1 to 2.
    pub scale: Option<f64>,
}

/// Neither what is typed nor a script is shown: both may hold a password.
impl fmt::Debug for ActionAsked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("ActionAsked");
        shown.field("kind", &self.kind).field("selector", &self.selector).finish_non_exhaustive()
    }
}
