//! What is asked of the process, and what it answers.

use documents::{Document, FileKind};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The largest file that is read, uploaded or fetched.
pub const MAX_FILE_BYTES: u64 = 50 * 1024 * 1024;

/// Which pages of a PDF are read from their text, and which from their picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Text only.
    Fast,
    /// Text where a page has usable text, its picture otherwise.
    #[default]
    Auto,
    /// Every page from its picture.
    Ocr,
}

/// What is known about a file, and how it is to be read.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ParseJob {
    pub name: Option<String>,
    pub content_type: Option<String>,
    pub mode: Mode,
    pub max_pages: Option<u32>,
    pub password: Option<String>,
}

// Written by hand so that the password never reaches a log.
impl std::fmt::Debug for ParseJob {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ParseJob")
            .field("name", &self.name)
            .field("content_type", &self.content_type)
            .field("mode", &self.mode)
            .field("max_pages", &self.max_pages)
            .field("password", &self.password.as_ref().map(|_| "[redacted]"))
            .finish()
    }
}

/// A file after reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParsedFile {
    pub kind: FileKind,
    pub document: Document,
    /// Pages whose text could not be read, or not well, because no OCR looked at their picture.
    pub pages_needing_ocr: Vec<u32>,
    pub pages_read_by_ocr: Vec<u32>,
}

impl ParsedFile {
    /// Pages that were read: what a PDF is priced by.
    pub fn pages_read(&self) -> u32 {
        u32::try_from(self.document.pages.len()).unwrap_or(u32::MAX)
    }
}

/// A job on its way into the process, with the time that it has there.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) job: ParseJob,
    pub(crate) time_limit: Duration,
}
