//! Parses a streamed response: server-sent events, each with a part of the text.

use super::super::{ChatError, ChatResponse, Finish, ToolCall, Usage};
use super::response::{MAX_TEXT_BYTES, MAX_TOOL_CALLS, parse_finish, parse_usage, strip_reasoning};
use serde_json::Value;
use std::ops::ControlFlow;

const MAX_LINE_BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
pub struct EventStream {
    /// An incomplete line.
    line: Vec<u8>,
    text: String,
    refusal: String,
    calls: Vec<ToolCall>,
    finish: Option<String>,
    usage: Usage,
    done: bool,
    wrong: Option<ChatError>,
}

impl EventStream {
    pub fn add_bytes(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() > MAX_LINE_BYTES {
                self.wrong = Some(ChatError::InvalidResponse("a line that is too long".to_owned()));
            } else if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.add_line(&line);
            }
            if self.wrong.is_some() || self.done {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn add_line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        // Skip comments, event names and empty lines.
        let Some(data) = line.trim_end().strip_prefix("data:") else { return };
        match data.trim_start() {
            "" => {}
            "[DONE]" => self.done = true,
            data => match serde_json::from_str(data) {
                Ok(event) => self.add_event(&event),
                Err(_) => {
                    self.wrong = Some(ChatError::InvalidResponse("an event that is not JSON".to_owned()));
                }
            },
        }
    }

    fn add_event(&mut self, event: &Value) {
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            let text = error.get("message").and_then(Value::as_str).unwrap_or("an error in the stream");
            self.wrong = Some(ChatError::Refused(text.chars().take(500).collect()));
            return;
        }
        if event.get("usage").is_some_and(Value::is_object) {
            self.usage = parse_usage(event.get("usage"));
        }
        let Some(choice) = event.pointer("/choices/0") else { return };
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        let Some(delta) = choice.get("delta") else { return };
        if let Some(text) = delta.get("content").and_then(Value::as_str) {
            self.text.push_str(text);
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str) {
            self.refusal.push_str(text);
        }
        for part in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.add_call(part);
        }
        let size = self.text.len() + self.calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        if size + self.refusal.len() > MAX_TEXT_BYTES {
            self.wrong =
                Some(ChatError::InvalidResponse(format!("more than {MAX_TEXT_BYTES} bytes of text")));
        }
    }

    /// A tool call starts with its name; its arguments follow under the same index.
    fn add_call(&mut self, part: &Value) {
        let index = part.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text(part.get("id"));
        // Without an index, an id starts a call and everything else belongs to the last one.
        let index = index.unwrap_or_else(|| self.calls.len().saturating_sub(usize::from(id.is_empty())));
        if index >= MAX_TOOL_CALLS {
            return;
        }
        while self.calls.len() <= index {
            let id = format!("call_{}", self.calls.len());
            self.calls.push(ToolCall { id, name: String::new(), arguments: String::new() });
        }
        let call = &mut self.calls[index];
        if !id.is_empty() {
            call.id = id;
        }
        let Some(function) = part.get("function") else { return };
        call.name.push_str(&text(function.get("name")));
        match function.get("arguments") {
            Some(Value::String(text)) => call.arguments.push_str(text),
            Some(value @ Value::Object(_)) => call.arguments = value.to_string(),
            _ => {}
        }
    }

    pub fn is_complete(&self) -> bool {
        self.done && self.wrong.is_none()
    }

    pub fn finish(self) -> Result<ChatResponse, ChatError> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        if !self.done && self.finish.is_none() {
            return Err(ChatError::InvalidResponse("a truncated stream".to_owned()));
        }
        let calls: Vec<ToolCall> = self.calls.into_iter().filter(|call| !call.name.is_empty()).collect();
        let finish = parse_finish(self.finish.as_deref(), !calls.is_empty());
        if !self.refusal.is_empty() {
            let (text, finish) = (self.refusal, Finish::Refused);
            return Ok(ChatResponse { text, calls, finish, usage: self.usage });
        }
        Ok(ChatResponse { text: strip_reasoning(self.text), calls, finish, usage: self.usage })
    }
}
