//! Reads `safetensors` files: a length, a header in JSON, then the numbers.

use std::collections::HashMap;
use std::path::Path;

use ndarray::{Array1, Array2};
use serde::Deserialize;

use super::{Error, Result};

/// A header has a few kilobytes.
const MAX_HEADER_BYTES: usize = 4 << 20;

#[derive(Debug, Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// The contents of a file, in memory while a model is built.
#[derive(Debug)]
pub struct Tensors<'a> {
    path: &'a Path,
    entries: HashMap<String, TensorEntry>,
    data: &'a [u8],
}

impl<'a> Tensors<'a> {
    pub fn parse(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let (head, rest) =
            bytes.split_first_chunk::<8>().ok_or_else(|| Error::unusable(path, "too short"))?;
        let contents = usize::try_from(u64::from_le_bytes(*head))
            .ok()
            .filter(|length| *length <= MAX_HEADER_BYTES)
            .and_then(|length| rest.split_at_checked(length));
        let (contents, data) =
            contents.ok_or_else(|| Error::unusable(path, "the header is missing or too large"))?;
        let mut table: HashMap<String, serde_json::Value> =
            serde_json::from_slice(contents).map_err(|error| Error::unusable(path, error.to_string()))?;
        table.remove("__metadata__");
        let mut entries = HashMap::new();
        for (name, value) in table {
            let entry = serde_json::from_value(value)
                .map_err(|error| Error::unusable(path, format!("{name}: {error}")))?;
            entries.insert(name, entry);
        }
        Ok(Self { path, entries, data })
    }

    fn numbers(&self, name: &str) -> Result<(Vec<f32>, &[usize])> {
        let wrong = |what: &str| Error::unusable(self.path, format!("{name}: {what}"));
        let entry = self.entries.get(name).ok_or_else(|| wrong("missing"))?;
        if entry.dtype != "F32" {
            return Err(wrong("only 32-bit floats are supported"));
        }
        let [start, end] = entry.data_offsets;
        let bytes = self.data.get(start..end).ok_or_else(|| wrong("out of bounds"))?;
        let count = entry.shape.iter().try_fold(1_usize, |product, side| product.checked_mul(*side));
        if count.and_then(|count| count.checked_mul(4)) != Some(bytes.len()) {
            return Err(wrong("its size differs from its shape"));
        }
        let numbers =
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        Ok((numbers.collect(), &entry.shape))
    }

    /// A vector of the given length.
    pub fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>> {
        let (numbers, shape) = self.numbers(name)?;
        if shape == [length] { Ok(Array1::from_vec(numbers)) } else { Err(self.wrong_shape(name)) }
    }

    /// A matrix; `None` accepts any number of rows.
    pub fn matrix(&self, name: &str, rows: Option<usize>, columns: usize) -> Result<Array2<f32>> {
        let (numbers, shape) = self.numbers(name)?;
        match *shape {
            [height, width] if width == columns && rows.is_none_or(|rows| rows == height) => {
                Array2::from_shape_vec((height, width), numbers).map_err(|_| self.wrong_shape(name))
            }
            _ => Err(self.wrong_shape(name)),
        }
    }

    fn wrong_shape(&self, name: &str) -> Error {
        Error::unusable(self.path, format!("{name}: unexpected shape"))
    }
}
