//! Operators and filters, each alone.

use crate::{DAY, Fixture, NOW, page, query};
use index::{Document, Filter, Query};

fn fixture() -> Fixture {
    let docs = page(
        "https://docs.rs/tokio/latest/",
        "Tokio documentation",
        "A runtime for writing reliable applications.",
    );
    let manual = page(
        "https://www.example.org/files/manual.pdf",
        "Manual of the runtime",
        "How the runtime is used, in print.",
    );
    let blog = Document {
        published: Some(NOW - 3 * DAY),
        kind: Some("news".into()),
        ..page(
            "https://blog.example.org/runtime-news",
            "News of the runtime",
            "The runtime got faster. Much faster.",
        )
    };
    let issue = Document {
        kind: Some("issue".into()),
        attributes: [("repo", "Tokio-rs/tokio"), ("stars", "25000"), ("topic", "async\nruntime")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..page(
            "https://github.com/tokio-rs/tokio/issues/1",
            "Runtime panics",
            "The runtime panics when it is dropped.",
        )
    };
    Fixture::with_pages([docs, manual, blog, issue])
}

fn found(filter: impl FnOnce(&mut Query)) -> Vec<String> {
    let mut query = query("runtime");
    filter(&mut query);
    let mut titles = fixture().titles(&query);
    titles.sort();
    titles
}

fn list(values: &[&str]) -> Vec<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}

const DOCS: &str = "Tokio documentation";
const MANUAL: &str = "Manual of the runtime";
const NEWS: &str = "News of the runtime";
const ISSUE: &str = "Runtime panics";

#[test]
fn without_filters_all_are_found() {
    assert_eq!(found(|_| ()), [MANUAL, NEWS, ISSUE, DOCS]);
}

#[test]
fn sites_hold_all_below_them() {
    assert_eq!(found(|query| query.sites = list(&["example.org"])), [MANUAL, NEWS]);
    assert_eq!(found(|query| query.sites = list(&["blog.example.org", "docs.rs"])), [NEWS, DOCS]);
    assert_eq!(found(|query| query.sites = list(&["docs.rs/tokio"])), [DOCS]);
    assert_eq!(found(|query| query.sites = list(&["docs.rs/serde"])), [""; 0]);
    assert_eq!(found(|query| query.sites = list(&["ample.org"])), [""; 0]);
    assert_eq!(
        found(|query| query.without_sites = list(&["www.example.org", "github.com/tokio-rs"])),
        [DOCS]
    );
}

#[test]
fn phrases_are_found_as_they_are_written() {
    assert_eq!(found(|query| query.phrases = list(&["Runtime got faster"])), [NEWS]);
    assert_eq!(found(|query| query.phrases = list(&["got runtime"])), [""; 0]);
    assert_eq!(found(|query| query.phrases = list(&["reliable application"])), [""; 0]);
    assert_eq!(
        found(|query| {
            query.text.clear();
            query.phrases = list(&["runtime panics"]);
        }),
        [ISSUE]
    );
}

#[test]
fn words_can_be_left_out() {
    assert_eq!(found(|query| query.without = list(&["faster", "print"])), [ISSUE, DOCS]);
    assert_eq!(found(|query| query.without = list(&["much faster", "..."])), [MANUAL, ISSUE, DOCS]);
}

#[test]
fn titles_and_addresses_can_be_asked_for() {
    assert_eq!(found(|query| query.in_title = list(&["runtime"])), [MANUAL, NEWS, ISSUE]);
    assert_eq!(found(|query| query.in_url = list(&["tokio"])), [ISSUE, DOCS]);
    assert_eq!(found(|query| query.in_url = list(&["github"])), [ISSUE]);
    assert_eq!(found(|query| query.file_types = list(&["PDF"])), [MANUAL]);
    assert_eq!(found(|query| query.file_types = list(&["html"])), [NEWS, ISSUE, DOCS]);
}

#[test]
fn time_bounds_what_is_found() {
    assert_eq!(found(|query| query.since = Some(NOW - 7 * DAY)), [NEWS]);
    assert_eq!(found(|query| query.until = Some(NOW - 7 * DAY)), [MANUAL, ISSUE, DOCS]);
    let newest = Query { newest_first: true, ..query("runtime") };
    assert_eq!(fixture().titles(&newest)[0], NEWS);
}

#[test]
fn kinds_and_attributes_are_compared_without_case() {
    assert_eq!(found(|query| query.kinds = list(&["Issue", "pull_request"])), [ISSUE]);
    let is = |name: &str, values: &[&str]| vec![Filter::Is(name.into(), list(values))];
    assert_eq!(found(|query| query.filters = is("repo", &["tokio-rs/Tokio"])), [ISSUE]);
    assert_eq!(found(|query| query.filters = is("topic", &["other", "ASYNC"])), [ISSUE]);
    assert_eq!(found(|query| query.filters = is("topic", &["async\nruntime"])), [""; 0]);
    let stars =
        |least, most| vec![Filter::AtLeast("stars".into(), least), Filter::AtMost("stars".into(), most)];
    assert_eq!(found(|query| query.filters = stars(1_000.0, 25_000.0)), [ISSUE]);
    assert_eq!(found(|query| query.filters = stars(25_000.5, 1e9)), [""; 0]);
    assert_eq!(found(|query| query.filters = vec![Filter::AtMost("forks".into(), 1e9)]), [""; 0]);
}

#[test]
fn without_words_the_newest_come_first() {
    let pages = (0..300).map(|day| Document {
        published: Some(NOW - (day * 7 % 300) * DAY),
        ..page(&format!("https://a.example/{day}"), &format!("{} days", day * 7 % 300), "gannet")
    });
    let list = Query { text: String::new(), sites: list(&["a.example"]), limit: 3, ..query("") };
    assert_eq!(Fixture::with_pages(pages).titles(&list), ["0 days", "1 days", "2 days"]);
}

#[test]
fn filters_alone_choose_too() {
    assert_eq!(
        found(|query| {
            query.text.clear();
            query.sites = list(&["docs.rs"]);
        }),
        [DOCS]
    );
    assert_eq!(found(|query| query.text.clear()), [""; 0]);
}
