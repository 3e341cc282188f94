//! `parsers`: which files are read, and how.

use super::nested;
use document_process::Mode;
use std::borrow::Cow;
use wire::scrape::{ParserInput, ParserObject, ScrapeOptions};
use wire::{Issues, SecretText};

/// PDF takes no longer ones: what is beyond would be cut off without a word.
const MAX_PASSWORD_BYTES: usize = 127;

/// Which files are read, and how. Office files, e-books, mails and CSV are read unless nothing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParserPlan {
    /// `parsers: []`: every file comes as base64.
    pub nothing: bool,
    /// Without it, PDFs come as base64.
    pub pdf: Option<PdfParser>,
    /// Whether pictures are read, where there is OCR.
    pub images: bool,
}

/// How PDFs are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PdfParser {
    pub mode: Mode,
    pub max_pages: Option<u32>,
    /// Opens encrypted files. What is read with it is only for who knows it.
    pub password: Option<SecretText>,
    /// What is written of a file, of any format.
    pub pages: bool,
    pub blocks: bool,
    pub page_markers: bool,
}

impl Default for ParserPlan {
    fn default() -> Self {
        Self { nothing: false, pdf: Some(PdfParser::default()), images: true }
    }
}

impl ParserPlan {
    /// Reads no more pages of a PDF than this, whatever was asked for.
    pub fn limit_pages(&mut self, max_pages: u32) {
        if let Some(pdf) = &mut self.pdf {
            pdf.max_pages = Some(pdf.max_pages.map_or(max_pages, |asked| asked.min(max_pages)));
        }
    }

    /// How a file is read and what is written of it.
    pub fn output(&self) -> Cow<'_, PdfParser> {
        self.pdf.as_ref().map_or_else(Cow::default, Cow::Borrowed)
    }

    /// The password that came with the request.
    pub fn password(&self) -> Option<&SecretText> {
        self.pdf.as_ref()?.password.as_ref()
    }
}

pub fn resolve(asked: &ScrapeOptions, issues: &mut Issues) -> ParserPlan {
    let Some(parsers) = &asked.parsers else { return ParserPlan::default() };
    let mut plan = ParserPlan { nothing: parsers.is_empty(), pdf: None, images: false };
    for (index, parser) in parsers.iter().enumerate() {
        let named;
        let parser = match parser {
            ParserInput::Object(object) => object,
            ParserInput::Plain(kind) => {
                named = ParserObject { kind: Some(kind.clone()), ..ParserObject::default() };
                &named
            }
        };
        let mut wrong = |key: &str, why: &str| issues.push(nested("parsers", index, key, why));
        let max_pages = parser.max_pages.map(|pages| u32::try_from(pages).unwrap_or(0));
        if max_pages.is_some_and(|pages| !(1..=10_000).contains(&pages)) {
            wrong("maxPages", "must be 1 to 10000");
        }
        if parser.password.as_ref().is_some_and(|SecretText(text)| text.len() > MAX_PASSWORD_BYTES) {
            wrong("password", &format!("must not have more than {MAX_PASSWORD_BYTES} bytes"));
        }
        let mode = match parser.mode.as_deref() {
            None | Some("auto") => Mode::Auto,
            Some("fast") => Mode::Fast,
            Some("ocr") => Mode::Ocr,
            Some(_) => {
                wrong("mode", "must be fast, auto or ocr");
                Mode::Auto
            }
        };
        match parser.kind.as_deref() {
            Some("pdf") => {
                plan.pdf = Some(PdfParser {
                    mode,
                    max_pages,
                    password: parser.password.clone(),
                    pages: parser.pages.or(parser.page_markdown).unwrap_or(false),
                    blocks: parser.blocks.unwrap_or(false),
                    page_markers: parser.page_markers.unwrap_or(false),
                });
            }
            Some("image") => {
                plan.images = true;
                let ParserObject {
                    kind: _,
                    mode,
                    max_pages,
                    pages,
                    blocks,
                    page_markers,
                    page_markdown,
                    password,
                } = parser;
                let for_pdf = [
                    ("mode", mode.is_some()),
                    ("maxPages", max_pages.is_some()),
                    ("pages", pages.is_some()),
                    ("blocks", blocks.is_some()),
                    ("pageMarkers", page_markers.is_some()),
                    ("pageMarkdown", page_markdown.is_some()),
                    ("password", password.is_some()),
                ];
                for (key, _) in for_pdf.into_iter().filter(|(_, is_given)| *is_given) {
                    wrong(key, "is an option of the parser pdf");
                }
            }
            _ => wrong("type", "must be pdf or image"),
        }
    }
    plan
}
