//! Use without a key: off by default, a few endpoints where it is on, and a quota of each address that is exact over
//! several processes.

use crate::http::Http;
use crate::server::ServerConfig;
use crate::site::Site;
use reqwest::Method;
use serde_json::json;
use testkit::TempDir;

fn config(dir: &TempDir) -> ServerConfig {
    ServerConfig::at(dir.path())
        .set("egress_allow", "scrape=127.0.0.0/8")
        .set("keyless", "hobby")
        .set("keyless_requests", "5")
        .set("trusted_proxies", "127.0.0.1")
}

/// A scrape that a proxy passes on for this address.
async fn scrape(http: &Http, url: &str, address: &str) -> crate::http::HttpResponse {
    let request = http.with_key(None).request(Method::POST, "/v2/scrape").header("x-forwarded-for", address);
    http.send(request.json(&json!({ "url": url }))).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_its_quota_over_all_processes() {
    let (site, database) = (Site::start(), testkit::shared_database());
    let start = async || {
        let dir = TempDir::new();
        let server = config(&dir).set("database_url", &database).start().await;
        (dir, server)
    };
    let ((_one_dir, one), (_other_dir, other)) = tokio::join!(start(), start());
    let url = site.url("/article");
    let asked = (0..14).map(|number| {
        let http = if number % 2 == 0 { &one.http } else { &other.http };
        scrape(http, &url, "192.0.2.7")
    });
    let answers = futures_util::future::join_all(asked).await;
    let (mut left, mut refused) = (Vec::new(), 0);
    for answer in &answers {
        if answer.status == 200 {
            assert_eq!(answer.header("ratelimit-limit"), "5");
            left.push(answer.header("ratelimit-remaining").to_owned());
            continue;
        }
        assert_eq!(
            (answer.status, &answer.json["code"]),
            (429, &json!("KEYLESS_QUOTA_EXHAUSTED")),
            "{}",
            answer.text
        );
        assert!(answer.json["error"].as_str().unwrap().contains("/auth.md"), "{}", answer.text);
        assert_eq!(
            (&answer.json["details"]["reason"], &answer.json["reason"]),
            (&json!("requests"), &json!("requests"))
        );
        assert!((86_000..=86_400).contains(&answer.header("retry-after").parse::<u32>().unwrap()));
        refused += 1;
    }
    left.sort();
    assert_eq!((left.join(" ").as_str(), refused), ("0 1 2 3 4", 9));
    assert_eq!(scrape(&other.http, &url, "192.0.2.8").await.status, 200, "another address");
    assert_eq!(scrape(&one.http, &url, "2001:db8::1").await.header("ratelimit-remaining"), "4");
    assert_eq!(
        scrape(&one.http, &url, "2001:db8::2").await.header("ratelimit-remaining"),
        "3",
        "one network"
    );
    let with_key = one.http.post("/v2/scrape", &json!({ "url": url })).await.unwrap();
    with_key.expect_success();
    assert_eq!(with_key.header("ratelimit-limit"), "", "a key has no such quota");
}

#[tokio::test]
async fn an_address_has_a_number_of_credits_a_day() {
    let (site, dir) = (Site::start(), TempDir::new());
    let server = config(&dir).set("keyless_credits", "4").start().await;
    let http = &server.http;
    let dear = json!({ "url": site.url("/article"), "formats": [{ "type": "json", "schema": { "type": "object", "properties": { "title": { "type": "string" } } } }] });
    let send = async |body: &serde_json::Value| {
        let request = http.with_key(None).request(Method::POST, "/v2/scrape");
        http.send(request.header("x-forwarded-for", "192.0.2.7").json(body)).await.unwrap()
    };
    let plain = json!({ "url": site.url("/article") });
    let cost = send(&plain).await.expect_success()["data"]["metadata"]["creditsUsed"].as_i64();
    assert_eq!(cost, Some(1));
    // More than is left: refused, and nothing is taken.
    let refused = send(&dear).await;
    assert_eq!(
        (refused.status, &refused.json["code"]),
        (429, &json!("KEYLESS_QUOTA_EXHAUSTED")),
        "{}",
        refused.text
    );
    let details = &refused.json["details"];
    assert_eq!((&details["reason"], &details["limitPerDay"]), (&json!("credits"), &json!(4)));
    assert!(refused.json["error"].as_str().unwrap().contains("4 credits"), "{}", refused.text);
    assert!((86_000..=86_400).contains(&refused.header("retry-after").parse::<u32>().unwrap()));
    for _ in 0..3 {
        assert_eq!(send(&plain).await.status, 200);
    }
    assert_eq!(send(&plain).await.json["details"]["reason"], "requests", "one of five requests was refused");
    assert_eq!(scrape(http, &site.url("/article"), "192.0.2.8").await.status, 200, "another address");
}

#[tokio::test]
async fn only_some_endpoints_need_no_key() {
    let (site, dir) = (Site::start(), TempDir::new());
    let server = config(&dir).start().await;
    let http = server.http.with_key(None);
    let url = site.url("/article");
    let scraped = http.post("/v2/scrape", &json!({ "url": url })).await.unwrap();
    let id = scraped.expect_success()["data"]["metadata"]["scrapeId"].as_str().unwrap().to_owned();
    assert_eq!(
        http.get(&format!("/v2/scrape/{id}")).await.unwrap().status,
        401,
        "it may be another caller's"
    );
    assert_ne!(http.get("/v2/search/research/papers?query=x").await.unwrap().status, 401);
    for path in
        ["/v2/map", "/v2/crawl", "/v2/batch/scrape", "/v2/agent", "/v2/extract", "/v2/browser", "/v2/monitor"]
    {
        assert_eq!(http.post(path, &json!({ "url": url })).await.unwrap().status, 401, "{path}");
    }
    for path in ["/v2/team/activity", "/v2/team/credit-usage", "/v2/browser", "/admin/keys", "/admin/sign-in"]
    {
        assert_eq!(http.get(path).await.unwrap().status, 401, "{path}");
    }
    let interact = http.post(&format!("/v2/scrape/{id}/interact"), &json!({ "code": "1" })).await.unwrap();
    assert_eq!(interact.status, 401, "{}", interact.text);
    let text = interact.json["error"].as_str().unwrap();
    assert!(text.contains("needs an API key") && text.contains("/auth.md"), "{text}");
    assert_eq!(interact.json["code"], "KEYLESS_TOOL_NOT_AVAILABLE");
    assert!(interact.header("www-authenticate").starts_with("Bearer "), "{}", interact.text);
    let mcp = http.post("/mcp", &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await.unwrap();
    assert_eq!(mcp.status, 401, "{}", mcp.text);
    let profile = json!({ "url": url, "profile": { "name": "shared" } });
    assert_eq!(
        http.post("/v2/scrape", &profile).await.unwrap().status,
        403,
        "callers share no browser state"
    );
    let page = http.request(Method::POST, "/v2/scrape").header("origin", "https://evil.example");
    let page = http.send(page.json(&json!({ "url": url }))).await.unwrap();
    assert_eq!(page.status, 401, "a page of another site");
    let wrong = http.with_key(Some("gn-wrong-0123456789abcdef"));
    assert_eq!(
        wrong.post("/v2/scrape", &json!({ "url": url })).await.unwrap().status,
        401,
        "a wrong key is wrong"
    );
}

#[tokio::test]
async fn callers_without_a_key_do_not_meet() {
    let (site, dir) = (Site::start(), TempDir::new());
    let server = config(&dir).start().await;
    let http = server.http.with_key(None);
    let send = async |address: &str, key: Option<&str>, body: serde_json::Value| {
        let request = http.request(Method::POST, "/v2/scrape").header("x-forwarded-for", address);
        let request = key.into_iter().fold(request, |request, key| request.header("x-idempotency-key", key));
        http.send(request.json(&body)).await.unwrap()
    };
    let (one, other) = ("192.0.2.7", "192.0.2.8");
    let page = json!({ "url": site.url("/article") });
    send(one, Some("upload"), page.clone()).await.expect_success();
    let repeated = send(one, Some("upload"), page.clone()).await;
    assert_eq!(repeated.status, 409, "its own key: {}", repeated.text);
    let taken = send(other, Some("upload"), page.clone()).await;
    let state = &taken.expect_success()["data"]["metadata"]["cacheState"];
    assert_ne!(state, "hit", "what another address read is not remembered for this one");
    let tracked = json!({ "url": site.url("/article"), "formats": ["markdown", "changeTracking"] });
    let refused = send(other, None, tracked).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("callers without a key"), "{}", refused.text);
}

#[tokio::test]
async fn an_address_can_ask_whether_it_may_go_on() {
    let (site, dir) = (Site::start(), TempDir::new());
    let config =
        config(&dir).set("keyless", "tiny").set("keyless_requests", "3").tiny_plan("rates = { scrape = 2 }");
    let server = config.start().await;
    let ask = async |address: &str| {
        let request = server.http.with_key(None).request(Method::GET, "/v2/keyless/eligibility");
        server.http.send(request.header("x-forwarded-for", address)).await.unwrap().expect_success().clone()
    };
    let (address, url) = ("192.0.2.7", site.url("/article"));
    for _ in 0..2 {
        let fresh = ask(address).await;
        assert_eq!(
            (&fresh["eligible"], &fresh["requestsLeft"]),
            (&json!(true), &json!(3)),
            "asking counts as none"
        );
    }
    for left in [2, 1] {
        scrape(&server.http, &url, address).await.expect_success();
        assert_eq!(ask(address).await["requestsLeft"], left);
    }
    let limited = scrape(&server.http, &url, address).await;
    assert_eq!(
        (limited.status, &limited.json["code"]),
        (429, &json!("KEYLESS_LIMIT_REACHED")),
        "{}",
        limited.text
    );
    assert!(limited.json["retry_after_seconds"].is_u64(), "{}", limited.text);
    assert!(
        limited.text.contains("/auth.md") && !limited.header("retry-after").is_empty(),
        "{}",
        limited.text
    );
    let (_dir, without) = crate::server::start_plain().await;
    let off = without.http.with_key(None).get("/v2/keyless/eligibility").await.unwrap();
    assert_eq!((&off.json["eligible"], &off.json["reason"]), (&json!(false), &json!("off")), "{}", off.text);
}

#[tokio::test]
async fn it_is_off_unless_a_plan_is_named() {
    let (_dir, server) = crate::server::start_plain().await;
    let refused =
        server.http.with_key(None).post("/v2/scrape", &json!({ "url": "http://127.0.0.1:1/" })).await;
    assert_eq!(refused.unwrap().status, 401);
    let dir = TempDir::new();
    let (code, _, error) =
        crate::server::run(ServerConfig::at(dir.path()).set("keyless", "no-plan").command(&["doctor"]));
    assert!(code != Some(0) && error.contains("unknown plan"), "{error}");
}
