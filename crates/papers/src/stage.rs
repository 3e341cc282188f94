//! Staging logs: what importers have read, before it becomes an index. One append-only file per import, each record with
//! its length and checksum, so that a log cut off by a crash is good up to its last whole record. Logs are kept: the next
//! index is built from all of them.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::{Cursor, Mapped};
use crate::work::{Source, Work};

const RECORD_HEAD: usize = 8;

/// Appends encoded works to a log.
#[derive(Debug)]
pub struct StageWriter {
    path: PathBuf,
    out: BufWriter<File>,
    bytes: u64,
}

impl StageWriter {
    /// Opens a log to be continued after `keep` bytes; what follows them is cut off.
    pub fn open(path: &Path, keep: u64) -> Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(Error::file(path))?;
        file.set_len(keep).map_err(Error::file(path))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        std::io::Seek::seek(&mut out, std::io::SeekFrom::End(0)).map_err(Error::file(path))?;
        Ok(Self { path: path.to_owned(), out, bytes: keep })
    }

    /// Appends one record, as [`frame`] made it.
    pub fn append(&mut self, framed: &[u8]) -> Result<()> {
        self.bytes += framed.len() as u64;
        self.out.write_all(framed).map_err(Error::file(&self.path))
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Brings everything to the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.out.flush().map_err(Error::file(&self.path))?;
        self.out.get_ref().sync_data().map_err(Error::file(&self.path))
    }
}

/// Appends the record of `work` to `out`: length, checksum, work.
pub fn frame(work: &Work, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; RECORD_HEAD]);
    work.encode(out);
    let length = u32::try_from(out.len() - start - RECORD_HEAD).unwrap_or(u32::MAX);
    let checksum = crc32fast::hash(&out[start + RECORD_HEAD..]);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + RECORD_HEAD].copy_from_slice(&checksum.to_le_bytes());
}

/// A finished log, mapped.
#[derive(Debug)]
pub struct Stage {
    pub source: Source,
    data: Option<Mapped>,
}

impl Stage {
    pub fn open(path: &Path, source: Source) -> Result<Self> {
        let file = File::open(path).map_err(Error::file(path))?;
        let length = file.metadata().map_err(Error::file(path))?.len();
        let data = if length == 0 { None } else { Some(Mapped::whole(&file).map_err(Error::file(path))?) };
        Ok(Self { source, data })
    }

    /// Calls `each` with the place of every whole record; stops at the first that is not.
    pub fn for_each(&self, mut each: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let bytes = self.bytes();
        let mut at = 0;
        while let Some(record) = record_at(bytes, at) {
            each(at as u64, record)?;
            at += RECORD_HEAD + record.len();
        }
        Ok(())
    }

    /// The record at a place that [`Stage::for_each`] gave.
    pub fn record(&self, at: u64) -> &[u8] {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let Some(head) = self.bytes().get(at..) else { return &[] };
        let length = Cursor::new(head).u32() as usize;
        head.get(RECORD_HEAD..RECORD_HEAD + length).unwrap_or(&[])
    }

    fn bytes(&self) -> &[u8] {
        self.data.as_deref().unwrap_or(&[])
    }
}

fn record_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..).filter(|rest| rest.len() >= RECORD_HEAD)?;
    let mut cursor = Cursor::new(rest);
    let (length, checksum) = (cursor.u32() as usize, cursor.u32());
    let record = rest.get(RECORD_HEAD..RECORD_HEAD + length)?;
    (crc32fast::hash(record) == checksum).then_some(record)
}
