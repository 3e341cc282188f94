//! What a caller may ask of the PDF reader, and how it can fail.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Pages read at most, whatever the caller asks for.
pub const MAX_PAGES: u32 = 10_000;

/// Which pages are read from their text and which are left to OCR.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PdfMode {
    /// Text only.
    Fast,
    /// Text where the page has usable text; the other pages are named in [`super::PdfDocument::pages_needing_ocr`].
    #[default]
    Auto,
    /// Every page is named for OCR; its text is still returned.
    Ocr,
}

#[derive(Clone, Default)]
pub struct PdfOptions {
    pub max_pages: Option<u32>,
    pub password: Option<String>,
    pub mode: PdfMode,
}

// Written by hand so that the password never reaches a log.
impl std::fmt::Debug for PdfOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PdfOptions")
            .field("max_pages", &self.max_pages)
            .field("password", &self.password.as_ref().map(|_| "[redacted]"))
            .field("mode", &self.mode)
            .finish()
    }
}

/// When to give up: at a point in time, or when somebody sets the flag.
#[derive(Debug, Clone, Copy, Default)]
pub struct StopSignal<'a> {
    pub deadline: Option<Instant>,
    pub flag: Option<&'a AtomicBool>,
}

impl StopSignal<'_> {
    pub fn is_set(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PdfError {
    #[error("The file is not a PDF")]
    NotPdf,
    #[error("The PDF is protected by a password")]
    PasswordRequired,
    #[error("The password of the PDF is wrong")]
    WrongPassword,
    #[error("The PDF is damaged: {0}")]
    Damaged(String),
    #[error("The PDF has no pages")]
    NoPages,
    #[error("Reading the PDF took too long")]
    Stopped,
}

/// A page that cannot be read from its text alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageNeedingOcr {
    /// From 1.
    pub page: u32,
    pub reason: OcrReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OcrReason {
    /// A picture covers the page and there is no text.
    Scanned,
    /// The text of the page is nothing but characters that the fonts do not explain.
    GarbledText,
    /// The caller asked for OCR of every page.
    Requested,
}
