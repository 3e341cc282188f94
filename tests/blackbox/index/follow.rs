//! The index follows what is scraped, on every machine and over every death.

use super::{PATIENCE, finds, found, rows, status, write};
use crate::crawl::Country;
use crate::scrape::{House, recipe, scrape_as};
use crate::server::run;
use crate::site::Site;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::TempDir;

#[tokio::test]
async fn a_scraped_page_is_found_and_a_private_one_never() {
    let house = House::open().await;
    for options in [
        json!({ "zeroDataRetention": true }),
        json!({ "storeInCache": false }),
        json!({ "headers": { "Cookie": "a=b" } }),
    ] {
        house.document("/article", options).await;
    }
    let begun = Instant::now();
    house.document("/menu", json!({ "formats": ["links"] })).await;
    finds(house.http(), "menu", 1).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(found(house.http(), "gannets dive").await.is_empty(), "nothing of the private ones");
    house.document("/article", json!({})).await;
    assert_eq!(finds(house.http(), "gannets dive", 1).await, [house.site.url("/article")]);
    // Not what is no content.
    house.scrape("/missing", json!({})).await;
    house.document("/product", json!({})).await;
    finds(house.http(), "product", 1).await;
    assert!(found(house.http(), "inurl:missing").await.is_empty());
}

#[tokio::test]
async fn the_pages_of_a_crawl_are_found() {
    let country = Country::open().await;
    let crawled = country.crawled("/site/", json!({ "limit": 20 })).await;
    assert_eq!(crawled["completed"], 4, "{crawled}");
    assert_eq!(finds(country.http(), "twoword", 1).await, [country.village.url("/site/two")]);
    let private = country.crawled("/site/", json!({ "limit": 20, "zeroDataRetention": true })).await;
    assert_eq!(private["completed"], 4, "{private}");
}

#[tokio::test]
async fn what_one_machine_scrapes_another_finds() {
    let (one, two) = (TempDir::new(), TempDir::new());
    let database = testkit::shared_database();
    let first = recipe(&one).set("database_url", &database).start().await;
    let second = recipe(&two).set("database_url", &database).start().await;
    let site = Site::start();
    scrape_as(&first.http, &site.url("/article"), json!({})).await.is_success();
    assert_eq!(finds(&second.http, "gannets dive", 1).await, [site.url("/article")]);
    assert_eq!(finds(&first.http, "gannets dive", 1).await.len(), 1);
}

/// Killed at any moment of taking in an import, a server ends with every page in its index, once.
#[tokio::test]
async fn no_page_is_lost_or_doubled_by_kill_9() {
    const ROWS: usize = 3_000;
    let dir = TempDir::new();
    let file = dir.join("rows.jsonl");
    write(&file, &rows(ROWS));
    let recipe = recipe(&dir);
    let kills = if std::env::var_os("GANNET_TEST_SOAK").is_some() { 40 } else { 4 };
    let mut importing = recipe.command(&["index", "add"]);
    let server = recipe.start().await;
    let mut import = importing.arg(&file).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut server = Some(server);
    for round in 0..kills {
        tokio::time::sleep(Duration::from_millis(150 + 97 * (round % 5))).await;
        server.take().unwrap().kill();
        server = Some(recipe.start().await);
    }
    // A busy database may have cut the import short; the same again changes nothing that is there.
    let _ = import.wait();
    let (code, told, errors) = run({
        let mut again = recipe.command(&["index", "add"]);
        again.arg(&file);
        again
    });
    assert_eq!(code, Some(0), "{told}{errors}");
    let end = Instant::now() + PATIENCE;
    loop {
        let now = status(recipe.command(&["index", "status", "--json"]));
        assert_eq!(now["kept"]["web"]["pages"], ROWS, "{now}");
        if now["index"]["documents"] == ROWS && now["index"]["behind"] == false {
            break;
        }
        assert!(Instant::now() < end, "{now}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let http = &server.as_ref().unwrap().http;
    for n in [0, 1_234, ROWS - 1] {
        assert_eq!(finds(http, &format!("own{n}word"), 1).await, [format!("https://rows.test/{n}")]);
    }
}
