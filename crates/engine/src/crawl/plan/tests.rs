use super::*;
use serde_json::{Value, json};
use wire::read;

fn asking<'a>(allow: &'a EgressAllow, models: &'a Models) -> Asking<'a> {
    Asking { keeps_nothing: false, base_url: "http://here", allow, models }
}

fn crawl(more: &Value) -> Result<CrawlPlan, wire::WireError> {
    let mut body = json!({ "url": "https://site.example/docs/" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let asked = read::body(body.to_string().as_bytes())?;
    Ok(CrawlPlan::resolve(&asked, asking(&EgressAllow::default(), &Models::default()))?)
}

fn batch(body: &Value) -> Result<BatchPlan, wire::WireError> {
    let asked = read::body(body.to_string().as_bytes())?;
    Ok(BatchPlan::resolve(&asked, asking(&EgressAllow::default(), &Models::default()))?)
}

#[track_caller]
fn refused(error: &wire::WireError, path: &Value) {
    let first = error.details().map(|details| details[0]["path"].clone());
    assert_eq!(first.as_ref(), Some(path), "{error}");
}

#[test]
fn a_plain_crawl_has_every_default() {
    let plan = crawl(&json!({})).unwrap();
    assert_eq!(plan.limit, Limit { pages: 10_000, asked: false });
    assert!(plan.order.follow.similar_are_one && !plan.order.follow.ignore_query && !plan.order.private);
    assert_eq!(plan.terms, Terms { price: 1, ..Terms::default() });
    let decisions: Vec<_> = plan.entries().into_iter().map(|entry| (entry.url, entry.kind)).collect();
    let start = "https://site.example/docs/".to_owned();
    assert_eq!(decisions, [(start.clone(), NewEntryKind::Lists), (start, NewEntryKind::Page)]);
}

#[test]
fn lists_are_left_out_only_where_nothing_of_them_is_wanted() {
    let lists = |more: Value| crawl(&more).unwrap().entries().len() == 2;
    assert!(lists(json!({ "sitemap": "skip" })), "robots rules are still to be read");
    assert!(lists(json!({ "ignoreRobotsTxt": true })));
    assert!(!lists(json!({ "sitemap": "skip", "ignoreRobotsTxt": true })));
}

#[test]
fn numbers_are_held_to_their_ranges() {
    for (more, field) in [
        (json!({ "limit": 0 }), "limit"),
        (json!({ "limit": 1_000_000_001_i64 }), "limit"),
        (json!({ "maxDiscoveryDepth": -1 }), "maxDiscoveryDepth"),
        (json!({ "delay": 61 }), "delay"),
        (json!({ "delay": -0.5 }), "delay"),
        (json!({ "maxConcurrency": 0 }), "maxConcurrency"),
        (json!({ "sitemap": "maybe" }), "sitemap"),
        (json!({ "robotsUserAgent": "" }), "robotsUserAgent"),
    ] {
        refused(&crawl(&more).unwrap_err(), &json!([field]));
    }
    let plan = crawl(&json!({ "limit": 1_000_000_000, "delay": 0.25, "maxConcurrency": 3 })).unwrap();
    assert_eq!(plan.limit, Limit { pages: 1_000_000_000, asked: true });
    assert_eq!((plan.terms.gap, plan.terms.max_running), (Some(Duration::from_millis(250)), Some(3)));
    assert_eq!(crawl(&json!({ "delay": 0 })).unwrap().terms.gap, None);
}

#[test]
fn what_is_wrong_is_told_where_it_stands() {
    refused(&crawl(&json!({ "excludePaths": ["ok", "("] })).unwrap_err(), &json!(["excludePaths", 1]));
    refused(
        &crawl(&json!({ "scrapeOptions": { "timeout": 5 } })).unwrap_err(),
        &json!(["scrapeOptions", "timeout"]),
    );
    refused(
        &crawl(&json!({ "scrapeOptions": { "lockdown": true } })).unwrap_err(),
        &json!(["scrapeOptions", "lockdown"]),
    );
    refused(
        &crawl(&json!({ "scrapeOptions": { "profile": { "name": "x" } } })).unwrap_err(),
        &json!(["scrapeOptions", "profile", "saveChanges"]),
    );
    refused(&crawl(&json!({ "webhook": "http://127.0.0.1/" })).unwrap_err(), &json!(["webhook", "url"]));
    let summary = json!({ "scrapeOptions": { "formats": ["summary"] } });
    assert_eq!(crawl(&summary).unwrap_err().kind, Kind::ModelNotConfigured);
    assert_eq!(crawl(&json!({ "url": "ftp://x.example" })).unwrap_err().kind, Kind::InvalidUrl);
}

#[test]
fn a_batch_takes_each_address_once_and_names_what_is_none() {
    let urls =
        json!(["https://a.example/1", "nonsense", "https://a.example/1", " b.example ", "ftp://c.example"]);
    let plan = batch(&json!({ "urls": urls, "formats": ["links"] })).unwrap();
    let taken: Vec<_> = plan.entries.iter().map(|entry| (entry.url.as_str(), entry.host.as_str())).collect();
    assert_eq!(taken, [("https://a.example/1", "a.example"), (" b.example ", "b.example")]);
    assert_eq!(plan.invalid.as_deref(), Some(&["nonsense".to_owned(), "ftp://c.example".to_owned()][..]));
    assert_eq!(plan.target(), "https://a.example/1 and 1 more");
    let strict = batch(&json!({ "urls": urls, "ignoreInvalidURLs": false })).unwrap_err();
    refused(&strict, &json!(["urls", 1]));
    let none = batch(&json!({ "urls": ["x", "y"] })).unwrap_err();
    assert_eq!(none.text(), "No valid URLs provided");
    refused(&batch(&json!({ "urls": [] })).unwrap_err(), &json!(["urls"]));
    let told = batch(&json!({ "urls": ["https://a.example"], "ignoreInvalidURLs": false })).unwrap();
    assert_eq!(told.invalid, None);
}

#[test]
fn what_is_added_to_a_batch_asks_for_nothing_else() {
    let id = Uuid::now_v7().to_string();
    let fits = |body: Value, formats: Value| {
        let batch_order = batch(&json!({ "urls": ["https://a.example"], "formats": formats })).unwrap().order;
        let asked: BatchRequest = read::body(body.to_string().as_bytes()).unwrap();
        BatchPlan::resolve(&asked, asking(&EgressAllow::default(), &Models::default()))
            .unwrap()
            .must_fit(&asked, &batch_order)
            .is_ok()
    };
    let body = |more: Value| {
        let mut body = json!({ "urls": ["https://b.example"], "appendToId": id });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    assert!(fits(body(json!({})), json!(["links"])));
    assert!(fits(body(json!({ "formats": ["links"] })), json!(["links"])));
    assert!(!fits(body(json!({ "formats": ["html"] })), json!(["links"])));
    assert!(!fits(body(json!({ "webhook": "https://hooks.example/" })), json!(["links"])));
    assert!(!fits(body(json!({ "maxConcurrency": 2 })), json!(["links"])));
    assert!(!fits(body(json!({ "zeroDataRetention": true })), json!(["links"])));
}
