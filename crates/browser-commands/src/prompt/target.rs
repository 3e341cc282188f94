//! Which element of a snapshot a person means.

use super::content_words;
use crate::snapshot::{NodeKind, PageSnapshot, SnapshotNode};

/// What is to be done with the element; only some kinds of elements fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Click,
    Fill,
    Select,
    Check,
}

const FIELDS: &[&str] =
    &["textbox", "searchbox", "combobox", "spinbutton", "Date", "DateTime", "InputTime", "slider"];
const LISTS: &[&str] = &["combobox", "listbox", "PopUpButton"];
const BOXES: &[&str] = &["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"];
const NOT_CLICKED: &[&str] = &["Iframe", "option"];
/// Elements that a message lists.
const MAX_LISTED: usize = 15;
/// A name that fits less is none.
const MIN_SCORE: u32 = 50;

impl Purpose {
    fn fits(self, node: &SnapshotNode) -> bool {
        let role = node.role.as_str();
        match self {
            Self::Click => node.kind == NodeKind::Interactive && !NOT_CLICKED.contains(&role),
            Self::Fill => FIELDS.contains(&role),
            Self::Select => LISTS.contains(&role),
            Self::Check => BOXES.contains(&role),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Click => "to click",
            Self::Fill => "to fill",
            Self::Select => "to select from",
            Self::Check => "to check",
        }
    }
}

/// The ref of the element, or a message that lists what is there.
pub(super) fn find(snapshot: &PageSnapshot, name: &str, purpose: Purpose) -> Result<u32, String> {
    let fitting: Vec<&(u32, SnapshotNode)> =
        snapshot.items.iter().filter(|(_, node)| purpose.fits(node)).collect();
    let mut scored: Vec<(u32, u32, &SnapshotNode)> =
        fitting.iter().map(|(number, node)| (score(name, node), *number, node)).collect();
    scored.retain(|(score, _, _)| *score >= MIN_SCORE);
    scored.sort_by_key(|(score, _, _)| std::cmp::Reverse(*score));
    let Some((best, number, node)) = scored.first() else {
        let all: Vec<&SnapshotNode> = fitting.iter().map(|(_, node)| node).collect();
        let there = if all.is_empty() { "nothing".to_owned() } else { list(&all) };
        return Err(format!("There is no \"{name}\" {} on this page. There is: {there}", purpose.noun()));
    };
    let rivals: Vec<&SnapshotNode> = scored
        .iter()
        .filter(|(score, _, other)| score == best && !leads_to_the_same(node, other))
        .map(|(_, _, other)| *other)
        .collect();
    if rivals.is_empty() {
        return Ok(*number);
    }
    let equal: Vec<String> = scored
        .iter()
        .filter(|(score, _, _)| score == best)
        .take(MAX_LISTED)
        .map(|(_, number, node)| format!("{} (@e{number})", describe(node)))
        .collect();
    Err(format!("\"{name}\" could be {} elements; say which: {}", equal.len(), equal.join(", ")))
}

/// Two links with the same name and address are one to a reader.
fn leads_to_the_same(one: &SnapshotNode, other: &SnapshotNode) -> bool {
    one.backend_node == other.backend_node || (one.url.is_some() && one.url == other.url)
}

fn describe(node: &SnapshotNode) -> String {
    format!("{} \"{}\"", node.role, node.name)
}

fn list(nodes: &[&SnapshotNode]) -> String {
    let shown: Vec<String> = nodes
        .iter()
        .filter(|node| !node.name.is_empty())
        .take(MAX_LISTED)
        .map(|node| describe(node))
        .collect();
    let more = nodes.len().saturating_sub(shown.len());
    if more > 0 { format!("{}, and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// How well a name fits, 0 to 100.
fn score(wanted: &str, node: &SnapshotNode) -> u32 {
    let (wanted_line, name_line) = (super::one_line(wanted).to_lowercase(), node.name.to_lowercase());
    if wanted_line.is_empty() {
        return 0;
    }
    if wanted_line == name_line {
        return 100;
    }
    let (wanted, name) = (content_words(&wanted_line), content_words(&name_line));
    if wanted.is_empty() || name.is_empty() {
        return if name_line.contains(&wanted_line) { 60 } else { 0 };
    }
    if wanted == name {
        return 95;
    }
    let common = wanted.iter().filter(|word| name.contains(word)).count();
    let found = common * 100 / wanted.len();
    // Names with many more words fit less.
    let extra = name.len().saturating_sub(common).min(10);
    let score = if found == 100 { 85 } else { found * 65 / 100 };
    u32::try_from(score.saturating_sub(extra)).unwrap_or(0)
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

    #[test]
    fn the_closest_name_wins_and_ties_are_told() {
        let page = snapshot(&[
            ("button", "Add to cart", None),
            ("link", "Cart", Some("/cart")),
            ("textbox", "First name", None),
            ("textbox", "Last name", None),
            ("link", "Details", Some("/a")),
            ("link", "Details", Some("/b")),
            ("link", "Help", Some("/h")),
            ("link", "Help", Some("/h")),
        ]);
        assert_eq!(find(&page, "cart", Purpose::Click), Ok(2));
        assert_eq!(find(&page, "add to the cart", Purpose::Click), Ok(1));
        assert_eq!(find(&page, "first name", Purpose::Fill), Ok(3));
        assert_eq!(find(&page, "help", Purpose::Click), Ok(7));
        assert!(find(&page, "details", Purpose::Click).unwrap_err().contains("2 elements"));
        assert!(find(&page, "name", Purpose::Fill).unwrap_err().contains("say which"));
        let missing = find(&page, "checkout", Purpose::Click).unwrap_err();
        assert!(
            missing.contains("no \"checkout\"") && missing.contains("button \"Add to cart\""),
            "{missing}"
        );
        assert!(find(&page, "x", Purpose::Select).unwrap_err().ends_with("There is: nothing"));
    }
}
