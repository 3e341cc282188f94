//! Headers, cookies and logins of a request reach the sites it names and no other.

mod browser_slots;
mod logins;

use crate::http::{Http, Reply};
use crate::scrape::{House, failed, recipe};
use crate::search::Library;
use crate::server::Server;
use crate::site::Site;
use crate::stand::Stand;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::TempDir;

/// What no other host may see.
const SECRET: &str = "SECRET";
const PROSE: &str = "<p>Words that make this a page with something to say to whoever reads it, and then a few more of them.</p>";

fn secret_headers() -> Value {
    json!({ "Authorization": "Bearer SECRET-TOKEN", "Cookie": "sid=SECRET", "X-Pass": "SECRET-PASS" })
}

type Heard = Arc<Mutex<Vec<(String, HeaderMap)>>>;

/// A host that remembers every request with its headers.
struct Host {
    stand: Stand,
    heard: Heard,
}

impl Host {
    /// `answer` gets the path of a request; what it has no answer for is a 404.
    fn start(answer: impl Fn(&str) -> Option<Response> + Clone + Send + Sync + 'static) -> Self {
        let heard = Heard::default();
        let memory = heard.clone();
        let router =
            Router::new().fallback(move |request: Request| {
                let path = request.uri().path().to_owned();
                memory.lock().unwrap().push((path.clone(), request.headers().clone()));
                let answer = answer(&path);
                async move {
                    answer.unwrap_or_else(|| (axum::http::StatusCode::NOT_FOUND, "gone").into_response())
                }
            });
        Self { stand: Stand::start(router), heard }
    }

    fn url(&self, path: &str) -> String {
        self.stand.url(path)
    }

    fn heard(&self) -> Vec<(String, HeaderMap)> {
        self.heard.lock().unwrap().clone()
    }

    fn was_asked_for(&self, path: &str) -> bool {
        self.heard().iter().any(|(known, _)| known == path)
    }

    /// The host was asked for these paths, and no request carried anything secret.
    #[track_caller]
    fn saw_no_secret(&self, paths: &[&str]) {
        for path in paths {
            assert!(self.was_asked_for(path), "nobody asked for {path}: {:?}", self.heard());
        }
        for (path, headers) in self.heard() {
            assert!(!format!("{headers:?}").contains(SECRET), "{path} came with {headers:?}");
        }
    }

    /// Every request for this path carried the secrets.
    #[track_caller]
    fn was_trusted(&self, path: &str) {
        let asked: Vec<_> = self.heard().into_iter().filter(|(known, _)| known == path).collect();
        assert!(!asked.is_empty(), "nobody asked for {path}");
        for (_, headers) in asked {
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

/// A host that other sites lead to; any path has a page or an empty list.
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

async fn without_browser() -> (TempDir, Server) {
    let dir = TempDir::new();
    let server = recipe(&dir).set("browser", "off").start().await;
    (dir, server)
}

/// Waits until a crawl or a batch has ended; how it stands then.
async fn crawled(http: &Http, path: &str, body: &Value) -> Value {
    let started = http.post(path, body).await.unwrap();
    let id = started.is_success()["id"].as_str().unwrap().to_owned();
    ended(http, &format!("{path}/{id}"), "scraping").await.json
}

async fn ended(http: &Http, path: &str, open: &str) -> Reply {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let reply = http.get(path).await.unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text);
        if reply.json["status"] != open {
            return reply;
        }
        assert!(Instant::now() < end, "it did not end: {}", reply.text);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// H2 a: sitemaps and feeds may lie on any host, and whoever writes a robots.txt decides on which.
#[tokio::test]
async fn map_sends_headers_to_the_mapped_site_only() {
    let (_dir, server) = without_browser().await;
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
    let links = server.http.post("/v2/map", &body).await.unwrap().is_success()["links"].clone();
    assert!(links.as_array().is_some_and(|links| !links.is_empty()), "{links}");
    other.saw_no_secret(&["/evil-sitemap.xml", "/nested.xml", "/feed.xml"]);
    for path in ["/", "/robots.txt", "/own.xml"] {
        site.was_trusted(path);
    }
}

/// H2 b: without a check of the certificate anybody on the way could have the headers.
#[tokio::test]
async fn map_checks_certificates_where_it_sends_headers() {
    let (_dir, server) = without_browser().await;
    let site = Site::start_tls();
    let body = json!({ "url": site.url("/"), "headers": { "Authorization": "Bearer SECRET" } });
    let reply = server.http.post("/v2/map", &body).await.unwrap();
    for path in ["/", "/robots.txt", "/sitemap.xml", "/sitemap_index.xml"] {
        assert_eq!(site.hits(path), 0, "{path} was asked for over TLS that nobody checked");
    }
    failed(&reply, 500, "SCRAPE_SSL_ERROR");
    // Without secrets a map goes on to read what others cannot vouch for.
    let plain = server.http.post("/v2/map", &json!({ "url": site.url("/article") })).await.unwrap();
    plain.is_success();
}

/// H2 c: what a search finds is nothing that the caller named.
#[tokio::test]
async fn extract_sends_headers_to_its_own_urls_only() {
    let library = Library::with(|recipe| recipe.set("browser", "off")).await;
    let other = elsewhere();
    let site =
        Host::start(|path| (path == "/about").then(|| html(&format!("<h1>About the harbour</h1>{PROSE}"))));
    library.engine.finds(&[other.url("/lanterns")]);
    let schema =
        json!({ "type": "object", "required": ["price"], "properties": { "price": { "type": "number" } } });
    let options = json!({ "headers": secret_headers() });
    let body = json!({ "urls": [site.url("/about")], "prompt": "the price of a lantern", "schema": schema,
        "enableWebSearch": true, "scrapeOptions": options });
    let id = library.http().post("/v2/extract", &body).await.unwrap().is_success()["id"].clone();
    ended(library.http(), &format!("/v2/extract/{}", id.as_str().unwrap()), "processing").await;
    other.saw_no_secret(&["/lanterns"]);
    site.was_trusted("/about");
    // Where no page is named, they are for nobody: that is said, and not left out in silence.
    let nowhere = json!({ "prompt": "the price of a lantern", "scrapeOptions": options });
    let reply = library.http().post("/v2/extract", &nowhere).await.unwrap();
    assert_eq!((reply.status, reply.text.contains("scrapeOptions")), (400, true), "{}", reply.text);
    let search = json!({ "scrapeOptions": { "formats": ["markdown"], "headers": secret_headers() } });
    let reply = library.search("lantern", search).await;
    assert_eq!((reply.status, reply.text.contains("scrapeOptions")), (400, true), "{}", reply.text);
}

/// A search scrapes what it finds as the caller wants it, and says so when something cannot be sent.
#[tokio::test]
async fn search_sends_what_any_host_may_see() {
    let library = Library::with(|recipe| recipe.set("browser", "off")).await;
    let other = elsewhere();
    library.engine.finds(&[other.url("/lanterns")]);
    let options = json!({ "formats": ["markdown"], "headers": { "User-Agent": "Own/1" } });
    library.found("lantern", json!({ "scrapeOptions": options })).await;
    let (_, headers) = other.heard().into_iter().find(|(path, _)| path == "/lanterns").unwrap();
    assert_eq!(headers["user-agent"], "Own/1");
}

/// H2 d: links lead out of a crawl, and its headers must not.
#[tokio::test]
async fn crawl_sends_headers_to_the_origin_of_its_start_only() {
    let house = House::open().await;
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
        let status = crawled(house.http(), "/v2/crawl", &body).await;
        assert_eq!(status["completed"], 3, "{status}");
        other.saw_no_secret(&["/far"]);
        for path in ["/", "/near"] {
            site.was_trusted(path);
        }
        other.heard.lock().unwrap().clear();
    }
    // A batch names its pages, and nothing that they lead to.
    let batch = json!({ "urls": [site.url("/near"), site.url("/away")], "headers": secret_headers() });
    crawled(house.http(), "/v2/batch/scrape", &batch).await;
    site.was_trusted("/away");
    other.saw_no_secret(&["/far"]);
}

/// L3: callers put secrets under names that nobody can foresee.
#[tokio::test]
async fn a_redirect_to_another_host_leaves_every_secret_behind() {
    let house = House::open().await;
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
            let reply = crate::scrape::scrape_as(house.http(), &site.url(path), options.clone()).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
        }
        other.saw_no_secret(&["/landed"]);
        for (path, headers) in other.heard().iter().filter(|(path, _)| path == "/landed") {
            assert_eq!(headers["user-agent"], "Own/1", "{path}: what any host may see goes along");
        }
        site.was_trusted("/away");
        site.was_trusted("/own");
        other.heard.lock().unwrap().clear();
    }
}
