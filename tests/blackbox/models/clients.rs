//! The unmodified client libraries, with a scripted model.

use super::ModelFixture;
use crate::clients::{node, python, run};
use serde_json::json;
use std::process::Command;
use testkit::ModelServer;
use testkit::model_server::{ModelRequest, ScriptedResponse};

/// Responds with what the client scripts expect.
fn scripted_response(request: &ModelRequest) -> ScriptedResponse {
    let system = request.system();
    if system.contains("summarise") {
        ScriptedResponse::text("Gannets dive from thirty metres.")
    } else if system.contains("answer questions") {
        ScriptedResponse::text("Thirty metres.")
    } else if system.contains("crawling") {
        ScriptedResponse::json(&json!({ "includePaths": ["blog/.*", "docs/.*"] }))
    } else {
        ScriptedResponse::json(&json!({ "title": "How gannets dive", "metres": 30 }))
    }
}

async fn run_client_script(mut command: Command) {
    let fixture = ModelFixture::open(ModelServer::start(scripted_response)).await;
    command.env("SITE_URL", &fixture.scraping.site.base).env("API_URL", &fixture.http().base);
    run(&mut command);
}

#[tokio::test]
async fn firecrawl_py_uses_a_model() {
    run_client_script(python("models.py")).await;
}

#[tokio::test]
async fn firecrawl_js_uses_a_model() {
    run_client_script(node("models.mjs")).await;
}
