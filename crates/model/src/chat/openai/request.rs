//! Writes the body of a request.

use super::super::fence::Fence;
use super::super::{ChatRequest, Message};
use super::dialect::{Dialect, SchemaMode};
use serde_json::{Value, json};

/// Used if the request sets no limit.
const DEFAULT_MAX_TOKENS: u32 = 4_096;

/// The body of a request, in the dialect of its server.
pub fn write_body(model: &str, ask: &ChatRequest, dialect: Dialect, fence: &Fence) -> Vec<u8> {
    let mut body = json!({ "model": model, "messages": messages(ask, fence), "stream": dialect.streams });
    let limit = if dialect.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    body[limit] = ask.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS).into();
    if dialect.temperature {
        body["temperature"] = 0.into();
    }
    if dialect.streams && dialect.stream_options {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if !ask.tools.is_empty() {
        let tool = |tool: &super::super::Tool| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters } })
        };
        body["tools"] = ask.tools.iter().map(tool).collect();
    }
    // An enforced schema would prevent the model from calling a tool.
    if let Some(schema) = ask.schema.as_ref().filter(|_| ask.tools.is_empty()) {
        match dialect.schema {
            SchemaMode::Schema => {
                let name =
                    schema.get("title").and_then(Value::as_str).map_or("answer".to_owned(), legal_name);
                body["response_format"] =
                    json!({ "type": "json_schema", "json_schema": { "name": name, "schema": schema } });
            }
            SchemaMode::Object if is_object(schema) => {
                body["response_format"] = json!({ "type": "json_object" });
            }
            SchemaMode::Object | SchemaMode::Words => {}
        }
    }
    // Plain data always serialises.
    serde_json::to_vec(&body).unwrap_or_default()
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").is_none_or(|kind| kind == "object")
}

/// Replaces characters that servers do not accept in a name.
fn legal_name(title: &str) -> String {
    let legal = |char: char| if char.is_ascii_alphanumeric() || char == '_' { char } else { '_' };
    let name: String = title.chars().take(48).map(legal).collect();
    if name.is_empty() { "answer".to_owned() } else { name }
}

/// One system message at the front, and consecutive user texts as one message: many templates accept nothing
/// else.
fn messages(ask: &ChatRequest, fence: &Fence) -> Vec<Value> {
    let foreign = |message: &Message| matches!(message, Message::Data { .. } | Message::ToolResult { .. });
    let rule = ask.messages.iter().any(foreign).then(|| fence.rule());
    let mut system: Vec<&str> = Vec::new();
    let mut written: Vec<Value> = Vec::new();
    for message in &ask.messages {
        match message {
            Message::System(text) => system.push(text),
            Message::User(text) => add_user(&mut written, text),
            Message::Data { source, text } => add_user(&mut written, &fence.wrap(source, text)),
            Message::Assistant { text, calls } => {
                let mut said = json!({ "role": "assistant", "content": text });
                if !calls.is_empty() {
                    let call = |call: &super::super::ToolCall| {
                        json!({ "id": call.id, "type": "function",
                            "function": { "name": call.name, "arguments": call.arguments } })
                    };
                    said["tool_calls"] = calls.iter().map(call).collect();
                }
                written.push(said);
            }
            Message::ToolResult { call, text } => written
                .push(json!({ "role": "tool", "tool_call_id": call, "content": fence.wrap("a tool", text) })),
        }
    }
    system.extend(rule.as_deref());
    if !system.is_empty() {
        written.insert(0, json!({ "role": "system", "content": system.join("\n\n") }));
    }
    written
}

fn add_user(written: &mut Vec<Value>, text: &str) {
    let last = written.last_mut().filter(|last| last["role"] == "user");
    match last.map(|last| &mut last["content"]) {
        Some(Value::String(before)) => {
            before.push_str("\n\n");
            before.push_str(text);
        }
        _ => written.push(json!({ "role": "user", "content": text })),
    }
}
