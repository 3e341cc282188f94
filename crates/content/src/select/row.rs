//! How rows are written: the same description of a block gives its values to the product and its names to training.

use super::model::LANES;

/// Takes the columns of one row, in order.
pub trait Row {
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
pub struct Lane<'a> {
    columns: std::slice::IterMut<'a, [f32; LANES]>,
    lane: usize,
}

impl<'a> Lane<'a> {
    pub fn new(tile: &'a mut [[f32; LANES]], lane: usize) -> Self {
        Self { columns: tile.iter_mut(), lane: lane % LANES }
    }
}

impl Row for Lane<'_> {
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
impl Row for Vec<f32> {
    fn put(&mut self, _: &str, value: f32) {
        self.push(value);
    }

    fn level(&mut self, _: &str, _: usize, value: f32) {
        self.push(value);
    }
}

/// The names of the columns, and how many there are.
#[derive(Debug, Default)]
pub struct Names(pub Vec<String>);

impl Row for Names {
    fn put(&mut self, name: &str, _: f32) {
        self.0.push(name.to_owned());
    }

    fn level(&mut self, name: &str, level: usize, _: f32) {
        self.0.push(format!("{name}_{level}"));
    }
}

/// A part of a whole; nothing of nothing is nothing.
#[inline]
pub fn ratio(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
