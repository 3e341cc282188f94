//! From the map of the detection model, which says for each pixel how likely it is text, to boxes around lines.
//!
//! The model marks the core of each line, thinner than the line itself, so that neighbouring lines do not touch. A
//! box around each connected core is grown back to the height of the line.

use super::quad::{Point, Quad, smallest_box};

/// A pixel above this is text.
const MIN_PIXEL_SCORE: f32 = 0.3;
/// The mean over a box must be above this.
const MIN_BOX_SCORE: f32 = 0.5;
/// How far a box is grown: this times its area by its circumference.
const GROWTH: f32 = 1.6;
/// Cores below this height, in pixels of the map, are noise.
const MIN_CORE_HEIGHT: f32 = 3.0;
/// Lines of text in one picture. A page of a newspaper has about a thousand.
const MAX_BOXES: usize = 4_000;

/// The boxes of the lines of text, in pixels of the map.
pub(super) fn find_boxes(scores: &[f32], width: usize, height: usize) -> Vec<Quad> {
    if width == 0 || scores.len() != width * height {
        return Vec::new();
    }
    let mut boxes = Vec::new();
    for mut outline in find_outlines(scores, width, height) {
        let Some(core) = smallest_box(&mut outline) else { continue };
        if core.width().min(core.height()) < MIN_CORE_HEIGHT
            || mean_score(scores, width, height, &core) < MIN_BOX_SCORE
        {
            continue;
        }
        let circumference = 2.0 * (core.width() + core.height());
        let margin = core.width() * core.height() * GROWTH / circumference;
        boxes.push(core.grown(margin));
        if boxes.len() == MAX_BOXES {
            break;
        }
    }
    boxes
}

/// For each group of touching text pixels: the first and the last of each of its rows, which have the same convex
/// outline as all of them.
fn find_outlines(scores: &[f32], width: usize, height: usize) -> Vec<Vec<Point>> {
    // Each pixel also marks the ones to its right and below, which closes hairline gaps between letters.
    let is_text = |x: usize, y: usize| scores[y * width + x] > MIN_PIXEL_SCORE;
    let marked = |x: usize, y: usize| {
        is_text(x, y)
            || x > 0 && is_text(x - 1, y)
            || y > 0 && is_text(x, y - 1)
            || x > 0 && y > 0 && is_text(x - 1, y - 1)
    };
    let mut groups = Groups::default();
    let mut segments: Vec<Segment> = Vec::new();
    let mut above = 0..0;
    for y in 0..height {
        let start = segments.len();
        let mut x = 0;
        let mut candidate = above.start;
        while x < width {
            if !marked(x, y) {
                x += 1;
                continue;
            }
            let from = x;
            while x < width && marked(x, y) {
                x += 1;
            }
            let group = groups.add();
            // Segments of the row above that touch this one, corners included.
            while candidate < above.end && segments[candidate].to < from {
                candidate += 1;
            }
            let mut touching = candidate;
            while touching < above.end && segments[touching].from <= x {
                groups.join(segments[touching].group, group);
                touching += 1;
            }
            segments.push(Segment { y, from, to: x, group });
        }
        above = start..segments.len();
    }
    let mut outlines: Vec<Vec<Point>> = Vec::new();
    let mut places = vec![usize::MAX; groups.0.len()];
    for segment in segments {
        let root = groups.root(segment.group);
        if places[root] == usize::MAX {
            places[root] = outlines.len();
            outlines.push(Vec::new());
        }
        let outline = &mut outlines[places[root]];
        outline.push((segment.from as f32, segment.y as f32));
        outline.push(((segment.to - 1) as f32, segment.y as f32));
    }
    outlines
}

/// Neighbouring text pixels of one row, `to` not included.
struct Segment {
    y: usize,
    from: usize,
    to: usize,
    group: usize,
}

/// Which segments belong together: each entry is the number of an earlier group, or its own.
#[derive(Default)]
struct Groups(Vec<usize>);

impl Groups {
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    fn root(&mut self, mut group: usize) -> usize {
        while self.0[group] != group {
            self.0[group] = self.0[self.0[group]];
            group = self.0[group];
        }
        group
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// The mean of the map over a turned box.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the map")]
fn mean_score(scores: &[f32], width: usize, height: usize, core: &Quad) -> f32 {
    let clamp = |value: f32, end: usize| value.clamp(0.0, (end - 1) as f32) as usize;
    let range = |values: [f32; 4], end: usize| {
        let low = values.iter().copied().fold(f32::MAX, f32::min);
        let high = values.iter().copied().fold(f32::MIN, f32::max);
        clamp(low.floor(), end)..=clamp(high.ceil(), end)
    };
    let [origin, right, _, below] = core.0;
    let along = (right.0 - origin.0, right.1 - origin.1);
    let down = (below.0 - origin.0, below.1 - origin.1);
    let (along_square, down_square) = (along.0.hypot(along.1).powi(2), down.0.hypot(down.1).powi(2));
    let (mut sum, mut count) = (0.0_f32, 0_u32);
    for y in range(core.0.map(|corner| corner.1), height) {
        for x in range(core.0.map(|corner| corner.0), width) {
            let (dx, dy) = (x as f32 - origin.0, y as f32 - origin.1);
            let across = dx * along.0 + dy * along.1;
            let depth = dx * down.0 + dy * down.1;
            if (0.0..=along_square).contains(&across) && (0.0..=down_square).contains(&depth) {
                sum += scores[y * width + x];
                count += 1;
            }
        }
    }
    if count == 0 { 0.0 } else { sum / count as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(width: usize, height: usize, text: impl Fn(usize, usize) -> bool) -> Vec<f32> {
        (0..width * height).map(|index| if text(index % width, index / width) { 0.9 } else { 0.0 }).collect()
    }

    #[test]
    fn two_lines_are_two_boxes_larger_than_their_cores() {
        let scores =
            map(200, 100, |x, y| (20..180).contains(&x) && ((10..18).contains(&y) || (40..48).contains(&y)));
        let boxes = find_boxes(&scores, 200, 100);
        assert_eq!(boxes.len(), 2);
        for quad in boxes {
            assert!(quad.height() > 14.0 && quad.height() < 26.0, "{quad:?}");
            assert!(quad.width() > 165.0 && quad.width() < 185.0, "{quad:?}");
        }
    }

    #[test]
    fn slanted_line_has_a_slanted_box() {
        let scores = map(300, 100, |x, y| {
            let line = 20 + x / 10;
            (20..280).contains(&x) && (line..line + 8).contains(&y)
        });
        let boxes = find_boxes(&scores, 300, 100);
        assert_eq!(boxes.len(), 1);
        let [a, b, ..] = boxes[0].0;
        assert!((((b.1 - a.1) / (b.0 - a.0)) - 0.1).abs() < 0.02, "{:?}", boxes[0]);
    }

    #[test]
    fn parts_that_meet_further_down_are_one_group() {
        // A comb: teeth that are joined by the last row only.
        let scores = map(60, 20, |x, y| y >= 15 || x % 4 < 2);
        assert_eq!(find_outlines(&scores, 60, 20).len(), 1);
    }

    #[test]
    fn noise_is_no_text() {
        assert!(find_boxes(&map(50, 50, |x, y| x == 20 && y == 20), 50, 50).is_empty());
        assert!(find_boxes(&[], 0, 0).is_empty());
        assert!(find_boxes(&[0.9; 10], 3, 3).is_empty());
    }

    proptest! {
        #[test]
        fn any_map_gives_finite_boxes(width in 1_usize..40, height in 1_usize..40, seed: u64) {
            let mut state = seed | 1;
            let scores: Vec<f32> = (0..width * height)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    if state % 3 == 0 { f32::NAN } else { (state % 1000) as f32 / 1000.0 }
                })
                .collect();
            for quad in find_boxes(&scores, width, height) {
                prop_assert!(quad.0.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
            }
        }
    }
}
