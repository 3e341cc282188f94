//! Idempotency keys survive dropped connections and `kill -9`, queue limits hold, everything handed out is
//! charged, and requests to an operator's model are paid for.

mod keys;
mod memory;
mod money;

use crate::http::{Http, HttpResponse};
use reqwest::Method;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Posts with an idempotency key.
async fn post_with_key(http: &Http, path: &str, key: &str, body: &Value) -> HttpResponse {
    let request = http.request(Method::POST, path).header("x-idempotency-key", key).json(body);
    http.send(request).await.unwrap()
}

/// Posts with an idempotency key, and disconnects before the response comes.
async fn post_and_disconnect(http: &Http, path: &str, key: &str, body: &Value, after: Duration) {
    let request = http.request(Method::POST, path).header("x-idempotency-key", key).json(body).timeout(after);
    let cut_off = http.send(request).await;
    assert!(
        cut_off.is_err_and(|error| error.is_timeout()),
        "the response came before the caller disconnected"
    );
}

/// Repeats a request until its key is free: the server needs a moment to notice that the caller is gone.
async fn retry_until_free(http: &Http, path: &str, key: &str, body: &Value) -> HttpResponse {
    let end = Instant::now() + Duration::from_secs(4);
    loop {
        let response = post_with_key(http, path, key, body).await;
        if response.status != 409 || Instant::now() > end {
            return response;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn remaining_credits(http: &Http) -> i64 {
    let usage = http.get("/v2/team/credit-usage").await.unwrap();
    usage.expect_success()["data"]["remainingCredits"].as_i64().unwrap()
}

/// How often an endpoint is listed in the team's activity.
async fn count_activity(http: &Http, endpoint: &str) -> usize {
    let listed = http.get(&format!("/v2/team/activity?endpoint={endpoint}")).await.unwrap();
    listed.expect_success()["data"].as_array().unwrap().len()
}
