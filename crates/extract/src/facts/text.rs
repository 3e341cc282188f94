//! The text of a part of a page in one line, as a reader sees it.

use content::NodeSet;
use content::dom::{Dom, NodeId, Tag};
use std::ops::Range;

/// Longest text of one fact.
pub(crate) const LONGEST: usize = 2_000;
/// Nodes looked at for one text.
const MOST_NODES: usize = 1_500;

/// Text among the visible nodes of a range, struck text left out.
pub(crate) fn of_range(dom: &Dom, visible: &NodeSet, range: Range<u32>) -> String {
    let mut raw = String::new();
    let mut at = range.start;
    for _ in 0..MOST_NODES {
        if at >= range.end || raw.len() > LONGEST * 2 {
            break;
        }
        let id = NodeId(at);
        at += 1;
        if dom.is_text(id) {
            if visible.contains(id) {
                raw.push_str(dom.text(id));
            }
        } else if is_struck(dom.tag(id)) && id.0 != range.start {
            at = dom.subtree_end(id).0;
        } else if dom.tag(id).is_block() || matches!(dom.tag(id), Tag::Br | Tag::Td | Tag::Th | Tag::Li) {
            raw.push(' ');
        }
    }
    one_line(&raw)
}

pub(crate) fn of(dom: &Dom, visible: &NodeSet, id: NodeId) -> String {
    of_range(dom, visible, id.0..dom.subtree_end(id).0)
}

pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LONGEST));
    for word in text.split_whitespace() {
        if line.len() + word.len() >= LONGEST {
            if line.is_empty() {
                line.push_str(&word[..word.floor_char_boundary(LONGEST)]);
            }
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// What was true once: old prices.
pub(crate) fn is_struck(tag: Tag) -> bool {
    matches!(tag, Tag::Del | Tag::S | Tag::Strike)
}

/// Whether a text could be the name of a value: short, with letters, no sentence.
pub(crate) fn is_label(text: &str) -> bool {
    let text = text.trim().trim_end_matches([':', '：']).trim();
    let length = text.chars().count();
    (1..=48).contains(&length)
        && text.chars().any(char::is_alphabetic)
        && text.split_whitespace().count() <= 7
        && !text.ends_with(['.', '!', '@'])
        && !text.contains("://")
}
