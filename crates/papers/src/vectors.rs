//! Embeddings of works by a model: one vector for the whole text and a few for its parts, one byte per
//! number, in a mapped file next to the index. Each record has a hash of its text, so that a new generation
//! reuses vectors of unchanged texts and never uses a vector of another text.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::{Cursor, Mapped};

/// An embedding model.
pub trait Embedder: Sync {
    /// Identifies the model.
    fn identity(&self) -> u64;
    /// Length of a vector.
    fn dimensions(&self) -> usize;
    /// A vector of length one for each text.
    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>>;
}

pub(crate) const MAGIC: &[u8; 8] = b"GANNETVX";
pub(crate) const VERSION: u32 = 1;
const HEADER_BYTES: usize = 32;
const TRAILER_BYTES: usize = 8;
pub(crate) const TRAILER_MARK: u32 = 0x5645_4353;
/// Parts of a text that get their own vector.
pub(crate) const TEXT_PARTS: usize = 4;
const MAX_DIMENSIONS: usize = 4096;

/// Of the vectors of one work.
pub(crate) fn record_bytes(dimensions: usize) -> usize {
    8 + (1 + TEXT_PARTS) * (4 + dimensions)
}

/// Vectors of one generation, open for reading.
#[derive(Debug)]
pub struct Vectors {
    path: PathBuf,
    data: Mapped,
    identity: u64,
    dimensions: usize,
    pub(crate) works: usize,
}

impl Vectors {
    /// Opens a finished file; [`Vectors::verify`] checks its contents.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::file(path))?;
        let data = Mapped::whole(&file).map_err(Error::file(path))?;
        let mut cursor = Cursor::new(&data);
        if cursor.bytes(8) != MAGIC {
            return Err(Error::damaged(path, "no vectors"));
        }
        let (version, dimensions) = (cursor.u32(), cursor.u32() as usize);
        if version != VERSION {
            return Err(Error::Version { path: path.to_owned(), found: version, expected: VERSION });
        }
        let (identity, works) = (cursor.u64(), cursor.u64());
        let works = usize::try_from(works).unwrap_or(usize::MAX);
        let stated = (dimensions <= MAX_DIMENSIONS)
            .then(|| works.checked_mul(record_bytes(dimensions))?.checked_add(HEADER_BYTES + TRAILER_BYTES))
            .flatten();
        if stated != Some(data.len()) {
            return Err(Error::damaged(path, "truncated, or of another size than stated"));
        }
        Ok(Self { path: path.to_owned(), data, identity, dimensions, works })
    }

    /// Verifies the checksum.
    pub fn verify(&self) -> Result<()> {
        let (body, trailer) = self.data.split_at(self.data.len() - TRAILER_BYTES);
        let mut cursor = Cursor::new(trailer);
        if cursor.u32() == crc32fast::hash(body) && cursor.u32() == TRAILER_MARK {
            Ok(())
        } else {
            Err(Error::damaged(&self.path, "wrong checksum of the vectors"))
        }
    }

    /// The model that computed them.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Length of a vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(crate) fn record(&self, node: usize) -> Option<&[u8]> {
        let bytes = record_bytes(self.dimensions);
        (node < self.works).then(|| &self.data[HEADER_BYTES + node * bytes..][..bytes])
    }

    /// Number of works with vectors.
    pub fn filled(&self) -> usize {
        (0..self.works).filter(|node| self.hash(*node) != 0).count()
    }

    /// Of the text that a work's vectors were computed from; 0 without vectors.
    pub(crate) fn hash(&self, node: usize) -> u64 {
        self.record(node).map_or(0, |record| Cursor::new(record).u64())
    }

    /// Similarity of a work to `wanted`: of the whole text, and of its most similar part. `None` without
    /// vectors.
    pub fn similarity(&self, node: u32, wanted: &[f32]) -> Option<(f32, f32)> {
        let record = self.record(node as usize).filter(|_| wanted.len() == self.dimensions)?;
        let mut cursor = Cursor::new(record);
        if cursor.u64() == 0 {
            return None;
        }
        let mut near = [0.0_f32; 1 + TEXT_PARTS];
        for near in &mut near {
            let scale = f32::from_bits(cursor.u32());
            let numbers = cursor.bytes(self.dimensions);
            let sum: f32 =
                numbers.iter().zip(wanted).map(|(number, wanted)| f32::from(*number as i8) * wanted).sum();
            *near = if scale.is_finite() { sum * scale } else { 0.0 };
        }
        let best = near[1..].iter().copied().fold(near[0].min(0.0), f32::max);
        Some((near[0], best))
    }
}
