//! Crawls: started, waited for, and read with all their pages.

use super::pages::scrape_options;
use crate::arguments::without_empty;
use crate::call::{Call, CancelOnDrop};
use crate::output::{Failure, Output};
use crate::texts::JobKind;
use http::Uri;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long a call waits for a job; then the job goes on without it.
pub const MAX_WAIT: Duration = Duration::from_mins(10);
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// Bytes of pages that one answer collects; `next` then says where to go on.
const MAX_COLLECTED_BYTES: usize = 16 << 20;

pub async fn crawl(call: &Call) -> Result<Output, Failure> {
    let mut body = call.arguments.clone();
    if let Some(Value::Object(options)) = body.remove("scrapeOptions") {
        body.insert("scrapeOptions".to_owned(), scrape_options(options).into());
    }
    if let Some(headers) = body.remove("webhookHeaders").filter(|headers| *headers != json!({})) {
        let url = body.remove("webhook").unwrap_or_default();
        body.insert("webhook".to_owned(), json!({ "url": url, "headers": headers }));
    }
    let started = call.post_from_here("/v2/crawl", without_empty(body)).await?;
    let Some(id) = started["id"].as_str() else { return Ok(Output::pretty(started)) };
    let guard = CancelOnDrop::new(call, format!("/v2/crawl/{id}"));
    // The pages are fetched once, at the end.
    let ended = wait_for(call, &format!("/v2/crawl/{id}?limit=1"), |state| {
        let (done, total) = (count(state, "completed"), count(state, "total"));
        (done, Some(total), format!("{done} of {total} pages"))
    })
    .await;
    guard.disarm();
    ended?;
    with_pages(call, id).await
}

pub async fn status(call: &Call) -> Result<Output, Failure> {
    with_pages(call, &call.segment("id")?).await
}

fn count(state: &Value, name: &str) -> u64 {
    state[name].as_u64().unwrap_or_default()
}

/// Asks for a job until it has ended or the wait is over, and reports how far it is.
pub async fn wait_for(
    call: &Call,
    path: &str,
    progress: impl Fn(&Value) -> (u64, Option<u64>, String),
) -> Result<Value, Failure> {
    let (began, mut pause, mut reported) = (Instant::now(), FIRST_PAUSE, None);
    loop {
        let state = match call.get(path).await {
            Ok(state) => state,
            // A busy server does not end the job.
            Err(Failure::Api { status: 429 | 503, retry_after, .. }) if began.elapsed() < MAX_WAIT => {
                tokio::time::sleep(Duration::from_secs(retry_after.unwrap_or(1).clamp(1, 30))).await;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        if matches!(state["status"].as_str(), Some("completed" | "failed" | "cancelled")) {
            return Ok(state);
        }
        if began.elapsed() > MAX_WAIT {
            return Ok(state);
        }
        let (done, total, message) = progress(&state);
        if reported != Some(done) {
            reported = Some(done);
            call.report(done, total, message).await;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// A crawl with its pages, as the official server returns it.
pub async fn with_pages(call: &Call, id: &str) -> Result<Output, Failure> {
    let first = call.get(&format!("/v2/crawl/{id}")).await?;
    let mut pages = first["data"].as_array().cloned().unwrap_or_default();
    let (mut next, mut bytes) = (first["next"].as_str().map(str::to_owned), size(&pages));
    while let Some(url) = &next {
        if bytes > MAX_COLLECTED_BYTES {
            break;
        }
        let more = call.get(&path_of(url)?).await?;
        let added = more["data"].as_array().cloned().unwrap_or_default();
        if added.is_empty() {
            next = None;
            break;
        }
        bytes += size(&added);
        pages.extend(added);
        next = more["next"].as_str().map(str::to_owned);
    }
    let mut all = json!({
        "id": id, "status": first["status"], "completed": count(&first, "completed"),
        "total": count(&first, "total"), "next": next, "data": pages,
    });
    for name in ["creditsUsed", "expiresAt"] {
        if let Some(value) = first.get(name) {
            all[name] = value.clone();
        }
    }
    let ended = first["status"] != "scraping";
    Ok(Output::pretty(all).of_job(JobKind::Crawl, Some(id).filter(|_| ended)))
}

fn size(pages: &[Value]) -> usize {
    pages.iter().map(|page| page.to_string().len()).sum()
}

/// Path and query of a link to this API, whatever name it gives the server.
fn path_of(url: &str) -> Result<String, Failure> {
    let path = url.parse::<Uri>().ok().and_then(|uri| uri.path_and_query().map(ToString::to_string));
    path.filter(|path| path.starts_with("/v2/")).ok_or_else(|| Failure::Tool {
        message: "The crawl has a next page with an address that is not of this API".to_owned(),
        data: json!({ "success": false, "code": "INVALID_NEXT" }),
    })
}
