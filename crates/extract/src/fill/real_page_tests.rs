//! Forms of real pages that once gave wrong values, each as a small page of its own.

use super::tests::{object, one, rows};
use serde_json::json;

#[test]
fn permalink_signs_are_no_part_of_values() {
    let schema = rows(&json!({"name": {"type": "string"}, "date": {"type": "string"}}));
    let html = "<h1>Changes</h1>\
        <h2>Version 5.4.0<a class=headerlink href=#v540>¶</a></h2><p>Date: 3 May 2026</p>\
        <h2>Version 5.3.1<a class=headerlink href=#v531>¶</a></h2><p>Date: 1 April 2026</p>\
        <h2>Version 5.3.0<a class=headerlink href=#v530>#</a></h2><p>Date: 9 March 2026</p>";
    let found = one(&schema, html).value.to_string();
    assert!(found.contains("5.4.0"), "{found}");
    assert!(!found.contains(['¶', '#']), "{found}");
    let schema = object(&json!({"name": {"type": "string"}}));
    let found =
        one(&schema, "<title>is_isolate</title><h1>is_\u{200b}isolate<a href=#x>#</a></h1><p>Tells.</p>");
    assert_eq!(found.value, json!({"name": "is_isolate"}));
}

#[test]
fn lists_of_mail_and_telephone_links_are_contacts() {
    let schema = object(&json!({"email": {"type": "string"}, "phone": {"type": "string"}}));
    let html = "<title>Contact us - Sails</title><h1>Contact us</h1><ul class=icon-list>\
        <li><a href='mailto:info@sails.example'><span>info@sails.example</span></a></li>\
        <li><a href='mailto:sales@sails.example'><span>sales@sails.example</span></a></li>\
        <li><a href='tel:+61%203%209596%208314'><span>Call the shop</span></a></li></ul>";
    let found = one(&schema, html);
    assert_eq!(found.value, json!({"email": "info@sails.example", "phone": "+61 3 9596 8314"}));
}

#[test]
fn a_table_without_header_cells_is_read_by_what_its_columns_hold() {
    let schema = rows(&json!({"year": {"type": "integer"}, "recipient": {"type": "string"}}));
    let html = "<h1>Award</h1><table><tr><td>2024</td><td>Ada Lovelace</td></tr>\
        <tr><td>2023</td><td>Grace Hopper</td></tr><tr><td>2022</td><td>Mary Shaw</td></tr></table>";
    let found = one(&schema, html);
    assert_eq!(
        found.value["rows"],
        json!([{"year": 2024, "recipient": "Ada Lovelace"}, {"year": 2023, "recipient": "Grace Hopper"},
            {"year": 2022, "recipient": "Mary Shaw"}])
    );
}

#[test]
fn the_day_of_a_date_is_no_number() {
    let schema = rows(&json!({"topic": {"type": "string"}, "replies": {"type": "integer"}}));
    let html = "<table><tr><th>Topic</th><th>Last reply</th></tr>\
        <tr><td>Oars</td><td>Sam 18 Fév 2017</td></tr><tr><td>Masts</td><td>Dim 12 Mars 2017</td></tr></table>";
    let found = one(&schema, html);
    assert!(
        !found.value.to_string().contains("18") && !found.value.to_string().contains("12"),
        "{}",
        found.value
    );
}

#[test]
fn the_struck_price_is_the_original_one() {
    let schema = object(&json!({"price": {"type": "number"}, "original_price": {"type": "number"}}));
    let html = "<title>Foil</title><h1>Foil</h1><p class=price><del>$120.00</del> <ins>$99.00</ins></p>";
    let found = one(&schema, html);
    assert_eq!(found.value["original_price"], json!(120), "{}", found.value);
}

#[test]
fn one_text_serves_one_field() {
    let schema = rows(&json!({"title": {"type": "string"}, "venue": {"type": "string"}}));
    let card =
        |title: &str| format!("<div class=card><h3><a href=/e>{title}</a></h3><p>Dec 3, 2025</p></div>");
    let html =
        format!("<h1>Events</h1>{}{}{}", card("Talks at noon"), card("Evening walk"), card("Reading group"));
    let found = one(&schema, &html);
    assert_eq!(
        found.value["rows"],
        json!([{"title": "Talks at noon"}, {"title": "Evening walk"}, {"title": "Reading group"}])
    );
    assert!(found.missing.contains(&"/rows/*/venue".to_owned()));
}

#[test]
fn text_of_another_kind_is_no_value_and_is_named() {
    let schema = object(
        &json!({"date": {"type": "string"}, "new_version": {"type": "string"}, "price": {"type": "string"}}),
    );
    let html = "<title>Notes</title><h1>Notes</h1><dl><dt>Date</dt><dd>Fixed a crash when the list of files is empty.</dd>\
        <dt>Price</dt><dd>Features</dd></dl><h2>New version</h2><p>Building for Release</p>";
    let found = one(&schema, html);
    assert_eq!(found.value, json!({}));
    assert_eq!(found.missing, ["/date", "/new_version", "/price"]);
}

#[test]
fn the_subject_is_what_the_title_repeats_not_the_name_of_the_site() {
    let schema = object(&json!({"title": {"type": "string", "description": "Title of the thread"}}));
    let html = "<title>Battery swap on the old model - Archived Forum</title><div id=head><h1>Archived Forum</h1></div>\
        <ul class=nav><li><a href=/>Home</a></li><li><a href=/f>Forums</a></li></ul>\
        <h2>Battery swap on the old model</h2><div class=post><p>Has anyone changed the battery? Mine lasts an hour.</p></div>\
        <div class=post><p>Yes, it takes ten minutes and a small screwdriver.</p></div>";
    let found = one(&schema, html);
    assert_eq!(found.value, json!({"title": "Battery swap on the old model"}));
}

#[test]
fn the_date_of_publication_comes_before_that_of_the_last_change() {
    let schema = object(&json!({"date": {"type": "string", "format": "date"}}));
    let html = r#"<title>Ideas</title><script type="application/ld+json">{"@type":"Article","headline":"Ideas",
        "dateModified":"2026-08-02","datePublished":"2023-12-14"}</script><h1>Ideas</h1><p>Some.</p>"#;
    assert_eq!(one(&schema, html).value, json!({"date": "2023-12-14"}));
}

#[test]
fn an_account_is_not_an_author() {
    let schema = object(&json!({"author": {"type": "string"}}));
    let html = "<title>News</title><meta name='twitter:creator' content='@oarnews'><h1>News</h1><p>Some news of oars.</p>";
    assert_eq!(one(&schema, html).value, json!({}));
}

#[test]
fn the_id_of_a_heading_names_its_section() {
    let schema = object(
        &json!({"title": {"type": "string"}, "ingredients": {"type": "array", "items": {"type": "string"}}}),
    );
    let html = "<title>Couscous salad</title><h1 class=post-title>Couscous salad</h1>\
        <h2 id=ingredients class=heading-2>Ingredients for four people</h2>\
        <ul><li>200g couscous</li><li>250g tomatoes</li><li>a cucumber</li></ul>\
        <h2 id=method><span id=the-method>Method</span></h2><p>Mix it all, and let it stand for an hour.</p>";
    let found = one(&schema, html);
    assert_eq!(
        found.value,
        json!({"title": "Couscous salad", "ingredients": ["200g couscous", "250g tomatoes", "a cucumber"]})
    );
    let schema = object(&json!({"venue": {"type": "string"}}));
    let found = one(&schema, "<title>Venue</title><h1 id=venue>Venue</h1><p>Ask at the desk.</p>");
    assert_eq!(found.value, json!({}), "the heading is no venue");
}

#[test]
fn a_title_with_a_number_is_no_street() {
    let schema = object(&json!({"restaurant": {"type": "string"}, "street": {"type": "string"}}));
    let html = "<title>Magellan</title><h1>Magellan</h1><p>We ate well.</p><div class=widget>\
        <div class=widget-title>Top 20 Keywords</div><a href=/t/curry>Curry</a> <a href=/t/salad>Salad</a></div>";
    assert!(one(&schema, html).value.get("street").is_none());
    let html = html.replace("<p>We", "<p>Sundgau Road 110, 79110 Freiburg</p><p>We");
    assert!(one(&schema, &html).value["street"].as_str().unwrap().contains("Sundgau Road 110"));
}

#[test]
fn one_number_serves_one_field() {
    let schema = object(&json!({"telephone": {"type": "string"}, "mobile": {"type": "string"}}));
    let page = |lines: &str| {
        format!(
            "<title>Contact</title><h1>Contact</h1><div><div>Call us on</div><div>{lines}<br>From 09:00</div></div>"
        )
    };
    let both = one(&schema, &page("Telephone: 0228404252<br>Mobile: 01285022021"));
    assert_eq!(both.value, json!({"telephone": "0228404252", "mobile": "01285022021"}));
    let only = one(&schema, &page("Telephone: 0228404252"));
    assert_eq!(only.value, json!({"telephone": "0228404252"}));
    let fees = object(&json!({"fee": {"type": "string"}, "party_fee": {"type": "string"}}));
    let html = "<title>Meeting</title><h1>Meeting</h1><ul><li>Date: 17 July</li><li>Fee: 5,000 EUR</li><li>Hall: East</li></ul>";
    assert_eq!(one(&fees, html).value, json!({"fee": "5,000 EUR"}));
    // Where nothing else is wanted, a mobile number is a telephone number.
    let schema = object(&json!({"phone": {"type": "string"}}));
    assert_eq!(one(&schema, &page("Mobile: 01285022021")).value, json!({"phone": "01285022021"}));
}

#[test]
fn a_link_around_a_card_is_named_by_one_of_its_blocks() {
    let schema = rows(&json!({"title": {"type": "string"}, "date": {"type": "string"}}));
    let card = |href: &str, date: &str, title: &str| {
        format!("<a href=/{href}><div><div></div></div><div>{date}</div><div>{title}</div></a>")
    };
    let html = format!(
        "<title>News</title><div>{}{}{}</div>",
        card("one", "3 نوفمبر، 2017", "Volunteers are wanted in Asyut"),
        card("two", "5 أبريل، 2015", "A day of work in Minya"),
        card("three", "6 مارس، 2015", "A day of work in Asyut")
    );
    let found = one(&schema, &html).value["rows"].clone();
    assert_eq!(
        found[0],
        json!({"title": "Volunteers are wanted in Asyut", "date": "3 نوفمبر، 2017"}),
        "{found}"
    );
    assert_eq!(found[2], json!({"title": "A day of work in Asyut", "date": "6 مارس، 2015"}), "{found}");
}
