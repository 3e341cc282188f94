//! A key that may reach certain hosts only is held to them by every capability: by address, redirect, script, stored page,
//! webhook, and through work of other keys. What cannot be held is refused when the key is made.

use crate::agent::{company, started_id, wait_for_end as wait_for_run};
use crate::crawl::wait_for_end as wait_for_crawl;
use crate::http::{Http, HttpResponse};
use crate::scrape::{ScrapeFixture, scrape_as};
use crate::search::{SearchFixture, search_as, urls};
use crate::site_server::SiteServer;
use crate::wait;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A site at an address that the key may reach, with ways to another at one that it may not reach.
struct TwoHosts {
    own: SiteServer,
    other: String,
    visits: Arc<AtomicUsize>,
}

impl TwoHosts {
    async fn start() -> Self {
        let visits = Arc::new(AtomicUsize::new(0));
        let counted = visits.clone();
        let elsewhere = move || {
            counted.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Html(
                "<title>Other</title><main><h1>Otherword</h1><p>Founded in 1987.</p></main>",
            ))
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.2:0").await.unwrap();
        let other = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(elsewhere)).await });
        let to = other.clone();
        let hop = move || {
            let location = [(header::LOCATION, format!("{to}/hop"))];
            std::future::ready((StatusCode::FOUND, location).into_response())
        };
        let script = format!("<div id=root></div><script>location.replace('{other}/script')</script>");
        let page = format!(
            "<title>Own</title><main><h1>Ownword</h1><p>{}</p><img src='{other}/image.png'></main>",
            "The keeper of the light writes down every ship that passes. ".repeat(8)
        );
        let router = Router::new()
            .route("/", get(move || std::future::ready(Html(page.clone()))))
            .route("/hop", get(hop.clone()))
            .route("/robots.txt", get(hop))
            .route("/script", get(move || std::future::ready(Html(script.clone()))));
        Self { own: SiteServer::start(router), other, visits }
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

async fn held_key(http: &Http) -> Http {
    let asked = json!({ "name": "held", "hosts": ["127.0.0.1", "*.Example.org"] });
    let made = http.post("/admin/keys", &asked).await.unwrap();
    let made = made.expect_success();
    assert_eq!(made["data"]["hosts"], json!(["127.0.0.1", "*.example.org"]));
    let scopes = made["data"]["scopes"].to_string();
    assert!(!["admin", "interact", "monitor"].iter().any(|scope| scopes.contains(scope)), "{scopes}");
    http.with_key(made["key"].as_str())
}

async fn put(http: &Http, path: &str, body: &Value) -> reqwest::Result<HttpResponse> {
    http.send(http.request(Method::PUT, path).json(body)).await
}

#[track_caller]
fn expect_refused(answer: &HttpResponse) {
    let rule = &answer.json["details"]["rule"];
    assert_eq!((answer.status, rule), (403, &json!("hosts of the key")), "{}", answer.text);
    assert!(answer.json["error"].as_str().unwrap().contains("the API key may not reach the host of"));
}

#[tokio::test]
async fn a_held_key_reaches_no_other_host_by_any_capability() {
    let fixture = ScrapeFixture::open().await;
    let (free, hosts) = (fixture.http(), TwoHosts::start().await);
    let held = held_key(free).await;
    let page = scrape_as(&held, &hosts.own.url("/"), json!({ "formats": ["markdown"] })).await;
    assert!(page.expect_success()["data"]["markdown"].as_str().unwrap().contains("Ownword"));
    let actions = json!({ "actions": [{ "type": "wait", "milliseconds": 100 }] });
    let drawn = scrape_as(&held, &hosts.own.url("/"), actions).await;
    drawn.expect_success();
    expect_refused(&scrape_as(&held, &format!("{}/direct", hosts.other), json!({})).await);
    expect_refused(&scrape_as(&held, &hosts.own.url("/hop"), json!({})).await);
    let moved = scrape_as(&held, &hosts.own.url("/script"), json!({})).await;
    assert!(!moved.text.contains("Otherword"), "{}", moved.text);
    let hook = "https://elsewhere.example/hook";
    let ask = "When was the company founded?";
    for (path, body) in [
        ("/v2/map", json!({ "url": hosts.other })),
        ("/v2/crawl", json!({ "url": hosts.other })),
        ("/v2/crawl", json!({ "url": hosts.own.base, "webhook": hook })),
        ("/v2/batch/scrape", json!({ "urls": [hosts.own.base], "webhook": hook })),
        ("/v2/agent", json!({ "prompt": ask, "webhook": { "url": hook } })),
        ("/v2/extract", json!({ "urls": [hosts.own.base], "prompt": ask, "webhook": { "url": hook } })),
    ] {
        expect_refused(&held.post(path, &body).await.unwrap());
    }
    let urls =
        json!({ "urls": [hosts.own.url("/"), format!("{}/batch", hosts.other), hosts.own.url("/hop")] });
    let batch = held.post("/v2/batch/scrape", &urls).await.unwrap();
    let batch =
        wait_for_crawl(&held, &format!("/v2/batch/scrape/{}", batch.json["id"].as_str().unwrap())).await;
    assert_eq!(batch["data"].as_array().map(Vec::len), Some(1), "{batch}");
    let crawl =
        held.post("/v2/crawl", &json!({ "url": hosts.own.url("/"), "allowExternalLinks": true })).await;
    let id = crawl.unwrap().json["id"].as_str().unwrap().to_owned();
    wait_for_crawl(&held, &format!("/v2/crawl/{id}")).await;
    let run = json!({ "urls": [format!("{}/run", hosts.other)], "schema": company(), "prompt": "When was it founded?" });
    let id = started_id(&held.post("/v2/agent", &run).await.unwrap());
    let run = wait_for_run(&held, &id).await;
    assert!(!run.to_string().contains("1987"), "{run}");
    assert_eq!(hosts.visits(), 0, "the other host got no request");

    // What a free key of the team left or began is no way there either.
    for path in ["/hop", "/script"] {
        let led = scrape_as(free, &hosts.own.url(path), json!({})).await;
        assert!(led.text.contains("Otherword"), "an ordinary key is led there: {}", led.text);
    }
    let visits = hosts.visits();
    for path in ["/hop", "/script"] {
        let answer = scrape_as(&held, &hosts.own.url(path), json!({ "maxAge": 3_600_000 })).await;
        assert!(!answer.text.contains("Otherword"), "{}", answer.text);
    }
    let begun = free.post("/v2/batch/scrape", &json!({ "urls": [hosts.own.url("/")] })).await.unwrap();
    let append = json!({ "urls": [hosts.own.url("/hop")], "appendToId": begun.json["id"] });
    let appended = held.post("/v2/batch/scrape", &append).await.unwrap();
    assert_eq!(appended.status, 403, "{}", appended.text);
    assert_eq!(hosts.visits(), visits);
}

/// Results of the search engine and of what the team has read itself.
#[tokio::test]
async fn a_held_key_is_shown_results_on_its_hosts_only() {
    let fixture = SearchFixture::open().await;
    let (free, hosts) = (fixture.http(), TwoHosts::start().await);
    let held = held_key(free).await;
    let own = hosts.own.url("/");
    let results = [own.clone(), format!("{}/found", hosts.other), "https://elsewhere.example/".to_owned()];
    fixture.engine.set_results(&results);
    let all = search_as(free, "keeper", json!({})).await;
    assert_eq!(urls(&all.expect_success()["data"]["web"]).len(), 3, "{}", all.text);
    let some = search_as(&held, "keeper", json!({})).await;
    assert_eq!(urls(&some.expect_success()["data"]["web"]), [own.as_str()]);
    let warning = some.json["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("2 results are on hosts that the API key may not reach"), "{}", some.text);
    // A page that a free key has read is found by free keys, and is no way around.
    let other = format!("{}/read", hosts.other);
    scrape_as(free, &other, json!({ "formats": ["markdown"] })).await.expect_success();
    fixture.engine.set_results(&[]);
    let found = async |http: &Http| {
        let answer = search_as(http, "Otherword", json!({})).await;
        answer.expect_success()["data"].to_string().contains(&other)
    };
    wait::eventually("the page is in the index", async || found(free).await).await;
    assert!(!found(&held).await, "the held key finds the page");
    let scraped = json!({ "scrapeOptions": { "formats": ["markdown"] } });
    let visits = hosts.visits();
    fixture.engine.set_results(&results);
    let scraped = search_as(&held, "keeper", scraped).await;
    assert_eq!(urls(&scraped.expect_success()["data"]["web"]), [own.as_str()]);
    assert_eq!(hosts.visits(), visits, "nothing else was read");
}

#[tokio::test]
async fn hosts_of_a_key_are_changed_afterwards_also_for_what_it_allowed() {
    let fixture = ScrapeFixture::without_browser().await;
    let (http, hosts) = (fixture.http(), TwoHosts::start().await);
    let made = http.post("/admin/keys", &json!({ "name": "later", "scopes": ["scrape", "map"] })).await;
    let made = made.unwrap().json;
    let path = format!("/admin/keys/{}/hosts", made["data"]["id"].as_str().unwrap());
    let key = http.with_key(made["key"].as_str());
    let other = format!("{}/", hosts.other);
    let reaches = async || scrape_as(&key, &other, json!({ "maxAge": 0 })).await;
    reaches().await.expect_success();
    let set = put(http, &path, &json!({ "hosts": ["Example.org", "127.0.0.1"] })).await.unwrap();
    assert_eq!(set.expect_success()["data"]["hosts"], json!(["example.org", "127.0.0.1"]));
    expect_refused(&reaches().await);
    scrape_as(&key, &hosts.own.url("/"), json!({})).await.expect_success();
    put(http, &path, &json!({ "hosts": ["127.0.0.2"] })).await.unwrap().expect_success();
    reaches().await.expect_success();
    expect_refused(&scrape_as(&key, &hosts.own.url("/"), json!({ "maxAge": 0 })).await);
    let freed = http.delete(&path).await.unwrap();
    assert_eq!(freed.expect_success()["data"]["hosts"], Value::Null);
    scrape_as(&key, &hosts.own.url("/"), json!({ "maxAge": 0 })).await.expect_success();
    let log = http.get("/admin/audit?action=key.changed").await.unwrap();
    let rows = log.expect_success()["data"].as_array().unwrap();
    let changes: Vec<_> =
        rows.iter().map(|row| (&row["details"]["hostsBefore"], &row["details"]["hosts"])).collect();
    let (first, second) = (json!(["example.org", "127.0.0.1"]), json!(["127.0.0.2"]));
    assert_eq!(changes, [(&second, &Value::Null), (&first, &second), (&Value::Null, &first)]);

    let refused = put(http, &path, &json!({ "hosts": ["https://a.example"] })).await.unwrap();
    assert_eq!((refused.status, refused.text.contains("is not a host")), (400, true), "{}", refused.text);
    let ordinary = http.post("/admin/keys", &json!({ "name": "ordinary" })).await.unwrap().json;
    let of_ordinary = format!("/admin/keys/{}/hosts", ordinary["data"]["id"].as_str().unwrap());
    let refused = put(http, &of_ordinary, &json!({ "hosts": ["a.example"] })).await.unwrap();
    assert_eq!((refused.status, refused.text.contains("with the scope")), (400, true), "{}", refused.text);
    let nobody = format!("/admin/keys/{}/hosts", uuid::Uuid::now_v7());
    http.delete(&nobody).await.unwrap().expect_error(404, "Not Found");
    let by_other = fixture.other_team().await;
    assert!([403, 404].contains(&by_other.delete(&path).await.unwrap().status));
    http.delete(path.trim_end_matches("/hosts")).await.unwrap().expect_success();
    let ended = put(http, &path, &json!({ "hosts": ["a.example"] })).await.unwrap();
    ended.expect_error(409, "Conflict: the key is expired or revoked; create a new one");
}

#[tokio::test]
async fn a_key_cannot_be_held_to_what_is_no_host_or_where_it_cannot_be_held() {
    let fixture = ScrapeFixture::without_browser().await;
    let http = fixture.http();
    for (asked, says) in [
        (json!({ "hosts": [] }), "hosts: must name 1 to 100 hosts"),
        (json!({ "hosts": ["https://a.example"] }), "hosts: `https://a.example` is not a host"),
        (json!({ "hosts": ["*"] }), "hosts: `*` is not a host"),
        (json!({ "hosts": ["a.example"], "scopes": ["scrape", "interact"] }), "with the scope interact"),
        (json!({ "hosts": ["a.example"], "scopes": ["admin"] }), "with the scope admin"),
        (json!({ "hosts": ["a.example"], "scopes": ["monitor"] }), "with the scope monitor"),
    ] {
        let mut body = asked.clone();
        body["name"] = "held".into();
        let refused = http.post("/admin/keys", &body).await.unwrap();
        let error = refused.json["error"].as_str().unwrap_or_default();
        assert!(refused.status == 400 && error.contains(says), "{asked}: {}", refused.text);
    }
    let held = held_key(http).await;
    let listed = http.get("/admin/keys").await.unwrap();
    let keys: Vec<&Value> = listed.expect_success()["data"].as_array().unwrap().iter().collect();
    let shown = keys.iter().find(|key| key["name"] == "held").unwrap();
    assert_eq!(shown["hosts"], json!(["127.0.0.1", "*.example.org"]));
    assert!(keys.iter().any(|key| key["hosts"].is_null()), "others may reach all");
    // A rotation keeps what the key is held to.
    let rotate = format!("/admin/keys/{}/rotate", shown["id"].as_str().unwrap());
    let rotated = http.post(&rotate, &json!({})).await.unwrap();
    let again = http.with_key(rotated.expect_success()["key"].as_str());
    for key in [&held, &again] {
        expect_refused(&scrape_as(key, "http://127.0.0.3:8080/", json!({})).await);
    }
}
