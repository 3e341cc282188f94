//! How an index is opened.

use crate::search::Weights;

/// Options of an index.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes of memory for documents that are being indexed, over all threads.
    pub memory: usize,
    /// Threads that index documents.
    pub threads: usize,
    /// Bytes on disk. Beyond that, the documents that were seen longest ago are removed. While segments are
    /// being merged, the old ones still take space.
    pub max_bytes: u64,
    pub weights: Weights,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory: 64 << 20, threads: 2, max_bytes: 20 << 30, weights: Weights::default() }
    }
}
