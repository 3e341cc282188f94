//! The work of the process: reads one file after another. Everything here runs without any rights.

use crate::error::ParseError;
use crate::job::{MAX_FILE_BYTES, Mode, ParseJob, ParsedFile, Request};
use documents::pdf::{PdfMode, PdfOptions, StopSignal, read_pdf};
use documents::{
    Block, Content, Document, FileHint, FileKind, PageStatus, ParseOptions, PictureReader, detect,
    limit_text, parse, parse_picture, read_pages_by_ocr,
};
use sandbox::{Handler, ReceivedJob};
use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

/// Time that is kept back from OCR, so that what was read until then can be laid out and answered: this much, or a
/// fifth of what there is.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// Makes the handler of the role, in the process, before it gives up its rights: with OCR where there is a
/// reader of pictures, which must have opened whatever files it needs.
pub fn prepare(reader: Option<Box<dyn PictureReader>>) -> Handler {
    Box::new(move |received| handle(received, reader.as_deref()))
}

/// The answer is a `Result<ParsedFile, ParseError>` as JSON.
fn handle(received: ReceivedJob, reader: Option<&dyn PictureReader>) -> Vec<u8> {
    let started = Instant::now();
    let result: Result<ParsedFile, ParseError> = serde_json::from_slice(&received.options)
        .map_err(|error| ParseError::Unavailable(format!("the job cannot be read ({error})")))
        .and_then(|Request { job, time_limit }| {
            let deadline = started.checked_add(time_limit);
            let ocr_time = time_limit.saturating_sub(ANSWER_TIME.min(time_limit / 5));
            let ocr_deadline = started.checked_add(ocr_time);
            let bytes = read_input(received.input)?;
            let mut file =
                FileReader { bytes: &bytes, job: &job, deadline, ocr_deadline, pictures: reader }.parse()?;
            limit_text(&mut file.document);
            Ok(file)
        });
    serde_json::to_vec(&result).unwrap_or_default()
}

pub(crate) fn read_input(input: File) -> Result<Vec<u8>, ParseError> {
    let mut bytes = Vec::new();
    input
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ParseError::Unavailable(format!("the file cannot be read ({error})")))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ParseError::TooLarge(format!("{} MB are allowed", MAX_FILE_BYTES / (1024 * 1024))));
    }
    Ok(bytes)
}

/// One file, and how it is to be read.
struct FileReader<'a> {
    bytes: &'a [u8],
    job: &'a ParseJob,
    deadline: Option<Instant>,
    /// Earlier, so that the result of OCR is not lost.
    ocr_deadline: Option<Instant>,
    /// What reads pictures, where there is OCR.
    pictures: Option<&'a dyn PictureReader>,
}

impl FileReader<'_> {
    fn parse(&self) -> Result<ParsedFile, ParseError> {
        let job = self.job;
        let hint = FileHint { name: job.name.as_deref(), content_type: job.content_type.as_deref() };
        let kind = detect(self.bytes, hint)?;
        match kind {
            FileKind::Pdf => self.parse_pdf(),
            kind if kind.is_image() => self.parse_picture(kind),
            kind => {
                let options = ParseOptions { stop: self.stop(), ..ParseOptions::default() };
                let document = parse(self.bytes, hint, &options)?;
                let none = Vec::new();
                Ok(ParsedFile { kind, document, pages_needing_ocr: none.clone(), pages_read_by_ocr: none })
            }
        }
    }

    fn stop(&self) -> StopSignal<'_> {
        StopSignal { deadline: self.deadline, flag: None }
    }

    fn stop_of_ocr(&self) -> StopSignal<'_> {
        StopSignal { deadline: self.ocr_deadline, flag: None }
    }

    /// Pictures are read by OCR alone.
    fn parse_picture(&self, kind: FileKind) -> Result<ParsedFile, ParseError> {
        let required = || ParseError::OcrRequired { pages: Vec::new() };
        let reader = self.pictures.filter(|_| self.job.mode != Mode::Fast).ok_or_else(required)?;
        let stop = self.stop_of_ocr();
        let document = parse_picture(self.bytes, kind, self.job.max_pages, reader, &stop)?;
        let read = document.pages.iter().filter(|page| page.status != PageStatus::Failed);
        let pages_read_by_ocr = read.map(|page| page.number).collect();
        Ok(ParsedFile { kind, document, pages_needing_ocr: Vec::new(), pages_read_by_ocr })
    }

    /// Pages without usable text are left to OCR. Where there is none, the file is returned without them, unless
    /// nothing else is left of it.
    fn parse_pdf(&self) -> Result<ParsedFile, ParseError> {
        let job = self.job;
        let mode = match job.mode {
            Mode::Fast => PdfMode::Fast,
            Mode::Auto => PdfMode::Auto,
            Mode::Ocr => PdfMode::Ocr,
        };
        let options = PdfOptions { max_pages: job.max_pages, password: job.password.clone(), mode };
        let mut pdf = read_pdf(self.bytes, &options, &self.stop())?;
        let mut pages_read_by_ocr = Vec::new();
        match self.pictures.filter(|_| job.mode != Mode::Fast) {
            Some(reader) => {
                let password = job.password.as_deref();
                pages_read_by_ocr =
                    read_pages_by_ocr(&mut pdf, self.bytes, password, reader, &self.stop_of_ocr());
            }
            None if job.mode == Mode::Ocr => {
                let warning = "OCR is not available; the text of the file was used instead.";
                pdf.document.warnings.push(warning.to_owned());
            }
            None => {}
        }
        let pages: Vec<u32> = pdf.pages_needing_ocr.iter().map(|needing| needing.page).collect();
        if !pages.is_empty() && pages_read_by_ocr.is_empty() && !has_text(&pdf.document) {
            // With models it was tried: there was no time for a single page, or none could be drawn.
            return Err(match self.pictures {
                Some(_) if job.mode != Mode::Fast && self.stop_of_ocr().is_set() => ParseError::TimedOut,
                Some(_) if job.mode != Mode::Fast => {
                    ParseError::Damaged("its pages are pictures that OCR could not read".to_owned())
                }
                _ => ParseError::OcrRequired { pages },
            });
        }
        let mut document = pdf.document;
        if !has_text(&document) {
            document.warnings.push("The file has no text.".to_owned());
        }
        Ok(ParsedFile { kind: FileKind::Pdf, document, pages_needing_ocr: pages, pages_read_by_ocr })
    }
}

/// Whether anything of the pages was read, beside their running heads and feet.
fn has_text(document: &Document) -> bool {
    let is_text = |block: &Block| !block.is_running() && !matches!(block.content, Content::Figure { .. });
    document.pages.iter().flat_map(|page| &page.blocks).any(is_text)
}
