//! Products and menus on pages in the shape of real ones.

use crate::compare::compare;
use crate::pages::page;
use page_data::{menu, product};
use serde_json::Value;
use testkit::labelled_set::{Tally, entries};

/// An entry's expectation, in its first line, and its page.
fn parts(body: &str) -> (Value, &str) {
    let (expected, html) = body.split_once('\n').unwrap();
    (serde_json::from_str(expected).unwrap(), html)
}

#[test]
fn products() {
    let (mut pages, mut fields) = (Tally::default(), Tally::default());
    for entry in entries(include_str!("sets/product.txt")) {
        let (expected, html) = parts(&entry.body);
        let found = product::product(&page(html, &entry.address));
        match (&found, expected.is_null()) {
            (Some(_), false) => pages.right += 1,
            (Some(_), true) => pages.wrong += 1,
            (None, false) => pages.missed += 1,
            (None, true) => {}
        }
        if expected.is_null() != found.is_none() {
            println!("{}: {found:?}", entry.name);
        }
        if let Some(found) = found {
            compare(&entry.name, &expected, &serde_json::to_value(&found).unwrap(), &mut fields);
            assert!(
                !found.title.is_empty() && found.url.starts_with("https://") && !found.variants.is_empty()
            );
        }
    }
    pages.print("product pages");
    fields.print("product fields");
    assert!(pages.precision() >= 0.97 && pages.recall() >= 0.97);
    assert!(fields.precision() >= 0.97 && fields.recall() >= 0.97);
}

#[test]
fn menus() {
    let (mut pages, mut fields) = (Tally::default(), Tally::default());
    for entry in entries(include_str!("sets/menu.txt")) {
        let (mut expected, html) = parts(&entry.body);
        if let Some(sections) = expected.get_mut("sections").and_then(Value::as_array_mut) {
            // Sections that only hold others are written down for the reader of the set.
            sections.retain(|section| section["items"].as_array().is_some_and(|items| !items.is_empty()));
        }
        let found = menu::menu(&page(html, &entry.address));
        match (found.is_menu, expected["isMenu"] == true) {
            (true, true) => pages.right += 1,
            (true, false) => pages.wrong += 1,
            (false, true) => pages.missed += 1,
            (false, false) => {}
        }
        println!("{}: {} ({})", entry.name, found.is_menu, found.confidence);
        compare(&entry.name, &expected, &serde_json::to_value(&found).unwrap(), &mut fields);
        assert!(!found.merchant.name.is_empty() && found.source_url == entry.address);
    }
    pages.print("menu pages");
    fields.print("menu fields");
    assert!(pages.precision() >= 0.97 && pages.recall() >= 0.97);
    assert!(fields.precision() >= 0.97 && fields.recall() >= 0.97);
}
