//! Assertions of a test provider: right ones are accepted, and every wrong one is refused with its code.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use identity::{Expected, Refusal, TrustedIssuer, Verifier};
use jsonwebtoken::{Algorithm, Header};
use net::{EgressAllow, EgressPolicy, Fetcher, FetcherSettings, Purpose};
use serde_json::{Value, json};
use testkit::identity_provider::{
    ASSERTION_TYPE, SigningKey, assertion_claims, key_set, serve_body, serve_nothing, unix_seconds,
};

const ISSUER: &str = "https://login.example";
const SERVER: &str = "https://gannet.example";

fn expected() -> Expected<'static> {
    Expected { resource: SERVER, issuer: SERVER }
}

fn fetcher() -> Fetcher {
    let allow = EgressAllow::parse("identity=127.0.0.0/8").unwrap();
    Fetcher::new(FetcherSettings::new(EgressPolicy::new(allow))).unwrap()
}

fn trusted(more: &Value) -> TrustedIssuer {
    let mut entry = json!({ "issuer": ISSUER });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let issuer: TrustedIssuer = serde_json::from_value(entry).unwrap();
    issuer.validate().unwrap();
    issuer
}

fn verifier(more: &Value) -> Verifier {
    Verifier::new(vec![trusted(more)], fetcher())
}

/// A provider with one key of each kind, published at a URL.
struct Provider {
    keys: Vec<SigningKey>,
    url: String,
}

impl Provider {
    fn new() -> Self {
        let keys: Vec<_> = [Algorithm::ES256, Algorithm::RS256, Algorithm::EdDSA]
            .into_iter()
            .enumerate()
            .map(|(number, algorithm)| SigningKey::new(&format!("key-{number}"), algorithm))
            .collect();
        let url = serve_body(key_set(&keys.iter().collect::<Vec<_>>()));
        Self { keys, url }
    }

    fn verifier(&self) -> Verifier {
        verifier(&json!({ "jwks_url": self.url }))
    }

    fn sign(&self, claims: &Value) -> String {
        self.keys[0].sign(ASSERTION_TYPE, claims)
    }
}

fn right() -> Value {
    assertion_claims(ISSUER, SERVER)
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = right();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = right();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

async fn code(verifier: &Verifier, token: &str) -> &'static str {
    match verifier.verify(token, &expected(), unix_seconds()).await {
        Ok(_) => "accepted",
        Err(refusal) => refusal.code(),
    }
}

/// A token whose header and claims are given as they are, with any signature.
fn raw(header: &Value, claims: &Value, signature: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{}", part(header), part(claims), URL_SAFE_NO_PAD.encode(signature))
}

#[tokio::test]
async fn assertions_with_every_allowed_kind_of_key_are_accepted() {
    let provider = Provider::new();
    let verifier = provider.verifier();
    for key in &provider.keys {
        let identity =
            verifier.verify(&key.sign(ASSERTION_TYPE, &right()), &expected(), unix_seconds()).await.unwrap();
        assert_eq!((identity.subject.as_str(), identity.client_id.as_str()), ("user-1", "test-agent"));
        assert_eq!(identity.scopes, None);
    }
    let scoped = with("scope", json!("scrape search"));
    let identity = verifier.verify(&provider.sign(&scoped), &expected(), unix_seconds()).await.unwrap();
    assert_eq!(identity.scopes.unwrap(), ["scrape", "search"]);
    for audience in [json!(format!("{SERVER}/")), json!(["https://other.example", SERVER])] {
        assert_eq!(code(&verifier, &provider.sign(&with("aud", audience))).await, "accepted");
    }
    let resource = with("resource", json!(format!("{SERVER}/mcp")));
    assert_eq!(code(&verifier, &provider.sign(&resource)).await, "accepted");
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table")]
async fn forged_and_unfit_assertions_are_refused_with_their_code() {
    let provider = Provider::new();
    let verifier = provider.verifier();
    let now = unix_seconds();
    let stranger = SigningKey::new("key-0", Algorithm::ES256);
    let unpublished = SigningKey::new("key-9", Algorithm::ES256);
    let good = provider.sign(&right());
    let parts: Vec<&str> = good.split('.').collect();
    let header = |alg: &str| json!({ "alg": alg, "typ": ASSERTION_TYPE, "kid": "key-0" });
    let public = provider.keys[0].published().to_string();
    let by_secret = |alg: Algorithm| {
        let mut header = Header::new(alg);
        header.typ = Some(ASSERTION_TYPE.to_owned());
        header.kid = Some("key-0".to_owned());
        let key = jsonwebtoken::EncodingKey::from_secret(public.as_bytes());
        jsonwebtoken::encode(&header, &right(), &key).unwrap()
    };
    let changed = format!(
        "{}.{}.{}",
        parts[0],
        URL_SAFE_NO_PAD.encode(with("sub", json!("admin")).to_string()),
        parts[2]
    );
    let es256_as_rs256 = raw(&header("RS256"), &right(), &URL_SAFE_NO_PAD.decode(parts[2]).unwrap());
    let cases: Vec<(&str, String, &str)> = vec![
        ("alg none", raw(&header("none"), &right(), b""), "invalid_assertion"),
        ("alg None", raw(&header("None"), &right(), b"x"), "invalid_assertion"),
        ("HS256 with the public key", by_secret(Algorithm::HS256), "invalid_signature"),
        ("HS384 with the public key", by_secret(Algorithm::HS384), "invalid_signature"),
        ("HS512 with the public key", by_secret(Algorithm::HS512), "invalid_signature"),
        ("PS256", raw(&header("PS256"), &right(), b"x"), "invalid_signature"),
        ("another algorithm's key", es256_as_rs256, "invalid_signature"),
        ("no signature", format!("{}.{}.", parts[0], parts[1]), "invalid_signature"),
        ("two parts", format!("{}.{}", parts[0], parts[1]), "invalid_assertion"),
        ("four parts", format!("{good}.x"), "invalid_assertion"),
        ("not a token", "hello".to_owned(), "invalid_assertion"),
        ("empty", String::new(), "invalid_assertion"),
        ("changed claims", changed, "invalid_signature"),
        ("a stranger's key under a known id", stranger.sign(ASSERTION_TYPE, &right()), "invalid_signature"),
        ("a key that is not published", unpublished.sign(ASSERTION_TYPE, &right()), "invalid_signature"),
        ("typ JWT", provider.keys[0].sign("JWT", &right()), "invalid_assertion"),
        ("an access token", provider.keys[0].sign("at+jwt", &right()), "invalid_assertion"),
        ("a logout token", provider.keys[0].sign("logout+jwt", &right()), "invalid_assertion"),
        (
            "another audience",
            provider.sign(&with("aud", json!("https://other.example"))),
            "audience_mismatch",
        ),
        (
            "a similar audience",
            provider.sign(&with("aud", json!(format!("{SERVER}.evil.example")))),
            "audience_mismatch",
        ),
        ("no audience", provider.sign(&without("aud")), "audience_mismatch"),
        ("audience of a wrong type", provider.sign(&with("aud", json!(7))), "invalid_assertion"),
        (
            "another resource",
            provider.sign(&with("resource", json!("https://other.example/mcp"))),
            "audience_mismatch",
        ),
        (
            "a similar resource",
            provider.sign(&with("resource", json!(format!("{SERVER}.evil.example")))),
            "audience_mismatch",
        ),
        ("another issuer", provider.sign(&with("iss", json!("https://evil.example"))), "issuer_not_enabled"),
        ("a similar issuer", provider.sign(&with("iss", json!(format!("{ISSUER}/")))), "issuer_not_enabled"),
        ("no issuer", provider.sign(&without("iss")), "invalid_assertion"),
        ("no subject", provider.sign(&without("sub")), "invalid_assertion"),
        ("an empty subject", provider.sign(&with("sub", json!(""))), "invalid_assertion"),
        ("a huge subject", provider.sign(&with("sub", json!("x".repeat(5000)))), "invalid_assertion"),
        ("no client", provider.sign(&without("client_id")), "invalid_client_id"),
        ("no id", provider.sign(&without("jti")), "invalid_assertion"),
        ("no expiry", provider.sign(&without("exp")), "invalid_assertion"),
        ("expiry as text", provider.sign(&with("exp", json!("tomorrow"))), "invalid_assertion"),
        ("expiry beyond all time", provider.sign(&with("exp", json!(1e300))), "invalid_assertion"),
        ("a negative time", provider.sign(&with("iat", json!(-5))), "invalid_assertion"),
        ("no time of issue", provider.sign(&without("iat")), "invalid_assertion"),
        (
            "expired",
            provider.sign(&{
                let mut old = with("exp", json!(now - 200));
                old["iat"] = json!(now - 500);
                old
            }),
            "credential_expired",
        ),
        (
            "issued in the future",
            provider.sign(&{
                let mut early = with("iat", json!(now + 300));
                early["exp"] = json!(now + 500);
                early
            }),
            "invalid_assertion",
        ),
        ("not valid yet", provider.sign(&with("nbf", json!(now + 300))), "invalid_assertion"),
        ("valid for a day", provider.sign(&with("exp", json!(now + 86_400))), "invalid_assertion"),
        ("expires before it is issued", provider.sign(&with("exp", json!(now - 1))), "invalid_assertion"),
        ("too large", provider.sign(&with("sub", json!("x".repeat(20_000)))), "invalid_assertion"),
        ("10 MB", "x".repeat(10_000_000), "invalid_assertion"),
    ];
    assert!(cases.len() >= 40, "{}", cases.len());
    for (name, token, wanted) in &cases {
        assert_eq!(code(&verifier, token).await, *wanted, "{name}");
    }
    assert_eq!(code(&verifier, &good).await, "accepted", "and nothing of it harms a right one");
}

#[tokio::test]
async fn the_operators_entry_decides_on_clients_mail_and_audience() {
    let provider = Provider::new();
    let token = || provider.sign(&right());
    let with_entry = |mut more: Value| {
        more["jwks_url"] = json!(provider.url);
        verifier(&more)
    };
    assert_eq!(code(&with_entry(json!({ "clients": ["test-agent"] })), &token()).await, "accepted");
    assert_eq!(code(&with_entry(json!({ "clients": ["another"] })), &token()).await, "invalid_client_id");
    let mail = json!({ "require_verified_email": true });
    assert_eq!(code(&with_entry(mail.clone()), &token()).await, "accepted");
    for claims in [without("email"), with("email_verified", json!(false)), without("email_verified")] {
        assert_eq!(code(&with_entry(mail.clone()), &provider.sign(&claims)).await, "missing_verified_email");
    }
    let other = Expected { resource: SERVER, issuer: "https://auth.example" };
    let by_resource = with_entry(json!({ "audience": "resource" }));
    assert!(by_resource.verify(&token(), &other, unix_seconds()).await.is_ok());
    let by_issuer = with_entry(json!({ "audience": "issuer" }));
    let refused = by_issuer.verify(&token(), &other, unix_seconds()).await.unwrap_err();
    assert_eq!(refused, Refusal::AudienceMismatch);
    let confidential =
        trusted(&json!({ "jwks_file": "x", "clients": [{ "id": "a", "secret": "s3cret" }, "b"] }));
    assert!(confidential.authenticates("a", Some("s3cret")) && confidential.authenticates("b", None));
    for (id, secret) in [("a", None), ("a", Some("wrong")), ("a", Some("")), ("c", Some("s3cret"))] {
        assert!(!confidential.authenticates(id, secret), "{id} {secret:?}");
    }
}

#[tokio::test]
async fn keys_that_cannot_be_had_refuse_within_bounds() {
    let provider = Provider::new();
    let token = provider.sign(&right());
    let many = json!({ "keys": vec![provider.keys[0].published(); 10_000] }).to_string();
    let shared =
        json!({ "keys": [{ "kty": "oct", "k": "c2VjcmV0", "kid": "key-0", "alg": "HS256" }] }).to_string();
    for (name, body, wanted) in [
        ("10,000 keys", many, "server_error"),
        ("101 keys", json!({ "keys": vec![provider.keys[0].published(); 101] }).to_string(), "server_error"),
        ("not JSON", "<html>".to_owned(), "server_error"),
        ("no keys", json!({ "keys": [] }).to_string(), "invalid_signature"),
        ("a shared secret", shared, "invalid_signature"),
        (
            "other kinds of keys",
            json!({ "keys": [{ "kty": "new" }, 7, null] }).to_string(),
            "invalid_signature",
        ),
    ] {
        assert_eq!(code(&verifier(&json!({ "jwks_url": serve_body(body) })), &token).await, wanted, "{name}");
    }
    let began = std::time::Instant::now();
    let slow = verifier(&json!({ "jwks_url": serve_nothing() }));
    assert_eq!(code(&slow, &token).await, "server_error");
    assert!(began.elapsed() < std::time::Duration::from_secs(8), "{:?}", began.elapsed());
    assert_eq!(code(&slow, &token).await, "server_error", "and at once: it is not asked again so soon");
    assert!(began.elapsed() < std::time::Duration::from_secs(8), "{:?}", began.elapsed());
    let nobody_listens = verifier(&json!({ "jwks_url": "http://127.0.0.1:9/keys" }));
    assert_eq!(code(&nobody_listens, &token).await, "server_error");
    let missing = verifier(&json!({ "jwks_file": "/nonexistent/keys.json" }));
    assert_eq!(code(&missing, &token).await, "server_error");
}

#[tokio::test]
async fn a_private_address_of_keys_is_refused() {
    let provider = Provider::new();
    let guarded = Fetcher::new(FetcherSettings::new(EgressPolicy::new(EgressAllow::default()))).unwrap();
    let verifier = Verifier::new(vec![trusted(&json!({ "jwks_url": provider.url }))], guarded);
    assert_eq!(code(&verifier, &provider.sign(&right())).await, "server_error");
    assert_eq!(Purpose::from_name("identity"), Some(Purpose::Identity));
}

#[tokio::test]
async fn a_logout_token_names_the_user() {
    let provider = Provider::new();
    let verifier = provider.verifier();
    let now = unix_seconds();
    let event = json!({ "http://schemas.openid.net/event/backchannel-logout": {} });
    let claims = json!({ "iss": ISSUER, "aud": SERVER, "sub": "user-1", "iat": now, "exp": now + 60, "events": event });
    let logout = async |kind: &str, claims: &Value| {
        let token = provider.keys[0].sign(kind, claims);
        verifier.verify_logout(&token, &expected(), now).await.map_err(Refusal::code)
    };
    let named = logout("logout+jwt", &claims).await.unwrap();
    assert_eq!(named, (ISSUER.to_owned(), "user-1".to_owned()));
    let mut with_nonce = claims.clone();
    with_nonce["nonce"] = json!("x");
    let mut no_event = claims.clone();
    no_event["events"] = json!({});
    for wrong in [&with_nonce, &no_event] {
        assert_eq!(logout("logout+jwt", wrong).await.unwrap_err(), "invalid_assertion");
    }
    assert_eq!(logout(ASSERTION_TYPE, &claims).await.unwrap_err(), "invalid_assertion");
}

#[test]
fn entries_without_keys_are_refused() {
    for entry in [
        json!({ "issuer": ISSUER }),
        json!({ "issuer": ISSUER, "jwks_url": "https://a.example", "jwks_file": "b" }),
        json!({ "issuer": "", "jwks_file": "b" }),
        json!({ "issuer": ISSUER, "jwks_url": "file:///etc/keys" }),
    ] {
        let issuer: TrustedIssuer = serde_json::from_value(entry.clone()).unwrap();
        assert!(issuer.validate().is_err(), "{entry}");
    }
    assert!(serde_json::from_value::<TrustedIssuer>(json!({ "issuer": ISSUER, "jwks": "x" })).is_err());
}
