//! Codes and refresh tokens: who may trade them, once over all processes, and what ends what they led to.

use super::{App, CALLBACK, challenge, expect_refused, post_form, text, value, works};
use crate::server::{KEY, Server, ServerConfig, start_own};
use crate::wait::eventually;
use serde_json::json;
use std::time::Duration;
use store::authorizations::NewAuthorization;
use testkit::TempDir;

#[tokio::test]
async fn a_code_is_traded_by_its_client_with_its_verifier_only() {
    let (dir, server) = start_own().await;
    let (http, app) = (&server.http, App::register(&server.http).await);
    let other = App::register(http).await;
    let answer = app.allow(KEY).await;
    assert_eq!((value(&answer, "state"), value(&answer, "iss")), ("st&te".to_owned(), http.base.clone()));
    let code = value(&answer, "code");
    for (changed, status, error) in [
        (("code_verifier", "another-verifier-that-is-long-enough-0123456789"), 400, "invalid_grant"),
        (("code_verifier", ""), 400, "invalid_grant"),
        (("redirect_uri", CALLBACK), 400, "invalid_grant"),
        (("client_id", other.id.as_str()), 400, "invalid_grant"),
        (("code", "gn-unknown"), 400, "invalid_grant"),
        (("grant_type", "password"), 400, "unsupported_grant_type"),
        (("resource", "https://elsewhere.example"), 400, "invalid_target"),
        (("client_secret", "made up"), 401, "invalid_client"),
    ] {
        expect_refused(&app.trade(http, &code, &[changed]).await, status, error);
    }
    let incomplete = [("grant_type", "authorization_code"), ("client_id", &app.id), ("code", &code)];
    expect_refused(&post_form(http, "/oauth2/token", &incomplete).await, 400, "invalid_request");
    // None of that used the code up.
    let traded = app.trade(http, &code, &[]).await;
    assert_eq!(traded.status, 200, "{}", traded.text);
    assert_eq!((&traded.json["expires_in"], &traded.json["token_type"]), (&json!(3600), &json!("Bearer")));
    assert_eq!(traded.json["scope"], "search scrape", "what was asked for, without administration");
    assert!(works(http, &text(&traded, "access_token")).await);
    let token = http.with_key(traded.json["access_token"].as_str());
    assert_eq!(token.get("/admin/keys").await.unwrap().status, 403);
    // It is a key like any other, and cannot allow other applications.
    let keys = http.get("/admin/keys").await.unwrap();
    let listed = keys.expect_success()["data"].as_array().unwrap().clone();
    let listed = listed.iter().find(|key| key["name"] == "app Test app").expect("it is listed");
    assert!(listed["expiresAt"].is_string() && listed["status"] == "active", "{listed}");
    let body = json!({ "request": other.request(), "allow": true });
    assert_eq!(token.post("/admin/authorization", &body).await.unwrap().status, 403);
    let log = server.log();
    assert!(!log.contains(&code) && !log.contains(&text(&traded, "access_token")), "a secret is in the log");

    let expired = "gn-expired";
    let url = format!("sqlite:{}", dir.join("data/gannet.db").display());
    let store = store::open(&store::StoreOptions::new(url)).await.unwrap();
    let team = store.teams().await.unwrap()[0].id;
    let approver = store.keys(team).await.unwrap()[0].id;
    let new = NewAuthorization {
        key: uuid::Uuid::now_v7(),
        team,
        approver,
        client: app.id.clone(),
        name: "late".to_owned(),
        redirect_uri: "http://127.0.0.1:4711/callback".to_owned(),
        challenge: challenge(),
        scopes: vec!["scrape".to_owned()],
        code: access::keys::hash(&format!("code {expired}")),
    };
    assert!(
        store.authorize(new, Duration::from_millis(1), &store::audit_log::Actor::server()).await.unwrap()
    );
    tokio::time::sleep(Duration::from_millis(5)).await;
    expect_refused(&app.trade(http, expired, &[]).await, 400, "invalid_grant");
}

#[tokio::test]
async fn a_code_works_once_over_all_processes() {
    let database = testkit::shared_database();
    let start = async || {
        let dir = TempDir::new();
        let server = ServerConfig::at(dir.path()).set("database_url", &database).start().await;
        (dir, server)
    };
    let ((_one_dir, one), (_other_dir, other)) = tokio::join!(start(), start());
    let app = App::register(&one.http).await;
    let code = app.code().await;
    let trades =
        [&one, &other, &one, &other, &one, &other].map(|server: &Server| app.trade(&server.http, &code, &[]));
    let answers = futures_util::future::join_all(trades).await;
    let granted: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(granted.len(), 1, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        expect_refused(refused, 400, "invalid_grant");
    }
    // Somebody else had the code and the verifier too: nobody keeps what it led to.
    let token = text(granted[0], "access_token");
    let ended = async || !works(&one.http, &token).await && !works(&other.http, &token).await;
    eventually("the token stops to work in both processes", ended).await;
    expect_refused(&app.refresh(&text(granted[0], "refresh_token")).await, 400, "invalid_grant");
}

#[tokio::test]
async fn refresh_tokens_rotate_and_reuse_ends_the_authorization() {
    let (_dir, server) = start_own().await;
    let (http, app) = (&server.http, App::register(&server.http).await);
    let first = app.trade(http, &app.code().await, &[]).await;
    let second = app.refresh(&text(&first, "refresh_token")).await;
    assert_eq!(second.status, 200, "{}", second.text);
    assert_eq!(second.json["scope"], first.json["scope"]);
    let token = text(&second, "access_token");
    assert!(works(http, &token).await && !works(http, &text(&first, "access_token")).await);
    let names = http.get("/admin/keys").await.unwrap().text.matches("app Test app").count();
    assert_eq!(names, 1, "one key, renewed");
    let other = App::register(http).await;
    expect_refused(&other.refresh(&text(&second, "refresh_token")).await, 400, "invalid_grant");
    let more = [
        ("grant_type", "refresh_token"),
        ("client_id", &app.id),
        ("refresh_token", &text(&second, "refresh_token")),
        ("scope", "crawl"),
    ];
    expect_refused(&post_form(http, "/oauth2/token", &more).await, 400, "invalid_scope");
    assert!(works(http, &token).await);
    expect_refused(&app.refresh(&text(&first, "refresh_token")).await, 400, "invalid_grant");
    assert!(!works(http, &token).await, "the old one was used again");
    expect_refused(&app.refresh(&text(&second, "refresh_token")).await, 400, "invalid_grant");
    expect_refused(&app.refresh("gn-x.gn-y").await, 400, "invalid_grant");
}

#[tokio::test]
async fn a_token_is_not_traded_for_a_cookie_that_outlives_it() {
    let (_dir, server) = start_own().await;
    let (http, app) = (&server.http, App::register(&server.http).await);
    let token = app.trade(http, &app.code().await, &[]).await;
    let sign_in = async |key: &str| {
        let request = http.with_key(None).request(reqwest::Method::POST, "/admin/sign-in");
        http.send(request.header("origin", &http.base).json(&json!({ "key": key }))).await.unwrap()
    };
    let refused = sign_in(&text(&token, "access_token")).await;
    assert_eq!((refused.status, refused.header("set-cookie")), (403, ""), "{}", refused.text);
    assert_eq!(sign_in(KEY).await.status, 200);
}

#[tokio::test]
async fn wrong_tokens_of_others_do_not_hold_up_a_good_one() {
    let (_dir, server) = start_own().await;
    let (http, app) = (&server.http, App::register(&server.http).await);
    let first = app.trade(http, &app.code().await, &[]).await;
    for number in 0..301 {
        let refused = app.refresh("gn-x.gn-y").await;
        assert_eq!(refused.status, if number < 300 { 400 } else { 429 }, "{number}: {}", refused.text);
    }
    // The same address, as of people behind one router.
    let second = app.refresh(&text(&first, "refresh_token")).await;
    assert_eq!(second.status, 200, "{}", second.text);
    let code = app.trade(http, &app.code().await, &[]).await;
    assert_eq!(code.status, 200, "{}", code.text);
}

#[tokio::test]
async fn an_authorization_ends_by_hand_and_with_the_key_of_the_person() {
    let (_dir, server) = start_own().await;
    let (http, app) = (&server.http, App::register(&server.http).await);
    let revoked = app.trade(http, &app.code().await, &[]).await;
    post_form(http, "/oauth2/revoke", &[("token", &text(&revoked, "refresh_token"))]).await;
    assert!(!works(http, &text(&revoked, "access_token")).await, "with its refresh token");
    let revoked = app.trade(http, &app.code().await, &[]).await;
    post_form(http, "/oauth2/revoke", &[("token", &text(&revoked, "access_token"))]).await;
    expect_refused(&app.refresh(&text(&revoked, "refresh_token")).await, 400, "invalid_grant");

    let body = json!({ "name": "person", "scopes": ["search"], "expiresInDays": 1 });
    let created = http.post("/admin/keys", &body).await.unwrap();
    let (person, id) = (text(&created, "key"), created.json["data"]["id"].as_str().unwrap().to_owned());
    let traded = app.trade(http, &value(&app.allow(&person).await, "code"), &[]).await;
    assert_eq!(traded.json["scope"], "search", "no more than the person may do");
    let pending = value(&app.allow(&person).await, "code");
    assert!(works(http, &text(&traded, "access_token")).await);
    assert_eq!(http.delete(&format!("/admin/keys/{id}")).await.unwrap().status, 200);
    assert!(!works(http, &text(&traded, "access_token")).await, "the person's key is revoked");
    expect_refused(&app.refresh(&text(&traded, "refresh_token")).await, 400, "invalid_grant");
    expect_refused(&app.trade(http, &pending, &[]).await, 400, "invalid_grant");
}
