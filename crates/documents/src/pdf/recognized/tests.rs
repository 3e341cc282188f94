use super::*;
use crate::block::Document;
use crate::to_plain_text;
use proptest::prelude::*;

fn line(text: &str, left: f32, top: f32, height: f32) -> RecognizedLine {
    let right = left + text.chars().count() as f32 * height * 0.45;
    RecognizedLine {
        text: text.to_owned(),
        corners: [(left, top), (right, top), (right, top + height), (left, top + height)],
        confidence: 0.9,
    }
}

fn letter() -> RecognizedPage {
    let body = [
        "The quick brown fox jumps over the lazy dog and then it",
        "runs away into the woods, where nobody has seen it since",
        "the beginning of the year, although many have looked.",
    ];
    let mut lines = vec![line("Report of the year", 100.0, 80.0, 80.0)];
    for (index, text) in body.iter().enumerate() {
        lines.push(line(text, 100.0, 300.0 + index as f32 * 48.0, 40.0));
    }
    for (row, cells) in
        [["Item", "Amount"], ["Coffee", "12.50"], ["Bread", "3.20"], ["Milk", "1.10"]].iter().enumerate()
    {
        for (column, cell) in cells.iter().enumerate() {
            lines.push(line(cell, 100.0 + column as f32 * 600.0, 700.0 + row as f32 * 60.0, 40.0));
        }
    }
    RecognizedPage { number: 1, width: 1240.0, height: 1754.0, lines }
}

fn build(page: &RecognizedPage) -> Page {
    let pages = build_recognized_pages(std::slice::from_ref(page), |_| None, &StopSignal::default());
    pages.expect("pages").remove(0)
}

/// The same page turned clockwise by quarters of a circle.
fn turned(page: &RecognizedPage, quarters: u8) -> RecognizedPage {
    let (width, height) = (page.width, page.height);
    let turn = |(x, y): (f32, f32)| match quarters {
        1 => (height - y, x),
        2 => (width - x, height - y),
        _ => (y, width - x),
    };
    let mut page = page.clone();
    for line in &mut page.lines {
        line.corners = line.corners.map(turn);
    }
    if quarters % 2 == 1 {
        (page.width, page.height) = (height, width);
    }
    page
}

#[test]
fn heading_paragraph_and_table_are_told_apart() {
    let page = build(&letter());
    let kinds: Vec<BlockKind> = page.blocks.iter().map(|block| block.kind).collect();
    assert_eq!(kinds, [BlockKind::Title, BlockKind::Text, BlockKind::Table], "{:#?}", page.blocks);
    let Content::Table(table) = &page.blocks[2].content else { panic!("a table") };
    assert_eq!(table.rows.len(), 4);
    for block in &page.blocks {
        assert_eq!(block.source, WordSource::LayoutOcr);
        assert!((block.confidence.ocr.expect("a confidence") - 0.9).abs() < 1e-4);
    }
}

#[test]
fn no_cell_of_a_picture_covers_others() {
    let mut page = letter();
    // A line that reaches over both columns, between the rows of the table.
    for line in page.lines.iter_mut().filter(|line| line.corners[0].1 > 790.0) {
        line.corners = line.corners.map(|(x, y)| (x, y + 60.0));
    }
    page.lines.push(line("all prices of this list are without tax and postage", 100.0, 820.0, 40.0));
    for block in build(&page).blocks {
        if let Content::Table(table) = block.content {
            assert!(!table.has_spans(), "{table:?}");
        }
    }
}

#[test]
fn page_on_its_side_or_head_reads_the_same() {
    let upright = build(&letter());
    let text = |page: &Page| to_plain_text(&Document { pages: vec![page.clone()], ..Document::default() });
    for quarters in 1..4 {
        let page = build(&turned(&letter(), quarters));
        assert_eq!(text(&page), text(&upright), "turned by {quarters}");
    }
    // The title is at the right edge of a page that was turned clockwise.
    let bbox = build(&turned(&letter(), 1)).blocks[0].bbox.expect("a box");
    assert!(bbox.left > 0.85 && bbox.top < 0.2, "{bbox:?}");
}

#[test]
fn tilted_page_keeps_its_rows() {
    let mut page = letter();
    let (sin, cos) = 0.03_f32.sin_cos();
    for line in &mut page.lines {
        line.corners = line.corners.map(|(x, y)| {
            let (dx, dy) = (x - 620.0, y - 877.0);
            (620.0 + dx * cos - dy * sin, 877.0 + dx * sin + dy * cos)
        });
    }
    let kinds: Vec<BlockKind> = build(&page).blocks.iter().map(|block| block.kind).collect();
    assert_eq!(kinds, [BlockKind::Title, BlockKind::Text, BlockKind::Table]);
}

#[test]
fn capitals_of_a_receipt_are_no_headings() {
    let lines = [
        "TAN WOON YANN BOOKS",
        "NO 5 JALAN BESAR",
        "81100 JOHOR BAHRU",
        "THANK YOU COME AGAIN",
        "CASHIER MANIS",
    ];
    let lines =
        lines.iter().enumerate().map(|(index, text)| line(text, 50.0, 100.0 + index as f32 * 70.0, 30.0));
    let page = RecognizedPage { number: 1, width: 600.0, height: 900.0, lines: lines.collect() };
    assert!(build(&page).blocks.iter().all(|block| block.kind == BlockKind::Text));
}

proptest! {
    /// Whatever a model says, all words stay and boxes are inside the page.
    #[test]
    fn no_word_is_lost(
        lines in proptest::collection::vec(
            // No word that could be a page number.
            ("[abdegh]{2,12}", -100.0_f32..2000.0, -100.0_f32..2000.0, -4.0_f32..4.0, 1.0_f32..200.0),
            0..40,
        ),
    ) {
        let lines: Vec<RecognizedLine> = lines
            .into_iter()
            .map(|(text, x, y, angle, height)| {
                let (sin, cos) = angle.sin_cos();
                let width = text.len() as f32 * height * 0.5;
                let corner = |u: f32, v: f32| (x + u * cos - v * sin, y + u * sin + v * cos);
                let corners = [corner(0.0, 0.0), corner(width, 0.0), corner(width, height), corner(0.0, height)];
                RecognizedLine { text, corners, confidence: 0.8 }
            })
            .collect();
        let mut expected: Vec<String> = lines.iter().map(|line| line.text.clone()).collect();
        let page = build(&RecognizedPage { number: 1, width: 1800.0, height: 1800.0, lines });
        for block in &page.blocks {
            let bbox = block.bbox.expect("a box");
            prop_assert!(bbox.left >= 0.0 && bbox.top >= 0.0 && bbox.right <= 1.0 && bbox.bottom <= 1.0);
            prop_assert!(bbox.left <= bbox.right && bbox.top <= bbox.bottom);
            let confidence = block.confidence.ocr.expect("a confidence");
            prop_assert!((0.0..=1.0).contains(&confidence));
        }
        let text = to_plain_text(&Document { pages: vec![page], ..Document::default() });
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().filter(|c| c.is_alphabetic()).collect();
            letters.sort_unstable();
            letters
        };
        expected.sort();
        prop_assert_eq!(letters(&text), letters(&expected.concat()));
    }
}
