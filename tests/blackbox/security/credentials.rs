//! Headers, cookies and logins of a request reach the sites it names and no other.

mod browser_slots;
mod logins;

use crate::http::{Http, HttpResponse};
use crate::scrape::{ScrapeFixture, assert_failure, shared};
use crate::search::SearchFixture;
use crate::server::Server;
use crate::site::Site;
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What no other host may see.
const SECRET: &str = "SECRET";
const PROSE: &str = "<p>Words that make this a page with something to say to whoever reads it, and then a few more of them.</p>";

fn secret_headers() -> Value {
    json!({ "Authorization": "Bearer SECRET-TOKEN", "Cookie": "sid=SECRET", "X-Pass": "SECRET-PASS" })
}

type Requests = Arc<Mutex<Vec<(String, HeaderMap)>>>;

/// A host that records every request with its headers.
struct Host {
    server: SiteServer,
    requests: Requests,
}

impl Host {
    /// `answer` gets the path of a request; `None` is a 404.
    fn start(answer: impl Fn(&str) -> Option<Response> + Clone + Send + Sync + 'static) -> Self {
        let requests = Requests::default();
        let memory = requests.clone();
        let router =
            Router::new().fallback(move |request: Request| {
                let path = request.uri().path().to_owned();
                memory.lock().unwrap().push((path.clone(), request.headers().clone()));
                let answer = answer(&path);
                async move {
                    answer.unwrap_or_else(|| (axum::http::StatusCode::NOT_FOUND, "gone").into_response())
                }
            });
        Self { server: SiteServer::start(router), requests }
    }

    fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    fn requests(&self) -> Vec<(String, HeaderMap)> {
        self.requests.lock().unwrap().clone()
    }

    fn got_request_for(&self, path: &str) -> bool {
        self.requests().iter().any(|(known, _)| known == path)
    }

    /// Asserts that the host got requests for these paths, and that none carried a secret.
    #[track_caller]
    fn assert_no_secret(&self, paths: &[&str]) {
        for path in paths {
            assert!(self.got_request_for(path), "no request for {path}: {:?}", self.requests());
        }
        for (path, headers) in self.requests() {
            assert!(!format!("{headers:?}").contains(SECRET), "{path} came with {headers:?}");
        }
    }

    /// Asserts that every request for this path carried the secrets.
    #[track_caller]
    fn assert_got_secrets(&self, path: &str) {
        let requests: Vec<_> = self.requests().into_iter().filter(|(known, _)| known == path).collect();
        assert!(!requests.is_empty(), "no request for {path}");
        for (_, headers) in requests {
            assert_eq!(headers.get("authorization").unwrap(), "Bearer SECRET-TOKEN", "{headers:?}");
            assert!(headers.get("cookie").unwrap().to_str().unwrap().contains("sid=SECRET"), "{headers:?}");
        }
    }
}

fn html(body: &str) -> Response {
    let page = format!(
        "<!doctype html><html><head><title>A page</title></head><body><main>{body}</main></body></html>"
    );
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

fn redirect(to: &str) -> Response {
    (axum::http::StatusCode::FOUND, [(header::LOCATION, to.to_owned())]).into_response()
}

/// A host that other sites link to; every path is a page or an empty sitemap.
fn elsewhere() -> Host {
    Host::start(|path| {
        let xml = |text: &str| ([(header::CONTENT_TYPE, "application/xml")], text.to_owned()).into_response();
        match path {
            "/robots.txt" => None,
            path if path.contains(".xml") => Some(xml("<urlset></urlset>")),
            path => Some(html(&format!("<h1>{path}</h1>{PROSE}"))),
        }
    })
}

/// A server without a browser, which other tests use too.
async fn without_browser() -> Server {
    shared(&[("browser", "off")]).await.1
}

/// Waits until a crawl or a batch has ended; returns its status.
async fn crawl_to_end(http: &Http, path: &str, body: &Value) -> Value {
    let started = http.post(path, body).await.unwrap();
    let id = started.expect_success()["id"].as_str().unwrap().to_owned();
    wait_for_end(http, &format!("{path}/{id}"), "scraping").await.json
}

async fn wait_for_end(http: &Http, path: &str, open: &str) -> HttpResponse {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let response = http.get(path).await.unwrap();
        assert_eq!(response.status, 200, "{}", response.text);
        if response.json["status"] != open {
            return response;
        }
        assert!(Instant::now() < end, "it did not end: {}", response.text);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// H2 a: sitemaps and feeds may lie on any host, and the author of a robots.txt chooses it.
#[tokio::test]
async fn map_sends_headers_to_the_mapped_site_only() {
    let server = without_browser().await;
    let other = elsewhere();
    let (sitemap, nested, feed) =
        (other.url("/evil-sitemap.xml"), other.url("/nested.xml"), other.url("/feed.xml"));
    let site = Host::start(move |path| match path {
        "/" => Some(html(&format!(
            "<link rel=alternate type='application/rss+xml' href='{feed}'>{PROSE}<a href=/a>A</a>"
        ))),
        "/robots.txt" => Some(format!("Sitemap: {sitemap}\nSitemap: /own.xml\n").into_response()),
        "/own.xml" => Some(
            format!("<sitemapindex><sitemap><loc>{nested}</loc></sitemap></sitemapindex>").into_response(),
        ),
        _ => None,
    });
    let body = json!({ "url": site.url("/"), "headers": secret_headers() });
    let links = server.http.post("/v2/map", &body).await.unwrap().expect_success()["links"].clone();
    assert!(links.as_array().is_some_and(|links| !links.is_empty()), "{links}");
    other.assert_no_secret(&["/evil-sitemap.xml", "/nested.xml", "/feed.xml"]);
    for path in ["/", "/robots.txt", "/own.xml"] {
        site.assert_got_secrets(path);
    }
}

/// H2 b: without a certificate check anybody on the network path could read the headers.
#[tokio::test]
async fn map_checks_certificates_where_it_sends_headers() {
    let server = without_browser().await;
    let site = Site::start_tls();
    let body = json!({ "url": site.url("/"), "headers": { "Authorization": "Bearer SECRET" } });
    let response = server.http.post("/v2/map", &body).await.unwrap();
    for path in ["/", "/robots.txt", "/sitemap.xml", "/sitemap_index.xml"] {
        assert_eq!(site.hits(path), 0, "{path} was requested over unverified TLS");
    }
    assert_failure(&response, 500, "SCRAPE_SSL_ERROR");
    // Without credentials a map also reads sites with an invalid certificate.
    let plain = server.http.post("/v2/map", &json!({ "url": site.url("/article") })).await.unwrap();
    plain.expect_success();
}

/// H2 c: the caller did not name what a search finds.
#[tokio::test]
async fn extract_sends_headers_to_its_own_urls_only() {
    let fixture = SearchFixture::with(|config| config.set("browser", "off")).await;
    let other = elsewhere();
    let site =
        Host::start(|path| (path == "/about").then(|| html(&format!("<h1>About the harbour</h1>{PROSE}"))));
    fixture.engine.set_results(&[other.url("/lanterns")]);
    let schema =
        json!({ "type": "object", "required": ["price"], "properties": { "price": { "type": "number" } } });
    let options = json!({ "headers": secret_headers() });
    let body = json!({ "urls": [site.url("/about")], "prompt": "the price of a lantern", "schema": schema,
        "enableWebSearch": true, "scrapeOptions": options });
    let id = fixture.http().post("/v2/extract", &body).await.unwrap().expect_success()["id"].clone();
    wait_for_end(fixture.http(), &format!("/v2/extract/{}", id.as_str().unwrap()), "processing").await;
    other.assert_no_secret(&["/lanterns"]);
    site.assert_got_secrets("/about");
    // Where no page is named, the headers are sent to nobody, and the response says so.
    let nowhere = json!({ "prompt": "the price of a lantern", "scrapeOptions": options });
    let response = fixture.http().post("/v2/extract", &nowhere).await.unwrap();
    assert_eq!((response.status, response.text.contains("scrapeOptions")), (400, true), "{}", response.text);
    let search = json!({ "scrapeOptions": { "formats": ["markdown"], "headers": secret_headers() } });
    let response = fixture.search("lantern", search).await;
    assert_eq!((response.status, response.text.contains("scrapeOptions")), (400, true), "{}", response.text);
}

/// A search scrapes its results with the caller's options, and says so when a header cannot be sent.
#[tokio::test]
async fn search_sends_only_headers_that_any_host_may_see() {
    let fixture = SearchFixture::with(|config| config.set("browser", "off")).await;
    let other = elsewhere();
    fixture.engine.set_results(&[other.url("/lanterns")]);
    let options = json!({ "formats": ["markdown"], "headers": { "User-Agent": "Own/1" } });
    fixture.search_ok("lantern", json!({ "scrapeOptions": options })).await;
    let (_, headers) = other.requests().into_iter().find(|(path, _)| path == "/lanterns").unwrap();
    assert_eq!(headers["user-agent"], "Own/1");
}

/// H2 d: links lead out of a crawl, and its headers must not follow them.
#[tokio::test]
async fn crawl_sends_headers_to_the_origin_of_its_start_only() {
    let fixture = ScrapeFixture::open().await;
    let other = elsewhere();
    let far = other.url("/far");
    let site = Host::start(move |path| match path {
        "/" => Some(html(&format!("<h1>Start</h1>{PROSE}<a href=/near>Near</a> <a href='{far}'>Far</a>"))),
        "/near" => Some(html(&format!("<h1>Near</h1>{PROSE}"))),
        "/away" => Some(redirect(&far)),
        _ => None,
    });
    // Over HTTP, and in the browser.
    for wait in [0, 1] {
        let body = json!({ "url": site.url("/"), "allowExternalLinks": true, "limit": 3,
            "scrapeOptions": { "headers": secret_headers(), "waitFor": wait } });
        let status = crawl_to_end(fixture.http(), "/v2/crawl", &body).await;
        assert_eq!(status["completed"], 3, "{status}");
        other.assert_no_secret(&["/far"]);
        for path in ["/", "/near"] {
            site.assert_got_secrets(path);
        }
        other.requests.lock().unwrap().clear();
    }
    // A batch names its pages, but not what they link to.
    let batch = json!({ "urls": [site.url("/near"), site.url("/away")], "headers": secret_headers() });
    crawl_to_end(fixture.http(), "/v2/batch/scrape", &batch).await;
    site.assert_got_secrets("/away");
    other.assert_no_secret(&["/far"]);
}

/// L3: callers put secrets into headers whose names nobody can foresee.
#[tokio::test]
async fn a_redirect_to_another_host_drops_every_secret() {
    let fixture = ScrapeFixture::open().await;
    let other = elsewhere();
    let away = other.url("/landed");
    let site = Host::start(move |path| match path {
        "/away" => Some(redirect(&away)),
        "/inside" => Some(redirect("/own")),
        "/own" => Some(html(&format!("<h1>Own</h1>{PROSE}"))),
        _ => None,
    });
    let headers = json!({ "X-Jwt-Assertion": "SECRET-1", "X-Pass": "SECRET-2", "X-Access": "SECRET-3",
        "User-Agent": "Own/1", "Authorization": "Bearer SECRET-TOKEN", "Cookie": "sid=SECRET" });
    for wait in [0, 1] {
        let options = json!({ "headers": headers, "waitFor": wait });
        for path in ["/away", "/inside"] {
            let response = crate::scrape::scrape_as(fixture.http(), &site.url(path), options.clone()).await;
            assert_eq!(response.status, 200, "{}", response.text);
        }
        other.assert_no_secret(&["/landed"]);
        for (path, headers) in other.requests().iter().filter(|(path, _)| path == "/landed") {
            assert_eq!(headers["user-agent"], "Own/1", "{path}: what any host may see goes along");
        }
        site.assert_got_secrets("/away");
        site.assert_got_secrets("/own");
        other.requests.lock().unwrap().clear();
    }
}
