//! Agent runs over HTTP: every state and every error of the contract, what is seen on the way, and that every run ends.

mod command;
mod errors;
mod kill;
mod pages;
mod states;
mod threads;
mod trace;

use crate::http::{Http, Reply};
use crate::scrape::recipe;
use crate::server::{Recipe, Server};
use pages::Pages;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::TempDir;

/// A server that may read loopback, and pages to read.
pub struct Office {
    pub dir: TempDir,
    pub server: Server,
    pub pages: Pages,
}

impl Office {
    pub async fn open() -> Self {
        Self::with(|recipe| recipe).await
    }

    pub async fn with(change: impl FnOnce(Recipe) -> Recipe) -> Self {
        let dir = TempDir::new();
        let server = change(recipe(&dir).set("browser", "off")).start().await;
        Self { dir, server, pages: Pages::start() }
    }

    pub fn http(&self) -> &Http {
        &self.server.http
    }

    /// Starts a run at a page; its id.
    pub async fn start(&self, page: &str, options: Value) -> String {
        started(&self.http().post("/v2/agent", &self.pages.asking(page, options)).await.unwrap())
    }

    pub async fn ended(&self, id: &str) -> Value {
        ended(self.http(), id).await
    }

    pub async fn trace(&self, id: &str) -> Vec<Value> {
        let trace = self.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
        let events = trace.is_success()["events"].as_array().unwrap().clone();
        whole(id, &events);
        events
    }

    /// Waits until a run has told something of a kind.
    pub async fn told(&self, id: &str, kind: &str) -> Value {
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
pub fn started(reply: &Reply) -> String {
    reply.is_success()["id"].as_str().expect("an id").to_owned()
}

pub async fn ended(http: &Http, id: &str) -> Value {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let status = http.get(&format!("/v2/agent/{id}")).await.unwrap();
        if status.is_success()["status"] != "processing" {
            return status.json;
        }
        assert!(Instant::now() < end, "the run does not end: {}", status.text);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What must be true of every trace of a run that has ended.
#[track_caller]
pub fn whole(run: &str, events: &[Value]) {
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

/// Holds traces and statuses against the models of the Python client itself.
pub fn read_by_python(answers: &[Value]) {
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
fn the_page_about_agents_has_every_field() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agent.md");
    let page = std::fs::read_to_string(page).expect("docs/agent.md");
    for field in wire::agent::AGENT_FIELDS {
        let row = format!("| `{}` | {} |", field.name, field.note);
        assert!(page.contains(&row), "missing: {row}");
    }
}
