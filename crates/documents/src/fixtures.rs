//! What tests of readers share: bytes to markdown, and the files of the test kit.

pub(crate) use testkit::document_files::{docx, docx_with, open_document, relations, xlsx, zip_file};

use crate::{
    BlockKind, Content, DocumentError, FileHint, MarkdownOptions, Page, ParseOptions, parse, to_markdown,
};

pub(crate) fn markdown(bytes: &[u8]) -> String {
    try_markdown(bytes).expect("a document")
}

pub(crate) fn try_markdown(bytes: &[u8]) -> Result<String, DocumentError> {
    let document = parse(bytes, FileHint::default(), &ParseOptions::default())?;
    Ok(to_markdown(&document, MarkdownOptions::default()).text)
}

/// The comments of a page, which are its last block.
pub(crate) fn comment_texts(page: &Page) -> Vec<&str> {
    let block = page.blocks.last().expect("a block");
    let (BlockKind::PageFooter, Content::List(items)) = (block.kind, &block.content) else {
        panic!("no comments: {block:?}")
    };
    items.iter().map(|item| item.text[0].text.as_str()).collect()
}
