//! Data that is text: kept as it is, in a block of code.

use crate::block::{Block, BlockKind, Content, Document, Page};

/// Above this size the text is not laid out anew.
const MAX_PRETTY_BYTES: usize = 4 * 1024 * 1024;

pub(crate) fn parse_json(text: &str) -> Document {
    // One long line is for programs; a person gets it with line ends.
    let is_compact = text.trim().lines().nth(1).is_none() && text.len() <= MAX_PRETTY_BYTES;
    let pretty = is_compact
        .then(|| serde_json::from_str::<serde_json::Value>(text).ok())
        .flatten()
        .and_then(|value| serde_json::to_string_pretty(&value).ok());
    code("json", pretty.as_deref().unwrap_or(text))
}

pub(crate) fn parse_xml(text: &str) -> Document {
    code("xml", text)
}

fn code(language: &str, text: &str) -> Document {
    let content = Content::Code { language: Some(language.to_owned()), text: text.trim().to_owned() };
    let blocks = vec![Block::native(BlockKind::Text, content)];
    Document { pages: vec![Page::whole(blocks)], total_pages: 1, ..Document::default() }
}
