//! A database that an older version wrote is opened, migrated and read by this one: crawls, batches, agent runs with
//! their trace and stored pages answer as they did then. `tests/upgrade/make.py` makes these databases.

use crate::http::Http;
use crate::server::ServerConfig;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use testkit::TempDir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/upgrade/0009").join(name)
}

fn unpacked(name: &str) -> Vec<u8> {
    let packed = std::fs::read(fixture(name)).expect("a stored database");
    zstd::decode_all(packed.as_slice()).expect("zstd")
}

/// Removes what tells the time of the question or the server's address, and so differs.
fn comparable(mut body: Value, http: &Http) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.remove("expiresAt");
    }
    serde_json::from_str(&body.to_string().replace(&http.base, "SERVER")).expect("JSON")
}

/// Asks everything again that the older version answered.
async fn answers_are_the_same(http: &Http, expected: &str) {
    let expected = std::fs::read(fixture(expected)).expect("what the older version answered");
    let expected: Value = serde_json::from_slice(&expected).expect("JSON");
    let answers = expected["answers"].as_array().expect("answers");
    assert!(answers.len() >= 5);
    for answer in answers {
        let path = answer["path"].as_str().expect("a path");
        let now = http.get(path).await.unwrap().expect_success().clone();
        assert_eq!(comparable(now, http), comparable(answer["body"].clone(), http), "{path}");
    }
    let pages = expected["pages"].as_array().expect("pages");
    assert!(!pages.is_empty());
    for page in pages {
        // The site is gone: the page can only come from the database.
        let now = http.post("/v2/scrape", &page["request"]).await.unwrap().expect_success().clone();
        assert_eq!(now["data"]["markdown"], page["markdown"], "{page}");
    }
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
async fn a_sqlite_database_of_an_older_version_is_migrated_and_read() {
    let dir = TempDir::new();
    let config = config(&dir);
    std::fs::write(dir.join("data/gannet.db"), unpacked("sqlite.db.zst")).expect("write the database");
    let (kept, key) = (fixture("sqlite.secret-key"), dir.join("data/secret-key"));
    std::fs::write(&key, std::fs::read(kept).expect("the key")).expect("write the key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("make it private");
    let server = config.start().await;
    answers_are_the_same(&Http::new(&server.http.base, Some(KEY)), "sqlite.json").await;
}

#[tokio::test]
async fn a_postgres_database_of_an_older_version_is_migrated_and_read() {
    let dir = TempDir::new();
    let url = testkit::shared_database();
    let dump = dir.join("old.sql");
    std::fs::write(&dump, unpacked("postgres.sql.zst")).expect("write the dump");
    testkit::run_sql_file(&url, &dump);
    let server = config(&dir).set("database_url", &url).start().await;
    answers_are_the_same(&Http::new(&server.http.base, Some(KEY)), "postgres.json").await;
}
