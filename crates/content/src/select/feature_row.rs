//! Writes feature rows: the same code gives values for inference and column names for training.

use super::model::LANES;

/// Receives the columns of one row, in order.
pub trait FeatureRow {
    fn put(&mut self, name: &str, value: f32);

    /// One of several columns of the same kind.
    fn level(&mut self, name: &str, level: usize, value: f32);

    #[inline]
    fn flag(&mut self, name: &str, value: bool) {
        self.put(name, f32::from(u8::from(value)));
    }
}

/// A row as one lane of a tile. The tile has as many columns as the row.
#[derive(Debug)]
pub struct TileLane<'a> {
    columns: std::slice::IterMut<'a, [f32; LANES]>,
    lane: usize,
}

impl<'a> TileLane<'a> {
    pub fn new(tile: &'a mut [[f32; LANES]], lane: usize) -> Self {
        Self { columns: tile.iter_mut(), lane: lane % LANES }
    }
}

impl FeatureRow for TileLane<'_> {
    #[inline]
    fn put(&mut self, _: &str, value: f32) {
        if let Some(column) = self.columns.next() {
            column[self.lane] = value;
        }
    }

    #[inline]
    fn level(&mut self, name: &str, _: usize, value: f32) {
        self.put(name, value);
    }
}

/// A row, or several one after the other, as they come.
impl FeatureRow for Vec<f32> {
    fn put(&mut self, _: &str, value: f32) {
        self.push(value);
    }

    fn level(&mut self, _: &str, _: usize, value: f32) {
        self.push(value);
    }
}

/// The names of the columns, and how many there are.
#[derive(Debug, Default)]
pub struct ColumnNames(pub Vec<String>);

impl FeatureRow for ColumnNames {
    fn put(&mut self, name: &str, _: f32) {
        self.0.push(name.to_owned());
    }

    fn level(&mut self, name: &str, level: usize, _: f32) {
        self.0.push(format!("{name}_{level}"));
    }
}

/// `part / whole`, or 0 when `whole` is 0.
#[inline]
pub fn ratio(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
