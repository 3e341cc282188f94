//! Sites whose pages say together what each of them alone does not.

use super::tests::{object, page};
use crate::{PageView, Schema, fill_each};
use content::Page;
use serde_json::{Value, json};

/// What is found on each page, alone and with the others at hand.
fn found(schema: &Value, pages: &[(String, Page, String)]) -> (Vec<Value>, Vec<Value>) {
    let schema = Schema::parse(schema).unwrap();
    let views: Vec<PageView> =
        pages.iter().map(|(url, page, markdown)| PageView { url, page, markdown }).collect();
    let fill = |views: &[PageView]| -> Vec<Value> {
        fill_each(&schema, "", views).into_iter().map(|filled| filled.value).collect()
    };
    (views.iter().flat_map(|view| fill(std::slice::from_ref(view))).collect(), fill(&views))
}

fn film(title: &str, director: &str) -> (String, Page, String) {
    let html = format!(
        "<title>{title} Reviews, Ratings, Credits, and More at Tidefilms</title>\
         <ul class=menu><li>Films<li>Music</ul>\
         <h1>{title} Reviews, Ratings, Credits, and More at Tidefilms</h1>\
         <p>Director: {director}</p><p>A film about {director} and the sea.</p><p>© Tidefilms</p>"
    );
    page(&format!("https://www.tidefilms.example/{}", title.replace(' ', "-")), &html)
}

#[test]
fn headings_lose_the_words_that_all_of_the_site_share() {
    let schema = object(&json!({"title": {"type": "string", "description": "Title of the film"}}));
    let pages = [
        film("The Long Tide", "Ada Lovelace"),
        film("Harbour", "Grace Hopper"),
        film("A Walk in the Rain", "Mary Shaw"),
        film("Lighthouse Keepers", "Joan Clarke"),
    ];
    let (alone, together) = found(&schema, &pages);
    assert_ne!(alone[0]["title"], "The Long Tide", "one page alone cannot know: {alone:?}");
    let titles: Vec<&Value> = together.iter().map(|value| &value["title"]).collect();
    assert_eq!(titles, ["The Long Tide", "Harbour", "A Walk in the Rain", "Lighthouse Keepers"]);
}

#[test]
fn pages_of_different_sites_teach_each_other_nothing() {
    let schema = object(&json!({"title": {"type": "string"}, "director": {"type": "string"}}));
    let mut pages =
        [film("The Long Tide", "Ada Lovelace"), film("Harbour", "Grace Hopper"), film("Rain", "Mary Shaw")];
    for (number, (url, ..)) in pages.iter_mut().enumerate() {
        *url = format!("https://films{number}.example/film");
    }
    let (alone, together) = found(&schema, &pages);
    assert_eq!(alone, together);
}

#[test]
fn one_page_under_several_addresses_is_alone() {
    let schema = object(&json!({"title": {"type": "string"}, "director": {"type": "string"}}));
    let mut pages =
        [film("Harbour", "Grace Hopper"), film("Harbour", "Grace Hopper"), film("Harbour", "Grace Hopper")];
    for (number, (url, ..)) in pages.iter_mut().enumerate() {
        *url = format!("https://www.tidefilms.example/Harbour?from={number}");
    }
    let (alone, together) = found(&schema, &pages);
    assert_eq!(alone, together);
}
