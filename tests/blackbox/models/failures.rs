//! A model that is not there, hangs, complains or babbles: each a clear error in time, nothing charged.

use super::{MODEL_KEY, Study, json_format};
use crate::scrape::failed;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::ModelServer;
use testkit::model_server::{Said, Talents};

#[tokio::test]
async fn a_model_that_fails_is_a_503_that_says_how() {
    for (said, why) in [
        (Said::Status(500, "out of memory at http://10.9.8.7/".into()), "cannot be reached"),
        (Said::Status(404, "model not found".into()), "refused"),
        (Said::Garbage(vec![0xfe; 900]), "nonsense"),
        (Said::WrongType("<html>sign in</html>".into()), "nonsense"),
        (Said::Huge(100 << 20), "nonsense"),
    ] {
        let study = Study::open(ModelServer::saying(vec![said.clone()])).await;
        let reply = study.scrape("/article", json!("summary")).await;
        failed(&reply, 503, "MODEL_UNAVAILABLE");
        assert!(reply.json["error"].as_str().unwrap().contains(why), "{said:?}: {}", reply.text);
        assert!(!reply.text.contains("10.9.8.7"), "what the server says is for the log: {}", reply.text);
        assert_eq!(study.house.credits_used().await, 0);
    }
}

#[tokio::test]
async fn a_model_that_is_gone_is_a_503() {
    let study = Study::open(ModelServer::saying(vec![Said::text("x")])).await;
    let Study { house, model } = study;
    let address = model.address;
    drop(model);
    let reply = house.scrape("/article", json!({ "formats": ["summary"] })).await;
    failed(&reply, 503, "MODEL_UNAVAILABLE");
    assert!(
        !reply.text.contains(&address.port().to_string()),
        "where it is, is nobody's business: {}",
        reply.text
    );
}

#[tokio::test]
async fn a_model_that_asks_to_wait_is_waited_for_or_told() {
    let study = Study::open(ModelServer::saying(vec![
        Said::TooMany { retry_after: Some(1) },
        Said::text("A summary at last."),
        Said::TooMany { retry_after: Some(77) },
    ]))
    .await;
    let reply = study.scrape("/article", json!("summary")).await;
    assert_eq!(reply.is_success()["data"]["summary"], "A summary at last.");
    let reply = study.scrape("/article", json!("summary")).await;
    failed(&reply, 503, "MODEL_UNAVAILABLE");
    assert_eq!(reply.header("retry-after"), "77");
}

#[tokio::test]
async fn a_model_that_hangs_ends_with_the_request() {
    for said in [Said::Stall, Said::StallAfter("It was".into())] {
        let study = Study::open(ModelServer::saying(vec![said])).await;
        let began = Instant::now();
        let options = json!({ "formats": [json_format()], "timeout": 2000 });
        let reply = study.house.scrape("/article", options).await;
        let details = failed(&reply, 408, "SCRAPE_TIMEOUT");
        assert_eq!(details["while"], "waiting for the language model");
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        assert_eq!(study.house.credits_used().await, 0);
    }
}

#[tokio::test]
async fn a_wrong_key_shows_nowhere() {
    let talents = Talents { key: Some("another".into()), ..Talents::default() };
    let study = Study::open(ModelServer::with(talents, |_| Said::text("never"))).await;
    let reply = study.scrape("/article", json!("summary")).await;
    failed(&reply, 503, "MODEL_UNAVAILABLE");
    let log = study.house.server.log();
    assert!(log.contains("401") && !log.contains(MODEL_KEY) && !reply.text.contains(MODEL_KEY), "{log}");
}
