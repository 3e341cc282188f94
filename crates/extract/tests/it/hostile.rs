//! Pages and schemas made to be slow: they take time in proportion to their size.

use content::{Limits, Page, PageSource};
use extract::{Filled, PageView, Schema, fill, fill_each, fill_free, rank};
use serde_json::{Map, Value, json};
use testkit::growth::assert_linear;

fn soak() -> usize {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { 40 } else { 1 }
}

fn fill_page(schema: &Value, html: &str) -> Filled {
    let page = Page::parse(
        &PageSource { bytes: html.as_bytes(), content_type: Some("text/html"), ..PageSource::default() },
        &Limits::default(),
    );
    let view = PageView { url: "https://a.example/", page: &page, markdown: html };
    let schema = Schema::parse(schema).unwrap();
    let found = fill(&schema, "list all names and prices", &[view]);
    let _ = fill_free("names and prices", &[view]);
    let _ = rank::rank_links("names", Some(&schema), &found.missing, &view);
    found
}

fn rows_schema() -> Value {
    json!({"type": "object", "properties": {"title": {"type": "string"}, "rows": {"type": "array", "items": {"type": "object", "properties": {
        "name": {"type": "string"}, "price": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}}}}}})
}

#[test]
fn many_rows() {
    let count = 2_500 * soak();
    let table = |n: usize| {
        let body: Vec<String> =
            (0..n).map(|n| format!("<tr><td>Thing {n}</td><td>${n}.50</td></tr>")).collect();
        format!("<table><tr><th>Name</th><th>Price</th></tr>{}</table>", body.concat())
    };
    let found = assert_linear("rows", count / 2, table, |html| fill_page(&rows_schema(), html));
    let rows = found.value["rows"].as_array().unwrap();
    // All of them, or as many as the limit allows and a note that some are missing.
    assert!(rows.len() == count || (found.cut && rows.len() >= 20_000), "{} of {count}", rows.len());
    assert_eq!(rows[2_321], json!({"name": "Thing 2321", "price": 2321.5}));
}

#[test]
fn a_thousand_fields() {
    let fields: Map<String, Value> =
        (0..1_000).map(|n| (format!("field{n} price name"), json!({"type": "string"}))).collect();
    let list = |n: usize| {
        let body: Vec<String> = (0..n)
            .map(|n| format!("<li class='item price name field{n}'>Field{n} price name: value {n}</li>"))
            .collect();
        format!("<ul>{}</ul>", body.concat())
    };
    let schema = json!({"type": "object", "properties": fields.clone(), "additionalProperties": false});
    let found = assert_linear("fields of an object", 150, list, |html| fill_page(&schema, html));
    assert!(found.value["field7 price name"].as_str().is_some());
    let rows = json!({"type": "array", "items": {"type": "object", "properties": fields}});
    assert_linear("fields of rows", 150, list, |html| fill_page(&rows, html));
}

/// Each cell reaches into all later rows, so every row has the most columns there can be.
#[test]
fn cells_that_span_everything() {
    let table = |n: usize| {
        let row = "<tr><td colspan=9999 rowspan=9999>Price</td><td>3</td></tr>";
        format!("<table>{}</table>", row.repeat(n))
    };
    assert_linear("spanning cells", 100, table, |html| fill_page(&rows_schema(), html));
}

#[test]
fn pages_made_to_be_slow() {
    let thing = r##"{"@id":"#a","name":"x","offers":{"@id":"#a"},"isPartOf":{"@id":"#a"}},"##;
    let pages: [(usize, &str, &str, &str); 11] = [
        // Deeper than the parser lets elements nest.
        (600 * soak(), "", "<div class=name>", "Price: $3"),
        (300, "", "<table><tr><td>", "x"),
        (1_500 * soak(), "", "<span class='price name'>$3</span>", ""),
        (300 * soak(), "", "<h2>Name</h2><p>Price: 3</p>", ""),
        (1_500 * soak(), "<p>", "price: name: ", "</p>"),
        (1_250 * soak(), "<p>", "a@", "</p>"),
        (1_250 * soak(), "<p>Price: ", "1,", "</p>"),
        (300 * soak(), "<ul>", "<li><ul><li>name</li></ul></li>", "</ul>"),
        (300 * soak(), "<dl>", "<dt>Price</dt><dd>3</dd>", "</dl>"),
        (150, "<script type=application/ld+json>{\"@graph\":[", thing, "{}]}</script>"),
        (150_000 * soak(), "<p class=price>", "x", "</p>"),
    ];
    for (n, before, piece, after) in pages {
        let html = |n: usize| format!("{before}{}{after}", piece.repeat(n));
        assert_linear(piece, n, html, |html| fill_page(&rows_schema(), html));
    }
}

#[test]
fn anything_can_be_filled_from() {
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
        fill_page(&schema, html);
    }
}

/// Pages of one site are compared with each other, but no page with all others.
#[test]
fn a_site_of_many_pages() {
    let schema = Schema::parse(&rows_schema()).unwrap();
    let pages = |n: usize| -> Vec<(String, Page)> {
        let read = |number: usize| {
            let lines: Vec<String> = (0..60).map(|n| format!("<p>Price: ${n}.{number}</p>")).collect();
            let html = format!("<title>T {number} at a</title><h1>T {number} at a</h1>{}", lines.concat());
            let source = PageSource {
                bytes: html.as_bytes(),
                content_type: Some("text/html"),
                ..PageSource::default()
            };
            (format!("https://a.example/{number}"), Page::parse(&source, &Limits::default()))
        };
        (0..n).map(read).collect()
    };
    let filled = assert_linear("pages of a site", 40, pages, |pages| {
        let views: Vec<PageView> =
            pages.iter().map(|(url, page)| PageView { url, page, markdown: "" }).collect();
        fill_each(&schema, "", &views)
    });
    assert_eq!(filled.len(), 80);
}
