//! Pages and schemas made to be slow: time and memory stay in proportion to their size.

use content::{Limits, Page, Source};
use extract::{Filled, PageView, Schema, fill, fill_free, rank};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// A few seconds of work, unoptimised, on a machine that may be busy with much else.
const PATIENCE: Duration = Duration::from_secs(90);

fn soak() -> usize {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { 40 } else { 1 }
}

fn look(schema: &Value, html: &str) -> Filled {
    let started = Instant::now();
    let page = Page::read(
        &Source { bytes: html.as_bytes(), content_type: Some("text/html"), ..Source::default() },
        &Limits::default(),
    );
    let view = PageView { url: "https://a.example/", page: &page, markdown: html };
    let schema = Schema::read(schema).unwrap();
    let found = fill(&schema, "list all names and prices", &[view]);
    let _ = fill_free("names and prices", &[view]);
    let _ = rank::links("names", Some(&schema), &found.missing, &view);
    assert!(started.elapsed() < PATIENCE * u32::try_from(soak()).unwrap(), "{:?}", started.elapsed());
    found
}

fn rows_schema() -> Value {
    json!({"type": "object", "properties": {"title": {"type": "string"}, "rows": {"type": "array", "items": {"type": "object", "properties": {
        "name": {"type": "string"}, "price": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}}}}}})
}

#[test]
fn many_rows() {
    let count = 2_500 * soak();
    let body: Vec<String> =
        (0..count).map(|n| format!("<tr><td>Thing {n}</td><td>${n}.50</td></tr>")).collect();
    let body = body.concat();
    let found = look(&rows_schema(), &format!("<table><tr><th>Name</th><th>Price</th></tr>{body}</table>"));
    let rows = found.value["rows"].as_array().unwrap();
    // All of them, or as many as are kept and a word that some are not.
    assert!(rows.len() == count || (found.cut && rows.len() >= 20_000), "{} of {count}", rows.len());
    assert_eq!(rows[2_321], json!({"name": "Thing 2321", "price": 2321.5}));
}

#[test]
fn a_thousand_fields() {
    let fields: Map<String, Value> =
        (0..1_000).map(|n| (format!("field{n} price name"), json!({"type": "string"}))).collect();
    let body: Vec<String> = (0..300)
        .map(|n| format!("<li class='item price name field{n}'>Field{n} price name: value {n}</li>"))
        .collect();
    let body = body.concat();
    let schema = json!({"type": "object", "properties": fields.clone(), "additionalProperties": false});
    let found = look(&schema, &format!("<ul>{body}</ul>"));
    assert!(found.value["field7 price name"].as_str().is_some());
    let rows = json!({"type": "array", "items": {"type": "object", "properties": fields}});
    look(&rows, &format!("<ul>{body}</ul>"));
}

#[test]
fn pages_made_to_be_slow() {
    let deep = "<div class=name>".repeat(600 * soak()) + "Price: $3";
    let wide = "<span class='price name'>$3</span>".repeat(3_000 * soak());
    let headings = "<h2>Name</h2><p>Price: 3</p>".repeat(600 * soak());
    let tables = "<table><tr><td>".repeat(300) + "x";
    let spans = format!(
        "<table>{}</table>",
        "<tr><td colspan=9999 rowspan=9999>Price</td><td>3</td></tr>".repeat(100)
    );
    let colons = format!("<p>{}</p>", "price: name: ".repeat(3_000 * soak()));
    let at = format!("<p>{}</p>", "a@".repeat(2_500 * soak()));
    let digits = format!("<p>Price: {}</p>", "1,".repeat(2_500 * soak()));
    let list = format!("<ul>{}</ul>", "<li><ul><li>name</li></ul></li>".repeat(600 * soak()));
    let terms = format!("<dl>{}</dl>", "<dt>Price</dt><dd>3</dd>".repeat(600 * soak()));
    let json_ld = format!(
        "<script type=application/ld+json>{{\"@graph\":[{}]}}</script>",
        vec![r##"{"@id":"#a","name":"x","offers":{"@id":"#a"},"isPartOf":{"@id":"#a"}}"##; 300].join(",")
    );
    let one_word = format!("<p class=price>{}</p>", "x".repeat(300_000 * soak()));
    for html in [deep, wide, headings, tables, spans, colons, at, digits, list, terms, json_ld, one_word] {
        look(&rows_schema(), &html);
    }
}

#[test]
fn anything_can_be_looked_at() {
    let schema = rows_schema();
    for html in [
        "",
        "<",
        "\u{0}",
        "<table><tr></table>",
        "<dl><dd>x</dl>",
        "<h1></h1>",
        "é: ü",
        "<a href>",
        "：：：",
        "<p>\u{202e}Price\u{202c}: 1</p>",
        "$",
        "€€€ 1.1.1",
        "<time datetime>",
    ] {
        look(&schema, html);
    }
}
