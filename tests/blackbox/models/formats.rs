//! Formats: structured data, summaries, answers, clean text, changes of data.

use super::{MODEL_KEY, ModelFixture, json_format, schema};
use crate::crawl::{started_id, wait_for_end};
use crate::scrape::assert_failure;
use serde_json::{Value, json};
use testkit::ModelServer;
use testkit::model_server::{ModelCapabilities, ScriptedResponse};

#[tokio::test]
async fn data_conforms_to_its_schema_and_costs_five() {
    let value = json!({ "title": "How gannets dive", "metres": 30 });
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![ScriptedResponse::json(&value)])).await;
    let response = fixture.scrape("/article", json_format()).await;
    let data = &response.expect_success()["data"];
    assert_eq!(data["json"], value);
    assert!(data.get("markdown").is_none() && data.get("warning").is_none(), "{data}");
    assert_eq!(data["metadata"]["creditsUsed"], 5);
    assert!(data["metadata"]["modelUsage"]["inputTokens"].as_u64().unwrap() > 100, "{data}");
    assert_eq!(fixture.scraping.credits_used().await, 5);

    let request = &fixture.model.requests()[0];
    assert_eq!(request.authorization, Some(format!("Bearer {MODEL_KEY}")));
    assert_eq!(request.schema().unwrap()["properties"]["metres"], schema()["properties"]["metres"]);
    assert!(
        request.schema().unwrap()["properties"]["title"]["maxLength"].is_u64(),
        "nothing may go on for ever"
    );
    let user = request.user();
    assert!(
        user.contains("from how high gannets dive") && user.contains("folds its wings about thirty"),
        "{user}"
    );
    assert!(!user.contains("navigationword"), "the model reads the main content");

    let again = fixture.scrape("/article", json_format()).await;
    assert_eq!(again.expect_success()["data"]["metadata"]["cacheState"], "hit");
    assert_eq!(
        (fixture.scraping.site.hits("/article"), fixture.model.requests().len()),
        (1, 2),
        "stored pages serve too"
    );
}

#[tokio::test]
async fn a_prompt_alone_gives_an_object() {
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![
        ScriptedResponse::text("[1]"),
        ScriptedResponse::text("Here: {\"depth\": 5}"),
    ]))
    .await;
    let response = fixture.scrape("/article", json!({ "type": "json", "prompt": "how deep?" })).await;
    assert_eq!(response.expect_success()["data"]["json"], json!({ "depth": 5 }));
    assert_eq!(fixture.model.requests().len(), 2, "a list is not an object");
}

#[tokio::test]
async fn data_that_does_not_conform_is_repaired() {
    let right = json!({ "title": "x", "metres": 30 });
    let says = vec![
        ScriptedResponse::text("{\"title\": \"x\""),
        ScriptedResponse::json(&json!({ "title": "x", "metres": "high" })),
        ScriptedResponse::json(&right),
    ];
    let fixture = ModelFixture::open(ModelServer::with_responses(says)).await;
    let response = fixture.scrape("/article", json_format()).await;
    assert_eq!(response.expect_success()["data"]["json"], right);
    let requests = fixture.model.requests();
    assert!(requests[1].user().contains("not JSON"), "{}", requests[1].user());
    assert!(
        requests[2].user().contains("/metres"),
        "the model is told what is wrong: {}",
        requests[2].user()
    );
}

#[tokio::test]
async fn data_that_never_conforms_is_a_422_and_costs_nothing() {
    for (scripted, why) in [
        (ScriptedResponse::json(&json!({ "title": 7 })), "/title"),
        (ScriptedResponse::text("I think it is about birds."), "not JSON"),
        (ScriptedResponse::Cut("{\"title\": \"and and and".into()), "token limit"),
        (ScriptedResponse::Refusal("I must not talk about birds".into()), "declined: I must not"),
        (ScriptedResponse::Filtered, "declined"),
    ] {
        let fixture = ModelFixture::open(ModelServer::with_responses(vec![scripted])).await;
        let response = fixture.scrape("/article", json_format()).await;
        let text = response.json["error"].as_str().unwrap_or_default();
        assert_eq!(response.status, 422, "{}", response.text);
        assert!(text.starts_with("Unprocessable Entity: ") && text.contains(why), "{text}");
        assert!(fixture.model.requests().len() <= 3, "it ends");
        assert_eq!(fixture.scraping.credits_used().await, 0);
    }
}

#[tokio::test]
async fn models_without_schema_support_work_too() {
    let value = json!({ "title": "x", "metres": 1 });
    let says = value.clone();
    let plain = ModelCapabilities {
        json_schema: false,
        json_object: false,
        streams: false,
        tools: false,
        ..ModelCapabilities::default()
    };
    let model = ModelServer::with(plain, move |_| {
        ScriptedResponse::text(format!("Of course!\n```json\n{says}\n```"))
    });
    let fixture = ModelFixture::open(model).await;
    let response = fixture.scrape("/article", json_format()).await;
    assert_eq!(response.expect_success()["data"]["json"], value);
    let user = fixture.model.requests()[0].user();
    assert!(user.contains("\"metres\""), "then the schema is in the prompt: {user}");
}

#[tokio::test]
async fn an_invalid_schema_is_a_422_before_anything_is_fetched() {
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![ScriptedResponse::text("{}")])).await;
    let deep = (0..100).fold(json!({}), |inner, _| json!({ "items": inner }));
    for wrong in [
        json!({ "type": "banana" }),
        json!({ "properties": [] }),
        json!({ "$ref": "https://elsewhere.example/schema.json" }),
        json!({ "$ref": "#/$defs/missing" }),
        json!({ "$ref": "#" }),
        json!({ "type": "string", "minLength": 9, "maxLength": 1 }),
        json!({ "type": "object", "properties": { "a": { "pattern": "(" } } }),
        deep,
    ] {
        for format in [
            json!({ "type": "json", "schema": wrong }),
            json!({ "type": "changeTracking", "modes": ["json"], "schema": wrong }),
        ] {
            let response =
                fixture.scraping.scrape("/article", json!({ "formats": ["markdown", format] })).await;
            assert_eq!(response.status, 422, "{wrong}: {}", response.text);
            assert_eq!(
                response.json["details"][0]["path"],
                json!(["formats", 1, "schema"]),
                "{}",
                response.text
            );
        }
    }
    assert_eq!((fixture.scraping.site.hits("/article"), fixture.model.requests().len()), (0, 0));
}

#[tokio::test]
async fn invalid_format_options_are_named() {
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![ScriptedResponse::text("x")])).await;
    let long = "x".repeat(10_001);
    for (formats, place) in [
        (json!(["json"]), json!(["formats", 0, "schema"])),
        (json!([{ "type": "json", "prompt": "" }]), json!(["formats", 0, "prompt"])),
        (json!([{ "type": "json", "prompt": long }]), json!(["formats", 0, "prompt"])),
        (
            json!([json_format(), { "type": "deterministicJson", "schema": schema() }]),
            json!(["formats", 1, "type"]),
        ),
        (json!([{ "type": "deterministicJson", "prompt": "x" }]), json!(["formats", 0, "schema"])),
        (json!(["question"]), json!(["formats", 0, "question"])),
        (json!([{ "type": "question", "question": long }]), json!(["formats", 0, "question"])),
        (json!(["query"]), json!(["formats", 0, "prompt"])),
        (json!([{ "type": "query", "prompt": "x", "mode": "loud" }]), json!(["formats", 0, "mode"])),
        (
            json!([{ "type": "question", "question": "x" }, { "type": "query", "prompt": "x" }]),
            json!(["formats", 1, "type"]),
        ),
        (json!([{ "type": "summary", "prompt": "x" }]), json!(["formats", 0, "prompt"])),
        (
            json!(["markdown", { "type": "changeTracking", "modes": ["json"] }]),
            json!(["formats", 1, "schema"]),
        ),
        (json!(["markdown", { "type": "changeTracking", "prompt": "x" }]), json!(["formats", 1, "prompt"])),
    ] {
        let response = fixture.scraping.scrape("/article", json!({ "formats": formats })).await;
        assert_eq!(
            assert_failure(&response, 400, "BAD_REQUEST")[0]["path"],
            place,
            "{formats}: {}",
            response.text
        );
    }
    assert_eq!((fixture.scraping.site.hits("/article"), fixture.model.requests().len()), (0, 0));
}

#[tokio::test]
async fn summaries_and_answers() {
    let model = ModelServer::start(|request| {
        let summary = request.system().contains("summarise");
        ScriptedResponse::text(if summary {
            " Gannets dive from thirty metres. \n"
        } else {
            "Nearly a hundred kilometres an hour."
        })
    });
    let fixture = ModelFixture::open(model).await;
    let response = fixture.scrape("/article", json!("summary")).await;
    let data = &response.expect_success()["data"];
    assert_eq!(
        (&data["summary"], &data["metadata"]["creditsUsed"]),
        (&json!("Gannets dive from thirty metres."), &json!(1))
    );

    let question = json!({ "type": "question", "question": "How fast are they at the water?" });
    let both =
        fixture.scraping.scrape("/article", json!({ "formats": ["markdown", "summary", question] })).await;
    let data = &both.expect_success()["data"];
    assert_eq!(data["answer"], "Nearly a hundred kilometres an hour.");
    assert!(data["summary"].is_string() && data["markdown"].is_string(), "{data}");
    assert_eq!(data["metadata"]["creditsUsed"], 5);

    let freeform = fixture.scrape("/article", json!({ "type": "query", "prompt": "How fast?" })).await;
    assert_eq!(freeform.expect_success()["data"]["answer"], "Nearly a hundred kilometres an hour.");
    let before = fixture.model.requests().len();
    let quote = json!({ "type": "query", "prompt": "how high above the sea", "mode": "directQuote" });
    let quoted = fixture.scrape("/article", quote).await;
    let answer = quoted.expect_success()["data"]["answer"].as_str().unwrap().to_owned();
    assert!(answer.contains("folds its wings about thirty metres above the sea"), "{answer}");
    assert_eq!(fixture.model.requests().len(), before, "quotes need no model");
}

#[tokio::test]
async fn cut_empty_or_declined_model_responses_are_reported() {
    let fixture = ModelFixture::open(ModelServer::start(|request| match request.number {
        0 => ScriptedResponse::Cut("Gannets are".into()),
        1 => ScriptedResponse::text("  "),
        _ => ScriptedResponse::Refusal("no".into()),
    }))
    .await;
    let cut = fixture.scrape("/article", json!("summary")).await;
    let data = &cut.expect_success()["data"];
    assert_eq!(data["summary"], "Gannets are");
    assert!(data["warning"].as_str().unwrap().contains("token limit"), "{data}");
    for _ in 0..2 {
        let response = fixture.scrape("/article", json!("summary")).await;
        assert_eq!(response.status, 422, "{}", response.text);
    }
    assert_eq!(fixture.scraping.credits_used().await, 1, "only the answer was charged");
}

#[tokio::test]
async fn of_a_long_page_the_model_gets_the_most_relevant_parts() {
    let model = ModelServer::with_responses(vec![
        ScriptedResponse::text("{\"fee\": 12}"),
        ScriptedResponse::text("A diary."),
    ]);
    let fixture = ModelFixture::with(model, &[("model_context", "2048")]).await;
    let day = "Nothing of note happened at the harbour on that day, said the keeper. ".repeat(600);
    let text = format!("The diary begins. {day}</p><h2>Entry</h2><p>The entry fee is 12 crowns.</p><p>{day}");
    let schema = json!({ "type": "object", "properties": { "fee": { "type": "integer", "description": "entry fee" } } });
    let response =
        fixture.scrape_text(&text, json!({ "formats": [{ "type": "json", "schema": schema }] })).await;
    let data = &response.expect_success()["data"];
    assert_eq!(data["json"], json!({ "fee": 12 }));
    let warning = data["warning"].as_str().unwrap();
    assert!(
        warning.contains("longer than the language model can read") && warning.contains(" of "),
        "{warning}"
    );
    let user = fixture.model.requests()[0].user();
    assert!(user.contains("The entry fee is 12 crowns.") && user.len() < 2048 * 3, "{}: {user}", user.len());
    let summary = fixture.scrape_text(&text, json!({ "formats": ["summary"] })).await;
    assert!(summary.expect_success()["data"]["warning"].as_str().unwrap().contains("its beginning"));
    assert!(fixture.model.requests()[1].user().contains("The diary begins."));
}

#[tokio::test]
async fn clean_content_loses_blocks_and_gains_nothing() {
    let model = ModelServer::start(|request| {
        let user = request.user();
        let line = user.lines().find(|line| line.contains("Subscribe to our letter")).expect("the block");
        let number: u64 = line.trim_start_matches('[').split(']').next().unwrap().parse().unwrap();
        ScriptedResponse::json(&json!({ "remove": [number] }))
    });
    let fixture = ModelFixture::open(model).await;
    let text = "The north light is out.</p><p>Subscribe to our letter today.</p><p>The keeper is away.";
    let options = json!({ "formats": ["markdown"], "onlyCleanContent": true, "onlyMainContent": false });
    let response = fixture.scrape_text(text, options).await;
    let markdown = response.expect_success()["data"]["markdown"].as_str().unwrap().to_owned();
    assert!(markdown.contains("north light") && markdown.contains("keeper is away"), "{markdown}");
    assert!(!markdown.contains("Subscribe"), "{markdown}");
}

#[tokio::test]
async fn changes_of_data_are_reported_by_path() {
    let model = ModelServer::start(|request| {
        let prices: Vec<u64> = if request.user().contains("seven crowns") { vec![7, 9] } else { vec![5, 9] };
        let plans: Vec<Value> = prices.iter().map(|price| json!({ "price": price })).collect();
        ScriptedResponse::json(&json!({ "plans": plans }))
    });
    let fixture = ModelFixture::open(model).await;
    let schema = json!({ "type": "object", "properties": { "plans": { "type": "array" } } });
    let tracked = async |text: &str, modes: Value| {
        let format =
            json!({ "type": "changeTracking", "modes": modes, "schema": schema, "tag": modes.to_string() });
        let response = fixture.scrape_text(text, json!({ "formats": ["markdown", format] })).await;
        let data = &response.expect_success()["data"];
        assert_eq!(data["metadata"]["creditsUsed"], 5);
        data["changeTracking"].clone()
    };
    let json = json!(["json"]);
    let first = tracked("Small costs five crowns.", json.clone()).await;
    assert_eq!((&first["changeStatus"], first.get("json")), (&json!("new"), None), "{first}");
    let same = tracked("Small costs five crowns. Call us!", json.clone()).await;
    assert_eq!((&same["changeStatus"], &same["json"]), (&json!("same"), &json!({})), "only the data counts");
    let changed = tracked("Small costs seven crowns.", json).await;
    assert_eq!(changed["changeStatus"], "changed");
    assert_eq!(changed["json"], json!({ "plans[0].price": { "previous": 5, "current": 7 } }));
    assert!(changed.get("diff").is_none() && changed["previousScrapeAt"].is_string(), "{changed}");

    let both = json!(["git-diff", "json"]);
    assert_eq!(tracked("Small costs five crowns.", both.clone()).await["changeStatus"], "new");
    let words = tracked("Small costs five crowns. Call us!", both).await;
    assert_eq!((&words["changeStatus"], &words["json"]), (&json!("changed"), &json!({})));
    assert!(
        words["diff"]["text"].as_str().unwrap().contains("+Small costs five crowns. Call us!"),
        "{words}"
    );
}

#[tokio::test]
async fn batches_and_crawls_use_the_model_too() {
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![ScriptedResponse::json(
        &json!({ "title": "t", "metres": 1 }),
    )]))
    .await;
    let urls = [fixture.scraping.site.url("/article"), fixture.scraping.site.url("/page/1")];
    let body = json!({ "urls": urls, "formats": [json_format(), "summary"] });
    let id = started_id(&fixture.http().post("/v2/batch/scrape", &body).await.unwrap());
    let status = wait_for_end(fixture.http(), &format!("/v2/batch/scrape/{id}")).await;
    assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(2), &json!(10)), "{status}");
    for document in status["data"].as_array().unwrap() {
        assert_eq!((&document["json"]["metres"], document["summary"].is_string()), (&json!(1), true));
        assert_eq!(document["metadata"]["creditsUsed"], 5);
    }
    let body = json!({ "url": fixture.scraping.site.url("/article"), "limit": 1, "sitemap": "skip",
        "scrapeOptions": { "formats": [json_format()] } });
    let id = started_id(&fixture.http().post("/v2/crawl", &body).await.unwrap());
    let status = wait_for_end(fixture.http(), &format!("/v2/crawl/{id}")).await;
    assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(1), &json!(5)), "{status}");
    assert_eq!(fixture.scraping.credits_used().await, 15);
}
