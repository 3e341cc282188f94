//! Links and images within text.

use super::{Exit, Flow, MarkdownWriter, escape, furniture_link};
use crate::formula::Formula;
use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};
use html::image;

/// Ancestors of a picture searched for the figure it is in, and nodes searched for its caption.
const MAX_FIGURE_STEPS: usize = 6;
const MAX_CAPTION_STEPS: usize = 64;
/// Nodes between a picture and the text beside it.
const MAX_STEPS_BESIDE: u32 = 16;

/// Whether the caption of a picture, or the text just before or after it, says exactly the same as its
/// alternative text.
fn is_caption(alt: &str, image: NodeId, dom: &Dom, keep: &NodeSet) -> bool {
    let is_text = |id: &NodeId| keep.contains(*id) && !dom.text(*id).trim().is_empty();
    let same = |text: &str| text.split_whitespace().eq(alt.split_whitespace());
    let first = dom.subtree_end(image).0;
    let last = u32::try_from(dom.len()).unwrap_or(u32::MAX).min(first + MAX_STEPS_BESIDE);
    let after = (first..last).map(NodeId).find(is_text);
    let before = (image.0.saturating_sub(MAX_STEPS_BESIDE)..image.0).rev().map(NodeId).find(is_text);
    if after.into_iter().chain(before).any(|id| same(dom.text(id))) {
        return true;
    }
    let figure = dom.ancestors(image).take(MAX_FIGURE_STEPS).find(|&node| dom.tag(node) == Tag::Figure);
    let caption = figure.and_then(|figure| {
        dom.children(figure).take(MAX_CAPTION_STEPS).find(|&node| dom.tag(node) == Tag::Figcaption)
    });
    caption.is_some_and(|caption| {
        let texts = dom.descendants(caption).take(MAX_CAPTION_STEPS).filter(is_text);
        texts.flat_map(|id| dom.text(id).split_whitespace()).eq(alt.split_whitespace())
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
        let in_title = self.titles > 0 || matches!(self.flow, Flow::Heading(_));
        if self.notes.is_back_link(dom, id) || furniture_link::is_furniture(dom, id, in_title) {
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
        if let Some((tex, display)) = image::formula_tex(dom, id) {
            let formula = Formula::new(tex, display);
            if !formula.as_ref().is_some_and(|formula| self.inline.ends_with_formula(formula)) {
                self.inline.push_formula(formula);
            }
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
            let alt = if is_caption(alt, id, dom, self.keep) { "" } else { alt };
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
