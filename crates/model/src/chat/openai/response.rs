//! Collects a response, streamed or whole, within size limits.

use super::super::{ChatError, ChatResponse, Finish, ToolCall, Usage};
use super::stream::EventStream;
use net::{BodySink, ResponseHead, StatusCode};
use serde_json::Value;
use std::ops::ControlFlow;

/// Of a response that is not streamed.
const MAX_UNSTREAMED_BYTES: usize = 4 << 20;
/// Of text and tool arguments.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
pub const MAX_TOOL_CALLS: usize = 64;
const MAX_ERROR_BYTES: usize = 500;

/// A response while it arrives.
#[derive(Debug, Default)]
pub struct ResponseCollector {
    kind: String,
    whole: Vec<u8>,
    stream: Option<EventStream>,
    /// The response exceeded its limit.
    too_large: bool,
}

impl BodySink for ResponseCollector {
    fn on_head(&mut self, head: &ResponseHead) -> ControlFlow<()> {
        let kind = head.headers.get("content-type").and_then(|value| value.to_str().ok());
        kind.unwrap_or_default().clone_into(&mut self.kind);
        if head.status.is_success() && self.kind.starts_with("text/event-stream") {
            self.stream = Some(EventStream::default());
        }
        ControlFlow::Continue(())
    }

    fn on_chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if let Some(stream) = &mut self.stream {
            return stream.add_bytes(bytes);
        }
        if self.whole.len() + bytes.len() > MAX_UNSTREAMED_BYTES {
            self.too_large = true;
            return ControlFlow::Break(());
        }
        self.whole.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }
}

impl ResponseCollector {
    /// Whether the stream has reached its end mark.
    pub fn is_complete(&self) -> bool {
        self.stream.as_ref().is_some_and(EventStream::is_complete)
    }

    pub fn finish(self) -> Result<ChatResponse, ChatError> {
        if self.too_large {
            return Err(ChatError::InvalidResponse(format!("more than {MAX_UNSTREAMED_BYTES} bytes")));
        }
        if let Some(stream) = self.stream {
            return stream.finish();
        }
        let Ok(answer) = serde_json::from_slice::<Value>(&self.whole) else {
            return Err(ChatError::InvalidResponse(format!(
                "not JSON but {}",
                describe(&self.kind, &self.whole)
            )));
        };
        parse_response(&answer)
    }

    /// The error message of a response that is not a success.
    pub fn error_message(&self, status: StatusCode) -> String {
        let answer: Value = serde_json::from_slice(&self.whole).unwrap_or_default();
        let places = ["/error/message", "/error", "/message", "/detail"];
        let told = places.iter().find_map(|place| answer.pointer(place)?.as_str());
        let text = told.map_or_else(|| describe(&self.kind, &self.whole), str::to_owned);
        format!("{}: {}", status.as_u16(), clip(&text))
    }
}

fn describe(kind: &str, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let text: String = text.chars().filter(|char| !char.is_control()).collect();
    format!("{} `{}`", if kind.is_empty() { "bytes" } else { clip(kind) }, clip(&text))
}

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ERROR_BYTES)]
}

fn parse_response(answer: &Value) -> Result<ChatResponse, ChatError> {
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let text = error.get("message").and_then(Value::as_str).or(error.as_str()).unwrap_or("no reason");
        return Err(ChatError::Refused(clip(text).to_owned()));
    }
    let Some(choice) = answer.pointer("/choices/0") else {
        return Err(ChatError::InvalidResponse("a response without choices".to_owned()));
    };
    let message = choice.get("message").unwrap_or(&Value::Null);
    let mut text = content_text(message.get("content"));
    if text.len() > MAX_TEXT_BYTES {
        return Err(ChatError::InvalidResponse(format!("more than {MAX_TEXT_BYTES} bytes of text")));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let calls: Vec<ToolCall> = calls.iter().take(MAX_TOOL_CALLS).enumerate().map(parse_tool_call).collect();
    let refusal = message.get("refusal").and_then(Value::as_str).filter(|why| !why.is_empty());
    let mut finish = parse_finish(choice.get("finish_reason").and_then(Value::as_str), !calls.is_empty());
    if let Some(why) = refusal {
        (text, finish) = (why.to_owned(), Finish::Refused);
    }
    Ok(ChatResponse { text: strip_reasoning(text), calls, finish, usage: parse_usage(answer.get("usage")) })
}

/// Content is text, or a list of parts with text.
fn content_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn parse_tool_call((index, call): (usize, &Value)) -> ToolCall {
    let function = call.get("function").unwrap_or(&Value::Null);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    // Some servers send arguments as JSON instead of as a string.
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

pub fn parse_finish(reason: Option<&str>, calls: bool) -> Finish {
    match reason {
        Some("length") => Finish::Length,
        Some("content_filter" | "refusal") => Finish::Refused,
        _ if calls => Finish::ToolCalls,
        _ => Finish::Stop,
    }
}

pub fn parse_usage(usage: Option<&Value>) -> Usage {
    let number = |name: &str| usage.and_then(|usage| usage.get(name)?.as_u64()).unwrap_or(0);
    Usage { input_tokens: number("prompt_tokens"), output_tokens: number("completion_tokens") }
}

/// Removes the reasoning that some models write first, between `<think>` tags.
pub fn strip_reasoning(text: String) -> String {
    let Some(thoughts) = text.trim_start().strip_prefix("<think>") else { return text };
    thoughts.split_once("</think>").map(|(_, said)| said.trim_start().to_owned()).unwrap_or_default()
}
