//! Batches: a list of pages, each scraped once, and pages added later.

use super::{
    CrawlFixture, assert_counts_add_up, empty, fetch_status, sources, wait_for_end, wait_until_count, with,
};
use serde_json::{Value, json};

#[tokio::test]
async fn a_list_is_scraped_and_invalid_urls_are_named() {
    let fixture = CrawlFixture::open().await;
    let [one, two] = ["/site/one", "/site/two"].map(|path| fixture.site.url(path));
    let bare = fixture.site.url("/alone").replace("http://", "");
    let body = json!({ "urls": [one, "nonsense", two, one, bare, "ftp://x.example/", fixture.site.url("/gone")], "formats": ["links", "markdown"] });
    let response = fixture.http().post("/v2/batch/scrape", &body).await.unwrap();
    let id = response.expect_success()["id"].as_str().unwrap().to_owned();
    assert_eq!(response.json["invalidURLs"], json!(["nonsense", "ftp://x.example/"]));
    assert_eq!(response.json["url"], format!("{}/v2/batch/scrape/{id}", fixture.http().base));
    let status = wait_for_end(fixture.http(), &format!("/v2/batch/scrape/{id}")).await;
    assert_eq!((&status["status"], &status["total"]), (&json!("completed"), &json!(4)), "{status}");
    let mut found = sources(&status, &fixture.site);
    found.sort();
    let mut expected = vec![bare, "/gone".to_owned(), "/site/one".to_owned(), "/site/two".to_owned()];
    expected.sort();
    assert_eq!(found, expected, "as they were written, each once; a 404 that says something is a document");
    for document in status["data"].as_array().unwrap() {
        assert!(document["links"].is_array() && document["markdown"].is_string(), "{document}");
    }
    fixture
        .http()
        .delete(&format!("/v2/batch/scrape/{id}"))
        .await
        .unwrap()
        .expect_error(409, "Batch scrape is already completed");
    let clean = fixture.http().post("/v2/batch/scrape", &json!({ "urls": [one] })).await.unwrap();
    assert_eq!(clean.expect_success()["invalidURLs"], json!([]));
    let strict = json!({ "urls": [one], "ignoreInvalidURLs": false });
    let strict = fixture.http().post("/v2/batch/scrape", &strict).await.unwrap();
    assert!(strict.expect_success().get("invalidURLs").is_none(), "{}", strict.text);
}

#[tokio::test]
async fn pages_that_cannot_be_fetched_are_listed_as_errors() {
    let fixture = CrawlFixture::open().await;
    let nobody = format!("http://127.0.0.1:{}/", testkit::FreePort::find().0);
    let body = json!({ "urls": [nobody, "http://10.1.2.3/x", fixture.site.url("/alone")] });
    let response = fixture.http().post("/v2/batch/scrape", &body).await.unwrap();
    let id = response.expect_success()["id"].as_str().unwrap().to_owned();
    let path = format!("/v2/batch/scrape/{id}");
    let status = wait_for_end(fixture.http(), &path).await;
    assert_eq!(
        (&status["completed"], &status["failed"], &status["creditsUsed"]),
        (&json!(1), &json!(2), &json!(1)),
        "{status}"
    );
    let errors = fixture.http().get(&format!("{path}/errors")).await.unwrap().json;
    let code = |url: &str| {
        let errors = errors["errors"].as_array().unwrap();
        errors.iter().find(|error| error["url"] == url).map(|error| error["code"].clone())
    };
    assert_eq!(code(&nobody), Some(json!("SCRAPE_SITE_ERROR")), "{errors}");
    assert_eq!(code("http://10.1.2.3/x"), Some(json!("unsafe_domain_blocked")), "{errors}");
    assert_eq!(errors["robotsBlocked"], json!([]));
}

#[tokio::test]
async fn pages_can_be_added_to_a_batch() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.batch(&["/site/one"], json!({ "formats": ["markdown"] })).await;
    let path = format!("/v2/batch/scrape/{id}");
    assert_eq!(wait_for_end(fixture.http(), &path).await["completed"], 1);
    let add = async |paths: &[&str], more: Value| {
        let urls: Vec<String> = paths.iter().map(|path| fixture.site.url(path)).collect();
        let body = with(json!({ "urls": urls, "appendToId": id }), more);
        fixture.http().post("/v2/batch/scrape", &body).await.unwrap()
    };
    let added = add(&["/site/two", "/site/one"], empty()).await;
    assert_eq!(added.expect_success()["id"], id.as_str(), "the same batch goes on");
    let status = wait_until_count(fixture.http(), &path, "completed", 2).await;
    assert_eq!(status["total"], 2, "what it has already is not scraped again: {status}");
    let status = wait_for_end(fixture.http(), &path).await;
    assert_eq!(sources(&status, &fixture.site), ["/site/one", "/site/two"]);
    assert_eq!(add(&["/site/three"], json!({ "formats": ["html"] })).await.status, 400, "other formats");
    assert_eq!(
        add(&["/site/three"], json!({ "formats": ["markdown"] })).await.status,
        200,
        "the same formats"
    );
    assert_eq!(wait_for_end(fixture.http(), &path).await["completed"], 3);
    let unknown = json!({ "urls": [fixture.site.url("/alone")], "appendToId": uuid::Uuid::now_v7() });
    let unknown = fixture.http().post("/v2/batch/scrape", &unknown).await.unwrap();
    unknown.expect_error(404, "Job not found");
    let held = fixture.batch(&["/held/1"], empty()).await;
    let cancelled = fixture.http().delete(&format!("/v2/batch/scrape/{held}")).await.unwrap();
    assert_eq!(cancelled.json, json!({ "status": "cancelled" }));
    let late = json!({ "urls": [fixture.site.url("/alone")], "appendToId": held });
    assert_eq!(fixture.http().post("/v2/batch/scrape", &late).await.unwrap().status, 409);
}

#[tokio::test]
async fn a_batch_takes_a_hundred_thousand_urls_of_which_half_are_invalid() {
    let fixture = CrawlFixture::own().await;
    let urls: Vec<String> = (0..100_000)
        .map(|n| if n % 2 == 0 { fixture.site.url(&format!("/held/{n}")) } else { format!("wrong {n}") })
        .collect();
    let body = json!({ "urls": urls, "maxConcurrency": 1 });
    let response = fixture.http().post("/v2/batch/scrape", &body).await.unwrap();
    let id = response.expect_success()["id"].as_str().unwrap().to_owned();
    assert_eq!(response.json["invalidURLs"].as_array().unwrap().len(), 50_000);
    assert_eq!(response.json["invalidURLs"][1], "wrong 3");
    let path = format!("/v2/batch/scrape/{id}");
    let status = fetch_status(fixture.http(), &path).await;
    assert_eq!((&status["discovered"], &status["queued"]), (&json!(50_000), &json!(50_000)), "{status}");
    fixture.http().delete(&path).await.unwrap();
    let status = fetch_status(fixture.http(), &path).await;
    assert_eq!((&status["status"], &status["cancelled"]), (&json!("cancelled"), &json!(50_000)));
    assert_counts_add_up(&status);
}
