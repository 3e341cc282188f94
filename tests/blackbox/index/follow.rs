//! Scraped pages reach the index, on every machine and despite kills.

use super::{MAX_INDEXING_DELAY, rows, search_urls, status, wait_for_results, write};
use crate::crawl::CrawlFixture;
use crate::scrape::{ScrapeFixture, config, scrape_as};
use crate::server::run;
use crate::site::Site;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::TempDir;

#[tokio::test]
async fn a_scraped_page_is_found_and_a_private_one_never() {
    let fixture = ScrapeFixture::own().await;
    for options in [
        json!({ "zeroDataRetention": true }),
        json!({ "storeInCache": false }),
        json!({ "headers": { "Cookie": "a=b" } }),
    ] {
        fixture.scrape_document("/article", options).await;
    }
    let begun = Instant::now();
    fixture.scrape_document("/menu", json!({ "formats": ["links"] })).await;
    wait_for_results(fixture.http(), "menu", 1).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(search_urls(fixture.http(), "gannets dive").await.is_empty(), "nothing of the private ones");
    fixture.scrape_document("/article", json!({})).await;
    assert_eq!(wait_for_results(fixture.http(), "gannets dive", 1).await, [fixture.site.url("/article")]);
    // Pages without content are not found.
    fixture.scrape("/missing", json!({})).await;
    fixture.scrape_document("/product", json!({})).await;
    wait_for_results(fixture.http(), "product", 1).await;
    assert!(search_urls(fixture.http(), "inurl:missing").await.is_empty());
}

#[tokio::test]
async fn with_search_pages_off_only_imports_are_found() {
    let (dir, site) = (TempDir::new(), Site::start());
    let config = config(&dir).set("search_pages", "off");
    let server = config.start().await;
    scrape_as(&server.http, &site.url("/article"), json!({})).await.expect_success();
    let file = dir.join("rows.jsonl");
    write(&file, &rows(2));
    let (code, printed, errors) = run({
        let mut import = config.command(&["index", "add"]);
        import.arg(&file);
        import
    });
    assert_eq!(code, Some(0), "{printed}{errors}");
    wait_for_results(&server.http, "own1word", 1).await;
    assert!(search_urls(&server.http, "inurl:article").await.is_empty());
}

#[tokio::test]
async fn the_pages_of_a_crawl_are_found() {
    let fixture = CrawlFixture::open().await;
    let crawled = fixture.crawl_to_end("/site/", json!({ "limit": 20 })).await;
    assert_eq!(crawled["completed"], 4, "{crawled}");
    assert_eq!(wait_for_results(fixture.http(), "twoword", 1).await, [fixture.site.url("/site/two")]);
    let private = fixture.crawl_to_end("/site/", json!({ "limit": 20, "zeroDataRetention": true })).await;
    assert_eq!(private["completed"], 4, "{private}");
}

#[tokio::test]
async fn a_page_scraped_on_one_machine_is_found_on_another() {
    let (one, two) = (TempDir::new(), TempDir::new());
    let database = testkit::shared_database();
    let first = config(&one).set("database_url", &database).start().await;
    let second = config(&two).set("database_url", &database).start().await;
    let site = Site::start();
    scrape_as(&first.http, &site.url("/article"), json!({})).await.expect_success();
    assert_eq!(wait_for_results(&second.http, "gannets dive", 1).await, [site.url("/article")]);
    assert_eq!(wait_for_results(&first.http, "gannets dive", 1).await.len(), 1);
}

/// Killed at any moment while it takes in an import, a server ends with every page in its index, once.
#[tokio::test]
async fn no_page_is_lost_or_doubled_by_kill_9() {
    const ROWS: usize = 2_000;
    let dir = TempDir::new();
    let file = dir.join("rows.jsonl");
    write(&file, &rows(ROWS));
    let config = config(&dir);
    let kills = if std::env::var_os("GANNET_TEST_SOAK").is_some() { 40 } else { 3 };
    let mut importing = config.command(&["index", "add"]);
    let server = config.start().await;
    let mut import = importing.arg(&file).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut server = Some(server);
    for round in 0..kills {
        tokio::time::sleep(Duration::from_millis(150 + 97 * (round % 5))).await;
        server.take().unwrap().kill();
        server = Some(config.start().await);
    }
    // A busy database may have cut the import short; importing again changes nothing that is there.
    let _ = import.wait();
    let (code, printed, errors) = run({
        let mut again = config.command(&["index", "add"]);
        again.arg(&file);
        again
    });
    assert_eq!(code, Some(0), "{printed}{errors}");
    let end = Instant::now() + MAX_INDEXING_DELAY;
    loop {
        let now = status(config.command(&["index", "status", "--json"]));
        assert_eq!(now["kept"]["web"]["pages"], ROWS, "{now}");
        if now["index"]["documents"] == ROWS && now["index"]["behind"] == false {
            break;
        }
        assert!(Instant::now() < end, "{now}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let http = &server.as_ref().unwrap().http;
    for n in [0, 1_234, ROWS - 1] {
        assert_eq!(
            wait_for_results(http, &format!("own{n}word"), 1).await,
            [format!("https://rows.test/{n}")]
        );
    }
}
