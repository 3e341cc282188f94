//! What is a change, and what is told of it.

use super::{ChangingSite, counts, create, run, shared};
use crate::webhooks::{Delivery, Receiver};
use serde_json::{Value, json};

#[tokio::test]
async fn changes_are_told_and_noise_is_not_one() {
    let receiver = Receiver::start();
    let (_, server) = shared().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let more = json!({ "goal": "price below 50", "webhook": receiver.url("/hook") });
    let monitor = create(http, &site, more).await;
    let first = run(http, &monitor).await;
    assert_eq!((&first["status"], counts(&first)), (&json!("completed"), [1, 0, 0, 1, 0, 0]), "{first}");
    let same = run(http, &monitor).await;
    assert_eq!(counts(&same), [1, 1, 0, 0, 0, 0], "{same}");
    assert_eq!(same["pages"][0]["metadata"]["ignored"][0]["kind"], "counter", "{same}");
    site.set("<p>Price: 45 EUR</p>");
    let changed = run(http, &monitor).await;
    let page = &changed["pages"][0];
    assert_eq!((counts(&changed), &page["status"]), ([1, 0, 1, 0, 0, 0], &json!("changed")), "{changed}");
    assert!(page["diff"]["text"].as_str().unwrap().contains("+Price: 45 EUR"), "{page}");
    assert!(page["diff"]["json"]["files"][0]["chunks"].is_array(), "{page}");
    assert_eq!(page["judgment"]["meaningful"], true, "{page}");
    assert_eq!(page["judgment"]["confidence"], "medium");
    assert_eq!(page["judgment"]["meaningfulChanges"][0]["type"], "changed");
    assert_eq!(page["previousScrapeId"], first["pages"][0]["currentScrapeId"]);
    let result = &changed["targetResults"][0];
    assert_eq!((&result["resultsJudged"], &result["judgeDegraded"]), (&json!(1), &json!(true)), "{result}");
    assert_eq!(result["expectedJobs"], json!([page["currentScrapeId"]]));
    let scrape = page["currentScrapeId"].as_str().unwrap();
    let scraped = http.get(&format!("/v2/scrape/{scrape}")).await.unwrap();
    assert!(scraped.expect_success()["data"]["markdown"].as_str().unwrap().contains("45 EUR"));
    // An error is no change, and the next check compares with the last good one.
    site.set("503");
    let error = run(http, &monitor).await;
    assert_eq!((&error["status"], counts(&error)), (&json!("failed"), [1, 0, 0, 0, 0, 1]), "{error}");
    site.set("<p>Price: 45 EUR</p>");
    assert_eq!(counts(&run(http, &monitor).await), [1, 1, 0, 0, 0, 0]);
    let told = receiver.wait_for("/hook", 10).await;
    let told: Vec<Value> = told.iter().map(Delivery::json).collect();
    let pages: Vec<&Value> = told.iter().filter(|body| body["type"] == "monitor.page").collect();
    assert_eq!(
        pages.iter().map(|body| body["data"][0]["status"].as_str().unwrap()).collect::<Vec<_>>(),
        ["new", "same", "changed", "error", "same"]
    );
    let (alert, failed) = (pages[2], pages[3]);
    assert_eq!((&alert["id"], &alert["data"][0]["isMeaningful"]), (&changed["id"], &json!(true)));
    assert_eq!((&failed["success"], &failed["data"][0]["isMeaningful"]), (&json!(false), &Value::Null));
    let ends = told.iter().filter(|body| body["type"] == "monitor.check.completed");
    let ends: Vec<&Value> = ends.map(|body| &body["data"][0]["status"]).collect();
    assert_eq!(ends, ["completed", "completed", "completed", "failed", "completed"]);
    // One credit a page; a page that could not be read costs nothing, and reading it again neither.
    let usage = http.get("/v2/team/credit-usage/historical").await.unwrap();
    assert_eq!(usage.expect_success()["periods"][0]["creditsUsed"], 4, "{}", usage.text);
    assert_eq!((&changed["actualCredits"], &changed["billingStatus"]), (&json!(1), &json!("confirmed")));
}

#[tokio::test]
async fn a_page_that_is_gone_is_removed_once() {
    let (_, server) = shared().await;
    let http = &server.http;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let monitor = create(http, &site, json!({})).await;
    run(http, &monitor).await;
    site.set("404");
    let removed = run(http, &monitor).await;
    assert_eq!((counts(&removed), &removed["pages"][0]["statusCode"]), ([1, 0, 0, 0, 1, 0], &json!(404)));
    assert_eq!(counts(&run(http, &monitor).await), [1, 1, 0, 0, 0, 0], "no news");
    site.set("<p>Price: 80 EUR</p>");
    assert_eq!(counts(&run(http, &monitor).await), [1, 0, 0, 1, 0, 0], "it is back");
    // A page far shorter than usual was not read whole.
    let chapter = |number: u32| format!("<p>Chapter {number} of the long story of chairs.</p>");
    let long = (1..60).map(chapter).collect::<Vec<_>>().concat();
    site.set(&long);
    assert_eq!(counts(&run(http, &monitor).await), [1, 0, 1, 0, 0, 0]);
    site.set("<p>Please verify that you are human. Access denied.</p>");
    let wall = run(http, &monitor).await;
    assert_eq!(counts(&wall), [1, 0, 0, 0, 0, 1], "{wall}");
    site.set(&long);
    assert_eq!(counts(&run(http, &monitor).await), [1, 1, 0, 0, 0, 0]);
}

#[tokio::test]
async fn data_is_compared_by_its_fields() {
    let (_, server) = shared().await;
    let http = &server.http;
    let page = |price: u32, note: &str| {
        format!(
            "<script type='application/ld+json'>{{\"@context\":\"https://schema.org\",\"@type\":\"Product\",\
             \"name\":\"Chair\",\"offers\":{{\"@type\":\"Offer\",\"price\":\"{price}\",\"priceCurrency\":\"EUR\"}}}}</script>\
             <p>Price: {price} EUR</p><p>{note}</p>"
        )
    };
    let site = ChangingSite::start(&page(80, "Made in Denmark."));
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" }, "price": { "type": "number" } } });
    let target = |modes: Value| {
        let tracking = json!({ "type": "changeTracking", "modes": modes, "schema": schema });
        json!({ "type": "scrape", "urls": [site.server.url("/chair")], "scrapeOptions": { "formats": ["markdown", tracking] } })
    };
    let data = create(http, &site, json!({ "targets": [target(json!(["json"]))] })).await;
    let mixed = create(http, &site, json!({ "targets": [target(json!(["git-diff", "json"]))] })).await;
    let first = run(http, &data).await;
    assert_eq!(first["pages"][0]["snapshot"]["json"]["price"], 80, "{first}");
    run(http, &mixed).await;
    site.set(&page(80, "Made in Sweden."));
    assert_eq!(counts(&run(http, &data).await), [1, 1, 0, 0, 0, 0], "only other text changed");
    let text = run(http, &mixed).await;
    assert!(text["pages"][0]["diff"]["text"].as_str().unwrap().contains("Sweden"), "{text}");
    site.set(&page(70, "Made in Sweden."));
    let changed = run(http, &data).await;
    assert_eq!(
        changed["pages"][0]["diff"],
        json!({ "json": { "price": { "previous": 80, "current": 70 } } }),
        "{changed}"
    );
    let both = run(http, &mixed).await;
    let diff = &both["pages"][0]["diff"];
    assert!(diff["text"].as_str().unwrap().contains("70 EUR"), "{both}");
    assert_eq!(diff["json"]["price"]["current"], 70, "{both}");
}
