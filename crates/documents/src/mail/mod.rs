//! Letters: EML and MSG. What is attached is listed, not read.

mod eml;
mod msg;

pub(crate) use eml::parse_eml;
pub(crate) use msg::parse_msg;

use crate::block::{Block, BlockKind, Content, Document, ListItem, Page, Span};
use crate::html_body::{drop_inner_addresses, parse_html_body};

/// A letter, whatever the format it came in.
#[derive(Debug, Default)]
struct Letter {
    subject: String,
    from: String,
    to: String,
    copies: String,
    /// ISO 8601.
    date: String,
    body: Vec<Block>,
    attachments: Vec<Attachment>,
}

#[derive(Debug, Default)]
struct Attachment {
    name: String,
    media_type: String,
    bytes: Option<usize>,
}

/// The HTML body of a letter as blocks.
fn html_blocks(html: &[u8], content_type: &str) -> Vec<Block> {
    let mut blocks = parse_html_body(html, content_type).blocks;
    drop_inner_addresses(&mut blocks);
    blocks
}

impl Letter {
    fn into_document(self) -> Document {
        let mut blocks = Vec::new();
        if !self.subject.trim().is_empty() {
            let text = vec![Span::plain(self.subject.trim())];
            blocks.push(Block::native(BlockKind::Title, Content::Heading { level: 1, text }));
        }
        let fields = [("From", &self.from), ("To", &self.to), ("Cc", &self.copies), ("Date", &self.date)];
        let mut head = Vec::new();
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.trim().is_empty()) {
            if !head.is_empty() {
                head.push(Span::plain("\n"));
            }
            head.push(Span { bold: true, ..Span::plain(name) });
            head.push(Span::plain(format!(": {}", value.trim())));
        }
        if !head.is_empty() {
            blocks.push(Block::native(BlockKind::Text, Content::Paragraph(head)));
        }
        blocks.extend(self.body);
        if !self.attachments.is_empty() {
            let text = vec![Span::plain("Attachments")];
            blocks.push(Block::native(BlockKind::SectionHeader, Content::Heading { level: 2, text }));
            let items = self.attachments.into_iter().map(Attachment::into_item).collect();
            blocks.push(Block::native(BlockKind::Text, Content::List(items)));
        }
        let mut document =
            Document { pages: vec![Page::whole(blocks)], total_pages: 1, ..Document::default() };
        let known = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        document.metadata.title = known(self.subject);
        document.metadata.author = known(self.from);
        document.metadata.created = known(self.date);
        document
    }
}

impl Attachment {
    fn into_item(self) -> ListItem {
        let name = if self.name.trim().is_empty() { "(without a name)" } else { self.name.trim() };
        let kind = Some(self.media_type).filter(|kind| !kind.is_empty());
        let details: Vec<String> =
            kind.into_iter().chain(self.bytes.map(|bytes| format!("{bytes} bytes"))).collect();
        let text =
            if details.is_empty() { name.to_owned() } else { format!("{name} ({})", details.join(", ")) };
        ListItem { depth: 0, number: None, text: vec![Span::plain(text)] }
    }
}

#[cfg(test)]
mod tests;
