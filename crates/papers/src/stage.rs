//! Staging logs: imported works before they become an index. One append-only file per import; each record has
//! its length and checksum, so that a log truncated by a crash is valid up to its last complete record. Logs
//! are kept: the next index is built from all of them.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::Cursor;
use crate::work::limits::MAX_RECORD_BYTES;
use crate::work::{PaperSource, Work};

/// Size of length and checksum.
const RECORD_HEADER_BYTES: usize = 8;
/// Logs are read in chunks of about this size.
const CHUNK_BYTES: usize = 1 << 20;
/// Read-ahead for a single record, and for consecutive ones.
const MIN_READ_AHEAD_BYTES: usize = 4 << 10;
const MAX_READ_AHEAD_BYTES: usize = 256 << 10;
/// A larger length means damage.
const MAX_FRAME_BYTES: usize = 2 * MAX_RECORD_BYTES;

/// Appends encoded works to a log.
#[derive(Debug)]
pub struct StageWriter {
    path: PathBuf,
    out: BufWriter<File>,
    bytes: u64,
}

impl StageWriter {
    /// Opens a log to continue after `keep` bytes; the rest is truncated.
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

    /// Appends records made by [`frame`].
    pub fn append(&mut self, framed: &[u8]) -> Result<()> {
        self.bytes += framed.len() as u64;
        self.out.write_all(framed).map_err(Error::file(&self.path))
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Flushes everything to disk.
    pub fn sync(&mut self) -> Result<()> {
        self.out.flush().map_err(Error::file(&self.path))?;
        self.out.get_ref().sync_data().map_err(Error::file(&self.path))
    }
}

/// Appends the record of `work` to `out`: length, checksum, work.
pub fn frame(work: &Work, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; RECORD_HEADER_BYTES]);
    work.encode(out);
    let length = u32::try_from(out.len() - start - RECORD_HEADER_BYTES).unwrap_or(u32::MAX);
    let checksum = crc32fast::hash(&out[start + RECORD_HEADER_BYTES..]);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + RECORD_HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

/// A finished log. It is read instead of mapped, because a log may be many times larger than the memory of a
/// build.
#[derive(Debug)]
pub struct Stage {
    pub source: PaperSource,
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Stage {
    pub fn open(path: &Path, source: PaperSource) -> Result<Self> {
        let file = File::open(path).map_err(Error::file(path))?;
        let bytes = file.metadata().map_err(Error::file(path))?.len();
        Ok(Self { source, path: path.to_owned(), file, bytes })
    }

    /// The log in chunks of complete records, each with its offset; ends at the first incomplete record.
    pub fn chunks_of_records(&self) -> impl Iterator<Item = Result<(u64, Vec<u8>)>> + Send + '_ {
        let mut at = 0;
        let mut wanted = CHUNK_BYTES;
        std::iter::from_fn(move || {
            loop {
                let mut bytes = vec![0; wanted];
                match read_at(&self.file, at, &mut bytes) {
                    Ok(read) => bytes.truncate(read),
                    Err(error) => return Some(Err(Error::file(&self.path)(error))),
                }
                let whole = frames(&bytes).map(<[u8]>::len).sum();
                if whole > 0 {
                    bytes.truncate(whole);
                    let place = at;
                    at += whole as u64;
                    wanted = CHUNK_BYTES;
                    return Some(Ok((place, bytes)));
                }
                // A record longer than the chunk, or a truncated one.
                let needed = bytes
                    .first_chunk()
                    .map_or(0, |head| RECORD_HEADER_BYTES + u32::from_le_bytes(*head) as usize);
                if needed <= wanted || needed > MAX_FRAME_BYTES || at + needed as u64 > self.bytes {
                    return None;
                }
                wanted = needed;
            }
        })
    }

    /// Calls `each` with every complete record; stops at the first incomplete one.
    pub fn for_each(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for piece in self.chunks_of_records() {
            for frame in frames(&piece?.1) {
                let Some(record) = verified_record(frame) else { return Ok(()) };
                each(record)?;
            }
        }
        Ok(())
    }

    pub fn reader(&self) -> StageReader<'_> {
        StageReader { stage: self, start: 0, bytes: Vec::new(), ahead: MIN_READ_AHEAD_BYTES }
    }
}

/// Reads records by offset; consecutive records are read together.
#[derive(Debug)]
pub struct StageReader<'a> {
    stage: &'a Stage,
    /// Offset of `bytes` in the log.
    start: u64,
    bytes: Vec<u8>,
    /// Read-ahead of the next read.
    ahead: usize,
}

impl StageReader<'_> {
    pub fn source(&self) -> PaperSource {
        self.stage.source
    }

    /// The record at an offset that [`Stage::chunks_of_records`] returned.
    pub fn record(&mut self, at: u64) -> Result<&[u8]> {
        let end = self.start + self.bytes.len() as u64;
        if !(self.start..end).contains(&at) || self.frame(at).is_none() {
            let goes_on = (self.start..=end).contains(&at);
            self.ahead =
                if goes_on { (self.ahead * 2).min(MAX_READ_AHEAD_BYTES) } else { MIN_READ_AHEAD_BYTES };
            self.fill_buffer(at, self.ahead)?;
            if let Some(head) = self.bytes.first_chunk()
                && self.frame(at).is_none()
            {
                let length = u32::from_le_bytes(*head) as usize;
                self.fill_buffer(at, (RECORD_HEADER_BYTES + length).min(MAX_FRAME_BYTES))?;
            }
        }
        // A truncated file yields an empty record.
        Ok(self.frame(at).map_or(&[], |frame| &frame[RECORD_HEADER_BYTES..]))
    }

    fn frame(&self, at: u64) -> Option<&[u8]> {
        frames(self.bytes.get((at - self.start) as usize..)?).next()
    }

    fn fill_buffer(&mut self, at: u64, count: usize) -> Result<()> {
        self.start = at;
        self.bytes.resize(count, 0);
        let read = read_at(&self.stage.file, at, &mut self.bytes).map_err(Error::file(&self.stage.path))?;
        self.bytes.truncate(read);
        Ok(())
    }
}

/// The complete frames at the beginning of `bytes`.
pub fn frames(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = u32::from_le_bytes(*rest.first_chunk()?) as usize + RECORD_HEADER_BYTES;
        let (one, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(one)
    })
}

/// The record of a frame, if its checksum is correct.
pub fn verified_record(frame: &[u8]) -> Option<&[u8]> {
    let (head, record) = frame.split_at_checked(RECORD_HEADER_BYTES)?;
    (Cursor::new(&head[4..]).u32() == crc32fast::hash(record)).then_some(record)
}

/// Fills `out` from an offset; returns less only at the end of the file.
fn read_at(file: &File, at: u64, out: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < out.len() {
        match file.read_at(&mut out[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(number: usize) -> Work {
        Work {
            title: format!("title {number}"),
            abstract_text: "x".repeat(number * 7 % 9_000),
            ..Work::default()
        }
    }

    fn log(folder: &Path, works: usize, extra: &[u8]) -> Stage {
        let path = folder.join("log");
        let mut writer = StageWriter::open(&path, 0).unwrap();
        let mut bytes = Vec::new();
        (0..works).for_each(|number| frame(&work(number), &mut bytes));
        bytes.extend_from_slice(extra);
        writer.append(&bytes).unwrap();
        writer.sync().unwrap();
        Stage::open(&path, PaperSource::Ris).unwrap()
    }

    fn places(stage: &Stage) -> Vec<u64> {
        let mut out = Vec::new();
        for piece in stage.chunks_of_records() {
            let (mut at, bytes) = piece.unwrap();
            for frame in frames(&bytes) {
                out.push(at);
                at += frame.len() as u64;
            }
        }
        out
    }

    #[test]
    fn records_are_found_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let stage = log(folder.path(), 1_500, b"");
        let places = places(&stage);
        assert_eq!(places.len(), 1_500);
        let mut reader = stage.reader();
        for number in (0..1_500).chain((0..1_500).rev().step_by(7)).chain([3, 3, 1_499, 4]) {
            assert_eq!(Work::decode(reader.record(places[number]).unwrap()), work(number), "{number}");
        }
    }

    #[test]
    fn a_log_is_valid_up_to_its_last_complete_record() {
        let folder = tempfile::tempdir().unwrap();
        let mut spoilt = Vec::new();
        frame(&work(5), &mut spoilt);
        *spoilt.last_mut().unwrap() ^= 1;
        for extra in [&[7; 3][..], &[255; 30], &spoilt] {
            let stage = log(folder.path(), 10, extra);
            let mut seen = 0;
            stage
                .for_each(|record| {
                    assert_eq!(Work::decode(record), work(seen));
                    seen += 1;
                    Ok(())
                })
                .unwrap();
            assert_eq!(seen, 10);
        }
    }

    #[test]
    fn a_record_longer_than_a_chunk_is_read_completely() {
        let folder = tempfile::tempdir().unwrap();
        let mut long = Vec::new();
        let many = Work { passages: vec!["y".repeat(8_000); 400], ..Work::default() };
        frame(&many, &mut long);
        let stage = log(folder.path(), 3, &long);
        let places = places(&stage);
        assert_eq!(places.len(), 4);
        assert_eq!(Work::decode(stage.reader().record(places[3]).unwrap()), many);
    }
}
