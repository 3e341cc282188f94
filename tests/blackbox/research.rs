//! The research index: import by command, ask by command and over HTTP, in the shapes of the wire contract.

use crate::server::{Recipe, Server, run};
use serde_json::{Value, json};
use testkit::TempDir;

const BASE: &str = "/v2/search/research/papers";

fn works() -> String {
    let work = |number: u32, title: &str, text: &str, references: &[&str]| {
        json!({ "ids": { "doi": [format!("10.1/{number}")] }, "title": title, "abstract": text, "references": references,
            "authors": ["Ada Lovelace"], "categories": ["Neuroscience"], "created": "2020-01-02" })
        .to_string()
    };
    [
        work(
            1,
            "Attention in cortex",
            "Neurons in cortex fire more with attention.",
            &["doi:10.1/10", "doi:10.1/11"],
        ),
        work(
            2,
            "Firing rates",
            "Attention changes firing rates of neurons in macaques.",
            &["doi:10.1/10", "doi:10.1/11", "doi:10.1/1"],
        ),
        work(3, "Calcium imaging", "A microscope for imaging in mice.", &["doi:10.1/10", "doi:10.1/1"]),
        work(4, "Budding yeast", "Deletion strains.", &[]),
    ]
    .join("\n")
}

fn import(dir: &TempDir, recipe: &Recipe, text: &str) -> (Option<i32>, String, String) {
    let file = dir.path().join("works.jsonl");
    std::fs::write(&file, text).unwrap();
    run(recipe.command(&["research", "import", "--from", "jsonl", file.to_str().unwrap()]))
}

async fn filled() -> (TempDir, Server) {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path());
    let (code, out, error) = import(&dir, &recipe, &works());
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("4 works, 2 cited-only, 7 citations"), "{out}");
    let server = recipe.start().await;
    (dir, server)
}

fn ids(answer: &Value) -> Vec<String> {
    answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|paper| paper["primaryId"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn related_papers_by_any_spelling_of_the_seed() {
    let (_dir, server) = filled().await;
    let http = &server.http;
    let by_number =
        http.get(&format!("{BASE}/doi%3A10.1%2F1")).await.unwrap().is_success()["paper"]["paperId"]
            .as_str()
            .unwrap()
            .to_owned();
    let mut answers = Vec::new();
    for id in
        ["doi%3A10.1%2F1", "DOI:10.1%2F1", "10.1%2F1", "https%3A%2F%2Fdoi.org%2F10.1%2F1", by_number.as_str()]
    {
        let path = format!("{BASE}/{id}/similar?intent=firing+rates+of+neurons&origin=js-sdk");
        answers.push(http.get(&path).await.unwrap().is_success().clone());
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    let first = &answers[0]["results"][0];
    assert_eq!(first["primaryId"], "doi:10.1/2");
    assert_eq!(first["ids"], json!({ "doi": ["10.1/2"] }));
    for signal in ["structural", "semantic", "articleRank"] {
        assert!(first["signals"][signal].is_f64(), "{first}");
    }
    assert_eq!(first["signals"]["seedOverlap"], 1);
    assert!(
        answers[0]["poolSize"].as_u64().unwrap() >= 2
            && answers[0]["truncated"].is_boolean()
            && answers[0]["note"].is_string()
    );
    let old = http.get("/v2/research/papers/10.1%2F1/similar?intent=firing+rates+of+neurons").await.unwrap();
    assert_eq!(old.is_success(), &answers[0]);
}

#[tokio::test]
async fn modes_anchors_and_filters() {
    let (_dir, server) = filled().await;
    let ask = async |rest: &str| {
        server
            .http
            .get(&format!("{BASE}/10.1%2F1/similar?intent=imaging&{rest}"))
            .await
            .unwrap()
            .is_success()
            .clone()
    };
    let sorted = |answer: &Value| {
        let mut ids = ids(answer);
        ids.sort();
        ids
    };
    assert_eq!(sorted(&ask("mode=citers").await), ["doi:10.1/2", "doi:10.1/3"]);
    assert_eq!(sorted(&ask("mode=references").await), ["doi:10.1/10", "doi:10.1/11"]);
    assert_eq!(ids(&ask("mode=citers&k=1").await), ["doi:10.1/3"]);
    assert_eq!(ask("mode=citers&k=1").await["truncated"], true);
    let anchored = ask("anchor=doi:10.1/2&anchor=doi:10.1/99&rerank=true").await;
    assert!(!ids(&anchored).contains(&"doi:10.1/2".to_owned()));
    assert!(anchored["note"].as_str().unwrap().contains("anchor doi:10.1/99 is not in the index"));
    assert!(!ids(&ask("exclude=10.1/3").await).contains(&"doi:10.1/3".to_owned()));
    assert!(ids(&ask("from=2021-01-01").await).is_empty());
    assert!(ids(&ask("fields=Physics").await).is_empty());
    assert!(!ids(&ask("fields=neuro").await).is_empty());
}

#[tokio::test]
async fn search_inspect_and_passages() {
    let (_dir, server) = filled().await;
    let http = &server.http;
    let found = http
        .get(&format!(
            "{BASE}?query=microscope&authors=lovelace&categories=Neuro&from=2020-01-02&to=2020-01-02&k=5"
        ))
        .await
        .unwrap();
    assert_eq!(ids(found.is_success()), ["doi:10.1/3"]);
    assert!(
        ids(http
            .get(&format!("{BASE}?query=microscope&authors=lovelace,turing"))
            .await
            .unwrap()
            .is_success())
        .is_empty()
    );
    let inspected = http.get(&format!("{BASE}/10.1%2F3")).await.unwrap().is_success().clone();
    assert_eq!(inspected["paper"]["authors"], "Ada Lovelace");
    assert_eq!(inspected["paper"]["createdDate"], "2020-01-02");
    assert!(inspected.get("passages").is_none());
    let answered =
        http.get(&format!("{BASE}/10.1%2F3?query=microscope&k=1")).await.unwrap().is_success().clone();
    assert_eq!(answered["passages"][0]["text"], "A microscope for imaging in mice.");
    assert_eq!(
        (&answered["query"], &answered["paperId"]),
        (&json!("microscope"), &answered["paper"]["paperId"])
    );
}

#[tokio::test]
async fn mistakes_are_named_in_both_error_shapes() {
    let (_dir, server) = filled().await;
    let http = &server.http;
    let seed = format!("{BASE}/10.1%2F1/similar");
    let anchors = "&anchor=1".repeat(200);
    for (path, field) in [
        (seed.clone(), "intent"),
        (format!("{seed}?intent="), "intent"),
        (format!("{seed}?intent=x&k=0"), "k"),
        (format!("{seed}?intent=x&k=501"), "k"),
        (format!("{seed}?intent=x&k=ten"), "k"),
        (format!("{seed}?intent=x&mode=unknown"), "mode"),
        (format!("{seed}?intent=x&rerank=perhaps"), "rerank"),
        (format!("{seed}?intent=x&from=yesterday"), "from"),
        (format!("{seed}?intent=x{anchors}"), "anchor"),
        (format!("{BASE}?k=3"), "query"),
        (format!("{BASE}/10.1%2F1?k=3"), "k"),
        (format!("{BASE}/10.1%2F1?query=x&k=51"), "k"),
    ] {
        let reply = http.get(&path).await.unwrap();
        assert_eq!(
            (reply.status, &reply.json["success"], &reply.json["status"]),
            (400, &json!(false), &json!(400)),
            "{path}: {}",
            reply.text
        );
        assert!(reply.json["details"].to_string().contains(field), "{path}: {}", reply.text);
        assert!(
            reply.json["title"].is_string()
                && reply.json["detail"].is_string()
                && reply.json["type"].is_string(),
            "{}",
            reply.text
        );
    }
    for id in ["10.1%2F999", "pmid:1", "wrong%3Aid", "%20", "12345", "doi%3A10.1%2F1%2Fx"] {
        let reply = http.get(&format!("{BASE}/{id}/similar?intent=x")).await.unwrap();
        reply.is_error(404, "Not Found");
        assert_eq!(reply.json["status"], 404);
    }
    // Beyond what a request line may hold: refused, not swallowed.
    let long = "word+".repeat(20_000);
    let reply = http.get(&format!("{seed}?intent={long}")).await;
    assert!(reply.is_err() || matches!(reply.unwrap().status, 400 | 414 | 431));
    let long = "word+".repeat(5_000);
    http.get(&format!("{seed}?intent={long}")).await.unwrap().is_success();
    let refused = http.with_key(Some("wrong")).get(&format!("{seed}?intent=x")).await.unwrap();
    assert_eq!((refused.status, &refused.json["status"]), (401, &json!(401)));
}

#[tokio::test]
async fn a_new_generation_is_taken_up_without_a_lost_request() {
    let (dir, server) = filled().await;
    let http = server.http.clone();
    let asking = tokio::spawn(async move {
        let mut answered = 0;
        let until = std::time::Instant::now() + std::time::Duration::from_secs(6);
        while std::time::Instant::now() < until {
            http.get(&format!("{BASE}/10.1%2F1/similar?intent=attention")).await.unwrap().is_success();
            answered += 1;
        }
        answered
    });
    let more =
        json!({ "ids": { "pmid": ["77"] }, "title": "Attention once more", "references": ["doi:10.1/1"] })
            .to_string();
    let recipe = Recipe::at(dir.path());
    let import = tokio::task::spawn_blocking(move || (import(&dir, &recipe, &more), dir));
    let ((code, _, error), _dir) = import.await.unwrap();
    assert_eq!(code, Some(0), "{error}");
    assert!(asking.await.unwrap() > 10);
    server.http.get(&format!("{BASE}/pmid:77")).await.unwrap().is_success();
}

#[tokio::test]
async fn the_command_line_asks_without_a_server() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path());
    assert_eq!(import(&dir, &recipe, &works()).0, Some(0));
    let (code, table, _) =
        run(recipe.command(&["research", "similar", "10.1/1", "--intent", "firing rates of neurons"]));
    assert!(code == Some(0) && table.contains("doi:10.1/2") && table.contains("candidates"), "{table}");
    let (_, printed, _) = run(recipe.command(&["research", "similar", "10.1/1", "--intent", "x", "--json"]));
    assert!(serde_json::from_str::<Value>(&printed).unwrap()["results"].is_array());
    let (_, status, _) = run(recipe.command(&["research", "status"]));
    assert!(status.contains("works       4"), "{status}");
    assert_eq!(run(recipe.command(&["research", "verify"])).0, Some(0));
    let page = dir.path().join("graph.html");
    let (code, ..) = run(recipe.command(&["research", "graph", "10.1/1", "--out", page.to_str().unwrap()]));
    assert_eq!(code, Some(0));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Firing rates") && !page.contains("/*DATA*/") && !page.contains("src="), "{page}");
    let (code, _, error) = import(&dir, &recipe, "{\"ids\":");
    assert!(code == Some(1) && error.contains("works.jsonl:1:"), "{error}");
    assert_eq!(run(recipe.command(&["research", "verify"])).0, Some(0));
}
