//! Staging logs: what importers have read, before it becomes an index. One append-only file per import, each record with
//! its length and checksum, so that a log cut off by a crash is good up to its last whole record. Logs are kept: the next
//! index is built from all of them.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file::Cursor;
use crate::import::MAX_RECORD_BYTES;
use crate::work::{Source, Work};

/// Length and checksum.
const RECORD_HEAD: usize = 8;
/// A log is read in pieces of about this size.
const PIECE_BYTES: usize = 1 << 20;
/// What is read for one record, and for one of many that follow one another.
const LEAST_AHEAD: usize = 4 << 10;
const MOST_AHEAD: usize = 256 << 10;
/// No record is longer, whatever it was read from: a length beyond this is damage.
const MAX_FRAME_BYTES: usize = 2 * MAX_RECORD_BYTES;

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

    /// Appends records, as [`frame`] made them.
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
    bytes: u64,
}

impl Stage {
    pub fn open(path: &Path, source: Source) -> Result<Self> {
        let file = File::open(path).map_err(Error::file(path))?;
        let bytes = file.metadata().map_err(Error::file(path))?.len();
        Ok(Self { source, path: path.to_owned(), file, bytes })
    }

    /// The log in pieces of whole records, each with its place; ends where the rest is no whole record.
    pub fn pieces(&self) -> impl Iterator<Item = Result<(u64, Vec<u8>)>> + Send + '_ {
        let mut at = 0;
        let mut wanted = PIECE_BYTES;
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
                    wanted = PIECE_BYTES;
                    return Some(Ok((place, bytes)));
                }
                // A record longer than what was read, or one that was cut off.
                let needed =
                    bytes.first_chunk().map_or(0, |head| RECORD_HEAD + u32::from_le_bytes(*head) as usize);
                if needed <= wanted || needed > MAX_FRAME_BYTES || at + needed as u64 > self.bytes {
                    return None;
                }
                wanted = needed;
            }
        })
    }

    /// Calls `each` with every whole record; stops at the first that is not.
    pub fn for_each(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for piece in self.pieces() {
            for frame in frames(&piece?.1) {
                let Some(record) = checked(frame) else { return Ok(()) };
                each(record)?;
            }
        }
        Ok(())
    }

    pub fn reader(&self) -> StageReader<'_> {
        StageReader { stage: self, start: 0, bytes: Vec::new(), ahead: LEAST_AHEAD }
    }
}

/// Reads records by their places. Records that follow one another are read many at a time.
#[derive(Debug)]
pub struct StageReader<'a> {
    stage: &'a Stage,
    /// Where in the log `bytes` lie.
    start: u64,
    bytes: Vec<u8>,
    /// Bytes to be read next time.
    ahead: usize,
}

impl StageReader<'_> {
    pub fn source(&self) -> Source {
        self.stage.source
    }

    /// The record at a place that [`Stage::pieces`] gave.
    pub fn record(&mut self, at: u64) -> Result<&[u8]> {
        let end = self.start + self.bytes.len() as u64;
        if !(self.start..end).contains(&at) || self.frame(at).is_none() {
            let goes_on = (self.start..=end).contains(&at);
            self.ahead = if goes_on { (self.ahead * 2).min(MOST_AHEAD) } else { LEAST_AHEAD };
            self.read(at, self.ahead)?;
            if let Some(head) = self.bytes.first_chunk()
                && self.frame(at).is_none()
            {
                let length = u32::from_le_bytes(*head) as usize;
                self.read(at, (RECORD_HEAD + length).min(MAX_FRAME_BYTES))?;
            }
        }
        // What the file no longer has is read as nothing.
        Ok(self.frame(at).map_or(&[], |frame| &frame[RECORD_HEAD..]))
    }

    fn frame(&self, at: u64) -> Option<&[u8]> {
        frames(self.bytes.get((at - self.start) as usize..)?).next()
    }

    fn read(&mut self, at: u64, count: usize) -> Result<()> {
        self.start = at;
        self.bytes.resize(count, 0);
        let read = read_at(&self.stage.file, at, &mut self.bytes).map_err(Error::file(&self.stage.path))?;
        self.bytes.truncate(read);
        Ok(())
    }
}

/// The whole frames that `bytes` begin with.
pub fn frames(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = u32::from_le_bytes(*rest.first_chunk()?) as usize + RECORD_HEAD;
        let (one, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(one)
    })
}

/// The record of a frame, when its checksum is right.
pub fn checked(frame: &[u8]) -> Option<&[u8]> {
    let (head, record) = frame.split_at_checked(RECORD_HEAD)?;
    (Cursor::new(&head[4..]).u32() == crc32fast::hash(record)).then_some(record)
}

/// Fills `out` from a place; less only at the end of the file.
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
        Stage::open(&path, Source::Ris).unwrap()
    }

    fn places(stage: &Stage) -> Vec<u64> {
        let mut out = Vec::new();
        for piece in stage.pieces() {
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
    fn a_log_is_good_up_to_its_last_whole_record() {
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
    fn a_record_longer_than_a_piece_is_read_whole() {
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
