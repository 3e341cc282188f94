//! `kill -9` in the middle of checks: each ends once, its webhooks, mails and messages come, none twice under
//! two ids, and no page is charged twice. A firing that was missed while no server ran becomes one check.

use super::mail_server::MailServer;
use super::{ChangingSite, config, counts, create, run, wait};
use crate::kill::Random;
use crate::webhooks::{Delivery, Receiver};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;
use testkit::{TempDir, shared_database};

/// How many kills, and the milliseconds of a check within which they come.
fn kills() -> (u64, u64) {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { (200, 7_000) } else { (1, 2_500) }
}

/// The ids of deliveries for each check and event.
fn delivery_ids(told: &[Delivery]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut ids: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for body in told.iter().map(Delivery::json) {
        ids.entry((text(&body["id"]), text(&body["type"]))).or_default().insert(text(&body["webhookId"]));
    }
    ids
}

async fn survive(database: Option<String>) {
    let (dir, receiver, mut random) = (TempDir::new(), Receiver::start(), Random::new());
    let mails = MailServer::start("plain");
    let config = config(&dir)
        .set("smtp_url", &format!("smtp://localhost:{}", mails.port))
        .set("mail_from", "g@gannet.example")
        .set("mail_trusted", "team.example")
        .set("mail_timeout", "3s")
        .set("webhook_timeout", "3s");
    let config = match &database {
        Some(url) => config.set("database_url", url),
        None => config,
    };
    let site = ChangingSite::start("<p>Price: 500 EUR</p>");
    let mut server = config.start().await;
    let notification = json!({
        "email": { "enabled": true, "recipients": ["ann@team.example", "bob@team.example"] },
        "channels": [{ "type": "generic", "url": receiver.url("/channel") }],
    });
    let more = json!({ "webhook": receiver.url("/hook"), "notification": notification });
    let monitor = create(&server.http, &site, more).await;
    run(&server.http, &monitor).await;
    let mut changed = BTreeSet::new();
    let (kills, max_millis) = kills();
    for round in 0..kills {
        site.set(&format!("<p>Price: {} EUR</p>", 400 - round));
        let started = server.http.post(&format!("/v2/monitor/{monitor}/run"), &json!({})).await.unwrap();
        let check = started.expect_success()["id"].as_str().unwrap().to_owned();
        tokio::time::sleep(Duration::from_millis(random.below(max_millis))).await;
        server.kill();
        server = config.start().await;
        let ended = wait(&server.http, &monitor, &check).await;
        assert_eq!((&ended["status"], counts(&ended)), (&json!("completed"), [1, 0, 1, 0, 0, 0]), "{ended}");
        changed.insert(check);
    }
    let checks = kills + 1;
    let listed = server.http.get(&format!("/v2/monitor/{monitor}/checks?limit=100")).await.unwrap();
    assert_eq!(listed.expect_success()["data"].as_array().unwrap().len() as u64, checks.min(100));
    let expected = usize::try_from(checks * 2).unwrap();
    let told = receiver.wait_for("/hook", expected).await;
    let ids = delivery_ids(&told);
    assert_eq!(ids.len(), expected, "each check told of its page and of its end");
    assert!(ids.values().all(|ids| ids.len() == 1), "{ids:?}");
    assert_told(&receiver, &mails, &changed).await;
    let usage = server.http.get("/v2/team/credit-usage/historical").await.unwrap();
    assert_eq!(usage.expect_success()["periods"][0]["creditsUsed"], checks, "{}", usage.text);
}

/// Each check in which something changed was told to both recipients and to the channel, under one id each.
async fn assert_told(receiver: &Receiver, mails: &MailServer, changed: &BTreeSet<String>) {
    let end = std::time::Instant::now() + Duration::from_mins(1);
    loop {
        let channel = receiver.deliveries("/channel");
        let channel: BTreeSet<String> =
            channel.iter().map(|got| got.json()["checkId"].as_str().unwrap().to_owned()).collect();
        let ids: BTreeSet<(String, String)> =
            mails.mails().into_iter().map(|mail| (mail.to, mail.message_id)).collect();
        let of = |check: &String| ids.iter().filter(|(_, id)| id.contains(check.as_str())).count();
        if channel == *changed && changed.iter().all(|check| of(check) == 2) {
            assert_eq!(ids.len(), changed.len() * 2, "no mail about anything else: {ids:?}");
            return;
        }
        assert!(std::time::Instant::now() < end, "{changed:?}: {channel:?} {ids:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn checks_survive_kills_on_sqlite() {
    survive(None).await;
}

#[tokio::test]
async fn checks_survive_kills_on_postgresql() {
    survive(Some(shared_database())).await;
}

#[tokio::test]
async fn missed_firings_become_one_check() {
    let dir = TempDir::new();
    let config = config(&dir);
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let server = config.start().await;
    let monitor = create(&server.http, &site, json!({ "schedule": { "cron": "*/5 * * * *" } })).await;
    server.kill();
    // Days without a server.
    let python = std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run through `make test`");
    let program = "import sqlite3, sys, time; db = sqlite3.connect(sys.argv[1]); \
                   db.execute('UPDATE monitors SET next_run_at = ?', (int(time.time() * 1000) - 3 * 86400000,)); db.commit()";
    let file = dir.path().join("data/gannet.db");
    let moved = Command::new(python).args(["-c", program]).arg(&file).output().unwrap();
    assert!(moved.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&moved.stderr));
    let server = config.start().await;
    let path = format!("/v2/monitor/{monitor}/checks?status=completed");
    let end = std::time::Instant::now() + Duration::from_secs(30);
    while server.http.get(&path).await.unwrap().expect_success()["data"].as_array().unwrap().is_empty() {
        assert!(std::time::Instant::now() < end, "no check");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let all = server.http.get(&format!("/v2/monitor/{monitor}/checks")).await.unwrap();
    let all = all.expect_success()["data"].as_array().unwrap().clone();
    assert_eq!((all.len(), &all[0]["trigger"]), (1, &json!("scheduled")), "{all:?}");
    let shown = server.http.get(&format!("/v2/monitor/{monitor}")).await.unwrap();
    let next = shown.expect_success()["data"]["nextRunAt"].as_str().unwrap().to_owned();
    assert!(next.as_str() > all[0]["finishedAt"].as_str().unwrap(), "no other is due: {next}");
}
