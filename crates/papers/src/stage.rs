//! Staging logs: what importers have read, before it becomes an index. One append-only file per import, each record with
//! its length and checksum, so that a log cut off by a crash is good up to its last whole record. Logs are kept: the next
//! index is built from all of them.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::Cursor;
use crate::import::MAX_RECORD_BYTES;
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

/// A finished log. Read, not mapped: a log is many times larger than the memory a build should seem to take.
#[derive(Debug)]
pub struct Stage {
    pub source: Source,
    path: PathBuf,
    file: File,
}

impl Stage {
    pub fn open(path: &Path, source: Source) -> Result<Self> {
        let file = File::open(path).map_err(Error::file(path))?;
        Ok(Self { source, path: path.to_owned(), file })
    }

    /// Calls `each` with the place of every whole record; stops at the first that is not.
    pub fn for_each(&self, mut each: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let mut input = BufReader::with_capacity(1 << 20, At { file: &self.file, position: 0 });
        let mut record = Vec::new();
        let mut at = 0;
        loop {
            let mut head = [0; RECORD_HEAD];
            if !fill(&mut input, &mut head).map_err(Error::file(&self.path))? {
                return Ok(());
            }
            let mut cursor = Cursor::new(&head);
            let (length, checksum) = (cursor.u32() as usize, cursor.u32());
            record.clear();
            (&mut input).take(length as u64).read_to_end(&mut record).map_err(Error::file(&self.path))?;
            if record.len() < length || crc32fast::hash(&record) != checksum {
                return Ok(());
            }
            each(at, &record)?;
            at += (RECORD_HEAD + length) as u64;
        }
    }

    /// The record at a place that [`Stage::for_each`] gave.
    pub fn record(&self, at: u64) -> Result<Vec<u8>> {
        // Most records are shorter than this and need one reading.
        let mut bytes = vec![0; 4 << 10];
        let read = read_at(&self.file, at, &mut bytes).map_err(Error::file(&self.path))?;
        bytes.truncate(read);
        let length = Cursor::new(&bytes).u32() as usize;
        let end = RECORD_HEAD + length.min(MAX_RECORD_BYTES);
        if end > read {
            bytes.resize(end, 0);
            let more =
                read_at(&self.file, at + read as u64, &mut bytes[read..]).map_err(Error::file(&self.path))?;
            bytes.truncate(read + more);
        }
        bytes.truncate(end);
        bytes.drain(..RECORD_HEAD.min(bytes.len()));
        Ok(bytes)
    }
}

/// A file read from a place of one's own, so that several may read it.
struct At<'a> {
    file: &'a File,
    position: u64,
}

impl Read for At<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(out, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

/// Fills `out` from a place; less only at the end of the file.
fn read_at(file: &File, at: u64, out: &mut [u8]) -> std::io::Result<usize> {
    let mut source = At { file, position: at };
    let mut filled = 0;
    while filled < out.len() {
        match source.read(&mut out[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Whether all of `out` could be filled.
fn fill(input: &mut impl Read, out: &mut [u8]) -> std::io::Result<bool> {
    match input.read_exact(out) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        outcome => outcome.map(|()| true),
    }
}
