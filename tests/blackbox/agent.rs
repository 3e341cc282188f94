//! Agent runs over HTTP: every state and every error of the contract, traces, and that every run ends.

mod browser;
mod command;
mod errors;
mod kill;
pub mod site;
mod skill;
mod states;
mod threads;
mod trace;

use crate::http::{Http, HttpResponse};
use crate::scrape::{config, shared};
use crate::server::{Server, ServerConfig};
use serde_json::{Value, json};
use site::AgentSite;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::TempDir;

/// A server that may fetch from loopback, and a site for agent runs.
pub struct AgentFixture {
    pub dir: Arc<TempDir>,
    pub server: Server,
    pub pages: AgentSite,
}

impl AgentFixture {
    /// With a server that other tests use too, without a browser.
    pub async fn open() -> Self {
        let (dir, server) = shared(&[("browser", "off")]).await;
        Self { dir, server, pages: AgentSite::start() }
    }

    /// With a server that other tests use too, and a browser.
    pub async fn with_browser() -> Self {
        let (dir, server) = shared(&[]).await;
        Self { dir, server, pages: AgentSite::start() }
    }

    /// With a server of its own, without a browser.
    pub async fn own() -> Self {
        Self::with(|config| config).await
    }

    /// With a server of its own that has other settings.
    pub async fn with(change: impl FnOnce(ServerConfig) -> ServerConfig) -> Self {
        let dir = Arc::new(TempDir::new());
        let server = change(config(&dir).set("browser", "off")).start().await;
        Self { dir, server, pages: AgentSite::start() }
    }

    pub fn http(&self) -> &Http {
        &self.server.http
    }

    /// Starts a run at a page and returns its ID.
    pub async fn start(&self, page: &str, options: Value) -> String {
        started_id(&self.http().post("/v2/agent", &self.pages.request_for(page, options)).await.unwrap())
    }

    pub async fn wait_for_end(&self, id: &str) -> Value {
        wait_for_end(self.http(), id).await
    }

    pub async fn trace(&self, id: &str) -> Vec<Value> {
        let trace = self.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
        let events = trace.expect_success()["events"].as_array().unwrap().clone();
        assert_complete_trace(id, &events);
        events
    }

    /// Waits until the trace of a run has an event of this type.
    pub async fn wait_for_event(&self, id: &str, kind: &str) -> Value {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let trace = self.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
            let found = trace.json["events"].as_array().unwrap().iter().find(|event| event["type"] == kind);
            if let Some(event) = found {
                return event.clone();
            }
            assert!(Instant::now() < end, "no {kind}: {}", trace.text);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[track_caller]
pub fn started_id(response: &HttpResponse) -> String {
    response.expect_success()["id"].as_str().expect("an id").to_owned()
}

pub async fn wait_for_end(http: &Http, id: &str) -> Value {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let status = http.get(&format!("/v2/agent/{id}")).await.unwrap();
        if status.expect_success()["status"] != "processing" {
            return status.json;
        }
        assert!(Instant::now() < end, "the run does not end: {}", status.text);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Asserts what must hold for every trace of a finished run.
#[track_caller]
pub fn assert_complete_trace(run: &str, events: &[Value]) {
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"run.started"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"run.finished"), "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "run.finished").count(), 1, "{kinds:?}");
    let (mut sequences, mut open): (HashMap<&str, u64>, HashMap<&str, bool>) = Default::default();
    for event in events {
        let agent = event["agent"]["id"].as_str().unwrap();
        let sequence = sequences.entry(agent).or_default();
        *sequence += 1;
        assert_eq!(
            (&event["producerSequence"], &event["runId"]),
            (&json!(*sequence), &json!(run)),
            "{event}"
        );
        match event["type"].as_str().unwrap() {
            "agent.started" => assert_eq!(open.insert(agent, true), None, "{event}"),
            "agent.finished" => assert_eq!(open.insert(agent, false), Some(true), "{event}"),
            _ => {}
        }
    }
    assert!(open.values().all(|open| !open), "an agent did not end: {events:#?}");
}

/// Checks traces and statuses against the models of the Python client.
pub fn check_with_python_models(answers: &[Value]) {
    let python =
        std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run the tests through `make test`");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/agent_models.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python");
    let mut stdin = child.stdin.take().unwrap();
    for answer in answers {
        writeln!(stdin, "{answer}").unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains(&format!("{} read", answers.len())), "{text}");
}

/// A schema of one company.
pub fn company() -> Value {
    json!({ "type": "object", "properties": {
        "founded": { "type": "integer" }, "employees": { "type": "integer" } }, "required": ["founded", "employees"] })
}

#[test]
fn docs_agent_md_lists_every_request_field() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agent.md");
    let page = std::fs::read_to_string(page).expect("docs/agent.md");
    for field in wire::agent::AGENT_FIELDS {
        let row = format!("| `{}` | {} |", field.name, field.note);
        assert!(page.contains(&row), "missing: {row}");
    }
}
