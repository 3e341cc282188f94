//! What is stored, what is shown, and to whom.

use super::{ScrapeFixture, assert_contains, assert_failure, assert_lacks, config, scrape_as};
use crate::site::Site;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use testkit::{TempDir, shared_database};

#[tokio::test]
async fn personal_data_is_redacted() {
    let fixture = ScrapeFixture::open().await;
    let secrets = [
        "berths@harbour.example",
        "+49 30 901820",
        "DE89 3704",
        "4111 1111",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    ];
    let plain = fixture.scrape_document("/private-data", json!({})).await;
    assert_contains(&plain["markdown"], &secrets);
    let page = fixture.scrape_document("/private-data", json!({ "redactPII": true })).await;
    assert_lacks(&page["markdown"], &secrets);
    assert_contains(
        &page["markdown"],
        &["<EMAIL>", "<PHONE>", "<FINANCIAL>", "<SECRET>", "answers letters within a week"],
    );
    let mail = json!({ "redactPII": { "entities": ["EMAIL"], "replaceStyle": "mask" } });
    let page = fixture.scrape_document("/private-data", mail).await;
    assert_lacks(&page["markdown"], &secrets[..1]);
    assert_contains(&page["markdown"], &[r"\*\*\*\*", "+49 30 901820", "4111 1111"]);
    let removed = json!({ "redactPII": { "mode": "aggressive", "replaceStyle": "remove" } });
    let page = fixture.scrape_document("/private-data", removed).await;
    assert_lacks(&page["markdown"], &secrets);
    assert_lacks(&page["markdown"], &[r"\*\*", "<EMAIL>"]);
    // Highlights quote the redacted text.
    let quoted =
        json!({ "redactPII": true, "formats": [{ "type": "highlights", "query": "write to for berths" }] });
    let page = fixture.scrape_document("/private-data", quoted).await;
    assert_lacks(&page["highlights"], &secrets);
}

#[tokio::test]
async fn pages_with_injected_instructions_can_be_refused() {
    let fixture = ScrapeFixture::open().await;
    fixture.scrape_document("/injection", json!({})).await;
    let response = fixture.scrape("/injection", json!({ "checkPromptInjection": true })).await;
    let details = assert_failure(&response, 403, "SCRAPE_PROMPT_INJECTION_DETECTED");
    assert!(!details["signs"].as_array().unwrap().is_empty(), "{}", response.text);
    assert!(!response.text.contains("Mussels"), "nothing of the page is returned: {}", response.text);
    fixture.scrape_document("/article", json!({ "checkPromptInjection": true })).await;
}

const MARKER: &str = "quietmarker7391";
/// The magic number of compressed storage, in which a marker could not be seen.
const COMPRESSED: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Whether any file below a folder contains these bytes.
fn find_in_files(folder: &Path, needle: &[u8]) -> Option<String> {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if let Some(found) = find_in_files(&path, needle) {
                return Some(found);
            }
        } else if std::fs::read(&path).unwrap().windows(needle.len()).any(|window| window == needle) {
            return Some(path.display().to_string());
        }
    }
    None
}

#[tokio::test]
async fn zero_data_retention_leaves_nothing_behind() {
    let fixture = ScrapeFixture::own().await;
    fixture.site.change(200, MARKER);
    let path = format!("/changing?{MARKER}-in-the-address");
    let private = json!({ "zeroDataRetention": true, "formats": ["markdown", "html", "links"] });
    let page = fixture.scrape_document(&path, private.clone()).await;
    assert_contains(&page["markdown"], &[MARKER]);
    // Failures are as private as successes, and so is the browser.
    let forbidden = json!({ "zeroDataRetention": true, "checkPromptInjection": true });
    fixture.scrape(&format!("/injection?{MARKER}"), forbidden).await;
    let shown = json!({ "zeroDataRetention": true, "waitFor": 10 });
    assert_contains(&fixture.scrape_document(&path, shown).await["markdown"], &[MARKER]);
    let id = page["metadata"]["scrapeId"].as_str().unwrap();
    fixture.http().get(&format!("/v2/scrape/{id}")).await.unwrap().expect_error(404, "Not Found");
    fixture.scrape_document(&path, private).await;
    assert_eq!(fixture.site.hits("/changing"), 3, "no stored page was used");
    let activity = fixture.http().get("/v2/team/activity").await.unwrap();
    assert!(!activity.text.contains(MARKER), "{}", activity.text);
    assert_eq!(fixture.credits_used().await, 3, "it is counted all the same");

    let data = fixture.dir.join("data");
    assert_eq!(find_in_files(&data, MARKER.as_bytes()), None);
    assert_eq!(find_in_files(&data, COMPRESSED), None);
    assert!(!fixture.server.log().contains(MARKER), "{}", fixture.server.log());
    // The search for bytes itself works: without the option the same page is found.
    fixture.scrape_document(&path, json!({})).await;
    assert!(find_in_files(&data, MARKER.as_bytes()).is_some());
    assert!(find_in_files(&data, COMPRESSED).is_some());
}

#[tokio::test]
async fn zero_data_retention_holds_on_postgresql() {
    let (dir, site, url) = (TempDir::new(), Site::start(), shared_database());
    let server = config(&dir).set("database_url", &url).start().await;
    site.change(200, MARKER);
    let page = site.url(&format!("/changing?{MARKER}"));
    scrape_as(&server.http, &page, json!({ "zeroDataRetention": true })).await.expect_success();
    let rows = dump(&url);
    assert!(!rows.contains(MARKER) && !rows.contains("\\\\x28b52ffd"), "the database has it");
    assert_eq!(find_in_files(dir.path(), MARKER.as_bytes()), None);
    scrape_as(&server.http, &page, json!({})).await.expect_success();
    let rows = dump(&url);
    assert!(rows.contains(MARKER) && rows.contains("\\\\x28b52ffd"), "the search itself works");
}

/// Every row of every table as text.
fn dump(url: &str) -> String {
    let list = "select format('select row_to_json(t)::text from %I.%I t;', schemaname, tablename) \
                from pg_tables where schemaname not in ('pg_catalog','information_schema')";
    let ask = |sql: &str| {
        let output =
            Command::new("psql").args(["-X", "-A", "-t", "-d", url, "-c", sql]).output().expect("psql");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    ask(list).lines().map(ask).collect()
}

#[tokio::test]
async fn the_origin_of_a_request_is_recorded() {
    let fixture = ScrapeFixture::open().await;
    fixture
        .scrape_document("/article", json!({ "auditMetadata": { "username": "keeper-of-the-light" } }))
        .await;
    let activity = fixture.http().get("/v2/team/activity?endpoint=scrape").await.unwrap();
    let entry = &activity.expect_success()["data"][0];
    assert_eq!(
        (&entry["endpoint"], &entry["target"]),
        (&json!("scrape"), &json!(fixture.site.url("/article")))
    );
    assert!(activity.text.contains("keeper-of-the-light"), "{}", activity.text);
}
