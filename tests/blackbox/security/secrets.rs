//! Secrets of one key stay hidden from others, and are encrypted at rest.

mod keys;

use crate::crawl::{started_id, wait_for_end};
use crate::http::Http;
use crate::scrape::{ScrapeFixture, scrape_as};
use crate::server::ServerConfig;
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::TempDir;
use tokio::sync::Semaphore;

/// Part of every secret.
const SECRET_MARK: &str = "S3CRET";
const PROSE: &str =
    "Words that make this a page with something to say to whoever reads it, and then a few more of them.";

/// A site whose pages below `/slow` wait until the test releases them, and which refuses webhooks.
struct Host {
    server: SiteServer,
    gate: Arc<Semaphore>,
    /// The `Authorization` header of each request below `/slow`.
    slow: Arc<Mutex<Vec<String>>>,
}

impl Host {
    fn start() -> Self {
        let (gate, slow) = (Arc::new(Semaphore::new(0)), Arc::<Mutex<Vec<String>>>::default());
        let (door, memory) = (gate.clone(), slow.clone());
        let router =
            Router::new().fallback(move |request: Request| answer(request, door.clone(), memory.clone()));
        Self { server: SiteServer::start(router), gate, slow }
    }

    fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// The URL with a login in it.
    fn url_with_login(&self, path: &str) -> String {
        self.url(path).replace("http://", &format!("http://bob:{SECRET_MARK}-LOGIN@"))
    }

    fn slow(&self) -> Vec<String> {
        self.slow.lock().unwrap().clone()
    }
}

async fn answer(request: Request, gate: Arc<Semaphore>, slow: Arc<Mutex<Vec<String>>>) -> Response {
    let path = request.uri().path().to_owned();
    let page =
        |more: &str| Html(format!("<title>{path}</title><main><h1>{path}</h1><p>{PROSE}</p>{more}</main>"));
    match path.as_str() {
        "/" => page("<a href=/slow/crawled>slow</a>").into_response(),
        "/hook" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        "/login" => {
            let cookie = format!("sid={SECRET_MARK}-COOKIE; path=/; max-age=86400");
            // Assembled by a script, so that the word is in the browser's storage and not in the page.
            let script =
                "<p id=seen></p><script>seen.textContent = 'had ' + (localStorage.token || 'nothing');
                localStorage.token = ['S3', 'CRET-STORAGE'].join('')</script>";
            ([(header::SET_COOKIE, cookie)], page(script)).into_response()
        }
        path if path.starts_with("/slow") => {
            let sent = request.headers().get(header::AUTHORIZATION);
            slow.lock().unwrap().push(sent.map_or(String::new(), |sent| sent.to_str().unwrap().to_owned()));
            gate.acquire().await.unwrap().forget();
            page("").into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A server that may scrape loopback and send webhooks there.
fn config(dir: &TempDir) -> ServerConfig {
    ServerConfig::at(dir.path())
        .set("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8")
        .set("lease", "900ms")
        .set("webhook_retries", "10m")
}

/// Starts a crawl, a batch and an extraction that wait for the host, each with secrets of its own.
async fn start_secret_work(http: &Http, host: &Host) -> [String; 3] {
    let headers = |word: &str| json!({ "Authorization": format!("Bearer {SECRET_MARK}-{word}") });
    let webhook =
        json!({ "url": host.url("/hook"), "headers": { "X-Login": format!("{SECRET_MARK}-HOOK") } });
    let crawl = json!({
        "url": host.url("/"), "sitemap": "skip", "webhook": webhook,
        "scrapeOptions": { "headers": headers("CRAWL"), "timeout": 60_000 },
    });
    let batch = json!({ "urls": [host.url_with_login("/slow/batch")], "timeout": 60_000 });
    let extract = json!({
        "urls": [host.url("/slow/extract")], "prompt": "the title",
        "schema": { "type": "object", "properties": { "title": { "type": "string" } } },
        "scrapeOptions": { "headers": headers("EXTRACT"), "timeout": 60_000 },
    });
    let crawl = started_id(&http.post("/v2/crawl", &crawl).await.unwrap());
    let batch = started_id(&http.post("/v2/batch/scrape", &batch).await.unwrap());
    let extract = http.post("/v2/extract", &extract).await.unwrap();
    let extract = extract.expect_success()["id"].as_str().unwrap().to_owned();
    until("all three wait", || host.slow().len() >= 3).await;
    [crawl, batch, extract]
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(40);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found
}

/// Finds a word in the files below a folder, also in compressed data.
fn find_in_files(folder: &Path, word: &str) -> Vec<String> {
    const COMPRESSED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut found = Vec::new();
    for path in files(folder) {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let mut texts = vec![bytes.clone()];
        let places = bytes.windows(4).enumerate().filter(|(_, window)| *window == COMPRESSED);
        for (place, _) in places {
            let mut text = Vec::new();
            // As much as can be decompressed: a large value continues elsewhere in the file.
            if let Ok(decoder) = zstd::Decoder::new(&bytes[place..]) {
                let _ = decoder.take(1 << 20).read_to_end(&mut text);
            }
            texts.push(text);
        }
        for text in texts {
            if let Some(at) = text.windows(word.len()).position(|window| window == word.as_bytes()) {
                let more = text[at..].iter().copied().take(40).collect::<Vec<u8>>();
                found.push(format!("{}: {}", path.display(), String::from_utf8_lossy(&more)));
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_encrypted_in_the_data_folder_and_work_after_a_restart() {
    let (dir, host) = (TempDir::new(), Host::start());
    let config = config(&dir).set("log", "trace");
    let server = config.start().await;
    let jobs = start_secret_work(&server.http, &host).await;
    let secret = server.http.get("/v2/team/webhook-secret").await.unwrap();
    let secret = secret.expect_success()["data"]["secret"].as_str().unwrap().to_owned();
    let profile = json!({ "profile": { "name": "shop" }, "onlyMainContent": false, "maxAge": 0 });
    let page = scrape_as(&server.http, &host.url("/login"), profile.clone()).await;
    assert!(
        page.expect_success()["data"]["markdown"].as_str().unwrap().contains("had nothing"),
        "{}",
        page.text
    );
    // The delivery was tried and waits for a retry.
    let data = dir.join("data");
    for word in [SECRET_MARK, &secret] {
        assert_eq!(find_in_files(&data, word), [""; 0], "a secret is readable in the data folder");
        let log = server.log();
        let line = log.lines().find(|line| line.contains(word));
        assert_eq!(line, None, "a secret is in the log at the level trace");
    }
    server.kill();
    let before = host.slow().len();
    let server = config.clone().set("log", "info").start().await;
    host.gate.add_permits(1000);
    let [crawl, batch, extract] = jobs;
    let crawled = wait_for_end(&server.http, &format!("/v2/crawl/{crawl}")).await;
    assert_eq!((&crawled["status"], &crawled["completed"]), (&json!("completed"), &json!(2)), "{crawled}");
    let batch = wait_for_end(&server.http, &format!("/v2/batch/scrape/{batch}")).await;
    assert_eq!(batch["completed"], 1, "{batch}");
    let end = Instant::now() + Duration::from_secs(40);
    while server.http.get(&format!("/v2/extract/{extract}")).await.unwrap().expect_success()["status"]
        == "processing"
    {
        assert!(Instant::now() < end, "the extraction did not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let sent = host.slow().split_off(before).join(" ");
    for word in ["CRAWL", "EXTRACT"] {
        assert!(sent.contains(&format!("Bearer {SECRET_MARK}-{word}")), "after the restart came {sent}");
    }
    assert!(sent.contains("Basic "), "the login of the batch came too: {sent}");
    let same = server.http.get("/v2/team/webhook-secret").await.unwrap();
    assert_eq!(same.expect_success()["data"]["secret"], secret.as_str());
    let page = scrape_as(&server.http, &host.url("/login"), profile).await;
    let text = page.expect_success()["data"]["markdown"].as_str().unwrap().to_owned();
    assert!(text.contains(&format!("had {SECRET_MARK}-STORAGE")), "the profile remembers: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn members_of_a_team_do_not_see_each_others_secrets() {
    let (dir, host) = (TempDir::new(), Host::start());
    let server = config(&dir).set("browser", "off").set("webhook_retries", "1ms").start().await;
    let http = &server.http;
    let actions = json!([{ "type": "write", "text": format!("{SECRET_MARK}-TYPED") }]);
    start_secret_work(http, &host).await;
    // A second crawl, whose webhook URL is a secret in itself.
    let crawl = json!({
        "url": host.url_with_login("/"), "sitemap": "skip",
        "webhook": { "url": host.url(&format!("/hook?token={SECRET_MARK}-TOKEN")), "headers": { "X-Login": format!("{SECRET_MARK}-HOOK") } },
        "scrapeOptions": { "headers": { "Cookie": format!("sid={SECRET_MARK}-SID") }, "actions": actions },
    });
    started_id(&http.post("/v2/crawl", &crawl).await.unwrap());
    let key = http
        .post("/admin/keys", &json!({ "name": "colleague", "scopes": ["crawl", "agent"] }))
        .await
        .unwrap();
    let colleague = http.with_key(key.expect_success()["key"].as_str());
    let end = Instant::now() + Duration::from_secs(20);
    while colleague.get("/v2/team/webhooks/failed").await.unwrap().expect_success()["data"] == json!([]) {
        assert!(Instant::now() < end, "no delivery failed");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    for (who, http) in [("a colleague", &colleague), ("the own key", http)] {
        let active = http.get("/v2/crawl/active").await.unwrap();
        assert!(!active.text.contains(SECRET_MARK), "{who} sees a secret: {}", active.text);
        let crawls = active.expect_success()["crawls"].as_array().unwrap().clone();
        let shown = |name: &str| {
            let of = |crawl: &Value| crawl["options"]["scrapeOptions"]["headers"][name].clone();
            crawls.iter().map(of).find(|value| !value.is_null())
        };
        assert_eq!(shown("Authorization"), Some(json!("[redacted]")), "the name is shown: {}", active.text);
        assert_eq!(crawls.len(), 2, "{}", active.text);
    }
    for path in ["/v2/team/activity", "/v2/agent"] {
        let response = colleague.get(path).await.unwrap();
        response.expect_success();
        assert!(!response.text.contains(SECRET_MARK), "{path}: {}", response.text);
    }
    let failed = colleague.get("/v2/team/webhooks/failed").await.unwrap();
    assert!(!failed.text.contains(&format!("{SECRET_MARK}-HOOK")), "{}", failed.text);
}

#[tokio::test]
async fn activity_is_shown_to_keys_with_the_matching_scope() {
    let fixture = ScrapeFixture::without_browser().await;
    let http = fixture.http();
    fixture.scrape_document("/article", json!({})).await;
    let crawl = json!({ "url": fixture.site.url("/article"), "limit": 1, "sitemap": "skip" });
    started_id(&http.post("/v2/crawl", &crawl).await.unwrap());
    let with = async |scopes: Value| {
        let made = http.post("/admin/keys", &json!({ "name": "k", "scopes": scopes })).await.unwrap();
        http.with_key(made.expect_success()["key"].as_str())
    };
    let endpoints = async |http: &Http| {
        let response = http.get("/v2/team/activity").await.unwrap();
        let entries = response.expect_success()["data"].as_array().unwrap().clone();
        let mut names: Vec<String> =
            entries.iter().map(|entry| entry["endpoint"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(endpoints(http).await, ["crawl", "scrape"], "who administers sees all of the team");
    let scraping = with(json!(["scrape"])).await;
    assert_eq!(endpoints(&scraping).await, ["scrape"]);
    assert_eq!(endpoints(&with(json!(["crawl"])).await).await, ["crawl"]);
    assert_eq!(endpoints(&with(json!(["map"])).await).await, [""; 0]);
    scraping.get("/v2/team/activity?endpoint=crawl").await.unwrap().expect_error(403, "Forbidden");
    scraping.get("/v2/team/activity?endpoint=scrape").await.unwrap().expect_success();
}

/// Changes the database of a stopped server.
fn run_sql(dir: &TempDir, sql: &str) {
    let python = std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run through `make test`");
    let script =
        "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as db: db.execute(sys.argv[2])\ndb.close()";
    let done = Command::new(python).args(["-c", script]).arg(dir.join("data/gannet.db")).arg(sql).status();
    assert!(done.is_ok_and(|status| status.success()), "{sql}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_private_crawl_is_left_in_the_files_after_its_retention() {
    let (dir, host) = (TempDir::new(), Host::start());
    let config = config(&dir).set("browser", "off");
    let server = config.start().await;
    host.gate.add_permits(1000);
    let urls: Vec<String> = (0..40).map(|n| host.url(&format!("/slow/quietmarker-{n}"))).collect();
    let private = json!({ "urls": urls, "zeroDataRetention": true });
    let id = started_id(&server.http.post("/v2/batch/scrape", &private).await.unwrap());
    let path = format!("/v2/batch/scrape/{id}");
    assert_eq!(wait_for_end(&server.http, &path).await["completed"], 40);
    assert!(!find_in_files(&dir.join("data"), "quietmarker").is_empty(), "it is kept for an hour");
    server.terminate();
    run_sql(&dir, "UPDATE crawls SET expires_at = 1");
    let server = config.start().await;
    let end = Instant::now() + Duration::from_secs(20);
    while server.http.get(&path).await.unwrap().status != 404 {
        assert!(Instant::now() < end, "it was not deleted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The write-ahead log is truncated right after.
    let end = Instant::now() + Duration::from_secs(5);
    let mut left = find_in_files(&dir.join("data"), "quietmarker");
    while !left.is_empty() && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(100)).await;
        left = find_in_files(&dir.join("data"), "quietmarker");
    }
    assert_eq!(left, [""; 0]);
}
