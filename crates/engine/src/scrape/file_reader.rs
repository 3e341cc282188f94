//! Pages that are files: a PDF, an office file, a picture. Here is decided whether a response is one, by its
//! first bytes; what it is and what it says is found out in a sandboxed process ([`document_process`]).

use super::fetched_page::PageResponse;
use super::plan::ScrapePlan;
use super::spans::document_span;
use crate::Error;
use crate::page_memory::{BodyMemory, TeamMemory};
use document_process::{DocumentParser, FileAnswer, MAX_FILE_BYTES, ParseError, ParseJob, ParsedFile};
use net::Deadline;
use std::sync::Arc;
use tracing::Instrument as _;
use url::Url;
use uuid::Uuid;
use wire::SecretText;

/// A file grows when it is read: so many times, as far as its part of the memory for pages is concerned.
pub const MEMORY_GROWTH: usize = 8;
/// What becomes of the answer of a process before a document is written of it: blocks, and a page.
const ANSWER_GROWTH: usize = 4;
/// Some programs write bytes of their own before a PDF.
const PDF_SEARCH_BYTES: usize = 1024;

/// What the first bytes of a response say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileGuess {
    Pdf,
    Picture,
    /// An office file, a letter, a table.
    Other,
}

/// Whether a body is a file that can be read rather than a page.
fn guess_file(body: &[u8], content_type: Option<&str>) -> Option<FileGuess> {
    let start = &body[..body.len().min(PDF_SEARCH_BYTES)];
    let is_markup = start.trim_ascii_start().starts_with(b"<");
    if !is_markup && start.windows(5).any(|five| five == b"%PDF-") {
        return Some(FileGuess::Pdf);
    }
    let begins_with = |signatures: &[&[u8]]| signatures.iter().any(|signature| start.starts_with(signature));
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let pictures: [&[u8]; 8] = [
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"GIF87a",
        b"GIF89a",
        b"II*\0",
        b"MM\0*",
        b"\0\0\0\x0cjP  \r\n\x87\n",
        b"\xff\x4f\xff\x51",
    ];
    let is_bitmap = start.starts_with(b"BM") && media_type.starts_with("image/");
    let is_webp = start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP");
    let is_avif = start.get(4..8) == Some(b"ftyp") && matches!(start.get(8..12), Some(b"avif" | b"avis"));
    if begins_with(&pictures) || is_bitmap || is_webp || is_avif {
        return Some(FileGuess::Picture);
    }
    let packages: [&[u8]; 3] = [b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"];
    // What only looks like text is taken at its word.
    let named = ["text/csv", "text/tab-separated-values", "message/rfc822", "application/x-ipynb+json"];
    let is_named = !is_markup && named.iter().any(|name| media_type.eq_ignore_ascii_case(name));
    (begins_with(&packages) || is_named).then_some(FileGuess::Other)
}

/// Reads files for the requests of one team.
#[derive(Debug, Clone, Copy)]
pub struct FileReader<'a> {
    pub documents: &'a DocumentParser,
    pub memory: &'a TeamMemory,
    pub team: Uuid,
}

impl FileReader<'_> {
    /// The blocks of a response that is a file which the plan wants to be read; none for anything else.
    pub async fn read_response(
        &self,
        plan: &ScrapePlan,
        response: &mut PageResponse,
        deadline: Deadline,
    ) -> Result<Option<Arc<ParsedFile>>, Error> {
        if plan.takes_all_files() {
            return Ok(None);
        }
        let Some(guess) = guess_file(&response.body, response.content_type.as_deref()) else {
            return Ok(None);
        };
        match guess {
            FileGuess::Pdf if plan.parsers.pdf.is_none() => return Ok(None),
            FileGuess::Picture if !plan.parsers.images => return Ok(None),
            FileGuess::Picture if !self.documents.has_ocr() => {
                return Err(Error::File(ParseError::OcrRequired { pages: Vec::new() }));
            }
            _ => {}
        }
        if response.cut {
            let why = format!("{} MB are allowed", MAX_FILE_BYTES >> 20);
            return Err(Error::File(ParseError::TooLarge(why)));
        }
        let bytes = response.body.len().saturating_mul(MEMORY_GROWTH);
        if let Some(room) = response.held_memory.grow(self.memory, bytes) {
            deadline.run(room).await.map_err(|_| Error::NoMemory)?;
        }
        let job = parse_job(plan, file_name(&response.url), response.content_type.clone());
        let body = response.body.clone();
        let span = document_span();
        let reading = self.documents.read_bytes(self.team, body, &job, deadline.remaining());
        let answer = reading.instrument(span).await;
        match decode(answer, &mut response.held_memory, self.memory, deadline).await? {
            Ok(file) => Ok(Some(Arc::new(file))),
            Err(ParseError::Html) => Ok(None),
            Err(error) => Err(Error::from_file(error)),
        }
    }
}

/// Makes a file of what a process has answered, when there is room for it. The outer error is about the request.
pub async fn decode(
    answer: Result<FileAnswer, ParseError>,
    held: &mut BodyMemory,
    memory: &TeamMemory,
    deadline: Deadline,
) -> Result<Result<ParsedFile, ParseError>, Error> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return Ok(Err(error)),
    };
    let bytes = answer.bytes().saturating_mul(ANSWER_GROWTH);
    deadline.run(held.hold_file(memory, bytes)).await.map_err(|_| Error::NoMemory)?;
    Ok(answer.decode().await)
}

/// How a plan wants a file to be read.
pub fn parse_job(plan: &ScrapePlan, name: Option<String>, content_type: Option<String>) -> ParseJob {
    let pdf = plan.parsers.output();
    let password = plan.parsers.password().map(|SecretText(text)| text.clone());
    ParseJob { name, content_type, mode: pdf.mode, max_pages: pdf.max_pages, password }
}

/// The last part of an address.
fn file_name(url: &Url) -> Option<String> {
    let name = url.path_segments()?.next_back()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_pages_by_their_bytes() {
        let guess = |bytes: &[u8], label| guess_file(bytes, label);
        assert_eq!(guess(b"%PDF-1.7\n", Some("text/html")), Some(FileGuess::Pdf));
        assert_eq!(guess(b"junk\n%PDF-1.4\n", Some("application/pdf")), Some(FileGuess::Pdf));
        assert_eq!(guess(b"<p>A file begins with %PDF-1.7", Some("text/html")), None);
        assert_eq!(guess(b"PK\x03\x04....", Some("application/octet-stream")), Some(FileGuess::Other));
        assert_eq!(guess(b"\xff\xd8\xff\xe0", None), Some(FileGuess::Picture));
        assert_eq!(guess(b"BM is a company", Some("text/plain")), None);
        assert_eq!(guess(b"a,b\n1,2\n", Some("Text/CSV; charset=utf-8")), Some(FileGuess::Other));
        assert_eq!(guess(b"a,b\n1,2\n", Some("text/plain")), None);
        assert_eq!(guess(b"<!doctype html><p>no table", Some("text/csv")), None);
        assert_eq!(guess(b"{\"a\": 1}", Some("application/json")), None);
        assert_eq!(guess(b"", Some("application/pdf")), None);
    }
}
