//! Pages: scrape, map, search, and data by a schema.

use crate::arguments::{Object, without_empty};
use crate::call::Call;
use crate::output::{Failure, Output};
use crate::texts::JobKind;
use http::{HeaderName, HeaderValue, Method};
use serde_json::{Map, Value, json};
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const WEB_SOURCES: [&str; 3] = ["web", "news", "images"];
const CATALOGUES: [&str; 2] = ["alexandria", "exchange"];

pub async fn scrape(call: &Call) -> Result<Output, Failure> {
    let mut arguments = call.arguments.clone();
    let url = arguments.remove("url");
    let request_id = arguments.remove("requestId");
    if let Some(calls) = arguments.remove("alexandria") {
        if url.is_some() {
            return Err(Failure::Arguments("url and alexandria cannot be used together".to_owned()));
        }
        let answer = call_catalogue(call, &calls, request_id, arguments.remove("timeout")).await?;
        return Ok(Output::compact(answer));
    }
    let url = url.ok_or_else(|| Failure::Arguments("url is required".to_owned()))?;
    let mut body = scrape_options(arguments);
    body.insert("url".to_owned(), url);
    let kept = body.get("zeroDataRetention") != Some(&Value::Bool(true));
    let answer = call.post_from_here("/v2/scrape", body).await?;
    let document = data(answer);
    let id = document["metadata"]["scrapeId"].as_str().map(str::to_owned);
    Ok(Output::pretty(document).of_job(JobKind::Scrape, id.as_deref().filter(|_| kept)))
}

/// Fills a schema from one page.
pub async fn structured_data(call: &Call) -> Result<Output, Failure> {
    let mut format = json!({ "type": "json", "schema": call.arguments["schema"] });
    if let Some(prompt) = call.trimmed("prompt") {
        format["prompt"] = prompt.into();
    }
    let mut body = Map::new();
    body.insert("url".to_owned(), call.text("url").into());
    body.insert("formats".to_owned(), json!([format]));
    if let Some(age) = call.arguments.get("maxAge") {
        body.insert("maxAge".to_owned(), age.clone());
    }
    let document = data(call.post_from_here("/v2/scrape", body).await?);
    let mut answer = json!({ "json": document["json"] });
    for name in ["warning", "metadata"] {
        if let Some(value) = document.get(name) {
            answer[name] = value.clone();
        }
    }
    Ok(Output::pretty(answer))
}

pub async fn map(call: &Call) -> Result<Output, Failure> {
    let mut answer = call.post_from_here("/v2/map", without_empty(call.arguments.clone())).await?;
    if let Some(fields) = answer.as_object_mut() {
        fields.remove("success");
    }
    Ok(Output::pretty(answer))
}

pub async fn search(call: &Call) -> Result<Output, Failure> {
    let mut body = call.arguments.clone();
    let given = body.remove("sources");
    let sources = match given {
        Some(Value::Array(sources)) if !sources.is_empty() => sources.into_iter().map(plain_source).collect(),
        _ => vec![json!("web"), json!("alexandria")],
    };
    let has = |names: &[&str]| sources.iter().any(|source| names.contains(&source_name(source)));
    let domain_tools = has(&CATALOGUES) && has(&WEB_SOURCES);
    body.insert("sources".to_owned(), sources.clone().into());
    body.entry("domainTools").or_insert(domain_tools.into());
    body.entry("toolDetail").or_insert("compact".into());
    if let Some(Value::Object(options)) = body.remove("scrapeOptions") {
        body.insert("scrapeOptions".to_owned(), page_options(options).into());
    }
    let answer = call.post_from_here("/v2/search", without_empty(body)).await?;
    Ok(Output::compact(answer))
}

fn source_name(source: &Value) -> &str {
    source.as_str().or_else(|| source["type"].as_str()).unwrap_or_default()
}

/// The older name of the catalogue is replaced.
fn plain_source(source: Value) -> Value {
    match (source_name(&source), source.is_string()) {
        ("exchange", true) => json!("alexandria"),
        ("exchange", false) => json!({ "type": "alexandria" }),
        _ => source,
    }
}

pub async fn find_tools(call: &Call) -> Result<Output, Failure> {
    let has = |name: &str| call.arguments.get(name).is_some_and(|value| *value != json!([]));
    let selects = ["query", "capabilities", "providers", "groups", "urls"].into_iter().any(has);
    let level = match call.trimmed("level") {
        Some(level) => level,
        None if selects => "tools",
        None if has("categories") => "providers",
        None => "categories",
    };
    let limit = call.arguments.get("limit").cloned().unwrap_or(20.into());
    if level == "categories" {
        if selects || has("categories") || has("expand") {
            let message = "the index of categories takes only level, limit and offset".to_owned();
            return Err(Failure::Arguments(message));
        }
        let page = json!({ "level": level, "items": [], "total": 0 });
        let found =
            json!({ "provider": "firecrawl", "capability": "find-tools", "creditsCost": 0, "data": page });
        return Ok(Output::compact(
            json!({ "success": true, "data": { "creditsCost": 0, "alexandria": [found] } }),
        ));
    }
    let mut options = call.arguments.clone();
    options.insert("level".to_owned(), level.into());
    options.insert("limit".to_owned(), limit);
    if level == "tools" && has("capabilities") && !has("expand") {
        options.insert("expand".to_owned(), json!(["options", "response", "examples"]));
    }
    let calls = json!({ "provider": "firecrawl", "capability": "find-tools", "options": options });
    Ok(Output::compact(call_catalogue(call, &calls, None, None).await?))
}

async fn call_catalogue(
    call: &Call,
    calls: &Value,
    request_id: Option<Value>,
    timeout: Option<Value>,
) -> Result<Value, Failure> {
    let request_id = request_id.and_then(|id| id.as_str().map(str::to_owned));
    let request_id = request_id.unwrap_or_else(|| Uuid::new_v4().to_string());
    let header = HeaderValue::from_str(&request_id)
        .map_err(|_| Failure::Arguments("requestId has characters that no header may have".to_owned()))?;
    let mut body = json!({ "alexandria": calls });
    if let Some(timeout) = timeout {
        body["timeout"] = timeout;
    }
    let sent = Some(("application/json", body.to_string().into()));
    let mut answer = call.sender.request(Method::POST, "/v2/scrape", sent, &[(REQUEST_ID, header)]).await?;
    answer["requestId"] = request_id.into();
    Ok(answer)
}

/// Options of a scrape as the API takes them, without those that say nothing.
pub fn scrape_options(arguments: Object) -> Object {
    without_empty(page_options(arguments))
}

/// Puts the options of a format and of a parser where the API has them: in the list of formats or parsers.
fn page_options(mut arguments: Object) -> Object {
    let mut take = |name: &str| arguments.remove(name).and_then(|value| value.as_object().cloned());
    let [json, query, screenshot, pdf] =
        ["jsonOptions", "queryOptions", "screenshotOptions", "pdfOptions"].map(&mut take);
    let with_options = |list: &mut Value, options: [(&str, Option<Object>, bool); 3]| {
        for item in list.as_array_mut().into_iter().flatten() {
            let Some(name) = item.as_str() else { continue };
            let Some((name, given, always)) = options.iter().find(|(known, ..)| *known == name) else {
                continue;
            };
            if given.is_some() || *always {
                let mut entry = given.clone().unwrap_or_default();
                entry.insert("type".to_owned(), (*name).into());
                *item = entry.into();
            }
        }
    };
    if let Some(formats) = arguments.get_mut("formats") {
        let options = [("json", json, true), ("query", query, true), ("screenshot", screenshot, false)];
        with_options(formats, options);
    }
    if let Some(parsers) = arguments.get_mut("parsers") {
        with_options(parsers, [("pdf", pdf, false), ("", None, false), ("", None, false)]);
    }
    arguments
}

/// What is in the envelope.
pub fn data(mut answer: Value) -> Value {
    match answer.get_mut("data") {
        Some(data) => data.take(),
        None => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_formats_go_into_the_list_of_formats() {
        let given = json!({
            "formats": ["markdown", "json", "screenshot"], "jsonOptions": { "prompt": "x" },
            "parsers": ["pdf"], "pdfOptions": { "maxPages": 3 }, "includeTags": [], "mobile": false,
        });
        let options = scrape_options(given.as_object().cloned().unwrap());
        let expected = json!({
            "formats": ["markdown", { "type": "json", "prompt": "x" }, "screenshot"],
            "parsers": [{ "type": "pdf", "maxPages": 3 }], "mobile": false,
        });
        assert_eq!(Value::Object(options), expected);
    }
}
