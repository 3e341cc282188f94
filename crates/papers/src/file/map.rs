//! Memory-maps a finished index file; the only module of the crate with `unsafe`.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

use memmap2::Mmap;

/// Maps a file that is no longer written to.
// Mapping is unsafe because another process could change or shorten the file under us. Index files are
// written under a temporary name, synced, renamed into place and never opened for writing again; old
// generations are unlinked, which leaves existing maps intact. Readers check every bound, so changed bytes
// could give wrong results but no invalid reads.
#[allow(unsafe_code)]
pub fn map_immutable(file: &File) -> io::Result<Mmap> {
    unsafe { Mmap::map(file) }
}

/// A part of a mapped file; cheap to clone, keeps the map alive.
#[derive(Debug, Clone)]
pub struct Mapped {
    map: Arc<Mmap>,
    start: usize,
    length: usize,
}

impl Mapped {
    pub(super) fn new(map: Arc<Mmap>, start: usize, length: usize) -> Self {
        debug_assert!(start + length <= map.len());
        Self { map, start, length }
    }

    /// A whole file, for staging logs read back while an index is built.
    pub fn whole(file: &File) -> io::Result<Self> {
        let map = map_immutable(file)?;
        let length = map.len();
        Ok(Self { map: Arc::new(map), start: 0, length })
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map[self.start..self.start + self.length]
    }
}
