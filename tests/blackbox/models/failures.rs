//! A model that is unreachable, hangs, refuses or sends garbage: each is a clear error in time, and nothing
//! is charged.

use super::{MODEL_KEY, ModelFixture, json_format};
use crate::scrape::assert_failure;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::ModelServer;
use testkit::model_server::{ModelCapabilities, ScriptedResponse};

#[tokio::test]
async fn a_failing_model_is_a_503_with_the_reason() {
    for (scripted, why) in [
        (ScriptedResponse::Status(500, "out of memory at http://10.9.8.7/".into()), "cannot be reached"),
        (ScriptedResponse::Status(404, "model not found".into()), "refused"),
        (ScriptedResponse::Garbage(vec![0xfe; 900]), "nonsense"),
        (ScriptedResponse::WrongType("<html>sign in</html>".into()), "nonsense"),
        (ScriptedResponse::Huge(100 << 20), "nonsense"),
    ] {
        let fixture = ModelFixture::open(ModelServer::with_responses(vec![scripted.clone()])).await;
        let response = fixture.scrape("/article", json!("summary")).await;
        assert_failure(&response, 503, "MODEL_UNAVAILABLE");
        assert!(response.json["error"].as_str().unwrap().contains(why), "{scripted:?}: {}", response.text);
        assert!(
            !response.text.contains("10.9.8.7"),
            "what the server says is for the log: {}",
            response.text
        );
        assert_eq!(fixture.scraping.credits_used().await, 0);
    }
}

#[tokio::test]
async fn an_unreachable_model_is_a_503() {
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![ScriptedResponse::text("x")])).await;
    let ModelFixture { scraping, model } = fixture;
    let address = model.address;
    drop(model);
    let response = scraping.scrape("/article", json!({ "formats": ["summary"] })).await;
    assert_failure(&response, 503, "MODEL_UNAVAILABLE");
    assert!(
        !response.text.contains(&address.port().to_string()),
        "the error does not show where the model is: {}",
        response.text
    );
}

#[tokio::test]
async fn a_model_that_asks_to_wait_is_retried_or_reported() {
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![
        ScriptedResponse::TooMany { retry_after: Some(1) },
        ScriptedResponse::text("A summary at last."),
        ScriptedResponse::TooMany { retry_after: Some(77) },
    ]))
    .await;
    let response = fixture.scrape("/article", json!("summary")).await;
    assert_eq!(response.expect_success()["data"]["summary"], "A summary at last.");
    let response = fixture.scrape("/article", json!("summary")).await;
    assert_failure(&response, 503, "MODEL_UNAVAILABLE");
    assert_eq!(response.header("retry-after"), "77");
}

#[tokio::test]
async fn a_model_that_hangs_ends_with_the_request() {
    for scripted in [ScriptedResponse::Stall, ScriptedResponse::StallAfter("It was".into())] {
        let fixture = ModelFixture::open(ModelServer::with_responses(vec![scripted])).await;
        let began = Instant::now();
        let options = json!({ "formats": [json_format()], "timeout": 2000 });
        let response = fixture.scraping.scrape("/article", options).await;
        let details = assert_failure(&response, 408, "SCRAPE_TIMEOUT");
        assert_eq!(details["while"], "waiting for the language model");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert_eq!(fixture.scraping.credits_used().await, 0);
    }
}

#[tokio::test]
async fn a_wrong_model_key_is_never_shown() {
    let capabilities = ModelCapabilities { key: Some("another".into()), ..ModelCapabilities::default() };
    let fixture =
        ModelFixture::open(ModelServer::with(capabilities, |_| ScriptedResponse::text("never"))).await;
    let response = fixture.scrape("/article", json!("summary")).await;
    assert_failure(&response, 503, "MODEL_UNAVAILABLE");
    let log = fixture.scraping.server.log();
    assert!(log.contains("401") && !log.contains(MODEL_KEY) && !response.text.contains(MODEL_KEY), "{log}");
}
