//! Idempotency keys survive dropped connections and `kill -9`, queue limits hold, what is handed out is charged, and what the models of
//! an operator are asked for is paid for.

mod keys;
mod memory;
mod money;

use crate::http::{Http, Reply};
use reqwest::Method;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Posts with an idempotency key.
async fn post_with_key(http: &Http, path: &str, key: &str, body: &Value) -> Reply {
    let request = http.request(Method::POST, path).header("x-idempotency-key", key).json(body);
    http.send(request).await.unwrap()
}

/// Posts with an idempotency key, and hangs up before the answer comes.
async fn hang_up(http: &Http, path: &str, key: &str, body: &Value, after: Duration) {
    let request = http.request(Method::POST, path).header("x-idempotency-key", key).json(body).timeout(after);
    let cut_off = http.send(request).await;
    assert!(cut_off.is_err_and(|error| error.is_timeout()), "the answer came before the caller hung up");
}

/// The same request again, until its key is free. The server needs a moment to see that the caller is gone.
async fn retried(http: &Http, path: &str, key: &str, body: &Value) -> Reply {
    let end = Instant::now() + Duration::from_secs(4);
    loop {
        let reply = post_with_key(http, path, key, body).await;
        if reply.status != 409 || Instant::now() > end {
            return reply;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn remaining_credits(http: &Http) -> i64 {
    let usage = http.get("/v2/team/credit-usage").await.unwrap();
    usage.is_success()["data"]["remainingCredits"].as_i64().unwrap()
}

/// How often an endpoint stands in the team's activity.
async fn activity(http: &Http, endpoint: &str) -> usize {
    let listed = http.get(&format!("/v2/team/activity?endpoint={endpoint}")).await.unwrap();
    listed.is_success()["data"].as_array().unwrap().len()
}
