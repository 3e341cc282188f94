//! How a model is set up, and what `gannet doctor` says of it; what is refused without one.

use super::MODEL_KEY;
use crate::scrape::{House, failed};
use crate::server::{Recipe, run};
use serde_json::json;
use testkit::model_server::{MODEL, Said, Talents};
use testkit::{ModelServer, TempDir};

fn doctor(settings: &[(&str, &str)]) -> (Option<i32>, String) {
    let dir = TempDir::new();
    let recipe =
        settings.iter().fold(Recipe::at(dir.path()), |recipe, (name, value)| recipe.set(name, value));
    let (code, out, errors) = run(recipe.command(&["doctor"]));
    (code, format!("{out}{errors}"))
}

fn model_line(text: &str) -> &str {
    let found = text.lines().find(|line| line.split_whitespace().nth(1) == Some("model"));
    found.unwrap_or_else(|| panic!("no line about the model:\n{text}"))
}

#[tokio::test]
async fn the_doctor_tells_what_a_model_can_do() {
    let (_, text) = doctor(&[]);
    let line = model_line(&text);
    assert!(line.contains("missing") && line.contains("model_url") && line.contains("model_name"), "{line}");

    let talents =
        Talents { tools: false, context: Some(4321), key: Some(MODEL_KEY.into()), ..Talents::default() };
    let server = ModelServer::with(talents, |_| Said::text("x"));
    let url = server.url();
    let set = [("model_url", url.as_str()), ("model_name", MODEL), ("model_key", MODEL_KEY)];
    let (_, text) = doctor(&set);
    let line = model_line(&text);
    for part in ["ok", MODEL, &url, "tools no", "JSON schema yes", "4321 tokens"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!text.contains(MODEL_KEY), "{text}");
    assert!(server.asked().is_empty(), "only the probe asked");

    let gone = ModelServer::saying(vec![Said::Stall]).url();
    let (code, text) = doctor(&[("model_url", &gone), ("model_name", MODEL)]);
    let line = model_line(&text);
    assert!(line.contains("BROKEN") && line.contains("cannot be reached"), "{line}");
    assert_eq!(code, Some(1));
}

#[tokio::test]
async fn each_purpose_may_have_its_own_model() {
    let (one, other) = (
        ModelServer::saying(vec![Said::text("{\"a\": 1}")]),
        ModelServer::saying(vec![Said::text("Short.")]),
    );
    let (url, override_) = (one.url(), format!("{}|{MODEL}", other.url()));
    let house = House::with(|recipe| {
        let recipe = recipe.set("model_url", &url).set("model_name", MODEL).set("model_key", MODEL_KEY);
        recipe.set("model_summary", &override_)
    })
    .await;
    let formats = json!(["summary", { "type": "json", "prompt": "x" }]);
    let document = house.document("/article", json!({ "formats": formats })).await;
    assert_eq!((&document["summary"], &document["json"]), (&json!("Short."), &json!({ "a": 1 })));
    assert_eq!((one.asked().len(), other.asked().len()), (1, 1));
    assert_eq!(other.asked()[0].authorization, None, "a key goes only where it belongs");
}

#[tokio::test]
async fn data_that_a_page_states_needs_no_model() {
    let house = House::open().await;
    let schema = json!({ "type": "object", "properties": {
        "title": { "type": "string" }, "author": { "type": "string" }, "nights": { "type": "integer" } },
        "required": ["title"] });
    for kind in ["json", "deterministicJson"] {
        let format = json!({ "type": kind, "schema": schema });
        let document = house.document("/article", json!({ "formats": [format] })).await;
        assert_eq!(document["json"]["title"], "How gannets dive", "{document}");
        assert!(document["json"].get("nights").is_none(), "what is not stated is not invented: {document}");
        let warning = document["warning"].as_str().unwrap_or_default();
        assert_eq!(warning.contains("no language model"), kind == "json", "{warning}");
        assert!(warning.contains("nights"), "{warning}");
        assert_eq!(document["metadata"]["creditsUsed"], 5);
    }
    let needed = json!({ "type": "object", "properties": { "nights": { "type": "integer" } }, "required": ["nights"] });
    let reply = house.scrape("/article", json!({ "formats": [{ "type": "json", "schema": needed }] })).await;
    assert_eq!(reply.status, 422, "{}", reply.text);
    assert!(reply.json["error"].as_str().unwrap().contains("nights"), "{}", reply.text);
    let tracking = json!({ "type": "changeTracking", "modes": ["json"], "schema": schema });
    let document = house.document("/article", json!({ "formats": ["markdown", tracking] })).await;
    assert_eq!(document["changeTracking"]["changeStatus"], "new");
}

#[tokio::test]
async fn without_a_model_the_refusal_says_how_to_set_one() {
    let house = House::open().await;
    for options in [
        json!({ "formats": ["summary"] }),
        json!({ "formats": [{ "type": "question", "question": "how deep?" }] }),
        json!({ "formats": [{ "type": "query", "prompt": "how deep?" }] }),
        json!({ "formats": [{ "type": "json", "prompt": "the title" }] }),
        json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["json"], "prompt": "x" }] }),
        json!({ "onlyCleanContent": true }),
    ] {
        let reply = house.scrape("/article", options.clone()).await;
        failed(&reply, 400, "MODEL_NOT_CONFIGURED");
        let text = reply.json["error"].as_str().unwrap();
        assert!(text.contains("model_url") && text.contains("model_name"), "{text}");
        let mut batch = options;
        batch["urls"] = json!([house.site.url("/article")]);
        failed(&house.http().post("/v2/batch/scrape", &batch).await.unwrap(), 400, "MODEL_NOT_CONFIGURED");
    }
    assert_eq!((house.site.hits("/article"), house.credits_used().await), (0, 0));
}
