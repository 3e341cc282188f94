//! `safeMode`: robots.txt decides about a page, and walls are left alone.

use super::{ScrapeFixture, assert_contains, assert_failure, scrape_as, shared};
use crate::crawl::wait_for_end;
use crate::site::Site;
use crate::site_server::SiteServer;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{Html, Redirect};
use axum::routing::get;
use serde_json::json;

const PROSE: &str = "<title>Cliffs</title><main><h1>Cliffs</h1><p>Gannets nest on cliffs and islands, and dive for \
    fish from thirty metres. Their colonies are loud, white from far away, and older than most villages.</p></main>";

fn site() -> SiteServer {
    let page = async || Html(PROSE);
    let routes = Router::new()
        .route("/robots.txt", get(async || "User-agent: *\nDisallow: /closed/\n"))
        .route("/open", get(page))
        .route("/closed/nests", get(page))
        .route("/leads-in", get(async || Redirect::temporary("/closed/nests")));
    SiteServer::start(routes)
}

#[tokio::test]
async fn robots_txt_decides_about_a_page_and_where_it_leads() {
    let (_, server) = shared(&[("browser", "off")]).await;
    let site = site();
    let scrape = async |path: &str, safe: bool| {
        let options = json!({ "safeMode": safe, "maxAge": 0 });
        scrape_as(&server.http, &site.url(path), options).await
    };
    let open = scrape("/open", true).await;
    assert_contains(&open.expect_success()["data"]["markdown"], &["Gannets nest"]);
    for path in ["/closed/nests", "/leads-in"] {
        scrape(path, false).await.expect_success();
        let refused = scrape(path, true).await;
        let details = assert_failure(&refused, 403, "SCRAPE_SITE_RESTRICTION_BLOCKED");
        assert_eq!(
            (&details["rule"], &details["refused"]),
            (&json!("robots.txt"), &json!(site.url("/closed/nests")))
        );
    }
    let down = SiteServer::start(
        Router::new()
            .route("/robots.txt", get(async || StatusCode::BAD_GATEWAY))
            .route("/open", get(async || Html(PROSE))),
    );
    let refused = scrape_as(&server.http, &down.url("/open"), json!({ "safeMode": true })).await;
    assert_failure(&refused, 403, "SCRAPE_SITE_RESTRICTION_BLOCKED");
    assert_contains(&refused.json["error"], &["could not be read"]);

    let urls =
        json!({ "urls": [site.url("/open"), site.url("/closed/nests")], "safeMode": true, "maxAge": 0 });
    let batch = server.http.post("/v2/batch/scrape", &urls).await.unwrap();
    let path = format!("/v2/batch/scrape/{}", batch.expect_success()["id"].as_str().unwrap());
    assert_eq!(wait_for_end(&server.http, &path).await["completed"], 1);
    let errors = server.http.get(&format!("{path}/errors")).await.unwrap();
    assert_eq!(errors.json["errors"][0]["code"], "SCRAPE_SITE_RESTRICTION_BLOCKED", "{}", errors.text);
    let both =
        json!({ "url": site.url("/open"), "ignoreRobotsTxt": true, "scrapeOptions": { "safeMode": true } });
    let refused = server.http.post("/v2/crawl", &both).await.unwrap();
    assert_eq!((refused.status, &refused.json["details"][0]["path"]), (400, &json!(["ignoreRobotsTxt"])));
}

#[tokio::test]
async fn walls_are_not_tried_in_the_browser() {
    let fixture = ScrapeFixture::open().await;
    for (path, verdict) in [("/blocked", "blocked"), ("/captcha", "captcha")] {
        let refused = fixture.scrape(path, json!({ "safeMode": true, "timeout": 30_000 })).await;
        let details = assert_failure(&refused, 403, "SCRAPE_SITE_RESTRICTION_BLOCKED");
        assert_eq!(details["verdict"], verdict, "{}", refused.text);
        let rungs: Vec<_> = details["ladder"].as_array().unwrap().iter().map(|step| &step["rung"]).collect();
        assert!(rungs.iter().all(|rung| **rung == "http"), "{}", refused.text);
    }
    let app = fixture.scrape_document("/app", json!({ "safeMode": true })).await;
    assert_contains(&app["markdown"], &["renderedword"]);
}

#[tokio::test]
async fn what_clients_send_along_is_understood() {
    let (_, server) = shared(&[("browser", "off")]).await;
    let site = Site::start();
    for country in ["us-generic", "US-WHITELIST"] {
        let options = json!({ "location": { "country": country } });
        scrape_as(&server.http, &site.url("/article"), options).await.expect_success();
    }
    // Dify sends headers without one, and they must not keep a page from the cache.
    let options = json!({ "headers": {}, "location": { "country": "us" } });
    let cached = scrape_as(&server.http, &site.url("/article"), options).await;
    assert_eq!(cached.expect_success()["data"]["metadata"]["cacheState"], "hit");
    let tools = json!({ "alexandria": { "provider": "acme", "capability": "x" } });
    let tools = server.http.post("/v2/scrape", &tools).await.unwrap();
    assert_eq!(tools.expect_success()["scrape_id"].as_str().map(str::len), Some(36), "{}", tools.text);
}
