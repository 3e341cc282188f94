//! Maps of a small site: URLs of its sitemaps, feeds and pages, each once.

use crate::scrape::{assert_failure, shared};
use crate::server::Server;
use axum::Router;
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;

/// Serves the site and returns its base URL.
fn site() -> String {
    let listener = crate::site_server::new_listener();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let own = base.clone();
    let router = Router::new().fallback(move |request: Request| {
        let base = own.clone();
        async move { answer(&base, request.uri().path()) }
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

fn answer(base: &str, path: &str) -> Response {
    let xml = |text: String| ([(header::CONTENT_TYPE, "application/xml")], text).into_response();
    let html = |text: &str| ([(header::CONTENT_TYPE, "text/html")], text.to_owned()).into_response();
    let prose = "<p>Words that make this a page with something to say to whoever reads it, and a few more of them.</p>";
    match path {
        "/" => html(&format!(
            "<title>Home of birds</title><meta name=description content='All birds'>\
             <link rel=alternate type='application/rss+xml' href=/feed.xml>\
             <link rel=alternate type='text/markdown' href=/index.md>{prose}\
             <a href=/about?utm_source=x>About</a> <a href=/about#team>Team</a> <a href=https://elsewhere.example/>Out</a>\
             <a href=/deep/>Deep</a> <a href=/hidden/page>Hidden</a> <a href=mailto:a@b.example>Mail</a> <a href=/logo.png>Logo</a>"
        )),
        "/deep/" => html(&format!("<title>Deep waters</title>{prose}<a href=/deep/gannets>Gannets</a>")),
        "/hidden/page" => html(&format!("{prose}<a href=/hidden/further>Further</a>")),
        "/robots.txt" => {
            format!("User-agent: *\nDisallow: /hidden/\nSitemap: {base}/maps/index.xml\n").into_response()
        }
        "/maps/index.xml" => xml(format!(
            "<sitemapindex><sitemap><loc>{base}/maps/one.xml.gz</loc></sitemap><sitemap><loc>{base}/maps/gone.xml</loc></sitemap>\
             <sitemap><loc>{base}/maps/index.xml</loc></sitemap></sitemapindex>"
        )),
        "/maps/one.xml.gz" => {
            let urls = (0..20).fold(String::new(), |urls, n| {
                urls + "<url><loc>" + base + "/listed/" + &n.to_string() + "</loc></url>"
            });
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(format!("<urlset>{urls}</urlset>").as_bytes()).unwrap();
            gzip.finish().unwrap().into_response()
        }
        "/llms.txt" => "# Birds\n\n> A site.\n\n- [Moult](/moult.md): when\n- [All](/llms-full.txt)\n\
                        - [Out](https://elsewhere.example/x)\n- [Again](/about)\n"
            .into_response(),
        "/llms-full.txt" => "# All\n\nSee [the nests](/nests) and [the list](/llms.txt).\n".into_response(),
        "/feed.xml" => {
            xml(format!("<rss><channel><item><link>{base}/news/today</link></item></channel></rss>"))
        }
        _ => (axum::http::StatusCode::NOT_FOUND, "no such page").into_response(),
    }
}

async fn open() -> (Server, String) {
    let (_, server) = shared(&[]).await;
    (server, site())
}

fn urls(map: &Value, base: &str) -> Vec<String> {
    let links = map["links"].as_array().expect("links");
    links.iter().map(|link| link["url"].as_str().unwrap().replace(base, "")).collect()
}

#[tokio::test]
async fn every_url_of_the_site_is_listed_once() {
    let (server, base) = open().await;
    let map = server.http.post("/v2/map", &json!({ "url": base })).await.unwrap();
    assert_eq!((map.status, &map.json["success"]), (200, &json!(true)), "{}", map.text);
    let mut found = urls(&map.json, &base);
    assert_eq!(found.first().map(String::as_str), Some("/"), "the start comes first");
    found.sort();
    let mut expected: Vec<String> = (0..20).map(|n| format!("/listed/{n}")).collect();
    let more = ["/", "/about", "/deep/", "/deep/gannets", "/hidden/page", "/news/today"];
    expected.extend(["/index.md", "/moult.md", "/nests"].map(str::to_owned));
    expected.extend(more.map(str::to_owned));
    expected.sort();
    assert_eq!(found, expected, "robots.txt keeps us out of /hidden/, so /hidden/further is not known");
    let home = &map.json["links"][0];
    assert_eq!((&home["title"], &home["description"]), (&json!("Home of birds"), &json!("All birds")));
    let warning = map.json["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("sitemaps could not be read") || warning.is_empty(), "{warning}");
    let usage = server.http.get("/v2/team/activity").await.unwrap().expect_success()["data"].clone();
    assert_eq!((&usage[0]["endpoint"], &usage[0]["target"]), (&json!("map"), &json!(base)));
}

#[tokio::test]
async fn options_limit_which_urls_are_listed() {
    let (server, base) = open().await;
    let map = async |more: Value| {
        let mut body = json!({ "url": base });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        urls(server.http.post("/v2/map", &body).await.unwrap().expect_success(), &base)
    };
    let only = map(json!({ "sitemap": "only" })).await;
    assert!(only.len() == 20 && only.iter().all(|url| url.starts_with("/listed/")), "{only:?}");
    let skip = map(json!({ "sitemap": "skip" })).await;
    assert!(
        skip.iter().all(|url| !url.starts_with("/listed/")) && skip.contains(&"/deep/gannets".into()),
        "{skip:?}"
    );
    assert_eq!(map(json!({ "limit": 3 })).await.len(), 3);
    assert_eq!(map(json!({ "search": "gannets", "limit": 1 })).await, ["/deep/gannets"]);
    let deep = map(json!({ "includePaths": ["^/deep/"], "excludePaths": ["gannets$"] })).await;
    assert_eq!(deep, ["/", "/deep/"]);
}

#[tokio::test]
async fn options_of_a_crawl_work_for_a_map() {
    let (server, base) = open().await;
    let map = async |more: Value| {
        let mut body = json!({ "url": base, "sitemap": "skip" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        urls(server.http.post("/v2/map", &body).await.unwrap().expect_success(), &base)
    };
    let has = |found: &[String], url: &str| found.iter().any(|known| known == url);
    let near =
        map(json!({ "maxDiscoveryDepth": 1, "crawlEntireDomain": false, "allowSubdomains": false })).await;
    assert!(has(&near, "/deep/") && !has(&near, "/deep/gannets"), "{near:?}");
    let ignored = map(json!({ "ignoreRobotsTxt": true, "delay": 0.01 })).await;
    assert!(has(&ignored, "/hidden/further") && has(&ignored, "/deep/gannets"), "{ignored:?}");
    let outside = map(json!({ "allowExternalLinks": true, "deduplicateSimilarURLs": false })).await;
    assert!(has(&outside, "https://elsewhere.example/"), "{outside:?}");
    let by_url = map(
        json!({ "regexOnFullURL": true, "includePaths": ["^http://127.*/deep/"], "robotsUserAgent": "x" }),
    )
    .await;
    assert_eq!(by_url, ["/", "/deep/", "/deep/gannets"]);
}

#[tokio::test]
async fn invalid_requests_and_unreachable_sites_are_errors() {
    let (server, base) = open().await;
    for (more, field) in [
        (json!({ "limit": 0 }), "limit"),
        (json!({ "limit": 100_001 }), "limit"),
        (json!({ "sitemap": "maybe" }), "sitemap"),
        (json!({ "includePaths": ["("] }), "includePaths"),
        (json!({ "timeout": 5 }), "timeout"),
        (json!({ "delay": 61 }), "delay"),
        (json!({ "maxDiscoveryDepth": -1 }), "maxDiscoveryDepth"),
    ] {
        let mut body = json!({ "url": base });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let response = server.http.post("/v2/map", &body).await.unwrap();
        assert_eq!(
            (response.status, &response.json["details"][0]["path"][0]),
            (400, &json!(field)),
            "{}",
            response.text
        );
    }
    let response = server.http.post("/v2/map", &json!({ "url": "ftp://x.example" })).await.unwrap();
    assert_eq!((response.status, &response.json["error"]), (400, &json!("Invalid URL")));
    let response = server.http.post("/v2/map", &json!({ "url": "http://10.1.2.3/" })).await.unwrap();
    assert_failure(&response, 403, "unsafe_domain_blocked");
}
