//! Monitors: created in short or in full, listed, changed, run, and their checks.

use crate::arguments::Object;
use crate::call::Call;
use crate::output::{Failure, Output};
use http::Method;
use serde_json::{Value, json};

pub async fn create(call: &Call) -> Result<Output, Failure> {
    let body = match call.arguments.get("body") {
        Some(Value::Object(body)) => body.clone(),
        _ => body_from_short_form(call)?,
    };
    Ok(Output::pretty(call.post("/v2/monitor", body).await?))
}

fn body_from_short_form(call: &Call) -> Result<Object, Failure> {
    let list = |name: &str| -> Vec<String> {
        let items = call.arguments.get(name).and_then(Value::as_array).into_iter().flatten();
        items
            .filter_map(|item| Some(item.as_str()?.trim().to_owned()))
            .filter(|item| !item.is_empty())
            .collect()
    };
    let mut urls: Vec<String> = call.trimmed("page").map(str::to_owned).into_iter().collect();
    urls.extend(list("pages"));
    let queries = list("queries");
    let Some(first) = queries.first().or_else(|| urls.first()).cloned() else {
        return Err(Failure::Arguments("body, page, pages or queries is required".to_owned()));
    };
    let Some(goal) = call.trimmed("goal") else {
        return Err(Failure::Arguments("goal is required, or body with all fields".to_owned()));
    };
    let target = if queries.is_empty() {
        json!({ "type": "scrape", "urls": urls })
    } else {
        let mut target = json!({ "type": "search", "queries": queries });
        for name in ["searchWindow", "maxResults", "includeDomains", "excludeDomains"] {
            if let Some(value) = call.arguments.get(name).filter(|value| **value != json!([])) {
                target[name] = value.clone();
            }
        }
        target
    };
    let name = call.trimmed("name").map_or_else(|| format!("Monitor {first}"), str::to_owned);
    let mut body = json!({
        "name": name, "goal": goal, "targets": [target],
        "schedule": {
            "text": call.trimmed("scheduleText").unwrap_or("every 30 minutes"),
            "timezone": call.trimmed("timezone").unwrap_or("UTC"),
        },
    });
    if let Some(email) = call.trimmed("email") {
        let diffs = call.flag("includeDiffs").unwrap_or(false);
        body["notification"] =
            json!({ "email": { "enabled": true, "recipients": [email], "includeDiffs": diffs } });
    }
    if let Some(url) = call.trimmed("webhookUrl") {
        body["webhook"] = json!({ "url": url, "events": ["monitor.page", "monitor.check.completed"] });
    }
    Ok(body.as_object().cloned().unwrap_or_default())
}

pub async fn list(call: &Call) -> Result<Output, Failure> {
    let query = call.query(&[("limit", "limit"), ("offset", "offset")]);
    Ok(Output::pretty(call.get(&format!("/v2/monitor{query}")).await?))
}

pub async fn get(call: &Call) -> Result<Output, Failure> {
    Ok(Output::pretty(call.get(&path(call)?).await?))
}

pub async fn update(call: &Call) -> Result<Output, Failure> {
    let body = call.arguments.get("body").and_then(Value::as_object).cloned().unwrap_or_default();
    Ok(Output::pretty(call.send_json(Method::PATCH, &path(call)?, body).await?))
}

pub async fn delete(call: &Call) -> Result<Output, Failure> {
    Ok(Output::pretty(call.delete(&path(call)?).await?))
}

pub async fn run(call: &Call) -> Result<Output, Failure> {
    let path = format!("{}/run", path(call)?);
    Ok(Output::pretty(call.sender.request(Method::POST, &path, None, &[]).await?))
}

pub async fn checks(call: &Call) -> Result<Output, Failure> {
    let query = call.query(&[("limit", "limit"), ("offset", "offset"), ("status", "status")]);
    Ok(Output::pretty(call.get(&format!("{}/checks{query}", path(call)?)).await?))
}

pub async fn check(call: &Call) -> Result<Output, Failure> {
    let query = call.query(&[("limit", "limit"), ("skip", "skip"), ("pageStatus", "status")]);
    let path = format!("{}/checks/{}{query}", path(call)?, call.segment("checkId")?);
    Ok(Output::pretty(call.get(&path).await?))
}

fn path(call: &Call) -> Result<String, Failure> {
    Ok(format!("/v2/monitor/{}", call.segment("id")?))
}
