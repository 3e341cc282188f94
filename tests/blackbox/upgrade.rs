//! A database that an older version wrote is opened, migrated, read and written by this one: crawls, batches, agent runs
//! with their trace, monitors with their checks, failed webhooks, profiles, keys and stored pages are as they were.
//! `tests/upgrade/make.py` makes these databases; each folder there is named after the newest migration of its version.

use crate::http::Http;
use crate::server::{Server, ServerConfig};
use crate::site::Site;
use reqwest::Method;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use testkit::TempDir;

/// What one older version left.
struct OldVersion(PathBuf);

impl OldVersion {
    /// All of them; the first one, of migration 9, has crawls, batches and agent runs only.
    fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/upgrade");
        let entries = std::fs::read_dir(folder).expect("the folder of old versions");
        let folders = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
        let mut all: Vec<_> = folders.map(Self).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        assert!(all.len() >= 2, "the databases of migrations 9 and 17");
        all
    }

    fn file(&self, name: &str) -> Vec<u8> {
        let path = self.0.join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn unpacked(&self, name: &str) -> Vec<u8> {
        zstd::decode_all(self.file(name).as_slice()).expect("zstd")
    }

    fn expected(&self, name: &str) -> Value {
        println!("{}", self.0.join(name).display());
        serde_json::from_slice(&self.file(name)).expect("JSON")
    }
}

const A_CENTURY_MS: i64 = 36_525 * 24 * 3_600_000;

/// Removes what tells the time of the question or the server's address, and so differs.
fn comparable(mut body: Value, http: &Http) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.remove("expiresAt");
    }
    for profile in body["profiles"].as_array_mut().into_iter().flatten() {
        profile["lastUsed"].take();
    }
    serde_json::from_str(&body.to_string().replace(&http.base, "SERVER")).expect("JSON")
}

/// Leaves of an answer what the older version had in it too: a newer one may say more, such as the id of a run.
fn keep_known_fields(now: &mut Value, then: &Value) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            now.retain(|field, _| then.contains_key(field));
            for (field, value) in now {
                keep_known_fields(value, &then[field.as_str()]);
            }
        }
        (Value::Array(now), Value::Array(then)) => {
            for (now, then) in now.iter_mut().zip(then) {
                keep_known_fields(now, then);
            }
        }
        _ => {}
    }
}

/// Asks everything again that the older version answered.
async fn answers_are_the_same(http: &Http, expected: &Value) {
    let answers = expected["answers"].as_array().expect("answers");
    assert!(answers.len() >= 5);
    for answer in answers {
        let path = answer["path"].as_str().expect("a path");
        let then = comparable(answer["body"].clone(), http);
        let mut now = comparable(http.get(path).await.unwrap().expect_success().clone(), http);
        keep_known_fields(&mut now, &then);
        assert_eq!(now, then, "{path}");
    }
    let pages = expected["pages"].as_array().expect("pages");
    assert!(!pages.is_empty());
    for page in pages {
        // The site is gone: the page can only come from the database, however old that is by now.
        let mut request = page["request"].clone();
        request["maxAge"] = json!(A_CENTURY_MS);
        let now = http.post("/v2/scrape", &request).await.unwrap().expect_success().clone();
        assert_eq!(now["data"]["markdown"], page["markdown"], "{page}");
    }
    for key in expected["keys"].as_array().into_iter().flatten() {
        let path = key["path"].as_str().expect("a path");
        let status = http.with_key(key["key"].as_str()).get(path).await.unwrap().status;
        assert_eq!(json!(status), key["status"], "{key}");
    }
    if let Some(cookie) = expected["cookie"].as_str() {
        let request = http.with_key(None).request(Method::GET, "/admin/sign-in").header("cookie", cookie);
        assert_eq!(http.send(request).await.unwrap().status, 200, "still signed in");
    }
}

/// Waits until a crawl, a batch or a check of a monitor has ended; its status.
async fn ended(http: &Http, path: &str) -> String {
    for _ in 0..300 {
        let body = http.get(path).await.unwrap().expect_success().clone();
        let status = body["status"].as_str().or(body["data"]["status"].as_str()).expect("a status");
        if !["scraping", "queued", "running"].contains(&status) {
            return status.to_owned();
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{path} does not end");
}

/// New work, and changes of what the older version wrote.
async fn writes_work(http: &Http, expected: &Value) {
    let site = Site::start();
    http.post("/v2/scrape", &json!({ "url": site.url("/article"), "maxAge": 0 }))
        .await
        .unwrap()
        .expect_success();
    let crawl = http.post("/v2/crawl", &json!({ "url": site.url("/article"), "limit": 1 })).await.unwrap();
    let id = crawl.expect_success()["id"].as_str().expect("an id").to_owned();
    assert_eq!(ended(http, &format!("/v2/crawl/{id}")).await, "completed");
    let made = http.post("/admin/keys", &json!({ "name": "new", "scopes": ["scrape"] })).await.unwrap();
    let key = made.expect_success()["key"].as_str().expect("a key").to_owned();
    assert_eq!(http.with_key(Some(&key)).get("/v2/team/credit-usage").await.unwrap().status, 200);

    let answers = expected["answers"].as_array().expect("answers");
    let paths = || answers.iter().map(|answer| answer["path"].as_str().expect("a path"));
    let Some(monitor) = paths().find(|path| path.starts_with("/v2/monitor/")) else { return };
    let resumed =
        http.send(http.request(Method::PATCH, monitor).json(&json!({ "status": "active" }))).await.unwrap();
    assert_eq!(resumed.expect_success()["data"]["status"], "active");
    let check = http.post(&format!("{monitor}/run"), &json!({})).await.unwrap();
    let check = check.expect_success()["id"].as_str().expect("an id").to_owned();
    assert_eq!(ended(http, &format!("{monitor}/checks/{check}")).await, "failed", "the site is gone");
    let letters = http.get("/v2/team/webhooks/failed").await.unwrap().expect_success()["data"].clone();
    let letter = letters[0]["id"].as_str().expect("a failed webhook");
    let again = http.post(&format!("/v2/team/webhooks/failed/{letter}/retry"), &json!({})).await.unwrap();
    again.expect_success();
    assert_eq!(http.delete("/v2/profiles/shop").await.unwrap().status, 200);
}

async fn serves_what_was_stored(server: &Server, expected: &Value) {
    let http = Http::new(&server.http.base, Some(KEY));
    answers_are_the_same(&http, expected).await;
    writes_work(&http, expected).await;
}

const KEY: &str = "gn-upgrade-0123456789abcdef";

fn config(dir: &TempDir) -> ServerConfig {
    let data = dir.join("data");
    std::fs::create_dir(&data).expect("a data folder");
    ServerConfig::at(dir.path())
        .set("api_key", KEY)
        .set("browser", "off")
        .set("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8")
}

#[tokio::test]
async fn sqlite_databases_of_older_versions_are_migrated_read_and_written() {
    for old in OldVersion::all() {
        let dir = TempDir::new();
        let config = config(&dir);
        std::fs::write(dir.join("data/gannet.db"), old.unpacked("sqlite.db.zst"))
            .expect("write the database");
        let key = dir.join("data/secret-key");
        std::fs::write(&key, old.file("sqlite.secret-key")).expect("write the key");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("make it private");
        let server = config.start().await;
        serves_what_was_stored(&server, &old.expected("sqlite.json")).await;
    }
}

#[tokio::test]
async fn postgres_databases_of_older_versions_are_migrated_read_and_written() {
    for old in OldVersion::all() {
        let dir = TempDir::new();
        let url = testkit::shared_database();
        let dump = dir.join("old.sql");
        std::fs::write(&dump, old.unpacked("postgres.sql.zst")).expect("write the dump");
        testkit::run_sql_file(&url, &dump);
        let config = config(&dir);
        let key = dir.join("data/secret-key");
        std::fs::write(&key, "5e".repeat(32)).expect("write the key");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("make it private");
        let server = config.set("database_url", &url).start().await;
        serves_what_was_stored(&server, &old.expected("postgres.json")).await;
    }
}
