//! Links and images within text.

use super::{Exit, Flow, Writer, escape, is_block, note};
use crate::dom::{Attr, Dom, NodeId};
use crate::image;
use crate::node_set::NodeSet;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Words looked at; beyond them an image keeps its text.
const MOST_WORDS: usize = 200_000;

/// Words the kept text already has, gathered when the first image asks. A card's picture is usually described by the
/// card's own title; writing that twice helps nobody.
#[derive(Default)]
pub(super) struct Said {
    words: Option<HashSet<u64>>,
    alternatives: HashSet<u64>,
}

impl Said {
    /// Whether at least half the words of an image's alternative text are in the text anyway, or another image said it.
    fn has(&mut self, alt: &str, dom: &Dom, keep: &NodeSet) -> bool {
        let words = self.words.get_or_insert_with(|| {
            keep.iter()
                .filter(|&id| dom.is_text(id))
                .flat_map(|id| words_of(dom.text(id)))
                .take(MOST_WORDS)
                .collect()
        });
        let (mut all, mut known) = (0_usize, 0_usize);
        for word in words_of(alt) {
            all += 1;
            known += usize::from(words.contains(&word));
        }
        all > 0 && (known * 2 >= all || !self.alternatives.insert(hash(alt)))
    }
}

fn words_of(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(|word| {
        if word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()) {
            hash(word)
        } else {
            hash(&word.to_lowercase())
        }
    })
}

fn hash(text: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}

impl Writer<'_> {
    pub(super) fn enter_link(&mut self, id: NodeId) -> NodeId {
        let dom = self.dom;
        let past = dom.subtree_end(id);
        if self.inline.last_is_link() {
            self.inline.push_space();
        }
        if let Some(label) = self.notes.reference(id) {
            let mark = format!("[^{label}]");
            self.inline.push_raw(&mark);
            return past;
        }
        if self.notes.is_back_link(dom, id)
            || (matches!(self.flow, Flow::Heading(_)) && note::is_permalink(dom, id))
        {
            return past;
        }
        let Some(url) = dom.attr(id, Attr::Href).and_then(|href| self.options.base.resolve(href)) else {
            return NodeId(id.0 + 1);
        };
        if url.starts_with("data:") {
            return NodeId(id.0 + 1);
        }
        // When text comes after a picture block, the text is the better place for the link.
        let holds_blocks = dom.descendants(id).any(|node| is_block(dom.tag(node)));
        let wants_text = holds_blocks
            && dom.descendants(id).any(|node| self.keep.contains(node) && !dom.text(node).trim().is_empty());
        self.inline.open_link(&url, dom.attr(id, Attr::Title).unwrap_or_default().trim(), wants_text);
        self.push_frame(id, Exit::EndLink)
    }

    pub(super) fn write_image(&mut self, id: NodeId) {
        let dom = self.dom;
        if let Some(tex) = image::formula(dom, id) {
            self.inline.push_formula(Some((tex.to_owned(), false)));
            return;
        }
        let Some(source) = image::source(dom, id) else { return };
        if image::is_pixel(dom, id) || (source.starts_with("data:") && self.options.remove_base64_images) {
            return;
        }
        let address =
            if source.starts_with("data:") { Some(source.into()) } else { self.options.base.resolve(source) };
        if let Some(address) = address {
            let alt = dom.attr(id, Attr::Alt).unwrap_or_default();
            let alt = if self.said.has(alt, dom, self.keep) { "" } else { alt };
            let title = dom.attr(id, Attr::Title).unwrap_or_default().trim();
            let mut text = String::with_capacity(alt.len() + address.len() + 8);
            text.push_str("![");
            escape::alternative(alt, &mut text);
            text.push_str("](");
            escape::address(&address, &mut text);
            if !title.is_empty() && title != alt.trim() {
                escape::title(title, &mut text);
            }
            text.push(')');
            self.inline.push_image(&text);
        }
    }
}
