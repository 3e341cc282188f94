//! The ranking, one signal at a time.

use crate::{DAY, Fixture, NOW, page, query};
use index::{Document, Query, address_number};

/// Filler words.
const FILL: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen";

/// Checks that the better page ranks first, whichever was indexed first.
#[track_caller]
fn first(query: &Query, better: &Document, worse: &Document) {
    for pages in [[better.clone(), worse.clone()], [worse.clone(), better.clone()]] {
        let titles = Fixture::with_pages(pages).titles(query);
        assert_eq!(titles.first(), Some(&better.title), "{titles:?}");
    }
}

fn a(title: &str, body: &str) -> Document {
    page("https://a.example/x", title, body)
}

fn b(title: &str, body: &str) -> Document {
    page("https://b.example/y", title, body)
}

#[test]
fn a_word_in_the_title_beats_one_in_the_body() {
    first(&query("gannet"), &a("The gannet", FILL), &b("Birds", &format!("{FILL} gannet {FILL}")));
}

#[test]
fn words_side_by_side_beat_words_apart() {
    let near = a("near", &format!("{FILL} sea bird {FILL}"));
    let far = b("far", &format!("bird {FILL} {FILL} sea"));
    first(&query("sea bird"), &near, &far);
}

#[test]
fn all_words_beat_one_word_often() {
    let all = a("all", &format!("{FILL} gannet {FILL} plunge {FILL} dive"));
    let often = b("often", &"gannet ".repeat(50));
    first(&query("gannet plunge dive"), &all, &often);
}

#[test]
fn the_page_with_exactly_this_title_comes_first() {
    let exact = a("Sea birds", &format!("{FILL} sea birds"));
    let longer = b("Sea birds and other animals of the northern coast", &format!("{FILL} sea birds"));
    first(&query("sea birds"), &exact, &longer);
}

#[test]
fn a_named_site_comes_first_and_its_front_page_before_others() {
    let front = page("https://docs.python-requests.org/", "front", "HTTP for humans.");
    let talk = page("https://blog.example/post", "talk", "Where are the docs of python requests? I asked.");
    first(&query("python requests docs"), &front, &talk);
    let overflow = page("https://stackoverflow.com/", "site", "Questions and answers.");
    let stack = page("https://memory.example/", "memory", "A stack grows down. An overflow is an error.");
    first(&query("stack overflow"), &overflow, &stack);
    let deep = page("https://docs.python-requests.org/api/deep/down", "deep", "HTTP for humans.");
    first(&query("python requests docs"), &front, &deep);
}

#[test]
fn newer_pages_come_first_most_of_all_when_news_are_asked_for() {
    let old =
        Document { published: Some(NOW - 900 * DAY), ..a("old", "Rust release notes and news, in full.") };
    let new =
        Document { published: Some(NOW - 2 * DAY), ..b("new", "Rust release notes and news, in full.") };
    first(&query("rust release"), &new, &old);
    // A better text is worth more than a newer one, but not for news.
    let better = Document {
        published: Some(NOW - 900 * DAY),
        ..a("better", "Rust news. Rust release news for Rust.")
    };
    let newer = Document { published: Some(NOW - DAY), ..b("newer", &format!("Rust {FILL} news")) };
    first(&query("rust"), &better, &newer);
    first(&query("latest rust news"), &newer, &better);
    let named = Document { published: Some(NOW - 700 * DAY), ..a("2024", "Election results, in full.") };
    let other = Document { published: Some(NOW - 300 * DAY), ..b("2025", "Election results, in full.") };
    first(&query("election results 2024"), &named, &other);
}

#[test]
fn pages_that_others_link_to_come_first() {
    let text = "The gannet is a bird of the sea.";
    let target = address_number("https://a.example/x").unwrap();
    let mut pages = vec![b("unlinked", text), a("linked", text)];
    for number in 0..5 {
        let url = format!("https://{number}.example/");
        pages.push(Document { links: vec![target], ..page(&url, "links", "See there.") });
    }
    assert_eq!(Fixture::with_pages(pages).ask("gannet"), ["linked", "unlinked"]);
}

#[test]
fn valued_pages_rank_higher() {
    let text = "The gannet is a bird of the sea.";
    let (one, other) = (a("one", text), b("other", text));
    let valuing = |name: &str| Query { valued: vec![(name.into(), 1.0)], ..query("gannet") };
    first(&valuing("a.example"), &one, &other);
    first(&valuing("https://b.example/y"), &other, &one);
}

/// Eight pages of one host, and one of another host.
fn pages_of_two_hosts(small: &str) -> Fixture {
    let mut pages: Vec<Document> = (0..8)
        .map(|number| {
            let text = format!("Gannet number {number} of the gannet colony. {FILL}");
            page(&format!("https://big.example/{number}"), "big", &text)
        })
        .collect();
    pages.push(page("https://small.example/0", "small", small));
    Fixture::with_pages(pages)
}

#[test]
fn one_host_does_not_fill_the_results_unless_it_is_asked_for() {
    let fixture = pages_of_two_hosts(&format!("Gannet number 9 of the gannet colony by the sea. {FILL}"));
    let place = |query: &Query| fixture.titles(query).iter().position(|title| title == "small");
    assert_eq!(place(&query("gannet colony")), Some(3));
    let site = Query { sites: vec!["example".into()], ..query("gannet colony") };
    assert_eq!(place(&site), Some(8));
}

#[test]
fn a_poorer_page_of_another_host_does_not_displace_what_fits_better() {
    let fixture = pages_of_two_hosts(&format!("{FILL} {FILL} A colony of ants. {FILL} {FILL}"));
    let titles = fixture.titles(&query("gannet colony"));
    assert_eq!(titles.iter().position(|title| title == "small"), Some(8), "{titles:?}");
}

#[test]
fn typing_errors_are_corrected() {
    let fixture =
        Fixture::with_pages([a("gannets", "The gannet dives from a great height."), b("other", FILL)]);
    for text in ["gannte", "ganet dives", "the gannnet"] {
        assert_eq!(fixture.ask(text).first().map(String::as_str), Some("gannets"), "{text}");
    }
    assert!(fixture.ask("zzzzqqqq").is_empty());
}

#[test]
fn common_words_alone_still_find_something() {
    let fixture = Fixture::with_pages([
        a("hamlet", "To be, or not to be, that is the question."),
        b("other", "It is what it is."),
    ]);
    assert_eq!(fixture.ask("to be or not to be")[0], "hamlet");
}

#[test]
fn passages_are_verbatim() {
    let body = format!("{FILL}. {FILL}.\nThe gannet reaches 100 km/h when it dives. It eats fish.\n{FILL}.");
    let fixture = Fixture::with_pages([a("gannet", &body)]);
    let hit = &fixture.search(&Query { passages: 2, ..query("how fast does a gannet dive") }).hits[0];
    assert!(hit.passages[0].starts_with("The gannet reaches 100 km/h when it dives."), "{:?}", hit.passages);
    assert!(hit.passages.iter().all(|passage| body.contains(passage.as_str()) && passage.len() <= 330));
    assert!(fixture.search(&query("gannet")).hits[0].passages.is_empty());
}
