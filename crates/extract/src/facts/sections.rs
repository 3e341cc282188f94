//! Headings and the text under each.

use super::{EvidenceKind, FactCollector, text};
use crate::words::NameWords;
use html::dom::{Attr, NodeId};
use std::rc::Rc;

/// Headings per page.
const MAX_HEADINGS: usize = 20_000;

#[derive(Debug, Clone)]
pub(crate) struct Heading {
    pub at: u32,
    pub end: u32,
    pub level: u8,
    /// Where its section ends.
    pub until: u32,
    pub words: NameWords,
    pub text: Rc<str>,
}

/// Finds the headings and the ends of their sections.
pub(super) fn headings(collector: &mut FactCollector) {
    let dom = collector.dom;
    let mut found: Vec<Heading> = Vec::new();
    for id in dom.subtree(dom.root()) {
        let Some(level) = dom.tag(id).heading_level() else { continue };
        if !collector.visible.contains(id) || found.len() == MAX_HEADINGS {
            continue;
        }
        let text = collector.text(id);
        if text.is_empty() {
            continue;
        }
        let words = NameWords::from_name(&text);
        found.push(Heading {
            at: id.0,
            end: dom.subtree_end(id).0,
            level,
            until: reach(collector, id),
            words,
            text,
        });
    }
    // A section ends at the next heading of the same or a higher level; open ones are kept on a stack.
    let mut open: Vec<usize> = Vec::new();
    for at in 0..found.len() {
        while let Some(&last) = open.last() {
            if found[last].level < found[at].level {
                break;
            }
            let begins = found[at].at;
            found[last].until = found[last].until.min(begins);
            open.pop();
        }
        open.push(at);
    }
    collector.headings = found;
}

/// The end of the nearest enclosing element that has text after the heading.
fn reach(collector: &FactCollector, id: NodeId) -> u32 {
    let dom = collector.dom;
    let end = dom.subtree_end(id).0;
    for above in dom.ancestors(id).take(4) {
        let until = dom.subtree_end(above).0;
        let some = (end..until.min(end + 40)).map(NodeId).any(|node| !dom.text(node).trim().is_empty());
        if some {
            return until;
        }
    }
    end
}

/// The text under each heading, labelled by the heading.
pub(super) fn collect(collector: &mut FactCollector) {
    for at in 0..collector.headings.len() {
        let Heading { end, until, level, ref words, .. } = collector.headings[at];
        let words = words.clone();
        if level == 1 || until <= end || words.is_empty() {
            continue;
        }
        let text: Rc<str> = text::visible_text_in(collector.dom, &collector.visible, end..until).into();
        if text.is_empty() {
            continue;
        }
        // "Ingredients for four" with the id "ingredients": the id says which of its words name the section.
        let id = collector.dom.attr(NodeId(collector.headings[at].at), Attr::Id).unwrap_or_default();
        let id = NameWords::from_name(id);
        let is_shorter = id.0.len() < words.0.len() && id.0.iter().all(|word| words.has(word));
        for words in std::iter::once(words).chain((is_shorter && !id.is_empty()).then_some(id)) {
            let fact = collector.fact(EvidenceKind::Section, words, end..until, Rc::clone(&text));
            collector.add(fact);
        }
    }
}
