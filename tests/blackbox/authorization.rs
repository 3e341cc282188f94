//! Applications that a person allows: from a 401 to the result of a tool with a real client, the view in a real
//! Chromium, and everything that must be refused, over several processes too.

mod doors;
mod tokens;

use crate::clients::{node, python, run};
use crate::http::{Http, HttpResponse};
use crate::server::{KEY, ServerConfig, gannet, start_own};
use crate::site::Site;
use crate::site::tls::TlsListener;
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::redirect::Policy;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use testkit::TempDir;

const VERIFIER: &str = "a-verifier-that-is-long-enough-for-the-standard-0123456789";
const CALLBACK: &str = "http://127.0.0.1/callback";

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(access::keys::hash(VERIFIER))
}

fn encode(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

async fn post_form(http: &Http, path: &str, fields: &[(&str, &str)]) -> HttpResponse {
    let request = http.with_key(None).request(Method::POST, path);
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(encode(fields));
    http.send(request).await.unwrap()
}

async fn register(http: &Http, metadata: &Value) -> HttpResponse {
    http.with_key(None).post("/oauth2/register", metadata).await.unwrap()
}

#[track_caller]
fn expect_refused(response: &HttpResponse, status: u16, code: &str) {
    assert_eq!((response.status, response.json["error"].as_str()), (status, Some(code)), "{}", response.text);
    assert!(!response.json["error_description"].as_str().unwrap_or_default().is_empty(), "{}", response.text);
    assert_eq!(response.header("cache-control"), "no-store");
}

/// A client that has registered with one server.
struct App {
    id: String,
    http: Http,
}

impl App {
    async fn register(http: &Http) -> Self {
        let metadata = json!({ "redirect_uris": [CALLBACK], "client_name": "Test app" });
        let registered = register(http, &metadata).await;
        assert_eq!(registered.status, 201, "{}", registered.text);
        assert_eq!(registered.json["token_endpoint_auth_method"], "none");
        Self { id: registered.json["client_id"].as_str().unwrap().to_owned(), http: http.clone() }
    }

    /// A request in which nothing is wrong.
    fn request(&self) -> Value {
        json!({
            "response_type": "code", "client_id": self.id, "redirect_uri": "http://127.0.0.1:4711/callback",
            "state": "st&te", "code_challenge": challenge(), "code_challenge_method": "S256",
            "scope": "scrape search admin offline_access", "resource": format!("{}/mcp", self.http.base),
        })
    }

    /// Asks as a person's browser; the status and where it is sent.
    async fn open(&self, request: &Value) -> (u16, String, HttpResponse) {
        let fields: Vec<(&str, &str)> = request
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
            .collect();
        let client = Client::builder().redirect(Policy::none()).no_proxy().build().unwrap();
        let asked = client.get(format!("{}/oauth2/authorize?{}", self.http.base, encode(&fields)));
        let response = self.http.send(asked).await.unwrap();
        (response.status, response.header("location").to_owned(), response)
    }

    /// The person, who is signed in with this key, allows it; the parameters that the client gets.
    async fn allow(&self, key: &str) -> Vec<(String, String)> {
        let body = json!({ "request": self.request(), "allow": true });
        let decided = self.http.with_key(Some(key)).post("/admin/authorization", &body).await.unwrap();
        let to = decided.expect_success()["data"]["redirectTo"].as_str().unwrap().to_owned();
        parameters(&to)
    }

    async fn code(&self) -> String {
        value(&self.allow(KEY).await, "code")
    }

    async fn trade(&self, http: &Http, code: &str, changed: &[(&str, &str)]) -> HttpResponse {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("client_id", self.id.as_str()),
            ("code", code),
            ("redirect_uri", "http://127.0.0.1:4711/callback"),
            ("code_verifier", VERIFIER),
        ];
        for (name, value) in changed {
            fields.retain(|(known, _)| known != name);
            fields.push((name, value));
        }
        post_form(http, "/oauth2/token", &fields).await
    }

    async fn refresh(&self, token: &str) -> HttpResponse {
        let fields = [("grant_type", "refresh_token"), ("client_id", &self.id), ("refresh_token", token)];
        post_form(&self.http, "/oauth2/token", &fields).await
    }
}

fn parameters(url: &str) -> Vec<(String, String)> {
    url::Url::parse(url).expect("an address").query_pairs().into_owned().collect()
}

fn value(parameters: &[(String, String)], name: &str) -> String {
    parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
}

fn text(response: &HttpResponse, name: &str) -> String {
    response.json[name].as_str().unwrap_or_else(|| panic!("{}", response.text)).to_owned()
}

async fn works(http: &Http, token: &str) -> bool {
    http.with_key(Some(token)).get("/v2/team/credit-usage").await.unwrap().status == 200
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mcp_client_in_python_gets_from_a_401_to_a_result() {
    let (site, dir) = (Site::start(), TempDir::new());
    let server = ServerConfig::at(dir.path()).set("egress_allow", "scrape=127.0.0.0/8").start().await;
    let mut command = python("mcp_oauth.py");
    command.env("API_URL", &server.http.base).env("SITE_URL", &site.base);
    tokio::task::spawn_blocking(move || run(&mut command)).await.unwrap();
}

#[tokio::test]
async fn a_person_allows_and_denies_in_chromium_and_names_stay_text() {
    let dir = TempDir::new();
    let mut command = node("dashboard/consent.mjs");
    command.env("GANNET_BINARY", gannet().get_program()).env("DATA_DIR", dir.path());
    tokio::task::spawn_blocking(move || run(&mut command)).await.unwrap();
}

#[tokio::test]
async fn a_wrong_request_is_refused_before_a_person_is_asked() {
    let (_dir, server) = start_own().await;
    let app = App::register(&server.http).await;
    let (status, view, _) = app.open(&app.request()).await;
    assert_eq!(status, 303);
    assert!(view.starts_with("/#/authorize?response_type=code&client_id="), "{view}");
    let with = |name: &str, value: Option<&str>| {
        let mut request = app.request();
        match value {
            Some(value) => request[name] = json!(value),
            None => drop(request.as_object_mut().unwrap().remove(name)),
        }
        request
    };
    // The application on this machine is told.
    for (name, value, code) in [
        ("response_type", Some("token"), "unsupported_response_type"),
        ("response_type", None, "unsupported_response_type"),
        ("state", None, "invalid_request"),
        ("code_challenge", None, "invalid_request"),
        ("code_challenge", Some("short"), "invalid_request"),
        ("code_challenge_method", Some("plain"), "invalid_request"),
        ("code_challenge_method", None, "invalid_request"),
        ("resource", Some("https://elsewhere.example/mcp"), "invalid_target"),
    ] {
        let (status, to, _) = app.open(&with(name, value)).await;
        assert!(status == 303 && to.starts_with("http://127.0.0.1:4711/callback?"), "{name}: {status} {to}");
        let answer = parameters(&to);
        assert_eq!(self::value(&answer, "error"), code, "{name} {value:?}");
        assert_eq!(self::value(&answer, "iss"), server.http.base);
        let state = if name == "state" { "" } else { "st&te" };
        assert_eq!(self::value(&answer, "state"), state);
    }
    // Nobody is led to an address that is not the client's.
    for (name, value, status, code) in [
        ("client_id", Some("00000000-0000-4000-8000-000000000000"), 401, "invalid_client"),
        ("client_id", Some("x"), 401, "invalid_client"),
        ("client_id", None, 400, "invalid_request"),
        ("redirect_uri", None, 400, "invalid_request"),
        ("redirect_uri", Some("http://127.0.0.1:4711/other"), 400, "invalid_request"),
        ("redirect_uri", Some("http://localhost:4711/callback"), 400, "invalid_request"),
        ("redirect_uri", Some("https://evil.example/callback"), 400, "invalid_request"),
    ] {
        let (found, to, response) = app.open(&with(name, value)).await;
        assert_eq!((found, to.as_str()), (status, ""), "{name} {value:?}");
        expect_refused(&response, status, code);
    }
    let twice = format!("{}/oauth2/authorize?client_id=a&client_id=b", server.http.base);
    let twice = server.http.send(Client::new().get(twice)).await.unwrap();
    expect_refused(&twice, 400, "invalid_request");
    // A client on another machine is not a place that a wrong request leads to.
    let remote = register(&server.http, &json!({ "redirect_uris": ["https://app.example/cb"] })).await;
    let remote = App { id: text(&remote, "client_id"), http: server.http.clone() };
    let mut request = remote.request();
    request["redirect_uri"] = json!("https://app.example/cb");
    request["code_challenge_method"] = json!("plain");
    let (status, to, response) = remote.open(&request).await;
    assert_eq!((status, to.as_str()), (400, ""));
    expect_refused(&response, 400, "invalid_request");
}

#[tokio::test]
async fn clients_register_within_bounds() {
    let (_dir, server) = start_own().await;
    for (metadata, code) in [
        (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["http://app.example/cb"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": vec![CALLBACK; 11] }), "invalid_redirect_uri"),
        (json!({ "client_name": "x" }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": "x" }), "invalid_client_metadata"),
        (json!([]), "invalid_client_metadata"),
    ] {
        expect_refused(&register(&server.http, &metadata).await, 400, code);
    }
    let huge = json!({ "redirect_uris": [CALLBACK], "client_name": "x".repeat(100_000) });
    expect_refused(&register(&server.http, &huge).await, 400, "invalid_request");
    let more =
        json!({ "redirect_uris": [CALLBACK], "client_name": "x", "logo_uri": "https://a.example/x.png" });
    // Five of the wrong ones counted too: those that could be read.
    for _ in 0..55 {
        assert_eq!(register(&server.http, &more).await.status, 201);
    }
    let limited = register(&server.http, &more).await;
    expect_refused(&limited, 429, "rate_limited");
    assert!((3000..=3600).contains(&limited.header("retry-after").parse::<u64>().unwrap()));
}

#[tokio::test]
async fn an_application_can_be_described_by_a_document_at_its_address() {
    let dir = TempDir::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let (listener, certificate) = TlsListener::with_certificate(listener);
    std::fs::write(dir.join("ca.pem"), certificate).unwrap();
    let document = |id: String, uri: &str| {
        let document = json!({ "client_id": id, "client_name": "Described", "redirect_uris": [uri] });
        get(move || std::future::ready(Json(document.clone())))
    };
    let pages = Router::new()
        .route("/app.json", document(format!("{base}/app.json"), CALLBACK))
        .route("/other.json", document(format!("{base}/app.json"), CALLBACK))
        .route("/wrong.json", document(format!("{base}/wrong.json"), "javascript:alert(1)"));
    tokio::spawn(async { axum::serve(listener, pages).await });
    let config = ServerConfig::at(dir.path()).set("extra_certificates", dir.join("ca.pem").to_str().unwrap());
    let server = config.clone().set("egress_allow", "identity=127.0.0.0/8").start().await;
    let app = |path: &str| App { id: format!("{base}{path}"), http: server.http.clone() };
    let described = app("/app.json");
    assert_eq!(described.open(&described.request()).await.0, 303);
    let query: Vec<_> = described.request().as_object().unwrap().clone().into_iter().collect();
    let query: Vec<_> = query.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
    let view = server.http.get(&format!("/admin/authorization?{}", encode(&query))).await.unwrap();
    assert_eq!(view.expect_success()["data"]["clientName"], "Described");
    assert_eq!(view.json["data"]["clientHost"], "127.0.0.1");
    let traded = described.trade(&server.http, &described.code().await, &[]).await;
    assert!(works(&server.http, &text(&traded, "access_token")).await);
    for (path, code) in [
        ("/other.json", "invalid_client"),
        ("/gone.json", "invalid_client"),
        ("/wrong.json", "invalid_redirect_uri"),
    ] {
        let (_, to, response) = app(path).open(&app(path).request()).await;
        assert_eq!((to.as_str(), response.json["error"].as_str()), ("", Some(code)), "{path}");
    }
    drop(server);
    let guarded = config.start().await;
    let app = App { id: format!("{base}/app.json"), http: guarded.http.clone() };
    expect_refused(&app.open(&app.request()).await.2, 401, "invalid_client");
}

#[tokio::test]
async fn a_setting_turns_it_off() {
    for setting in ["oauth", "dashboard"] {
        let dir = TempDir::new();
        let server = ServerConfig::at(dir.path()).set(setting, "off").start().await;
        let app = App { id: "x".to_owned(), http: server.http.clone() };
        assert_eq!(register(&server.http, &json!({ "redirect_uris": [CALLBACK] })).await.status, 404);
        expect_refused(&app.open(&app.request()).await.2, 400, "unsupported_response_type");
        let decision = json!({ "request": app.request(), "allow": true });
        assert_eq!(server.http.post("/admin/authorization", &decision).await.unwrap().status, 404);
        expect_refused(&app.trade(&server.http, "x", &[]).await, 400, "unsupported_grant_type");
        let metadata = server.http.get("/.well-known/oauth-authorization-server").await.unwrap();
        assert_eq!(metadata.status, 404, "{}", metadata.text);
    }
}
