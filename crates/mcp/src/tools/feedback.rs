//! Feedback on results. A refusal is a result too: the model can do nothing about it.

use crate::arguments::{Object, without_empty};
use crate::call::Call;
use crate::output::{Failure, Output};
use serde_json::json;

pub async fn rate_search(call: &Call) -> Result<Output, Failure> {
    let mut body = call.arguments.clone();
    body.remove("searchId");
    send(call, &format!("/v2/search/{}/feedback", call.segment("searchId")?), body).await
}

pub async fn rate(call: &Call) -> Result<Output, Failure> {
    if call.text("endpoint") != "alexandria" && call.trimmed("jobId").is_none() {
        return Err(Failure::Arguments("jobId is required".to_owned()));
    }
    send(call, "/v2/feedback", call.arguments.clone()).await
}

async fn send(call: &Call, path: &str, body: Object) -> Result<Output, Failure> {
    match call.post_from_here(path, without_empty(body)).await {
        Ok(answer) => Ok(Output::pretty(answer)),
        Err(Failure::Api { status, body, .. }) if status != 401 => {
            let mut refused = json!({
                "success": false, "status": status, "retryable": status >= 500,
                "error": body["error"].as_str().map_or_else(|| format!("HTTP {status}"), str::to_owned),
            });
            if let Some(code) = body.get("feedbackErrorCode") {
                refused["feedbackErrorCode"] = code.clone();
            }
            Ok(Output::pretty(refused))
        }
        Err(failure) => Err(failure),
    }
}
