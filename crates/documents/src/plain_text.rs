//! Plain text written from the blocks: no marks at all, cells of a row separated by tabs.

use crate::block::{Block, Content, Document, Span};

/// Writes the whole document.
pub fn to_plain_text(document: &Document) -> String {
    let blocks = document.pages.iter().flat_map(|page| &page.blocks);
    let written: Vec<String> =
        blocks.filter(|block| !block.is_running()).map(block_text).filter(|text| !text.is_empty()).collect();
    written.join("\n\n")
}

/// One block without anything around it.
fn block_text(block: &Block) -> String {
    match &block.content {
        Content::Heading { text, .. } | Content::Paragraph(text) | Content::Quote(text) => joined(text),
        Content::List(items) => {
            let lines = items.iter().map(|item| match item.number {
                Some(number) => format!("{number}. {}", joined(&item.text)),
                None => joined(&item.text),
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        Content::Table(table) => {
            let rows = table.rows.iter().map(|row| {
                row.iter().map(|cell| one_line(&joined(&cell.text))).collect::<Vec<_>>().join("\t")
            });
            rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
        }
        Content::Code { text, .. } | Content::Formula(text) | Content::Markdown(text) => {
            text.trim().to_owned()
        }
        Content::Figure { alt, .. } => alt.trim().to_owned(),
    }
}

fn joined(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect::<String>().trim().to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
