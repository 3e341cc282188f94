//! Lists of what happened in the pages: the newest entries, with bounded texts.

use serde_json::{Value, json};
use std::collections::VecDeque;

const MAX_ENTRIES: usize = 500;
const MAX_TEXT_BYTES: usize = 4_000;

/// The newest entries of a log.
#[derive(Debug)]
pub(crate) struct Log<T>(VecDeque<T>);

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Log<T> {
    pub(crate) fn push(&mut self, entry: T) {
        if self.0.len() >= MAX_ENTRIES {
            self.0.pop_front();
        }
        self.0.push_back(entry);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.0.iter_mut()
    }
}

/// A text of a page, short enough to be kept.
pub(crate) fn shorten(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT_BYTES)])
}

/// One message of a page's console.
#[derive(Debug, Clone)]
pub(crate) struct ConsoleEntry {
    pub(crate) kind: String,
    pub(crate) text: String,
}

impl ConsoleEntry {
    pub(crate) fn from_event(params: &Value) -> Self {
        let arguments = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts: Vec<String> = arguments.iter().take(50).map(object_text).collect();
        let kind = params["type"].as_str().unwrap_or("log").to_owned();
        Self { kind, text: shorten(&texts.join(" ")) }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "type": self.kind, "text": self.text })
    }
}

/// A value of the page as a console shows it.
fn object_text(object: &Value) -> String {
    match &object["value"] {
        Value::Null => {}
        Value::String(text) => return shorten(text),
        other => return shorten(&other.to_string()),
    }
    if let Some(properties) = object["preview"]["properties"].as_array() {
        let is_list = object["subtype"] == "array";
        let parts: Vec<String> = properties
            .iter()
            .map(|property| {
                let value = property["value"].as_str().unwrap_or_default();
                if is_list {
                    value.to_owned()
                } else {
                    format!("{}: {value}", property["name"].as_str().unwrap_or(""))
                }
            })
            .collect();
        let inner = parts.join(", ");
        return if is_list { format!("[{inner}]") } else { format!("{{{inner}}}") };
    }
    let text = object["description"].as_str().or(object["unserializableValue"].as_str());
    shorten(text.or(object["type"].as_str()).unwrap_or_default())
}

/// An error that a page did not catch.
#[derive(Debug, Clone)]
pub(crate) struct PageError {
    pub(crate) text: String,
    pub(crate) url: Option<String>,
    pub(crate) line: Option<i64>,
    pub(crate) column: Option<i64>,
}

impl PageError {
    pub(crate) fn from_event(params: &Value) -> Self {
        let details = &params["exceptionDetails"];
        let text = details["exception"]["description"]
            .as_str()
            .map(str::to_owned)
            .or_else(|| details["exception"].get("value").map(|value| format!("Uncaught {value}")))
            .unwrap_or_else(|| details["text"].as_str().unwrap_or_default().to_owned());
        Self {
            text: shorten(&text),
            url: details["url"].as_str().filter(|url| !url.is_empty()).map(shorten),
            line: details["lineNumber"].as_i64(),
            column: details["columnNumber"].as_i64(),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "text": self.text, "url": self.url, "line": self.line, "column": self.column })
    }
}

/// One request of a page.
#[derive(Debug, Clone)]
pub(crate) struct RequestEntry {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) kind: String,
    pub(crate) status: Option<i64>,
    pub(crate) mime_type: Option<String>,
    pub(crate) error: Option<String>,
}

impl RequestEntry {
    pub(crate) fn from_event(params: &Value) -> Self {
        Self {
            id: params["requestId"].as_str().unwrap_or_default().to_owned(),
            method: params["request"]["method"].as_str().unwrap_or_default().to_owned(),
            url: shorten(params["request"]["url"].as_str().unwrap_or_default()),
            kind: params["type"].as_str().unwrap_or("Other").to_owned(),
            status: None,
            mime_type: None,
            error: None,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "requestId": self.id,
            "method": self.method,
            "url": self.url,
            "resourceType": self.kind,
            "status": self.status,
            "mimeType": self.mime_type,
            "error": self.error,
        })
    }

    pub(crate) fn to_line(&self) -> String {
        let status = match (self.status, &self.error) {
            (_, Some(error)) => format!(" {error}"),
            (Some(status), None) => format!(" {status}"),
            (None, None) => String::new(),
        };
        format!("[{}] {} {} ({}){status}", self.id, self.method, self.url, self.kind)
    }
}
