//! Which elements of a snapshot fit the name that a person gave.

use super::parse::{Amount, Description, ElementKind, Place, Reading};
use crate::snapshot::{NodeKind, PageSnapshot, SnapshotNode};

/// What is to be done with the element; only some kinds of elements fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Click,
    Fill,
    Select,
    Check,
    /// Chosen by its name alone: options, radio buttons, entries of menus.
    Choose,
    /// Opened or closed.
    Expand,
    /// Read, scrolled or dragged.
    Any,
}

const FIELDS: &[&str] = &[
    "textbox",
    "searchbox",
    "combobox",
    "spinbutton",
    "Date",
    "DateTime",
    "InputTime",
    "slider",
    "ColorWell",
];
const LISTS: &[&str] = &["combobox", "listbox", "PopUpButton"];
const BOXES: &[&str] = &["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"];
const CHOSEN: &[&str] = &[
    "option",
    "checkbox",
    "radio",
    "switch",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "tab",
    "treeitem",
];
/// Fields whose list is no part that opens.
const NOT_OPENED: &[&str] = &["combobox", "PopUpButton", "textbox", "searchbox"];
/// Elements that a message lists.
const MAX_LISTED: usize = 15;
/// A name may have so many words more than what was asked for.
const MAX_MORE_WORDS: usize = 8;
/// Words that people leave out or add.
const ARTICLES: &[&str] = &["the", "a", "an", "my", "your", "our"];
/// Signs that make another name of the same letters.
const SIGNS: &[char] = &['+', '#', '<', '>', '=', '%', '$', '€', '£', '@', '/', '*'];
/// What a person calls the button that closes a dialog, and what it is named.
const CLOSE_SIGNS: &[&str] = &["x", "×", "✕", "✖", "close"];

pub(super) type Item = (u32, SnapshotNode);

impl Purpose {
    fn fits(self, node: &SnapshotNode) -> bool {
        let role = node.role.as_str();
        match self {
            Self::Click => node.kind == NodeKind::Interactive && role != "Iframe",
            Self::Fill => FIELDS.contains(&role),
            Self::Select => LISTS.contains(&role),
            Self::Check => BOXES.contains(&role),
            Self::Choose => CHOSEN.contains(&role),
            Self::Expand => expanded(node).is_some() && !NOT_OPENED.contains(&role),
            Self::Any => true,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Click => "to click",
            Self::Fill => "to fill",
            Self::Select => "to select from",
            Self::Check => "to check",
            Self::Choose => "to choose",
            Self::Expand => "to open or close",
            Self::Any => "to act on",
        }
    }

    /// The nouns "box" and "option" say nothing where boxes and options are meant anyway.
    fn kind(self, kind: Option<ElementKind>) -> Option<ElementKind> {
        match (self, kind) {
            (Self::Check | Self::Select, Some(ElementKind::Field | ElementKind::Option))
            | (Self::Expand, Some(_))
            | (_, Some(ElementKind::Any)) => None,
            (_, kind) => kind,
        }
    }
}

/// Whether an element that opens and closes is open.
pub(super) fn expanded(node: &SnapshotNode) -> Option<bool> {
    let state = node.states.iter().find_map(|state| state.strip_prefix("expanded="))?;
    Some(state == "true")
}

fn kind_fits(kind: ElementKind, node: &SnapshotNode) -> bool {
    let role = node.role.as_str();
    // What only looks as if one could click it may be meant as a button or a link.
    let is_drawn = node.hints.is_some();
    match kind {
        ElementKind::Button => matches!(role, "button" | "PopUpButton" | "DisclosureTriangle") || is_drawn,
        ElementKind::Link => role == "link" || is_drawn,
        ElementKind::Tab => role == "tab",
        ElementKind::Checkbox => matches!(role, "checkbox" | "switch" | "menuitemcheckbox"),
        ElementKind::Radio => matches!(role, "radio" | "menuitemradio"),
        ElementKind::TextArea => node.is_multiline,
        ElementKind::Field => {
            matches!(role, "textbox" | "searchbox" | "spinbutton" | "combobox") && !is_select(node)
        }
        ElementKind::List => LISTS.contains(&role) || matches!(role, "menu" | "button" | "menuitem"),
        ElementKind::Slider => role == "slider",
        ElementKind::Spinner => role == "spinbutton",
        ElementKind::Option => matches!(role, "option" | "radio" | "checkbox" | "menuitem" | "menuitemradio"),
        ElementKind::MenuItem => {
            matches!(role, "menuitem" | "menuitemcheckbox" | "menuitemradio") || is_drawn
        }
        ElementKind::Switch => matches!(role, "switch" | "checkbox" | "button"),
        ElementKind::Date => matches!(role, "Date" | "DateTime"),
        ElementKind::Time => role == "InputTime",
        ElementKind::Section => expanded(node).is_some(),
        ElementKind::TreeItem => role == "treeitem" || is_drawn,
        // These are found in the document, not in the snapshot.
        ElementKind::SearchResult | ElementKind::File | ElementKind::Paragraph => false,
        ElementKind::Any => true,
    }
}

/// A list of the page that takes no text.
pub(super) fn is_select(node: &SnapshotNode) -> bool {
    node.role == "combobox" && !node.is_editable
}

/// The elements that one reading of a description fits best.
pub(super) fn candidates<'a>(
    snapshot: &'a PageSnapshot,
    reading: &Reading,
    purpose: Purpose,
) -> Vec<&'a Item> {
    let kind = purpose.kind(reading.kind);
    let inside = match &reading.place {
        Some(Place::Role(roles)) => Some(numbers_inside(snapshot, roles)),
        _ => None,
    };
    let fits = |item: &&Item| {
        purpose.fits(&item.1)
            && kind.is_none_or(|kind| kind_fits(kind, &item.1))
            && inside.as_ref().is_none_or(|inside| inside.contains(&item.0))
    };
    let fitting: Vec<&Item> = snapshot.items.iter().filter(fits).collect();
    if reading.name.is_empty() {
        // Where there are fields of one line, "the text field" is one of them.
        let is_line = |item: &&Item| !item.1.is_multiline;
        if kind == Some(ElementKind::Field) && fitting.iter().any(is_line) {
            return fitting.into_iter().filter(is_line).collect();
        }
        return if reading.kind.is_some() { fitting } else { Vec::new() };
    }
    let fit = |item: &&Item| compare(&reading.name, reading.is_quoted, &item.1.name);
    let best = fitting.iter().filter_map(fit).max();
    let mut found: Vec<&Item> =
        fitting.into_iter().filter(|item| best.is_some() && fit(item) == best).collect();
    // Options of a list that is closed are not what is clicked where anything else has the name.
    if found.iter().any(|(_, node)| node.role != "option") {
        found.retain(|(_, node)| node.role != "option" || purpose != Purpose::Click);
    }
    found
}

/// The elements with a ref below those of some roles.
pub(super) fn inside<'a>(snapshot: &'a PageSnapshot, roles: &[&str]) -> Vec<&'a Item> {
    let numbers = numbers_inside(snapshot, roles);
    snapshot.items.iter().filter(|(number, _)| numbers.contains(number)).collect()
}

/// The refs below the elements of some roles.
fn numbers_inside(snapshot: &PageSnapshot, roles: &[&str]) -> Vec<u32> {
    let mut inside = Vec::new();
    let mut outer: Option<usize> = None;
    for (node, number) in &snapshot.nodes {
        if outer.is_some_and(|depth| node.depth <= depth) {
            outer = None;
        }
        if outer.is_some() {
            inside.extend(*number);
        } else if roles.contains(&node.role.as_str()) {
            outer = Some(node.depth);
        }
    }
    inside
}

/// Of the elements that fit, those that are meant; `None` when that is not clear.
pub(super) fn pick<'a>(found: &[&'a Item], amount: Amount) -> Option<Vec<&'a Item>> {
    match amount {
        Amount::One => {
            let first = found.first()?;
            let is_same = |other: &&&Item| leads_to_the_same(&first.1, &other.1);
            (found.iter().filter(is_same).count() == found.len()).then(|| vec![*first])
        }
        Amount::Any => found.first().map(|first| vec![*first]),
        Amount::Nth(number) => found.get(number - 1).map(|item| vec![*item]),
        Amount::Last => found.last().map(|item| vec![*item]),
        Amount::All => (!found.is_empty()).then(|| found.to_vec()),
        Amount::Some(count) => (found.len() >= count).then(|| found[..count].to_vec()),
        Amount::Both => (found.len() == 2).then(|| found.to_vec()),
    }
}

/// Two links with the same name and address are one to a reader.
fn leads_to_the_same(one: &SnapshotNode, other: &SnapshotNode) -> bool {
    one.backend_node == other.backend_node || (one.url.is_some() && one.url == other.url)
}

pub(super) fn describe(node: &SnapshotNode) -> String {
    format!("{} \"{}\"", node.role, node.name)
}

/// What a caller is told of an element that is not there.
pub(super) fn missing(snapshot: &PageSnapshot, description: &Description, purpose: Purpose) -> String {
    let fitting: Vec<&SnapshotNode> =
        snapshot.items.iter().map(|(_, node)| node).filter(|node| purpose.fits(node)).collect();
    let there = if fitting.is_empty() { "nothing".to_owned() } else { list(&fitting) };
    format!("There is no \"{}\" {} on this page. There is: {there}", description.phrase, purpose.noun())
}

/// What a caller is told of a name that several elements have, or fewer than were asked for.
pub(super) fn ambiguous(description: &Description, found: &[&Item], amount: Amount) -> String {
    let names: Vec<String> = found
        .iter()
        .take(MAX_LISTED)
        .map(|(number, node)| format!("{} (@e{number})", describe(node)))
        .collect();
    let names = names.join(", ");
    let phrase = &description.phrase;
    match amount {
        Amount::Nth(_) | Amount::Some(_) | Amount::Last | Amount::Both => {
            format!("\"{phrase}\" does not fit the {} elements of that kind: {names}", found.len())
        }
        _ => format!("\"{phrase}\" could be {} elements; say which: {names}", found.len()),
    }
}

fn list(nodes: &[&SnapshotNode]) -> String {
    let shown: Vec<String> = nodes
        .iter()
        .filter(|node| !node.name.is_empty())
        .take(MAX_LISTED)
        .map(|node| describe(node))
        .collect();
    let more = nodes.len().saturating_sub(shown.len());
    match (shown.is_empty(), more) {
        (_, 0) => shown.join(", "),
        (true, more) => format!("{more} without a name"),
        (false, more) => format!("{}, and {more} more", shown.join(", ")),
    }
}

/// How well a name fits. Part of the words is never enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameFit {
    /// All words are in the name, with others.
    Contained,
    /// The same words.
    SameWords,
    Equal,
}

/// Compares what a person wrote with the name of an element.
pub(super) fn compare(wanted: &str, is_quoted: bool, name: &str) -> Option<NameFit> {
    let (wanted_line, name_line) = (plain(wanted), plain(name));
    if wanted_line.is_empty() || name_line.is_empty() {
        return None;
    }
    let closes =
        CLOSE_SIGNS[..4].contains(&wanted_line.as_str()) && CLOSE_SIGNS.contains(&name_line.as_str());
    if wanted_line == name_line || closes {
        return Some(NameFit::Equal);
    }
    if is_quoted || wanted.contains(SIGNS) {
        return contains_words(&name_line, &wanted_line).then_some(NameFit::Contained);
    }
    let (wanted, name) = (words(&wanted_line), words(&name_line));
    if wanted.is_empty() {
        return None;
    }
    if wanted == name && !name_line.contains(SIGNS) {
        return Some(NameFit::SameWords);
    }
    let mut rest = name.iter();
    let is_contained = wanted.iter().all(|word| rest.any(|other| other == word));
    (is_contained && name.len() <= wanted.len() + MAX_MORE_WORDS).then_some(NameFit::Contained)
}

/// In lower case, without the signs around it.
fn plain(text: &str) -> String {
    let line = super::one_line(text).to_lowercase();
    let bare = line.trim_matches(|character: char| " .:*!?,…\"'".contains(character));
    if bare.is_empty() { line } else { bare.to_owned() }
}

fn contains_words(text: &str, wanted: &str) -> bool {
    text.match_indices(wanted).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + wanted.len()..].chars().next();
        before.is_none_or(|character| !character.is_alphanumeric())
            && after.is_none_or(|character| !character.is_alphanumeric())
    })
}

/// The words of a name without articles. No other word may be left out: "turn on" is not "turn off".
fn words(text: &str) -> Vec<String> {
    let pieces: Vec<String> = text::pieces(text).take(200).map(|piece| piece.text.to_lowercase()).collect();
    let last = pieces.len().saturating_sub(1);
    let kept =
        pieces.iter().enumerate().filter(|(at, word)| *at == last || !ARTICLES.contains(&word.as_str()));
    kept.map(|(_, word)| word.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(nodes: &[(&str, &str, Option<&str>)]) -> PageSnapshot {
        let items = nodes.iter().enumerate().map(|(at, (role, name, url))| {
            let number = u32::try_from(at).unwrap() + 1;
            let node = SnapshotNode {
                role: (*role).to_owned(),
                name: (*name).to_owned(),
                kind: NodeKind::Interactive,
                url: url.map(str::to_owned),
                backend_node: Some(number.into()),
                ..SnapshotNode::default()
            };
            (number, node)
        });
        PageSnapshot { items: items.collect(), ..PageSnapshot::default() }
    }

    fn found(page: &PageSnapshot, name: &str, purpose: Purpose) -> Vec<u32> {
        let reading =
            Reading { name: name.to_owned(), is_quoted: false, kind: None, amount: Amount::One, place: None };
        candidates(page, &reading, purpose).iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn the_closest_names_are_found() {
        let page = snapshot(&[
            ("button", "Add to cart", None),
            ("link", "Cart", Some("/cart")),
            ("textbox", "First name", None),
            ("textbox", "Last name", None),
            ("link", "Details", Some("/a")),
            ("link", "Details", Some("/b")),
            ("button", "Turn on", None),
            ("link", "Item 1", Some("/1")),
        ]);
        assert_eq!(found(&page, "cart", Purpose::Click), [2]);
        assert_eq!(found(&page, "add to the cart", Purpose::Click), [1]);
        assert_eq!(found(&page, "first name", Purpose::Fill), [3]);
        assert_eq!(found(&page, "name", Purpose::Fill), [3, 4]);
        assert_eq!(found(&page, "details", Purpose::Click), [5, 6]);
        for other in ["turn off", "Item 60", "it", "cart now", "items"] {
            assert_eq!(found(&page, other, Purpose::Click), [0_u32; 0], "{other}");
        }
    }

    #[test]
    fn what_is_meant_by_a_number_is_counted() {
        let page = snapshot(&[
            ("link", "Help", Some("/h")),
            ("link", "Help", Some("/h")),
            ("link", "Help", Some("/x")),
        ]);
        let all: Vec<&Item> = page.items.iter().collect();
        let numbers =
            |amount| pick(&all, amount).map(|items| items.iter().map(|item| item.0).collect::<Vec<_>>());
        assert_eq!(numbers(Amount::One), None);
        assert_eq!(pick(&all[..2], Amount::One).unwrap()[0].0, 1, "the same address");
        assert_eq!(numbers(Amount::Nth(2)), Some(vec![2]));
        assert_eq!(numbers(Amount::Nth(4)), None);
        assert_eq!(numbers(Amount::Last), Some(vec![3]));
        assert_eq!(numbers(Amount::All), Some(vec![1, 2, 3]));
        assert_eq!(numbers(Amount::Both), None);
    }
}
