//! Runs that open a page in a browser: rows that appear only after clicks, the trace, and that no session is left.

use super::{AgentFixture, AgentSite, check_with_python_models};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::ModelServer;
use testkit::model_server::{MODEL, ScriptedResponse};

fn feeders() -> Value {
    json!({ "prompt": "Every feeder with its name and price", "schema": { "type": "object", "properties": {
        "feeders": { "type": "array", "items": { "type": "object", "properties": {
            "name": { "type": "string" }, "price": { "type": "number" } }, "required": ["name", "price"] } } } } })
}

fn names(status: &Value) -> Vec<&str> {
    let rows = status["data"]["feeders"].as_array().unwrap_or_else(|| panic!("{status}"));
    rows.iter().map(|row| row["name"].as_str().unwrap()).collect()
}

const ALL: [&str; 6] =
    ["Oak feeder", "Larch feeder", "Pine feeder", "Ash feeder", "Elm feeder", "Yew feeder"];

fn events<'a>(trace: &'a [Value], kind: &str) -> Vec<&'a Value> {
    trace.iter().filter(|event| event["type"] == kind).collect()
}

/// Waits until no session of the team runs.
async fn expect_no_session(fixture: &AgentFixture) {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let list = fixture.http().get("/v2/browser?status=active").await.unwrap();
        if list.expect_success()["sessions"] == json!([]) {
            return;
        }
        assert!(Instant::now() < end, "a session is left: {}", list.text);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn rows_behind_load_more_are_found_without_a_model() {
    let fixture = AgentFixture::with_browser().await;
    let id = fixture.start("/feeders", feeders()).await;
    let status = fixture.wait_for_end(&id).await;
    assert_eq!(names(&status), ALL, "{status}");
    assert_eq!(status["creditsUsed"], 2, "the page, and the page in the browser");
    let trace = fixture.trace(&id).await;
    let (started, finished) =
        (events(&trace, "browser.session.started"), events(&trace, "browser.session.finished"));
    assert_eq!((started.len(), finished.len()), (1, 1), "{trace:#?}");
    assert_eq!(started[0]["sessionId"], finished[0]["sessionId"]);
    assert!(finished[0]["durationMs"].as_u64().unwrap() > 0);
    expect_no_session(&fixture).await;
    let ended = fixture.http().get("/v2/browser?status=destroyed").await.unwrap();
    let session = &ended.expect_success()["sessions"][0];
    assert_eq!((&session["id"], &session["creditsBilled"]), (&started[0]["sessionId"], &json!(0)));
    let whole = fixture.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
    check_with_python_models(&[status, whole.json]);
}

#[tokio::test]
async fn a_strict_run_clicks_on_its_page_and_reads_no_other() {
    let fixture = AgentFixture::with_browser().await;
    let mut asked = feeders();
    asked["strictConstrainToURLs"] = json!(true);
    let id = fixture.start("/feeders", asked).await;
    let status = fixture.wait_for_end(&id).await;
    assert_eq!(names(&status), ALL, "{status}");
}

#[tokio::test]
async fn a_model_clicks_and_records_what_comes() {
    let pages = AgentSite::start();
    let url = pages.url("/feeders");
    let record = {
        let field = |number: usize, name: &str| json!({ "field": format!("/feeders/{number}/name"), "value": name, "url": url, "quote": name });
        let price = |number: usize, price: u32| json!({ "field": format!("/feeders/{number}/price"), "value": price, "url": url, "quote": price.to_string() });
        json!({ "fields": [field(0, "Oak feeder"), price(0, 12), field(1, "Yew feeder"), price(1, 40)] })
    };
    let open_url = url.clone();
    let model = ModelServer::start(move |request| {
        let before = request.messages().iter().filter(|message| message["role"] == "assistant").count();
        // The ref of the button, as the page shows it.
        let page = request.messages().iter().map(Value::to_string).collect::<String>();
        let button = page.rsplit("Load more").next().and_then(|rest| rest.split("ref=").nth(1));
        let button: String = button.unwrap_or("e0").chars().take_while(char::is_ascii_alphanumeric).collect();
        let click = json!({ "command": format!("click @{button}") });
        match before {
            0 => ScriptedResponse::call("open_browser", &json!({ "url": open_url })),
            1 | 2 => ScriptedResponse::call("browser_command", &click),
            3 => ScriptedResponse::call("read_browser", &json!({})),
            4 => ScriptedResponse::call("record", &record),
            _ => ScriptedResponse::call("finish", &json!({})),
        }
    });
    let model_url = model.url();
    let change = |config: crate::server::ServerConfig| {
        config.set("browser", "").set("model_url", &model_url).set("model_name", MODEL)
    };
    let fixture = AgentFixture { pages, ..AgentFixture::with(change).await };
    let id = fixture.start("/feeders", feeders()).await;
    let status = fixture.wait_for_end(&id).await;
    assert_eq!(names(&status)[..2], ["Oak feeder", "Yew feeder"], "{status}");
    let trace = fixture.trace(&id).await;
    assert_eq!(events(&trace, "browser.session.finished").len(), 1, "{trace:#?}");
    expect_no_session(&fixture).await;
}

#[tokio::test]
async fn a_session_can_be_watched_and_ends_when_its_run_is_cancelled() {
    let fixture = AgentFixture::with_browser().await;
    let id = fixture.start("/slow-feeders", feeders()).await;
    let started = fixture.wait_for_event(&id, "browser.session.started").await;
    let live = fixture.http().get(&format!("/v2/agent/{id}/trace?liveView=true")).await.unwrap();
    let session = &live.expect_success()["activeBrowserSessions"][0];
    assert_eq!(session["id"], started["sessionId"]);
    assert_eq!(session["viewport"], json!({ "width": 1280, "height": 800 }));
    let view = session["liveViewUrl"].as_str().unwrap().strip_prefix(&fixture.http().base).unwrap();
    assert_eq!(fixture.http().get(view).await.unwrap().status, 200);
    fixture.http().delete(&format!("/v2/agent/{id}")).await.unwrap().expect_success();
    let status = fixture.wait_for_end(&id).await;
    assert_eq!(status["stopReason"], "cancelled", "{status}");
    let trace = fixture.trace(&id).await;
    assert_eq!(events(&trace, "browser.session.finished").len(), 1, "{trace:#?}");
    expect_no_session(&fixture).await;
}

#[tokio::test]
async fn without_a_browser_or_a_slot_the_run_goes_on_and_says_so() {
    for (fixture, why) in [
        (AgentFixture::open().await, "no browser is installed"),
        (AgentFixture::with(|config| config.set("browser", "").set("interact_sessions", "1")).await, "limit"),
    ] {
        // The only session of the server is taken.
        let taken = fixture.http().post("/v2/browser", &json!({})).await.unwrap();
        let id = fixture.start("/feeders", feeders()).await;
        let status = fixture.wait_for_end(&id).await;
        assert_eq!(names(&status), ALL[..2], "{status}");
        let trace = fixture.trace(&id).await;
        let errors = events(&trace, "error.occurred");
        let said = errors.iter().any(|event| event["error"]["message"].as_str().unwrap().contains(why));
        assert!(said, "{why}: {errors:#?}");
        drop(taken);
    }
}
