//! Headings, and the text that stands under each.

use super::{How, Reader, text};
use crate::words::Words;
use content::dom::NodeId;
use std::rc::Rc;

/// Headings read on one page.
const MOST: usize = 20_000;

#[derive(Debug, Clone)]
pub(crate) struct Heading {
    pub at: u32,
    pub end: u32,
    pub level: u8,
    /// Where what it heads ends.
    pub until: u32,
    pub words: Words,
    pub text: Rc<str>,
}

/// Finds the headings and how far each reaches.
pub(super) fn headings(reader: &mut Reader) {
    let dom = reader.dom;
    let mut found: Vec<Heading> = Vec::new();
    for id in dom.subtree(dom.root()) {
        let Some(level) = dom.tag(id).heading_level() else { continue };
        if !reader.visible.contains(id) || found.len() == MOST {
            continue;
        }
        let text = reader.text(id);
        if text.is_empty() {
            continue;
        }
        let words = Words::of(&text);
        found.push(Heading {
            at: id.0,
            end: dom.subtree_end(id).0,
            level,
            until: reach(reader, id),
            words,
            text,
        });
    }
    // A heading reaches to the next one that is not below it: those still open are kept on a stack.
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
    reader.headings = found;
}

/// The end of the nearest part of the page that has text after the heading.
fn reach(reader: &Reader, id: NodeId) -> u32 {
    let dom = reader.dom;
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
pub(super) fn read(reader: &mut Reader) {
    for at in 0..reader.headings.len() {
        let Heading { end, until, level, ref words, .. } = reader.headings[at];
        let words = words.clone();
        if level == 1 || until <= end || words.is_empty() {
            continue;
        }
        let text: Rc<str> = text::of_range(reader.dom, &reader.visible, end..until).into();
        if !text.is_empty() {
            let fact = reader.fact(How::Section, words, end..until, text);
            reader.add(fact);
        }
    }
}
