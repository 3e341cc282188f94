//! Forms of documentation pages and of labelled values, each as a small page of its own.

use super::tests::{object, one, rows};
use serde_json::json;

#[test]
fn several_terms_of_one_definition_are_one_row() {
    let schema = rows(&json!({"name": {"type": "string"}, "description": {"type": "string"}}));
    let html = "<h1>tidy</h1><h2>Options</h2><dl><dt>-s</dt><dt>--strip</dt>\
        <dd><p>Removes all lines that begin with a comment.</p></dd><dt>-c</dt><dt>--comment</dt>\
        <dd><p>Puts a comment character before each of the lines.</p></dd></dl>";
    assert_eq!(
        one(&schema, html).value["rows"],
        json!([{"name": "-s", "description": "Removes all lines that begin with a comment."},
            {"name": "-c", "description": "Puts a comment character before each of the lines."}])
    );
}

#[test]
fn lists_of_one_term_side_by_side_are_rows() {
    let schema = rows(&json!({"name": {"type": "string"}, "text": {"type": "string"}}));
    let html = "<h1>Rules</h1><section><h2>Rules of the harbour</h2><p>These are:</p>\
        <dl class=simple><dt>Free passage</dt><dd><p>Nobody may keep a boat from leaving the harbour.</p></dd></dl>\
        <dl class=simple><dt>Quiet hours</dt><dd><p>Between ten and six no engine may be run.</p></dd></dl></section>";
    assert_eq!(
        one(&schema, html).value["rows"],
        json!([{"name": "Free passage", "text": "Nobody may keep a boat from leaving the harbour."},
            {"name": "Quiet hours", "text": "Between ten and six no engine may be run."}])
    );
}

#[test]
fn a_value_beside_the_name_of_its_field_is_found() {
    let schema = object(&json!({"publisher": {"type": "string"}, "isbn": {"type": "string"},
        "publication_date": {"type": "string"}, "director": {"type": "string"}}));
    let html = "<title>Tides - Books</title><h1>Tides</h1><p>A book about tides.</p><div class=x>\
        <p><strong>Published</strong><br>03/01/2011</p><p><strong>Publisher</strong><br>Harbour Press</p>\
        <p><strong>ISBN</strong><br>9781426206450</p><p><b>Director:</b> <a href=/p/1>Ada Lovelace</a></p></div>";
    assert_eq!(
        one(&schema, html).value,
        json!({"publisher": "Harbour Press", "isbn": "9781426206450", "publication_date": "03/01/2011",
            "director": "Ada Lovelace"})
    );
}

#[test]
fn words_around_a_value_and_links_to_more_are_no_part_of_it() {
    let schema = object(&json!({"price": {"type": "string"}, "author": {"type": "string"}}));
    let html = "<title>Skiff - Boats</title><h1>Skiff</h1><table><tr><td>Price:</td><td>$61,200 | <a href=/d>More details</a></td></tr>\
        <tr><td>Author:</td><td>by Ada Lovelace</td></tr></table>";
    assert_eq!(one(&schema, html).value, json!({"price": "$61,200", "author": "Ada Lovelace"}));
    let schema = object(&json!({"warranty": {"type": "string"}}));
    let html = "<title>Skiff - Boats</title><h1>Skiff</h1><table><tr><td>Warranty:</td><td><a href=/w>(more)</a></td></tr></table>";
    let found = one(&schema, html);
    assert_eq!((found.value, found.missing), (json!({}), vec!["/warranty".to_owned()]));
}

#[test]
fn cells_side_by_side_are_rows_of_a_table() {
    let schema = rows(
        &json!({"method": {"type": "string"}, "type": {"type": "string"}, "description": {"type": "string"}}),
    );
    let cell = |class: &str, text: &str| format!("<div class='col-{class} row'><code>{text}</code></div>");
    let row = |kind: &str, name: &str, text: &str| {
        [cell("first", kind), cell("second", name), cell("last", text)].concat()
    };
    let html = format!(
        "<h1>Class Tide</h1><h2>Method summary</h2><div class='summary'><div class='table-header col-first'>Type</div>\
         <div class='table-header col-second'>Method</div><div class='table-header col-last'>Description</div>{}{}{}</div>",
        row("int", "height()", "The height of the tide in metres."),
        row("boolean", "isHigh()", "Whether the tide is high."),
        row("String", "toString()", "The tide in words.")
    );
    assert_eq!(
        one(&schema, &html).value["rows"],
        json!([{"method": "height()", "type": "int", "description": "The height of the tide in metres."},
            {"method": "isHigh()", "type": "boolean", "description": "Whether the tide is high."},
            {"method": "toString()", "type": "String", "description": "The tide in words."}])
    );
}
