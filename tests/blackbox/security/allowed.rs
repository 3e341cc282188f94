//! The limits of a request (host lists, strict URLs, accepted files, certificates) hold over HTTP, in the
//! browser, for stored pages and for shared fetches.

mod pairs;

use crate::agent::{company, started_id, wait_for_end as wait_for_run};
use crate::crawl::wait_for_end as wait_for_crawl;
use crate::scrape::{ScrapeFixture, assert_contains, assert_failure, assert_lacks, scrape_as};
use crate::site::Site;
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How a page can move the browser to another URL, and the markup for it.
const MOVES: [(&str, &str); 8] = [
    ("replace", "<script>location.replace(TARGET)</script>"),
    ("later", "<script>setTimeout(() => { location.href = TARGET }, 300)</script>"),
    ("meta", "<meta http-equiv=refresh content='0;url=BARE'>"),
    ("form", "<form id=f method=post action=TARGET><input name=a value=b></form><script>f.submit()</script>"),
    ("link", "<a id=a href=TARGET>x</a><script>a.click()</script>"),
    ("window", "<script>window.open(TARGET, '_self')</script>"),
    ("frame", "<iframe srcdoc=\"<script>top.location = 'BARE'</script>\"></iframe>"),
    ("redirect", "<script>location.href = '/hop'</script>"),
];

/// A site whose pages contain only a script that moves on, and the site they lead to, which counts visitors.
struct TwoSites {
    leading: SiteServer,
    other: SiteServer,
    visits: Arc<AtomicUsize>,
}

impl TwoSites {
    fn start() -> Self {
        let visits = Arc::new(AtomicUsize::new(0));
        let router = Router::new().fallback(elsewhere).with_state(visits.clone());
        let other = SiteServer::start(router);
        let target = format!("{}/offsite", other.base);
        let router = Router::new()
            .route("/", get(start_page))
            .route("/leads/{how}", get(leads))
            .route("/hop", get(hop))
            .with_state(target);
        Self { leading: SiteServer::start(router), other, visits }
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

async fn elsewhere(State(visits): State<Arc<AtomicUsize>>) -> Html<&'static str> {
    visits.fetch_add(1, Ordering::SeqCst);
    Html(
        "<!doctype html><html lang=en><head><title>Somewhere else</title></head><body><main><h1>Offsiteword Ltd</h1>\
         <table><tr><th>Founded</th><td>1987</td></tr><tr><th>Employees</th><td>42</td></tr></table>\
         <p>Northern gannets breed in colonies on cliffs and islands, and dive from thirty metres for fish.</p></main></body></html>",
    )
}

async fn leads(State(target): State<String>, Path(how): Path<String>) -> Response {
    let Some((_, script)) = MOVES.iter().find(|(name, _)| *name == how) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let script = script.replace("TARGET", &format!("'{target}'")).replace("BARE", &target);
    Html(format!(
        "<!doctype html><html><head><title>App</title></head><body><div id=root></div>{script}</body></html>"
    ))
    .into_response()
}

async fn hop(State(target): State<String>) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, target)]).into_response()
}

async fn start_page() -> Html<String> {
    let text = "<p>Startword: the keeper of the light writes down every ship that passes, and the weather it had.</p>";
    Html(format!(
        "<!doctype html><html lang=en><head><title>Start</title></head><body><main><h1>Start</h1>{}\
         <a href=/leads/replace>More about the company</a></main></body></html>",
        text.repeat(5)
    ))
}

/// A run that may read one URL and nothing else.
async fn strict_run(fixture: &ScrapeFixture, url: &str) -> (Value, String) {
    let body = json!({
        "urls": [url], "strictConstrainToURLs": true, "schema": company(),
        "prompt": "When was it founded, and how many employees has it?",
    });
    let id = started_id(&fixture.http().post("/v2/agent", &body).await.unwrap());
    let status = wait_for_run(fixture.http(), &id).await;
    let trace = fixture.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
    (status, trace.text)
}

/// H3: a listed page that moves the browser to another site is not followed there, however it does that.
#[tokio::test]
async fn a_strict_run_does_not_follow_the_browser_to_another_site() {
    let fixture = ScrapeFixture::open().await;
    let sites = TwoSites::start();
    let runs = MOVES.iter().map(|(how, _)| {
        let url = sites.leading.url(&format!("/leads/{how}"));
        let fixture = &fixture;
        async move { (how, strict_run(fixture, &url).await) }
    });
    let runs = futures_util::future::join_all(runs).await;
    assert_eq!(sites.visits(), 0, "the other site got no request");
    for (how, (status, _)) in &runs {
        assert_ne!(status["data"]["founded"], 1987, "{how}: {status}");
        assert!(!status.to_string().contains("Offsiteword"), "{how}: {status}");
    }
    // On a busy machine the visit may end before the page moves.
    let named = runs.iter().filter(|(_, (_, trace))| trace.contains("strictConstrainToURLs does not allow"));
    let named: Vec<_> = named.map(|(how, _)| how).collect();
    assert!(named.len() >= MOVES.len() / 2, "refused by its name: {named:?}");
}

/// H3: a stored page that came from another site is not used either.
#[tokio::test]
async fn a_strict_run_does_not_use_a_stored_page_of_another_site() {
    let fixture = ScrapeFixture::open().await;
    let sites = TwoSites::start();
    let url = sites.leading.url("/leads/replace");
    let page = scrape_as(fixture.http(), &url, json!({})).await;
    let page = &page.expect_success()["data"];
    assert_eq!(page["metadata"]["url"], sites.other.url("/offsite"), "an ordinary scrape is led there");
    let visits = sites.visits();
    let (status, trace) = strict_run(&fixture, &url).await;
    assert_ne!(status["data"]["founded"], 1987, "{status}");
    assert!(trace.contains("strictConstrainToURLs does not allow"), "{trace}");
    assert_eq!(sites.visits(), visits, "and no further one");
    let again = scrape_as(fixture.http(), &url, json!({})).await;
    assert_eq!(again.expect_success()["data"]["metadata"]["cacheState"], "hit", "others may still have it");
}

/// H3: pages that turn out to be outside of a crawl are neither stored nor found by search.
#[tokio::test]
async fn a_crawl_stores_nothing_of_a_page_outside_its_scope() {
    let fixture = ScrapeFixture::open().await;
    let sites = TwoSites::start();
    let body =
        json!({ "url": sites.leading.url("/"), "limit": 10, "ignoreRobotsTxt": true, "sitemap": "skip" });
    let id = fixture.http().post("/v2/crawl", &body).await.unwrap().expect_success()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let status = wait_for_crawl(fixture.http(), &format!("/v2/crawl/{id}")).await;
    assert_eq!((&status["completed"], &status["skipped"]), (&json!(1), &json!(1)), "{status}");
    let stored = json!({ "lockdown": true });
    let response = scrape_as(fixture.http(), &sites.leading.url("/leads/replace"), stored.clone()).await;
    assert_failure(&response, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
    scrape_as(fixture.http(), &sites.leading.url("/"), stored).await.expect_success();
    assert_eq!(sites.visits(), 0);
    // A redirect of a page to a path that the crawl excludes.
    let body = json!({
        "url": fixture.site.url("/to?/article"), "limit": 10, "excludePaths": ["^/article"], "ignoreRobotsTxt": true,
        "sitemap": "skip", "crawlEntireDomain": true,
    });
    let id = fixture.http().post("/v2/crawl", &body).await.unwrap().expect_success()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    wait_for_crawl(fixture.http(), &format!("/v2/crawl/{id}")).await;
    assert_failure(
        &fixture.scrape("/to?/article", json!({ "lockdown": true })).await,
        404,
        "SCRAPE_LOCKDOWN_CACHE_MISS",
    );
    let end = Instant::now() + crate::index::MAX_INDEXING_DELAY;
    while search(&fixture, "startword").await.is_empty() {
        assert!(Instant::now() < end, "the page of the crawl is not found");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(search(&fixture, "offsiteword").await.is_empty());
    assert!(search(&fixture, "gannets dive").await.is_empty(), "the article was left out");
}

async fn search(fixture: &ScrapeFixture, query: &str) -> Vec<Value> {
    let response = fixture.http().post("/v2/search", &json!({ "query": query })).await.unwrap();
    response.expect_success()["data"]["web"].as_array().unwrap().clone()
}

/// In the browser the host lists hold for every navigation of the page, and the error names the rule.
#[tokio::test]
async fn blocked_hosts_are_refused_however_the_browser_gets_there() {
    let fixture = ScrapeFixture::open().await;
    let sites = TwoSites::start();
    // The leading site by its host name, so that a list can tell the two apart.
    let responses = MOVES.iter().step_by(3).map(|(how, _)| {
        let url = sites.leading.url(&format!("/leads/{how}")).replace("127.0.0.1", "localhost");
        let lists = json!({ "threatProtection": { "blacklist": ["127.0.0.1"] } });
        let fixture = &fixture;
        async move { scrape_as(fixture.http(), &url, lists).await }
    });
    for response in futures_util::future::join_all(responses).await {
        let details = assert_failure(&response, 403, "unsafe_domain_blocked");
        assert_eq!(details["rule"], "threatProtection", "{}", response.text);
        assert_eq!(details["refused"], sites.other.url("/offsite"), "{}", response.text);
        assert_contains(&response.json["error"], &["threatProtection does not allow"]);
    }
    assert_eq!(sites.visits(), 0);
}

/// M4: the host lists of a request also apply to where a stored page came from.
#[tokio::test]
async fn a_stored_page_of_a_blocked_host_is_not_used() {
    let fixture = ScrapeFixture::open().await;
    let lists = |more: Value| {
        let mut body = json!({ "threatProtection": { "blacklist": ["localhost"] } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for target in ["/article", "/etag"] {
        let path = format!("/to?{}", fixture.site.url_by_name(target));
        assert_failure(&fixture.scrape(&path, lists(json!({}))).await, 403, "unsafe_domain_blocked");
        let page = fixture.scrape_document(&path, json!({})).await;
        assert_eq!(page["metadata"]["url"], fixture.site.url_by_name(target));
        let hits = fixture.site.hits(target);
        let details = fixture.scrape(&path, lists(json!({}))).await;
        assert_eq!(assert_failure(&details, 403, "unsafe_domain_blocked")["rule"], "threatProtection");
        tokio::time::sleep(Duration::from_millis(20)).await;
        // Nor is the blocked host asked whether the page changed, and a request for stored pages only does
        // not get it.
        assert_failure(
            &fixture.scrape(&path, lists(json!({ "maxAge": 10 }))).await,
            403,
            "unsafe_domain_blocked",
        );
        let stored = fixture.scrape(&path, lists(json!({ "lockdown": true }))).await;
        assert_failure(&stored, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
        assert_failure(
            &fixture.scrape(&path, lists(json!({ "minAge": 0 }))).await,
            404,
            "SCRAPE_NO_CACHED_DATA",
        );
        assert_eq!(fixture.site.hits(target), hits, "the blocked host got no request");
        assert_eq!(
            fixture.scrape_document(&path, json!({})).await["metadata"]["cacheState"],
            "hit",
            "without the list it is"
        );
    }
}

/// M2: a page fetched without checking the certificate is not used for a request that wants it checked.
#[tokio::test]
async fn an_unchecked_page_is_not_used_where_certificates_are_checked() {
    let fixture = ScrapeFixture::without_browser().await;
    let site = Site::start_tls();
    let url = site.url("/article");
    let checked = |more: Value| {
        let mut body = json!({ "skipTlsVerification": false });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let ask = |body: Value| scrape_as(fixture.http(), &url, body);
    assert_failure(&ask(checked(json!({}))).await, 500, "SCRAPE_SSL_ERROR");
    ask(json!({})).await.expect_success();
    assert_failure(&ask(checked(json!({}))).await, 500, "SCRAPE_SSL_ERROR");
    assert_failure(&ask(checked(json!({ "lockdown": true }))).await, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
    assert_failure(&ask(checked(json!({ "minAge": 0 }))).await, 404, "SCRAPE_NO_CACHED_DATA");
    let again = ask(json!({})).await;
    assert_eq!(again.expect_success()["data"]["metadata"]["cacheState"], "hit", "others still have it");
}

/// A page of an app whose path is behind the `#` is a page of its own, also when it is stored.
#[tokio::test]
async fn pages_of_a_hash_routed_app_are_stored_separately() {
    let fixture = ScrapeFixture::open().await;
    let app = "<!doctype html><html><head><title>App</title></head><body><div id=root></div><script>\
        const page = location.hash.slice(2); const text = '<p>The light of ' + page + 'word is seen from far.</p>'; \
        root.innerHTML = '<main><h1>' + page + '</h1>' + text.repeat(10) + '</main>'</script></body></html>";
    let site = SiteServer::start(Router::new().fallback(move || async move { Html(app) }));
    let one = scrape_as(fixture.http(), &site.url("/#/first"), json!({})).await;
    assert_contains(&one.expect_success()["data"]["markdown"], &["firstword"]);
    let two = scrape_as(fixture.http(), &site.url("/#/second"), json!({})).await;
    let markdown = &two.expect_success()["data"]["markdown"];
    assert_contains(markdown, &["secondword"]);
    assert_lacks(markdown, &["firstword"]);
}

/// M6: requests that accept different things do not share a fetch, whichever comes first.
#[tokio::test]
async fn a_bot_wall_or_a_file_is_not_shared_with_requests_that_refuse_it() {
    let fixture = ScrapeFixture::without_browser().await;
    let site = SiteServer::start(pairs::slow_pages());
    let raw = json!({ "formats": ["rawBase64"], "maxAge": 0 });
    let files = json!({ "parsers": [], "maxAge": 0 });
    let text = json!({ "maxAge": 0 });
    let together = async |path: &str, first: &Value, second: &Value| {
        let url = site.url(path);
        let later = async {
            tokio::time::sleep(Duration::from_millis(150)).await;
            scrape_as(fixture.http(), &url, second.clone()).await
        };
        tokio::join!(scrape_as(fixture.http(), &url, first.clone()), later)
    };
    // Which of the two comes first, and the result of the one that accepts it and of the one that does not.
    let cases = [("/wall?ms=700", &raw), ("/pdf?ms=700", &raw), ("/pdf?ms=701", &files)];
    let cases = cases.into_iter().flat_map(|(path, whole)| [(path, whole, true), (path, whole, false)]);
    let results = cases.enumerate().map(|(number, (path, whole, whole_first))| {
        // Each pair has a URL of its own.
        let path = path.replace('=', &format!("={}", "0".repeat(number)));
        let (together, text) = (&together, &text);
        async move {
            let (first, second) = if whole_first { (whole, text) } else { (text, whole) };
            let (first, second) = together(&path, first, second).await;
            if whole_first { (path, first, second) } else { (path, second, first) }
        }
    });
    for (path, taken, refused) in futures_util::future::join_all(results).await {
        taken.expect_success();
        let wall = path.starts_with("/wall");
        assert_failure(
            &refused,
            500,
            if wall { "SCRAPE_ALL_ENGINES_FAILED" } else { "SCRAPE_UNSUPPORTED_FILE_ERROR" },
        );
    }
}
