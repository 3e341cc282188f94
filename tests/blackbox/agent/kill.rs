//! Random starts, cancels, kills and restarts: every accepted run ends, every trace is complete, and the
//! ledger balances.
//!
//! A short run here; a thousand runs with `GANNET_TEST_SOAK=1`.

use super::{AgentSite, assert_complete_trace, check_with_python_models, company, started_id, wait_for_end};
use crate::http::Http;
use crate::kill::Random;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::TempDir;

fn short_or_long(short: usize, long: usize) -> usize {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { long } else { short }
}

/// A random valid request.
fn random_request(random: &mut Random, pages: &AgentSite) -> Value {
    let page = match random.below(8) {
        0 => "/hang/1",
        1..=3 => "/walk/1",
        _ => "/company",
    };
    let effort = if random.below(2) == 0 { "low" } else { "medium" };
    let mut options = json!({ "maxCredits": 1 + random.below(12), "effort": effort });
    if random.below(3) > 0 {
        options["schema"] = company();
    }
    if random.below(6) == 0 {
        options["mode"] = "chat".into();
    }
    pages.request_for(page, options)
}

/// Starts runs and cancels some, until this many more are accepted or the server does not respond.
async fn start_and_cancel_runs(
    http: &Http,
    random: &mut Random,
    pages: &AgentSite,
    accepted: &mut Vec<String>,
    more: usize,
) {
    let enough = accepted.len() + more;
    while accepted.len() < enough {
        let Ok(response) = http.post("/v2/agent", &random_request(random, pages)).await else { return };
        accepted.push(started_id(&response));
        if random.below(4) == 0 {
            let which = usize::try_from(random.below(accepted.len() as u64)).unwrap();
            let Ok(response) = http.delete(&format!("/v2/agent/{}", accepted[which])).await else { return };
            assert!(matches!(response.status, 200 | 409), "{}", response.text);
        }
        tokio::time::sleep(Duration::from_millis(random.below(25))).await;
    }
}

/// All runs there are. The response that would have accepted some of them may have been lost in a kill.
async fn all_runs(http: &Http) -> Vec<String> {
    let (mut ids, mut path) = (Vec::new(), "/v2/agent".to_owned());
    loop {
        let response = http.get(&path).await.unwrap();
        let page = response.expect_success();
        ids.extend(
            page["agents"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next"].as_str() else { return ids };
        path = next.replace(&http.base, "");
    }
}

#[tokio::test]
async fn every_run_ends_and_the_ledger_balances_despite_kills() {
    let (dir, pages, mut random) = (TempDir::new(), AgentSite::start(), Random::new());
    let config = super::config(&dir).set("browser", "off").set("lease", "400ms").set("agent_deadline", "2s");
    let mut accepted = Vec::new();
    let (rounds, runs) = (short_or_long(3, 100), short_or_long(45, 1_000));
    for _ in 0..rounds {
        let server = config.start().await;
        // Somewhere in the middle, or once all runs of this round are accepted.
        let max_wait = Duration::from_millis(400 + random.below(900));
        let during = start_and_cancel_runs(&server.http, &mut random, &pages, &mut accepted, runs / rounds);
        let _ = tokio::time::timeout(max_wait, during).await;
        server.kill();
    }
    let server = config.start().await;
    let missing = runs.saturating_sub(accepted.len());
    start_and_cancel_runs(&server.http, &mut random, &pages, &mut accepted, missing).await;
    let (mut charged, mut answers) = (0, Vec::new());
    let known = all_runs(&server.http).await;
    assert!(accepted.iter().all(|id| known.contains(id)), "what was accepted is there");
    for id in &known {
        let status = wait_for_end(&server.http, id).await;
        let credits = status["creditsUsed"].as_i64().unwrap();
        assert_eq!(credits > 0, status["status"] == "completed", "{status}");
        charged += credits;
        let trace = server.http.get(&format!("/v2/agent/{id}/trace")).await.unwrap();
        assert_complete_trace(id, trace.expect_success()["events"].as_array().unwrap());
        answers.extend([status, trace.json]);
    }
    assert!(charged > 0, "some were answered");
    check_with_python_models(&answers);
    let usage = server.http.get("/v2/team/credit-usage/historical").await.unwrap();
    let used: i64 =
        usage.json["periods"].as_array().unwrap().iter().filter_map(|one| one["creditsUsed"].as_i64()).sum();
    assert_eq!(used, charged, "the ledger balances after {} runs", known.len());
    assert!(accepted.len() >= runs);
}
