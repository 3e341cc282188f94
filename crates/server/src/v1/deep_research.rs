//! `/v1/deep-research`: a question to the web, run by the agent.

use super::requests::asks_for;
use super::{Gate, Object, deprecate, json_response};
use crate::error::ApiError;
use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};
use std::collections::HashSet;
use wire::{Issue, WireError};

/// What clients read beside the headers of a deprecated endpoint.
const WARNING: &str = "/v1/deep-research is deprecated; use /v2/agent";
const REPLACEMENT: &str = "/v2/agent";
/// Accepted without effect: the agent has limits of its own.
const WITHOUT_EFFECT: [&str; 5] =
    ["timeLimit", "maxUrls", "__experimental_streamSteps", "origin", "integration"];
/// Depths up to which the agent makes little or some effort; it is 7 by default.
const LOW_DEPTH: u64 = 3;
const MEDIUM_DEPTH: u64 = 7;

pub async fn start(gate: &Gate, bytes: &[u8]) -> Result<Response, ApiError> {
    let Ok(Value::Object(body)) = serde_json::from_slice(bytes) else {
        return Ok(gate.send(Method::POST, "/v2/agent", bytes.to_vec()).await);
    };
    let run = agent_request(body)?;
    let sent = gate.send(Method::POST, "/v2/agent", run.to_string()).await;
    Ok(super::rewritten(sent, |body| deprecate(body, WARNING, REPLACEMENT)).await)
}

pub async fn status(gate: &Gate, id: &str) -> Result<Response, ApiError> {
    let run = match gate.get(&format!("/v2/agent/{id}")).await {
        Ok(run) => run,
        Err(response) => return Ok(response),
    };
    let trace = match gate.get(&format!("/v2/agent/{id}/trace")).await {
        Ok(trace) => trace,
        Err(response) => return Ok(response),
    };
    Ok(json_response(&research(&run, &trace).into()))
}

fn agent_request(mut body: Object) -> Result<Value, WireError> {
    let names_json = asks_for(&body, "json");
    let mut text = |field: &str| match body.remove(field) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
        _ => None,
    };
    let prompts = ["systemPrompt", "query", "analysisPrompt"].map(&mut text);
    let mut request = json!({ "prompt": prompts.into_iter().flatten().collect::<Vec<_>>().join("\n\n") });
    let depth = body.remove("maxDepth").and_then(|depth| depth.as_u64()).unwrap_or(MEDIUM_DEPTH);
    let effort = if depth <= LOW_DEPTH {
        "low"
    } else if depth <= MEDIUM_DEPTH {
        "medium"
    } else {
        "high"
    };
    request["effort"] = effort.into();
    let schema = body.remove("jsonOptions").map(|mut options| options["schema"].take());
    match schema.filter(|schema| names_json && !schema.is_null()) {
        Some(schema) => request["schema"] = schema,
        None => request["mode"] = "chat".into(),
    }
    body.remove("formats");
    let issues: Vec<Issue> = body
        .keys()
        .filter(|key| !WITHOUT_EFFECT.contains(&key.as_str()))
        .map(|key| Issue::at(key, "this key is not supported here", "unrecognized_keys"))
        .collect();
    if issues.is_empty() { Ok(request) } else { Err(WireError::unknown_keys(&issues)) }
}

/// The state of a run in the words of this endpoint.
fn research(run: &Object, trace: &Object) -> Object {
    let none = Vec::new();
    let events = trace.get("events").and_then(Value::as_array).unwrap_or(&none);
    let activities: Vec<Value> = events.iter().filter_map(activity).collect();
    let sources = sources(events);
    let depth = activities.len().min(usize::from(u8::MAX));
    let mut body = Object::new();
    for field in ["success", "status", "error", "expiresAt"] {
        if let Some(value) = run.get(field) {
            body.insert(field.to_owned(), value.clone());
        }
    }
    if run.get("status").is_some_and(|status| status == "completed") {
        let found = run.get("data").filter(|data| !data.is_null());
        let analysis = match run.get("message") {
            Some(Value::String(message)) => message.clone(),
            _ => found.map(|data| format!("{data:#}")).unwrap_or_default(),
        };
        let mut data = json!({ "finalAnalysis": analysis, "sources": sources, "activities": activities });
        if let Some(found) = found {
            data["json"] = found.clone();
        }
        body.insert("data".to_owned(), data);
    }
    body.insert("currentDepth".to_owned(), depth.into());
    body.insert("maxDepth".to_owned(), depth.into());
    body.insert("activities".to_owned(), activities.into());
    body.insert("sources".to_owned(), sources.into());
    body.insert("summaries".to_owned(), json!([]));
    deprecate(&mut body, WARNING, REPLACEMENT);
    body
}

/// What a client shows while it waits.
fn activity(event: &Value) -> Option<Value> {
    let (kind, message) = match (event["type"].as_str()?, event["toolName"].as_str()) {
        ("progress.reported", _) => {
            let kind = match event["phase"].as_str()? {
                "planning" => "reasoning",
                "finalizing" => "synthesis",
                _ => "analyze",
            };
            (kind, event["message"].as_str()?.to_owned())
        }
        ("tool_call.started", Some("search")) => {
            ("search", format!("Searching for {}", event["parameters"]["query"].as_str()?))
        }
        ("tool_call.started", Some("scrape")) => {
            ("extract", format!("Reading {}", event["parameters"]["url"].as_str()?))
        }
        _ => return None,
    };
    Some(json!({
        "type": kind, "status": "complete", "message": message, "timestamp": event["occurredAt"], "depth": 1,
    }))
}

/// The pages that were read, each once.
fn sources(events: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    let read =
        events.iter().filter(|event| event["type"] == "tool_call.finished" && event["toolName"] == "scrape");
    read.filter_map(|event| {
        let url = event["result"]["url"].as_str()?;
        let title = event["result"]["title"].as_str().unwrap_or(url);
        seen.insert(url).then(|| json!({ "url": url, "title": title, "description": "" }))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::object;
    use super::*;

    #[test]
    fn a_question_is_a_chat_and_a_schema_a_task() {
        let body =
            json!({ "query": "Where do gannets breed?", "maxDepth": 2, "timeLimit": 60, "origin": "x" });
        let expected = json!({ "prompt": "Where do gannets breed?", "mode": "chat", "effort": "low" });
        assert_eq!(agent_request(object(body)).ok(), Some(expected));
        let body =
            json!({ "query": "q", "formats": ["json"], "jsonOptions": { "schema": { "type": "object" } } });
        let expected = json!({ "prompt": "q", "schema": { "type": "object" }, "effort": "medium" });
        assert_eq!(agent_request(object(body)).ok(), Some(expected));
        assert!(agent_request(object(json!({ "query": "q", "urls": ["a"] }))).is_err());
    }

    #[test]
    fn what_was_read_is_a_source_and_what_was_said_an_activity() {
        let read = json!({ "type": "tool_call.finished", "toolName": "scrape", "result": { "url": "a", "title": "A" } });
        let trace = json!({ "events": [
            { "type": "progress.reported", "phase": "planning", "message": "Looking", "occurredAt": "t" },
            { "type": "tool_call.started", "toolName": "search", "parameters": { "query": "gannets" } },
            read, read,
        ] });
        let run = json!({ "success": true, "status": "completed", "data": null, "message": "On cliffs.", "expiresAt": "e" });
        let body = research(&object(run), &object(trace));
        assert_eq!(body["data"]["finalAnalysis"], "On cliffs.");
        assert_eq!(body["sources"], json!([{ "url": "a", "title": "A", "description": "" }]));
        assert_eq!(body["activities"][0]["type"], "reasoning");
        assert_eq!(body["activities"][1]["message"], "Searching for gannets");
        let running = research(&object(json!({ "success": true, "status": "processing" })), &Object::new());
        assert!(!running.contains_key("data") && running["summaries"] == json!([]));
    }
}
