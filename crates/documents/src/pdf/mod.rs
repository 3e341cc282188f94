//! PDF: bytes to pages of blocks.
//!
//! The parser (pdf-inspector) gives pieces of text with their places; everything else is done here: lines, reading
//! order, tables, headings, lists, running headers. Called in a process that can be killed; nothing here does I/O, and
//! nothing recurses over the input.

mod blocks;
mod columns;
mod content_tokens;
mod continued;
mod direction;
mod doubled_glyphs;
mod edge_lines;
mod furniture;
mod geometry;
mod headings;
mod lines;
mod links;
mod lists;
mod metadata;
mod options;
mod overlay;
mod owner_password;
mod page;
mod page_content;
mod page_numbers;
mod paths;
mod recognized;
mod runs;
mod source;
mod tables;
mod text_items;
mod visual_order;

pub use options::{MAX_PAGES, OcrReason, PageNeedingOcr, PdfError, PdfMode, PdfOptions, StopSignal};
pub use overlay::{Mark, MarkedPage, PicturePages, draw_marks};

pub(crate) use page::ocr_warning;
pub(crate) use recognized::build_recognized_pages;

use crate::block::Document;

/// A PDF after reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PdfDocument {
    pub document: Document,
    /// Pages whose text cannot be read, or not well, without looking at their picture.
    pub pages_needing_ocr: Vec<PageNeedingOcr>,
    /// The table of contents that the file carries: title and level (from 1).
    pub outline: Vec<(String, u8)>,
}

/// Reads a PDF. One bad page never fails the file: it is in the result with its status and a warning.
///
/// # Errors
/// When the bytes are no PDF, when it is locked, when nothing of it can be read, or when `stop` is set.
pub fn read_pdf(bytes: &[u8], options: &PdfOptions, stop: &StopSignal<'_>) -> Result<PdfDocument, PdfError> {
    let source = source::read_source(bytes, options, stop)?;
    page::build_document(source, options, stop)
}
