//! What imports and proxies must not reveal: paths of this machine, script links, names of private networks.

use crate::hostile::servers::raw;
use crate::scrape::{other_team, scrape_as};
use crate::server::{ServerConfig, run};
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::TempDir;

#[tokio::test]
async fn imported_files_show_neither_paths_nor_scripts() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let server = config.start().await;
    let folder = dir.join("private-notes");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("plain.md"), "# Plain\nimportedword one").unwrap();
    std::fs::write(
        folder.join("script.md"),
        "---\nurl: javascript:alert(1)\n---\n# Script\nimportedword two",
    )
    .unwrap();
    std::fs::write(folder.join("web.md"), "---\nurl: https://docs.test/web\n---\n# Web\nimportedword three")
        .unwrap();
    let (code, printed, error) = run(config.command(&["index", "add", "private-notes"]));
    assert_eq!(code, Some(0), "{error}");
    assert!(printed.contains("3 read"), "{printed}");
    // Every team finds what was imported for all.
    let other = other_team(&dir, &server.http).await;
    let end = Instant::now() + Duration::from_secs(20);
    let machine = dir.path().to_str().unwrap();
    let urls = loop {
        let response = other.post("/v2/search", &json!({ "query": "importedword" })).await.unwrap();
        let hits = response.expect_success()["data"]["web"].as_array().cloned().unwrap_or_default();
        let urls: Vec<String> = hits.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect();
        for url in &urls {
            assert!(!url.contains(machine) && !url.starts_with("file:"), "a path of this machine: {url}");
            assert!(url.starts_with("https:") || url.starts_with("import:///private-notes-"), "{url}");
        }
        if urls.len() == 3 {
            break urls;
        }
        assert!(Instant::now() < end, "{}", response.text);
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(urls.contains(&"https://docs.test/web".to_owned()), "{urls:?}");
    assert!(error.contains("script.md") && error.contains("not an http or https address"), "{error}");
}

#[tokio::test]
async fn a_proxy_is_never_asked_for_names_of_private_networks() {
    let dir = TempDir::new();
    let proxy = raw("127.0.0.1:0", |_| async {}).await;
    let server = ServerConfig::at(dir.path()).set("proxies", &proxy.url("")).start().await;
    for url in [
        "http://localhost:8080/",
        "http://app.localhost/",
        "http://metadata.google.internal/computeMetadata/v1/",
    ] {
        for browser in [false, true] {
            let options = if browser { json!({ "waitFor": 1 }) } else { json!({ "fastMode": true }) };
            let response = scrape_as(&server.http, url, options).await;
            assert_eq!(response.json["code"], "unsafe_domain_blocked", "{url}: {}", response.text);
        }
    }
    assert_eq!(proxy.reached(), 0, "the proxy got a request");
}
