//! Code, browser commands and prompts in sessions.

use super::{begin, end};
use crate::scrape::{ScrapeFixture, shared};
use crate::site::Site;
use serde_json::{Value, json};

/// A server that finds what `make test-env` has installed, and that other tests use too. Code runs under the
/// account of the server, because that is the one which can reach those folders.
pub async fn open() -> ScrapeFixture {
    let modules = format!("{}/node_modules", std::env::var("GANNET_TEST_NODE_DIR").unwrap());
    let python = std::env::var("GANNET_TEST_PYTHON").unwrap();
    let settings = [
        ("interact_node_modules", modules.as_str()),
        ("interact_python", &python),
        ("interact_user", "same"),
    ];
    let (dir, server) = shared(&settings).await;
    ScrapeFixture { dir, server, site: Site::start() }
}

pub async fn execute(fixture: &ScrapeFixture, session: &Value, language: &str, code: &str) -> Value {
    let path = format!("/v2/browser/{}/execute", session["id"].as_str().unwrap());
    let body = json!({ "language": language, "code": code, "timeout": 120 });
    let response = fixture.http().post(&path, &body).await.unwrap();
    assert_eq!(response.status, 200, "{code}: {}", response.text);
    assert_eq!(response.json["success"], true, "{}", response.text);
    response.json
}

#[tokio::test]
async fn three_languages_drive_one_browser() {
    let fixture = open().await;
    let session = begin(&fixture, json!({})).await;
    let page = fixture.site.url("/article");
    let node =
        execute(&fixture, &session, "node", &format!("await page.goto('{page}'); const n = 40; n + 2")).await;
    assert_eq!((&node["result"], &node["exitCode"]), (&json!("42"), &json!(0)), "{node}");
    let node = execute(&fixture, &session, "node", "console.log(n); await page.evaluate('1 + 1')").await;
    assert_eq!(
        (&node["stdout"], &node["result"]),
        (&json!("40\n"), &json!("2")),
        "variables survive: {node}"
    );
    let python = execute(&fixture, &session, "python", "print(page.url)").await;
    assert_eq!(python["stdout"], format!("{page}\n"), "the same page: {python}");
    let url = execute(&fixture, &session, "bash", "get url").await;
    assert_eq!(url["stdout"].as_str().unwrap().trim(), page, "a bare command: {url}");
    let line =
        execute(&fixture, &session, "bash", "agent-browser get url | tr a-z A-Z; pwd > where; false").await;
    assert_eq!(line["stdout"].as_str().unwrap().trim(), page.to_uppercase(), "{line}");
    assert_eq!(line["exitCode"], 1, "{line}");
    let snapshot = execute(&fixture, &session, "bash", "snapshot").await;
    assert!(snapshot["stdout"].as_str().unwrap().contains("ref=e1"), "{snapshot}");
    let failed = execute(&fixture, &session, "node", "throw new Error('no fish')").await;
    assert_eq!(failed["exitCode"], 1, "{failed}");
    assert!(failed["stderr"].as_str().unwrap().contains("no fish"), "{failed}");
    end(&fixture, &session).await;
}

#[tokio::test]
async fn code_sees_neither_files_nor_the_network() {
    let fixture = open().await;
    let session = begin(&fixture, json!({})).await;
    let code = "const fs = require('fs'); const tries = {};\
        try { fs.readFileSync('/etc/passwd'); tries.file = 'read'; } catch (e) { tries.file = e.code; }\
        tries.secret = Object.keys(process.env).filter(name => /KEY|GANNET_(?!DRIVER)/.test(name)).length;\
        tries.tcp = await new Promise(done => { try { const s = require('net').connect(9, '127.0.0.1');\
            s.on('error', e => done(e.code)); s.on('connect', () => done('open')); } catch (e) { done(e.code) } });\
        JSON.stringify(tries)";
    let tried = execute(&fixture, &session, "node", code).await;
    let tries: Value = serde_json::from_str(tried["result"].as_str().unwrap())
        .unwrap_or_else(|error| panic!("{error}: {tried}"));
    assert_eq!((&tries["file"], &tries["secret"]), (&json!("EACCES"), &json!(0)), "{tried}");
    assert!(["EPERM", "EACCES"].contains(&tries["tcp"].as_str().unwrap()), "{tried}");
    let path = format!("/v2/browser/{}/execute", session["id"].as_str().unwrap());
    let endless = json!({ "language": "node", "code": "for (;;);", "timeout": 2 });
    let endless = fixture.http().post(&path, &endless).await.unwrap();
    assert_eq!((endless.status, &endless.json["killed"]), (200, &json!(true)), "{}", endless.text);
    end(&fixture, &session).await;
}

#[tokio::test]
async fn a_scrape_is_gone_on_with() {
    let fixture = open().await;
    let page = fixture.site.url("/article");
    let scraped = fixture.http().post("/v2/scrape", &json!({ "url": page })).await.unwrap();
    assert_eq!(scraped.status, 200, "{}", scraped.text);
    let path =
        format!("/v2/scrape/{}/interact", scraped.json["data"]["metadata"]["scrapeId"].as_str().unwrap());
    let first = fixture.http().post(&path, &json!({ "code": "page.url()" })).await.unwrap();
    assert_eq!((first.status, &first.json["result"]), (200, &json!(page)), "{}", first.text);
    let prompted = fixture.http().post(&path, &json!({ "prompt": "scroll down" })).await.unwrap();
    assert_eq!((prompted.status, &prompted.json["success"]), (200, &json!(true)), "{}", prompted.text);
    assert_eq!(prompted.json["sessionId"], first.json["sessionId"], "one session for one scrape");
    assert!(!prompted.json["output"].as_str().unwrap().is_empty(), "{}", prompted.text);
    let unclear = fixture.http().post(&path, &json!({ "prompt": "plan my next holiday" })).await.unwrap();
    assert!(unclear.status >= 400 && unclear.text.contains("model"), "{}: {}", unclear.status, unclear.text);
    let ended = fixture.http().delete(&path).await.unwrap();
    assert_eq!((ended.status, &ended.json["creditsBilled"]), (200, &json!(7)), "{}", ended.text);
}

#[tokio::test]
async fn code_uploads_files_that_it_has_written() {
    let fixture = open().await;
    let session = begin(&fixture, json!({})).await;
    // On a page that was navigated to: in the empty document that a browser starts with, Chromium itself now and then never
    // ends reading a file (docs/interact.md).
    let page = fixture.site.url("/article");
    let code = format!("await page.goto('{page}')");
    assert_eq!(execute(&fixture, &session, "node", &code).await["exitCode"], 0);
    let code = "require('fs').writeFileSync('notes.txt', 'three gannets');\
        await page.setContent('<input type=file id=f>');\
        await page.setInputFiles('#f', 'notes.txt');\
        await page.evaluate(async () => { const file = document.querySelector('#f').files[0];\
            return file.name + ': ' + await file.text(); })";
    let uploaded = execute(&fixture, &session, "node", code).await;
    assert_eq!(uploaded["result"], "notes.txt: three gannets", "{uploaded}");
    let outside = "await page.setInputFiles('#f', '/etc/hostname')";
    let refused = execute(&fixture, &session, "node", outside).await;
    assert_eq!(refused["exitCode"], 1, "{refused}");
    end(&fixture, &session).await;
}
