//! Redaction, measured per kind on annotated texts, and what it leaves of the markdown around.

use std::collections::BTreeMap;
use testkit::labelled_set::{Tally, entries};
use text::redact::{Entity, EntitySet, RedactMode, RedactOptions, RedactStyle, Span, find, redact};

/// A text without its marks (`⟦KIND|text⟧`), and where they were.
fn unmark(marked: &str) -> (String, Vec<Span>) {
    let (mut text, mut spans) = (String::new(), Vec::new());
    let mut rest = marked;
    while let Some((before, after)) = rest.split_once('⟦') {
        text.push_str(before);
        let (mark, after) = after.split_once('⟧').unwrap();
        let (kind, value) = mark.split_once('|').unwrap();
        let entity = *Entity::ALL.iter().find(|entity| entity.name() == kind).unwrap();
        spans.push(Span { start: text.len(), end: text.len() + value.len(), entity });
        text.push_str(value);
        rest = after;
    }
    text.push_str(rest);
    (text, spans)
}

fn measure(set: &str) -> BTreeMap<Entity, Tally> {
    let mut tallies: BTreeMap<Entity, Tally> = BTreeMap::new();
    for entry in entries(set) {
        let (text, expected) = unmark(&entry.body);
        let found = find(&text, RedactMode::Accurate, EntitySet::all());
        // Names and places have no sharp ends; the rest must be found to the letter.
        let meets = |one: &Span, other: &Span| {
            one.entity == other.entity
                && match one.entity {
                    Entity::Person | Entity::Location => one.start < other.end && other.start < one.end,
                    _ => one == other,
                }
        };
        for span in &expected {
            let tally = tallies.entry(span.entity).or_default();
            if found.iter().any(|other| meets(span, other)) {
                tally.right += 1;
            } else {
                println!("{}: missed {} {:?}", entry.name, span.entity.name(), &text[span.start..span.end]);
                tally.missed += 1;
            }
        }
        for span in &found {
            if !expected.iter().any(|other| meets(span, other)) {
                println!("{}: wrong {} {:?}", entry.name, span.entity.name(), &text[span.start..span.end]);
                tallies.entry(span.entity).or_default().wrong += 1;
            }
        }
    }
    for (entity, tally) in &tallies {
        tally.print(entity.name());
    }
    tallies
}

fn floor(entity: Entity) -> f64 {
    match entity {
        Entity::Person | Entity::Location => 0.85,
        _ => 0.97,
    }
}

#[test]
fn the_set_it_was_written_with() {
    for (entity, tally) in measure(include_str!("sets/redact.txt")) {
        assert!(tally.precision() >= floor(entity) && tally.recall() >= floor(entity), "{}", entity.name());
    }
}

#[test]
fn a_set_it_never_saw() {
    for (entity, tally) in measure(include_str!("sets/redact-held-out.txt")) {
        assert!(
            tally.precision() >= floor(entity) - 0.1 && tally.recall() >= floor(entity) - 0.1,
            "{}",
            entity.name()
        );
    }
}

fn styled(text: &str, style: RedactStyle) -> String {
    redact(text, &RedactOptions { style, ..RedactOptions::default() }).text
}

#[test]
fn the_markdown_around_stays_whole() {
    let text = "Mail [a@b.org](mailto:a@b.org) or <c@d.org>.\n\n| Who | Mail |\n| --- | --- |\n| x | e@f.org |\n\n**g@h.org**\n\n    \n\ni@j.org\n";
    assert_eq!(
        styled(text, RedactStyle::Tag),
        "Mail [<EMAIL>](mailto:<EMAIL>) or <EMAIL>.\n\n| Who | Mail |\n| --- | --- |\n| x | <EMAIL> |\n\n**<EMAIL>**\n\n    \n\n<EMAIL>\n"
    );
    assert_eq!(
        styled("See a@b.org now.\n\na@b.org\n\n**a@b.org** `a@b.org`\n", RedactStyle::Mask),
        "See **** now.\n\n\\*\\*\\*\\*\n\n**\\*\\*\\*\\*** `****`\n"
    );
    assert_eq!(
        styled("Write to a@b.org, please. Or a@b.org.\n- a@b.org\n", RedactStyle::Remove),
        "Write to, please. Or.\n- \n"
    );
    assert_eq!(
        styled("[a@b.org](mailto:a@b.org) is it. Ask a@b.org now", RedactStyle::Remove),
        "is it. Ask now"
    );
}

#[test]
fn only_what_was_asked_for() {
    let text = "a@b.org, +49 30 901820, 4111 1111 1111 1111";
    let options =
        RedactOptions { entities: EntitySet::from_iter([Entity::Phone]), ..RedactOptions::default() };
    let redacted = redact(text, &options);
    assert_eq!(redacted.text, "a@b.org, <PHONE>, 4111 1111 1111 1111");
    assert_eq!(redacted.counts, BTreeMap::from([(Entity::Phone, 1)]));
    assert_eq!(redact("", &RedactOptions::default()).text, "");
}

#[test]
fn modes_differ_as_said() {
    let count = |text: &str, mode| find(text, mode, EntitySet::all()).len();
    // Two groups of digits without a word before them: only the eager mode takes them.
    assert_eq!(count("see 555 01234 there", RedactMode::Accurate), 0);
    assert_eq!(count("see 555 01234 there", RedactMode::Aggressive), 1);
    // Lists and cues are not for the fast mode; forms are.
    assert_eq!(count("Anna Schmidt lives in Berlin", RedactMode::Fast), 0);
    assert_eq!(count("Anna Schmidt lives in Berlin", RedactMode::Accurate), 2);
    assert_eq!(count("a@b.org +4930901820 4111111111111111", RedactMode::Fast), 3);
}
