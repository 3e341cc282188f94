//! Files to typed blocks, and blocks to markdown.
//!
//! Every format is read into the same model ([`Document`]: pages of [`Block`]s in reading order), and markdown is
//! written from the blocks, so a block always knows which part of the markdown it is.

mod block;
mod detect;
mod error;
#[cfg(test)]
mod fixtures;
mod flatten;
mod flow;
mod html;
mod html_body;
mod limit;
mod link_target;
mod mail;
mod markdown;
mod markdown_blocks;
mod numbers;
mod ocr;
mod office;
mod package;
mod parse;
pub mod pdf;
mod picture_reader;
mod plain_text;
mod recognized;
mod table;
mod text;

pub use block::{
    Block, BlockKind, Cell, Confidence, Content, Document, ListItem, Metadata, Page, PageStatus, Rect,
    Script, Source, Span, Table,
};
pub use detect::{FileHint, FileKind, detect};
pub use error::DocumentError;
pub use html::to_html;
pub use limit::{MAX_TEXT_BYTES, limit_text, text_bytes};
pub use markdown::{BlockMarkdown, Markdown, MarkdownOptions, PageMarkdown, to_markdown};
pub use ocr::{parse_picture, read_pages_by_ocr};
pub use parse::{ParseOptions, parse};
pub use picture_reader::{PdfPageReader, PictureReader};
pub use plain_text::to_plain_text;
pub use recognized::{PictureError, RecognizedImage, RecognizedLine, RecognizedPage};
