//! Products of matrices with the widest vectors of the processor, chosen when the program runs.
//!
//! The right matrix is packed into panels: of a few columns the first row, then the second, and so on, in the
//! order in which a product reads them. Weights are packed once, when a model is loaded.

// Only what is inlined into the function that the processor is chosen for uses its vectors.
#![allow(clippy::inline_always)]

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp, SimdUnaryOp};
use rten_vecmath::Gelu;

/// Columns of a panel: two vectors of the widest processors, whole vectors of all others.
const PANEL: usize = 32;
/// Numbers of the widest vector.
const MAX_LANES: usize = 16;
/// Rows that are computed at once where there are 32 registers: 16 of them hold sums.
const MANY_ROWS: usize = 8;
/// Rows that are computed at once with 16 registers, 12 of them for sums; also for the rows that are left over.
const FEW_ROWS: usize = 6;

/// The right matrix of a product, packed, with what is added to each column of the result.
#[derive(Debug, Default)]
pub struct Panels {
    depth: usize,
    columns: usize,
    /// `depth` rows of `PANEL` numbers for each panel; columns that do not exist are zeros.
    values: Vec<f32>,
    bias: Vec<f32>,
}

impl Panels {
    fn reset(&mut self, depth: usize, columns: usize) {
        let padded = columns.next_multiple_of(PANEL);
        (self.depth, self.columns) = (depth, columns);
        self.values.clear();
        self.values.resize(depth * padded, 0.0);
        self.bias.clear();
        self.bias.resize(padded, 0.0);
    }

    /// Makes each of the given rows a column.
    pub fn pack_columns(&mut self, columns: Rows<'_>) {
        self.reset(columns.width, columns.count);
        let depth = self.depth;
        for column in 0..columns.count {
            let panel = &mut self.values[column / PANEL * PANEL * depth..];
            for (packed, value) in panel.chunks_exact_mut(PANEL).zip(columns.row(column)) {
                packed[column % PANEL] = *value;
            }
        }
    }

    /// Takes the rows as they are.
    pub fn pack_rows(&mut self, rows: Rows<'_>) {
        self.reset(rows.count, rows.width);
        let depth = self.depth;
        for place in 0..depth {
            for (number, part) in rows.row(place).chunks(PANEL).enumerate() {
                let start = (number * depth + place) * PANEL;
                self.values[start..start + part.len()].copy_from_slice(part);
            }
        }
    }

    /// What is added to each column of the result.
    pub fn set_bias(&mut self, bias: &[f32]) {
        self.bias[..bias.len()].copy_from_slice(bias);
    }

    /// Columns of the result.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// Rows of a matrix, or a range of columns of them.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    pub values: &'a [f32],
    /// From the start of one row to that of the next.
    pub stride: usize,
    pub count: usize,
    /// The first column.
    pub start: usize,
    /// Columns.
    pub width: usize,
}

impl<'a> Rows<'a> {
    /// All columns of a matrix whose rows follow each other.
    pub fn whole(values: &'a [f32], width: usize) -> Self {
        Self { values, stride: width, count: values.len() / width.max(1), start: 0, width }
    }

    #[inline(always)]
    fn row(&self, number: usize) -> &'a [f32] {
        &self.values[number * self.stride + self.start..][..self.width]
    }
}

/// What becomes of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finish {
    /// It replaces what was in the result.
    Replace,
    /// It is added to what was in the result.
    Add,
    /// It replaces what was there, after the Gaussian error linear unit.
    Gelu,
}

/// `rows × panels + bias`, written into columns from `start` of rows with the given stride.
#[derive(Debug)]
pub struct Product<'a> {
    pub rows: Rows<'a>,
    pub panels: &'a Panels,
    pub out: &'a mut [f32],
    pub stride: usize,
    pub start: usize,
    pub finish: Finish,
}

impl SimdOp for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(mut self, isa: I) {
        assert_eq!(self.rows.width, self.panels.depth, "matrices do not fit");
        let wide = isa.f32().len() == MAX_LANES;
        for panel in 0..self.panels.columns.div_ceil(PANEL) {
            let mut row = 0;
            while row < self.rows.count {
                if wide && self.rows.count - row >= MANY_ROWS {
                    self.tile::<I, MANY_ROWS>(isa, panel, row);
                    row += MANY_ROWS;
                } else {
                    self.tile::<I, FEW_ROWS>(isa, panel, row);
                    row += FEW_ROWS;
                }
            }
        }
    }
}

impl Product<'_> {
    /// Computes `ROWS` rows of the result for the columns of one panel. Past the last row the last one is
    /// computed again and not written.
    #[inline(always)]
    fn tile<I: Isa, const ROWS: usize>(&mut self, isa: I, panel: usize, first: usize) {
        let ops = isa.f32();
        let lanes = ops.len();
        let (depth, count) = (self.panels.depth, self.rows.count);
        let rows: [&[f32]; ROWS] = std::array::from_fn(|row| self.rows.row((first + row).min(count - 1)));
        let values = &self.panels.values[panel * depth * PANEL..][..depth * PANEL];
        for at in (0..PANEL).step_by(2 * lanes) {
            let column = panel * PANEL + at;
            if column >= self.panels.columns {
                break;
            }
            let mut sums = [[ops.zero(); 2]; ROWS];
            for place in 0..depth {
                let [low, high] = ops.load_many::<2>(&values[place * PANEL + at..][..2 * lanes]);
                for (sum, row) in sums.iter_mut().zip(&rows) {
                    let value = ops.splat(row[place]);
                    sum[0] = ops.mul_add(value, low, sum[0]);
                    sum[1] = ops.mul_add(value, high, sum[1]);
                }
            }
            let bias = ops.load_many::<2>(&self.panels.bias[column..]);
            // A copy, so that the sums above stay in registers: only this one is read at any place.
            let sums: [_; ROWS] = std::array::from_fn(
                #[inline(always)]
                |row| [ops.add(sums[row][0], bias[0]), ops.add(sums[row][1], bias[1])],
            );
            for (row, halves) in sums.iter().enumerate().take(count - first) {
                let start = (first + row) * self.stride + self.start;
                let out = &mut self.out[start + column..start + self.panels.columns];
                let (low, high) = out.split_at_mut(lanes.min(out.len()));
                finish(isa, halves[0], low, self.finish);
                finish(isa, halves[1], high, self.finish);
            }
        }
    }
}

/// Writes a vector, or as much of it as fits.
#[inline(always)]
fn finish<I: Isa>(isa: I, sum: I::F32, out: &mut [f32], finish: Finish) {
    let ops = isa.f32();
    let sum = match finish {
        Finish::Replace => sum,
        Finish::Gelu => Gelu {}.eval(isa, sum),
        Finish::Add if out.len() >= ops.len() => ops.add(sum, ops.load(out)),
        Finish::Add => ops.add(sum, ops.load_pad(out).0),
    };
    if out.len() >= ops.len() {
        ops.store(sum, out);
    } else {
        let mut whole = [0.0; MAX_LANES];
        ops.store(sum, &mut whole);
        out.copy_from_slice(&whole[..out.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|place| ((place * 37 + seed * 11) % 19) as f32 / 8.0 - 1.0).collect()
    }

    /// All sizes around those of tiles and panels, compared with the definition.
    #[test]
    fn products_of_any_size_are_those_of_the_definition() {
        for (count, depth, columns) in [
            (1, 1, 1),
            (3, 2, 31),
            (4, 5, 32),
            (5, 7, 33),
            (12, 3, 64),
            (13, 40, 65),
            (27, 33, 17),
            (2, 0, 3),
        ] {
            let (left, right) = (numbers(count * depth, 1), numbers(depth * columns, 2));
            let (bias, before) = (numbers(columns, 3), numbers(count * columns, 4));
            let mut by_rows = Panels::default();
            by_rows.pack_rows(Rows { count: depth, ..Rows::whole(&right, columns) });
            by_rows.set_bias(&bias);
            let turned: Vec<f32> = (0..columns * depth)
                .map(|place| right[place % depth.max(1) * columns + place / depth.max(1)])
                .collect();
            let mut by_columns = Panels::default();
            by_columns.pack_columns(Rows { count: columns, ..Rows::whole(&turned, depth) });
            by_columns.set_bias(&bias);
            for panels in [&by_rows, &by_columns] {
                let rows = Rows { count, ..Rows::whole(&left, depth) };
                let mut out = before.clone();
                Product { rows, panels, out: &mut out, stride: columns, start: 0, finish: Finish::Add }
                    .dispatch();
                for (place, found) in out.iter().enumerate() {
                    let (row, column) = (place / columns, place % columns);
                    let sum: f32 =
                        (0..depth).map(|k| left[row * depth + k] * right[k * columns + column]).sum();
                    let wanted = before[place] + bias[column] + sum;
                    assert!((found - wanted).abs() < 1e-4, "{count} {depth} {columns}: {found} {wanted}");
                }
            }
        }
    }

    #[test]
    fn a_product_leaves_the_columns_beside_it_alone() {
        let (left, right) = (numbers(6, 1), numbers(6, 2));
        let mut panels = Panels::default();
        panels.pack_rows(Rows::whole(&right, 2));
        let mut out = vec![7.0; 20];
        let rows = Rows::whole(&left, 3);
        Product { rows, panels: &panels, out: &mut out, stride: 10, start: 4, finish: Finish::Replace }
            .dispatch();
        let kept = |place: &usize| !(4..6).contains(&(place % 10));
        assert!((0..20).filter(kept).all(|place| out[place].to_bits() == 7.0_f32.to_bits()), "{out:?}");
        assert!((out[4] - (left[0] * right[0] + left[1] * right[2] + left[2] * right[4])).abs() < 1e-5);
    }
}
