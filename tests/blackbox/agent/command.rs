//! `gannet agent`: the same run without a server.

use super::{AgentSite, company};
use crate::server::{gannet, run};
use serde_json::{Value, json};
use std::process::Command;
use testkit::TempDir;

fn command(dir: &TempDir) -> Command {
    let mut command = gannet();
    command
        .env("GANNET_EGRESS_ALLOW", "scrape=127.0.0.0/8")
        .env("GANNET_BROWSER", "off")
        .env("GANNET_DATA_DIR", dir.join("data"))
        .current_dir(dir.path());
    command
}

#[test]
fn the_command_prints_the_data_and_reports_its_steps() {
    let (dir, pages) = (TempDir::new(), AgentSite::start());
    std::fs::write(dir.join("schema.json"), company().to_string()).unwrap();
    let mut asks = command(&dir);
    asks.args(["agent", "When was it founded, how many employees?", "--url", &pages.url("/company")]);
    asks.args(["--schema", "schema.json"]);
    let (code, out, printed) = run(asks);
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), json!({ "founded": 1987, "employees": 42 }));
    for words in ["plan ", "read ", "/company", "found ", "done ", "succeeded"] {
        assert!(printed.contains(words), "{words:?} is missing in:\n{printed}");
    }
    assert!(!printed.contains('\x1b'), "plain lines where there is no terminal: {printed:?}");
    assert!(!dir.join("data").exists(), "nothing is left behind");
}

#[test]
fn a_failed_run_prints_the_reason_and_exits_with_an_error() {
    let (dir, pages) = (TempDir::new(), AgentSite::start());
    std::fs::write(dir.join("schema.json"), company().to_string()).unwrap();
    let mut asks = command(&dir);
    asks.args(["agent", "Founded? Employees?", "--url", &pages.url("/walk/1"), "--schema", "schema.json"]);
    asks.args(["--max-credits", "1", "--json"]);
    let (code, out, printed) = run(asks);
    assert_eq!(code, Some(1), "{printed}");
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&status["status"], &status["stopReason"]),
        (&json!("failed"), &json!("credit_limit_reached"))
    );
    assert!(printed.contains("credit limit"), "{printed}");
}

#[test]
fn invalid_arguments_are_refused() {
    let dir = TempDir::new();
    std::fs::write(dir.join("broken.json"), "{").unwrap();
    std::fs::write(dir.join("wrong.json"), r#"{"type":"wrong"}"#).unwrap();
    for (arguments, words) in [
        (vec!["agent", "x", "--schema", "broken.json"], "broken.json"),
        (vec!["agent", "x", "--schema", "wrong.json"], "Invalid JSON schema"),
        (vec!["agent", "x", "--schema", "nowhere.json"], "nowhere.json"),
        (vec!["agent", ""], "PROMPT"),
        (vec!["agent", "x", "--url", "ftp://a.test/"], "Invalid URL"),
        (vec!["agent", "x", "--max-credits", "0"], "--max-credits"),
    ] {
        let mut asks = command(&dir);
        asks.args(&arguments);
        let (code, out, printed) = run(asks);
        assert!(
            code == Some(2) && printed.contains(words) && out.is_empty(),
            "{arguments:?}: {code:?} {printed}"
        );
    }
}
