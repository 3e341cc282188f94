//! Links and images within text.

use super::{Exit, Flow, MarkdownWriter, escape, furniture_link};
use crate::formula::Formula;
use html::dom::{Attr, NodeId};
use html::image;

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
            let alt = self.picture_texts.choose(alt, id, dom, self.keep);
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
