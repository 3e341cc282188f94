//! Actions in a page before it is read.

use super::Viewport;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// One action. Which fields belong to which `type` is checked when the request is resolved.
#[derive(Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[schema(as = ActionAsked)]
#[serde(rename_all = "camelCase")]
pub struct ActionInput {
    /// `wait`, `click`, `write`, `press`, `scroll`, `screenshot`, `scrape`, `executeJavascript` or `pdf`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// `wait`: duration; or `selector`.
    #[schema(minimum = 1)]
    pub milliseconds: Option<i64>,
    /// `wait`, `click`, `scroll`: a CSS selector.
    pub selector: Option<String>,
    /// `click`: all matches instead of the first.
    pub all: Option<bool>,
    /// `write`: typed into the focused element.
    pub text: Option<String>,
    /// `press`: a key by its name.
    pub key: Option<String>,
    /// `scroll`: `up` or `down`.
    #[schema(pattern = "^(up|down)$")]
    pub direction: Option<String>,
    /// `screenshot`: the whole page.
    // The Rust client does not rename the fields of its actions.
    #[serde(alias = "full_page")]
    pub full_page: Option<bool>,
    /// `screenshot`: 1 to 100, as JPEG.
    #[schema(minimum = 1, maximum = 100)]
    pub quality: Option<i64>,
    /// `screenshot`: the size of the viewport.
    pub viewport: Option<Viewport>,
    /// `executeJavascript`: its last value is returned.
    pub script: Option<String>,
    /// `pdf`: `A0` to `A6`, `Letter`, `Legal`, `Tabloid` or `Ledger`.
    #[schema(pattern = "^(A0|A1|A2|A3|A4|A5|A6|Letter|Legal|Tabloid|Ledger)$")]
    pub format: Option<String>,
    /// `pdf`: landscape orientation.
    pub landscape: Option<bool>,
    /// `pdf`: 0.1 to 2.
    pub scale: Option<f64>,
}

/// Typed text and scripts are not shown: both may contain a password.
impl fmt::Debug for ActionInput {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("ActionInput");
        shown.field("kind", &self.kind).field("selector", &self.selector).finish_non_exhaustive()
    }
}
