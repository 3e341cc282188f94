//! How a model is configured, what `gannet doctor` reports about it, and what is refused without one.

use super::MODEL_KEY;
use crate::scrape::{ScrapeFixture, assert_failure};
use crate::server::{ServerConfig, run};
use serde_json::json;
use testkit::model_server::{MODEL, ModelCapabilities, ScriptedResponse};
use testkit::{ClosedPort, ModelServer, TempDir};

fn doctor(settings: &[(&str, &str)]) -> (Option<i32>, String) {
    let dir = TempDir::new();
    let config =
        settings.iter().fold(ServerConfig::at(dir.path()), |config, (name, value)| config.set(name, value));
    let (code, out, errors) = run(config.command(&["doctor"]));
    (code, format!("{out}{errors}"))
}

fn model_line(text: &str) -> &str {
    let found = text.lines().find(|line| line.split_whitespace().nth(1) == Some("model"));
    found.unwrap_or_else(|| panic!("no line about the model:\n{text}"))
}

#[tokio::test]
async fn doctor_reports_what_a_model_can_do() {
    let (_, text) = doctor(&[]);
    let line = model_line(&text);
    assert!(line.contains("missing") && line.contains("model_url") && line.contains("model_name"), "{line}");

    let capabilities = ModelCapabilities {
        tools: false,
        context: Some(4321),
        key: Some(MODEL_KEY.into()),
        ..ModelCapabilities::default()
    };
    let server = ModelServer::with(capabilities, |_| ScriptedResponse::text("x"));
    let url = server.url();
    let set = [("model_url", url.as_str()), ("model_name", MODEL), ("model_key", MODEL_KEY)];
    let (_, text) = doctor(&set);
    let line = model_line(&text);
    for part in ["ok", MODEL, &url, "tools no", "JSON schema yes", "4321 tokens"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!text.contains(MODEL_KEY), "{text}");
    assert!(server.requests().is_empty(), "only the probe asked");

    let closed = ClosedPort::hold();
    let gone = format!("http://{}/v1", closed.address());
    let (code, text) = doctor(&[("model_url", &gone), ("model_name", MODEL)]);
    let line = model_line(&text);
    assert!(line.contains("BROKEN") && line.contains("cannot be reached"), "{line}");
    assert_eq!(code, Some(1));
}

#[tokio::test]
async fn each_purpose_may_have_its_own_model() {
    let (one, other) = (
        ModelServer::with_responses(vec![ScriptedResponse::text("{\"a\": 1}")]),
        ModelServer::with_responses(vec![ScriptedResponse::text("Short.")]),
    );
    let (url, override_) = (one.url(), format!("{}|{MODEL}", other.url()));
    let fixture = ScrapeFixture::with(|config| {
        let config = config.set("model_url", &url).set("model_name", MODEL).set("model_key", MODEL_KEY);
        config.set("model_summary", &override_)
    })
    .await;
    let formats = json!(["summary", { "type": "json", "prompt": "x" }]);
    let document = fixture.scrape_document("/article", json!({ "formats": formats })).await;
    assert_eq!((&document["summary"], &document["json"]), (&json!("Short."), &json!({ "a": 1 })));
    assert_eq!((one.requests().len(), other.requests().len()), (1, 1));
    assert_eq!(other.requests()[0].authorization, None, "a key goes only where it belongs");
}

#[tokio::test]
async fn data_stated_on_a_page_needs_no_model() {
    let fixture = ScrapeFixture::open().await;
    let schema = json!({ "type": "object", "properties": {
        "title": { "type": "string" }, "author": { "type": "string" }, "nights": { "type": "integer" } },
        "required": ["title"] });
    for kind in ["json", "deterministicJson"] {
        let format = json!({ "type": kind, "schema": schema });
        let document = fixture.scrape_document("/article", json!({ "formats": [format] })).await;
        assert_eq!(document["json"]["title"], "How gannets dive", "{document}");
        assert!(document["json"].get("nights").is_none(), "what is not stated is not invented: {document}");
        let warning = document["warning"].as_str().unwrap_or_default();
        assert_eq!(warning.contains("no language model"), kind == "json", "{warning}");
        assert!(warning.contains("nights"), "{warning}");
        assert_eq!(document["metadata"]["creditsUsed"], 5);
    }
    let needed = json!({ "type": "object", "properties": { "nights": { "type": "integer" } }, "required": ["nights"] });
    let response =
        fixture.scrape("/article", json!({ "formats": [{ "type": "json", "schema": needed }] })).await;
    assert_eq!(response.status, 422, "{}", response.text);
    assert!(response.json["error"].as_str().unwrap().contains("nights"), "{}", response.text);
    let tracking = json!({ "type": "changeTracking", "modes": ["json"], "schema": schema });
    let document = fixture.scrape_document("/article", json!({ "formats": ["markdown", tracking] })).await;
    assert_eq!(document["changeTracking"]["changeStatus"], "new");
}

#[tokio::test]
async fn without_a_model_the_error_says_how_to_configure_one() {
    let fixture = ScrapeFixture::open().await;
    for options in [
        json!({ "formats": ["summary"] }),
        json!({ "formats": [{ "type": "question", "question": "how deep?" }] }),
        json!({ "formats": [{ "type": "query", "prompt": "how deep?" }] }),
        json!({ "formats": [{ "type": "json", "prompt": "the title" }] }),
        json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["json"], "prompt": "x" }] }),
        json!({ "onlyCleanContent": true }),
    ] {
        let response = fixture.scrape("/article", options.clone()).await;
        assert_failure(&response, 400, "MODEL_NOT_CONFIGURED");
        let text = response.json["error"].as_str().unwrap();
        assert!(text.contains("model_url") && text.contains("model_name"), "{text}");
        let mut batch = options;
        batch["urls"] = json!([fixture.site.url("/article")]);
        assert_failure(
            &fixture.http().post("/v2/batch/scrape", &batch).await.unwrap(),
            400,
            "MODEL_NOT_CONFIGURED",
        );
    }
    assert_eq!((fixture.site.hits("/article"), fixture.credits_used().await), (0, 0));
}
