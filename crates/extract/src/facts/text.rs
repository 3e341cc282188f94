//! The visible text of a part of a page, in one line.

use html::NodeSet;
use html::dom::{Dom, NodeId, Tag};
use std::ops::Range;

/// Limit of the text of one fact.
pub(crate) const MAX_TEXT_BYTES: usize = 2_000;
/// Nodes examined for one text.
const MAX_NODES: usize = 1_500;

/// The text of the visible nodes of a range, without struck-out text.
pub(crate) fn visible_text_in(dom: &Dom, visible: &NodeSet, range: Range<u32>) -> String {
    let mut raw = String::new();
    let mut at = range.start;
    for _ in 0..MAX_NODES {
        if at >= range.end || raw.len() > MAX_TEXT_BYTES * 2 {
            break;
        }
        let id = NodeId(at);
        at += 1;
        if dom.is_text(id) {
            if visible.contains(id) && !is_permalink(dom, id) {
                raw.push_str(dom.text(id));
            }
        } else if is_struck(dom.tag(id)) && id.0 != range.start {
            at = dom.subtree_end(id).0;
        } else if dom.tag(id).is_block() || matches!(dom.tag(id), Tag::Br | Tag::Td | Tag::Th | Tag::Li) {
            raw.push(' ');
        }
    }
    collapse_whitespace(&raw)
}

pub(crate) fn visible_text(dom: &Dom, visible: &NodeSet, id: NodeId) -> String {
    visible_text_in(dom, visible, id.0..dom.subtree_end(id).0)
}

pub(crate) fn collapse_whitespace(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(MAX_TEXT_BYTES));
    let bare;
    let text = if text.contains(is_invisible) {
        bare = text.replace(is_invisible, "");
        &bare
    } else {
        text
    };
    for word in text.split_whitespace() {
        if line.len() + word.len() >= MAX_TEXT_BYTES {
            if line.is_empty() {
                line.push_str(&word[..word.floor_char_boundary(MAX_TEXT_BYTES)]);
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

/// Characters without a width, which pages put into words for line breaks and anchors.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// The signs that documentation tools put behind headings as links to them.
pub(crate) fn is_permalink_sign(text: &str) -> bool {
    let text = text.trim().trim_matches(is_invisible);
    text.is_empty() || matches!(text, "#" | "¶" | "§" | "🔗" | "⚓" | "\u{f0c1}")
}

/// Whether a text node is the sign of a link to the heading or term that it stands in.
fn is_permalink(dom: &Dom, id: NodeId) -> bool {
    let sign = dom.text(id);
    sign.len() <= 12
        && !sign.trim().is_empty()
        && is_permalink_sign(sign)
        && dom.ancestors(id).take(3).any(|above| dom.tag(above) == Tag::A)
}

/// Whether a tag strikes out its text: old prices.
pub(crate) fn is_struck(tag: Tag) -> bool {
    matches!(tag, Tag::Del | Tag::S | Tag::Strike)
}

/// Whether a text could be a label: short, with letters, not a sentence.
pub(crate) fn is_label(text: &str) -> bool {
    let text = text.trim().trim_end_matches([':', '：']).trim();
    let length = text.chars().count();
    (1..=48).contains(&length)
        && text.chars().any(char::is_alphabetic)
        && text.split_whitespace().count() <= 7
        && !text.ends_with(['.', '!', '@'])
        && !text.contains("://")
}
