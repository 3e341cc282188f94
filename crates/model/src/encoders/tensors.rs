//! Reads `safetensors` files into vectors and matrices of the expected shape.

use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use super::{Error, Result};

/// A header has a few kilobytes; the library alone would parse 100 MB of JSON.
const MAX_HEADER_BYTES: u64 = 4 << 20;

/// The contents of a file, in memory while a model is built.
#[derive(Debug)]
pub struct Tensors<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
}

impl<'a> Tensors<'a> {
    pub fn parse(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let header_bytes = bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
        if header_bytes > MAX_HEADER_BYTES {
            return Err(Error::unusable(path, "the header is too large"));
        }
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|error| Error::unusable(path, error.to_string()))?;
        Ok(Self { path, tensors })
    }

    fn numbers(&self, name: &str) -> Result<(Vec<f32>, Vec<usize>)> {
        let tensor =
            self.tensors.tensor(name).map_err(|error| Error::unusable(self.path, error.to_string()))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(Error::unusable(self.path, format!("{name}: only 32-bit floats are supported")));
        }
        let (numbers, _) = tensor.data().as_chunks();
        Ok((numbers.iter().map(|four| f32::from_le_bytes(*four)).collect(), tensor.shape().to_vec()))
    }

    /// A vector of the given length.
    pub fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>> {
        let (numbers, shape) = self.numbers(name)?;
        if shape == [length] { Ok(numbers) } else { Err(self.wrong_shape(name)) }
    }

    /// A matrix, row after row; `None` accepts any number of rows.
    pub fn matrix(&self, name: &str, rows: Option<usize>, columns: usize) -> Result<Vec<f32>> {
        let (numbers, shape) = self.numbers(name)?;
        match shape[..] {
            [height, width] if width == columns && rows.is_none_or(|rows| rows == height) => Ok(numbers),
            _ => Err(self.wrong_shape(name)),
        }
    }

    fn wrong_shape(&self, name: &str) -> Error {
        Error::unusable(self.path, format!("{name}: unexpected shape"))
    }
}
