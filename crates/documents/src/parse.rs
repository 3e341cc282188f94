//! The one entry: bytes to a document, whatever the format.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::block::Document;
use crate::detect::{FileHint, FileKind, detect};
use crate::error::DocumentError;
use crate::mail::{parse_eml, parse_msg};
use crate::office::{
    LegacyFormat, parse_docx, parse_epub, parse_legacy, parse_odp, parse_ods, parse_odt, parse_pptx,
    parse_xls, parse_xlsb, parse_xlsx,
};
use crate::package::Archive;
use crate::pdf::{PdfOptions, StopSignal, read_pdf};
use crate::text::{
    decode_text, parse_delimited, parse_json, parse_markdown, parse_notebook, parse_plain, parse_xml,
};

/// What a caller may ask of the readers.
#[derive(Debug, Clone, Default)]
pub struct ParseOptions<'a> {
    pub pdf: PdfOptions,
    /// When to give up; the other formats are bounded by their size alone.
    pub stop: StopSignal<'a>,
}

/// Reads a file. What it is, is decided by its bytes; the hint only breaks ties.
pub fn parse(
    bytes: &[u8],
    hint: FileHint<'_>,
    options: &ParseOptions<'_>,
) -> Result<Document, DocumentError> {
    let kind = detect(bytes, hint)?;
    if kind == FileKind::Pdf {
        return Ok(read_pdf(bytes, &options.pdf, &options.stop)?.document);
    }
    let document = parse_kind(bytes, kind)?;
    let is_empty = document.pages.iter().all(|page| page.blocks.is_empty());
    if is_empty && document.warnings.is_empty() { Err(DocumentError::Empty) } else { Ok(document) }
}

fn parse_kind(bytes: &[u8], kind: FileKind) -> Result<Document, DocumentError> {
    let zip = || Archive::open(bytes);
    let text = || decode_text(bytes);
    match kind {
        FileKind::Xlsx => guarded(|| parse_xlsx(bytes, &mut zip()?)),
        FileKind::Xlsb => guarded(|| parse_xlsb(bytes, &mut zip()?)),
        FileKind::Xls => guarded(|| parse_xls(bytes)),
        FileKind::Doc => guarded(|| parse_legacy(bytes, LegacyFormat::Doc)),
        FileKind::Ppt => guarded(|| parse_legacy(bytes, LegacyFormat::Ppt)),
        FileKind::Rtf => guarded(|| parse_legacy(bytes, LegacyFormat::Rtf)),
        FileKind::Eml => guarded(|| parse_eml(bytes)),
        FileKind::Msg => guarded(|| parse_msg(bytes)),
        FileKind::Epub => parse_epub(&mut zip()?),
        FileKind::Docx => parse_docx(&mut zip()?),
        FileKind::Pptx => parse_pptx(&mut zip()?),
        FileKind::Odt => parse_odt(&mut zip()?),
        FileKind::Odp => parse_odp(&mut zip()?),
        FileKind::Ods => parse_ods(&mut zip()?),
        FileKind::Csv => Ok(parse_delimited(&text())),
        FileKind::Notebook => parse_notebook(&text()),
        FileKind::Markdown => Ok(parse_markdown(&text())),
        FileKind::Text => Ok(parse_plain(&text())),
        FileKind::Json => Ok(parse_json(&text())),
        FileKind::Xml => Ok(parse_xml(&crate::package::decode_xml(bytes))),
        FileKind::Html => Err(DocumentError::Html),
        kind if kind.is_image() => Err(DocumentError::NeedsOcr),
        kind => Err(DocumentError::Unsupported(kind.name().to_owned())),
    }
}

/// Runs a reader that is somebody else's: a fault in it is a fault of this file, not of the process.
fn guarded(read: impl FnOnce() -> Result<Document, DocumentError>) -> Result<Document, DocumentError> {
    let result = catch_unwind(AssertUnwindSafe(read));
    result.unwrap_or_else(|_| Err(DocumentError::damaged("its structure makes no sense")))
}

#[cfg(test)]
mod tests;
