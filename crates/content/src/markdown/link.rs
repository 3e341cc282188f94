//! Links and images within text.

use super::{Exit, Flow, Writer, escape, is_block, note};
use crate::dom::{Attr, Dom, NodeId};
use crate::image;
use crate::node_set::NodeSet;
use std::collections::HashSet;

/// Bits of the table of words: a few thousand words leave it nearly empty, so chance hits are rare and harmless.
const TABLE_BITS: usize = 1 << 17;

/// Words the kept text already has, gathered when the first image asks. A card's picture is usually described by the
/// card's own title; writing that twice helps nobody.
#[derive(Default)]
pub(super) struct Said {
    words: Option<Vec<u64>>,
    alternatives: HashSet<u64>,
}

impl Said {
    /// Whether at least half the words of an image's alternative text are in the text anyway, or another image said it.
    fn has(&mut self, alt: &str, dom: &Dom, keep: &NodeSet) -> bool {
        if alt.is_empty() {
            return false;
        }
        let table = self.words.get_or_insert_with(|| {
            let mut table = vec![0; TABLE_BITS / 64];
            for id in keep.iter().filter(|&id| dom.is_text(id)) {
                for_words(dom.text(id), |slot, _| table[slot / 64] |= 1 << (slot % 64));
            }
            table
        });
        let (mut all, mut known, mut whole) = (0_usize, 0_usize, 0_u64);
        for_words(alt, |slot, hash| {
            all += 1;
            known += usize::from(table[slot / 64] & (1 << (slot % 64)) != 0);
            whole = whole.rotate_left(7) ^ hash;
        });
        all > 0 && (known * 2 >= all || !self.alternatives.insert(whole))
    }
}

/// Visits each word by its hash, ASCII letters in lower case, and by its slot in the table.
fn for_words(text: &str, mut visit: impl FnMut(usize, u64)) {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let mut hash = START;
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && c.is_alphanumeric()) {
            hash = (hash ^ u64::from(u32::from(c.to_ascii_lowercase()))).wrapping_mul(0x0100_0000_01b3);
        } else if hash != START {
            // The low bits of this hash depend on all of the word.
            visit(usize::try_from(hash % TABLE_BITS as u64).unwrap_or(0), hash);
            hash = START;
        }
    }
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
