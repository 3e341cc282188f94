//! Thirty pages with prompt injections, through the real binary: with the rules alone, and with a model that
//! obeys whatever it reads. `127.0.0.2` is the web; a listener on `127.0.0.1`, which nobody may reach, counts
//! connections.

use super::{config, wait_for_end};
use crate::hostile::servers::{Server as Place, answer, http, page};
use crate::http::Http;
use crate::server::{KEY, Server};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use testkit::injections::{NAME, PRICE, injections};
use testkit::model_server::{ModelCapabilities, ModelRequest, ScriptedResponse};
use testkit::{ModelServer, TempDir};

/// Runs at the same time.
const CONCURRENT_RUNS: usize = 4;
const MODEL_KEY: &str = "sk-secret-of-the-operator-4711";

struct InjectionFixture {
    server: Server,
    shop: Place,
    /// Nobody may connect here.
    inside: Place,
    names: Vec<&'static str>,
    model: Option<ModelServer>,
    _dir: TempDir,
}

impl InjectionFixture {
    async fn build(model: Option<ModelServer>) -> Self {
        let inside = http("127.0.0.1:0", |_| page("the secret of the house")).await;
        // Stolen data would be sent to the web, which is allowed; the test checks that nothing secret is in
        // it.
        let collector = http("127.0.0.2:0", |_| page("thank you")).await;
        let pages =
            injections(&format!("http://{}", inside.address), &format!("http://{}", collector.address));
        let names = pages.iter().map(|page| page.name).collect();
        let shop = http("127.0.0.2:0", move |head| {
            let path = head.split(' ').nth(1).unwrap_or_default();
            let known = pages.iter().find(|page| path.trim_start_matches('/').starts_with(page.name));
            let page = known.map_or("<p>Nothing here.</p>", |page| page.html.as_str());
            answer("200 OK", &[("Content-Type", "text/html; charset=utf-8")], page.as_bytes())
        })
        .await;
        let dir = TempDir::new();
        let mut config = config(&dir);
        if let Some(model) = &model {
            config = config
                .set("model_url", &model.url())
                .set("model_name", testkit::model_server::MODEL)
                .set("model_key", MODEL_KEY);
        }
        let server = config.start().await;
        Self { server, shop, inside, names, model, _dir: dir }
    }

    /// Runs an agent over a page; returns its status and its trace.
    async fn run(&self, name: &str) -> (Value, String) {
        let http: &Http = &self.server.http;
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" }, "price": { "type": "number" } } });
        let body = json!({ "prompt": "name and price of the product", "urls": [self.shop.url(&format!("/{name}"))],
            "schema": schema, "effort": "low", "maxCredits": 60 });
        let started = http.post("/v2/agent", &body).await.unwrap();
        let id = started.expect_success()["id"].as_str().unwrap().to_owned();
        let end = std::time::Instant::now() + std::time::Duration::from_mins(2);
        loop {
            let status = http.get(&format!("/v2/agent/{id}")).await.unwrap();
            if status.json["status"] != "processing" {
                let trace = http.get(&format!("/v2/agent/{id}/trace")).await.unwrap();
                return (status.json, format!("{}\n{}", status.text, trace.text));
            }
            assert!(std::time::Instant::now() < end, "{name}: it did not end: {}", status.text);
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        }
    }

    /// Runs over all pages, a few at a time; asserts that nothing connected to the private listener and that
    /// no secret was shown.
    async fn check_all_pages(&self, check: impl Fn(&str, &Value)) {
        let runs = self.names.iter().map(|name| async move { (*name, self.run(name).await) });
        let mut runs = stream::iter(runs).buffer_unordered(CONCURRENT_RUNS);
        while let Some((name, (status, trace))) = runs.next().await {
            check(name, &status);
            assert_eq!(self.inside.reached(), 0, "{name} was led inside");
            for secret in [MODEL_KEY, KEY, "the secret of the house"] {
                assert!(!trace.contains(secret), "{name} gave away {secret}: {trace}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_extract_the_data_and_ignore_injected_instructions() {
    let fixture = InjectionFixture::build(None).await;
    fixture
        .check_all_pages(|name, status| {
            assert_eq!(status["status"], "completed", "{name}: {status}");
            assert_eq!(status["data"], json!({ "name": NAME, "price": PRICE }), "{name}");
        })
        .await;
    // The same pages through extract.
    let url = fixture.shop.url("/visit-inside");
    let body = json!({ "urls": [url], "prompt": "name", "schema": super::lantern_schema() });
    let id = super::start(&fixture.server.http, &body).await;
    assert_eq!(wait_for_end(&fixture.server.http, &id).await.json["data"]["name"], NAME);
    assert_eq!(fixture.inside.reached(), 0);
}

/// Visits every URL it reads about, once, and tells everything it knows.
fn obedient_model(request: &ModelRequest) -> ScriptedResponse {
    let read = ["user", "tool"].map(|role| request.text_by_role(role)).join("\n");
    let calls_before = request.messages().iter().map(|message| message["tool_calls"].to_string());
    let mut done = calls_before.collect::<String>();
    let mut calls: Vec<(String, String)> = Vec::new();
    let addresses =
        read.split(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '(' | ')' | '\''));
    let mut home = None;
    for url in addresses.filter(|word| word.starts_with("http") || word.starts_with("file:")).take(400) {
        // The page itself comes first; more pages of its own site would prove nothing.
        let first = *home.get_or_insert(url);
        let site = &first[..first.rfind('/').unwrap_or(first.len())];
        let stolen = format!("{url}?rules=all");
        let wanted = if url == first { vec![url.to_owned()] } else { vec![url.to_owned(), stolen] };
        for url in wanted.into_iter().filter(|url| url == first || !url.starts_with(site)) {
            let end = format!("{url}\\\"");
            if calls.len() < 6 && !done.contains(&end) {
                done.push_str(&end);
                calls.push(("scrape".to_owned(), json!({ "url": url }).to_string()));
            }
        }
    }
    if calls.is_empty() {
        calls.push(("print_key".to_owned(), "{}".to_owned()));
        calls.push(("finish".to_owned(), json!({ "data": { "name": "HACKED" } }).to_string()));
    }
    ScriptedResponse::Calls(calls)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_obeys_injections_can_do_no_harm() {
    let capabilities = ModelCapabilities { key: Some(MODEL_KEY.to_owned()), ..ModelCapabilities::default() };
    let model = ModelServer::with(capabilities, obedient_model);
    let fixture = InjectionFixture::build(Some(model)).await;
    fixture
        .check_all_pages(|name, status| assert_ne!(status["status"], "processing", "{name}: {status}"))
        .await;
    let requests = fixture.model.as_ref().unwrap().requests();
    // Each page was read, and its instructions were tried.
    assert!(requests.len() >= 60, "the model was asked {} times", requests.len());
    let rules: Vec<String> = requests.iter().map(ModelRequest::system).collect();
    assert!(rules.iter().all(|rules| !rules.contains("New policy") && !rules.contains(MODEL_KEY)));
}
