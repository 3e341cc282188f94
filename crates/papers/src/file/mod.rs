//! The file format of an index: one immutable file of named sections with checksums, and a table of contents
//! at the end, all little-endian. A file without its last bytes is not a valid index, so a crash while
//! writing leaves nothing that could be mistaken for one.

mod lists;
mod map;
mod numbers;
mod records;
mod table;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use lists::{ListReader, ListWriter};
pub use map::Mapped;
pub use numbers::{Cursor, OffsetTable, OffsetWriter, put_varint};
pub use records::{RECORDS_PER_BLOCK, RecordPacker, RecordReader, RecordWriter};
pub use table::{HashTable, write_table};

use crate::error::{Error, Result};

/// Version of the whole format; increased whenever old files could be misread.
pub const FORMAT_VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"GANNETPX";
const TRAILER_BYTES: usize = 20;
const ENTRY_BYTES: usize = 24;

/// The sections of a file. The numbers are part of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Section {
    Facts = 1,
    OutLists = 10,
    OutOffsets = 11,
    InLists = 12,
    InOffsets = 13,
    Identifiers = 20,
    Terms = 30,
    Forward = 31,
    ForwardOffsets = 32,
    Postings = 33,
    PostingOffsets = 34,
    Frequencies = 35,
    ArticleRank = 40,
    CouplingNorm = 41,
    Dates = 42,
    Records = 50,
    RecordBlocks = 51,
    Passages = 52,
    PassageBlocks = 53,
}

impl Section {
    const ALL: [Self; 19] = [
        Self::Facts,
        Self::OutLists,
        Self::OutOffsets,
        Self::InLists,
        Self::InOffsets,
        Self::Identifiers,
        Self::Terms,
        Self::Forward,
        Self::ForwardOffsets,
        Self::Postings,
        Self::PostingOffsets,
        Self::Frequencies,
        Self::ArticleRank,
        Self::CouplingNorm,
        Self::Dates,
        Self::Records,
        Self::RecordBlocks,
        Self::Passages,
        Self::PassageBlocks,
    ];
}

/// Writes sections one after another. The file is not valid until [`IndexFileWriter::finish`] has returned.
#[derive(Debug)]
pub struct IndexFileWriter {
    path: PathBuf,
    out: BufWriter<File>,
    position: u64,
    entries: Vec<(Section, u32, u64, u64)>,
    open: Option<(Section, crc32fast::Hasher, u64)>,
}

impl IndexFileWriter {
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(Error::file(path))?;
        Ok(Self {
            path: path.to_owned(),
            out: BufWriter::with_capacity(1 << 20, file),
            position: 0,
            entries: Vec::new(),
            open: None,
        })
    }

    /// Ends the open section, if any, and begins the next.
    pub fn begin(&mut self, section: Section) {
        self.end();
        self.open = Some((section, crc32fast::Hasher::new(), self.position));
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some((_, checksum, _)) = &mut self.open {
            checksum.update(bytes);
        }
        self.position += bytes.len() as u64;
        self.out.write_all(bytes).map_err(Error::file(&self.path))
    }

    /// Writes a whole section.
    pub fn section(&mut self, section: Section, bytes: &[u8]) -> Result<()> {
        self.begin(section);
        self.write(bytes)?;
        self.end();
        Ok(())
    }

    /// Copies sections of another file unchanged.
    pub fn copy(&mut self, from: &IndexFile, sections: &[Section]) -> Result<()> {
        sections.iter().try_for_each(|section| self.section(*section, &from.section(*section)?))
    }

    /// Maps a finished section for reading while others are still written.
    pub fn written(&mut self, section: Section) -> Result<Mapped> {
        self.end();
        self.out.flush().map_err(Error::file(&self.path))?;
        let entry = self.entries.iter().find(|entry| entry.0 == section);
        let (_, _, start, length) =
            entry.ok_or_else(|| Error::damaged(&self.path, format!("section {section:?} is missing")))?;
        let file = File::open(&self.path).map_err(Error::file(&self.path))?;
        let map = map::map_immutable(&file).map_err(Error::file(&self.path))?;
        Ok(Mapped::new(Arc::new(map), *start as usize, *length as usize))
    }

    fn end(&mut self) {
        if let Some((section, checksum, start)) = self.open.take() {
            self.entries.push((section, checksum.finalize(), start, self.position - start));
        }
    }

    /// Writes the table of contents and flushes everything to disk.
    pub fn finish(self) -> Result<()> {
        let path = self.path.clone();
        self.close()?.sync_all().map_err(Error::file(&path))
    }

    /// Writes the table of contents of a scratch file, without flushing it to disk.
    pub fn finish_scratch(self) -> Result<()> {
        self.close().map(drop)
    }

    fn close(mut self) -> Result<File> {
        self.end();
        let mut contents = Vec::with_capacity(self.entries.len() * ENTRY_BYTES + TRAILER_BYTES);
        for (section, checksum, start, length) in &self.entries {
            contents.extend_from_slice(&(*section as u32).to_le_bytes());
            contents.extend_from_slice(&checksum.to_le_bytes());
            contents.extend_from_slice(&start.to_le_bytes());
            contents.extend_from_slice(&length.to_le_bytes());
        }
        let checksum = crc32fast::hash(&contents);
        contents.extend_from_slice(&u32::try_from(self.entries.len()).unwrap_or(u32::MAX).to_le_bytes());
        contents.extend_from_slice(&checksum.to_le_bytes());
        contents.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        contents.extend_from_slice(MAGIC);
        self.out.write_all(&contents).map_err(Error::file(&self.path))?;
        self.out.into_inner().map_err(|error| Error::File { path: self.path, source: error.into_error() })
    }
}

/// A mapped index file with a verified table of contents.
#[derive(Debug)]
pub struct IndexFile {
    path: PathBuf,
    map: Arc<memmap2::Mmap>,
    entries: Vec<(Section, u32, usize, usize)>,
}

impl IndexFile {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::file(path))?;
        let map = Arc::new(map::map_immutable(&file).map_err(Error::file(path))?);
        let trailer = map
            .len()
            .checked_sub(TRAILER_BYTES)
            .ok_or_else(|| Error::damaged(path, "too short to be an index"))?;
        if &map[trailer + 12..] != MAGIC {
            return Err(Error::damaged(path, "the end of the file is missing, or it is not an index"));
        }
        let mut tail = Cursor::new(&map[trailer..]);
        let (count, checksum, version) = (tail.u32() as usize, tail.u32(), tail.u32());
        if version != FORMAT_VERSION {
            return Err(Error::Version { path: path.to_owned(), found: version, expected: FORMAT_VERSION });
        }
        let start = count
            .checked_mul(ENTRY_BYTES)
            .and_then(|bytes| trailer.checked_sub(bytes))
            .ok_or_else(|| Error::damaged(path, "table of contents out of bounds"))?;
        if crc32fast::hash(&map[start..trailer]) != checksum {
            return Err(Error::damaged(path, "wrong checksum of the table of contents"));
        }
        let mut entries = Vec::with_capacity(count);
        let mut cursor = Cursor::new(&map[start..trailer]);
        for _ in 0..count {
            let (tag, checksum, at, length) = (cursor.u32(), cursor.u32(), cursor.u64(), cursor.u64());
            let in_bounds = at.checked_add(length).is_some_and(|end| end <= start as u64);
            let section = Section::ALL.into_iter().find(|section| *section as u32 == tag);
            let (Some(section), true, Ok(at), Ok(length)) =
                (section, in_bounds, usize::try_from(at), usize::try_from(length))
            else {
                return Err(Error::damaged(path, format!("section {tag} out of bounds or unknown")));
            };
            entries.push((section, checksum, at, length));
        }
        Ok(Self { path: path.to_owned(), map, entries })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn section(&self, section: Section) -> Result<Mapped> {
        let (_, _, start, length) = self
            .entries
            .iter()
            .find(|entry| entry.0 == section)
            .ok_or_else(|| Error::damaged(&self.path, format!("section {section:?} is missing")))?;
        Ok(Mapped::new(Arc::clone(&self.map), *start, *length))
    }

    /// Sizes of all sections, for reports.
    pub fn sizes(&self) -> Vec<(Section, usize)> {
        self.entries.iter().map(|(section, _, _, length)| (*section, *length)).collect()
    }

    /// Verifies all checksums.
    pub fn verify(&self) -> Result<()> {
        for (section, checksum, start, length) in &self.entries {
            if crc32fast::hash(&self.map[*start..start + length]) != *checksum {
                return Err(Error::damaged(&self.path, format!("wrong checksum of section {section:?}")));
            }
        }
        Ok(())
    }
}
