//! Every door that gives a right, as one table: which key stands behind it, for which team and with which scopes it acts,
//! and until when. All doors of a key close with the key, whichever way they were opened.

use super::{App, post_form, text, value};
use crate::http::{Http, HttpResponse};
use crate::server::ServerConfig;
use reqwest::Method;
use serde_json::{Value, json};
use stored_data::time::{now, parse_iso};
use testkit::TempDir;

const HOUR: i64 = 3_600_000;
const ORDINARY: [&str; 9] =
    ["search", "scrape", "interact", "parse", "monitor", "crawl", "map", "agent", "research"];

/// What is sent to come in.
#[derive(Debug, Clone)]
enum Credential {
    Bearer(String),
    Cookie(String),
}

impl Credential {
    async fn get(&self, http: &Http, path: &str) -> HttpResponse {
        let request = match self {
            Self::Bearer(secret) => http.with_key(Some(secret)).request(Method::GET, path),
            Self::Cookie(cookie) => http.with_key(None).request(Method::GET, path).header("cookie", cookie),
        };
        http.send(request).await.unwrap()
    }
}

struct Door {
    name: &'static str,
    credential: Credential,
    /// Id of the key that stands behind it.
    key: String,
    scopes: Vec<&'static str>,
    /// It ends in so many milliseconds at most; `None` for a key that a person gave no end.
    ends_in: Option<i64>,
    /// Whether it closes when the first key of the table is revoked.
    closes_with_the_key: bool,
}

async fn sign_in(http: &Http, key: &str) -> Result<String, u16> {
    let request = http.with_key(None).request(Method::POST, "/admin/sign-in").header("origin", &http.base);
    let answer = http.send(request.json(&json!({ "key": key }))).await.unwrap();
    let cookie = answer.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
    if answer.status == 200 { Ok(cookie) } else { Err(answer.status) }
}

async fn create(http: &Http, body: &Value) -> (String, String) {
    let made = http.post("/admin/keys", body).await.unwrap();
    let made = made.expect_success();
    (made["key"].as_str().unwrap().to_owned(), made["data"]["id"].as_str().unwrap().to_owned())
}

/// When a key that the team lists ends; of the secret with this hint where it was replaced.
fn end_of(listed: &Value, id: &str, replaced: bool) -> Option<i64> {
    let key = listed["data"].as_array().unwrap().iter().find(|key| key["id"] == id)?;
    let end = if replaced { &key["replaced"][0]["expiresAt"] } else { &key["expiresAt"] };
    end.as_str().and_then(parse_iso)
}

#[tokio::test]
async fn every_door_has_an_owner_and_an_end_and_closes_with_its_key() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).set("anonymous_registration", "free");
    let server = server.set("egress_allow", "scrape=127.0.0.0/8").start().await;
    let http = &server.http;
    let scopes = ["scrape", "map"];
    // The key behind most of the table ends in a day, so that nothing made of it may last longer.
    let wanted = json!({ "name": "owner", "scopes": scopes, "expiresInDays": 1 });
    let (first, id) = create(http, &wanted).await;
    let cookie = sign_in(http, &first).await.unwrap();
    let app = App::register(http).await;
    let traded = app.trade(http, &value(&app.allow(&first).await, "code"), &[]).await;
    let (token, refresh) = (text(&traded, "access_token"), text(&traded, "refresh_token"));
    let rotated = http.post(&format!("/admin/keys/{id}/rotate?phaseOutHours=1"), &json!({})).await.unwrap();
    let second = rotated.expect_success()["key"].as_str().unwrap().to_owned();
    let late_cookie = sign_in(http, &first).await.unwrap();
    let (endless, endless_id) = create(http, &json!({ "name": "endless" })).await;
    let listed = http.get("/admin/keys").await.unwrap().json;
    let of_app = listed["data"].as_array().unwrap().iter().find(|key| key["name"] == "app Test app").unwrap();
    let app_id = of_app["id"].as_str().unwrap().to_owned();
    let bearer = |secret: &str| Credential::Bearer(secret.to_owned());
    let door = |name, credential, key: &str, ends_in| Door {
        name,
        credential,
        key: key.to_owned(),
        scopes: scopes.to_vec(),
        ends_in,
        closes_with_the_key: true,
    };
    let doors = [
        door("key", bearer(&second), &id, Some(24 * HOUR)),
        door("secret that was replaced", bearer(&first), &id, Some(HOUR)),
        door("sign-in before the rotation", Credential::Cookie(cookie), &id, Some(HOUR)),
        door("sign-in with the replaced secret", Credential::Cookie(late_cookie), &id, Some(HOUR)),
        Door {
            scopes: vec!["scrape"],
            ..door("token of an application", bearer(&token), &app_id, Some(HOUR))
        },
        Door {
            scopes: ORDINARY.to_vec(),
            closes_with_the_key: false,
            ..door("key without an end", bearer(&endless), &endless_id, None)
        },
    ];
    for door in &doors {
        let answer = door.credential.get(http, "/admin/sign-in").await;
        let who = &answer.expect_success()["data"];
        assert_eq!((&who["team"], &who["key"]), (&json!("default"), &json!(door.key)), "{}", door.name);
        assert_eq!(who["scopes"], json!(door.scopes), "{}", door.name);
        let end = match door.credential {
            Credential::Cookie(_) => who["expiresAt"].as_str().and_then(parse_iso),
            Credential::Bearer(_) => end_of(&listed, &door.key, door.name.starts_with("secret that")),
        };
        let left = end.map(|end| end - now());
        match (left, door.ends_in) {
            (Some(left), Some(most)) => assert!(left > 0 && left <= most, "{}: {left}", door.name),
            (left, most) => assert_eq!(left, most, "{}", door.name),
        }
        // No door leads to administration, unless the key behind it has the scope.
        assert_eq!(door.credential.get(http, "/admin/audit").await.status, 403, "{}", door.name);
    }
    // A right that one kind of door gives is not had by another.
    assert_eq!(sign_in(http, &token).await, Err(403), "an hour's token gives no cookie of twelve");
    let nested = json!({ "request": app.request(), "allow": true });
    let nested = http.with_key(Some(&token)).post("/admin/authorization", &nested).await.unwrap();
    assert_eq!(nested.status, 403, "an application allows no other");
    http.post(&format!("/admin/keys/{app_id}/rotate"), &json!({}))
        .await
        .unwrap()
        .expect_error(409, "Conflict: the key belongs to an application, which renews it by itself");
    // Whoever registers without an assertion is a team of its own.
    let body = json!({ "type": "anonymous" });
    let agent = http.with_key(None).post("/agent/auth", &body).await.unwrap();
    let agent = agent.json["api_key"].as_str().unwrap().to_owned();
    let who = bearer(&agent).get(http, "/admin/sign-in").await.json;
    assert!(who["data"]["team"].as_str().unwrap().starts_with("anonymous ") && who["data"]["plan"] == "free");
    assert!(!who["data"]["scopes"].as_array().unwrap().contains(&json!("admin")), "{who}");
    // The same idempotency key of two teams is two keys, and of two keys of a team is one.
    let batch = json!({ "urls": ["http://127.0.0.1:8/"] });
    let start = async |key: &str| {
        let request = http.with_key(Some(key)).request(Method::POST, "/v2/batch/scrape");
        http.send(request.header("x-idempotency-key", "1").json(&batch)).await.unwrap()
    };
    let started = start(&endless).await;
    let again = http.with_key(http.key()).request(Method::POST, "/v2/batch/scrape");
    let again = http.send(again.header("x-idempotency-key", "1").json(&batch)).await.unwrap();
    assert_eq!((started.status, again.status), (200, 409), "{} {}", started.text, again.text);
    assert_eq!(start(&agent).await.status, 200, "what others did is not told");

    let links = SessionLinks::of_new_session(http, &endless).await;
    assert!(links.open(http).await);
    assert_eq!(links.delete_with(http, &agent).await, 404, "of another team");

    http.delete(&format!("/admin/keys/{id}")).await.unwrap().expect_success();
    for door in &doors {
        let status = door.credential.get(http, "/v2/concurrency-check").await.status;
        assert_eq!(status, if door.closes_with_the_key { 401 } else { 200 }, "{}", door.name);
    }
    // Links of a session are the team's: they end with the session, which any of its keys ends.
    http.delete(&format!("/admin/keys/{endless_id}")).await.unwrap().expect_success();
    assert!(links.open(http).await, "until the session ends");
    assert_eq!(links.delete_with(http, http.key().unwrap()).await, 200);
    assert!(!links.open(http).await, "with the session");
    let fields = [("grant_type", "refresh_token"), ("client_id", &app.id), ("refresh_token", &refresh)];
    assert_eq!(post_form(http, "/oauth2/token", &fields).await.json["error"], "invalid_grant");
    expect_audit_log(http).await;
}

/// What was done to the doors is in the audit log.
async fn expect_audit_log(http: &Http) {
    let log = http.get("/admin/audit?limit=500").await.unwrap();
    let rows = log.expect_success()["data"].as_array().unwrap();
    for (action, name) in [
        ("key.created", "owner"),
        ("key.rotated", "owner"),
        ("key.revoked", "owner"),
        ("application.allowed", "Test app"),
        ("sign_in.started", "expiresAt"),
    ] {
        assert!(has_row(rows, action, name), "{action} {name}: {}", log.text);
    }
}

/// What opens a browser session without a key.
struct SessionLinks {
    id: String,
    cdp: String,
    view: String,
}

impl SessionLinks {
    async fn of_new_session(http: &Http, key: &str) -> Self {
        let asked = json!({ "ttl": 120, "recordSession": false });
        let made = http.with_key(Some(key)).post("/v2/browser", &asked).await.unwrap();
        assert_eq!(made.status, 200, "{}", made.text);
        let token = |name| {
            let link: &Value = &made.json[name];
            link.as_str().unwrap().split_once("?token=").unwrap().1.to_owned()
        };
        Self { id: text(&made, "id"), cdp: token("cdpUrl"), view: token("liveViewUrl") }
    }

    /// Whether the link to the protocol leads to the session. Links for other purposes and sessions never do.
    async fn open(&self, http: &Http) -> bool {
        let http = http.with_key(None);
        let get = async |id: &str, token: &str| {
            http.get(&format!("/cdp/{id}/json/version?token={token}")).await.unwrap().status
        };
        let other = uuid::Uuid::now_v7().to_string();
        assert_eq!((get(&self.id, &self.view).await, get(&other, &self.cdp).await), (404, 404));
        assert_eq!(get(&self.id, "").await, 404);
        get(&self.id, &self.cdp).await == 200
    }

    async fn delete_with(&self, http: &Http, key: &str) -> u16 {
        http.with_key(Some(key)).delete(&format!("/v2/browser/{}", self.id)).await.unwrap().status
    }
}

fn has_row(rows: &[Value], action: &str, name: &str) -> bool {
    rows.iter().any(|row| row["action"] == action && row["details"].to_string().contains(name))
}
