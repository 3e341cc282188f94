//! Pages, blocks and metadata of a file in the words of the API.

use document_process::ParsedFile;
use documents::Markdown;
use engine::scrape::file_formats::to_wire_blocks;
use serde_json::{Value, json};
use wire::scrape::FilePage;

/// The markdown of each page by itself.
pub fn pages(markdown: &Markdown) -> Value {
    let pages = markdown.pages.iter();
    json!(
        pages
            .map(|page| FilePage { page_number: page.number, markdown: page.text.clone() })
            .collect::<Vec<_>>()
    )
}

/// The blocks of all pages, each with its place on the page and in the markdown.
pub fn blocks(parsed: &ParsedFile, markdown: &Markdown) -> Value {
    json!(to_wire_blocks(parsed, markdown, &str::to_owned))
}

/// What the file says about itself, and how much of it was read.
pub fn metadata(parsed: &ParsedFile) -> Value {
    let mut shown = json!(parsed.document.metadata);
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    shown["contentType"] = json!(parsed.kind.media_type());
    shown["numPages"] = json!(parsed.pages_read());
    shown["totalPages"] = json!(parsed.document.total_pages);
    if !parsed.pages_read_by_ocr.is_empty() {
        shown["pagesReadByOcr"] = json!(parsed.pages_read_by_ocr);
    }
    shown
}
