//! One read of a page, and why a read brought no page.

use crate::Error;
use serde_json::{Map, Value};
use stored_data::time;

/// A page as it was read.
#[derive(Debug, Clone, Default)]
pub struct ReadPage {
    pub read_at: i64,
    pub status: u16,
    pub scrape_id: Option<String>,
    /// Where redirects led to.
    pub final_url: Option<String>,
    pub text: String,
    /// All that the page shows, where the text is its main content. None for pages that a crawl read.
    pub whole: Option<String>,
    pub data: Option<Value>,
    /// The address of a screenshot, where the formats ask for one.
    pub screenshot: Option<String>,
    /// What stands in front of the content, where something does.
    pub wall: Option<&'static str>,
    pub credits: i64,
}

impl ReadPage {
    /// What a document says of a page that was read just now.
    pub fn from_parts(text: Option<String>, data: Option<Value>, metadata: &Map<String, Value>) -> Self {
        let field = |name: &str| metadata.get(name).and_then(Value::as_str).map(str::to_owned);
        let status = metadata.get("statusCode").and_then(Value::as_u64).unwrap_or(200);
        Self {
            read_at: time::now(),
            status: u16::try_from(status).unwrap_or(200),
            scrape_id: field("scrapeId"),
            final_url: field("url"),
            text: text.unwrap_or_default(),
            whole: None,
            data,
            screenshot: None,
            wall: metadata.get("verdict").and_then(Value::as_str).and_then(describe_wall),
            credits: 0,
        }
    }

    pub fn is_gone(&self) -> bool {
        matches!(self.status, 404 | 410)
    }
}

/// Why a read brought no page.
pub struct FailedRead {
    pub error: String,
    /// What the site answered instead.
    pub page: Option<ReadPage>,
}

impl FailedRead {
    /// A status that comes without a page says as much as one with it.
    pub fn from_error(error: &Error) -> Self {
        let status = match error {
            Error::Wall(wall) => Some(wall.status),
            Error::SiteStatus(status) => Some(*status),
            _ => None,
        };
        let page = status.map(|status| ReadPage { status, ..ReadPage::default() });
        Self { error: error.text(), page }
    }

    pub fn from_page(page: ReadPage) -> Self {
        let error = match page.wall {
            Some(wall) if page.status < 400 => format!("The page shows {wall} instead of its content"),
            _ => format!("The site answered with status {}", page.status),
        };
        Self { error, page: Some(page) }
    }
}

/// The verdicts on pages that a scrape returns and that are not their content.
fn describe_wall(verdict: &str) -> Option<&'static str> {
    match verdict {
        "loginWall" => Some("a login wall"),
        "consentWall" => Some("a consent wall"),
        "parked" => Some("a parked domain"),
        "softNotFound" => Some("that it was not found"),
        _ => None,
    }
}
