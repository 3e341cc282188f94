//! Live pages: the session of a scrape, and browser sessions with commands.

use super::pages::{data, scrape_options};
use crate::call::{Call, CancelOnDrop};
use crate::output::{Failure, Output};
use serde_json::{Map, Value, json};

pub async fn interact(call: &Call) -> Result<Output, Failure> {
    let has = |name: &str| call.trimmed(name).is_some();
    let wrong = |message: &str| Err(Failure::Arguments(message.to_owned()));
    if has("scrapeId") == has("url") {
        return wrong("either url or scrapeId is required, and not both");
    }
    if !has("prompt") && !has("code") {
        return wrong("either prompt or code is required");
    }
    if has("scrapeId") && call.arguments.contains_key("scrapeOptions") {
        return wrong("scrapeOptions can only be used with url");
    }
    let opened = if has("url") { Some(open_page(call).await?) } else { None };
    let id = match &opened {
        Some(id) => id.clone(),
        None => call.segment("scrapeId")?,
    };
    let mut body = Map::new();
    for name in ["prompt", "code", "language", "timeout"] {
        if let Some(value) = call.arguments.get(name) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    let mut answer = call.post_from_here(&format!("/v2/scrape/{id}/interact"), body).await?;
    if opened.is_some() && answer.is_object() {
        answer["scrapeId"] = id.into();
    }
    Ok(Output::pretty(answer))
}

/// Scrapes the page, and returns the id under which its session begins.
async fn open_page(call: &Call) -> Result<String, Failure> {
    let options = call.arguments.get("scrapeOptions").and_then(Value::as_object).cloned();
    let mut body = scrape_options(options.unwrap_or_default());
    body.insert("url".to_owned(), call.trimmed("url").unwrap_or_default().into());
    let document = data(call.post_from_here("/v2/scrape", body).await?);
    let id = document["metadata"]["scrapeId"].as_str().map(str::to_owned);
    id.ok_or_else(|| Failure::Tool {
        message: "The scrape of the page has no id, so no session can be opened".to_owned(),
        data: json!({ "success": false, "code": "NO_SCRAPE_ID", "url": call.text("url") }),
    })
}

pub async fn interact_stop(call: &Call) -> Result<Output, Failure> {
    let id = call.segment("scrapeId")?;
    Ok(Output::pretty(call.delete(&format!("/v2/scrape/{id}/interact")).await?))
}

pub async fn open(call: &Call) -> Result<Output, Failure> {
    let mut body = Map::new();
    if let Some(ttl) = call.arguments.get("ttl") {
        body.insert("ttl".to_owned(), ttl.clone());
    }
    if let Some(name) = call.trimmed("profile") {
        let save = call.flag("saveChanges").unwrap_or(true);
        body.insert("profile".to_owned(), json!({ "name": name, "saveChanges": save }));
    }
    let mut session = call.post("/v2/browser", body).await?;
    let (Some(url), Some(id)) = (call.trimmed("url"), session["id"].as_str().map(str::to_owned)) else {
        return Ok(Output::pretty(session));
    };
    // A session that its caller never hears of is ended.
    let guard = CancelOnDrop::new(call, format!("/v2/browser/{id}"));
    let opened = run(call, &id, &format!("open {}", quoted(url)), None).await?;
    guard.disarm();
    if let Some(fields) = session.as_object_mut() {
        fields.insert("opened".to_owned(), (opened["exitCode"] == 0).into());
        fields.insert("output".to_owned(), command_text(&opened).into());
    }
    Ok(Output::pretty(session))
}

pub async fn command(call: &Call) -> Result<Output, Failure> {
    let (id, timeout) = (call.segment("sessionId")?, call.arguments.get("timeout"));
    let outcome = run(call, &id, call.text("command"), timeout).await?;
    if outcome["exitCode"] == 0 {
        return Ok(Output::text(command_text(&outcome), outcome));
    }
    let mut message = command_text(&outcome);
    if message.trim().is_empty() {
        message.push_str("The command failed");
    }
    Err(Failure::Tool { message, data: outcome })
}

pub async fn close(call: &Call) -> Result<Output, Failure> {
    let id = call.segment("sessionId")?;
    Ok(Output::pretty(call.delete(&format!("/v2/browser/{id}")).await?))
}

async fn run(call: &Call, id: &str, code: &str, timeout: Option<&Value>) -> Result<Value, Failure> {
    let mut body = Map::new();
    body.insert("language".to_owned(), "bash".into());
    body.insert("code".to_owned(), code.into());
    if let Some(timeout) = timeout {
        body.insert("timeout".to_owned(), timeout.clone());
    }
    call.post(&format!("/v2/browser/{id}/execute"), body).await
}

/// What a command has printed, errors last.
fn command_text(outcome: &Value) -> String {
    let field = |name: &str| outcome[name].as_str().unwrap_or_default().trim_end();
    let (out, errors) = (field("stdout"), field("stderr"));
    if errors.is_empty() { out.to_owned() } else { format!("{out}\n{errors}").trim_start().to_owned() }
}

/// Text between single quotes of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "%27"))
}
