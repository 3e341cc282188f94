//! The texts of a page, passage by passage, with the position of each.

use super::SignPlace;
use super::hidden_elements::HiddenElements;
use crate::facts::text::is_inline;
use content::page::Page;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::ops::Range;

/// Text of one passage; longer ones are cut in two.
const MAX_PASSAGE_BYTES: usize = 8_000;

/// A passage.
#[derive(Debug, Default)]
pub(super) struct PagePassage {
    pub(super) text: String,
    pub(super) place: SignPlace,
    /// Ranges the page marks as code or quotation, in order.
    pub(super) quoted: Vec<Range<usize>>,
}

/// The passages of a page.
#[derive(Debug, Default)]
pub(super) struct Passages {
    pub(super) list: Vec<PagePassage>,
    pub(super) complete: bool,
    /// Title and headings, in lower case.
    pub(super) topic: String,
}

/// Collects the passages of a page; no more than `room` bytes of text.
pub(super) fn from_page(page: &Page, room: usize) -> Passages {
    let dom = page.dom();
    let looks = HiddenElements::find(dom);
    let mut collector = PassageCollector {
        passages: Passages { complete: true, ..Passages::default() },
        room,
        ..PassageCollector::default()
    };
    for id in dom.subtree(dom.root()) {
        if collector.room == 0 {
            collector.passages.complete = false;
            break;
        }
        if dom.is_text(id) {
            collector.text(dom, id, &looks);
        } else {
            collector.element(dom, id);
        }
    }
    collector.flush();
    collector.passages
}

#[derive(Default)]
struct PassageCollector {
    passages: Passages,
    seen: PagePassage,
    unseen: PagePassage,
    /// Ends of the open elements whose text is code, quotation, or ignored.
    quote_end: u32,
    skip_end: u32,
    room: usize,
}

impl PassageCollector {
    fn text(&mut self, dom: &Dom, id: NodeId, looks: &HiddenElements) {
        if id.0 < self.skip_end {
            return;
        }
        let passage = if looks.is_hidden(id) { &mut self.unseen } else { &mut self.seen };
        let text = dom.text(id);
        let text = &text[..text.floor_char_boundary(self.room)];
        self.room -= text.len().max(1).min(self.room);
        let start = passage.text.len();
        passage.text.push_str(text);
        if id.0 < self.quote_end {
            passage.quoted.push(start..passage.text.len());
        }
        if passage.text.len() > MAX_PASSAGE_BYTES {
            self.flush();
        }
    }

    fn element(&mut self, dom: &Dom, id: NodeId) {
        let tag = dom.tag(id);
        match tag {
            Tag::Script | Tag::Style | Tag::Svg | Tag::Iframe | Tag::Object => {
                self.skip_end = self.skip_end.max(dom.subtree_end(id).0);
            }
            Tag::Code | Tag::Pre | Tag::Kbd | Tag::Samp | Tag::Blockquote | Tag::Q | Tag::Xmp | Tag::Tt => {
                self.quote_end = self.quote_end.max(dom.subtree_end(id).0);
            }
            Tag::Title | Tag::H1 | Tag::H2 if self.passages.topic.len() < 2_000 => {
                self.passages.topic.push_str(&crate::facts::text::of_node(dom, id, None, 300).to_lowercase());
                self.passages.topic.push('\n');
            }
            Tag::Meta => {
                let name = dom
                    .attr(id, Attr::Name)
                    .or_else(|| dom.attr(id, Attr::Property))
                    .unwrap_or_default()
                    .to_ascii_lowercase();
                if name.contains("description")
                    || name.contains("title")
                    || name.contains("keywords")
                    || name.contains("abstract")
                {
                    self.add(dom.attr(id, Attr::Content), SignPlace::Metadata);
                }
            }
            Tag::Input if dom.attr(id, Attr::Type) == Some("hidden") => {
                self.add(dom.attr(id, Attr::Value), SignPlace::Hidden);
            }
            _ => {}
        }
        if tag == Tag::Br {
            self.seen.text.push('\n');
            self.unseen.text.push('\n');
        } else if !is_inline(tag) {
            self.flush();
        }
        for name in [Attr::Alt, Attr::Title, Attr::AriaLabel] {
            self.add(dom.attr(id, name), SignPlace::Attribute);
        }
    }

    /// A passage of its own.
    fn add(&mut self, text: Option<&str>, place: SignPlace) {
        // No instruction is shorter than a few words.
        if let Some(text) = text.filter(|text| text.len() >= 16) {
            let text = &text[..text.floor_char_boundary(MAX_PASSAGE_BYTES.min(self.room))];
            self.room -= text.len();
            self.passages.list.push(PagePassage { text: text.to_owned(), place, quoted: Vec::new() });
        }
    }

    fn flush(&mut self) {
        for (passage, place) in [(&mut self.seen, SignPlace::Visible), (&mut self.unseen, SignPlace::Hidden)]
        {
            let mut done = std::mem::take(passage);
            if done.text.trim().len() >= 4 {
                done.place = place;
                self.passages.list.push(done);
            }
        }
    }
}

/// The paragraphs of a text. Fenced and indented lines count as code, quotations as quoted.
pub(super) fn from_text(text: &str) -> Vec<PagePassage> {
    let mut passages = Vec::new();
    let mut passage = PagePassage::default();
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        budget::spend(1);
        let trimmed = line.trim_start();
        if trimmed.is_empty() || passage.text.len() > MAX_PASSAGE_BYTES {
            passages.push(std::mem::take(&mut passage));
        }
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let start = passage.text.len();
        passage.text.push_str(line);
        if fenced || fence || trimmed.starts_with('>') || line.starts_with("    ") {
            passage.quoted.push(start..passage.text.len());
        }
        fenced ^= fence;
    }
    passages.push(passage);
    passages.retain(|passage| passage.text.trim().len() >= 4);
    passages
}

/// The comments of markup.
pub(super) fn from_comments(html: &str) -> Vec<PagePassage> {
    let mut passages = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find("<!--") {
        budget::spend(1);
        rest = &rest[start + 4..];
        let end = rest.find("-->").unwrap_or(rest.len());
        let text = &rest[..end];
        rest = &rest[end..];
        // Conditional comments and those of builders hold markup, not sentences.
        if text.trim().len() >= 16 && !text.trim_start().starts_with('[') {
            let text = text[..text.floor_char_boundary(MAX_PASSAGE_BYTES)].to_owned();
            passages.push(PagePassage { text, place: SignPlace::Comment, quoted: Vec::new() });
        }
    }
    passages
}
