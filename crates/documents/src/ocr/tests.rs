use super::*;
use crate::block::{BlockKind, Metadata, Source, Span};
use crate::pdf::{OcrReason, PageNeedingOcr};
use crate::picture_reader::PdfPageReader;
use crate::recognized::{RecognizedImage, RecognizedLine};

/// Reads the same line on each page; fails on the pages that it is told to.
struct FakeReader {
    failing: Vec<(u32, PictureError)>,
}

impl FakeReader {
    fn page(&self, number: u32) -> Result<RecognizedPage, PictureError> {
        if let Some((_, error)) = self.failing.iter().find(|(page, _)| *page == number) {
            return Err(error.clone());
        }
        let line = RecognizedLine {
            text: format!("words of picture {number}"),
            corners: [(10.0, 40.0), (200.0, 40.0), (200.0, 60.0), (10.0, 60.0)],
            confidence: 0.8,
        };
        Ok(RecognizedPage { number, width: 300.0, height: 400.0, lines: vec![line] })
    }
}

impl PictureReader for FakeReader {
    fn read_image(
        &self,
        _: FileKind,
        _: &[u8],
        max_pages: Option<u32>,
        _: &StopSignal<'_>,
    ) -> Result<RecognizedImage, PictureError> {
        let mut image = RecognizedImage { total_pages: 3, ..RecognizedImage::default() };
        for number in 1..=max_pages.unwrap_or(3) {
            match self.page(number) {
                Ok(page) => image.pages.push(page),
                Err(error) => image.failures.push((number, error)),
            }
        }
        Ok(image)
    }

    fn open_pdf<'a>(
        &'a self,
        _: &[u8],
        _: Option<&str>,
    ) -> Result<Box<dyn PdfPageReader + 'a>, PictureError> {
        struct Pages<'a>(&'a FakeReader);
        impl PdfPageReader for Pages<'_> {
            fn read_page(&mut self, number: u32, _: &StopSignal<'_>) -> Result<RecognizedPage, PictureError> {
                self.0.page(number)
            }
        }
        Ok(Box::new(Pages(self)))
    }
}

/// Page 1 has text; 2 to 5 are scans.
fn scanned_pdf() -> PdfDocument {
    let text = Block::native(BlockKind::Text, Content::Paragraph(vec![Span::plain("native")]));
    let mut document = Document { metadata: Metadata::default(), total_pages: 5, ..Document::default() };
    let mut pages_needing_ocr = Vec::new();
    for number in 1..=5 {
        let mut page = Page { number, width: 600.0, height: 800.0, ..Page::default() };
        if number == 1 {
            page.blocks.push(text.clone());
        } else {
            page.status = PageStatus::Failed;
            document.warnings.extend(ocr_warning(number, OcrReason::Scanned));
            pages_needing_ocr.push(PageNeedingOcr { page: number, reason: OcrReason::Scanned });
        }
        document.pages.push(page);
    }
    PdfDocument { document, pages_needing_ocr, ..PdfDocument::default() }
}

#[test]
fn scanned_pages_are_read_and_no_longer_warned_of() {
    let mut pdf = scanned_pdf();
    let reader = FakeReader { failing: Vec::new() };
    let read = read_pages_by_ocr(&mut pdf, b"", None, &reader, &StopSignal::default());
    assert_eq!(read, [2, 3, 4, 5]);
    assert!(pdf.document.warnings.is_empty() && pdf.pages_needing_ocr.is_empty());
    assert_eq!(pdf.document.pages[0].blocks[0].source, Source::NativeText);
    for page in &pdf.document.pages[1..] {
        assert_eq!((page.status, page.width), (PageStatus::Ok, 600.0));
        assert_eq!(page.blocks[0].source, Source::LayoutOcr);
    }
}

#[test]
fn pages_that_fail_are_named_and_the_rest_is_kept() {
    let mut pdf = scanned_pdf();
    let failing = vec![
        (3, PictureError::damaged("no content")),
        (4, PictureError::Stopped),
        (5, PictureError::Stopped),
    ];
    let read = read_pages_by_ocr(&mut pdf, b"", None, &FakeReader { failing }, &StopSignal::default());
    assert_eq!(read, [2]);
    assert_eq!(pdf.document.pages[2].status, PageStatus::Failed);
    let warnings = pdf.document.warnings.join("\n");
    assert!(warnings.contains("OCR of page 3 failed: the picture is damaged: no content."), "{warnings}");
    assert!(warnings.contains("There was no time left for OCR of pages 4 to 5."), "{warnings}");
    assert!(!warnings.contains("Page 2 is a picture"), "{warnings}");
    assert_eq!(pdf.pages_needing_ocr.len(), 3);
}

#[test]
fn stop_signal_ends_ocr_before_the_next_page() {
    let mut pdf = scanned_pdf();
    let stop = StopSignal { deadline: Some(std::time::Instant::now()), flag: None };
    let read = read_pages_by_ocr(&mut pdf, b"", None, &FakeReader { failing: Vec::new() }, &stop);
    assert!(read.is_empty());
    assert!(pdf.document.warnings.iter().any(|warning| warning.contains("OCR of pages 2 to 5")));
}

#[test]
fn pages_of_an_image_file_are_in_order_with_those_that_failed() {
    let reader = FakeReader { failing: vec![(2, PictureError::damaged("cut off"))] };
    let document =
        parse_picture(b"", FileKind::Tiff, None, &reader, &StopSignal::default()).expect("a document");
    let states: Vec<PageStatus> = document.pages.iter().map(|page| page.status).collect();
    assert_eq!(states, [PageStatus::Ok, PageStatus::Failed, PageStatus::Ok]);
    assert_eq!(document.warnings, ["Page 2 could not be read: the picture is damaged: cut off."]);
}

#[test]
fn limit_of_pages_is_said() {
    let reader = FakeReader { failing: Vec::new() };
    let document =
        parse_picture(b"", FileKind::Tiff, Some(2), &reader, &StopSignal::default()).expect("a document");
    assert_eq!(document.pages.len(), 2);
    assert_eq!(document.warnings, ["Only the first 2 of 3 pages were read."]);
}

#[test]
fn names_of_pages_are_short() {
    assert_eq!(name_pages(&[3]), "page 3");
    assert_eq!(name_pages(&[1, 2, 3, 7]), "pages 1 to 3, 7");
}
