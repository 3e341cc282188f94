//! The unmodified clients, with a scripted model.

use super::Study;
use crate::clients::{node, python, run};
use serde_json::json;
use std::process::Command;
use testkit::ModelServer;
use testkit::model_server::{Asked, Said};

/// Says what the scripts expect.
fn answer(asked: &Asked) -> Said {
    let system = asked.system();
    if system.contains("summarise") {
        Said::text("Gannets dive from thirty metres.")
    } else if system.contains("answer questions") {
        Said::text("Thirty metres.")
    } else if system.contains("crawling") {
        Said::json(&json!({ "includePaths": ["blog/.*", "docs/.*"] }))
    } else {
        Said::json(&json!({ "title": "How gannets dive", "metres": 30 }))
    }
}

async fn passes(mut command: Command) {
    let study = Study::open(ModelServer::start(answer)).await;
    command.env("SITE_URL", &study.house.site.base).env("API_URL", &study.http().base);
    run(&mut command);
}

#[tokio::test]
async fn firecrawl_py_asks_a_model() {
    passes(python("models.py")).await;
}

#[tokio::test]
async fn firecrawl_js_asks_a_model() {
    passes(node("models.mjs")).await;
}
