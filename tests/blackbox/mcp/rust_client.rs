//! The client of the protocol in Rust (rmcp): every tool, over standard input and output and over HTTP, and the way
//! from a sign-in at an identity provider to a tool in both exchanges that clients make.

use super::{ScrapeFixture, open};
use crate::server::{KEY, PublicAddress, ServerConfig, gannet};
use crate::site::Site;
use crate::site_server::SiteServer;
use axum::routing::post;
use axum::{Json, Router};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::default_oauth_http_client;
use rmcp::transport::auth::enterprise::{
    EmaAuthorizationServer, EmaClientAuthentication, EmaError, EmaExchangeRequest, EmaExchangeStage,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use testkit::TempDir;
use testkit::identity_provider::{ASSERTION_TYPE, SigningKey, assertion_claims, key_set, serve_body};

/// A client that notes which tools it has called.
struct Tools {
    client: RunningService<RoleClient, ()>,
    called: BTreeSet<String>,
}

impl Tools {
    async fn over_http(base: &str, key: &str) -> Self {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{base}/mcp")).auth_header(key);
        let client = ().serve(StreamableHttpClientTransport::from_config(config)).await.expect("it connects");
        Self { client, called: BTreeSet::new() }
    }

    async fn over_stdio(base: &str) -> Self {
        let mut command = tokio::process::Command::from(gannet());
        command.arg("mcp").env("FIRECRAWL_API_URL", base).env("FIRECRAWL_API_KEY", KEY);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("start gannet mcp");
        let pipes = (child.stdout.take().expect("its output"), child.stdin.take().expect("its input"));
        // It ends with its input.
        tokio::spawn(async move { child.wait().await });
        Self { client: ().serve(pipes).await.expect("it connects"), called: BTreeSet::new() }
    }

    async fn answer(&mut self, name: &'static str, given: Value) -> CallToolResult {
        self.called.insert(name.to_owned());
        let given = given.as_object().cloned().unwrap_or_default();
        let asked = CallToolRequestParams::new(name).with_arguments(given);
        self.client.call_tool(asked).await.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The data of a call that succeeds.
    async fn call(&mut self, name: &'static str, given: Value) -> Value {
        let answer = self.answer(name, given).await;
        assert_ne!(answer.is_error, Some(true), "{name}: {answer:?}");
        answer.structured_content.unwrap_or_default()
    }

    /// Asks until the data is as it should be.
    async fn wait(&mut self, name: &'static str, given: Value, done: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..200 {
            let data = self.call(name, given.clone()).await;
            if done(&data) {
                return data;
            }
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        panic!("{name} {given} does not end");
    }
}

fn id(data: &Value, path: &str) -> String {
    data.pointer(path).and_then(Value::as_str).unwrap_or_else(|| panic!("{path} of {data}")).to_owned()
}

async fn call_every_tool(tools: &mut Tools, fixture: &ScrapeFixture, reads_files: bool) {
    let site = &fixture.site.base;
    let page = format!("{site}/article");
    let title = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
    let scraped = tools.call("firecrawl_scrape", json!({ "url": page })).await;
    assert!(scraped["markdown"].as_str().unwrap().contains("firstword"), "{scraped}");
    let whole = json!({ "url": page, "formats": ["html", "rawHtml", "markdown"], "maxChars": 1000 });
    let cut = tools.answer("firecrawl_scrape", whole).await;
    let cursor = serde_json::to_value(&cut).unwrap()["_meta"]["gannet/cursor"].clone();
    tools.call("gannet_continue", json!({ "cursor": cursor })).await;
    let data = tools.call("gannet_structured_data", json!({ "url": page, "schema": title })).await;
    assert!(data.to_string().contains("title"), "{data}");
    tools.call("firecrawl_map", json!({ "url": site })).await;
    let searched = tools.call("firecrawl_search", json!({ "query": "gannets" })).await;
    tools.call("firecrawl_find_tools", json!({ "query": "x" })).await;
    let sources = json!([{ "url": page }]);
    let feedback = json!({ "searchId": id(&searched, "/id"), "rating": "good", "valuableSources": sources });
    tools.call("firecrawl_search_feedback", feedback).await;
    let feedback =
        json!({ "endpoint": "scrape", "jobId": id(&scraped, "/metadata/scrapeId"), "rating": "good" });
    tools.call("firecrawl_feedback", feedback).await;
    let crawled = tools.call("firecrawl_crawl", json!({ "url": page, "limit": 1 })).await;
    tools.call("firecrawl_check_crawl_status", json!({ "id": id(&crawled, "/id") })).await;
    let asked = json!({ "prompt": "the title of the product", "urls": [format!("{site}/product")], "schema": title,
        "strictConstrainToURLs": true });
    let run = json!({ "id": id(&tools.call("firecrawl_agent", asked).await, "/id") });
    tools.wait("firecrawl_agent_status", run.clone(), |state| state["status"] == "completed").await;
    tools.call("gannet_agent_trace", run).await;
    let live = json!({ "url": page, "code": "snapshot", "language": "bash" });
    let live = json!({ "scrapeId": id(&tools.call("firecrawl_interact", live).await, "/scrapeId") });
    tools.call("firecrawl_interact_stop", live).await;
    let session =
        json!(id(&tools.call("gannet_browser_open", json!({ "url": page, "ttl": 60 })).await, "/id"));
    tools.call("gannet_browser_command", json!({ "sessionId": session, "command": "snapshot" })).await;
    tools.call("gannet_browser_close", json!({ "sessionId": session })).await;
    if reads_files {
        let file = fixture.dir.join("report.html");
        std::fs::write(&file, "<main><h1>Gannets</h1><p>They dive.</p></main>").unwrap();
        tools.call("firecrawl_parse", json!({ "filePath": file })).await;
    }
    call_monitors(tools, &page).await;
    let papers = tools.call("firecrawl_research_search_papers", json!({ "query": "cell", "k": 2 })).await;
    let paper = id(&papers, "/results/0/primaryId");
    tools.call("firecrawl_research_inspect_paper", json!({ "paperId": paper })).await;
    let seeds = json!({ "seed_ids": [paper], "intent": "methods", "k": 3 });
    tools.call("firecrawl_research_related_papers", seeds).await;
    tools.call("firecrawl_research_read_paper", json!({ "paperId": paper, "question": "methods" })).await;
    tools.call("firecrawl_developer_search", json!({ "query": "plunge" })).await;
    tools.call("firecrawl_credit_usage", json!({})).await;
    // They only say what has replaced them.
    tools.answer("firecrawl_extract", json!({ "urls": [page], "prompt": "x" })).await;
    tools.answer("firecrawl_research_search_github", json!({ "query": "q" })).await;
}

async fn call_monitors(tools: &mut Tools, page: &str) {
    let made = tools.call("firecrawl_monitor_create", json!({ "page": page, "goal": "the title" })).await;
    let monitor = json!({ "id": id(&made, "/data/id") });
    tools.call("firecrawl_monitor_list", json!({})).await;
    tools.call("firecrawl_monitor_get", monitor.clone()).await;
    let rename = json!({ "id": monitor["id"], "body": { "name": "Renamed" } });
    tools.call("firecrawl_monitor_update", rename).await;
    let check = tools.call("firecrawl_monitor_run", monitor.clone()).await;
    let check = json!({ "id": monitor["id"], "checkId": id(&check, "/data/id") });
    let ended =
        |state: &Value| !["queued", "running"].contains(&state["data"]["status"].as_str().unwrap_or("?"));
    tools.wait("firecrawl_monitor_check", check, ended).await;
    tools.call("firecrawl_monitor_checks", monitor.clone()).await;
    tools.call("firecrawl_monitor_delete", monitor).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_is_listed_and_called_over_both_transports() {
    let fixture = open().await;
    let base = fixture.http().base.clone();
    for (mut tools, reads_files) in
        [(Tools::over_http(&base, KEY).await, false), (Tools::over_stdio(&base).await, true)]
    {
        let listed = tools.client.list_all_tools().await.expect("the list");
        let listed: BTreeSet<String> = listed.into_iter().map(|tool| tool.name.into_owned()).collect();
        assert!(listed.len() > 30 && listed.contains("firecrawl_parse") == reads_files, "{listed:?}");
        call_every_tool(&mut tools, &fixture, reads_files).await;
        // Tools that are no longer offered still work.
        assert!(tools.called.is_superset(&listed), "every tool was called: {:?}", tools.called);
        tools.client.cancel().await.expect("it ends");
    }
}

/// The identity provider's token endpoint: trades what a person signed in with for an assertion (RFC 8693).
fn identity_provider(issuer: &'static str, key: Arc<SigningKey>) -> SiteServer {
    let exchange = async move |form: String| {
        let asked: BTreeMap<_, _> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        assert_eq!(asked["grant_type"], "urn:ietf:params:oauth:grant-type:token-exchange");
        assert_eq!(asked["subject_token"], "signed-in");
        let mut claims = assertion_claims(issuer, &asked["audience"]);
        claims["resource"] = json!(asked["resource"]);
        claims["scope"] = json!(asked["scope"]);
        Json(json!({
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "token_type": "N_A",
            "access_token": key.sign(ASSERTION_TYPE, &claims), "scope": asked["scope"], "expires_in": 300,
        }))
    };
    SiteServer::start(Router::new().route("/token", post(exchange)))
}

#[tokio::test(flavor = "multi_thread")]
async fn both_exchanges_of_managed_authorization_lead_to_a_tool() {
    const ISSUER: &str = "https://login.example";
    let (site, dir) = (Site::start(), TempDir::new());
    let key = Arc::new(SigningKey::new("key-1", jsonwebtoken::Algorithm::ES256));
    let keys = serve_body(key_set(&[&*key]));
    let provider = identity_provider(ISSUER, key);
    let address = PublicAddress::bind().await;
    let base = address.base.clone();
    let mut config = ServerConfig::at(dir.path())
        .set("egress_allow", "identity=127.0.0.0/8;scrape=127.0.0.0/8")
        .set("public_url", &base);
    config.toml = format!(
        "[[trust]]\nissuer = \"{ISSUER}\"\njwks_url = \"{keys}\"\n[[trust.clients]]\nid = \"test-agent\"\nsecret = \"s3cret\""
    );
    let server = config.start().await;
    address.lead_to(&server);
    let http = default_oauth_http_client().expect("a client");
    let resource = format!("{base}/mcp");
    // rmcp does not export the types of its secrets, so they are made from JSON.
    let signed_in = serde_json::from_value(json!("signed-in")).expect("a refresh token");
    let exchange = |secret: &str| {
        let provider = EmaAuthorizationServer::new(ISSUER, provider.url("/token"), "desktop");
        let ours = EmaAuthorizationServer::new(&*base, format!("{base}/oauth2/token"), "test-agent");
        let secret = serde_json::from_value(json!(secret)).expect("a secret");
        let secret = EmaClientAuthentication::ClientSecretBasic(secret);
        let ours = ours.with_client_authentication(secret);
        EmaExchangeRequest::new(provider, ours, &resource, &signed_in).with_scopes(["scrape", "search"])
    };
    let token = exchange("s3cret").exchange(&http, &http).await.expect("a token");
    let granted: BTreeSet<&str> = token.scopes.iter().map(String::as_str).collect();
    assert_eq!(granted, BTreeSet::from(["scrape", "search"]));
    let mut tools = Tools::over_http(&base, token.access_token.secret()).await;
    let scraped = tools.call("firecrawl_scrape", json!({ "url": site.url("/article") })).await;
    assert!(scraped["markdown"].as_str().unwrap().contains("firstword"), "{scraped}");
    let refused = tools.answer("firecrawl_map", json!({ "url": site.base })).await;
    assert_eq!(refused.is_error, Some(true), "not among its scopes: {refused:?}");
    let refused = exchange("wrong").exchange(&http, &http).await.expect_err("a wrong secret");
    let stage = EmaExchangeStage::ResourceAuthorizationServer;
    assert_eq!(refused, EmaError::OAuthRejected { stage, status: 401, code: "invalid_client" });
}
