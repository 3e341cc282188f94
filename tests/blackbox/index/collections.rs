//! `/v2/search/developer` and `/v2/search/gov`, over collections that were imported while the server ran.

use super::{MAX_INDEXING_DELAY, write};
use crate::http::{Http, HttpResponse};
use crate::server::{Server, ServerConfig, run, start_plain};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::TempDir;

const ISSUES: &str = r#"[{"html_url":"https://github.com/sea/birds/issues/7","number":7,"title":"Dive fails at depth","body":"The plunge stops at **ten** metres.","state":"open","user":{"login":"ada"},"labels":[{"name":"bug"}],"comments":1,"updated_at":"2026-01-02T00:00:00Z"}]
{"issue_url":"https://api.github.com/repos/sea/birds/issues/7","html_url":"https://github.com/sea/birds/issues/7#issuecomment-1","body":"A longer runway for the plunge helped me."}
{"html_url":"https://github.com/sea/birds/pull/8","number":8,"title":"Plunge deeper","body":"Dive to thirty metres.","base":{"repo":{"full_name":"sea/birds","stargazers_count":120,"language":"Rust","topics":["ocean","dive"],"license":{"spdx_id":"MIT"},"archived":false,"fork":false}}}
{"html_url":"https://github.com/land/fox/issues/1","number":1,"title":"Foxes do not plunge","body":"Nor dive."}
{"full_name":"land/fox","stargazers_count":3,"language":"Go","topics":[],"license":null,"archived":true,"fork":true}
{"html_url":"https://github.com/sea/birds/blob/main/README.md","name":"README.md","encoding":"base64","content":"IyBCaXJkcwpBIGxpYnJhcnkgZm9yIHRoZSBwbHVuZ2UuCg=="}
"#;
const LAW: &str = r#"{"url":"https://courts.test/birds-v-sea","title":"Birds v. Sea","text":"The plunge of a gannet is no trespass.","jurisdiction":"us","court":"scotus","courtType":"federal-supreme","cites":["1 U.S. 1","2 U.S. 2"]}
{"url":"https://state.test/fox","title":"In re Fox","text":"A plunge into the thicket.","jurisdiction":"us-ca","court":"calag","courtType":"state-attorney-general"}
"#;

/// A server with both collections.
async fn server_with_collections() -> (TempDir, Server) {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let server = config.start().await;
    import_collections(&dir, &config);
    let end = Instant::now() + MAX_INDEXING_DELAY;
    while gov(&server.http, "query=plunge").await["data"]["web"].as_array().unwrap().len() < 2 {
        assert!(Instant::now() < end, "the collections did not come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    (dir, server)
}

/// Imports both collections into the database of a server.
pub fn import_collections(dir: &TempDir, config: &ServerConfig) {
    write(&dir.join("issues.jsonl"), ISSUES);
    write(&dir.join("law.jsonl"), LAW);
    write(&dir.join("manual/plunge.md"), "# The plunge\nSet `height` to plunge from higher up.");
    write(&dir.join("manual/SKILL.md"), "---\ntitle: Plunging\n---\nA skill for the plunge.");
    for (path, more) in [
        ("issues.jsonl", &["--collection", "developer"][..]),
        ("manual", &["--collection", "developer", "--source", "manual", "--base-url", "https://docs.test/"]),
        ("law.jsonl", &["--collection", "gov"]),
    ] {
        let mut command = config.command(&["index", "add"]);
        command.args(more).arg(dir.join(path));
        let (code, printed, errors) = run(command);
        assert_eq!(code, Some(0), "{printed}{errors}");
    }
}

async fn gov(http: &Http, query: &str) -> Value {
    http.get(&format!("/v2/search/gov?{query}")).await.unwrap().expect_success().clone()
}

async fn ask(http: &Http, query: &str) -> Value {
    let response = http.get(&format!("/v2/search/developer?query=plunge&{query}")).await.unwrap();
    response.expect_success().clone()
}

fn ids(answer: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> =
        answer["results"].as_array().unwrap().iter().map(|result| result["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

const BIRDS: [&str; 3] = ["issue:sea/birds#7", "pull_request:sea/birds#8", "readme:sea/birds"];

#[tokio::test]
async fn developer_sources_are_found_by_every_filter() {
    let (_dir, server) = server_with_collections().await;
    let http = &server.http;
    let all = ask(http, "").await;
    assert_eq!(all["results"].as_array().unwrap().len(), 6, "{all}");
    assert_eq!(all["coverage"], json!({ "doc": "ok", "issue": "ok", "pull_request": "ok", "readme": "ok" }));
    assert!(all["warning"].is_null() && all["repos"].is_null(), "{all}");

    let formerly = http.get("/v2/developer?query=plunge").await.unwrap();
    assert_eq!(formerly.expect_success()["results"], all["results"], "the former path");
    let formerly = http.post("/v2/developer", &json!({ "query": "plunge" })).await.unwrap();
    assert_eq!(formerly.expect_success()["results"], all["results"]);
    for name in ["developer", "docs", "devdex"] {
        let found =
            http.post("/v2/search", &json!({ "query": "plunge", "categories": [name, "code"] })).await;
        let found = found.unwrap().expect_success()["data"]["web"].clone();
        assert!(found[0]["category"] == "developer", "{name}: {found}");
    }
    let issue = ask(http, "types=issue&repos=sea/birds&passages=5").await;
    let result = &issue["results"][0];
    assert_eq!((&result["id"], &result["type"]), (&json!("issue:sea/birds#7"), &json!("issue")));
    assert_eq!(result["url"], "https://github.com/sea/birds/issues/7");
    assert_eq!(
        (&result["title"], &result["license"]["state"]),
        (&json!("Dive fails at depth"), &json!("unknown"))
    );
    let passages = result["passages"].as_array().unwrap();
    let text: String = passages.iter().map(|passage| passage["text"].as_str().unwrap()).collect();
    assert!(text.contains("longer runway") && text.contains("ten metres"), "comments are folded in: {issue}");
    assert_eq!(passages[0]["citation_url"], result["url"]);
    assert_eq!(issue["coverage"]["doc"], "skipped");
    let status = json!([{ "repo": "sea/birds", "indexed": true, "types": { "issue": true, "pullRequest": true, "readme": true } }]);
    assert_eq!(issue["repos"], status);

    assert_eq!(ids(&ask(http, "repos=sea/birds,no/such").await), BIRDS);
    assert_eq!(ids(&ask(http, "repos=SEA/Birds").await), BIRDS, "case makes no difference");
    assert_eq!(ids(&ask(http, "min_stars=100").await), ["pull_request:sea/birds#8"]);
    assert_eq!(ids(&ask(http, "max_stars=10").await), ["issue:land/fox#1"]);
    assert_eq!(ids(&ask(http, "language=rust&topic=dive&topic=x").await), ["pull_request:sea/birds#8"]);
    let mit = ask(http, "license=MIT").await;
    assert_eq!(ids(&mit), ["pull_request:sea/birds#8"]);
    assert_eq!(mit["results"][0]["license"], json!({ "state": "licensed", "spdx_id": "MIT" }));
    assert_eq!(ids(&ask(http, "archived=true&fork=true").await), ["issue:land/fox#1"]);
    let docs = ask(http, "sources=manual,nothing").await;
    assert_eq!(ids(&docs), ["doc:https://docs.test/SKILL.md", "doc:https://docs.test/plunge.md"]);
    let known = json!([{ "source": "manual", "indexed": true }, { "source": "nothing", "indexed": false }]);
    assert_eq!(docs["sources"], known);
    assert_eq!(ids(&ask(http, "skills=only").await), ["doc:https://docs.test/SKILL.md"]);
    assert_eq!(ask(http, "k=2").await["results"].as_array().unwrap().len(), 2);

    let body = json!({
        "query": "plunge", "types": ["issue", "readme"], "repos": ["sea/birds"], "topic": "", "origin": "python-sdk@4.54.0",
    });
    let post = http.post("/v2/search/developer", &body).await.unwrap();
    assert_eq!(ids(post.expect_success()), ["issue:sea/birds#7", "readme:sea/birds"]);
}

#[tokio::test]
async fn law_is_found_by_every_filter() {
    let (_dir, server) = server_with_collections().await;
    let http = &server.http;
    let urls = async |query: &str| {
        let answer = gov(http, &format!("query=plunge&{query}")).await;
        let web = answer["data"]["web"].as_array().unwrap().clone();
        web.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let birds = ["https://courts.test/birds-v-sea"];
    for filter in [
        "jurisdiction=us",
        "court=SCOTUS",
        "courtType=federal-supreme",
        "cites=2%20U.S.%202",
        "domain=courts.test",
        "k=1&court=scotus",
    ] {
        assert_eq!(urls(filter).await, birds, "{filter}");
    }
    assert!(urls("cites=3%20U.S.%203").await.is_empty());
    let post =
        http.post("/v2/search/gov", &json!({ "query": "gannet trespass", "court": "scotus" })).await.unwrap();
    let hit = &post.expect_success()["data"]["web"][0];
    assert_eq!((&hit["title"], &hit["position"]), (&json!("Birds v. Sea"), &json!(1)));
    assert!(hit["description"].as_str().unwrap().contains("no trespass"), "{hit}");
}

#[tokio::test]
async fn without_imports_the_result_is_empty_and_says_why() {
    let (_dir, server) = start_plain().await;
    let end = Instant::now() + MAX_INDEXING_DELAY;
    let answer = loop {
        let answer = ask(&server.http, "repos=a/b&sources=x").await;
        if answer["warning"].as_str().is_some_and(|warning| warning.contains("gannet index add")) {
            break answer;
        }
        assert!(Instant::now() < end, "{answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!((&answer["success"], &answer["results"]), (&json!(true), &json!([])));
    assert_eq!(answer["coverage"]["issue"], "unavailable");
    assert_eq!(answer["repos"][0]["indexed"], false);
    assert_eq!(answer["sources"][0]["indexed"], false);
    let law = gov(&server.http, "query=x").await;
    assert_eq!(law["data"]["web"], json!([]));
    assert!(law["warning"].as_str().unwrap().contains("--collection gov"), "{law}");
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let (_dir, server) = start_plain().await;
    let http = &server.http;
    let refused = |response: &HttpResponse, word: &str| {
        assert_eq!(response.status, 400, "{}", response.text);
        assert!(response.text.contains(word), "{word}: {}", response.text);
    };
    for (query, word) in [
        ("", "query"),
        ("query=x&k=101", "at most 100"),
        ("query=x&types=doc&repos=a/b", "can match none of these types"),
        ("query=x&minStars=1", "minStars"),
        ("query=x&repos=nothing", "owner/name"),
    ] {
        refused(&http.get(&format!("/v2/search/developer?{query}")).await.unwrap(), word);
    }
    refused(&http.post("/v2/search/developer", &json!({ "query": "x", "nope": 1 })).await.unwrap(), "nope");
    refused(
        &http.post("/v2/search/gov", &json!({ "query": "x", "courtType": "village" })).await.unwrap(),
        "courtType",
    );
    refused(&http.get("/v2/search/gov?query=x&state=ca").await.unwrap(), "state");
    assert_eq!(http.with_key(None).get("/v2/search/gov?query=x").await.unwrap().status, 401);
}
