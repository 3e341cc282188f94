//! Raw pages to pages of blocks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::PdfDocument;
use super::blocks::{PlacedBlock, build_blocks};
use super::columns::{Element, ElementContent, order_zones};
use super::continued::join_continued_tables;
use super::furniture::{self, PageLines};
use super::headings::{Sizes, measure_sizes};
use super::lines::{Line, group_lines};
use super::options::{OcrReason, PageNeedingOcr, PdfError, PdfMode, PdfOptions, StopSignal};
use super::runs::{Run, is_right_to_left};
use super::source::{RawPage, Source};
use super::tables::aligned::{self, ZonePart};
use super::tables::{FoundTable, ruled};
use crate::block::{
    Block, BlockKind, Confidence, Content, Document, Page, PageStatus, Source as WordSource, Table,
};

/// Fewer letters than this on a page that is mostly picture: a scan.
const MIN_LETTERS_OF_TEXT_PAGE: usize = 20;
/// Images below this share of the page are ornaments.
const MIN_FIGURE_SHARE: f32 = 0.02;
const MAX_FIGURES_PER_PAGE: usize = 200;

pub(super) fn build_document(
    mut source: Source,
    options: &PdfOptions,
    stop: &StopSignal<'_>,
) -> Result<PdfDocument, PdfError> {
    let mut result = PdfDocument {
        document: Document {
            metadata: source.metadata,
            total_pages: source.total_pages,
            ..Document::default()
        },
        outline: source.outline.into_iter().map(|entry| (entry.title, entry.level)).collect(),
        ..PdfDocument::default()
    };
    super::direction::turn_reversed_runs(source.pages.iter_mut().flat_map(|page| &mut page.runs));
    let page_lines: Vec<PageLines> = source
        .pages
        .iter_mut()
        .map(|page| PageLines {
            height: page.height,
            lines: group_lines(std::mem::take(&mut page.runs)),
            vertical: page.vertical.clone(),
        })
        .collect();
    let sizes = measure_sizes(page_lines.iter().flat_map(|page| &page.lines));
    let kinds = furniture::classify(&page_lines, &sizes);
    for ((mut raw, PageLines { lines, .. }), kinds) in source.pages.into_iter().zip(page_lines).zip(kinds) {
        if stop.is_set() {
            return Err(PdfError::Stopped);
        }
        let reason = ocr_reason(&raw, &lines, options.mode);
        let mut running = Vec::new();
        for (line, kind) in lines.into_iter().zip(kinds) {
            match kind {
                Some(kind) => running.push(PlacedBlock {
                    kind,
                    bounds: line.bounds,
                    content: Content::Paragraph(line.spans()),
                }),
                None => raw.runs.extend(line.runs),
            }
        }
        let page = build_page(raw, running, &sizes, reason, &mut result.document.warnings);
        if let Some(reason) = reason {
            result.pages_needing_ocr.push(PageNeedingOcr { page: page.number, reason });
        }
        result.document.pages.push(page);
    }
    join_continued_tables(&mut result.document);
    mark_title(&mut result.document);
    let read = u32::try_from(result.document.pages.len()).unwrap_or(u32::MAX);
    if read < result.document.total_pages {
        result
            .document
            .warnings
            .push(format!("Only the first {read} of {} pages were read.", result.document.total_pages));
    }
    Ok(result)
}

fn ocr_reason(raw: &RawPage, lines: &[Line], mode: PdfMode) -> Option<OcrReason> {
    if mode == PdfMode::Ocr {
        return Some(OcrReason::Requested);
    }
    let (mut letters, mut unknown) = (0usize, 0usize);
    for c in lines.iter().flat_map(|line| &line.runs).flat_map(|run| run.text.chars()) {
        letters += usize::from(c.is_alphanumeric());
        unknown += usize::from(matches!(c, '\u{FFFD}' | '\u{E000}'..='\u{F8FF}'));
    }
    if unknown > 20 && unknown * 2 > letters {
        return Some(OcrReason::GarbledText);
    }
    let area = (raw.width * raw.height).max(1.0);
    let pictures: f32 = raw.images.iter().map(|image| image.width() * image.height() / area).sum();
    (letters < MIN_LETTERS_OF_TEXT_PAGE && pictures > 0.3).then_some(OcrReason::Scanned)
}

/// What is said about a page that OCR has not read. When OCR has read it, the same words are taken back.
pub(crate) fn ocr_warning(number: u32, reason: OcrReason) -> Option<String> {
    match reason {
        OcrReason::Scanned => Some(format!("Page {number} is a picture without text and needs OCR.")),
        OcrReason::GarbledText => Some(format!("The text of page {number} cannot be decoded and needs OCR.")),
        OcrReason::Requested => None,
    }
}

fn build_page(
    mut raw: RawPage,
    running: Vec<PlacedBlock>,
    sizes: &Sizes,
    reason: Option<OcrReason>,
    warnings: &mut Vec<String>,
) -> Page {
    let number = raw.number;
    let mut status = if raw.failed {
        warnings.push(format!("Page {number} is damaged and could not be read."));
        PageStatus::Failed
    } else if raw.cut_off {
        warnings.push(format!("Page {number} has too much text; the rest of it was left out."));
        PageStatus::Partial
    } else {
        warnings.extend(reason.and_then(|reason| ocr_warning(number, reason)));
        match reason {
            Some(OcrReason::Scanned) => PageStatus::Failed,
            Some(OcrReason::GarbledText) => PageStatus::Partial,
            Some(OcrReason::Requested) | None => PageStatus::Ok,
        }
    };
    let runs = std::mem::take(&mut raw.runs);
    let mut placed = layout_or_lines(runs, |runs| layout(runs, &raw, sizes)).unwrap_or_else(|lines| {
        warnings.push(format!(
            "The structure of page {number} could not be read; its text follows line by line."
        ));
        status = PageStatus::Partial;
        lines
    });
    place_figures(&mut placed, &raw);
    if !raw.rotated.is_empty() {
        placed.extend(rotated_blocks(&raw));
    }
    let (above, below): (Vec<_>, Vec<_>) =
        running.into_iter().partition(|block| block.bounds.center_y() < raw.height / 2.0);
    let blocks = above.into_iter().chain(placed).chain(below).map(|block| finish(block, &raw)).collect();
    Page { number, width: raw.width, height: raw.height, turned: raw.turned, status, blocks }
}

fn finish(block: PlacedBlock, raw: &RawPage) -> Block {
    Block {
        kind: block.kind,
        bbox: Some(block.bounds.normalized(raw.width, raw.height)),
        content: block.content,
        source: WordSource::NativeText,
        confidence: Confidence { layout: 1.0, ocr: None },
    }
}

/// A fault of ours in finding the structure of a page costs its structure, never its text or the rest of the file.
fn layout_or_lines(
    runs: Vec<Run>,
    layout: impl FnOnce(Vec<Run>) -> Vec<PlacedBlock>,
) -> Result<Vec<PlacedBlock>, Vec<PlacedBlock>> {
    let copy = runs.clone();
    catch_unwind(AssertUnwindSafe(|| layout(copy))).map_err(|_| {
        let block = |line: Line| PlacedBlock {
            kind: BlockKind::Text,
            bounds: line.bounds,
            content: Content::Paragraph(line.spans()),
        };
        group_lines(runs).into_iter().map(block).collect()
    })
}

fn layout(runs: Vec<Run>, raw: &RawPage, sizes: &Sizes) -> Vec<PlacedBlock> {
    let (tables, rest) = ruled::find_tables(runs, &raw.horizontal, &raw.vertical);
    let mut elements: Vec<Element> = rest
        .into_iter()
        .map(|run| Element { bounds: run.bounds, content: ElementContent::Run(run) })
        .collect();
    elements.extend(
        tables
            .iter()
            .enumerate()
            .map(|(index, table)| Element { bounds: table.bounds, content: ElementContent::Table(index) }),
    );
    let mut tables: Vec<Option<FoundTable>> = tables.into_iter().map(Some).collect();
    let mut placed: Vec<PlacedBlock> = Vec::new();
    for zone in order_zones(elements) {
        let mut runs = Vec::new();
        let mut inner: Vec<FoundTable> = Vec::new();
        for element in zone {
            match element.content {
                ElementContent::Run(run) => runs.push(run),
                ElementContent::Table(index) => inner.extend(tables[index].take()),
            }
        }
        inner.sort_by(|a, b| a.bounds.top.total_cmp(&b.bounds.top));
        let mut lines = group_lines(runs).into_iter().peekable();
        // A table found by its lines cuts the zone into a part above and a part below.
        for table in inner {
            let mut above = Vec::new();
            while let Some(line) = lines.next_if(|line| line.bounds.center_y() < table.bounds.center_y()) {
                above.push(line);
            }
            zone_blocks(&above, raw, sizes, true, &mut placed);
            push_table(table, sizes, &mut placed);
        }
        zone_blocks(&lines.collect::<Vec<_>>(), raw, sizes, false, &mut placed);
    }
    placed
}

fn zone_blocks(lines: &[Line], raw: &RawPage, sizes: &Sizes, followed: bool, placed: &mut Vec<PlacedBlock>) {
    let mut waiting: Vec<Line> = Vec::new();
    for part in aligned::find_tables(lines, &raw.horizontal) {
        match part {
            ZonePart::Line(line) => waiting.push(line),
            ZonePart::Table(table) => {
                placed.extend(build_blocks(&std::mem::take(&mut waiting), sizes, true));
                push_table(table, sizes, placed);
            }
        }
    }
    placed.extend(build_blocks(&waiting, sizes, followed));
}

fn push_table(found: FoundTable, sizes: &Sizes, placed: &mut Vec<PlacedBlock>) {
    let FoundTable { bounds, mut table, before, after } = found;
    mirror_right_to_left(&mut table);
    placed.extend(build_blocks(&group_lines(before), sizes, true));
    placed.push(PlacedBlock { kind: BlockKind::Table, bounds, content: Content::Table(table) });
    placed.extend(build_blocks(&group_lines(after), sizes, false));
}

/// The first column of a right-to-left table is the one at the right.
fn mirror_right_to_left(table: &mut Table) {
    let text: String =
        table.rows.iter().flatten().flat_map(|cell| &cell.text).map(|span| span.text.as_str()).collect();
    if !is_right_to_left(&text) {
        return;
    }
    let columns = table.rows.iter().flatten().map(|cell| cell.column + cell.column_span).max().unwrap_or(0);
    for row in &mut table.rows {
        for cell in row.iter_mut() {
            cell.column = columns - cell.column - cell.column_span;
        }
        row.reverse();
    }
}

/// Pictures stand before the first block that begins below their middle.
fn place_figures(placed: &mut Vec<PlacedBlock>, raw: &RawPage) {
    let area = (raw.width * raw.height).max(1.0);
    for image in raw.images.iter().take(MAX_FIGURES_PER_PAGE) {
        let share = image.width() * image.height() / area;
        if !(MIN_FIGURE_SHARE..0.9).contains(&share) {
            continue;
        }
        let at = placed
            .iter()
            .position(|block| {
                block.bounds.top > image.center_y()
                    && block.bounds.left < image.right
                    && block.bounds.right > image.left
            })
            .unwrap_or(placed.len());
        let content = Content::Figure { alt: String::new(), target: None };
        placed.insert(at, PlacedBlock { kind: BlockKind::Figure, bounds: *image, content });
    }
}

/// Text that does not stand upright is kept at the end of its page.
fn rotated_blocks(raw: &RawPage) -> Vec<PlacedBlock> {
    raw.rotated
        .iter()
        .filter(|run| run.text.chars().any(char::is_alphanumeric))
        .map(|run| PlacedBlock {
            kind: BlockKind::Text,
            bounds: run.bounds,
            content: Content::Paragraph(super::lines::spans_of(std::slice::from_ref(run))),
        })
        .collect()
}

/// The first heading of the largest size on the first page is the title.
fn mark_title(document: &mut Document) {
    let Some(page) = document.pages.first_mut() else { return };
    let title =
        page.blocks.iter_mut().find(|block| matches!(block.content, Content::Heading { level: 1, .. }));
    if let Some(title) = title
        && title.bbox.is_some_and(|bbox| bbox.top < 0.5)
    {
        title.kind = BlockKind::Title;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pdf::geometry::{Bounds, Rule};
    use crate::pdf::runs::tests::run;
    use crate::to_plain_text;

    fn raw(runs: Vec<super::super::runs::Run>) -> Source {
        let page = RawPage { number: 1, width: 600.0, height: 800.0, runs, ..RawPage::default() };
        Source { pages: vec![page], total_pages: 1, ..Source::default() }
    }

    #[test]
    fn scanned_page_is_named_for_ocr() {
        let mut source = raw(Vec::new());
        source.pages[0].images = vec![Bounds { left: 0.0, top: 0.0, right: 600.0, bottom: 800.0 }];
        let read = build_document(source, &PdfOptions::default(), &StopSignal::default()).unwrap();
        assert_eq!(read.pages_needing_ocr, [PageNeedingOcr { page: 1, reason: OcrReason::Scanned }]);
        assert_eq!(read.document.pages[0].status, PageStatus::Failed);
        assert_eq!(read.document.warnings.len(), 1);
    }

    #[test]
    fn text_of_a_page_whose_layout_fails_is_kept() {
        let runs = vec![run("second", 50.0, 40.0, 30.0), run("first", 50.0, 20.0, 30.0)];
        let lines = layout_or_lines(runs, |_| panic!("a fault")).unwrap_err();
        let texts: Vec<_> = lines.iter().map(|block| block.content.clone()).collect();
        let line = |text: &str| Content::Paragraph(vec![crate::block::Span::plain(text)]);
        assert_eq!(texts, [line("first"), line("second")]);
    }

    #[test]
    fn stop_flag_ends_the_work() {
        let flag = std::sync::atomic::AtomicBool::new(true);
        let stop = StopSignal { deadline: None, flag: Some(&flag) };
        let read = build_document(raw(vec![run("a", 0.0, 10.0, 5.0)]), &PdfOptions::default(), &stop);
        assert_eq!(read, Err(PdfError::Stopped));
    }

    fn rules(count: usize) -> impl Strategy<Value = Vec<Rule>> {
        prop::collection::vec((0u8..60, 0u8..60, 1u8..60), 0..count).prop_map(|rules| {
            rules
                .into_iter()
                .map(|(at, start, length)| {
                    let (at, start) = (f32::from(at) * 12.0, f32::from(start) * 10.0);
                    Rule { at, start, end: start + f32::from(length) * 10.0 }
                })
                .collect()
        })
    }

    proptest! {
        /// Whatever stands where on a page: every word comes out exactly once, and every box lies inside the page.
        #[test]
        fn no_word_is_lost_or_doubled(
            places in prop::collection::vec((0u8..60, 0u8..65, any::<bool>(), any::<bool>()), 1..80),
            horizontal in rules(14),
            vertical in rules(14),
        ) {
            let runs: Vec<_> = places
                .iter()
                .enumerate()
                .map(|(index, (x, y, bold, number))| {
                    let text = if *number { format!("{}", 1000 + index) } else { format!("word{index}x") };
                    let width = if *number { 18.0 } else { 38.0 };
                    super::super::runs::Run { bold: *bold, ..run(&text, f32::from(*x) * 10.0, 12.0 + f32::from(*y) * 12.0, width) }
                })
                .collect();
            let mut expected: Vec<String> = runs.iter().map(|run| run.text.clone()).collect();
            let mut source = raw(runs);
            source.pages[0].horizontal = horizontal;
            source.pages[0].vertical = vertical;
            let read = build_document(source, &PdfOptions::default(), &StopSignal::default()).unwrap();
            let mut document = read.document;
            for block in &mut document.pages[0].blocks {
                let bbox = block.bbox.unwrap();
                prop_assert!(0.0 <= bbox.left && bbox.left <= bbox.right && bbox.right <= 1.0);
                prop_assert!(0.0 <= bbox.top && bbox.top <= bbox.bottom && bbox.bottom <= 1.0);
                block.kind = BlockKind::Text;
            }
            let text = to_plain_text(&document);
            let mut found: Vec<String> = text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(ToOwned::to_owned)
                .collect();
            expected.sort();
            found.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
