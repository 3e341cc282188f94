//! Agent runs: started, waited for, read, and what they did.

use super::crawls::wait_for;
use crate::arguments::without_empty;
use crate::call::{Call, CancelOnDrop};
use crate::output::{Failure, Output};
use crate::texts::JobKind;
use serde_json::Value;

pub async fn start(call: &Call) -> Result<Output, Failure> {
    let mut body = call.arguments.clone();
    let wait = body.remove("wait") == Some(Value::Bool(true));
    let started = call.post_from_here("/v2/agent", without_empty(body)).await?;
    let Some(id) = started["id"].as_str().filter(|_| wait) else { return Ok(Output::pretty(started)) };
    let guard = CancelOnDrop::new(call, format!("/v2/agent/{id}"));
    let ended = wait_for(call, &format!("/v2/agent/{id}"), |state| {
        let spent = state["creditsUsed"].as_u64().unwrap_or_default();
        (spent, None, format!("{spent} credits used"))
    })
    .await;
    guard.disarm();
    Ok(result(ended?, id))
}

pub async fn status(call: &Call) -> Result<Output, Failure> {
    let id = call.segment("id")?;
    read_run(call, &id).await
}

pub async fn read_run(call: &Call, id: &str) -> Result<Output, Failure> {
    Ok(result(call.get(&format!("/v2/agent/{id}")).await?, id))
}

fn result(state: Value, id: &str) -> Output {
    let ended = state["status"] != "processing";
    Output::pretty(state).of_job(JobKind::Agent, Some(id).filter(|_| ended))
}

pub async fn trace(call: &Call) -> Result<Output, Failure> {
    let path = format!("/v2/agent/{}/trace{}", call.segment("id")?, call.query(&[("after", "after")]));
    Ok(Output::pretty(call.get(&path).await?))
}
