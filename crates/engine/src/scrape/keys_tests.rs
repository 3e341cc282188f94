use super::*;
use crate::allowed_urls::{AddressRule, Stay};
use crate::scrape::plan::CachePlan;
use serde_json::{Value, json};
use sites::{PageUrl, Scope, ScopeRules, UrlEquivalence};
use std::sync::Arc;
use std::time::Duration;
use wire::scrape::{Effect, SCRAPE_FIELDS, ScrapeRequest};

/// Whether an option belongs to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Requests that differ in it are different.
    Decides,
    /// Requests that differ only in it are the same.
    Ignored,
    /// It only matters by what it changes about the use of stored pages and about asking for markdown.
    ByFetchPlan,
    /// With it there are no stored pages.
    Unstored,
}
use Role::{ByFetchPlan, Decides, Ignored, Unstored};

/// A field of the request as the table of fields names it, a value, and its role for stored pages and for
/// shared fetches.
type Row = (&'static str, Value, Role, Role);

fn format(name: &str) -> Value {
    json!({ "formats": ["markdown", name] })
}

fn format_with(object: &Value) -> Value {
    json!({ "formats": ["markdown", object] })
}

fn action(object: &Value) -> Value {
    json!({ "actions": [object] })
}

#[expect(clippy::too_many_lines, reason = "one table of all options")]
fn rows() -> Vec<Row> {
    let schema = json!({ "type": "object", "properties": { "price": { "type": "number" } } });
    let with_schema = |kind: &str| format_with(&json!({ "type": kind, "schema": schema }));
    let screenshot =
        |full: bool| format_with(&json!({ "type": "screenshot", "fullPage": full, "quality": 80 }));
    vec![
        ("formats: markdown", json!({ "formats": ["markdown"] }), Ignored, Ignored),
        ("formats: html", format("html"), Ignored, ByFetchPlan),
        ("formats: rawHtml", format("rawHtml"), Ignored, ByFetchPlan),
        ("formats: links", format("links"), Ignored, ByFetchPlan),
        ("formats: images", format("images"), Ignored, ByFetchPlan),
        ("formats: screenshot", screenshot(false), Ignored, Decides),
        ("formats: screenshot", screenshot(true), Ignored, Decides),
        ("formats: screenshot@fullPage", format("screenshot@fullPage"), Ignored, Decides),
        (
            "formats: attributes",
            format_with(
                &json!({ "type": "attributes", "selectors": [{ "selector": "a", "attribute": "href" }] }),
            ),
            Ignored,
            ByFetchPlan,
        ),
        ("formats: branding", format("branding"), Ignored, Decides),
        ("formats: product", format("product"), Ignored, ByFetchPlan),
        ("formats: menu", format("menu"), Ignored, ByFetchPlan),
        ("formats: changeTracking", format("changeTracking"), Ignored, ByFetchPlan),
        (
            "formats: changeTracking json",
            format_with(&json!({ "type": "changeTracking", "modes": ["json"], "schema": schema })),
            Ignored,
            ByFetchPlan,
        ),
        (
            "formats: highlights",
            format_with(&json!({ "type": "highlights", "query": "x" })),
            Ignored,
            Ignored,
        ),
        ("formats: rawBase64", json!({ "formats": ["rawBase64"] }), Ignored, Decides),
        ("formats: json", with_schema("json"), Ignored, ByFetchPlan),
        ("formats: deterministicJson", with_schema("deterministicJson"), Ignored, ByFetchPlan),
        ("formats: summary", format("summary"), Ignored, Ignored),
        ("formats: question", format_with(&json!({ "type": "question", "question": "?" })), Ignored, Ignored),
        ("formats: query", format_with(&json!({ "type": "query", "prompt": "?" })), Ignored, Ignored),
        ("onlyMainContent", json!({ "onlyMainContent": false }), Ignored, ByFetchPlan),
        ("onlyCleanContent", json!({ "onlyCleanContent": true }), Ignored, Ignored),
        ("includeTags", json!({ "includeTags": ["main"] }), Ignored, ByFetchPlan),
        ("excludeTags", json!({ "excludeTags": ["nav"] }), Ignored, ByFetchPlan),
        ("headers", json!({ "headers": { "X-Own": "1" } }), Unstored, Decides),
        ("headers", json!({ "headers": { "X-Own": "2" } }), Unstored, Decides),
        ("headers", json!({ "headers": { "X-Other": "1" } }), Unstored, Decides),
        ("headers", json!({ "headers": { "Cookie": "id=1" } }), Unstored, Decides),
        ("timeout", json!({ "timeout": 20_000 }), Ignored, Decides),
        ("waitFor", json!({ "waitFor": 100 }), Decides, Decides),
        ("waitFor", json!({ "waitFor": 200 }), Decides, Decides),
        ("mobile", json!({ "mobile": true }), Decides, Decides),
        ("parsers", json!({ "parsers": [] }), Ignored, Decides),
        ("parsers", json!({ "parsers": ["pdf", "image"] }), Ignored, Ignored),
        ("parsers", json!({ "parsers": ["pdf"] }), Ignored, Decides),
        ("parsers", json!({ "parsers": ["image"] }), Ignored, Decides),
        ("parsers", json!({ "parsers": ["image", { "type": "pdf", "maxPages": 2 }] }), Ignored, Decides),
        ("parsers", json!({ "parsers": ["image", { "type": "pdf", "mode": "fast" }] }), Ignored, Decides),
        ("parsers", json!({ "parsers": ["image", { "type": "pdf", "password": "a" }] }), Unstored, Decides),
        ("parsers", json!({ "parsers": ["image", { "type": "pdf", "password": "b" }] }), Unstored, Decides),
        (
            "parsers",
            json!({ "parsers": ["image", { "type": "pdf", "blocks": true, "pages": true, "pageMarkers": true }] }),
            Ignored,
            Ignored,
        ),
        ("actions: wait", action(&json!({ "type": "wait", "milliseconds": 5 })), Unstored, Decides),
        ("actions: click", action(&json!({ "type": "click", "selector": "a" })), Unstored, Decides),
        ("actions: click", action(&json!({ "type": "click", "selector": "b" })), Unstored, Decides),
        ("actions: write", action(&json!({ "type": "write", "text": "x" })), Unstored, Decides),
        ("actions: press", action(&json!({ "type": "press", "key": "Enter" })), Unstored, Decides),
        ("actions: scroll", action(&json!({ "type": "scroll", "direction": "down" })), Unstored, Decides),
        ("actions: screenshot", action(&json!({ "type": "screenshot" })), Unstored, Decides),
        ("actions: scrape", action(&json!({ "type": "scrape" })), Unstored, Decides),
        (
            "actions: executeJavascript",
            action(&json!({ "type": "executeJavascript", "script": "1" })),
            Unstored,
            Decides,
        ),
        ("actions: pdf", action(&json!({ "type": "pdf" })), Unstored, Decides),
        ("location", json!({ "location": { "country": "DE" } }), Decides, Decides),
        ("location", json!({ "location": { "languages": ["pt"] } }), Decides, Decides),
        ("location", json!({ "location": { "languages": ["pt", "en"] } }), Decides, Decides),
        ("skipTlsVerification", json!({ "skipTlsVerification": false }), Decides, Decides),
        ("skipTlsVerification", json!({ "skipTlsVerification": true }), Decides, Decides),
        ("removeBase64Images", json!({ "removeBase64Images": false }), Ignored, Ignored),
        ("fastMode", json!({ "fastMode": true }), Decides, Decides),
        ("blockAds", json!({ "blockAds": false }), Decides, Decides),
        ("proxy", json!({ "proxy": "stealth" }), Ignored, Ignored),
        ("maxAge", json!({ "maxAge": 0 }), Ignored, ByFetchPlan),
        ("maxAge", json!({ "maxAge": 1000 }), Ignored, ByFetchPlan),
        ("minAge", json!({ "minAge": 10 }), Ignored, ByFetchPlan),
        ("storeInCache", json!({ "storeInCache": false }), Ignored, ByFetchPlan),
        ("lockdown", json!({ "lockdown": true }), Ignored, ByFetchPlan),
        ("safeMode", json!({ "safeMode": true }), Decides, Decides),
        ("checkPromptInjection", json!({ "checkPromptInjection": true }), Ignored, Ignored),
        ("redactPII", json!({ "redactPII": true }), Ignored, Ignored),
        (
            "threatProtection",
            json!({ "threatProtection": { "blacklist": ["bad.example"] } }),
            Decides,
            Decides,
        ),
        (
            "threatProtection",
            json!({ "threatProtection": { "blacklist": ["worse.example"] } }),
            Decides,
            Decides,
        ),
        (
            "threatProtection",
            json!({ "threatProtection": { "blacklist": ["bad.example"], "whitelist": ["www.bad.example"] } }),
            Decides,
            Decides,
        ),
        ("threatProtection", json!({ "threatProtection": { "blockedTlds": ["example"] } }), Decides, Decides),
        (
            "threatProtection",
            json!({ "threatProtection": { "whitelist": ["good.example"] } }),
            Ignored,
            Ignored,
        ),
        (
            "threatProtection",
            json!({ "threatProtection": { "mode": "off", "blacklist": ["x"] } }),
            Ignored,
            Ignored,
        ),
        (
            "threatProtection: riskScoreThreshold",
            json!({ "threatProtection": { "riskScoreThreshold": 5 } }),
            Ignored,
            Ignored,
        ),
        (
            "threatProtection: failurePolicy",
            json!({ "threatProtection": { "failurePolicy": "open" } }),
            Ignored,
            Ignored,
        ),
        ("auditMetadata", json!({ "auditMetadata": { "username": "me" } }), Ignored, Ignored),
        ("profile", json!({ "profile": { "name": "one" } }), Unstored, Decides),
        ("profile", json!({ "profile": { "name": "two" } }), Unstored, Decides),
        ("profile", json!({ "profile": { "name": "one", "saveChanges": false } }), Unstored, Decides),
        ("domainTools", json!({ "domainTools": true }), Ignored, Ignored),
        ("toolDetail", json!({ "toolDetail": "full" }), Ignored, Ignored),
        ("zeroDataRetention", json!({ "zeroDataRetention": true }), Ignored, Decides),
        ("origin", json!({ "origin": "sdk" }), Ignored, Ignored),
        ("integration", json!({ "integration": "x" }), Ignored, Ignored),
    ]
}

fn resolve(options: &Value, url: &str) -> Result<ScrapePlan, wire::WireError> {
    let mut body = json!({ "url": url });
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let asked: ScrapeRequest = wire::read::body(body.to_string().as_bytes())?;
    Ok(ScrapePlan::resolve(&asked, false, &|_| false)?)
}

fn plan(options: &Value) -> ScrapePlan {
    resolve(options, "https://example.com/a").unwrap_or_else(|error| panic!("{options}: {error}"))
}

fn merged(first: &Value, second: &Value) -> Option<Value> {
    let (one, other) = (first.as_object().unwrap(), second.as_object().unwrap());
    if other.keys().any(|name| one.contains_key(name)) {
        return None;
    }
    Some(one.iter().chain(other).map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn fetch_plan(plan: &ScrapePlan) -> (CachePlan, bool) {
    (plan.cache, plan.asks_for_markdown())
}

/// Whether keys must differ when an option of this role turns one plan into the other.
fn must_differ(role: Role, before: &ScrapePlan, after: &ScrapePlan) -> bool {
    match role {
        Ignored => false,
        ByFetchPlan => fetch_plan(before) != fetch_plan(after),
        // An option that is the default here, or has no effect beside the others, is no difference.
        Decides | Unstored => format!("{before:?}") != format!("{after:?}"),
    }
}

#[test]
fn every_option_of_a_scrape_has_its_place_in_the_table() {
    let rows = rows();
    // The address is what the keys begin with; the names of lists stand for their entries; the last one is no
    // page.
    let elsewhere = ["url", "formats", "actions", "alexandria"];
    for field in SCRAPE_FIELDS.iter().filter(|field| field.effect != Effect::Refused) {
        let known = elsewhere.contains(&field.name) || rows.iter().any(|(name, ..)| *name == field.name);
        assert!(known, "decide whether {} belongs to the keys", field.name);
    }
}

#[test]
fn two_requests_are_the_same_exactly_if_nothing_that_matters_differs() {
    let rows = rows();
    let plain = plan(&json!({}));
    let is_plain = |role: Role, plan: &ScrapePlan| !must_differ(role, &plain, plan);
    let plans: Vec<(Row, ScrapePlan)> = rows.into_iter().map(|row| (row.clone(), plan(&row.1))).collect();
    for (at, ((name, value, page, fetch), one)) in plans.iter().enumerate() {
        assert_eq!(page_key(one).is_none(), *page == Unstored, "{name} {value}");
        for ((other_name, other_value, other_page, other_fetch), other) in &plans[at + 1..] {
            let both = format!("{name} {value} and {other_name} {other_value}");
            // Ways to write one and the same option.
            if format!("{one:?}") == format!("{other:?}") {
                continue;
            }
            let by_plan = *fetch == ByFetchPlan && *other_fetch == ByFetchPlan;
            let same_plan = by_plan && fetch_plan(one) == fetch_plan(other);
            let same = (is_plain(*fetch, one) && is_plain(*other_fetch, other)) || same_plan;
            assert_eq!(
                fetch_key(Uuid::nil(), one) == fetch_key(Uuid::nil(), other),
                same,
                "fetches of {both}"
            );
            if let (Some(one_key), Some(other_key)) = (page_key(one), page_key(other)) {
                let same = is_plain(*page, one) && is_plain(*other_page, other);
                assert_eq!(one_key == other_key, same, "stored pages of {both}");
            }
        }
    }
}

#[test]
fn an_option_matters_whatever_else_is_asked_for() {
    let rows = rows();
    let mut pairs = 0;
    for (first_name, first, ..) in &rows {
        let before = plan(first);
        for (name, value, page, fetch) in &rows {
            // Some options contradict each other and are refused together.
            let Some(both) = merged(first, value) else { continue };
            let Ok(after) = resolve(&both, "https://example.com/a") else { continue };
            pairs += 1;
            let differ = must_differ(*fetch, &before, &after);
            let keys = [&before, &after].map(|plan| fetch_key(Uuid::nil(), plan));
            assert_eq!(keys[0] != keys[1], differ, "fetches: {name} {value} beside {first_name} {first}");
            let (Some(old), Some(new)) = (page_key(&before), page_key(&after)) else { continue };
            // What needs the browser takes back that `fastMode` forbids it.
            let fast = before.access.fast || after.access.fast;
            let differ = if fast && after.wants_browser().is_some() {
                before.forbids_browser() || before.access.wait_for != after.access.wait_for
            } else {
                must_differ(*page, &before, &after)
            };
            assert_eq!(old != new, differ, "stored pages: {name} {value} beside {first_name} {first}");
        }
    }
    assert!(pairs > 4_000, "{pairs}");
}

#[test]
fn whatever_a_capability_sets_by_itself_matters_for_shared_fetches() {
    const ALIKE: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: true };
    let stay = |start: &str, allow_subdomains: bool, rule: AddressRule| {
        let start = PageUrl::parse(start, ALIKE).unwrap();
        let rules = ScopeRules { crawl_entire_domain: true, allow_subdomains, ..ScopeRules::default() };
        let scope = Arc::new(Scope::new(&start, &rules).unwrap());
        Some(Stay { start: start.url().to_string(), scope, sameness: ALIKE, rule })
    };
    let sites = [
        None,
        stay("https://example.com/", false, AddressRule::CrawlScope),
        stay("https://example.com/", true, AddressRule::CrawlScope),
        stay("https://example.com/", true, AddressRule::StrictUrls),
        stay("https://example.org/", false, AddressRule::CrawlScope),
    ];
    let mut keys = Vec::new();
    for waits_for_browser in [false, true] {
        for site in &sites {
            let mut plan = plan(&json!({}));
            plan.access.waits_for_browser = waits_for_browser;
            plan.access.allowed.site.clone_from(site);
            // The final address of a stored page is held against the site instead.
            assert_eq!(page_key(&plan), page_key(&self::plan(&json!({}))));
            keys.extend([Uuid::nil(), Uuid::max()].map(|team| fetch_key(team, &plan)));
        }
    }
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!((keys.len(), all), (20, 20));
}

#[test]
fn time_limits_that_are_nearly_equal_share_a_fetch() {
    let key = |milliseconds: u64| {
        let mut plan = plan(&json!({}));
        plan.timeout = Duration::from_millis(milliseconds);
        fetch_key(Uuid::nil(), &plan)
    };
    assert_eq!(key(60_000), key(59_100));
    assert_ne!(key(60_000), key(5_000));
}

#[test]
fn an_anchor_is_the_same_page_and_a_route_is_another() {
    let key = |url: &str| page_key(&resolve(&json!({}), url).unwrap());
    let fetch = |url: &str| fetch_key(Uuid::nil(), &resolve(&json!({}), url).unwrap());
    for anchor in ["https://example.com/a#part", "https://example.com/a#"] {
        assert_eq!(key("https://example.com/a"), key(anchor), "{anchor}");
        assert_eq!(fetch("https://example.com/a"), fetch(anchor), "{anchor}");
    }
    let pages = [
        "https://example.com/a",
        "https://example.com/a#/one",
        "https://example.com/a#/two",
        "https://example.com/a#!one",
    ];
    for (at, one) in pages.iter().enumerate() {
        for other in &pages[at + 1..] {
            assert!(key(one) != key(other) && fetch(one) != fetch(other), "{one} {other}");
        }
    }
}

#[test]
fn what_was_stored_before_certificates_counted_is_found_by_requests_that_check_none() {
    let key = page_key(&plan(&json!({}))).unwrap();
    // The key that every version has given to this request.
    let mut hash = KeyHasher::new("page");
    for part in ["https://example.com/a", "desktop", "", "", "0", "no ads"] {
        hash.add(part);
    }
    assert_eq!(key, hash.finish());
}
