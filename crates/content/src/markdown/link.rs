//! Links and images within text.

use super::{Exit, Flow, MarkdownWriter, escape, footnotes};
use crate::select::words::hash_words;
use crate::word_set::WordSet;
use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};
use html::image;
use std::collections::HashSet;

/// Ancestors searched for the link of a picture, and nodes of a link searched for words.
const MAX_LINK_STEPS: usize = 16;
const MAX_LINK_NODES: usize = 200;

/// Words of the kept text, collected for the first image. The picture of a card is usually described by the
/// card's own title, which need not be written twice.
#[derive(Default)]
pub(super) struct WrittenTexts {
    words: Option<WordSet>,
    alternatives: HashSet<Vec<u32>>,
    /// URLs that some kept text links to.
    named: Option<HashSet<u64>>,
}

impl WrittenTexts {
    /// Whether the picture is in a link to a URL that a text links to as well: then the text names it, and
    /// the alternative text is not needed.
    fn names(&mut self, image: NodeId, dom: &Dom, keep: &NodeSet) -> bool {
        let link = dom.ancestors(image).take(MAX_LINK_STEPS).find(|&node| dom.tag(node) == Tag::A);
        let Some(address) = link.and_then(|link| dom.attr(link, Attr::Href)) else { return false };
        let named = self.named.get_or_insert_with(|| {
            let links = dom.subtree(dom.root()).filter(|&node| dom.tag(node) == Tag::A);
            let in_words = links.filter(|&link| {
                let end = dom.subtree_end(link);
                let kept = std::iter::successors(keep.first_in(link, end), |id| {
                    keep.first_in(NodeId(id.0 + 1), end)
                });
                kept.take(MAX_LINK_NODES).any(|id| !dom.text(id).trim().is_empty())
            });
            in_words.filter_map(|link| dom.attr(link, Attr::Href)).map(hash).collect()
        });
        named.contains(&hash(address))
    }

    /// Whether at least half the words of an image's alternative text are in the text anyway, or another
    /// image said it.
    fn has(&mut self, alt: &str, dom: &Dom, keep: &NodeSet, words: Option<&WordSet>) -> bool {
        let mut hashes = Vec::new();
        hash_words(alt, &mut hashes);
        if hashes.is_empty() {
            return false;
        }
        let words = words.unwrap_or_else(|| self.words.get_or_insert_with(|| read_words(dom, keep)));
        let known = hashes.iter().filter(|&&hash| words.contains(hash)).count();
        known * 2 >= hashes.len() || !self.alternatives.insert(hashes)
    }
}

fn read_words(dom: &Dom, keep: &NodeSet) -> WordSet {
    let (mut words, mut hashes) = (WordSet::default(), Vec::new());
    for id in keep.iter().filter(|&id| dom.is_text(id)) {
        hashes.clear();
        hash_words(dom.text(id), &mut hashes);
        words.extend(&hashes);
    }
    words
}

fn hash(address: &str) -> u64 {
    address.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl MarkdownWriter<'_> {
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
            || (matches!(self.flow, Flow::Heading(_)) && footnotes::is_permalink(dom, id))
        {
            return past;
        }
        let Some(url) = dom.attr(id, Attr::Href).and_then(|href| self.options.base.resolve(href)) else {
            return NodeId(id.0 + 1);
        };
        if url.starts_with("data:") {
            return NodeId(id.0 + 1);
        }
        // When text follows a picture block, the link is better placed at the text.
        let holds_blocks = dom.descendants(id).any(|node| dom.tag(node).is_block());
        let wants_text = holds_blocks
            && dom.descendants(id).any(|node| self.keep.contains(node) && !dom.text(node).trim().is_empty());
        self.inline.open_link(&url, dom.attr(id, Attr::Title).unwrap_or_default().trim(), wants_text);
        self.push_frame(id, Exit::EndLink)
    }

    pub(super) fn write_image(&mut self, id: NodeId) {
        let dom = self.dom;
        if let Some(tex) = image::formula_tex(dom, id) {
            self.inline.push_formula(Some((tex.to_owned(), false)));
            return;
        }
        let Some(source) = image::best_source(dom, id) else { return };
        if image::is_pixel(dom, id) || (source.starts_with("data:") && self.options.remove_base64_images) {
            return;
        }
        let address =
            if source.starts_with("data:") { Some(source.into()) } else { self.options.base.resolve(source) };
        if let Some(address) = address {
            let alt = dom.attr(id, Attr::Alt).unwrap_or_default();
            let needless = self.written.names(id, dom, self.keep)
                || self.written.has(alt, dom, self.keep, self.options.words);
            let alt = if needless { "" } else { alt };
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
