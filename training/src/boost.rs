//! Gradient-boosted trees for soft labels: histogram splits, one question per level, always the same trees.
//!
//! All nodes of a level ask the same question, so the product judges many rows at once without a branch. Gradients
//! are summed as whole numbers, which add up to the same in any order: the same rows give the same trees bit for bit
//! on any number of threads.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "sums of gradients are packed into fixed widths whose bounds are checked where they are packed"
)]

use crate::columns::{Columns, MOST_CUTS};
use crate::exact::{exp, ln};
use std::num::NonZero;

/// How trees are grown.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    pub trees: usize,
    /// Questions asked of each row by one tree.
    pub depth: usize,
    pub rate: f64,
    /// Pages drawn for each tree.
    pub page_share: f64,
    /// Columns drawn for each tree.
    pub column_share: f64,
    pub l2: f64,
    /// A leaf lighter than this is not split further by a question; its gain does not count.
    pub least_weight: f64,
    pub seed: u64,
}

/// The bit of level `n` in a leaf's number says whether the row's bin is above `questions[n].bin`.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub questions: Vec<Question>,
    pub leaves: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub column: u32,
    pub bin: u8,
}

#[derive(Debug, Default)]
pub struct Forest {
    pub start: f64,
    pub trees: Vec<Tree>,
}

impl Forest {
    /// Probabilities for the given rows.
    pub fn judge(&self, columns: &Columns, rows: &[u32]) -> Vec<f32> {
        let mut sums = vec![self.start; rows.len()];
        for tree in &self.trees {
            add_tree(tree, columns, rows, &mut sums);
        }
        sums.iter().map(|sum| sigmoid(*sum) as f32).collect()
    }
}

pub fn threads() -> usize {
    std::env::var("TRAINING_THREADS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}

fn sigmoid(value: f64) -> f64 {
    1.0 / (1.0 + exp(-value))
}

fn add_tree(tree: &Tree, columns: &Columns, rows: &[u32], sums: &mut [f64]) {
    let per = rows.len().div_ceil(threads()).max(1);
    std::thread::scope(|scope| {
        for (rows, sums) in rows.chunks(per).zip(sums.chunks_mut(per)) {
            scope.spawn(move || {
                let asked: Vec<(&[u8], u8)> = tree
                    .questions
                    .iter()
                    .map(|question| (columns.bins[question.column as usize].as_slice(), question.bin))
                    .collect();
                for (&row, sum) in rows.iter().zip(sums) {
                    let mut leaf = 0;
                    for (level, (bins, bin)) in asked.iter().enumerate() {
                        leaf |= usize::from(bins[row as usize] > *bin) << level;
                    }
                    *sum += tree.leaves[leaf];
                }
            });
        }
    });
}

/// A small generator of the xorshift family; quality far beyond need, and the same everywhere.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Rows in training with their labels, weights and pages.
#[derive(Debug, Clone, Copy)]
pub struct Lesson<'a> {
    pub columns: &'a Columns,
    /// Rows to learn from, ascending.
    pub rows: &'a [u32],
    /// Per row of the whole table: label, weight, page.
    pub labels: &'a [f32],
    pub weights: &'a [f32],
    pub pages: &'a [u32],
}

pub fn train(lesson: &Lesson, recipe: &Recipe) -> Forest {
    let mut draw = Draw(recipe.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        draw.next();
    }
    let (mut sum, mut weight) = (0.0, 0.0);
    let mut heaviest = 1e-6f64;
    for &row in lesson.rows {
        let row = row as usize;
        sum += f64::from(lesson.labels[row]) * f64::from(lesson.weights[row]);
        weight += f64::from(lesson.weights[row]);
        heaviest = heaviest.max(f64::from(lesson.weights[row]));
    }
    let scale = Packed::scale(heaviest, lesson.rows.len());
    let mean = (sum / weight).clamp(1e-6, 1.0 - 1e-6);
    let mut forest = Forest { start: ln(mean / (1.0 - mean)), trees: Vec::new() };
    let mut scores = vec![forest.start; lesson.rows.len()];
    let most_page = lesson.pages.iter().max().map_or(0, |page| *page as usize + 1);
    for _ in 0..recipe.trees {
        let drawn: Vec<bool> = (0..most_page).map(|_| draw.next() < recipe.page_share).collect();
        let (mut rows, mut slopes) = (Vec::new(), Vec::new());
        for (&row, score) in lesson.rows.iter().zip(&scores) {
            let at = row as usize;
            if drawn[lesson.pages[at] as usize] {
                let (chance, weight) = (sigmoid(*score), f64::from(lesson.weights[at]));
                rows.push(row);
                slopes.push(Packed::from_sums(
                    scale * weight * (chance - f64::from(lesson.labels[at])),
                    scale * weight * chance * (1.0 - chance),
                ));
            }
        }
        let columns: Vec<u32> = (0..lesson.columns.bins.len())
            .filter(|_| draw.next() < recipe.column_share)
            .filter_map(|column| u32::try_from(column).ok())
            .collect();
        let tree = Growth { columns: lesson.columns, drawn: &columns, scale, recipe }.grow(&rows, &slopes);
        add_tree(&tree, lesson.columns, lesson.rows, &mut scores);
        forest.trees.push(tree);
    }
    forest
}

/// A sum of slopes and a sum of curvatures in one number: the slopes in the upper half, the curvatures, which are
/// never below zero, in the lower.
#[derive(Debug, Clone, Copy, Default)]
struct Packed(i64);

impl Packed {
    /// The scale at which sums over `rows` rows of at most `heaviest` fit their halves.
    fn scale(heaviest: f64, rows: usize) -> f64 {
        (f64::from(i32::MAX) / rows.max(1) as f64).min(4096.0) / heaviest
    }

    fn from_sums(slope: f64, curvature: f64) -> Self {
        Self(((slope.round() as i64) << 32) + curvature.round() as i64)
    }

    fn slope(self) -> f64 {
        ((self.0 - i64::from(self.0 as u32)) >> 32) as f64
    }

    fn curvature(self) -> f64 {
        f64::from(self.0 as u32)
    }
}

/// Bins of one leaf in one column.
const WIDTH: usize = MOST_CUTS + 1;

struct Growth<'a> {
    columns: &'a Columns,
    drawn: &'a [u32],
    scale: f64,
    recipe: &'a Recipe,
}

impl Growth<'_> {
    fn grow(&self, rows: &[u32], slopes: &[Packed]) -> Tree {
        let mut tree = Tree::default();
        // One histogram per drawn column: the bins of all leaves, leaf by leaf.
        let mut histograms: Vec<Vec<i64>> = vec![Vec::new(); self.drawn.len()];
        let mut leaf_of = vec![0u8; rows.len()];
        let mut counted: Vec<u32> = (0..rows.len() as u32).collect();
        let mut smaller = vec![true];
        for level in 0..self.recipe.depth {
            self.count(&mut histograms, rows, slopes, &leaf_of, &counted, &smaller);
            let totals: Vec<Packed> = (0..1usize << level)
                .map(|leaf| {
                    Packed(histograms.first().map_or(0, |h| h[leaf * WIDTH..(leaf + 1) * WIDTH].iter().sum()))
                })
                .collect();
            let Some(question) = self.best_question(&histograms, &totals) else { break };
            let bins = &self.columns.bins[question.column as usize];
            let mut sizes = vec![[0u32; 2]; 1 << level];
            for (leaf, &row) in leaf_of.iter_mut().zip(rows) {
                let above = bins[row as usize] > question.bin;
                sizes[usize::from(*leaf)][usize::from(above)] += 1;
                *leaf |= u8::from(above) << level;
            }
            // Only the smaller half of each leaf is counted anew; the larger is what is left of the parent.
            smaller = vec![false; 2 << level];
            for (leaf, [below, above]) in sizes.iter().enumerate() {
                smaller[leaf | (usize::from(above < below) << level)] = true;
            }
            counted =
                (0..rows.len() as u32).filter(|&at| smaller[usize::from(leaf_of[at as usize])]).collect();
            tree.questions.push(question);
        }
        let mut sums = vec![[0i64; 2]; 1 << tree.questions.len()];
        for (&leaf, slope) in leaf_of.iter().zip(slopes) {
            let sum = &mut sums[usize::from(leaf)];
            sum[0] += slope.slope() as i64;
            sum[1] += i64::from(slope.0 as u32);
        }
        let value = |[slope, curvature]: [i64; 2]| {
            -self.recipe.rate * slope as f64 / (curvature as f64 + self.recipe.l2 * self.scale)
        };
        tree.leaves = sums.into_iter().map(value).collect();
        tree
    }

    /// Brings the histograms to the present leaves: those of `counted` rows by counting, their sisters by subtraction.
    fn count(
        &self,
        histograms: &mut [Vec<i64>],
        rows: &[u32],
        slopes: &[Packed],
        leaf_of: &[u8],
        counted: &[u32],
        smaller: &[bool],
    ) {
        let near: Vec<(u32, u32, i64)> = counted
            .iter()
            .map(|&at| {
                let at = at as usize;
                (rows[at], u32::from(leaf_of[at]) * WIDTH as u32, slopes[at].0)
            })
            .collect();
        let half = smaller.len() / 2;
        let work = |drawn: &[u32], histograms: &mut [Vec<i64>]| {
            for (column, histogram) in drawn.iter().zip(histograms) {
                let bins = &self.columns.bins[*column as usize];
                let mut fresh = vec![0i64; smaller.len() * WIDTH];
                for &(row, leaf, slope) in &near {
                    fresh[leaf as usize + usize::from(bins[row as usize])] += slope;
                }
                for leaf in 0..half {
                    let (small, large) =
                        if smaller[leaf] { (leaf, leaf + half) } else { (leaf + half, leaf) };
                    for bin in 0..WIDTH {
                        fresh[large * WIDTH + bin] =
                            histogram[leaf * WIDTH + bin] - fresh[small * WIDTH + bin];
                    }
                }
                *histogram = fresh;
            }
        };
        let per = self.drawn.len().div_ceil(threads()).max(1);
        std::thread::scope(|scope| {
            for (drawn, histograms) in self.drawn.chunks(per).zip(histograms.chunks_mut(per)) {
                scope.spawn(|| work(drawn, histograms));
            }
        });
    }

    /// The question that helps most over all leaves together; of equals, the first.
    fn best_question(&self, histograms: &[Vec<i64>], totals: &[Packed]) -> Option<Question> {
        let (l2, least) = (self.recipe.l2 * self.scale, self.recipe.least_weight * self.scale);
        let score = |sum: Packed| sum.slope() * sum.slope() / (sum.curvature() + l2);
        let mut best: Option<(Question, f64)> = None;
        for (&column, histogram) in self.drawn.iter().zip(histograms) {
            let cuts = self.columns.cuts[column as usize].len();
            let mut gains = [0.0f64; MOST_CUTS];
            for (bins, &total) in histogram.chunks_exact(WIDTH).zip(totals) {
                if total.curvature() < 2.0 * least {
                    continue;
                }
                let whole = score(total);
                let mut left = Packed(0);
                for (gain, bin) in gains.iter_mut().zip(bins).take(cuts) {
                    left.0 += bin;
                    let right = Packed(total.0 - left.0);
                    if left.curvature() >= least && right.curvature() >= least {
                        *gain += score(left) + score(right) - whole;
                    }
                }
            }
            for (bin, &gain) in (0u8..).zip(&gains[..cuts]) {
                if gain > best.map_or(1e-6, |(_, most)| most) {
                    best = Some((Question { column, bin }, gain));
                }
            }
        }
        best.map(|(question, _)| question)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_both_signs_stay_apart() {
        let slopes = [(-7.0, 3.0), (5.0, 0.0), (-4000.0, 4096.0), (1.0, 2.0)];
        let sum: i64 = slopes.iter().map(|&(slope, curvature)| Packed::from_sums(slope, curvature).0).sum();
        assert!((Packed(sum).slope() + 4001.0).abs() < 1e-9);
        assert!((Packed(sum).curvature() - 4101.0).abs() < 1e-9);
    }

    #[test]
    fn learns_a_rule_and_repeats_itself() {
        let rows = 2000usize;
        let values: Vec<f32> =
            (0..rows).flat_map(|row| [(row % 37) as f32, (row % 11) as f32, (row % 5) as f32]).collect();
        let labels: Vec<f32> =
            (0..rows).map(|row| f32::from(u8::from(row % 37 > 20 && row % 11 < 6))).collect();
        let mut columns = Columns::default();
        columns.add(&values, 3);
        let all: Vec<u32> = (0..rows as u32).collect();
        let pages: Vec<u32> = all.iter().map(|row| row / 10).collect();
        let weights = vec![1.0; rows];
        let lesson =
            Lesson { columns: &columns, rows: &all, labels: &labels, weights: &weights, pages: &pages };
        let recipe = Recipe {
            trees: 40,
            depth: 3,
            rate: 0.3,
            page_share: 0.8,
            column_share: 0.9,
            l2: 1.0,
            least_weight: 1.0,
            seed: 5,
        };
        let chances = train(&lesson, &recipe).judge(&columns, &all);
        let wrong =
            chances.iter().zip(&labels).filter(|(chance, label)| (**chance - **label).abs() > 0.5).count();
        assert!(wrong < 5, "{wrong} of {rows} wrong");
        assert_eq!(chances, train(&lesson, &recipe).judge(&columns, &all));
    }
}
