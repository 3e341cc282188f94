//! Inline elements that a style sheet shows as boxes of their own: their texts must not run into one word
//! ("Room" and "RB105", "by" and "Ant", a badge and the day beside it).
//!
//! No style sheet is read. A box is an element with a class right beside another element, or one whose class
//! says that it is a badge; a space goes between two of them only where the letters at the seam show that
//! two words meet. Letters of one word that are coloured or animated one by one stay together.

use super::MarkdownWriter;
use html::dom::{Attr, Dom, NodeId, Tag};

/// Nodes of an element that are read for its first character and its length.
const MAX_NODES_READ: usize = 8;
/// A shorter text is a letter of a word, set apart for its looks.
const MIN_BOX_CHARS: usize = 2;
/// Class names of small labels beside a text.
const BADGES: [&str; 5] = ["badge", "chip", "pill", "label", "tag"];

impl MarkdownWriter<'_> {
    /// Before an inline element or a text: a space where it and what stands right before it are boxes.
    pub(super) fn separate_boxes(&mut self, id: NodeId) {
        let dom = self.dom;
        let Some(before) = dom.prev_sibling(id) else { return };
        let Some(last) = self.inline.last_char() else { return };
        if !last.is_alphanumeric() {
            return;
        }
        let badge = is_badge(dom, before) || is_badge(dom, id);
        let boxes = is_box(dom, before)
            && is_box(dom, id)
            && (has_class(dom, before) || has_class(dom, id))
            && !stands_in_prose(dom, id);
        if !(badge || boxes) {
            return;
        }
        let Some(next) = first_char(dom, id) else { return };
        let long = |node| dom.is_text(node) || has_chars(dom, node, MIN_BOX_CHARS);
        if long(before) && long(id) && next.is_alphanumeric() && (badge || is_seam(last, next)) {
            self.inline.push_space();
        }
    }
}

/// Whether two words meet here: a capital or another script begins, or two names in signs without spaces.
fn is_seam(last: char, next: char) -> bool {
    let begins = next.is_uppercase() && (last.is_lowercase() || last.is_numeric());
    let unspaced = is_unspaced(last) || is_unspaced(next);
    begins || (unspaced && !last.is_numeric() && !next.is_numeric())
}

/// Chinese, Japanese and Korean signs.
fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
    )
}

fn is_box(dom: &Dom, id: NodeId) -> bool {
    matches!(dom.tag(id), Tag::Span | Tag::Time | Tag::Small | Tag::Strong | Tag::B)
}

fn has_class(dom: &Dom, id: NodeId) -> bool {
    dom.attr(id, Attr::Class).is_some_and(|class| !class.trim().is_empty())
}

fn is_badge(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Span
        && dom.attr(id, Attr::Class).is_some_and(|class| {
            // `badge`, `badge-primary`, `MuiChip-label`; not `tagged`.
            let mut words = class.split(|c: char| !c.is_ascii_alphabetic());
            words.any(|word| BADGES.iter().any(|badge| word.eq_ignore_ascii_case(badge)))
        })
}

/// Spans of a paragraph or a heading mark up parts of a running text.
fn stands_in_prose(dom: &Dom, id: NodeId) -> bool {
    dom.parent(id).is_some_and(|parent| {
        let tag = dom.tag(parent);
        tag == Tag::P || tag.heading_level().is_some()
    })
}

fn first_char(dom: &Dom, id: NodeId) -> Option<char> {
    dom.subtree(id).take(MAX_NODES_READ).find_map(|node| dom.text(node).chars().next())
}

fn has_chars(dom: &Dom, id: NodeId, wanted: usize) -> bool {
    let texts = dom.subtree(id).take(MAX_NODES_READ).flat_map(|node| dom.text(node).chars());
    texts.take(wanted).count() == wanted
}
