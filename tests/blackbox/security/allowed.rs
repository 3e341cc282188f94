//! What a request allows (host lists, strict URLs, accepted files, certificates) holds over HTTP, in the browser, for stored pages and for
//! shared fetches.

mod pairs;

use crate::agent::{company, ended as run_ended, started};
use crate::crawl::ended as crawl_ended;
use crate::scrape::{House, failed, has, lacks, scrape_as};
use crate::site::Site;
use crate::stand::Stand;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Ways for a page to move the browser to another address, and what the page has to say for it.
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

/// A site whose pages are empty but for a script that moves on, and the site they lead to, which counts its visitors.
struct TwoSites {
    leading: Stand,
    other: Stand,
    visits: Arc<AtomicUsize>,
}

impl TwoSites {
    fn start() -> Self {
        let visits = Arc::new(AtomicUsize::new(0));
        let router = Router::new().fallback(elsewhere).with_state(visits.clone());
        let other = Stand::start(router);
        let target = format!("{}/offsite", other.base);
        let router = Router::new()
            .route("/", get(start_page))
            .route("/leads/{how}", get(leads))
            .route("/hop", get(hop))
            .with_state(target);
        Self { leading: Stand::start(router), other, visits }
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

/// A run that may read one address and nothing else.
async fn strict_run(house: &House, url: &str) -> (Value, String) {
    let body = json!({
        "urls": [url], "strictConstrainToURLs": true, "schema": company(),
        "prompt": "When was it founded, and how many employees has it?",
    });
    let id = started(&house.http().post("/v2/agent", &body).await.unwrap());
    let status = run_ended(house.http(), &id).await;
    let trace = house.http().get(&format!("/v2/agent/{id}/trace")).await.unwrap();
    (status, trace.text)
}

/// H3: a listed page that moves the browser to another site is not followed there, however it does that.
#[tokio::test]
async fn a_strict_run_is_not_led_to_another_site_by_the_browser() {
    let house = House::open().await;
    let sites = TwoSites::start();
    let runs = MOVES.iter().map(|(how, _)| {
        let url = sites.leading.url(&format!("/leads/{how}"));
        let house = &house;
        async move { (how, strict_run(house, &url).await) }
    });
    let runs = futures_util::future::join_all(runs).await;
    assert_eq!(sites.visits(), 0, "the other site was not asked at all");
    for (how, (status, _)) in &runs {
        assert_ne!(status["data"]["founded"], 1987, "{how}: {status}");
        assert!(!status.to_string().contains("Offsiteword"), "{how}: {status}");
    }
    // On a busy machine a page may be given up before it moves.
    let named = runs.iter().filter(|(_, (_, trace))| trace.contains("strictConstrainToURLs does not allow"));
    let named: Vec<_> = named.map(|(how, _)| how).collect();
    assert!(named.len() >= MOVES.len() / 2, "refused by its name: {named:?}");
}

/// H3: a stored page that came from another site is not used either.
#[tokio::test]
async fn a_strict_run_does_not_use_a_stored_page_of_another_site() {
    let house = House::open().await;
    let sites = TwoSites::start();
    let url = sites.leading.url("/leads/replace");
    let page = scrape_as(house.http(), &url, json!({})).await;
    let page = &page.is_success()["data"];
    assert_eq!(page["metadata"]["url"], sites.other.url("/offsite"), "an ordinary scrape is led there");
    let visits = sites.visits();
    let (status, trace) = strict_run(&house, &url).await;
    assert_ne!(status["data"]["founded"], 1987, "{status}");
    assert!(trace.contains("strictConstrainToURLs does not allow"), "{trace}");
    assert_eq!(sites.visits(), visits, "and it was not asked again");
    let again = scrape_as(house.http(), &url, json!({})).await;
    assert_eq!(again.is_success()["data"]["metadata"]["cacheState"], "hit", "others may still have it");
}

/// H3: pages that turn out to be outside of a crawl are neither stored nor found by search.
#[tokio::test]
async fn a_crawl_keeps_nothing_of_a_page_that_was_elsewhere() {
    let house = House::open().await;
    let sites = TwoSites::start();
    let body =
        json!({ "url": sites.leading.url("/"), "limit": 10, "ignoreRobotsTxt": true, "sitemap": "skip" });
    let id =
        house.http().post("/v2/crawl", &body).await.unwrap().is_success()["id"].as_str().unwrap().to_owned();
    let status = crawl_ended(house.http(), &format!("/v2/crawl/{id}")).await;
    assert_eq!((&status["completed"], &status["skipped"]), (&json!(1), &json!(1)), "{status}");
    let stored = json!({ "lockdown": true });
    let reply = scrape_as(house.http(), &sites.leading.url("/leads/replace"), stored.clone()).await;
    failed(&reply, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
    scrape_as(house.http(), &sites.leading.url("/"), stored).await.is_success();
    assert_eq!(sites.visits(), 0);
    // The redirect of a page into a part that the crawl leaves out.
    let body = json!({
        "url": house.site.url("/to?/article"), "limit": 10, "excludePaths": ["^/article"], "ignoreRobotsTxt": true,
        "sitemap": "skip", "crawlEntireDomain": true,
    });
    let id =
        house.http().post("/v2/crawl", &body).await.unwrap().is_success()["id"].as_str().unwrap().to_owned();
    crawl_ended(house.http(), &format!("/v2/crawl/{id}")).await;
    failed(
        &house.scrape("/to?/article", json!({ "lockdown": true })).await,
        404,
        "SCRAPE_LOCKDOWN_CACHE_MISS",
    );
    let end = Instant::now() + Duration::from_secs(30);
    while found(&house, "startword").await.is_empty() {
        assert!(Instant::now() < end, "the page of the crawl is not found");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(found(&house, "offsiteword").await.is_empty());
    assert!(found(&house, "gannets dive").await.is_empty(), "the article was left out");
}

async fn found(house: &House, query: &str) -> Vec<Value> {
    let reply = house.http().post("/v2/search", &json!({ "query": query })).await.unwrap();
    reply.is_success()["data"]["web"].as_array().unwrap().clone()
}

/// In the browser the lists of a request hold for every move of the page, and the answer names the rule.
#[tokio::test]
async fn forbidden_hosts_are_refused_however_the_browser_is_led_there() {
    let house = House::open().await;
    let sites = TwoSites::start();
    // The leading site by its name, so that a list can tell the two apart.
    let replies = MOVES.iter().step_by(3).map(|(how, _)| {
        let url = sites.leading.url(&format!("/leads/{how}")).replace("127.0.0.1", "localhost");
        let lists = json!({ "threatProtection": { "blacklist": ["127.0.0.1"] } });
        let house = &house;
        async move { scrape_as(house.http(), &url, lists).await }
    });
    for reply in futures_util::future::join_all(replies).await {
        let details = failed(&reply, 403, "unsafe_domain_blocked");
        assert_eq!(details["rule"], "threatProtection", "{}", reply.text);
        assert_eq!(details["refused"], sites.other.url("/offsite"), "{}", reply.text);
        has(&reply.json["error"], &["threatProtection does not allow"]);
    }
    assert_eq!(sites.visits(), 0);
}

/// M4: the lists of a request hold for where a stored page came from.
#[tokio::test]
async fn a_stored_page_of_a_forbidden_host_is_not_used() {
    let house = House::open().await;
    let lists = |more: Value| {
        let mut body = json!({ "threatProtection": { "blacklist": ["localhost"] } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for target in ["/article", "/etag"] {
        let path = format!("/to?{}", house.site.url_by_name(target));
        failed(&house.scrape(&path, lists(json!({}))).await, 403, "unsafe_domain_blocked");
        let page = house.document(&path, json!({})).await;
        assert_eq!(page["metadata"]["url"], house.site.url_by_name(target));
        let hits = house.site.hits(target);
        let details = house.scrape(&path, lists(json!({}))).await;
        assert_eq!(failed(&details, 403, "unsafe_domain_blocked")["rule"], "threatProtection");
        tokio::time::sleep(Duration::from_millis(20)).await;
        // Not by asking the forbidden host whether it changed, and not where only stored pages will do.
        failed(&house.scrape(&path, lists(json!({ "maxAge": 10 }))).await, 403, "unsafe_domain_blocked");
        let stored = house.scrape(&path, lists(json!({ "lockdown": true }))).await;
        failed(&stored, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
        failed(&house.scrape(&path, lists(json!({ "minAge": 0 }))).await, 404, "SCRAPE_NO_CACHED_DATA");
        assert_eq!(house.site.hits(target), hits, "the forbidden host was not asked");
        assert_eq!(
            house.document(&path, json!({})).await["metadata"]["cacheState"],
            "hit",
            "without the list it is"
        );
    }
}

/// M2: what was fetched without looking at the certificate does not answer a request that wants it checked.
#[tokio::test]
async fn an_unchecked_page_does_not_answer_a_request_that_checks_certificates() {
    let house = House::with(|recipe| recipe.set("browser", "off")).await;
    let site = Site::start_tls();
    let url = site.url("/article");
    let checked = |more: Value| {
        let mut body = json!({ "skipTlsVerification": false });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let ask = |body: Value| scrape_as(house.http(), &url, body);
    failed(&ask(checked(json!({}))).await, 500, "SCRAPE_SSL_ERROR");
    ask(json!({})).await.is_success();
    failed(&ask(checked(json!({}))).await, 500, "SCRAPE_SSL_ERROR");
    failed(&ask(checked(json!({ "lockdown": true }))).await, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
    failed(&ask(checked(json!({ "minAge": 0 }))).await, 404, "SCRAPE_NO_CACHED_DATA");
    let again = ask(json!({})).await;
    assert_eq!(again.is_success()["data"]["metadata"]["cacheState"], "hit", "others still have it");
}

/// A page of an app whose address is behind the `#` is a page of its own, also when it is stored.
#[tokio::test]
async fn pages_of_an_app_do_not_answer_for_each_other() {
    let house = House::open().await;
    let app = "<!doctype html><html><head><title>App</title></head><body><div id=root></div><script>\
        const page = location.hash.slice(2); const text = '<p>The light of ' + page + 'word is seen from far.</p>'; \
        root.innerHTML = '<main><h1>' + page + '</h1>' + text.repeat(10) + '</main>'</script></body></html>";
    let stand = Stand::start(Router::new().fallback(move || async move { Html(app) }));
    let one = scrape_as(house.http(), &stand.url("/#/first"), json!({})).await;
    has(&one.is_success()["data"]["markdown"], &["firstword"]);
    let two = scrape_as(house.http(), &stand.url("/#/second"), json!({})).await;
    let markdown = &two.is_success()["data"]["markdown"];
    has(markdown, &["secondword"]);
    lacks(markdown, &["firstword"]);
}

/// M6: requests that accept different things do not share a fetch, whichever comes first.
#[tokio::test]
async fn a_challenge_and_a_file_are_not_shared_with_who_does_not_take_them() {
    let house = House::with(|recipe| recipe.set("browser", "off")).await;
    let stand = Stand::start(pairs::slow_pages());
    let raw = json!({ "formats": ["rawBase64"], "maxAge": 0 });
    let files = json!({ "parsers": [], "maxAge": 0 });
    let text = json!({ "maxAge": 0 });
    let together = async |path: &str, first: &Value, second: &Value| {
        let url = stand.url(path);
        let later = async {
            tokio::time::sleep(Duration::from_millis(150)).await;
            scrape_as(house.http(), &url, second.clone()).await
        };
        tokio::join!(scrape_as(house.http(), &url, first.clone()), later)
    };
    // Which of the two comes first, and what becomes of the one that takes it and of the one that does not.
    let cases = [("/wall?ms=700", &raw), ("/pdf?ms=700", &raw), ("/pdf?ms=701", &files)];
    let cases = cases.into_iter().flat_map(|(path, whole)| [(path, whole, true), (path, whole, false)]);
    let results = cases.enumerate().map(|(number, (path, whole, whole_first))| {
        // An address of its own for each.
        let path = path.replace('=', &format!("={}", "0".repeat(number)));
        let (together, text) = (&together, &text);
        async move {
            let (first, second) = if whole_first { (whole, text) } else { (text, whole) };
            let (first, second) = together(&path, first, second).await;
            if whole_first { (path, first, second) } else { (path, second, first) }
        }
    });
    for (path, taken, refused) in futures_util::future::join_all(results).await {
        taken.is_success();
        let wall = path.starts_with("/wall");
        failed(
            &refused,
            500,
            if wall { "SCRAPE_ALL_ENGINES_FAILED" } else { "SCRAPE_UNSUPPORTED_FILE_ERROR" },
        );
    }
}
