//! Formats: structured data, summaries, answers, clean text, changes of data.

use super::{MODEL_KEY, Study, json_format, schema};
use crate::crawl::{ended, started};
use crate::scrape::failed;
use serde_json::{Value, json};
use testkit::ModelServer;
use testkit::model_server::{Said, Talents};

#[tokio::test]
async fn data_conforms_to_its_schema_and_costs_five() {
    let value = json!({ "title": "How gannets dive", "metres": 30 });
    let study = Study::open(ModelServer::saying(vec![Said::json(&value)])).await;
    let reply = study.scrape("/article", json_format()).await;
    let data = &reply.is_success()["data"];
    assert_eq!(data["json"], value);
    assert!(data.get("markdown").is_none() && data.get("warning").is_none(), "{data}");
    assert_eq!(data["metadata"]["creditsUsed"], 5);
    assert!(data["metadata"]["modelUsage"]["inputTokens"].as_u64().unwrap() > 100, "{data}");
    assert_eq!(study.house.credits_used().await, 5);

    let asked = &study.model.asked()[0];
    assert_eq!(asked.authorization, Some(format!("Bearer {MODEL_KEY}")));
    assert_eq!(asked.schema().unwrap()["properties"]["metres"], schema()["properties"]["metres"]);
    assert!(
        asked.schema().unwrap()["properties"]["title"]["maxLength"].is_u64(),
        "nothing may go on for ever"
    );
    let user = asked.user();
    assert!(
        user.contains("from how high gannets dive") && user.contains("folds its wings about thirty"),
        "{user}"
    );
    assert!(!user.contains("navigationword"), "the model reads the main content");

    let again = study.scrape("/article", json_format()).await;
    assert_eq!(again.is_success()["data"]["metadata"]["cacheState"], "hit");
    assert_eq!(
        (study.house.site.hits("/article"), study.model.asked().len()),
        (1, 2),
        "stored pages serve too"
    );
}

#[tokio::test]
async fn a_prompt_alone_gives_an_object() {
    let study =
        Study::open(ModelServer::saying(vec![Said::text("[1]"), Said::text("Here: {\"depth\": 5}")])).await;
    let reply = study.scrape("/article", json!({ "type": "json", "prompt": "how deep?" })).await;
    assert_eq!(reply.is_success()["data"]["json"], json!({ "depth": 5 }));
    assert_eq!(study.model.asked().len(), 2, "a list is not what was asked for");
}

#[tokio::test]
async fn what_does_not_conform_is_mended() {
    let right = json!({ "title": "x", "metres": 30 });
    let says = vec![
        Said::text("{\"title\": \"x\""),
        Said::json(&json!({ "title": "x", "metres": "high" })),
        Said::json(&right),
    ];
    let study = Study::open(ModelServer::saying(says)).await;
    let reply = study.scrape("/article", json_format()).await;
    assert_eq!(reply.is_success()["data"]["json"], right);
    let asked = study.model.asked();
    assert!(asked[1].user().contains("not JSON"), "{}", asked[1].user());
    assert!(asked[2].user().contains("/metres"), "the model is told what is wrong: {}", asked[2].user());
}

#[tokio::test]
async fn what_never_conforms_is_a_422_and_costs_nothing() {
    for (said, why) in [
        (Said::json(&json!({ "title": 7 })), "/title"),
        (Said::text("I think it is about birds."), "not JSON"),
        (Said::Cut("{\"title\": \"and and and".into()), "does not fit"),
        (Said::Refusal("I must not talk about birds".into()), "declined: I must not"),
        (Said::Filtered, "declined"),
    ] {
        let study = Study::open(ModelServer::saying(vec![said])).await;
        let reply = study.scrape("/article", json_format()).await;
        let text = reply.json["error"].as_str().unwrap_or_default();
        assert_eq!(reply.status, 422, "{}", reply.text);
        assert!(text.starts_with("Unprocessable Entity: ") && text.contains(why), "{text}");
        assert!(study.model.asked().len() <= 3, "it ends");
        assert_eq!(study.house.credits_used().await, 0);
    }
}

#[tokio::test]
async fn servers_that_hold_nobody_to_a_schema_serve_too() {
    let value = json!({ "title": "x", "metres": 1 });
    let says = value.clone();
    let plain = Talents {
        json_schema: false,
        json_object: false,
        streams: false,
        tools: false,
        ..Talents::default()
    };
    let model = ModelServer::with(plain, move |_| Said::text(format!("Of course!\n```json\n{says}\n```")));
    let study = Study::open(model).await;
    let reply = study.scrape("/article", json_format()).await;
    assert_eq!(reply.is_success()["data"]["json"], value);
    let user = study.model.asked()[0].user();
    assert!(user.contains("\"metres\""), "then the schema stands in the words: {user}");
}

#[tokio::test]
async fn a_schema_that_is_none_is_a_422_before_anything_happens() {
    let study = Study::open(ModelServer::saying(vec![Said::text("{}")])).await;
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
            let reply = study.house.scrape("/article", json!({ "formats": ["markdown", format] })).await;
            assert_eq!(reply.status, 422, "{wrong}: {}", reply.text);
            assert_eq!(reply.json["details"][0]["path"], json!(["formats", 1, "schema"]), "{}", reply.text);
        }
    }
    assert_eq!((study.house.site.hits("/article"), study.model.asked().len()), (0, 0));
}

#[tokio::test]
async fn mistakes_in_these_formats_are_named() {
    let study = Study::open(ModelServer::saying(vec![Said::text("x")])).await;
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
        let reply = study.house.scrape("/article", json!({ "formats": formats })).await;
        assert_eq!(failed(&reply, 400, "BAD_REQUEST")[0]["path"], place, "{formats}: {}", reply.text);
    }
    assert_eq!((study.house.site.hits("/article"), study.model.asked().len()), (0, 0));
}

#[tokio::test]
async fn summaries_and_answers() {
    let model = ModelServer::start(|asked| {
        let summary = asked.system().contains("summarise");
        Said::text(if summary {
            " Gannets dive from thirty metres. \n"
        } else {
            "Nearly a hundred kilometres an hour."
        })
    });
    let study = Study::open(model).await;
    let reply = study.scrape("/article", json!("summary")).await;
    let data = &reply.is_success()["data"];
    assert_eq!(
        (&data["summary"], &data["metadata"]["creditsUsed"]),
        (&json!("Gannets dive from thirty metres."), &json!(1))
    );

    let question = json!({ "type": "question", "question": "How fast are they at the water?" });
    let both = study.house.scrape("/article", json!({ "formats": ["markdown", "summary", question] })).await;
    let data = &both.is_success()["data"];
    assert_eq!(data["answer"], "Nearly a hundred kilometres an hour.");
    assert!(data["summary"].is_string() && data["markdown"].is_string(), "{data}");
    assert_eq!(data["metadata"]["creditsUsed"], 5);

    let freeform = study.scrape("/article", json!({ "type": "query", "prompt": "How fast?" })).await;
    assert_eq!(freeform.is_success()["data"]["answer"], "Nearly a hundred kilometres an hour.");
    let before = study.model.asked().len();
    let quote = json!({ "type": "query", "prompt": "how high above the sea", "mode": "directQuote" });
    let quoted = study.scrape("/article", quote).await;
    let answer = quoted.is_success()["data"]["answer"].as_str().unwrap().to_owned();
    assert!(answer.contains("folds its wings about thirty metres above the sea"), "{answer}");
    assert_eq!(study.model.asked().len(), before, "quotes need no model");
}

#[tokio::test]
async fn answers_that_are_cut_empty_or_declined_say_so() {
    let study = Study::open(ModelServer::start(|asked| match asked.number {
        0 => Said::Cut("Gannets are".into()),
        1 => Said::text("  "),
        _ => Said::Refusal("no".into()),
    }))
    .await;
    let cut = study.scrape("/article", json!("summary")).await;
    let data = &cut.is_success()["data"];
    assert_eq!(data["summary"], "Gannets are");
    assert!(data["warning"].as_str().unwrap().contains("token limit"), "{data}");
    for _ in 0..2 {
        let reply = study.scrape("/article", json!("summary")).await;
        assert_eq!(reply.status, 422, "{}", reply.text);
    }
    assert_eq!(study.house.credits_used().await, 1, "only the answer was charged");
}

#[tokio::test]
async fn of_a_long_page_the_model_reads_what_fits_best() {
    let model = ModelServer::saying(vec![Said::text("{\"fee\": 12}"), Said::text("A diary.")]);
    let study = Study::with(model, &[("model_context", "2048")]).await;
    let day = "Nothing of note happened at the harbour on that day, said the keeper. ".repeat(600);
    let text = format!("The diary begins. {day}</p><h2>Entry</h2><p>The entry fee is 12 crowns.</p><p>{day}");
    let schema = json!({ "type": "object", "properties": { "fee": { "type": "integer", "description": "entry fee" } } });
    let reply = study.scrape_text(&text, json!({ "formats": [{ "type": "json", "schema": schema }] })).await;
    let data = &reply.is_success()["data"];
    assert_eq!(data["json"], json!({ "fee": 12 }));
    let warning = data["warning"].as_str().unwrap();
    assert!(
        warning.contains("longer than the language model can read") && warning.contains(" of "),
        "{warning}"
    );
    let user = study.model.asked()[0].user();
    assert!(user.contains("The entry fee is 12 crowns.") && user.len() < 2048 * 3, "{}: {user}", user.len());
    let summary = study.scrape_text(&text, json!({ "formats": ["summary"] })).await;
    assert!(summary.is_success()["data"]["warning"].as_str().unwrap().contains("its beginning"));
    assert!(study.model.asked()[1].user().contains("The diary begins."));
}

#[tokio::test]
async fn clean_content_loses_blocks_and_gains_nothing() {
    let model = ModelServer::start(|asked| {
        let user = asked.user();
        let line = user.lines().find(|line| line.contains("Subscribe to our letter")).expect("the block");
        let number: u64 = line.trim_start_matches('[').split(']').next().unwrap().parse().unwrap();
        Said::json(&json!({ "remove": [number] }))
    });
    let study = Study::open(model).await;
    let text = "The north light is out.</p><p>Subscribe to our letter today.</p><p>The keeper is away.";
    let options = json!({ "formats": ["markdown"], "onlyCleanContent": true, "onlyMainContent": false });
    let reply = study.scrape_text(text, options).await;
    let markdown = reply.is_success()["data"]["markdown"].as_str().unwrap().to_owned();
    assert!(markdown.contains("north light") && markdown.contains("keeper is away"), "{markdown}");
    assert!(!markdown.contains("Subscribe"), "{markdown}");
}

#[tokio::test]
async fn changes_of_data_are_told_by_place() {
    let model = ModelServer::start(|asked| {
        let prices: Vec<u64> = if asked.user().contains("seven crowns") { vec![7, 9] } else { vec![5, 9] };
        let plans: Vec<Value> = prices.iter().map(|price| json!({ "price": price })).collect();
        Said::json(&json!({ "plans": plans }))
    });
    let study = Study::open(model).await;
    let schema = json!({ "type": "object", "properties": { "plans": { "type": "array" } } });
    let tracked = async |text: &str, modes: Value| {
        let format =
            json!({ "type": "changeTracking", "modes": modes, "schema": schema, "tag": modes.to_string() });
        let reply = study.scrape_text(text, json!({ "formats": ["markdown", format] })).await;
        let data = &reply.is_success()["data"];
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
async fn pages_of_batches_and_crawls_are_answered_too() {
    let study =
        Study::open(ModelServer::saying(vec![Said::json(&json!({ "title": "t", "metres": 1 }))])).await;
    let urls = [study.house.site.url("/article"), study.house.site.url("/page/1")];
    let body = json!({ "urls": urls, "formats": [json_format(), "summary"] });
    let id = started(&study.http().post("/v2/batch/scrape", &body).await.unwrap());
    let status = ended(study.http(), &format!("/v2/batch/scrape/{id}")).await;
    assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(2), &json!(10)), "{status}");
    for document in status["data"].as_array().unwrap() {
        assert_eq!((&document["json"]["metres"], document["summary"].is_string()), (&json!(1), true));
        assert_eq!(document["metadata"]["creditsUsed"], 5);
    }
    let body = json!({ "url": study.house.site.url("/article"), "limit": 1, "sitemap": "skip",
        "scrapeOptions": { "formats": [json_format()] } });
    let id = started(&study.http().post("/v2/crawl", &body).await.unwrap());
    let status = ended(study.http(), &format!("/v2/crawl/{id}")).await;
    assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(1), &json!(5)), "{status}");
    assert_eq!(study.house.credits_used().await, 15);
}
