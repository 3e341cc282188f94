//! Batches: a list of pages, each once, and more of them later.

use super::{Country, adds_up, empty, ended, sources, standing, until, with};
use serde_json::{Value, json};

#[tokio::test]
async fn a_list_is_scraped_and_what_is_no_address_is_named() {
    let country = Country::open().await;
    let [one, two] = ["/site/one", "/site/two"].map(|path| country.village.url(path));
    let bare = country.village.url("/alone").replace("http://", "");
    let body = json!({ "urls": [one, "nonsense", two, one, bare, "ftp://x.example/", country.village.url("/gone")], "formats": ["links", "markdown"] });
    let reply = country.http().post("/v2/batch/scrape", &body).await.unwrap();
    let id = reply.is_success()["id"].as_str().unwrap().to_owned();
    assert_eq!(reply.json["invalidURLs"], json!(["nonsense", "ftp://x.example/"]));
    assert_eq!(reply.json["url"], format!("{}/v2/batch/scrape/{id}", country.http().base));
    let status = ended(country.http(), &format!("/v2/batch/scrape/{id}")).await;
    assert_eq!((&status["status"], &status["total"]), (&json!("completed"), &json!(4)), "{status}");
    let mut found = sources(&status, &country.village);
    found.sort();
    let mut expected = vec![bare, "/gone".to_owned(), "/site/one".to_owned(), "/site/two".to_owned()];
    expected.sort();
    assert_eq!(found, expected, "as they were written, each once; a 404 that says something is a document");
    for document in status["data"].as_array().unwrap() {
        assert!(document["links"].is_array() && document["markdown"].is_string(), "{document}");
    }
    country
        .http()
        .delete(&format!("/v2/batch/scrape/{id}"))
        .await
        .unwrap()
        .is_error(409, "Batch scrape is already completed");
    let clean = country.http().post("/v2/batch/scrape", &json!({ "urls": [one] })).await.unwrap();
    assert_eq!(clean.is_success()["invalidURLs"], json!([]));
    let strict = json!({ "urls": [one], "ignoreInvalidURLs": false });
    let strict = country.http().post("/v2/batch/scrape", &strict).await.unwrap();
    assert!(strict.is_success().get("invalidURLs").is_none(), "{}", strict.text);
}

#[tokio::test]
async fn pages_that_cannot_be_had_are_errors() {
    let country = Country::open().await;
    let nobody = format!("http://127.0.0.1:{}/", testkit::FreePort::find().0);
    let body = json!({ "urls": [nobody, "http://10.1.2.3/x", country.village.url("/alone")] });
    let reply = country.http().post("/v2/batch/scrape", &body).await.unwrap();
    let id = reply.is_success()["id"].as_str().unwrap().to_owned();
    let path = format!("/v2/batch/scrape/{id}");
    let status = ended(country.http(), &path).await;
    assert_eq!(
        (&status["completed"], &status["failed"], &status["creditsUsed"]),
        (&json!(1), &json!(2), &json!(1)),
        "{status}"
    );
    let errors = country.http().get(&format!("{path}/errors")).await.unwrap().json;
    let code = |url: &str| {
        let errors = errors["errors"].as_array().unwrap();
        errors.iter().find(|error| error["url"] == url).map(|error| error["code"].clone())
    };
    assert_eq!(code(&nobody), Some(json!("SCRAPE_SITE_ERROR")), "{errors}");
    assert_eq!(code("http://10.1.2.3/x"), Some(json!("unsafe_domain_blocked")), "{errors}");
    assert_eq!(errors["robotsBlocked"], json!([]));
}

#[tokio::test]
async fn more_pages_are_added_to_a_batch() {
    let country = Country::open().await;
    let id = country.batch(&["/site/one"], json!({ "formats": ["markdown"] })).await;
    let path = format!("/v2/batch/scrape/{id}");
    assert_eq!(ended(country.http(), &path).await["completed"], 1);
    let add = async |paths: &[&str], more: Value| {
        let urls: Vec<String> = paths.iter().map(|path| country.village.url(path)).collect();
        let body = with(json!({ "urls": urls, "appendToId": id }), more);
        country.http().post("/v2/batch/scrape", &body).await.unwrap()
    };
    let added = add(&["/site/two", "/site/one"], empty()).await;
    assert_eq!(added.is_success()["id"], id.as_str(), "the same batch goes on");
    let status = until(country.http(), &path, "completed", 2).await;
    assert_eq!(status["total"], 2, "what it has already is not scraped again: {status}");
    let status = ended(country.http(), &path).await;
    assert_eq!(sources(&status, &country.village), ["/site/one", "/site/two"]);
    assert_eq!(add(&["/site/three"], json!({ "formats": ["html"] })).await.status, 400, "other formats");
    assert_eq!(
        add(&["/site/three"], json!({ "formats": ["markdown"] })).await.status,
        200,
        "the same formats"
    );
    assert_eq!(ended(country.http(), &path).await["completed"], 3);
    let unknown = json!({ "urls": [country.village.url("/alone")], "appendToId": uuid::Uuid::now_v7() });
    let unknown = country.http().post("/v2/batch/scrape", &unknown).await.unwrap();
    unknown.is_error(404, "Job not found");
    let held = country.batch(&["/held/1"], empty()).await;
    let cancelled = country.http().delete(&format!("/v2/batch/scrape/{held}")).await.unwrap();
    assert_eq!(cancelled.json, json!({ "status": "cancelled" }));
    let late = json!({ "urls": [country.village.url("/alone")], "appendToId": held });
    assert_eq!(country.http().post("/v2/batch/scrape", &late).await.unwrap().status, 409);
}

#[tokio::test]
async fn a_hundred_thousand_addresses_are_taken_with_half_of_them_wrong() {
    let country = Country::open().await;
    let urls: Vec<String> = (0..100_000)
        .map(|n| if n % 2 == 0 { country.village.url(&format!("/held/{n}")) } else { format!("wrong {n}") })
        .collect();
    let body = json!({ "urls": urls, "maxConcurrency": 1 });
    let reply = country.http().post("/v2/batch/scrape", &body).await.unwrap();
    let id = reply.is_success()["id"].as_str().unwrap().to_owned();
    assert_eq!(reply.json["invalidURLs"].as_array().unwrap().len(), 50_000);
    assert_eq!(reply.json["invalidURLs"][1], "wrong 3");
    let path = format!("/v2/batch/scrape/{id}");
    let status = standing(country.http(), &path).await;
    assert_eq!((&status["discovered"], &status["queued"]), (&json!(50_000), &json!(50_000)), "{status}");
    country.http().delete(&path).await.unwrap();
    let status = standing(country.http(), &path).await;
    assert_eq!((&status["status"], &status["cancelled"]), (&json!("cancelled"), &json!(50_000)));
    adds_up(&status);
}
