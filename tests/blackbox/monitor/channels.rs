//! Chat and push services, quiet hours, errors, and the pages and the feed that messages link to.

use super::mail_server::path_of;
use super::{ChangingSite, config, create, run, shared};
use crate::webhooks::Receiver;
use reqwest::Method;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use testkit::TempDir;

const HOSTILE: &str = "&lt;script&gt;alert(1)&lt;/script&gt; @everyone &lt;!channel&gt;";

fn channels(receiver: &Receiver) -> Value {
    let url = |path: &str| receiver.url(path);
    json!([
        { "type": "slack", "url": url("/slack/s3cret") },
        { "type": "discord", "url": url("/discord/s3cret") },
        { "type": "teams", "url": url("/teams/s3cret") },
        { "type": "mattermost", "url": url("/mattermost/s3cret") },
        { "type": "ntfy", "url": url("/ntfy"), "room": "s3cret-topic" },
        { "type": "gotify", "url": url("/gotify"), "token": "s3cret" },
        { "type": "telegram", "url": url("/telegram"), "token": "1:s3cret", "room": "-100" },
        { "type": "matrix", "url": url("/matrix"), "token": "s3cret", "room": "!room:a.example" },
        { "type": "generic", "url": url("/generic"), "token": "s3cret" },
        { "type": "generic", "url": url("/fails/2") },
    ])
}

#[tokio::test]
async fn services_are_told_what_changed_with_links_that_show_it() {
    let (dir, receiver) = (TempDir::new(), Receiver::start());
    let server = config(&dir).set("webhook_retries", "100ms,100ms").start().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let name = "Chairs <img src=x onerror=alert(1)>";
    let more = json!({ "name": name, "notification": { "channels": channels(&receiver) } });
    let monitor = create(http, &site, more).await;
    let path = format!("/v2/monitor/{monitor}");
    let shown = http.get(&path).await.unwrap();
    let view = shown.expect_success()["data"].clone();
    assert!(!shown.text.contains("s3cret") && !shown.text.contains("!room"), "{}", shown.text);
    assert_eq!(view["notification"]["channels"][0]["host"], "127.0.0.1", "{view}");
    // What was read can be sent back, and the channels keep their secrets.
    let body = json!({ "notification": view["notification"] });
    let back = http.send(http.request(Method::PATCH, &path).json(&body)).await.unwrap();
    assert_eq!(back.expect_success()["data"]["notification"], view["notification"]);

    assert_eq!(run(http, &monitor).await["notificationStatus"], "none");
    site.set(&format!("<p>Price: 45 EUR {HOSTILE}</p>"));
    let changed = run(http, &monitor).await;
    assert_eq!(changed["notificationStatus"], "queued", "{changed}");
    let told = receiver.wait_for_all(12).await;
    let one = |start: &str| {
        let found: Vec<_> = told.iter().filter(|got| got.path().starts_with(start)).collect();
        assert!(!found.is_empty(), "{start}");
        found[0].clone()
    };
    for start in
        ["/slack", "/discord", "/teams", "/mattermost", "/ntfy", "/gotify/message", "/telegram/bot1:"]
    {
        assert!(String::from_utf8_lossy(&one(start).body).contains("45 EUR"), "{start}");
    }
    // Elements of rich text are shown as they are; only the text for notifications is read for mentions.
    let slack = one("/slack").json();
    assert_eq!(slack["blocks"][1]["type"], "rich_text", "{slack}");
    let notified = slack["text"].as_str().unwrap();
    assert!(!notified.contains('<') && !notified.contains("@everyone"), "{slack}");
    let matrix = one("/matrix");
    assert!(matrix.path().ends_with(changed["id"].as_str().unwrap()), "{}", matrix.path());
    assert_eq!(matrix.headers["authorization"], "Bearer s3cret");
    let generic = one("/generic").json();
    assert_eq!(
        (&generic["checkId"], &generic["pages"][0]["status"]),
        (&changed["id"], &json!("changed")),
        "{generic}"
    );
    let retried = told.iter().filter(|got| got.path() == "/fails/2");
    let retried: Vec<Value> = retried.map(|got| got.json()["checkId"].clone()).collect();
    assert_eq!(retried, vec![changed["id"].clone(); 3], "the same message until it is taken");

    // The page of the check.
    let anyone = http.with_key(None);
    assert_eq!(path_of(generic["link"].as_str().unwrap()), path_of(changed["diffUrl"].as_str().unwrap()));
    let diff = anyone.get(&path_of(generic["link"].as_str().unwrap())).await.unwrap();
    assert_eq!(diff.status, 200);
    assert!(diff.header("content-security-policy").starts_with("default-src 'none'"));
    assert_eq!(
        (diff.header("referrer-policy"), diff.header("cache-control")),
        ("no-referrer", "private, no-store")
    );
    for markup in ["<script", "<img src=x", "onerror=alert(1)>"] {
        assert!(!diff.text.contains(markup), "{markup}: {}", diff.text);
    }
    assert!(diff.text.contains("&lt;script"), "{}", diff.text);
    assert!(diff.text.contains("Chairs &lt;img src=x onerror=alert(1)&gt;"), "{}", diff.text);
    let anchor = generic["pages"][0]["link"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    assert!(diff.text.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    // The timeline and the feed.
    let timeline = anyone.get(&path_of(view["timelineUrl"].as_str().unwrap())).await.unwrap();
    assert!(timeline.status == 200 && timeline.text.contains("2 checks"), "{}", timeline.text);
    assert!(!timeline.text.contains("<img src=x"), "{}", timeline.text);
    let first = "new\">First check</span><span class=\"what\">1 page</span>";
    assert!(timeline.text.contains(first), "a first check changed nothing: {}", timeline.text);
    let feed_path = path_of(view["feedUrl"].as_str().unwrap());
    let feed = anyone.get(&feed_path).await.unwrap();
    assert!(feed.header("content-type").starts_with("application/atom+xml"), "{}", feed.text);
    assert_eq!(feed.text.matches("<entry>").count(), 1, "{}", feed.text);
    assert!(feed.text.contains("45 EUR") && !feed.text.contains("<script"), "{}", feed.text);
    // A token opens what it was made for.
    let token = feed_path.split_once("token=").unwrap().1;
    for wrong in ["/monitor/diff", "/monitor/timeline", "/monitor/email/confirm"] {
        assert_eq!(anyone.get(&format!("{wrong}?token={token}")).await.unwrap().status, 404, "{wrong}");
    }
    http.delete(&path).await.unwrap().expect_success();
    for gone in [feed_path.as_str(), &path_of(changed["diffUrl"].as_str().unwrap())] {
        let shown = anyone.get(gone).await.unwrap();
        assert_eq!((shown.status, shown.header("content-type")), (404, "text/html; charset=utf-8"), "{gone}");
    }
    for broken in ["/monitor/diff?token=old", "/monitor/timeline", "/monitor/diff?utm_source=mail&token=x"] {
        let shown = anyone.get(broken).await.unwrap();
        assert_eq!(shown.status, 404, "{broken}");
        assert!(shown.text.contains("<h1>This link is not valid</h1>"), "{broken}: {}", shown.text);
    }
}

#[tokio::test]
async fn a_second_error_and_its_end_are_told() {
    let receiver = Receiver::start();
    let (_, server) = shared().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let channel = json!({ "type": "generic", "url": receiver.url("/generic") });
    let monitor = create(http, &site, json!({ "notification": { "channels": [channel] } })).await;
    run(http, &monitor).await;
    let mut status = Vec::new();
    for content in ["503", "503", "503", "<p>Price: 80 EUR</p>"] {
        site.set(content);
        status.push(run(http, &monitor).await["notificationStatus"].clone());
    }
    assert_eq!(status, ["none", "queued", "none", "queued"]);
    let told = receiver.wait_for("/generic", 2).await;
    let told: Vec<Value> = told.iter().map(|got| got.json()["pages"][0]["status"].clone()).collect();
    assert_eq!(told, ["error", "recovered"]);
}

#[tokio::test]
async fn quiet_hours_end_with_one_message() {
    let (dir, receiver) = (TempDir::new(), Receiver::start());
    let config = config(&dir);
    let server = config.start().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let now = jiff::Timestamp::now();
    let clock = |hours: i64| {
        let at = now + jiff::SignedDuration::from_hours(hours);
        at.strftime("%H:%M").to_string()
    };
    let quiet = json!({ "from": clock(-2), "until": clock(2), "timezone": "UTC" });
    let channel = json!({ "type": "generic", "url": receiver.url("/generic") });
    let more = json!({ "notification": { "channels": [channel], "quietHours": quiet } });
    let monitor = create(http, &site, more).await;
    run(http, &monitor).await;
    let mut last = Value::Null;
    for price in [70, 60] {
        site.set(&format!("<p>Price: {price} EUR</p>"));
        last = run(http, &monitor).await;
        assert_eq!(last["notificationStatus"], "held", "{last}");
    }
    // Time for a message that should not come yet.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(receiver.deliveries("/generic").is_empty(), "it is night");
    // The hours end.
    let python = std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run through `make test`");
    let program = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=20); \
                   db.execute('UPDATE delivery_subjects SET due_at = 0'); db.commit()";
    let moved = Command::new(python).args(["-c", program]).arg(dir.path().join("data/gannet.db")).status();
    assert!(moved.unwrap().success());
    let told = receiver.wait_for("/generic", 1).await[0].json();
    assert_eq!((&told["checkId"], told["pages"].as_array().unwrap().len()), (&last["id"], 2), "{told}");
    assert!(
        told["text"].as_str().unwrap().contains("70 EUR")
            && told["text"].as_str().unwrap().contains("60 EUR")
    );
    // Time for a second one.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(receiver.deliveries("/generic").len(), 1, "one message for all of them");
}

#[tokio::test]
async fn screenshots_are_kept_side_by_side() {
    let dir = TempDir::new();
    let config = config(&dir);
    let settings = config.settings.iter().filter(|(name, _)| name != "browser").cloned().collect();
    let server = crate::server::ServerConfig { settings, ..config }.start().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let target = json!({
        "type": "scrape", "urls": [site.server.url("/chair")],
        "scrapeOptions": { "formats": ["markdown", "screenshot"] },
    });
    let monitor = create(http, &site, json!({ "targets": [target] })).await;
    run(http, &monitor).await;
    site.set("<p>Price: 45 EUR</p>");
    let changed = run(http, &monitor).await;
    let pair = &changed["pages"][0]["metadata"]["screenshots"];
    let anyone = http.with_key(None);
    let mut sizes = Vec::new();
    for side in ["previous", "current"] {
        let picture =
            anyone.get(&path_of(pair[side].as_str().unwrap_or_else(|| panic!("{changed}")))).await.unwrap();
        assert_eq!((picture.status, picture.header("content-type")), (200, "image/png"), "{side}");
        sizes.push(picture.text.len());
    }
    assert_ne!(pair["previous"], pair["current"]);
    let diff = anyone.get(&path_of(changed["diffUrl"].as_str().unwrap())).await.unwrap();
    assert_eq!(diff.text.matches("<img ").count(), 2, "{}", diff.text);
    let source = diff.text.split("src=\"").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    assert_eq!(anyone.get(&source).await.unwrap().status, 200, "{source}");
    assert!(sizes.iter().all(|size| *size > 0));
}
