//! Pieces of text with their places, as the parser gives them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::ObjectId;
use pdf_inspector::{PageRotation, TextItem};

use super::options::{PdfError, StopSignal};

/// Pages that are tried one by one when many could not be read at once.
const MAX_SINGLE_PAGES: u32 = 200;
/// Pages that the parser reads in one go. It cannot be stopped meanwhile, and begins with the whole file each time.
const MAX_PAGES_AT_ONCE: usize = 500;

#[derive(Default)]
pub(super) struct TextOfPages {
    pub(super) items: Vec<TextItem>,
    pub(super) rotations: HashMap<u32, PageRotation>,
    pub(super) failed_pages: HashSet<u32>,
    /// Pages that had to be read one by one.
    single_pages: u32,
    pub(super) last_page: u32,
}

impl TextOfPages {
    fn add(&mut self, (items, rotations): ItemsOfPages) {
        self.last_page = self.last_page.max(items.iter().map(|item| item.page).max().unwrap_or(0));
        self.items.extend(items);
        self.rotations.extend(rotations);
    }
}

type ItemsOfPages = (Vec<TextItem>, HashMap<u32, PageRotation>);

enum ReadError {
    /// Nothing of the file can be read.
    File(PdfError),
    /// One of the pages that were asked for cannot be read, or all of them.
    Page(String),
}

fn read_items(bytes: &[u8], pages: &HashSet<u32>) -> Result<ItemsOfPages, ReadError> {
    let options = pdf_inspector::PositionOptions::new().bold_from_weight(true);
    let read = catch_unwind(AssertUnwindSafe(|| {
        pdf_inspector::extract_text_with_positions_and_rotations_mem_with_options(bytes, Some(pages), options)
    }));
    match read {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(pdf_inspector::PdfError::Encrypted)) => Err(ReadError::File(PdfError::PasswordRequired)),
        Ok(Err(pdf_inspector::PdfError::NotAPdf(_))) => Err(ReadError::File(PdfError::NotPdf)),
        Ok(Err(error)) => Err(ReadError::Page(error.to_string())),
        Err(_) => Err(ReadError::Page("its content could not be read".to_owned())),
    }
}

/// Many pages at once; where one page spoils them all, page by page.
pub(super) fn read_text(
    bytes: &[u8],
    limit: u32,
    page_ids: &BTreeMap<u32, ObjectId>,
    stop: &StopSignal<'_>,
) -> Result<TextOfPages, PdfError> {
    let mut text = TextOfPages::default();
    if page_ids.is_empty() {
        // Our own loader knows no pages; the parser, which repairs more, may find some.
        match read_items(bytes, &(1..=limit).collect()) {
            Ok(found) => text.add(found),
            Err(ReadError::File(error)) => return Err(error),
            Err(ReadError::Page(problem)) => return Err(PdfError::Damaged(problem)),
        }
        return Ok(text);
    }
    let numbers: Vec<u32> = page_ids.keys().copied().take(limit as usize).collect();
    for pages in numbers.chunks(MAX_PAGES_AT_ONCE) {
        if stop.is_set() {
            return Err(PdfError::Stopped);
        }
        // Named one by one even where all are wanted: the parser would follow a page tree in circles.
        match read_items(bytes, &pages.iter().copied().collect()) {
            Ok(found) => text.add(found),
            Err(ReadError::File(error)) => return Err(error),
            Err(ReadError::Page(_)) => read_single_pages(bytes, pages, stop, &mut text)?,
        }
    }
    Ok(text)
}

fn read_single_pages(
    bytes: &[u8],
    pages: &[u32],
    stop: &StopSignal<'_>,
    text: &mut TextOfPages,
) -> Result<(), PdfError> {
    for &number in pages {
        if stop.is_set() {
            return Err(PdfError::Stopped);
        }
        let tried = text.single_pages < MAX_SINGLE_PAGES;
        text.single_pages += 1;
        match tried.then(|| read_items(bytes, &HashSet::from([number]))) {
            Some(Ok(found)) => text.add(found),
            _ => {
                text.failed_pages.insert(number);
            }
        }
    }
    Ok(())
}
