//! What comes back, whole or in pieces, gathered within bounds while it arrives.

use super::super::{ChatError, Finish, Reply, ToolCall, Usage};
use super::stream::Stream;
use net::{BodySink, Head, StatusCode};
use serde_json::Value;
use std::ops::ControlFlow;

/// Bytes of an answer that is not streamed.
const LARGEST_WHOLE: usize = 4 << 20;
/// Bytes of text and arguments that are kept.
pub const LARGEST_TEXT: usize = 1 << 20;
pub const MOST_CALLS: usize = 64;
const LONGEST_COMPLAINT: usize = 500;

/// An answer as it arrives.
#[derive(Debug, Default)]
pub struct Gathering {
    kind: String,
    whole: Vec<u8>,
    stream: Option<Stream>,
    /// It was more than anybody wants.
    too_much: bool,
}

impl BodySink for Gathering {
    fn head(&mut self, head: &Head) -> ControlFlow<()> {
        let kind = head.headers.get("content-type").and_then(|value| value.to_str().ok());
        kind.unwrap_or_default().clone_into(&mut self.kind);
        if head.status.is_success() && self.kind.starts_with("text/event-stream") {
            self.stream = Some(Stream::default());
        }
        ControlFlow::Continue(())
    }

    fn piece(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if let Some(stream) = &mut self.stream {
            return stream.take(bytes);
        }
        if self.whole.len() + bytes.len() > LARGEST_WHOLE {
            self.too_much = true;
            return ControlFlow::Break(());
        }
        self.whole.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }
}

impl Gathering {
    /// Whether the model has said its last word.
    pub fn is_complete(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::is_complete)
    }

    pub fn finish(self) -> Result<Reply, ChatError> {
        if self.too_much {
            return Err(ChatError::Nonsense(format!("more than {LARGEST_WHOLE} bytes")));
        }
        if let Some(stream) = self.stream {
            return stream.finish();
        }
        let Ok(answer) = serde_json::from_slice::<Value>(&self.whole) else {
            return Err(ChatError::Nonsense(format!("no JSON but {}", shown(&self.kind, &self.whole))));
        };
        of_json(&answer)
    }

    /// What an answer that is no success says.
    pub fn complaint(&self, status: StatusCode) -> String {
        let answer: Value = serde_json::from_slice(&self.whole).unwrap_or_default();
        let places = ["/error/message", "/error", "/message", "/detail"];
        let told = places.iter().find_map(|place| answer.pointer(place)?.as_str());
        let text = told.map_or_else(|| shown(&self.kind, &self.whole), str::to_owned);
        format!("{}: {}", status.as_u16(), clip(&text))
    }
}

fn shown(kind: &str, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let text: String = text.chars().filter(|char| !char.is_control()).collect();
    format!("{} `{}`", if kind.is_empty() { "bytes" } else { clip(kind) }, clip(&text))
}

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_COMPLAINT)]
}

fn of_json(answer: &Value) -> Result<Reply, ChatError> {
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let text = error.get("message").and_then(Value::as_str).or(error.as_str()).unwrap_or("no reason");
        return Err(ChatError::Refused(clip(text).to_owned()));
    }
    let Some(choice) = answer.pointer("/choices/0") else {
        return Err(ChatError::Nonsense("an answer without a choice".to_owned()));
    };
    let message = choice.get("message").unwrap_or(&Value::Null);
    let mut text = text_of(message.get("content"));
    if text.len() > LARGEST_TEXT {
        return Err(ChatError::Nonsense(format!("more than {LARGEST_TEXT} bytes of text")));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let calls: Vec<ToolCall> = calls.iter().take(MOST_CALLS).enumerate().map(call_of).collect();
    let refusal = message.get("refusal").and_then(Value::as_str).filter(|why| !why.is_empty());
    let mut finish = finish_of(choice.get("finish_reason").and_then(Value::as_str), !calls.is_empty());
    if let Some(why) = refusal {
        (text, finish) = (why.to_owned(), Finish::Refused);
    }
    Ok(Reply { text: without_thoughts(text), calls, finish, usage: usage_of(answer.get("usage")) })
}

/// Content is text, or a list of parts with text.
fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn call_of((index, call): (usize, &Value)) -> ToolCall {
    let function = call.get("function").unwrap_or(&Value::Null);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    // Some servers give arguments as they are instead of as text.
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(value) => value.to_string(),
    };
    let id = Some(text(call.get("id"))).filter(|id| !id.is_empty());
    ToolCall {
        id: id.unwrap_or_else(|| format!("call_{index}")),
        name: text(function.get("name")),
        arguments,
    }
}

pub fn finish_of(reason: Option<&str>, calls: bool) -> Finish {
    match reason {
        Some("length") => Finish::Length,
        Some("content_filter" | "refusal") => Finish::Refused,
        _ if calls => Finish::ToolCalls,
        _ => Finish::Stop,
    }
}

pub fn usage_of(usage: Option<&Value>) -> Usage {
    let number = |name: &str| usage.and_then(|usage| usage.get(name)?.as_u64()).unwrap_or(0);
    Usage { input_tokens: number("prompt_tokens"), output_tokens: number("completion_tokens") }
}

/// Models that think aloud do so first, between marks of their own.
pub fn without_thoughts(text: String) -> String {
    let Some(thoughts) = text.trim_start().strip_prefix("<think>") else { return text };
    thoughts.split_once("</think>").map(|(_, said)| said.trim_start().to_owned()).unwrap_or_default()
}
