//! Gradient-boosted trees for soft labels: histogram splits, grown best-first, in one process and always the same.
//!
//! Every sum is taken in one fixed order and every draw comes from a seeded generator, so the same rows give the
//! same trees bit for bit on any number of threads.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "single precision is enough for gradients and probabilities; ranks are not below zero"
)]

use crate::exact::{exp, ln};
use std::num::NonZero;

/// How trees are grown.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    pub trees: usize,
    pub leaves: usize,
    pub rate: f64,
    /// Pages drawn for each tree.
    pub page_share: f64,
    /// Columns drawn for each tree.
    pub column_share: f64,
    pub l2: f64,
    pub least_weight: f64,
    pub seed: u64,
}

/// The rows, column by column, each value replaced by the number of cuts at or below it.
#[derive(Debug, Default)]
pub struct Columns {
    pub bins: Vec<Vec<u8>>,
    pub cuts: Vec<Vec<f32>>,
}

const MOST_CUTS: usize = 126;

impl Columns {
    /// Adds columns from row-major values.
    pub fn add(&mut self, values: &[f32], width: usize) {
        let rows = values.len() / width;
        let start = self.bins.len();
        self.bins.resize(start + width, Vec::new());
        self.cuts.resize(start + width, Vec::new());
        let threads = threads();
        let per = width.div_ceil(threads);
        let (bins, cuts) = (&mut self.bins[start..], &mut self.cuts[start..]);
        std::thread::scope(|scope| {
            for (part, (bins, cuts)) in bins.chunks_mut(per).zip(cuts.chunks_mut(per)).enumerate() {
                scope.spawn(move || {
                    for (offset, (bins, cuts)) in bins.iter_mut().zip(cuts).enumerate() {
                        let column = part * per + offset;
                        let column: Vec<f32> = (0..rows).map(|row| values[row * width + column]).collect();
                        *cuts = find_cuts(&column);
                        *bins = column.iter().map(|value| bin(cuts, *value)).collect();
                    }
                });
            }
        });
    }

    /// Drops the columns from `width` on.
    pub fn truncate(&mut self, width: usize) {
        self.bins.truncate(width);
        self.cuts.truncate(width);
    }
}

fn bin(cuts: &[f32], value: f32) -> u8 {
    u8::try_from(cuts.partition_point(|cut| *cut <= value)).unwrap_or(u8::MAX)
}

/// Cuts midway between neighbouring values, at even ranks.
fn find_cuts(column: &[f32]) -> Vec<f32> {
    let step = (column.len() / 60_000).max(1);
    let mut sample: Vec<f32> = column.iter().copied().step_by(step).collect();
    sample.sort_by(f32::total_cmp);
    let mut cuts = Vec::new();
    let per = sample.len() as f64 / (MOST_CUTS + 1) as f64;
    let mut distinct = sample.clone();
    distinct.dedup();
    if distinct.len() <= MOST_CUTS {
        return distinct.windows(2).map(|pair| f32::midpoint(pair[0], pair[1])).collect();
    }
    for rank in 1..=MOST_CUTS {
        let at = (rank as f64 * per) as usize;
        let value = sample[at.min(sample.len() - 1)];
        let below = sample[..at].partition_point(|found| *found < value);
        if below == 0 {
            continue;
        }
        let cut = f32::midpoint(sample[below - 1], value);
        if cuts.last().is_none_or(|last| cut > *last) {
            cuts.push(cut);
        }
    }
    cuts
}

/// An inner node or a leaf. Rows with a bin at or below `bin` go left.
#[derive(Debug, Clone, Copy)]
pub enum Node {
    Split { column: u32, bin: u8, left: u32, right: u32 },
    Leaf(f64),
}

pub type Tree = Vec<Node>;

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

fn add_tree(tree: &[Node], columns: &Columns, rows: &[u32], sums: &mut [f64]) {
    let per = rows.len().div_ceil(threads()).max(1);
    std::thread::scope(|scope| {
        for (rows, sums) in rows.chunks(per).zip(sums.chunks_mut(per)) {
            scope.spawn(move || {
                for (row, sum) in rows.iter().zip(sums) {
                    let mut at = 0;
                    loop {
                        match tree[at] {
                            Node::Split { column, bin, left, right } => {
                                let goes_left = columns.bins[column as usize][*row as usize] <= bin;
                                at = if goes_left { left } else { right } as usize;
                            }
                            Node::Leaf(value) => {
                                *sum += value;
                                break;
                            }
                        }
                    }
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
    for &row in lesson.rows {
        let row = row as usize;
        sum += f64::from(lesson.labels[row]) * f64::from(lesson.weights[row]);
        weight += f64::from(lesson.weights[row]);
    }
    let mean = (sum / weight).clamp(1e-6, 1.0 - 1e-6);
    let mut forest = Forest { start: ln(mean / (1.0 - mean)), trees: Vec::new() };
    let mut scores = vec![forest.start; lesson.rows.len()];
    let mut gradients = vec![(0.0f32, 0.0f32); lesson.labels.len()];
    let most_page = lesson.pages.iter().max().map_or(0, |page| *page as usize + 1);
    for _ in 0..recipe.trees {
        for (&row, score) in lesson.rows.iter().zip(&scores) {
            let row = row as usize;
            let (chance, weight) = (sigmoid(*score), f64::from(lesson.weights[row]));
            let gradient = weight * (chance - f64::from(lesson.labels[row]));
            gradients[row] = (gradient as f32, (weight * (chance * (1.0 - chance)).max(1e-6)) as f32);
        }
        let drawn: Vec<bool> = (0..most_page).map(|_| draw.next() < recipe.page_share).collect();
        let rows: Vec<u32> =
            lesson.rows.iter().copied().filter(|&row| drawn[lesson.pages[row as usize] as usize]).collect();
        let columns: Vec<u32> = (0..lesson.columns.bins.len())
            .filter(|_| draw.next() < recipe.column_share)
            .filter_map(|column| u32::try_from(column).ok())
            .collect();
        let tree = grow(lesson.columns, &gradients, rows, &columns, recipe);
        add_tree(&tree, lesson.columns, lesson.rows, &mut scores);
        forest.trees.push(tree);
    }
    forest
}

type Bins = Vec<[f64; 2]>;
const WIDTH: usize = MOST_CUTS + 2;

#[derive(Clone, Copy)]
struct Split {
    gain: f64,
    column: usize,
    bin: u8,
}

struct Leaf {
    node: usize,
    rows: Vec<u32>,
    bins: Bins,
    total: [f64; 2],
    split: Option<Split>,
}

fn grow(columns: &Columns, gradients: &[(f32, f32)], rows: Vec<u32>, drawn: &[u32], recipe: &Recipe) -> Tree {
    let mut tree = vec![Node::Leaf(0.0)];
    let bins = histogram(columns, gradients, &rows, drawn);
    let mut leaves = vec![leaf(0, rows, bins, gradients, columns, drawn, recipe)];
    while leaves.len() < recipe.leaves {
        let mut best: Option<(usize, Split)> = None;
        for (at, leaf) in leaves.iter().enumerate() {
            if let Some(split) = leaf.split
                && best.is_none_or(|(_, found)| split.gain > found.gain)
            {
                best = Some((at, split));
            }
        }
        let Some((at, split)) = best else { break };
        let parent = leaves.swap_remove(at);
        let column = drawn[split.column];
        let bins = &columns.bins[column as usize];
        let (left, right): (Vec<u32>, Vec<u32>) =
            parent.rows.iter().partition(|&&row| bins[row as usize] <= split.bin);
        let small_is_left = left.len() <= right.len();
        let small = histogram(columns, gradients, if small_is_left { &left } else { &right }, drawn);
        let mut large = parent.bins;
        for (large, small) in large.iter_mut().zip(&small) {
            large[0] -= small[0];
            large[1] -= small[1];
        }
        let (left_bins, right_bins) = if small_is_left { (small, large) } else { (large, small) };
        let (left_node, right_node) = (tree.len(), tree.len() + 1);
        tree[parent.node] = Node::Split {
            column,
            bin: split.bin,
            left: u32::try_from(left_node).unwrap_or(u32::MAX),
            right: u32::try_from(right_node).unwrap_or(u32::MAX),
        };
        tree.extend([Node::Leaf(0.0), Node::Leaf(0.0)]);
        leaves.push(leaf(left_node, left, left_bins, gradients, columns, drawn, recipe));
        leaves.push(leaf(right_node, right, right_bins, gradients, columns, drawn, recipe));
    }
    for leaf in leaves {
        tree[leaf.node] = Node::Leaf(-recipe.rate * leaf.total[0] / (leaf.total[1] + recipe.l2));
    }
    tree
}

fn histogram(columns: &Columns, gradients: &[(f32, f32)], rows: &[u32], drawn: &[u32]) -> Bins {
    let mut bins = vec![[0.0; 2]; drawn.len() * WIDTH];
    let near: Vec<(f32, f32)> = rows.iter().map(|&row| gradients[row as usize]).collect();
    // Small leaves are not worth a thread each.
    let parts = if rows.len() * drawn.len() < 400_000 { 1 } else { threads() };
    let per = drawn.len().div_ceil(parts).max(1);
    let work = |drawn: &[u32], bins: &mut [[f64; 2]]| {
        for (column, bins) in drawn.iter().zip(bins.chunks_mut(WIDTH)) {
            let values = &columns.bins[*column as usize];
            for (&row, &(gradient, weight)) in rows.iter().zip(&near) {
                let bin = &mut bins[usize::from(values[row as usize])];
                bin[0] += f64::from(gradient);
                bin[1] += f64::from(weight);
            }
        }
    };
    if parts == 1 {
        work(drawn, &mut bins);
    } else {
        std::thread::scope(|scope| {
            for (drawn, bins) in drawn.chunks(per).zip(bins.chunks_mut(per * WIDTH)) {
                scope.spawn(move || work(drawn, bins));
            }
        });
    }
    bins
}

fn leaf(
    node: usize,
    rows: Vec<u32>,
    bins: Bins,
    gradients: &[(f32, f32)],
    columns: &Columns,
    drawn: &[u32],
    recipe: &Recipe,
) -> Leaf {
    let mut total = [0.0; 2];
    for &row in &rows {
        let (gradient, weight) = gradients[row as usize];
        total[0] += f64::from(gradient);
        total[1] += f64::from(weight);
    }
    let score = |sum: f64, weight: f64| sum * sum / (weight + recipe.l2);
    let mut split: Option<Split> = None;
    for (column, bins) in bins.chunks(WIDTH).enumerate() {
        let cuts = columns.cuts[drawn[column] as usize].len();
        let mut left = [0.0; 2];
        for (at, bin) in bins.iter().enumerate().take(cuts) {
            left[0] += bin[0];
            left[1] += bin[1];
            let right = total[1] - left[1];
            if left[1] < recipe.least_weight || right < recipe.least_weight {
                continue;
            }
            let gain = score(left[0], left[1]) + score(total[0] - left[0], right) - score(total[0], total[1]);
            if gain > split.map_or(1e-6, |found| found.gain) {
                split = Some(Split { gain, column, bin: u8::try_from(at).unwrap_or(u8::MAX) });
            }
        }
    }
    Leaf { node, rows, bins, total, split }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            leaves: 8,
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
