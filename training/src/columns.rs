//! Rows as columns of small numbers: each value replaced by the number of cuts at or below it.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are not below zero and at most the number of rows"
)]

use crate::boost::threads;

/// Cuts of one column at most.
pub const MOST_CUTS: usize = 63;
/// Rows looked at to place the cuts.
const SAMPLE: usize = 60_000;

#[derive(Debug, Default)]
pub struct Columns {
    /// Column by column, the bin of each row.
    pub bins: Vec<Vec<u8>>,
    pub cuts: Vec<Vec<f32>>,
}

impl Columns {
    /// Adds columns from row-major values.
    pub fn add(&mut self, values: &[f32], width: usize) {
        let rows = values.len() / width;
        let start = self.bins.len();
        self.bins.resize(start + width, Vec::new());
        self.cuts.resize(start + width, Vec::new());
        let per = width.div_ceil(threads());
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
    let step = (column.len() / SAMPLE).max(1);
    let mut sample: Vec<f32> = column.iter().copied().step_by(step).collect();
    sample.sort_by(f32::total_cmp);
    let mut distinct = sample.clone();
    distinct.dedup();
    if distinct.len() <= MOST_CUTS {
        return distinct.windows(2).map(|pair| f32::midpoint(pair[0], pair[1])).collect();
    }
    let per = sample.len() as f64 / (MOST_CUTS + 1) as f64;
    let mut cuts = Vec::new();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_told_apart_and_many_are_ranked() {
        let mut columns = Columns::default();
        let values: Vec<f32> = (0..1000u16).flat_map(|row| [f32::from(row % 3), f32::from(row)]).collect();
        columns.add(&values, 2);
        assert_eq!(columns.cuts[0], [0.5, 1.5]);
        assert_eq!(columns.bins[0][..4], [0, 1, 2, 0]);
        assert_eq!(columns.cuts[1].len(), MOST_CUTS);
        assert!(columns.bins[1].is_sorted());
    }
}
