//! Pages of recognised lines to pages of blocks: the lines become runs, and go the same way as the text of a PDF.

use super::geometry::Bounds;
use super::options::{PdfError, PdfOptions, StopSignal};
use super::page::build_document;
use super::runs::Run;
use super::source::{RawPage, Source};
use crate::block::{Block, BlockKind, Content, Page, Rect, Source as WordSource, Table};
use crate::recognized::{RecognizedLine, RecognizedPage};

/// Letters are about this share of the height of the box around their line.
const LETTER_SHARE: f32 = 0.75;
/// The line that letters stand on, as a share of the height of the box.
const BASELINE_SHARE: f32 = 0.75;
/// The size that text gets where the size of the page on paper is not known, in points.
const USUAL_SIZE: f32 = 10.0;
/// Boxes of lines in one size differ by this much, with what letters happen to be in them.
const SAME_SIZE: std::ops::RangeInclusive<f32> = 0.75..=1.35;
/// Sizes beside the usual one are told apart in steps of this share of it.
const SIZE_STEP: f32 = 0.25;
/// Points for a pixel of an image file, as in a browser.
const POINTS_PER_PIXEL: f32 = 0.75;
/// A page that is tilted more than this is left as it is.
const MAX_TILT: f32 = 0.2;

/// The blocks of recognised pages. `paper` gives the width and height in points of a page that has a known size.
pub(crate) fn build_recognized_pages(
    pages: &[RecognizedPage],
    paper: impl Fn(u32) -> Option<(f32, f32)>,
    stop: &StopSignal<'_>,
) -> Result<Vec<Page>, PdfError> {
    let frames: Vec<UprightFrame> = pages.iter().map(UprightFrame::new).collect();
    let usual = usual_height(pages.iter().flat_map(|page| &page.lines));
    let source = Source {
        pages: pages.iter().zip(&frames).map(|(page, frame)| frame.raw_page(page, usual)).collect(),
        total_pages: u32::try_from(pages.len()).unwrap_or(u32::MAX),
        ..Source::default()
    };
    let built = build_document(source, &PdfOptions::default(), stop)?.document.pages;
    Ok(built
        .into_iter()
        .zip(pages)
        .zip(&frames)
        .map(|((built, page), frame)| {
            let blocks = built.blocks.into_iter().map(|block| finish(block, page, frame)).collect();
            let (width, height) =
                paper(page.number).unwrap_or((page.width * POINTS_PER_PIXEL, page.height * POINTS_PER_PIXEL));
            Page { number: page.number, width, height, status: built.status, blocks, ..Page::default() }
        })
        .collect())
}

fn finish(mut block: Block, page: &RecognizedPage, frame: &UprightFrame) -> Block {
    if block.kind == BlockKind::Title && page.number > 1 {
        block.kind = BlockKind::SectionHeader;
    }
    if let Content::Table(table) = &mut block.content {
        drop_spans(table);
    }
    block.source = WordSource::LayoutOcr;
    block.bbox = block.bbox.map(|bbox| frame.place_on_page(&bbox));
    block.confidence.ocr = block.bbox.map(|bbox| mean_confidence(page, &bbox));
    block
}

/// Cells of a picture have no lines around them that could be trusted, so that a cell over several columns is a guess:
/// a line of a receipt that is longer than its column. As cells of one place the table stays readable as text.
fn drop_spans(table: &mut Table) {
    for cell in table.rows.iter_mut().flatten() {
        cell.row_span = 1;
        cell.column_span = 1;
    }
}

/// Of the lines whose middle is inside the box, by their letters.
fn mean_confidence(page: &RecognizedPage, bbox: &Rect) -> f32 {
    let (mut sum, mut letters) = (0.0, 0.0);
    for line in &page.lines {
        let (x, y) = middle(line);
        let (x, y) = (x / page.width.max(1.0), y / page.height.max(1.0));
        if (bbox.left..=bbox.right).contains(&x) && (bbox.top..=bbox.bottom).contains(&y) {
            let weight = line.text.chars().count() as f32;
            sum += line.confidence * weight;
            letters += weight;
        }
    }
    let all = || page.lines.iter().map(|line| line.confidence).sum::<f32>() / page.lines.len().max(1) as f32;
    let mean = if letters > 0.0 { sum / letters } else { all() };
    mean.clamp(0.0, 1.0)
}

fn middle(line: &RecognizedLine) -> (f32, f32) {
    let [a, _, c, _] = line.corners;
    (f32::midpoint(a.0, c.0), f32::midpoint(a.1, c.1))
}

fn length(a: (f32, f32), b: (f32, f32)) -> f32 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

fn line_height(line: &RecognizedLine) -> f32 {
    length(line.corners[0], line.corners[3])
}

/// The direction of the text: 0 to the right, growing clockwise, in radians.
fn direction(line: &RecognizedLine) -> f32 {
    let [a, b, ..] = line.corners;
    (b.1 - a.1).atan2(b.0 - a.0)
}

/// The height that most letters have.
fn usual_height<'a>(lines: impl Iterator<Item = &'a RecognizedLine>) -> f32 {
    let mut heights: Vec<(f32, usize)> = lines
        .map(|line| (line_height(line), line.text.chars().count()))
        .filter(|(h, _)| h.is_finite())
        .collect();
    heights.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = heights.iter().map(|(_, letters)| letters).sum::<usize>() / 2;
    let mut letters = 0;
    let middle = heights.iter().find(|(_, count)| {
        letters += count;
        letters > half
    });
    middle.map_or(1.0, |(height, _)| height.max(1.0))
}

/// How a picture is turned so that its text stands upright.
#[derive(Debug, Clone, Copy)]
struct UprightFrame {
    /// Quarters of a circle, clockwise, that most of the text is turned by.
    quarters: u8,
    /// What remains, in radians.
    tilt: f32,
    /// Of the picture, in pixels.
    width: f32,
    height: f32,
}

impl UprightFrame {
    fn new(page: &RecognizedPage) -> Self {
        let mut letters = [0_usize; 4];
        for line in &page.lines {
            letters[usize::from(quarters_of(direction(line)))] += line.text.chars().count();
        }
        let mut quarters = 0;
        for candidate in 1..4_u8 {
            if letters[usize::from(candidate)] > letters[usize::from(quarters)] {
                quarters = candidate;
            }
        }
        let mut tilts: Vec<f32> = page
            .lines
            .iter()
            .filter(|line| length(line.corners[0], line.corners[1]) > 4.0 * line_height(line))
            .map(|line| remaining_angle(direction(line), quarters))
            .filter(|tilt| tilt.abs() < MAX_TILT)
            .collect();
        tilts.sort_by(f32::total_cmp);
        let tilt = tilts.get(tilts.len() / 2).copied().unwrap_or(0.0);
        Self { quarters, tilt, width: page.width.max(1.0), height: page.height.max(1.0) }
    }

    /// Width and height with the text upright, in pixels.
    fn upright_size(&self) -> (f32, f32) {
        if self.quarters.is_multiple_of(2) { (self.width, self.height) } else { (self.height, self.width) }
    }

    /// A point of the picture, with the text upright.
    fn to_upright(self, (x, y): (f32, f32)) -> (f32, f32) {
        let (x, y) = match self.quarters {
            0 => (x, y),
            1 => (y, self.width - x),
            2 => (self.width - x, self.height - y),
            _ => (self.height - y, x),
        };
        let (width, height) = self.upright_size();
        let (dx, dy) = (x - width / 2.0, y - height / 2.0);
        let (sin, cos) = (-self.tilt).sin_cos();
        (width / 2.0 + dx * cos - dy * sin, height / 2.0 + dx * sin + dy * cos)
    }

    /// A box of the upright page on the page as it is.
    fn place_on_page(self, bbox: &Rect) -> Rect {
        let Rect { left, top, right, bottom } = *bbox;
        match self.quarters {
            0 => *bbox,
            1 => Rect { left: 1.0 - bottom, top: left, right: 1.0 - top, bottom: right },
            2 => Rect { left: 1.0 - right, top: 1.0 - bottom, right: 1.0 - left, bottom: 1.0 - top },
            _ => Rect { left: top, top: 1.0 - right, right: bottom, bottom: 1.0 - left },
        }
    }

    fn raw_page(&self, page: &RecognizedPage, usual: f32) -> RawPage {
        let scale = USUAL_SIZE / (usual * LETTER_SHARE);
        let (width, height) = self.upright_size();
        let mut raw = RawPage {
            number: page.number,
            width: width * scale,
            height: height * scale,
            ..RawPage::default()
        };
        for line in &page.lines {
            let Some(run) = self.run(line, usual, scale) else { continue };
            if quarters_of(direction(line)) == self.quarters {
                raw.runs.push(run);
            } else {
                raw.rotated.push(run);
            }
        }
        raw
    }

    fn run(&self, line: &RecognizedLine, usual: f32, scale: f32) -> Option<Run> {
        let corners = line.corners.map(|corner| self.to_upright(corner));
        let text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || corners.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
            return None;
        }
        let straight = quarters_of(direction(line)) == self.quarters;
        let (x, y) = (
            corners.iter().map(|corner| corner.0).sum::<f32>() / 4.0,
            corners.iter().map(|corner| corner.1).sum::<f32>() / 4.0,
        );
        let (along, across) = (length(corners[0], corners[1]), length(corners[0], corners[3]));
        let (half_width, half_height) =
            if straight { (along / 2.0, across / 2.0) } else { (across / 2.0, along / 2.0) };
        let bounds = Bounds {
            left: (x - half_width) * scale,
            top: (y - half_height) * scale,
            right: (x + half_width) * scale,
            bottom: (y + half_height) * scale,
        };
        let size = snapped_size(across / usual) * USUAL_SIZE;
        let baseline = bounds.top + bounds.height() * BASELINE_SHARE;
        Some(Run { text, bounds, baseline, size, ..Run::default() })
    }
}

/// The size of letters relative to the usual one, without the noise of boxes that are fitted to what is in them.
fn snapped_size(share: f32) -> f32 {
    if SAME_SIZE.contains(&share) {
        return 1.0;
    }
    ((share / SIZE_STEP).round() * SIZE_STEP).clamp(SIZE_STEP, 40.0)
}

/// Quarters of a circle that text in this direction is turned by.
fn quarters_of(direction: f32) -> u8 {
    use std::f32::consts::{FRAC_PI_4, PI};
    match direction {
        d if d.abs() <= FRAC_PI_4 => 0,
        d if d.abs() >= PI - FRAC_PI_4 => 2,
        d if d > 0.0 => 1,
        _ => 3,
    }
}

/// What is left of a direction after whole quarters, between -π and π.
fn remaining_angle(direction: f32, quarters: u8) -> f32 {
    use std::f32::consts::{FRAC_PI_2, PI};
    let rest = direction - f32::from(quarters) * FRAC_PI_2;
    if rest < -PI {
        rest + 2.0 * PI
    } else if rest > PI {
        rest - 2.0 * PI
    } else {
        rest
    }
}

#[cfg(test)]
mod tests;
