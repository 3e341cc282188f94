//! How a person names an element: "the Buy button", "the second Details link", "the Delete button in the row of A-101".
//! A description may be read in several ways; which of them the page knows is decided when it is looked for.

use super::nouns::{CONTAINERS, ElementKind, KINDS, kind_of, kind_of_word};
use super::tokens::Phrase;

/// Which of several elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Amount {
    /// The only one that fits.
    One,
    /// Whichever: "a button".
    Any,
    /// Counted from one.
    Nth(usize),
    Last,
    All,
    /// So many, from the first on.
    Some(usize),
    Both,
}

/// Where an element is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Place {
    /// Inside of an element with this role.
    Role(&'static [&'static str]),
    /// In the same row, card or section as this text, and no other element like it.
    BesideText(String),
}

/// One way to read a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Reading {
    /// Empty when only the kind was given.
    pub(in super::super) name: String,
    /// The name was in quotes.
    pub(in super::super) is_quoted: bool,
    pub(in super::super) kind: Option<ElementKind>,
    pub(in super::super) amount: Amount,
    pub(in super::super) place: Option<Place>,
}

/// What a person wrote for an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Description {
    /// As it was written, without the article.
    pub(in super::super) phrase: String,
    /// "it": the element that was named last.
    pub(in super::super) is_pronoun: bool,
    /// The more of the words are the name, the earlier.
    pub(in super::super) readings: Vec<Reading>,
}

impl Description {
    /// The description of an element by just its name.
    pub(in super::super) fn of_name(name: &str) -> Self {
        let reading =
            Reading { name: name.to_owned(), is_quoted: true, kind: None, amount: Amount::One, place: None };
        Self { phrase: name.to_owned(), is_pronoun: false, readings: vec![reading] }
    }
}

const LABELLED: &[&str] = &[
    "labeled",
    "labelled",
    "named",
    "called",
    "titled",
    "with the label",
    "with the text",
    "with the name",
    "with the title",
    "with label",
    "with text",
    "that says",
    "saying",
];
/// Between an element and where it is.
const PREPOSITIONS: &[&str] = &[
    "in the same row as",
    "next to",
    "belonging to",
    "inside of",
    "of",
    "for",
    "in",
    "inside",
    "on",
    "under",
    "below",
    "by",
    "from",
    "within",
    "at",
    "beside",
];
/// Nouns and small words before the name of a place.
const PLACE_WORDS: &[&str] = &[
    "the",
    "a",
    "an",
    "row",
    "line",
    "entry",
    "item",
    "product",
    "card",
    "post",
    "posts",
    "user",
    "person",
    "section",
    "article",
    "message",
    "email",
    "group",
    "box",
    "column",
    "account",
    "of",
    "for",
    "with",
    "by",
    "from",
    "containing",
    "named",
    "called",
    "labeled",
    "labelled",
    "titled",
    "all",
    "every",
    "each",
    "that",
    "contains",
    "says",
    "heading",
];
const FILLERS: &[&str] = &[
    "below",
    "above",
    "here",
    "again",
    "on the page",
    "on this page",
    "of the page",
    "of this page",
    "on the screen",
    "please",
    "now",
];
const ORDINALS: &[&str] =
    &["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const NUMBERS: &[&str] = &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const MAX_READINGS: usize = 12;

/// A number as digits or as a word.
pub(super) fn parse_count(word: &str) -> Option<usize> {
    if let Some(at) = NUMBERS.iter().position(|number| *number == word) {
        return Some(at + 1);
    }
    word.parse().ok().filter(|number| (1..=1_000).contains(number))
}

fn parse_ordinal(word: &str) -> Option<Amount> {
    if word == "last" {
        return Some(Amount::Last);
    }
    if let Some(at) = ORDINALS.iter().position(|ordinal| *ordinal == word) {
        return Some(Amount::Nth(at + 1));
    }
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end))?;
    digits.parse().ok().filter(|number| *number > 0).map(Amount::Nth)
}

/// Removes the article; whether it was one that leaves the choice open.
fn strip_article(phrase: Phrase<'_>) -> (Phrase<'_>, bool) {
    if let Some(rest) = phrase.strip(&["a", "an", "any"]) {
        return (rest, true);
    }
    (phrase.strip(&["on the", "the", "my", "this", "that"]).unwrap_or(phrase), false)
}

fn strip_fillers(mut phrase: Phrase<'_>) -> Phrase<'_> {
    phrase = phrase.without_marks();
    while let Some(rest) = phrase.strip_end(FILLERS).filter(|rest| !rest.is_empty()) {
        phrase = rest.without_marks();
    }
    phrase
}

/// The element that some words name; `None` for no words.
pub(super) fn parse_description(phrase: Phrase<'_>) -> Option<Description> {
    let phrase = strip_fillers(phrase);
    if phrase.is_empty() {
        return None;
    }
    if phrase.is(&["it", "this", "that", "them", "this one", "that one"]) {
        return Some(Description { phrase: phrase.text(), is_pronoun: true, readings: Vec::new() });
    }
    let (bare, is_open) = strip_article(phrase);
    if bare.is_empty() {
        return None;
    }
    let mut readings: Vec<Reading> = Vec::new();
    let mut add = |reading: Reading| {
        if readings.len() < MAX_READINGS && !readings.contains(&reading) {
            readings.push(reading);
        }
    };
    let open_amount = if is_open { Amount::Any } else { Amount::One };
    // All of it may be the name, with or without the noun: "First name", "Contact tab".
    if let Some(quoted) = bare.only_quoted() {
        add(Reading {
            name: quoted.to_owned(),
            is_quoted: true,
            kind: None,
            amount: open_amount,
            place: None,
        });
    } else {
        add(Reading { name: bare.text(), is_quoted: false, kind: None, amount: Amount::One, place: None });
        // The first word of "First name field" is no number; where a number is meant, no element has that name.
        for reading in read_kind(bare).into_iter().filter(|reading| !reading.name.is_empty()) {
            add(reading);
        }
        for reading in read_counted(bare, open_amount) {
            add(reading);
        }
        for at in (1..bare.len()).rev() {
            let Some((head, place)) = bare.split_here(at, PREPOSITIONS) else { continue };
            let Some((place, amount)) = parse_place(place) else { continue };
            for reading in read_counted(strip_article(head).0, amount.unwrap_or(open_amount)) {
                add(Reading { place: Some(place.clone()), ..reading });
            }
        }
    }
    Some(Description { phrase: bare.text(), is_pronoun: false, readings })
}

/// "the second", "all", "both" and the rest of a name.
fn read_counted(phrase: Phrase<'_>, open: Amount) -> Vec<Reading> {
    let (mut rest, mut amount) = (phrase, open);
    if let Some(found) = parse_ordinal(phrase.word(0)) {
        (rest, amount) = (phrase.from(1), found);
    } else if let Some(after) = phrase.strip(&["all of the", "all the", "all", "every", "each"]) {
        (rest, amount) = (after, Amount::All);
    } else if let Some(after) = phrase.strip(&["both of the", "both the", "both"]) {
        (rest, amount) = (after, Amount::Both);
    }
    read_kind(strip_article(rest).0).into_iter().map(|reading| Reading { amount, ..reading }).collect()
}

/// A name with its noun before or after it.
fn read_kind(phrase: Phrase<'_>) -> Vec<Reading> {
    let reading = |name: Phrase<'_>, kind: Option<ElementKind>, place: Option<Place>| Reading {
        name: name.text(),
        is_quoted: name.only_quoted().is_some(),
        kind,
        amount: Amount::One,
        place,
    };
    let mut readings = Vec::new();
    if let Some((head, name)) = phrase.split_at(LABELLED) {
        // "the button in the dialog labeled OK"
        let (head, place) = match head.split_at(PREPOSITIONS) {
            Some((noun, place)) => match parse_place(place) {
                Some((place, _)) => (noun, Some(place)),
                None => return readings,
            },
            None => (head, None),
        };
        if let Some(kind) = kind_of(head) {
            readings.push(reading(strip_article(name).0, Some(kind), place));
        }
        return readings;
    }
    for (noun, kind) in KINDS {
        let words = noun.split(' ').count();
        if let Some(name) = phrase.strip_end(&[noun]) {
            // "a "radio" widget": the name is a noun itself.
            let inner = name.only_quoted().filter(|_| *kind == ElementKind::Any).and_then(kind_of_word);
            if let Some(inner) = inner {
                readings.push(reading(name.to(0), Some(inner), None));
            }
            readings.push(reading(name, Some(*kind), None));
        } else if phrase.len() > words && phrase.has_words_at(0, noun) {
            readings.push(reading(phrase.from(words), Some(*kind), None));
        }
    }
    readings.push(reading(phrase, None, None));
    readings
}

/// Where an element is, and how many elements that makes: "all posts by Ann".
pub(super) fn parse_place(phrase: Phrase<'_>) -> Option<(Place, Option<Amount>)> {
    let phrase = strip_fillers(phrase);
    let (bare, _) = strip_article(phrase);
    let container = CONTAINERS.iter().find(|(nouns, _)| bare.is(nouns));
    if let Some((_, roles)) = container {
        return Some((Place::Role(roles), None));
    }
    let amount = match phrase.word(0) {
        "all" | "every" | "each" => Some(Amount::All),
        word => parse_count(word).map(Amount::Some),
    };
    let mut rest = if matches!(amount, Some(Amount::Some(_))) { phrase.from(1) } else { phrase };
    while rest.len() > 1 && PLACE_WORDS.contains(&rest.word(0)) && !rest.is_capital(0) {
        rest = rest.from(1);
    }
    // "the Billing section"
    let name =
        rest.strip_end(&["section", "row", "card", "group"]).filter(|name| !name.is_empty()).unwrap_or(rest);
    let text = name.text();
    let is_name = !text.is_empty() && !PLACE_WORDS.contains(&name.word(0));
    is_name.then_some((Place::BesideText(text), amount))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokenize;
    use super::*;

    fn describe(text: &str) -> Description {
        let tokens = tokenize(text).unwrap();
        parse_description(Phrase::new(text, &tokens)).unwrap()
    }

    fn has(text: &str, name: &str, kind: Option<ElementKind>, amount: Amount, place: Option<&str>) {
        let found = describe(text);
        let place = place.map(|text| Place::BesideText(text.to_owned()));
        let fits = |reading: &Reading| {
            reading.name == name && reading.kind == kind && reading.amount == amount && reading.place == place
        };
        assert!(found.readings.iter().any(fits), "{text}: {found:?}");
    }

    #[test]
    fn nouns_numbers_and_places_are_told_from_names() {
        has("the Buy now button", "Buy now", Some(ElementKind::Button), Amount::One, None);
        has("the First name field", "First name", Some(ElementKind::Field), Amount::One, None);
        has("the 2nd input textbox", "", Some(ElementKind::Field), Amount::Nth(2), None);
        has("the first result", "", Some(ElementKind::SearchResult), Amount::Nth(1), None);
        has("both text fields", "", Some(ElementKind::Field), Amount::Both, None);
        has("button ONE", "ONE", Some(ElementKind::Button), Amount::One, None);
        has("the item labeled \"Zoom\"", "Zoom", Some(ElementKind::Any), Amount::One, None);
        let button = Some(ElementKind::Button);
        has("the Delete button in the row of A-101", "Delete", button, Amount::One, Some("A-101"));
        has("Add of the Blue kettle", "Add", None, Amount::One, Some("Blue kettle"));
        has("the \"Like\" button on all posts by @ann", "Like", button, Amount::All, Some("@ann"));
        has(
            "the Edit link in the Billing section",
            "Edit",
            Some(ElementKind::Link),
            Amount::One,
            Some("Billing"),
        );
        has("a \"radio\" widget", "", Some(ElementKind::Radio), Amount::Any, None);
        assert!(describe("it").is_pronoun);
        let in_dialog = describe("the button in the dialog box labeled \"OK\"");
        let roles = Place::Role(&["dialog", "alertdialog"]);
        assert!(
            in_dialog
                .readings
                .iter()
                .any(|reading| reading.place.as_ref() == Some(&roles) && reading.name == "OK")
        );
        assert_eq!(describe("Terms of service").readings[0].name, "Terms of service");
    }
}
