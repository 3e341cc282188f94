//! Responses of `/v2` as `/v1` gave them.

use super::Object;
use serde_json::{Value, json};

/// A scraped page. One who asked for `extract` finds the data under that name.
pub fn scrape(body: &mut Object, names_extract: bool) {
    let Some(Value::Object(document)) = body.get_mut("data") else { return };
    self::document(document);
    if names_extract && let Some(data) = document.get("json").cloned() {
        document.insert("extract".to_owned(), data);
    }
}

/// The start or the state of a crawl or a batch: its addresses are of this version, and clients take any `next`
/// for an address.
pub fn job(body: &mut Object) {
    if body.get("next").is_some_and(Value::is_null) {
        body.remove("next");
    }
    for field in ["url", "next"] {
        if let Some(Value::String(url)) = body.get_mut(field) {
            *url = url.replacen("/v2/", "/v1/", 1);
        }
    }
    if let Some(Value::Array(documents)) = body.get_mut("data") {
        documents.iter_mut().filter_map(Value::as_object_mut).for_each(document);
    }
}

/// The links of a site were URLs alone.
pub fn map(body: &mut Object) {
    if let Some(Value::Array(links)) = body.get_mut("links") {
        for link in links {
            let url = link["url"].take();
            *link = url;
        }
    }
}

/// Results were one list.
pub fn search(body: &mut Object) {
    let Some(data) = body.get_mut("data") else { return };
    let mut web = match data["web"].take() {
        Value::Array(web) => web,
        _ => Vec::new(),
    };
    web.iter_mut().filter_map(Value::as_object_mut).for_each(document);
    *data = web.into();
}

/// Names of figures had underscores.
pub fn usage(body: &mut Object) {
    let Some(Value::Object(data)) = body.get_mut("data") else { return };
    for (new, old) in [
        ("remainingCredits", "remaining_credits"),
        ("planCredits", "plan_credits"),
        ("remainingTokens", "remaining_tokens"),
        ("planTokens", "plan_tokens"),
        ("billingPeriodStart", "billing_period_start"),
        ("billingPeriodEnd", "billing_period_end"),
    ] {
        if let Some(value) = data.remove(new) {
            data.insert(old.to_owned(), value);
        }
    }
}

/// Clients of this version insist on both lists of what actions have made.
fn document(document: &mut Object) {
    if let Some(Value::Object(actions)) = document.get_mut("actions") {
        for list in ["screenshots", "pdfs"] {
            actions.entry(list).or_insert_with(|| json!([]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(change: impl Fn(&mut Object), body: Value) -> Value {
        let Value::Object(mut body) = body else { unreachable!("an object") };
        change(&mut body);
        body.into()
    }

    #[test]
    fn shapes_of_the_version_before() {
        let found = json!({ "success": true, "data": { "web": [{ "url": "a", "title": "A" }] } });
        assert_eq!(changed(search, found)["data"], json!([{ "url": "a", "title": "A" }]));
        assert_eq!(changed(search, json!({ "data": {} }))["data"], json!([]));
        let mapped = changed(map, json!({ "links": [{ "url": "a", "title": "A" }, { "url": "b" }] }));
        assert_eq!(mapped["links"], json!(["a", "b"]));
        let started =
            changed(job, json!({ "url": "http://h/v2/crawl/1", "next": "http://h/v2/crawl/1?skip=2" }));
        assert_eq!(started, json!({ "url": "http://h/v1/crawl/1", "next": "http://h/v1/crawl/1?skip=2" }));
        let page = json!({ "data": { "json": { "a": 1 }, "actions": { "screenshots": ["x"] } } });
        let page = changed(|body| scrape(body, true), page);
        assert_eq!(page["data"]["extract"], json!({ "a": 1 }));
        assert_eq!(page["data"]["actions"], json!({ "screenshots": ["x"], "pdfs": [] }));
        let used = changed(usage, json!({ "data": { "remainingCredits": 3, "billingPeriodEnd": null } }));
        assert_eq!(used["data"], json!({ "remaining_credits": 3, "billing_period_end": null }));
    }
}
