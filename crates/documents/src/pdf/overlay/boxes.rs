//! The boxes of one page as a content stream.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::super::geometry::Bounds;
use crate::block::{BlockKind, Page, Rect, Source};

/// A page and what is to be drawn on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MarkedPage {
    /// From 1.
    pub number: u32,
    /// Degrees clockwise between the sheet and the page that the places count on, see [`Page::turned`]; `None` where
    /// that is the page as it is shown.
    pub turned: Option<u16>,
    pub marks: Vec<Mark>,
}

/// One block: what it is, where it stands in the reading order of its page (from 0), and its place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mark(pub BlockKind, pub u32, pub Rect);

impl MarkedPage {
    /// The blocks of a page that have a place on it.
    pub fn from_page(page: &Page) -> Self {
        let blocks = page.blocks.iter().zip(0..);
        let marks = blocks.filter_map(|(block, order)| Some(Mark(block.kind, order, block.bbox?))).collect();
        // Pictures of pages are drawn as readers show them.
        let is_from_picture = page.blocks.iter().any(|block| block.source != Source::NativeText);
        Self { number: page.number, turned: (!is_from_picture).then_some(page.turned), marks }
    }
}

/// Draws all marks. The sheet's `top` is its lower edge: the file counts from the bottom.
pub(super) fn draw_boxes(marks: &[Mark], sheet: Bounds, turned: u16) -> String {
    let (width, height) = match turned {
        90 | 270 => (sheet.height(), sheet.width()),
        _ => (sheet.width(), sheet.height()),
    };
    let (left, low) = (sheet.left, sheet.top);
    // From the page as it is read (origin at its bottom left) to the sheet.
    let matrix = match turned {
        90 => format!("0 1 -1 0 {} {low}", sheet.right),
        180 => format!("-1 0 0 -1 {} {}", sheet.right, sheet.bottom),
        270 => format!("0 -1 1 0 {left} {}", sheet.bottom),
        _ => format!("1 0 0 1 {left} {low}"),
    };
    let mut out = format!("q {matrix} cm\n");
    // Readable on a receipt, on a letter and on a poster.
    let text_size = (width.min(height) / 80.0).clamp(4.0, 100.0);
    for mark in marks {
        draw_box(&mut out, mark, (width, height), text_size);
    }
    out.push_str("Q\n");
    out
}

fn draw_box(out: &mut String, Mark(kind, order, place): &Mark, (width, height): (f32, f32), text_size: f32) {
    let [red, green, blue] = colour(*kind);
    let (left, right) = (place.left * width, place.right * width);
    let (top, bottom) = ((1.0 - place.top) * height, (1.0 - place.bottom) * height);
    let line = text_size / 10.0;
    let _ = writeln!(out, "/Light gs {red} {green} {blue} rg {red} {green} {blue} RG {line:.2} w");
    let _ = writeln!(out, "{left:.2} {bottom:.2} {:.2} {:.2} re B", right - left, top - bottom);
    let text = format!("{order} {}", kind.name());
    let (tag_width, tag_height) = (text_width(&text) * text_size + text_size * 0.6, text_size * 1.25);
    // Above the box, or inside of it at the upper edge of the page; never beyond the right edge.
    let tag_low = if top + tag_height <= height { top } else { top - tag_height };
    let tag_left = left.min(width - tag_width).max(0.0);
    let _ = writeln!(out, "/Full gs {tag_left:.2} {tag_low:.2} {tag_width:.2} {tag_height:.2} re f");
    let (text_left, baseline) = (tag_left + text_size * 0.3, tag_low + text_size * 0.33);
    let _ = writeln!(out, "1 1 1 rg BT /F {text_size:.2} Tf {text_left:.2} {baseline:.2} Td ({text}) Tj ET");
}

fn colour(kind: BlockKind) -> [f32; 3] {
    match kind {
        BlockKind::Title => [0.78, 0.08, 0.18],
        BlockKind::SectionHeader => [0.85, 0.37, 0.0],
        BlockKind::Text => [0.1, 0.35, 0.75],
        BlockKind::Table => [0.05, 0.5, 0.2],
        BlockKind::Formula => [0.5, 0.15, 0.65],
        BlockKind::Figure => [0.0, 0.5, 0.55],
        BlockKind::Caption => [0.5, 0.32, 0.1],
        BlockKind::PageNumber | BlockKind::PageHeader | BlockKind::PageFooter => [0.4, 0.4, 0.4],
    }
}

/// How wide Helvetica sets the letters that labels are made of, as a share of its size.
fn text_width(text: &str) -> f32 {
    let width = |letter: char| match letter {
        'i' | 'j' | 'l' => 0.222,
        'f' | 't' | ' ' => 0.278,
        'r' => 0.333,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' => 0.5,
        'w' => 0.722,
        'm' => 0.833,
        _ => 0.556,
    };
    text.chars().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_of_a_turned_page_are_drawn_on_its_sheet() {
        let place = Rect { left: 0.1, top: 0.2, right: 0.5, bottom: 0.4 };
        let sheet = Bounds { left: 10.0, top: 20.0, right: 210.0, bottom: 420.0 };
        let draw = |turned| draw_boxes(&[Mark(BlockKind::Table, 3, place)], sheet, turned);
        assert!(draw(0).starts_with("q 1 0 0 1 10 20 cm"));
        assert!(draw(0).contains("20.00 240.00 80.00 80.00 re B"), "{}", draw(0));
        // The sheet is 200 × 400, the page that is read 400 × 200.
        assert!(draw(90).starts_with("q 0 1 -1 0 210 20 cm"));
        assert!(draw(90).contains("40.00 120.00 160.00 40.00 re B"), "{}", draw(90));
        assert!(draw(270).starts_with("q 0 -1 1 0 10 420 cm"));
        assert!(draw(0).contains("(3 table) Tj"));
    }

    #[test]
    fn labels_at_the_edge_stay_on_the_page() {
        let place = Rect { left: 0.99, top: 0.0, right: 1.0, bottom: 0.01 };
        let sheet = Bounds { left: 0.0, top: 0.0, right: 600.0, bottom: 800.0 };
        let drawn = draw_boxes(&[Mark(BlockKind::SectionHeader, 12, place)], sheet, 0);
        let tag = drawn.lines().find(|line| line.starts_with("/Full gs")).unwrap();
        let numbers: Vec<f32> = tag.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(numbers[0] + numbers[2] <= 600.01 && numbers[1] + numbers[3] <= 800.01, "{tag}");
    }
}
