//! Requests of `/v1` as requests of `/v2`: renamed fields, formats with their options, other defaults.
//!
//! Fields that only `/v2` has are refused, so that a body is either of the one version or of the other;
//! fields that neither knows are left for `/v2` to refuse.

use super::{Object, Translated};
use serde_json::{Value, json};
use wire::{Issue, WireError};

/// What a page may be as old as, unless the request says so: this version always fetched anew.
const DEFAULT_MAX_AGE: u64 = 0;

/// A scrape, or a batch, which has the same options at its top level.
pub fn scrape(body: &mut Object) -> Translated {
    let mut issues = Vec::new();
    scrape_options(body, "", &mut issues);
    finish(&issues)
}

pub fn crawl(body: &mut Object) -> Translated {
    let mut issues = Vec::new();
    refuse(body, &["sitemap", "prompt"], "", &mut issues);
    if body.get("maxDepth").and_then(Value::as_f64).is_some_and(|depth| depth < 0.0) {
        issues.push(Issue::at("maxDepth", "must be at least 0", "too_small"));
    }
    rename(body, "maxDepth", "maxDiscoveryDepth");
    rename(body, "allowBackwardLinks", "crawlEntireDomain");
    sitemap(body);
    nested_options(body, true, &mut issues);
    finish(&issues)
}

pub fn map(body: &mut Object) -> Translated {
    let mut issues = Vec::new();
    refuse(body, &["sitemap"], "", &mut issues);
    sitemap(body);
    finish(&issues)
}

pub fn search(body: &mut Object) -> Translated {
    let mut issues = Vec::new();
    refuse(body, &["sources", "categories"], "", &mut issues);
    // The language of the results was a wish; pages are found by the words of the query.
    body.remove("lang");
    if let Some(Value::String(filter)) = body.remove("filter")
        && let Some(Value::String(query)) = body.get_mut("query")
    {
        query.push(' ');
        query.push_str(&filter);
    }
    nested_options(body, false, &mut issues);
    finish(&issues)
}

pub fn extract(body: &mut Object) -> Translated {
    let mut issues = Vec::new();
    nested_options(body, false, &mut issues);
    finish(&issues)
}

/// Whether a scrape asks for a format.
pub fn asks_for(body: &Object, format: &str) -> bool {
    let formats = body.get("formats").and_then(Value::as_array);
    formats.is_some_and(|formats| formats.iter().any(|asked| asked == format))
}

/// The format of a request for structured data, with its options.
pub fn json_format(options: Option<Value>) -> Value {
    with_type("json", options.unwrap_or_else(|| json!({})))
}

fn nested_options(body: &mut Object, always: bool, issues: &mut Vec<Issue>) {
    if always {
        body.entry("scrapeOptions").or_insert_with(|| json!({}));
    }
    if let Some(Value::Object(options)) = body.get_mut("scrapeOptions") {
        scrape_options(options, "scrapeOptions.", issues);
    }
}

fn scrape_options(options: &mut Object, prefix: &str, issues: &mut Vec<Issue>) {
    refuse(options, &["parsers"], prefix, issues);
    if let Some(parse) = options.remove("parsePDF") {
        options.insert("parsers".to_owned(), if parse == false { json!([]) } else { json!(["pdf"]) });
    }
    formats(options, prefix, issues);
    options.entry("maxAge").or_insert_with(|| json!(DEFAULT_MAX_AGE));
}

/// Formats were names, with the options of each in a field of its own.
fn formats(options: &mut Object, prefix: &str, issues: &mut Vec<Issue>) {
    let mut complain = |field: &str, message: &str| {
        issues.push(Issue::at(&format!("{prefix}{field}"), message, "invalid_value"));
    };
    let fields = ["jsonOptions", "extract", "changeTrackingOptions"];
    let [mut json, mut extract, mut tracking] = fields.map(|field| options.remove(field));
    let mut has_json = false;
    if let Some(Value::Array(formats)) = options.get_mut("formats") {
        for format in formats.iter_mut() {
            let Some(name) = format.as_str() else {
                complain("formats", "must be names in /v1; objects are formats of /v2");
                continue;
            };
            *format = match name {
                "screenshot@fullPage" => json!({ "type": "screenshot", "fullPage": true }),
                "changeTracking" => with_type(name, tracking.take().unwrap_or_else(|| json!({}))),
                "json" | "extract" => {
                    has_json = true;
                    json_format(json.take().or_else(|| extract.take()))
                }
                _ => continue,
            };
        }
        // Both names of structured data at once are one format.
        let mut seen = false;
        formats.retain(|format| format["type"] != "json" || !std::mem::replace(&mut seen, true));
    }
    for (field, left, format) in [
        ("jsonOptions", json.filter(|_| !has_json), "json"),
        ("extract", extract.filter(|_| !has_json), "extract"),
        ("changeTrackingOptions", tracking, "changeTracking"),
    ] {
        if left.is_some_and(|left| !left.is_null()) {
            complain(field, &format!("needs `{format}` among the formats"));
        }
    }
}

/// The options of a format as that format. A system prompt goes before the prompt.
fn with_type(kind: &str, options: Value) -> Value {
    let Value::Object(mut format) = options else { return options };
    if let Some(Value::String(system)) = format.remove("systemPrompt") {
        let prompt = format.get("prompt").and_then(Value::as_str).unwrap_or_default();
        let both = format!("{system}\n\n{prompt}").trim().to_owned();
        format.insert("prompt".to_owned(), both.into());
    }
    format.insert("type".to_owned(), kind.into());
    Value::Object(format)
}

fn sitemap(body: &mut Object) {
    let [only, ignored] = ["sitemapOnly", "ignoreSitemap"].map(|name| body.remove(name));
    let value = match (only, ignored) {
        (Some(Value::Bool(true)), _) => "only",
        (_, Some(Value::Bool(true))) => "skip",
        _ => return,
    };
    body.insert("sitemap".to_owned(), value.into());
}

/// Gives a field its new name, unless that is there too.
fn rename(body: &mut Object, old: &str, new: &str) {
    if let Some(value) = body.remove(old) {
        body.entry(new).or_insert(value);
    }
}

fn refuse(body: &Object, fields: &[&str], prefix: &str, issues: &mut Vec<Issue>) {
    for field in fields.iter().filter(|field| body.contains_key(**field)) {
        let path = format!("{prefix}{field}");
        issues.push(Issue::at(&path, "is a field of /v2, not of /v1", "unrecognized_keys"));
    }
}

fn finish(issues: &[Issue]) -> Translated {
    if issues.is_empty() { Ok(()) } else { Err(WireError::invalid(issues)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(translate: fn(&mut Object) -> Translated, body: Value) -> Result<Value, String> {
        let Value::Object(mut body) = body else { unreachable!("an object") };
        translate(&mut body).map_err(|error| format!("{:?}", error.body()))?;
        Ok(body.into())
    }

    #[test]
    fn formats_take_their_options() {
        let schema = json!({ "type": "object" });
        let body = json!({
            "url": "a.example", "formats": ["markdown", "screenshot@fullPage", "json", "extract", "changeTracking"],
            "jsonOptions": { "schema": schema, "systemPrompt": "Be short.", "prompt": "the price" },
            "changeTrackingOptions": { "modes": ["git-diff"] }, "parsePDF": false, "maxAge": 5,
        });
        let expected = json!({
            "url": "a.example", "parsers": [], "maxAge": 5,
            "formats": [
                "markdown", { "type": "screenshot", "fullPage": true },
                { "type": "json", "schema": schema, "prompt": "Be short.\n\nthe price" },
                { "type": "changeTracking", "modes": ["git-diff"] },
            ],
        });
        assert_eq!(translated(scrape, body), Ok(expected));
        let plain =
            json!({ "url": "a.example", "formats": ["extract"], "extract": { "prompt": "p" }, "maxAge": 1 });
        let expected =
            json!({ "url": "a.example", "formats": [{ "type": "json", "prompt": "p" }], "maxAge": 1 });
        assert_eq!(translated(scrape, plain), Ok(expected));
    }

    #[test]
    fn pages_are_fetched_anew_by_default() {
        assert_eq!(translated(scrape, json!({ "url": "a" })), Ok(json!({ "url": "a", "maxAge": 0 })));
        let crawl = translated(crawl, json!({ "url": "a" }));
        assert_eq!(crawl, Ok(json!({ "url": "a", "scrapeOptions": { "maxAge": 0 } })));
    }

    #[test]
    fn fields_have_their_new_names() {
        let body = json!({
            "url": "a", "maxDepth": 2, "allowBackwardLinks": true, "ignoreSitemap": true,
            "scrapeOptions": { "maxAge": 1, "formats": ["screenshot@fullPage"] },
        });
        let expected = json!({
            "url": "a", "maxDiscoveryDepth": 2, "crawlEntireDomain": true, "sitemap": "skip",
            "scrapeOptions": { "maxAge": 1, "formats": [{ "type": "screenshot", "fullPage": true }] },
        });
        assert_eq!(translated(crawl, body), Ok(expected));
        let only = translated(map, json!({ "url": "a", "sitemapOnly": true, "ignoreSitemap": false }));
        assert_eq!(only, Ok(json!({ "url": "a", "sitemap": "only" })));
        let found =
            translated(search, json!({ "query": "gannets", "filter": "site:a.example", "lang": "en" }));
        assert_eq!(found, Ok(json!({ "query": "gannets site:a.example" })));
    }

    #[test]
    fn fields_of_the_other_version_are_refused() {
        for (translate, body, named) in [
            (scrape as fn(&mut Object) -> Translated, json!({ "parsers": [] }), "parsers"),
            (scrape, json!({ "formats": [{ "type": "json" }] }), "formats"),
            (scrape, json!({ "formats": ["markdown"], "jsonOptions": {} }), "jsonOptions"),
            (crawl, json!({ "sitemap": "skip" }), "sitemap"),
            (crawl, json!({ "url": "a", "maxDepth": -1 }), "maxDepth"),
            (crawl, json!({ "scrapeOptions": { "parsers": [] } }), "scrapeOptions"),
            (map, json!({ "sitemap": "skip" }), "sitemap"),
            (search, json!({ "query": "a", "sources": ["web"] }), "sources"),
        ] {
            let error = translated(translate, body.clone()).expect_err(&body.to_string());
            assert!(error.contains(named), "{body}: {error}");
        }
    }
}
