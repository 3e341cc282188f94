//! Formats: what a scrape returns, by name or with options.

use super::plain_or_object;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

plain_or_object! {
    /// A format: its name, or an object with `type` and options.
    FormatInput as FormatAsked { string(String) by visit_str: &str, visit_string: String; FormatObject }
}

/// A format with options. Which of them belong to which `type` is checked when the request is resolved.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormatObject {
    /// The name of the format.
    #[serde(rename = "type")]
    #[schema(
        pattern = "^(markdown|html|rawHtml|links|images|screenshot|attributes|branding|product|menu|changeTracking|highlights|rawBase64|json|deterministicJson|summary|question|query)$"
    )]
    pub kind: Option<String>,
    /// `json`, `query`, `changeTracking`: what to extract.
    pub prompt: Option<String>,
    /// `json`, `changeTracking`: a JSON Schema.
    #[schema(value_type = Option<Object>)]
    pub schema: Option<serde_json::Value>,
    /// `json`: the old position of the option of the same name.
    pub check_prompt_injection: Option<bool>,
    /// `screenshot`: the whole page instead of the viewport.
    pub full_page: Option<bool>,
    /// `screenshot`: 1 to 100, as JPEG; PNG without it.
    #[schema(minimum = 1, maximum = 100)]
    pub quality: Option<i64>,
    /// `screenshot`: the size of the viewport.
    pub viewport: Option<Viewport>,
    /// `changeTracking`: `git-diff`, `json`.
    pub modes: Option<Vec<String>>,
    /// `changeTracking`: keeps a separate history.
    pub tag: Option<String>,
    /// `attributes`: the attributes to read.
    pub selectors: Option<Vec<SelectorInput>>,
    /// `question`: 1 to 10,000 characters.
    pub question: Option<String>,
    /// `highlights`: 1 to 10,000 characters.
    pub query: Option<String>,
    /// `query`: `freeform` or `directQuote`.
    #[schema(pattern = "^(freeform|directQuote)$")]
    pub mode: Option<String>,
}

/// The size of a browser viewport.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct Viewport {
    #[schema(minimum = 1, maximum = 7680)]
    pub width: i64,
    #[schema(minimum = 1, maximum = 4320)]
    pub height: i64,
}

/// One pair of `attributes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = SelectorAsked)]
pub struct SelectorInput {
    /// A CSS selector.
    pub selector: String,
    /// The name of the attribute.
    pub attribute: String,
}
