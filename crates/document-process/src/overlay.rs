//! Blocks drawn over the pages of a file, in a sandboxed process of a role of its own: a file that is drawn is as
//! hostile as one that is read.

use crate::error::ParseError;
use crate::handler::read_input;
use crate::ocr_program::OcrProgram;
use documents::pdf::{MarkedPage, draw_marks};
use documents::{FileHint, FileKind, detect};
use futures_util::future::BoxFuture;
use sandbox::{Handler, Job, PoolOptions, ProcessPool, ReceivedJob};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::fd::AsFd as _;
use std::time::Duration;
use uuid::Uuid;

/// The role of the process, see [`sandbox::run_if_sandboxed`].
pub const ROLE: &str = "overlay";
/// Blocks that are drawn at most: what fits into the options of a job.
pub const MAX_MARKS: usize = 8000;

/// The first byte of an answer: what follows is a drawing, or an error as JSON.
const DRAWING: u8 = b'd';
const ERROR: u8 = b'e';

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OverlayFormat {
    /// The whole file, with its pages as they were beneath the boxes.
    Pdf,
    /// A picture of one page.
    Png,
}

/// What is to be drawn.
#[derive(Clone, Serialize, Deserialize)]
pub struct OverlayJob {
    pub format: OverlayFormat,
    /// The page of a picture, from 1.
    pub page: u32,
    pub password: Option<String>,
    pub pages: Vec<MarkedPage>,
}

// Written by hand so that the password never reaches a log.
impl std::fmt::Debug for OverlayJob {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("OverlayJob")
            .field("format", &self.format)
            .field("page", &self.page)
            .field("password", &self.password.as_ref().map(|_| "[redacted]"))
            .field("pages", &self.pages)
            .finish()
    }
}

impl OverlayJob {
    /// Drops what is beyond [`MAX_MARKS`]; returns whether everything was kept.
    pub fn keep_within_limit(pages: &mut [MarkedPage]) -> bool {
        let mut room = MAX_MARKS;
        let mut is_complete = true;
        for page in pages {
            is_complete &= page.marks.len() <= room;
            page.marks.truncate(room);
            room -= page.marks.len();
        }
        is_complete
    }
}

/// Makes pages of pictures and pictures of pages, for overlays that need it.
pub trait PictureConverter {
    /// The pictures of an image file with these numbers (from 1) as the pages of a PDF, in this order.
    fn pictures_to_pdf(&self, kind: FileKind, bytes: &[u8], numbers: &[u32]) -> Result<Vec<u8>, ParseError>;

    /// One page of a PDF, numbered from 1, as PNG.
    fn page_to_png(&self, pdf: &[u8], page: u32) -> Result<Vec<u8>, ParseError>;
}

/// Whether an overlay of such a file needs a [`PictureConverter`], which only [`OcrProgram`] has.
pub fn needs_converter(kind: FileKind, format: OverlayFormat) -> bool {
    kind.is_image() || format == OverlayFormat::Png
}

/// Draws over a file: a regular one that is open for reading only, or [`sandbox::bytes_as_input`]. It is
/// drawn by `program`, if there is one, else by the program that is running.
pub fn draw_overlay<'a>(
    program: Option<OcrProgram>,
    input: &'a File,
    job: &'a OverlayJob,
    time_limit: Duration,
) -> BoxFuture<'a, Result<Vec<u8>, ParseError>> {
    Box::pin(draw_in_process(program, input, job, time_limit))
}

async fn draw_in_process(
    program: Option<OcrProgram>,
    input: &File,
    job: &OverlayJob,
    time_limit: Duration,
) -> Result<Vec<u8>, ParseError> {
    let options = serde_json::to_vec(job).map_err(|error| ParseError::Unavailable(error.to_string()))?;
    let executable = program.map(|program| program.executable).unwrap_or_default();
    let pool = PoolOptions { executable, max_jobs: 1, warm_processes: 0, ..PoolOptions::new(ROLE) };
    let job = Job { owner: Uuid::nil(), options: &options, input: input.as_fd(), time_limit };
    let mut answer = ProcessPool::new(pool).run(job).await?;
    let unreadable = || ParseError::Crashed("the drawing is not complete".to_owned());
    match answer.first() {
        Some(&DRAWING) => {
            answer.remove(0);
            Ok(answer)
        }
        Some(&ERROR) => Err(serde_json::from_slice(&answer[1..]).unwrap_or_else(|_| unreadable())),
        _ => Err(unreadable()),
    }
}

/// Makes the handler of the role. Without a converter it draws over PDFs only, and makes PDFs only.
pub fn prepare(converter: Option<Box<dyn PictureConverter>>) -> Handler {
    Box::new(move |received| {
        let (first, mut rest) = match handle(received, converter.as_deref()) {
            Ok(drawing) => (DRAWING, drawing),
            Err(error) => (ERROR, serde_json::to_vec(&error).unwrap_or_default()),
        };
        rest.insert(0, first);
        rest
    })
}

fn handle(received: ReceivedJob, converter: Option<&dyn PictureConverter>) -> Result<Vec<u8>, ParseError> {
    let mut job: OverlayJob = serde_json::from_slice(&received.options)
        .map_err(|error| ParseError::Unavailable(format!("the job cannot be read ({error})")))?;
    let bytes = read_input(received.input)?;
    let kind = detect(&bytes, FileHint::default())?;
    let no_converter = || ParseError::Unavailable("pictures are drawn by gannet-ocr only".to_owned());
    let drawn = match kind {
        FileKind::Pdf => draw_marks(&bytes, job.password.as_deref(), &job.pages)?,
        kind if kind.is_image() => {
            let numbers: Vec<u32> = job.pages.iter().map(|page| page.number).collect();
            let converter = converter.ok_or_else(no_converter)?;
            let pages = converter.pictures_to_pdf(kind, &bytes, &numbers)?;
            number_anew(&mut job);
            draw_marks(&pages, None, &job.pages)?
        }
        kind => return Err(ParseError::Unsupported(format!("{} has no pages to draw on", kind.name()))),
    };
    match job.format {
        OverlayFormat::Pdf => Ok(drawn),
        OverlayFormat::Png => converter.ok_or_else(no_converter)?.page_to_png(&drawn, job.page),
    }
}

/// Only the pictures that are drawn on have become pages, which have numbers of their own.
fn number_anew(job: &mut OverlayJob) {
    for (page, number) in job.pages.iter_mut().zip(1..) {
        if page.number == job.page {
            job.page = number;
        }
        page.number = number;
    }
}
