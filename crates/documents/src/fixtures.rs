//! What tests of readers share: bytes to markdown, and the files of the test kit.

pub(crate) use testkit::document_files::{docx, docx_with, open_document, relations, xlsx, zip_file};

use crate::{DocumentError, FileHint, MarkdownOptions, ParseOptions, parse, to_markdown};

pub(crate) fn markdown(bytes: &[u8]) -> String {
    try_markdown(bytes).expect("a document")
}

pub(crate) fn try_markdown(bytes: &[u8]) -> Result<String, DocumentError> {
    let document = parse(bytes, FileHint::default(), &ParseOptions::default())?;
    Ok(to_markdown(&document, MarkdownOptions::default()).text)
}
