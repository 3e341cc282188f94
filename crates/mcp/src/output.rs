//! What a tool returns: data, how it reads as text, and the errors that a model can act on.

use crate::ordered;
use crate::texts::{Cursor, Job, JobKind};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// The result of a tool.
#[derive(Debug)]
pub struct Output {
    pub data: Value,
    pub text: String,
    /// A job from which the same text can be made again.
    pub job: Option<Job>,
    /// Set where the text is only wanted from a place on.
    pub from: Option<Cursor>,
}

impl Output {
    /// As indented JSON.
    pub fn pretty(data: Value) -> Self {
        let text = ordered::pretty(&data);
        Self { data, text, job: None, from: None }
    }

    /// As JSON in one line.
    pub fn compact(data: Value) -> Self {
        let text = ordered::compact(&data);
        Self { data, text, job: None, from: None }
    }

    /// As a text of its own.
    pub fn text(text: impl Into<String>, data: Value) -> Self {
        Self { data, text: text.into(), job: None, from: None }
    }

    pub fn of_job(self, kind: JobKind, id: Option<&str>) -> Self {
        Self { job: id.map(|id| Job { kind, id: id.to_owned() }), ..self }
    }
}

/// Why a tool has no result.
#[derive(Debug)]
pub enum Failure {
    /// The arguments are wrong; nothing was done.
    Arguments(String),
    /// The API refused or failed.
    Api {
        status: u16,
        body: Value,
        retry_after: Option<u64>,
    },
    /// There was no response.
    Unreachable(String),
    /// An error of this tool with its data.
    Tool {
        message: String,
        data: Value,
    },
    Timeout(Duration),
    Cancelled,
}

impl Failure {
    pub fn message(&self) -> String {
        match self {
            Self::Arguments(message) => format!("Invalid arguments: {message}"),
            Self::Api { status, body, retry_after } => api_message(*status, body, *retry_after),
            Self::Unreachable(message) | Self::Tool { message, .. } => message.clone(),
            Self::Timeout(time) => format!("The tool did not end within {} seconds", time.as_secs()),
            Self::Cancelled => "The call was cancelled".to_owned(),
        }
    }

    /// The same for programs.
    pub fn data(&self) -> Value {
        let code = match self {
            Self::Arguments(_) => "INVALID_ARGUMENTS",
            Self::Api { status, body, retry_after } => {
                let mut data = json!({ "success": false, "status": status, "error": self.message() });
                for name in ["code", "details"] {
                    if let Some(value) = body.get(name) {
                        data[name] = value.clone();
                    }
                }
                if let Some(seconds) = retry_after {
                    data["retryAfter"] = (*seconds).into();
                }
                return data;
            }
            Self::Unreachable(_) => "UNREACHABLE",
            Self::Tool { data, .. } => return data.clone(),
            Self::Timeout(_) => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
        };
        json!({ "success": false, "code": code, "error": self.message() })
    }
}

/// The words of the API, with what was wrong in which field.
fn api_message(status: u16, body: &Value, retry_after: Option<u64>) -> String {
    let mut message = match body.get("error").and_then(Value::as_str) {
        Some(error) => error.to_owned(),
        None => format!("The API answered with status {status}"),
    };
    for detail in body.get("details").and_then(Value::as_array).into_iter().flatten().take(10) {
        let place = detail.get("path").map(path_text).unwrap_or_default();
        let text = detail.get("message").and_then(Value::as_str).unwrap_or_default();
        let _ = write!(message, "\n- {place}: {text}");
    }
    if let Some(seconds) = retry_after {
        let _ = write!(message, "\nTry again after {seconds} seconds.");
    }
    message
}

fn path_text(path: &Value) -> String {
    match path {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts =
                parts.iter().map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned));
            parts.collect::<Vec<_>>().join(".")
        }
        _ => String::new(),
    }
}
