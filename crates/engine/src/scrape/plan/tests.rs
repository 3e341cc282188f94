use super::*;
use document_process::Mode;
use serde_json::{Value, json};
use wire::Kind;

fn resolve(body: &Value) -> Result<ScrapePlan, wire::WireError> {
    let asked: ScrapeRequest = wire::read::body(body.to_string().as_bytes())?;
    Ok(ScrapePlan::resolve(&asked, false, &|host| host == "wiki")?)
}

fn plan(more: &Value) -> ScrapePlan {
    let mut body = json!({ "url": "https://example.com/a#b" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    resolve(&body).unwrap()
}

/// The paths of everything that is wrong, joined.
fn wrong(more: &Value) -> Vec<String> {
    let mut body = json!({ "url": "https://example.com/" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let error = resolve(&body).expect_err(&format!("{more} should be refused"));
    assert_eq!(error.status(), 400, "{more}: {error}");
    let details = error.details().and_then(Value::as_array).cloned().unwrap_or_default();
    details
        .iter()
        .map(|issue| {
            let parts = issue["path"].as_array().unwrap();
            parts.iter().map(|part| part.to_string().replace('"', "")).collect::<Vec<_>>().join(".")
        })
        .collect()
}

#[test]
fn a_bare_request_has_the_defaults_of_the_contract() {
    let plan = plan(&json!({}));
    assert!(plan.formats.markdown && !plan.formats.html && plan.parts.only_main_content);
    assert_eq!(plan.timeout, Duration::from_mins(1));
    assert_eq!(plan.cache.max_age, Some(Duration::from_hours(48)));
    assert!(plan.cache.store && plan.cache.may_fetch() && plan.access.block_ads);
    assert!(!plan.access.check_certificate, "any certificate by default");
    assert_eq!(plan.wants_browser(), None);
    assert_eq!(plan.written_url, "https://example.com/a#b");
}

#[test]
fn credentials_are_for_the_page_that_the_request_names() {
    let url = |text: &str| Url::parse(text).unwrap();
    let login = plan(&json!({ "url": "https://me:secret@example.com/a", "headers": { "X-Own": "1" } }));
    assert_eq!(
        (login.url.as_str(), login.written_url.as_str()),
        ("https://example.com/a", "https://example.com/a")
    );
    let credentials = &login.access.credentials;
    assert!(
        credentials.covers(&url("https://example.com/b")) && !credentials.covers(&url("https://b.example/"))
    );
    assert_eq!(credentials.pairs().len(), 2);
    assert!(credentials.need_checked_certificate() && !format!("{login:?}").contains("secret"));
    let risky = plan(&json!({ "headers": { "X-Own": "1" }, "skipTlsVerification": true }));
    assert!(!risky.access.check_certificate && !risky.access.credentials.need_checked_certificate());
    // Of no page: whoever asks must say for which one.
    let options: ScrapeOptions = serde_json::from_value(json!({ "headers": { "X-Own": "1" } })).unwrap();
    let nobody = ScrapePlan::template(&options, false, CredentialScope::none()).unwrap();
    let page = nobody.for_page(url("https://me:secret@a.test/x"), "https://me:secret@a.test/x");
    assert!(!page.access.credentials.covers(&page.url) && !page.cache.store);
    assert_eq!((page.url.as_str(), page.written_url.as_str()), ("https://a.test/x", "https://a.test/x"));
    assert!(require_page_for_credentials(&nobody.access.credentials, "headers").is_err());
    assert!(require_page_for_credentials(&Credentials::none(), "headers").is_ok());
}

#[test]
fn own_headers_actions_and_profiles_turn_the_cache_off_and_certificates_on() {
    for own in [
        json!({ "headers": { "X-Own": "1" } }),
        json!({ "actions": [{ "type": "scrape" }] }),
        json!({ "profile": { "name": "me" } }),
        json!({ "url": "https://me:secret@example.com/" }),
    ] {
        let plan = plan(&own);
        assert!(plan.cache.max_age.is_none() && !plan.cache.store && plan.access.check_certificate, "{own}");
    }
    let empty = plan(&json!({ "actions": [], "headers": {} }));
    assert!(empty.cache.store && empty.wants_browser().is_none(), "nothing asked for is nothing special");
    let tracked = plan(&json!({ "formats": ["markdown", "changeTracking"] }));
    assert!(tracked.cache.max_age.is_none() && tracked.cache.store);
    assert!(!plan(&json!({ "zeroDataRetention": true })).cache.store);
}

#[test]
fn what_needs_a_browser_says_so() {
    for (more, reason) in [
        (json!({ "waitFor": 10 }), "waitFor"),
        (json!({ "formats": ["screenshot"] }), "screenshot"),
        (json!({ "formats": ["branding"] }), "branding"),
        (json!({ "actions": [{ "type": "wait", "milliseconds": 1 }] }), "actions"),
        (json!({ "profile": { "name": "me", "saveChanges": false } }), "profile"),
    ] {
        assert_eq!(plan(&more).wants_browser(), Some(reason));
    }
    assert_eq!(plan(&json!({ "mobile": true })).wants_browser(), None);
}

#[test]
fn every_mistake_is_found_where_it_stands() {
    assert_eq!(wrong(&json!({ "timeout": 999, "maxAge": -1 })), ["timeout", "maxAge"]);
    assert_eq!(wrong(&json!({ "timeout": 10_000, "waitFor": 5_000 })), ["waitFor"]);
    assert_eq!(wrong(&json!({ "formats": ["markdwn"] })), ["formats.0.type"]);
    assert_eq!(wrong(&json!({ "formats": [{ "type": "markdown", "query": "x" }] })), ["formats.0.query"]);
    assert_eq!(wrong(&json!({ "formats": ["screenshot", "screenshot"] })), ["formats.1.type"]);
    assert_eq!(wrong(&json!({ "formats": ["changeTracking"] })), ["formats"]);
    assert_eq!(wrong(&json!({ "formats": ["rawBase64", "markdown"] })), ["formats"]);
    assert_eq!(wrong(&json!({ "formats": [{ "type": "highlights" }] })), ["formats.0.query"]);
    let big = json!({ "formats": [{ "type": "screenshot", "quality": 0, "viewport": { "width": 9000, "height": 1 } }] });
    assert_eq!(wrong(&big), ["formats.0.quality", "formats.0.viewport"]);
    assert_eq!(wrong(&json!({ "actions": [{ "type": "click" }] })), ["actions.0.selector"]);
    assert_eq!(wrong(&json!({ "actions": [{ "type": "jump" }] })), ["actions.0.type"]);
    let both = json!({ "actions": [{ "type": "wait", "milliseconds": 1, "selector": "a" }] });
    assert_eq!(wrong(&both), ["actions.0.milliseconds"]);
    let long: Vec<_> = (0..3).map(|_| json!({ "type": "wait", "milliseconds": 25_000 })).collect();
    assert_eq!(wrong(&json!({ "actions": long })), ["actions"]);
    let many: Vec<_> = (0..51).map(|_| json!({ "type": "scrape" })).collect();
    assert_eq!(wrong(&json!({ "actions": many })), ["actions"]);
    assert_eq!(wrong(&json!({ "location": { "country": "ZZ" } })), ["location.country"]);
    assert_eq!(wrong(&json!({ "location": { "languages": ["a b"] } })), ["location.languages"]);
    assert_eq!(wrong(&json!({ "includeTags": ["p", "a["] })), ["includeTags.1"]);
    assert_eq!(wrong(&json!({ "headers": { "Host": "x" } })), ["headers"]);
    assert_eq!(wrong(&json!({ "redactPII": { "entities": ["NAME"] } })), ["redactPII.entities"]);
    assert_eq!(wrong(&json!({ "threatProtection": { "mode": "zscaler" } })), ["threatProtection.mode"]);
    assert_eq!(wrong(&json!({ "parsers": ["word"] })), ["parsers.0.type"]);
    let odd =
        json!([{ "type": "image", "blocks": true }, { "type": "pdf", "maxPages": 10_001, "mode": "best" }]);
    let places = ["parsers.0.blocks", "parsers.1.maxPages", "parsers.1.mode"];
    assert_eq!(wrong(&json!({ "parsers": odd })), places);
    assert_eq!(wrong(&json!({ "useMock": "x" })), ["useMock"]);
    assert_eq!(wrong(&json!({ "proxy": "mine" })), ["proxy"]);
    assert_eq!(wrong(&json!({ "zeroDataRetention": true, "formats": ["screenshot"] })), ["formats"]);
    assert_eq!(wrong(&json!({ "lockdown": true, "formats": ["screenshot"] })), ["formats"]);
}

#[test]
fn what_needs_a_model_or_is_no_page_has_a_code_of_its_own() {
    let with = |format: Value| resolve(&json!({ "url": "example.com", "formats": [format, "markdown"] }));
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
    for (format, needs, credits) in [
        (json!("summary"), true, 1),
        (json!({ "type": "json", "prompt": "x" }), true, 5),
        (json!({ "type": "json", "schema": schema }), false, 5),
        (json!({ "type": "question", "question": "x" }), true, 5),
        (json!({ "type": "query", "prompt": "x" }), true, 5),
        (json!({ "type": "query", "prompt": "x", "mode": "directQuote" }), false, 5),
        (json!({ "type": "changeTracking", "modes": ["json"], "prompt": "x" }), true, 5),
        (json!({ "type": "changeTracking", "modes": ["json", "git-diff"], "schema": schema }), false, 5),
        (json!("links"), false, 1),
    ] {
        let plan = with(format.clone()).unwrap();
        assert_eq!((!plan.needs_models().is_empty(), plan.credits()), (needs, credits), "{format}");
    }
    let wrong = with(json!({ "type": "json", "schema": { "type": "banana" } })).unwrap_err();
    assert_eq!(wrong.kind, Kind::UnprocessableEntity);
    assert!(wrong.text().starts_with("Unprocessable Entity: formats[0].schema: "), "{}", wrong.text());
    assert_eq!(with(json!("audio")).unwrap_err().kind, Kind::ScrapeAudioUnsupported);
    assert_eq!(with(json!("video")).unwrap_err().kind, Kind::ScrapeVideoUnsupported);
}

#[test]
fn addresses_are_read_as_people_write_them() {
    let read = |text: &str| NamedPage::parse(text, &|host| host == "wiki").map(|page| page.url.to_string());
    for (written, url) in [
        ("example.com", "http://example.com/"),
        (" https://example.com/a b ", "https://example.com/a%20b"),
        ("example.com:8080/x", "http://example.com:8080/x"),
        ("HTTP://EXAMPLE.com", "http://example.com/"),
        ("[2001:db8::1]:80/x", "http://[2001:db8::1]/x"),
        ("bücher.example", "http://xn--bcher-kva.example/"),
        ("localhost:3000", "http://localhost:3000/"),
        ("wiki/page", "http://wiki/page"),
    ] {
        assert_eq!(read(written).unwrap(), url, "{written}");
    }
    let long = format!("http://example.com/{}", "a".repeat(net::MAX_URL_BYTES));
    for written in [
        "",
        "  ",
        "http://",
        "http:///x",
        "notaurl",
        "file:///etc/passwd",
        "ftp://example.com",
        "data:text/html,x",
        "javascript:alert(1)",
        "mailto:a@example.com",
        "http://a b.example",
        "http://example.com:99999",
        &long,
    ] {
        let error = read(written).expect_err(written);
        assert_eq!(error.kind(), Kind::InvalidUrl, "{written}");
        assert_eq!(error.text(), "Invalid URL");
    }
}

#[test]
fn parsers_say_which_files_are_read_and_how() {
    let parsers =
        |parsers: Value| resolve(&json!({ "url": "example.com", "parsers": parsers })).unwrap().parsers;
    let all = ParserPlan { nothing: false, pdf: Some(PdfParser::default()), images: true };
    assert_eq!(parsers(Value::Null), all);
    assert_eq!(parsers(json!(["image", "pdf"])), all);
    assert_eq!(parsers(json!([])), ParserPlan { nothing: true, pdf: None, images: false });
    assert_eq!(parsers(json!(["image"])), ParserPlan { pdf: None, ..all.clone() });
    let object = json!([{ "type": "pdf", "mode": "ocr", "maxPages": 3, "pageMarkdown": true }]);
    let mut asked = parsers(object);
    let pdf = PdfParser { mode: Mode::Ocr, max_pages: Some(3), pages: true, ..PdfParser::default() };
    assert_eq!(asked, ParserPlan { nothing: false, pdf: Some(pdf), images: false });
    asked.limit_pages(10);
    assert_eq!(asked.output().max_pages, Some(3));
    asked.limit_pages(2);
    assert_eq!(asked.output().max_pages, Some(2));
    assert_eq!(asked.password(), None);
}

#[test]
fn what_a_password_opens_is_not_stored_and_the_password_not_shown() {
    let plan = |parser: Value| resolve(&json!({ "url": "example.com/a.pdf", "parsers": [parser] }));
    let opened = plan(json!({ "type": "pdf", "password": "s3cret" })).unwrap();
    assert_eq!(opened.parsers.password().unwrap().0, "s3cret");
    assert!(
        opened.cache.max_age.is_none() && !opened.cache.store && !format!("{opened:?}").contains("s3cret")
    );
    for (parser, why) in [
        (json!({ "type": "pdf", "password": "x".repeat(128) }), "must not have more than 127 bytes"),
        (json!({ "type": "image", "password": "x" }), "is an option of the parser pdf"),
    ] {
        let error = plan(parser).unwrap_err();
        let issue = &error.details().unwrap()[0];
        assert_eq!(issue["path"], json!(["parsers", 0, "password"]));
        assert_eq!(issue["message"], why);
    }
}
