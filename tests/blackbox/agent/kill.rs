//! Random starts, cancels, kills and restarts: every accepted run ends, every trace is whole, and the ledger balances.
//!
//! Short here; a thousand runs with `GANNET_TEST_SOAK=1`.

use super::{Pages, company, ended, read_by_python, started, whole};
use crate::http::Http;
use crate::kill::Dice;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::TempDir;

fn number(short: usize, long: usize) -> usize {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { long } else { short }
}

/// A request like any other.
fn any(dice: &mut Dice, pages: &Pages) -> Value {
    let page = match dice.below(8) {
        0 => "/hang/1",
        1..=3 => "/walk/1",
        _ => "/company",
    };
    let effort = if dice.below(2) == 0 { "low" } else { "medium" };
    let mut options = json!({ "maxCredits": 1 + dice.below(12), "effort": effort });
    if dice.below(3) > 0 {
        options["schema"] = company();
    }
    if dice.below(6) == 0 {
        options["mode"] = "chat".into();
    }
    pages.asking(page, options)
}

/// Starts runs and cancels some, until so many more are accepted or the server does not answer.
async fn bustle(http: &Http, dice: &mut Dice, pages: &Pages, accepted: &mut Vec<String>, more: usize) {
    let enough = accepted.len() + more;
    while accepted.len() < enough {
        let Ok(reply) = http.post("/v2/agent", &any(dice, pages)).await else { return };
        accepted.push(started(&reply));
        if dice.below(4) == 0 {
            let which = usize::try_from(dice.below(accepted.len() as u64)).unwrap();
            let Ok(reply) = http.delete(&format!("/v2/agent/{}", accepted[which])).await else { return };
            assert!(matches!(reply.status, 200 | 409), "{}", reply.text);
        }
        tokio::time::sleep(Duration::from_millis(dice.below(25))).await;
    }
}

/// All runs there are: a kill may have kept the acceptance of some from being told.
async fn all(http: &Http) -> Vec<String> {
    let (mut ids, mut path) = (Vec::new(), "/v2/agent".to_owned());
    loop {
        let reply = http.get(&path).await.unwrap();
        let page = reply.is_success();
        ids.extend(
            page["agents"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next"].as_str() else { return ids };
        path = next.replace(&http.base, "");
    }
}

#[tokio::test]
async fn every_run_ends_and_the_ledger_balances_whatever_is_killed() {
    let (dir, pages, mut dice) = (TempDir::new(), Pages::start(), Dice::new());
    let recipe = super::recipe(&dir).set("browser", "off").set("lease", "400ms").set("agent_deadline", "2s");
    let mut accepted = Vec::new();
    let (rounds, runs) = (number(4, 100), number(100, 1_000));
    for _ in 0..rounds {
        let server = recipe.start().await;
        // Somewhere in the middle, or when all of this round are accepted.
        let patience = Duration::from_millis(400 + dice.below(900));
        let during = bustle(&server.http, &mut dice, &pages, &mut accepted, runs / rounds);
        let _ = tokio::time::timeout(patience, during).await;
        server.kill();
    }
    let server = recipe.start().await;
    let missing = runs.saturating_sub(accepted.len());
    bustle(&server.http, &mut dice, &pages, &mut accepted, missing).await;
    let (mut charged, mut answers) = (0, Vec::new());
    let known = all(&server.http).await;
    assert!(accepted.iter().all(|id| known.contains(id)), "what was accepted is there");
    for id in &known {
        let status = ended(&server.http, id).await;
        let credits = status["creditsUsed"].as_i64().unwrap();
        assert_eq!(credits > 0, status["status"] == "completed", "{status}");
        charged += credits;
        let trace = server.http.get(&format!("/v2/agent/{id}/trace")).await.unwrap();
        whole(id, trace.is_success()["events"].as_array().unwrap());
        answers.extend([status, trace.json]);
    }
    assert!(charged > 0, "some were answered");
    read_by_python(&answers);
    let usage = server.http.get("/v2/team/credit-usage/historical").await.unwrap();
    let used: i64 =
        usage.json["periods"].as_array().unwrap().iter().filter_map(|one| one["creditsUsed"].as_i64()).sum();
    assert_eq!(used, charged, "the ledger balances after {} runs", known.len());
    assert!(accepted.len() >= runs);
}
