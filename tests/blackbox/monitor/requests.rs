//! Requests: what is accepted, what is refused and with which words, paging and filters.

use super::{ChangingSite, config, create, run, shared, wait};
use crate::http::{Http, HttpResponse};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::TempDir;

async fn patch(http: &Http, path: &str, body: Value) -> HttpResponse {
    http.send(http.request(Method::PATCH, path).json(&body)).await.unwrap()
}

#[tokio::test]
async fn monitors_are_created_changed_and_deleted() {
    let (_, server) = shared().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let webhook = json!({ "url": "https://hooks.example/T0/secret", "events": ["monitor.page"], "headers": { "X-A": "b" } });
    let more = json!({
        "schedule": { "cron": "*/30 * * * *" }, "goal": "price", "webhook": webhook, "origin": "test",
        "notification": { "email": { "enabled": true, "recipients": ["a@b.example"] } },
    });
    let monitor = create(http, &site, more).await;
    let path = format!("/v2/monitor/{monitor}");
    let shown = http.get(&path).await.unwrap().expect_success()["data"].clone();
    assert_eq!(shown["schedule"], json!({ "cron": "*/30 * * * *", "timezone": "UTC" }));
    assert_eq!((&shown["judgeEnabled"], &shown["retentionDays"]), (&json!(true), &json!(30)));
    assert_eq!((&shown["status"], &shown["estimatedCreditsPerMonth"]), (&json!("active"), &json!(48 * 30)));
    assert_eq!(shown["webhook"]["url"], "https://hooks.example/T0/secret");
    assert!(shown["targets"][0]["id"].is_string() && shown["nextRunAt"].is_string(), "{shown}");
    let paused = patch(
        http,
        &path,
        json!({ "status": "paused", "goal": null, "webhook": null, "notification": null }),
    )
    .await;
    let paused = &paused.expect_success()["data"];
    for cleared in ["goal", "webhook", "notification", "nextRunAt"] {
        assert_eq!(paused[cleared], Value::Null, "{cleared}");
    }
    assert_eq!((&paused["status"], &paused["judgeEnabled"]), (&json!("paused"), &json!(false)));
    // Without body and content type, as the command line client sends it.
    let run_path = format!("{path}/run");
    let refused = http.send(http.request(Method::POST, &run_path)).await.unwrap();
    refused.expect_error(409, "Monitor is paused.");
    patch(http, &path, json!({ "status": "active", "name": "New" })).await.expect_success();
    let started = http.send(http.request(Method::POST, &run_path).header("X-Origin", "cli")).await.unwrap();
    let check = started.expect_success()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (&started.json["data"]["id"], &started.json["data"]["trigger"]),
        (&json!(check), &json!("manual"))
    );
    let again = http.post(&run_path, &json!({ "origin": "sdk" })).await.unwrap();
    again.expect_error(409, "Monitor check is already running.");
    let running = http.get(&path).await.unwrap().expect_success()["data"]["currentCheckId"].clone();
    assert_eq!(running, json!(check));
    wait(http, &monitor, &check).await;
    let watch_again = async |body: &Value| http.post(&format!("{path}/watch-again"), body).await.unwrap();
    let steady = watch_again(&json!({ "url": shown["targets"][0]["urls"][0] })).await;
    assert_eq!(steady.expect_success()["forgotten"], 0, "nothing changes there by itself");
    let unknown = watch_again(&json!({ "url": "https://other.example/" })).await;
    assert_eq!(unknown.json["details"][0]["path"], json!(["url"]), "{}", unknown.text);
    assert_eq!(watch_again(&json!({})).await.status, 400);
    let listed = http.get("/v2/monitor?limit=1").await.unwrap().expect_success()["data"].clone();
    assert_eq!(
        (&listed[0]["name"], &listed[0]["lastCheckSummary"]["totalPages"]),
        (&json!("New"), &json!(1))
    );
    assert!(
        http.get("/v2/monitor?offset=1").await.unwrap().expect_success()["data"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    http.delete(&path).await.unwrap().expect_success();
    http.get(&path).await.unwrap().expect_error(404, "Monitor not found");
    http.delete(&path).await.unwrap().expect_error(404, "Monitor not found");
    http.get(&format!("{path}/checks")).await.unwrap().expect_error(404, "Monitor not found");
}

#[tokio::test]
async fn checks_and_pages_are_paged_and_filtered() {
    let (_, server) = shared().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let urls: Vec<String> = (0..5)
        .map(|number| site.server.url(&format!("/chair?{number}")))
        .chain([site.server.url("/none")])
        .collect();
    let monitor = create(http, &site, json!({ "targets": [{ "type": "scrape", "urls": urls }] })).await;
    let check = run(http, &monitor).await;
    assert_eq!((&check["status"], &check["summary"]["error"]), (&json!("partial"), &json!(1)), "{check}");
    let path = format!("/v2/monitor/{monitor}/checks/{}", check["id"].as_str().unwrap());
    let first = http.get(&format!("{path}?limit=2&status=new")).await.unwrap();
    let next = first.expect_success()["next"].as_str().unwrap().to_owned();
    assert_eq!(
        (&first.json["data"]["next"], first.json["data"]["pages"].as_array().unwrap().len()),
        (&json!(next), 2)
    );
    let mut seen = 2;
    let mut address = Some(next);
    while let Some(next) = address {
        let page = http.get(next.strip_prefix(&http.base).unwrap()).await.unwrap();
        seen += page.expect_success()["data"]["pages"].as_array().unwrap().len();
        address = page.json["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen, 5);
    let errors = http.get(&format!("{path}?status=error")).await.unwrap().json["data"]["pages"].clone();
    assert_eq!((errors.as_array().unwrap().len(), &errors[0]["statusCode"]), (1, &json!(404)), "{errors}");
    let unknown = format!("/v2/monitor/{monitor}/checks/00000000-0000-7000-8000-000000000000");
    http.get(&unknown).await.unwrap().expect_error(404, "Check not found");
    let listed =
        async |query: &str| http.get(&format!("/v2/monitor/{monitor}/checks?{query}")).await.unwrap();
    assert_eq!(listed("status=partial").await.expect_success()["data"][0]["id"], check["id"]);
    assert!(listed("status=completed").await.expect_success()["data"].as_array().unwrap().is_empty());
    assert_eq!(listed("status=odd").await.status, 400);
    assert_eq!(http.get(&format!("{path}?limit=101")).await.unwrap().status, 400);
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_the_words_of_the_contract() {
    let (_, server) = shared().await;
    let http = &server.http;
    let with = async |field: &str, value: Value| {
        let targets = json!([{ "type": "scrape", "urls": ["https://a.example/"] }]);
        let mut body = json!({ "name": "n", "schedule": { "text": "hourly" }, "targets": targets });
        body[field] = value;
        http.post("/v2/monitor", &body).await.unwrap()
    };
    let both = json!({ "cron": "0 * * * *", "text": "hourly" });
    for (schedule, words) in [
        (json!({}), "Schedule must include either cron or text"),
        (both, "Schedule must include either cron or text, not both"),
        (json!({ "cron": "* * * * *" }), "Schedule must not run more often than every 5 minutes"),
        (json!({ "text": "every 2 minutes" }), "Schedule must not run more often than every 5 minutes"),
    ] {
        with("schedule", schedule).await.expect_error(400, words);
    }
    for (schedule, part) in [
        (json!({ "cron": "0 0 0 * * *" }), "Invalid cron expression"),
        (json!({ "cron": "0 0 30 2 *" }), "never runs"),
        (json!({ "text": "now and then" }), "Known forms: "),
        (json!({ "text": "hourly", "timezone": "Mars/Phobos" }), "Unknown time zone"),
    ] {
        let refused = with("schedule", schedule).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(refused.json["error"].as_str().unwrap().contains(part), "{}", refused.text);
    }
    let search = json!([{ "type": "search", "queries": ["q"] }]);
    with("targets", search).await.expect_error(400, "A search target requires a non-empty goal");
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("x".repeat(257))),
        ("goal", json!("x".repeat(2_001))),
        ("retentionDays", json!(366)),
        ("targets", json!([])),
        ("targets", json!(vec![json!({ "type": "scrape", "urls": ["https://a.example/"] }); 51])),
        ("targets", json!([{ "type": "scrape", "urls": [] }])),
        ("targets", json!([{ "type": "scrape", "urls": ["http://10.0.0.1/"] }])),
        (
            "targets",
            json!([{ "type": "scrape", "urls": ["https://a.example/"], "scrapeOptions": { "timeout": 1 } }]),
        ),
        ("targets", json!([{ "type": "crawl" }])),
        ("targets", json!([{ "type": "feed" }])),
        ("targets", json!([{ "type": "search", "queries": ["q"], "searchWindow": "2h" }])),
        ("webhook", json!({ "url": "https://b.example/", "headers": { "X-Firecrawl-Signature": "x" } })),
        ("webhook", json!({ "url": "https://b.example/", "events": ["page"] })),
        ("notification", json!({ "email": { "recipients": vec!["a@b.example"; 26] } })),
        ("notification", json!({ "channels": [{ "type": "slack", "url": "http://10.0.0.1/" }] })),
        ("notification", json!({ "channels": [{ "type": "pigeon" }] })),
        ("notification", json!({ "quietHours": { "from": "22", "until": "7:00" } })),
        ("colour", json!("red")),
    ] {
        let refused = with(field, value.clone()).await;
        assert_eq!(
            (refused.status, &refused.json["success"]),
            (400, &json!(false)),
            "{field} {value}: {}",
            refused.text
        );
    }
}

#[tokio::test]
async fn a_team_with_zero_data_retention_has_no_monitors() {
    let (dir, server) = shared().await;
    let key = crate::scrape::new_team_key(&dir, "discreet", true).await;
    let http = server.http.with_key(Some(&key));
    let words = "Your team has zero data retention enabled. This is not supported on monitor.";
    let targets = json!([{ "type": "scrape", "urls": ["https://a.example/"] }]);
    let body = json!({ "name": "n", "schedule": { "text": "hourly" }, "targets": targets });
    http.post("/v2/monitor", &body).await.unwrap().expect_error(400, words);
    let id = "00000000-0000-7000-8000-000000000000";
    http.post(&format!("/v2/monitor/{id}/run"), &json!({})).await.unwrap().expect_error(400, words);
    patch(&http, &format!("/v2/monitor/{id}"), json!({ "name": "m" })).await.expect_error(400, words);
    assert!(http.get("/v2/monitor").await.unwrap().expect_success()["data"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn other_keys_and_teams_see_less() {
    let dir = TempDir::new();
    let server = config(&dir).start().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let target = json!({ "type": "scrape", "urls": [site.server.url("/chair")], "scrapeOptions": { "headers": { "Cookie": "sid=s3cret" } } });
    let monitor =
        create(http, &site, json!({ "targets": [target], "webhook": "https://hooks.example/s3cret" })).await;
    let path = format!("/v2/monitor/{monitor}");
    assert!(http.get(&path).await.unwrap().text.contains("s3cret"), "who made it can read it");
    let (code, key, errors) = crate::server::run(config(&dir).command(&["keys", "create", "second"]));
    assert_eq!(code, Some(0), "{errors}");
    let second = http.with_key(Some(key.trim()));
    let shown = second.get(&path).await.unwrap();
    assert!(
        shown.expect_success()["data"]["webhook"]["url"] == "https://hooks.example"
            && !shown.text.contains("s3cret"),
        "{}",
        shown.text
    );
    let other = http.with_key(Some(&crate::scrape::other_team_key(&dir).await));
    other.get(&path).await.unwrap().expect_error(404, "Monitor not found");
    assert!(other.get("/v2/monitor").await.unwrap().expect_success()["data"].as_array().unwrap().is_empty());
}
