//! Mail of monitors, through a real mail server: confirmed, unsubscribed, put off, refused, and never for
//! noise.

use super::mail_server::{MailServer, path_of};
use super::{ChangingSite, config, create, run};
use crate::http::Http;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::TempDir;

async fn subscriptions(http: &Http, monitor: &str) -> Value {
    let shown = http.get(&format!("/v2/monitor/{monitor}")).await.unwrap();
    shown.expect_success()["data"]["emailRecipientSubscriptions"].clone()
}

async fn post_form(http: &Http, path: &str, body: &'static str) -> (u16, String) {
    let request = http.with_key(None).request(Method::POST, path);
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
    let response = http.send(request).await.unwrap();
    (response.status, response.text)
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story, from the first mail to the last")]
async fn recipients_decide_and_get_one_digest_for_each_check() {
    let (dir, mails) = (TempDir::new(), MailServer::start("starttls-auth"));
    let server = config(&dir)
        .set("smtp_url", &format!("smtp://me%40a.example:pass%20word@localhost:{}", mails.port))
        .set("extra_certificates", &mails.certificate().display().to_string())
        .set("mail_from", "Gannet <monitors@gannet.example>")
        .set("mail_trusted", "team.example")
        .set("webhook_retries", "200ms,200ms")
        .start()
        .await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let recipients = ["ann@team.example", "grey@out.example", "refused@out.example"];
    let email = json!({ "enabled": true, "recipients": recipients, "includeDiffs": true });
    let more = json!({ "name": "Chair <b>", "goal": "price below 50", "notification": { "email": email } });
    let monitor = create(http, &site, more).await;
    let asked = subscriptions(http, &monitor).await;
    let states: Vec<(&Value, &Value)> =
        asked.as_array().unwrap().iter().map(|one| (&one["status"], &one["source"])).collect();
    let (confirmed, pending, team, opt_in) =
        (&json!("confirmed"), &json!("pending"), &json!("team"), &json!("opt_in"));
    assert_eq!(states, [(confirmed, team), (pending, opt_in), (pending, opt_in)], "{asked}");

    // Greylisted at first, refused for ever: the one comes later, the other is a dead letter with its reason.
    let question = mails.wait_for(1).await.remove(0);
    assert_eq!((question.to.as_str(), question.over_tls), ("grey@out.example", true));
    assert!(question.subject.contains("Confirm"), "{question:?}");
    let end = Instant::now() + Duration::from_secs(20);
    let failed = loop {
        let failed = http.get("/v2/team/webhooks/failed").await.unwrap().expect_success()["data"].clone();
        if !failed.as_array().unwrap().is_empty() {
            break failed;
        }
        assert!(Instant::now() < end, "no dead letter");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(
        (&failed[0]["url"], failed.as_array().unwrap().len()),
        (&json!("mailto:refused@out.example"), 1)
    );
    assert_eq!((&failed[0]["type"], &failed[0]["jobId"]), (&json!("monitor.email.confirm"), &json!(monitor)));
    assert!(failed[0]["error"].as_str().unwrap().contains("550"), "{failed}");

    // Opening the link, as scanners of mail do, confirms nothing.
    let confirm = question.link("/monitor/email/confirm");
    let page = http.with_key(None).get(&confirm).await.unwrap();
    assert_eq!((page.status, page.text.contains("<form method=\"post\">")), (200, true), "{}", page.text);
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    assert!(page.text.contains("Chair &lt;b&gt;") && !page.text.contains("Chair <b>"), "{}", page.text);
    assert_eq!(subscriptions(http, &monitor).await[1]["status"], "pending");
    let (status, text) = post_form(http, &confirm, "").await;
    assert_eq!((status, text.contains("Confirmed")), (200, true), "{text}");
    assert_eq!(subscriptions(http, &monitor).await[1]["status"], "confirmed");

    let first = run(http, &monitor).await;
    assert_eq!(first["notificationStatus"], "none", "new to the monitor is no news: {first}");
    site.set("<p>Price: 45 EUR</p>");
    let changed = run(http, &monitor).await;
    assert_eq!(changed["notificationStatus"], "queued", "{changed}");
    let mut got = mails.wait_for(3).await.split_off(1);
    got.sort_by(|one, other| one.to.cmp(&other.to));
    assert_eq!(
        got.iter().map(|mail| mail.to.as_str()).collect::<Vec<_>>(),
        ["ann@team.example", "grey@out.example"]
    );
    assert_ne!(got[0].message_id, got[1].message_id);
    for mail in &got {
        assert!(mail.message_id.contains(changed["id"].as_str().unwrap()), "{mail:?}");
        assert_eq!(mail.subject, "Chair <b>: 1 changed");
        assert!(mail.text.contains("+ Price: 45 EUR") && mail.text.contains("Matters"), "{}", mail.text);
        assert!(mail.html.contains("Chair &lt;b&gt;"), "{}", mail.html);
        let diff = http.with_key(None).get(&mail.link("/monitor/diff")).await.unwrap();
        assert!(diff.status == 200 && diff.text.contains("45"), "{}", diff.text);
    }

    // By the mail program (RFC 8058), and by the API.
    let unsubscribe = path_of(&got[0].unsubscribe);
    assert_eq!(http.with_key(None).get(&unsubscribe).await.unwrap().status, 200);
    assert_eq!(subscriptions(http, &monitor).await[0]["status"], "confirmed", "a GET only asks");
    let (status, text) = post_form(http, &unsubscribe, "List-Unsubscribe=One-Click").await;
    assert_eq!((status, text.contains("Unsubscribed")), (200, true), "{text}");
    let token = got[1].unsubscribe.split_once("token=").unwrap().1.to_owned();
    let anyone = http.with_key(None);
    let wrong = anyone.post("/v2/monitor/email/confirm", &json!({ "token": token })).await.unwrap();
    wrong.expect_error(404, "Subscription not found");
    let done = anyone.post("/v2/monitor/email/unsubscribe", &json!({ "token": token })).await.unwrap();
    assert_eq!(
        (&done.expect_success()["email"], &done.json["status"]),
        (&json!("grey@out.example"), &json!("unsubscribed"))
    );
    let states = subscriptions(http, &monitor).await;
    assert!((0..2).all(|place| states[place]["status"] == "unsubscribed"), "{states}");
    // Who unsubscribed is not asked again when they are named again.
    let patch = |recipients: Value| {
        let body = json!({ "notification": { "email": { "enabled": true, "recipients": recipients } } });
        http.send(http.request(Method::PATCH, &format!("/v2/monitor/{monitor}")).json(&body))
    };
    patch(json!([])).await.unwrap().expect_success();
    let back = patch(json!(["grey@out.example", "eve@team.example"])).await.unwrap();
    let shown = &back.expect_success()["data"]["emailRecipientSubscriptions"];
    assert_eq!(
        (&shown[0]["status"], &shown[1]["status"]),
        (&json!("confirmed"), &json!("unsubscribed")),
        "{shown}"
    );

    // A change that does not matter for the goal is told to nobody.
    site.set("<p>Price: 75 EUR</p>");
    let noise = run(http, &monitor).await;
    assert_eq!(
        (&noise["summary"]["changed"], &noise["notificationStatus"]),
        (&json!(1), &json!("none")),
        "{noise}"
    );
    // Time for a mail that nobody should get.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(mails.mails().len(), 3, "{:?}", mails.mails());
}

#[tokio::test]
async fn without_a_mail_server_monitors_say_so() {
    let dir = TempDir::new();
    let config = config(&dir);
    let (code, out, _) = crate::server::run(config.command(&["doctor"]));
    assert!(code.is_some() && out.contains("monitors send no mail"), "{out}");
    let wrong = config.clone().set("smtp_url", "smtp://u:s3cret@localhost:1");
    let (code, _, errors) = crate::server::run(wrong.command(&["doctor"]));
    assert!(code != Some(0) && errors.contains("mail_from") && !errors.contains("s3cret"), "{errors}");
    let mails = MailServer::start("plain");
    let plain = config.clone().set("smtp_url", &format!("smtp://localhost:{}", mails.port));
    let plain = plain.set("mail_from", "g@gannet.example").set("public_url", "https://gannet.example");
    let (_, out, errors) = crate::server::run(plain.command(&["doctor"]));
    assert!(out.contains(&format!("localhost:{} from g@gannet.example: works", mails.port)), "{out}{errors}");
}

#[tokio::test]
async fn an_address_is_not_asked_again_and_again() {
    let (dir, mails) = (TempDir::new(), MailServer::start("plain"));
    let server = config(&dir)
        .set("smtp_url", &format!("smtp://localhost:{}", mails.port))
        .set("mail_from", "monitors@gannet.example")
        .start()
        .await;
    let (http, site) = (&server.http, ChangingSite::start("<p>Price: 80 EUR</p>"));
    let email = json!({ "enabled": true, "recipients": ["stranger@out.example"] });
    let body = json!({
        "name": "Chair", "schedule": { "cron": super::RARELY }, "notification": { "email": email },
        "targets": [{ "type": "scrape", "urls": [site.server.url("/chair")] }],
    });
    let mut sent = Vec::new();
    for _ in 0..5 {
        let created = http.post("/v2/monitor", &body).await.unwrap();
        let asked = &created.expect_success()["data"]["emailRecipientSubscriptions"][0];
        assert_eq!(asked["status"], "pending", "{}", created.text);
        sent.push(asked["confirmationEmailSent"] == true);
    }
    assert_eq!(sent, [true, true, true, false, false]);
    assert_eq!(mails.wait_for(3).await.len(), 3);
}
