//! Footnotes and superscripts.

use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::collections::HashMap;

/// Footnotes of one page: which links refer to one, which elements define one, and under which label.
#[derive(Debug, Default)]
pub(super) struct Footnotes {
    references: HashMap<NodeId, String>,
    definitions: HashMap<NodeId, String>,
}

/// More of them on one page are not footnotes.
const MAX_FOOTNOTES: usize = 2_000;

impl Footnotes {
    /// Finds references whose definition is also kept; anything less stays an ordinary link.
    pub fn find(dom: &Dom, keep: &NodeSet) -> Self {
        let mut notes = Self::default();
        let mut wanted: HashMap<&str, Vec<NodeId>> = HashMap::new();
        for id in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::A) {
            if let Some(target) = dom.attr(id, Attr::Href).and_then(|href| href.strip_prefix('#'))
                && is_note_name(target)
                && is_reference(dom, id)
                && wanted.len() < MAX_FOOTNOTES
            {
                wanted.entry(target).or_default().push(id);
            }
        }
        if wanted.is_empty() {
            return notes;
        }
        for id in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Li) {
            let Some(name) = dom.attr(id, Attr::Id).filter(|_| keep.reaches(dom, id)) else { continue };
            // An id belongs to the first element that has it; the others are ignored, which also bounds the
            // work.
            let Some(references) = wanted.remove(name) else { continue };
            let label = label(&dom.text_content(references[0]), notes.definitions.len() + 1);
            for reference in references {
                notes.references.insert(reference, label.clone());
            }
            notes.definitions.insert(id, label);
        }
        notes
    }

    pub fn reference(&self, id: NodeId) -> Option<&str> {
        self.references.get(&id).map(String::as_str)
    }

    pub fn definition(&self, id: NodeId) -> Option<&str> {
        self.definitions.get(&id).map(String::as_str)
    }

    /// The link from a note back to where it was referred to.
    pub fn is_back_link(&self, dom: &Dom, id: NodeId) -> bool {
        if self.definitions.is_empty() {
            return false;
        }
        let back = dom.attr(id, Attr::Role) == Some("doc-backlink")
            || dom
                .attr(id, Attr::Class)
                .is_some_and(|class| class.contains("backref") || class.contains("reversefootnote"))
            || dom
                .attr(id, Attr::Href)
                .is_some_and(|href| href.starts_with("#fnref") || href.starts_with("#cite_ref"));
        back && dom.ancestors(id).take(6).any(|node| self.definitions.contains_key(&node))
    }
}

fn is_note_name(target: &str) -> bool {
    ["fn", "footnote", "cite_note", "note", "user-content-fn"].iter().any(|start| target.starts_with(start))
}

fn is_reference(dom: &Dom, id: NodeId) -> bool {
    dom.attr(id, Attr::Role) == Some("doc-noteref")
        || dom.attr(id, Attr::Class).is_some_and(|class| class.contains("footnote"))
        || dom.ancestors(id).take(2).any(|node| dom.tag(node) == Tag::Sup)
}

/// A label markdown accepts: the page's own where it is a plain word, else the number of the note.
fn label(text: &str, number: usize) -> String {
    let own = text.trim().trim_matches(['[', ']', '(', ')']).trim();
    let plain = !own.is_empty()
        && own.len() <= 16
        && own.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if plain { own.to_owned() } else { number.to_string() }
}

/// A superscript that must not melt into the number or name before it (but "1st" may).
pub(super) fn is_power(dom: &Dom, id: NodeId, before: Option<char>) -> bool {
    let Some(before) = before else { return false };
    if !(before.is_alphanumeric() || before == ')') {
        return false;
    }
    let mut text = String::new();
    for node in dom.descendants(id).take(8) {
        if dom.is_element(node) {
            return false;
        }
        text.push_str(dom.text(node));
    }
    let text = text.trim();
    !text.is_empty()
        && text.len() <= 8
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-−–".contains(c))
        && !(before.is_ascii_digit() && text.chars().all(char::is_alphabetic))
}
