//! Files whose text is in pictures: image files, and pages of PDFs that have no usable text.

use crate::block::{Block, Content, Document, Page, PageStatus};
use crate::detect::FileKind;
use crate::pdf::{PdfDocument, StopSignal, build_recognized_pages, ocr_warning};
use crate::picture_reader::PictureReader;
use crate::recognized::{PictureError, RecognizedPage};
use std::time::{Duration, Instant};

/// A page that is begun cannot be given up at once, and the whole file is lost when its time is over. So none is begun
/// with less time left than this, or than the slowest page took.
const MIN_PAGE_TIME: Duration = Duration::from_secs(4);

/// Reads an image file.
///
/// # Errors
/// When nothing of it can be read.
pub fn parse_picture(
    bytes: &[u8],
    kind: FileKind,
    max_pages: Option<u32>,
    reader: &dyn PictureReader,
    stop: &StopSignal<'_>,
) -> Result<Document, PictureError> {
    let image = reader.read_image(kind, bytes, max_pages, stop)?;
    let mut document = Document { total_pages: image.total_pages, ..Document::default() };
    let read = image.pages.len();
    // Reading is done; what is left takes little time, and without a signal to stop it cannot fail.
    document.pages =
        build_recognized_pages(&image.pages, |_| None, &StopSignal::default()).unwrap_or_default();
    let failed: Vec<(u32, PictureError)> = image.failures;
    for (number, error) in &failed {
        document.pages.push(failed_page(*number));
        if *error != PictureError::Stopped {
            document.warnings.push(format!("Page {number} could not be read: {error}."));
        }
    }
    document.pages.sort_by_key(|page| page.number);
    warn_of_time(&failed, &mut document.warnings);
    let known = u32::try_from(read + failed.len()).unwrap_or(u32::MAX);
    if known < document.total_pages {
        document
            .warnings
            .push(format!("Only the first {known} of {} pages were read.", document.total_pages));
    }
    if document.pages.iter().all(|page| page.blocks.is_empty()) && document.warnings.is_empty() {
        document.warnings.push("No text was found in the picture.".to_owned());
    }
    Ok(document)
}

/// Reads the pages of a PDF that need it by OCR and puts their blocks into the document. Returns the pages that were
/// read so. Pages that could not be read keep what their text gave, and are named in a warning.
pub fn read_pages_by_ocr(
    pdf: &mut PdfDocument,
    bytes: &[u8],
    password: Option<&str>,
    reader: &dyn PictureReader,
    stop: &StopSignal<'_>,
) -> Vec<u32> {
    if pdf.pages_needing_ocr.is_empty() {
        return Vec::new();
    }
    let mut recognized: Vec<RecognizedPage> = Vec::new();
    let mut failures: Vec<(u32, PictureError)> = Vec::new();
    match reader.open_pdf(bytes, password) {
        Ok(mut drawer) => {
            let mut page_time = MIN_PAGE_TIME;
            for needing in &pdf.pages_needing_ocr {
                let begun = Instant::now();
                let is_late = stop.deadline.is_some_and(|deadline| begun + page_time > deadline);
                let read = if is_late || stop.is_set() {
                    Err(PictureError::Stopped)
                } else {
                    drawer.read_page(needing.page, stop)
                };
                page_time = page_time.max(begun.elapsed());
                match read {
                    Ok(page) => recognized.push(page),
                    Err(error) => failures.push((needing.page, error)),
                }
            }
        }
        Err(error) => failures.extend(pdf.pages_needing_ocr.iter().map(|page| (page.page, error.clone()))),
    }
    let paper = |number: u32| {
        let page = pdf.document.pages.iter().find(|page| page.number == number)?;
        Some((page.width, page.height))
    };
    // Without a signal to stop, layout cannot fail.
    let built = build_recognized_pages(&recognized, paper, &StopSignal::default()).unwrap_or_default();
    let read: Vec<u32> = built.iter().map(|page| page.number).collect();
    for needing in &pdf.pages_needing_ocr {
        if let Some(warning) =
            ocr_warning(needing.page, needing.reason).filter(|_| read.contains(&needing.page))
        {
            pdf.document.warnings.retain(|other| *other != warning);
        }
    }
    for page in built {
        if let Some(place) = pdf.document.pages.iter_mut().find(|place| place.number == page.number) {
            replace_page(place, page);
        }
    }
    for (number, error) in failures.iter().filter(|(_, error)| *error != PictureError::Stopped) {
        pdf.document.warnings.push(format!("OCR of page {number} failed: {error}."));
    }
    for (number, _) in &failures {
        let page = pdf.document.pages.iter_mut().find(|page| page.number == *number);
        if let Some(page) = page.filter(|page| page.blocks.is_empty()) {
            page.status = PageStatus::Failed;
        }
    }
    warn_of_time(&failures, &mut pdf.document.warnings);
    pdf.pages_needing_ocr.retain(|needing| !read.contains(&needing.page));
    read
}

/// The page as it was recognised, with the figures that the file names. Text that no OCR saw is kept.
fn replace_page(place: &mut Page, mut recognized: Page) {
    if recognized.blocks.is_empty() {
        if place.status == PageStatus::Failed {
            place.status = PageStatus::Ok;
        }
        return;
    }
    let figures: Vec<Block> = std::mem::take(&mut place.blocks)
        .into_iter()
        .filter(|block| matches!(block.content, Content::Figure { .. }))
        .collect();
    for figure in figures {
        let centre = figure.bbox.map_or(0.0, |bbox| f32::midpoint(bbox.top, bbox.bottom));
        let at = recognized.blocks.iter().position(|block| block.bbox.is_some_and(|bbox| bbox.top > centre));
        recognized.blocks.insert(at.unwrap_or(recognized.blocks.len()), figure);
    }
    place.blocks = recognized.blocks;
    place.status = PageStatus::Ok;
}

fn failed_page(number: u32) -> Page {
    Page { number, status: PageStatus::Failed, ..Page::default() }
}

fn warn_of_time(failures: &[(u32, PictureError)], warnings: &mut Vec<String>) {
    let late: Vec<u32> =
        failures.iter().filter(|(_, error)| *error == PictureError::Stopped).map(|(page, _)| *page).collect();
    if !late.is_empty() {
        warnings.push(format!("There was no time left for OCR of {}.", name_pages(&late)));
    }
}

/// `page 3`, `pages 3, 5 to 9`.
fn name_pages(pages: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for page in pages {
        match ranges.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(*page) => last.1 = *page,
            _ => ranges.push((*page, *page)),
        }
    }
    let names: Vec<String> = ranges
        .iter()
        .map(|(from, to)| if from == to { from.to_string() } else { format!("{from} to {to}") })
        .collect();
    format!("{} {}", if pages.len() == 1 { "page" } else { "pages" }, names.join(", "))
}

#[cfg(test)]
mod tests;
