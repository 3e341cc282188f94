//! Blocks drawn over the pages of a file, in a sandboxed process of a role of its own: a file that is drawn is as
//! hostile as one that is read.

use crate::error::ParseError;
use crate::handler::read_input;
use documents::pdf::{MarkedPage, PicturePages, StopSignal, draw_marks};
use documents::{FileHint, FileKind, detect};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};
use ocr::{ImagePages, PageDrawer};
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

/// The longer side of a picture: enough to read the page and its labels.
const MAX_PNG_SIDE: usize = 1600;

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

/// Draws over a file: a regular one that is open for reading only, or [`sandbox::bytes_as_input`].
pub async fn draw_overlay(
    input: &File,
    job: &OverlayJob,
    time_limit: Duration,
) -> Result<Vec<u8>, ParseError> {
    let options = serde_json::to_vec(job).map_err(|error| ParseError::Unavailable(error.to_string()))?;
    let pool = PoolOptions { max_jobs: 1, warm_processes: 0, ..PoolOptions::new(ROLE) };
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

/// Makes the handler of the role.
pub fn prepare() -> Handler {
    Box::new(|received| {
        let (first, mut rest) = match handle(received) {
            Ok(drawing) => (DRAWING, drawing),
            Err(error) => (ERROR, serde_json::to_vec(&error).unwrap_or_default()),
        };
        rest.insert(0, first);
        rest
    })
}

fn handle(received: ReceivedJob) -> Result<Vec<u8>, ParseError> {
    let mut job: OverlayJob = serde_json::from_slice(&received.options)
        .map_err(|error| ParseError::Unavailable(format!("the job cannot be read ({error})")))?;
    let bytes = read_input(received.input)?;
    let kind = detect(&bytes, FileHint::default())?;
    let drawn = match kind {
        FileKind::Pdf => draw_marks(&bytes, job.password.as_deref(), &job.pages)?,
        kind if kind.is_image() => {
            let pages = picture_pages(kind, &bytes, &mut job)?;
            draw_marks(&pages, None, &job.pages)?
        }
        kind => return Err(ParseError::Unsupported(format!("{} has no pages to draw on", kind.name()))),
    };
    match job.format {
        OverlayFormat::Pdf => Ok(drawn),
        OverlayFormat::Png => draw_picture(&drawn, job.page),
    }
}

/// The pictures of an image file as pages of a PDF: those that are drawn on, which get new numbers.
fn picture_pages(kind: FileKind, bytes: &[u8], job: &mut OverlayJob) -> Result<Vec<u8>, ParseError> {
    let pictures = ImagePages::open(kind, bytes)?;
    let mut pages = PicturePages::default();
    for (page, number) in job.pages.iter_mut().zip(1..) {
        let picture = pictures.decode((page.number as usize).saturating_sub(1))?;
        pages.add_page(picture.width(), picture.height(), picture.rgb())?;
        if page.number == job.page {
            job.page = number;
        }
        page.number = number;
    }
    Ok(pages.finish()?)
}

/// One page of a PDF as PNG.
fn draw_picture(pdf: &[u8], page: u32) -> Result<Vec<u8>, ParseError> {
    let picture = PageDrawer::open(pdf, None)?.draw(page, &StopSignal::default())?;
    let side = picture.width().max(picture.height());
    let picture = picture.shrunk(side.div_ceil(MAX_PNG_SIDE));
    let (width, height) = (u32::try_from(picture.width()), u32::try_from(picture.height()));
    let mut png = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive);
    encoder
        .write_image(
            picture.rgb(),
            width.unwrap_or_default(),
            height.unwrap_or_default(),
            ExtendedColorType::Rgb8,
        )
        .map_err(|error| ParseError::Damaged(error.to_string()))?;
    Ok(png)
}
