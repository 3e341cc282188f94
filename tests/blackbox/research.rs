//! The research index: import by command, ask by command and over HTTP, in the shapes of the wire contract.

use crate::server::{Recipe, Server, run};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

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

pub async fn filled() -> (TempDir, Server) {
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
    // Beyond what a request line may hold: refused by its number, not swallowed. Sent by hand, as clients refuse it themselves.
    let long = "word+".repeat(20_000);
    let request =
        format!("GET {seed}?intent={long} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let refused = by_hand(server.http.base.trim_start_matches("http://"), &request).await;
    assert!(refused.starts_with("HTTP/1.1 414 "), "{}", refused.lines().next().unwrap_or_default());
    let long = "word+".repeat(12_000);
    http.get(&format!("{seed}?intent={long}")).await.unwrap().is_success();
    let refused = http.with_key(Some("wrong")).get(&format!("{seed}?intent=x")).await.unwrap();
    assert_eq!((refused.status, &refused.json["status"]), (401, &json!(401)));
}

/// Sends bytes as they are and returns what comes back.
async fn by_hand(address: &str, request: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let (mut read, mut write) = stream.split();
    let mut reply = Vec::new();
    // The server may stop listening to a request that it has already refused.
    let sent = write.write_all(request.as_bytes());
    let _ = tokio::join!(sent, read.read_to_end(&mut reply));
    String::from_utf8_lossy(&reply).into_owned()
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

/// Works by the thousand, on which a build takes long enough to be disturbed.
fn many(count: usize) -> String {
    // Words that nothing can pack: an index of them is larger than what it is made of.
    let mut dice = 1_u64;
    let mut word = || {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("w{:x}", dice >> 32)
    };
    let work = |number: usize| {
        json!({ "ids": { "pmid": [(number + 1).to_string()] }, "title": format!("Study {number} of cells"),
            "abstract": (0..40).map(|_| word()).collect::<Vec<_>>().join(" "),
            "references": [format!("pmid:{}", number / 2 + 1), "doi:10.1/1"] })
        .to_string()
    };
    (0..count).map(work).collect::<Vec<_>>().join("\n")
}

/// The old index still answers and is whole.
fn is_as_before(recipe: &Recipe) {
    let (_, status, error) = run(recipe.command(&["research", "status"]));
    assert!(status.contains("works       4 "), "{status}{error}");
    assert_eq!(run(recipe.command(&["research", "verify"])).0, Some(0));
}

#[test]
fn a_disk_that_fills_up_leaves_the_old_index() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path());
    assert_eq!(import(&dir, &recipe, &works()).0, Some(0));
    let file = dir.path().join("many.jsonl");
    std::fs::write(&file, many(2_000)).unwrap();
    let arguments = ["research", "import", "--from", "jsonl", file.to_str().unwrap()];
    // No file may grow beyond so many blocks: writing fails as it does on a full disk. First while records are staged, then
    // while the index is built.
    for blocks in [100, 3_000] {
        let plain = recipe.command(&arguments);
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
        limited.arg(plain.get_program()).args(plain.get_args()).current_dir(dir.path());
        for (name, value) in plain.get_envs() {
            limited.env(name, value.unwrap_or_default());
        }
        let (code, _, error) = run(limited);
        assert!(
            code == Some(1) && error.contains("too large") && error.contains("research"),
            "{blocks}: {code:?} {error}"
        );
        is_as_before(&recipe);
        assert!(!dir.path().join("data/research/building").exists(), "what was half built is gone");
    }
    assert_eq!(run(recipe.command(&arguments)).0, Some(0), "with room again, the same command goes on");
    let (_, status, _) = run(recipe.command(&["research", "status"]));
    assert!(status.contains("works       2004 ") && !status.contains("cut off"), "{status}");
    let logs = std::fs::read_dir(dir.path().join("data/research/staged")).unwrap().count();
    assert_eq!(logs, 2, "what was read before the build failed is not read again");
}

#[test]
fn a_build_that_is_killed_leaves_the_old_index() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path());
    assert_eq!(import(&dir, &recipe, &works()).0, Some(0));
    let file = dir.path().join("many.jsonl");
    std::fs::write(&file, many(20_000)).unwrap();
    let arguments = ["research", "import", "--from", "jsonl", file.to_str().unwrap()];
    let mut child = recipe.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let building = dir.path().join("data/research/building");
    let until = Instant::now() + Duration::from_mins(2);
    while !building.join("graph.tmp").exists() {
        assert!(child.try_wait().unwrap().is_none() && Instant::now() < until, "the build never began");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(building.exists(), "killed in the middle");
    is_as_before(&recipe);
    assert_eq!(run(recipe.command(&arguments)).0, Some(0));
    let (_, status, _) = run(recipe.command(&["research", "status"]));
    assert!(status.contains("works       20004 "), "{status}");
    assert!(!building.exists());
}

#[test]
fn models_are_tried_before_they_are_kept() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path());
    let (_, none, _) = run(recipe.command(&["models", "list"]));
    assert!(none.contains("none"), "{none}");
    let bad = dir.path().join("bad.whl");
    std::fs::write(&bad, b"no wheel").unwrap();
    for (name, path, told) in [
        ("minilm", bad.as_path(), "neither a wheel"),
        ("other", bad.as_path(), "no model `other`"),
        ("minilm", dir.path(), "config.json"),
    ] {
        let (code, _, error) = run(recipe.command(&["models", "add", name, path.to_str().unwrap()]));
        assert!(code == Some(1) && error.contains(told), "{name}: {error}");
    }
    let (code, _, error) = run(recipe.command(&["research", "vectors"]));
    assert!(code == Some(1) && error.contains("models add minilm"), "{error}");
    let (_, gone, _) = run(recipe.command(&["models", "remove", "minilm"]));
    assert!(gone.contains("was not installed"), "{gone}");
}
