//! Registration of agents without a key: from a bare 401 to a scrape, tokens, revocation, limits, and several
//! processes that share a database.

use crate::http::{Http, HttpResponse};
use crate::server::{PublicAddress, Server, ServerConfig};
use crate::site::Site;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::TempDir;
use testkit::identity_provider::{
    ASSERTION_TYPE, SigningKey, assertion_claims, key_set, serve_body, unix_seconds,
};

const ISSUER: &str = "https://login.example";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// Servers that trust one identity provider.
struct Fixture {
    key: SigningKey,
    config: ServerConfig,
    server: Server,
    /// The address that agents see: of a proxy, known before the server starts.
    base: String,
    _dir: TempDir,
}

impl Fixture {
    async fn open(more_trust: &str, change: impl FnOnce(ServerConfig) -> ServerConfig) -> Self {
        let key = SigningKey::new("key-1", jsonwebtoken::Algorithm::ES256);
        let keys = serve_body(key_set(&[&key]));
        let dir = TempDir::new();
        let address = PublicAddress::bind().await;
        let base = address.base.clone();
        let mut config = change(
            ServerConfig::at(dir.path())
                .set("egress_allow", "identity=127.0.0.0/8;scrape=127.0.0.0/8")
                .set("public_url", &base),
        );
        config.toml = format!("[[trust]]\nissuer = \"{ISSUER}\"\njwks_url = \"{keys}\"\n{more_trust}\n");
        let server = config.start().await;
        address.lead_to(&server);
        Self { key, config, server, base, _dir: dir }
    }

    /// Without a key.
    fn http(&self) -> Http {
        Http::new(&self.base, None)
    }

    fn claims(&self) -> Value {
        assertion_claims(ISSUER, &self.base)
    }

    fn sign(&self, claims: &Value) -> String {
        self.key.sign(ASSERTION_TYPE, claims)
    }
}

async fn register(http: &Http, assertion: &str) -> HttpResponse {
    let body = json!({
        "type": "identity_assertion", "assertion_type": ID_JAG, "assertion": assertion,
        "requested_credential_type": "api_key",
    });
    http.post("/agent/auth", &body).await.unwrap()
}

/// A request with the fields of a form.
fn with_form(request: reqwest::RequestBuilder, fields: &[(&str, &str)]) -> reqwest::RequestBuilder {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    request.header("content-type", "application/x-www-form-urlencoded").body(body)
}

async fn post_form(http: &Http, path: &str, fields: &[(&str, &str)]) -> HttpResponse {
    http.send(with_form(http.request(reqwest::Method::POST, path), fields)).await.unwrap()
}

async fn exchange(http: &Http, fields: &[(&str, &str)]) -> HttpResponse {
    post_form(http, "/oauth2/token", fields).await
}

#[track_caller]
fn expect_refused(response: &HttpResponse, status: u16, code: &str) {
    assert_eq!((response.status, response.json["error"].as_str()), (status, Some(code)), "{}", response.text);
    assert!(!response.json["error_description"].as_str().unwrap_or_default().is_empty(), "{}", response.text);
    assert_eq!(response.header("cache-control"), "no-store");
}

async fn works(http: &Http, key: &str) -> bool {
    http.with_key(Some(key)).get("/v2/team/credit-usage").await.unwrap().status == 200
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_finds_its_way_from_a_bare_401_to_a_scrape() {
    let site = Site::start();
    let fixture = Fixture::open("", |config| config).await;
    let http = fixture.http();
    // Each step takes its address from the one before.
    let refused = http.post("/v2/scrape", &json!({ "url": site.url("/article") })).await.unwrap();
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").to_owned();
    let metadata = challenge.split('"').nth(1).expect("an address in the challenge");
    let path = |url: &str| url.strip_prefix(&http.base).expect("an address of this server").to_owned();
    let resource = http.get(&path(metadata)).await.unwrap().json;
    let server = resource["authorization_servers"][0].as_str().unwrap();
    let described =
        http.get(&format!("{}/.well-known/oauth-authorization-server", path(server))).await.unwrap();
    let described = described.json;
    assert_eq!(described["issuer"], server);
    let profiles = &described["authorization_grant_profiles_supported"];
    assert_eq!(profiles[0], "urn:ietf:params:oauth:grant-profile:id-jag");
    let agent_auth = &described["agent_auth"];
    assert_eq!(agent_auth["identity_types_supported"], json!(["identity_assertion"]));
    let steps = http.get(&path(agent_auth["skill"].as_str().unwrap())).await.unwrap();
    assert!(steps.header("content-type").starts_with("text/markdown"));
    let register_uri = agent_auth["register_uri"].as_str().unwrap();
    assert!(steps.text.contains(&format!("POST {register_uri}")), "{}", steps.text);
    assert!(
        !steps.text.contains("{base}") && !steps.text.contains("Without any assertion"),
        "{}",
        steps.text
    );
    let assertion = fixture.sign(&assertion_claims(ISSUER, resource["resource"].as_str().unwrap()));
    let body = json!({
        "type": "identity_assertion", "assertion_type": ID_JAG, "assertion": assertion,
        "requested_credential_type": "api_key",
    });
    let registered = http.post(&path(register_uri), &body).await.unwrap();
    assert_eq!(registered.status, 200, "{}", registered.text);
    let key = registered.json["api_key"].as_str().unwrap();
    assert_eq!(registered.json["credential"], key);
    assert_eq!(registered.json["registration_type"], "agent-provider");
    assert_eq!(registered.json["credential_expires"], Value::Null);
    let scraped = http.with_key(Some(key)).post("/v2/scrape", &json!({ "url": site.url("/article") })).await;
    scraped.unwrap().expect_success();
    let again = register(&http, &fixture.sign(&fixture.claims())).await;
    assert_eq!(again.json["user_id"], registered.json["user_id"], "the same user, with one more key");
    assert_ne!(again.json["api_key"], registered.json["api_key"]);
    let admin = http.with_key(Some(key)).get("/admin/keys").await.unwrap();
    assert_eq!(admin.status, 403, "administration is for the operator");
    assert!(!fixture.server.log().contains(key), "the key is in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_requests_are_refused_with_their_codes() {
    let fixture =
        Fixture::open("clients = [\"test-agent\"]\nrequire_verified_email = true", |config| config).await;
    let http = fixture.http();
    let mut other_client = fixture.claims();
    other_client["client_id"] = json!("other");
    let mut no_mail = fixture.claims();
    no_mail["email_verified"] = json!(false);
    let mut elsewhere = fixture.claims();
    elsewhere["aud"] = json!("https://elsewhere.example");
    let mut stranger = fixture.claims();
    stranger["iss"] = json!("https://stranger.example");
    let forged = SigningKey::new("key-1", jsonwebtoken::Algorithm::ES256);
    for (assertion, code) in [
        (fixture.sign(&other_client), "invalid_client_id"),
        (fixture.sign(&no_mail), "missing_verified_email"),
        (fixture.sign(&elsewhere), "audience_mismatch"),
        (fixture.sign(&stranger), "issuer_not_enabled"),
        (forged.sign(ASSERTION_TYPE, &fixture.claims()), "invalid_signature"),
        ("x".to_owned(), "invalid_assertion"),
    ] {
        expect_refused(&register(&http, &assertion).await, 401, code);
    }
    for (body, code) in [
        (json!({ "type": "identity_assertion" }), "invalid_request"),
        (json!({ "type": "identity_assertion", "assertion_type": ID_JAG }), "invalid_request"),
        (json!({ "type": "other" }), "invalid_request"),
        (json!([]), "invalid_request"),
        (json!({ "type": "anonymous" }), "invalid_request"),
        (
            json!({ "type": "anonymous", "requested_credential_type": "access_token" }),
            "unsupported_credential_type",
        ),
    ] {
        expect_refused(&http.post("/agent/auth", &body).await.unwrap(), 400, code);
    }
    let huge = json!({ "type": "identity_assertion", "assertion": "x".repeat(100_000) });
    expect_refused(&http.post("/agent/auth", &huge).await.unwrap(), 400, "invalid_request");
    let used = fixture.sign(&fixture.claims());
    assert_eq!(register(&http, &used).await.status, 200);
    expect_refused(&register(&http, &used).await, 401, "replay_detected");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_oauth_get_a_token_with_the_scopes_that_all_allow() {
    let trust = "scopes = [\"scrape\", \"search\", \"map\"]\n[[trust.clients]]\nid = \"test-agent\"\nsecret = \"s:ecret\"";
    let fixture = Fixture::open(trust, |config| config).await;
    let http = fixture.http();
    let mut claims = fixture.claims();
    claims["scope"] = json!("scrape map agent");
    let assertion = fixture.sign(&claims);
    let grant = [("grant_type", JWT_BEARER), ("assertion", assertion.as_str())];
    let with = |more: &[(&'static str, &'static str)]| [&grant[..], more].concat();
    expect_refused(&exchange(&http, &grant[1..]).await, 400, "unsupported_grant_type");
    expect_refused(&exchange(&http, &with(&[("client_id", "test-agent")])).await, 401, "invalid_client");
    let wrong = with(&[("client_id", "test-agent"), ("client_secret", "wrong")]);
    expect_refused(&exchange(&http, &wrong).await, 401, "invalid_client");
    expect_refused(&exchange(&http, &with(&[("client_id", "x")])).await, 400, "invalid_grant");
    expect_refused(
        &exchange(&http, &with(&[("resource", "https://elsewhere.example")])).await,
        400,
        "invalid_target",
    );
    let right = with(&[("client_id", "test-agent"), ("client_secret", "s:ecret"), ("scope", "scrape agent")]);
    let token = exchange(&http, &right).await;
    assert_eq!(token.status, 200, "{}", token.text);
    assert_eq!((&token.json["token_type"], &token.json["expires_in"]), (&json!("Bearer"), &json!(3600)));
    assert_eq!(token.json["scope"], "scrape", "asked, asserted and allowed");
    assert!(works(&http, token.json["access_token"].as_str().unwrap()).await);
    expect_refused(&exchange(&http, &right).await, 400, "invalid_grant");
    // The same client, authenticated by the header.
    let assertion = fixture.sign(&fixture.claims());
    let basic =
        http.request(reqwest::Method::POST, "/oauth2/token").basic_auth("test-agent", Some("s%3Aecret"));
    let basic = with_form(basic, &[("grant_type", JWT_BEARER), ("assertion", assertion.as_str())]);
    let token = http.send(basic).await.unwrap();
    assert_eq!(token.status, 200, "{}", token.text);
    assert_eq!(token.json["scope"], "scrape search map");
    let no_scope = fixture.sign(&fixture.claims());
    let asked = [
        ("grant_type", JWT_BEARER),
        ("assertion", no_scope.as_str()),
        ("client_id", "test-agent"),
        ("client_secret", "s:ecret"),
        ("scope", "admin"),
    ];
    expect_refused(&exchange(&http, &asked).await, 400, "invalid_scope");
}

/// Whoever presents an assertion writes the header `Host`.
#[tokio::test(flavor = "multi_thread")]
async fn an_assertion_for_another_server_is_refused_whatever_the_host() {
    let fixture = Fixture::open("", |config| config).await;
    let http = fixture.http();
    let mut claims = fixture.claims();
    claims["aud"] = json!("http://crm.other.example");
    let body =
        json!({ "type": "identity_assertion", "assertion_type": ID_JAG, "assertion": fixture.sign(&claims) });
    let request = http.request(reqwest::Method::POST, "/agent/auth").header("host", "crm.other.example");
    expect_refused(&http.send(request.json(&body)).await.unwrap(), 401, "audience_mismatch");
    // Without an address of its own a server could only believe that header.
    let dir = TempDir::new();
    let toml = format!("[[trust]]\nissuer = \"{ISSUER}\"\njwks_url = \"https://login.example/jwks\"\n");
    let config = ServerConfig { toml, ..ServerConfig::at(dir.path()) };
    let (code, _, error) = crate::server::run(config.command(&["serve", "--listen", "127.0.0.1:0"]));
    assert!(code != Some(0) && error.contains("`[[trust]]` needs public_url"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_a_secret_shows_it_at_every_door() {
    let trust = "[[trust.clients]]\nid = \"test-agent\"\nsecret = \"s:ecret\"";
    let fixture = Fixture::open(trust, |config| config).await;
    let http = fixture.http();
    let body = |secret: Option<&str>| {
        let mut body = json!({
            "type": "identity_assertion", "assertion_type": ID_JAG, "assertion": fixture.sign(&fixture.claims()),
        });
        if let Some(secret) = secret {
            (body["client_id"], body["client_secret"]) = (json!("test-agent"), json!(secret));
        }
        body
    };
    for secret in [None, Some("wrong"), Some("")] {
        expect_refused(&http.post("/agent/auth", &body(secret)).await.unwrap(), 401, "invalid_client");
    }
    let registered = http.post("/agent/auth", &body(Some("s:ecret"))).await.unwrap();
    assert_eq!(registered.status, 200, "{}", registered.text);
    assert!(registered.json["credential_expires"].is_string(), "it ends: {}", registered.text);
    let request = http.request(reqwest::Method::POST, "/agent/auth").json(&body(None));
    let by_header = http.send(request.basic_auth("test-agent", Some("s%3Aecret"))).await.unwrap();
    assert_eq!(by_header.status, 200, "{}", by_header.text);
    assert!(works(&http, by_header.json["api_key"].as_str().unwrap()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_keys_stop_soon_on_every_process_and_assertions_are_used_once() {
    let database = testkit::shared_database();
    let fixture = Fixture::open("", |config| config.set("database_url", &database)).await;
    let second_dir = TempDir::new();
    let second_config = ServerConfig { dir: second_dir.path().to_owned(), ..fixture.config.clone() };
    let second = second_config.start().await;
    let (one, other) = (fixture.http(), second.http.with_key(None));
    // Both are one service under one address.
    let at_other = async |assertion: &str| register(&other, assertion).await;
    let assertion = fixture.sign(&fixture.claims());
    let registered = register(&one, &assertion).await;
    assert_eq!(registered.status, 200, "{}", registered.text);
    expect_refused(&at_other(&assertion).await, 401, "replay_detected");
    let key = registered.json["api_key"].as_str().unwrap();
    let third = at_other(&fixture.sign(&fixture.claims())).await;
    let third = third.json["api_key"].as_str().unwrap();
    assert!(works(&one, key).await && works(&other, key).await && works(&one, third).await);

    let revoked = post_form(&one, "/oauth2/revoke", &[("token", key)]).await;
    let since = Instant::now();
    assert_eq!(revoked.status, 200, "{}", revoked.text);
    assert!(!works(&one, key).await, "at once where it was revoked");
    while works(&other, key).await {
        // A second is enough on a quiet machine; a key that nobody revokes works for ever.
        assert!(since.elapsed() < Duration::from_secs(10), "it still works after {:?}", since.elapsed());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let unknown = post_form(&one, "/oauth2/revoke", &[("token", "gn-unknown")]).await;
    assert_eq!(unknown.status, 200);

    let now = unix_seconds();
    let logout = fixture.key.sign(
        "logout+jwt",
        &json!({
            "iss": ISSUER, "aud": one.base, "sub": "user-1", "iat": now, "exp": now + 60,
            "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
        }),
    );
    let ended = one.post("/agent/auth/revoke", &json!({ "logout_token": logout })).await.unwrap();
    assert_eq!(ended.status, 200, "{}", ended.text);
    assert!(!works(&one, third).await, "every key of the user");
    let forged = SigningKey::new("key-1", jsonwebtoken::Algorithm::ES256)
        .sign("logout+jwt", &json!({ "iss": ISSUER }));
    let refused = one.post("/agent/auth/revoke", &json!({ "logout_token": forged })).await.unwrap();
    expect_refused(&refused, 401, "invalid_signature");
}

#[tokio::test(flavor = "multi_thread")]
async fn registrations_of_an_address_are_limited_exactly() {
    let fixture = Fixture::open("", |config| config.set("anonymous_registration", "free")).await;
    let http = fixture.http();
    let asked = (0..70).map(|_| {
        let (http, assertion) = (http.clone(), fixture.sign(&fixture.claims()));
        tokio::spawn(async move { register(&http, &assertion).await })
    });
    let (mut accepted, mut limited) = (0, 0);
    for response in asked.collect::<Vec<_>>() {
        let response = response.await.unwrap();
        if response.status == 200 {
            accepted += 1;
        } else {
            expect_refused(&response, 429, "rate_limited");
            let wait: u64 = response.header("retry-after").parse().unwrap();
            assert!((3000..=3600).contains(&wait), "{wait}");
            limited += 1;
        }
    }
    assert_eq!((accepted, limited), (60, 10));
    // Whoever sends what does not verify is told to wait, and holds nobody up, not even behind the same address.
    let grant = ("grant_type", JWT_BEARER);
    for number in 0..61 {
        let refused = exchange(&http, &[grant, ("assertion", "x")]).await;
        assert_eq!(refused.status, if number < 60 { 400 } else { 429 }, "{number}: {}", refused.text);
    }
    let granted = exchange(&http, &[grant, ("assertion", &fixture.sign(&fixture.claims()))]).await;
    assert_eq!(granted.status, 200, "{}", granted.text);
    let keys: Vec<Value> = {
        let mut keys = Vec::new();
        for _ in 0..6 {
            keys.push(http.post("/agent/auth", &json!({ "type": "anonymous" })).await.unwrap().json);
        }
        keys
    };
    assert!(keys[..5].iter().all(|key| key["registration_type"] == "anonymous"), "{keys:?}");
    assert_eq!(keys[5]["error"], "rate_limited");
    let usage = http.with_key(keys[0]["api_key"].as_str()).get("/v2/team/credit-usage").await.unwrap();
    assert!(
        usage.expect_success()["data"]["planCredits"].as_u64().unwrap() < 1_000_000,
        "the plan of the setting"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_trust_there_is_no_registration() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).set("oauth", "off").start().await;
    let http = server.http.with_key(None);
    let resource = http.get("/.well-known/oauth-protected-resource").await.unwrap().json;
    assert_eq!(resource["authorization_servers"], json!([]));
    let metadata = http.get("/.well-known/oauth-authorization-server").await.unwrap();
    assert_eq!(metadata.status, 404, "{}", metadata.text);
    let key = SigningKey::new("k", jsonwebtoken::Algorithm::EdDSA);
    let assertion = key.sign(ASSERTION_TYPE, &assertion_claims(ISSUER, &http.base));
    expect_refused(&register(&http, &assertion).await, 401, "issuer_not_enabled");
    let wrong =
        ServerConfig { toml: "[[trust]]\nissuer = \"x\"\n".to_owned(), ..ServerConfig::at(dir.path()) };
    let (code, _, error) = crate::server::run(wrong.command(&["doctor"]));
    assert!(code != Some(0) && error.contains("jwks_url"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mcp_client_in_python_gets_from_no_key_to_a_result() {
    let site = Site::start();
    let trust = "[[trust.clients]]\nid = \"test-agent\"\nsecret = \"s3cret & more\"";
    let fixture = Fixture::open(trust, |config| config).await;
    let base = fixture.base.clone();
    let assertions = [(); 2].map(|()| {
        let mut claims = fixture.claims();
        claims["resource"] = json!(format!("{base}/mcp"));
        fixture.sign(&claims)
    });
    let mut command = crate::clients::python("mcp_registration.py");
    command.env("API_URL", &base).env("SITE_URL", &site.base);
    command.env("ASSERTIONS", assertions.join(" ")).env("CLIENT_SECRET", "s3cret & more");
    tokio::task::spawn_blocking(move || crate::clients::run(&mut command)).await.unwrap();
}
