//! What is kept, what is told, and to whom.

use super::{House, failed, has, lacks, recipe, scrape_as};
use crate::site::Site;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use testkit::{TempDir, shared_database};

#[tokio::test]
async fn personal_data_is_taken_out() {
    let house = House::open().await;
    let secrets = [
        "berths@harbour.example",
        "+49 30 901820",
        "DE89 3704",
        "4111 1111",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    ];
    let plain = house.document("/private-data", json!({})).await;
    has(&plain["markdown"], &secrets);
    let page = house.document("/private-data", json!({ "redactPII": true })).await;
    lacks(&page["markdown"], &secrets);
    has(
        &page["markdown"],
        &["<EMAIL>", "<PHONE>", "<FINANCIAL>", "<SECRET>", "answers letters within a week"],
    );
    let mail = json!({ "redactPII": { "entities": ["EMAIL"], "replaceStyle": "mask" } });
    let page = house.document("/private-data", mail).await;
    lacks(&page["markdown"], &secrets[..1]);
    has(&page["markdown"], &[r"\*\*\*\*", "+49 30 901820", "4111 1111"]);
    let removed = json!({ "redactPII": { "mode": "aggressive", "replaceStyle": "remove" } });
    let page = house.document("/private-data", removed).await;
    lacks(&page["markdown"], &secrets);
    lacks(&page["markdown"], &[r"\*\*", "<EMAIL>"]);
    // Highlights quote the redacted text.
    let quoted =
        json!({ "redactPII": true, "formats": [{ "type": "highlights", "query": "write to for berths" }] });
    let page = house.document("/private-data", quoted).await;
    lacks(&page["highlights"], &secrets);
}

#[tokio::test]
async fn pages_that_instruct_their_reader_can_be_refused() {
    let house = House::open().await;
    house.document("/injection", json!({})).await;
    let reply = house.scrape("/injection", json!({ "checkPromptInjection": true })).await;
    let details = failed(&reply, 403, "SCRAPE_PROMPT_INJECTION_DETECTED");
    assert!(!details["signs"].as_array().unwrap().is_empty(), "{}", reply.text);
    assert!(!reply.text.contains("Mussels"), "nothing of the page is returned: {}", reply.text);
    house.document("/article", json!({ "checkPromptInjection": true })).await;
}

const MARKER: &str = "quietmarker7391";
/// How everything that is stored compressed begins; a marker inside could not be seen.
const COMPRESSED: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Whether any file below a folder has these bytes.
fn written_below(folder: &Path, needle: &[u8]) -> Option<String> {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if let Some(found) = written_below(&path, needle) {
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
    let house = House::open().await;
    house.site.change(200, MARKER);
    let path = format!("/changing?{MARKER}-in-the-address");
    let private = json!({ "zeroDataRetention": true, "formats": ["markdown", "html", "links"] });
    let page = house.document(&path, private.clone()).await;
    has(&page["markdown"], &[MARKER]);
    // Failures are as private as successes, and so is the browser.
    let forbidden = json!({ "zeroDataRetention": true, "checkPromptInjection": true });
    house.scrape(&format!("/injection?{MARKER}"), forbidden).await;
    let shown = json!({ "zeroDataRetention": true, "waitFor": 10 });
    has(&house.document(&path, shown).await["markdown"], &[MARKER]);
    let id = page["metadata"]["scrapeId"].as_str().unwrap();
    house.http().get(&format!("/v2/scrape/{id}")).await.unwrap().is_error(404, "Not Found");
    house.document(&path, private).await;
    assert_eq!(house.site.hits("/changing"), 3, "no stored page was used");
    let activity = house.http().get("/v2/team/activity").await.unwrap();
    assert!(!activity.text.contains(MARKER), "{}", activity.text);
    assert_eq!(house.credits_used().await, 3, "it is counted all the same");

    let data = house.dir.join("data");
    assert_eq!(written_below(&data, MARKER.as_bytes()), None);
    assert_eq!(written_below(&data, COMPRESSED), None);
    assert!(!house.server.log().contains(MARKER), "{}", house.server.log());
    // The search itself works: the same page without the wish is found.
    house.document(&path, json!({})).await;
    assert!(written_below(&data, MARKER.as_bytes()).is_some());
    assert!(written_below(&data, COMPRESSED).is_some());
}

#[tokio::test]
async fn zero_data_retention_holds_on_postgresql() {
    let (dir, site, url) = (TempDir::new(), Site::start(), shared_database());
    let server = recipe(&dir).set("database_url", &url).start().await;
    site.change(200, MARKER);
    let page = site.url(&format!("/changing?{MARKER}"));
    scrape_as(&server.http, &page, json!({ "zeroDataRetention": true })).await.is_success();
    let rows = dump(&url);
    assert!(!rows.contains(MARKER) && !rows.contains("\\\\x28b52ffd"), "the database has it");
    assert_eq!(written_below(dir.path(), MARKER.as_bytes()), None);
    scrape_as(&server.http, &page, json!({})).await.is_success();
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
async fn who_stood_behind_a_request_is_noted() {
    let house = House::open().await;
    house.document("/article", json!({ "auditMetadata": { "username": "keeper-of-the-light" } })).await;
    let activity = house.http().get("/v2/team/activity?endpoint=scrape").await.unwrap();
    let entry = &activity.is_success()["data"][0];
    assert_eq!(
        (&entry["endpoint"], &entry["target"]),
        (&json!("scrape"), &json!(house.site.url("/article")))
    );
    assert!(activity.text.contains("keeper-of-the-light"), "{}", activity.text);
}
