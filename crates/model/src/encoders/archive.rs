//! Reads files from a wheel, which is a zip archive. Supports only what wheels use: no encryption, no
//! multi-part archives, nothing of 4 GiB or more.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::DeflateDecoder;

use super::{Error, Result};

/// The size of the end record and of the longest comment after it.
const MAX_END_RECORD_BYTES: u64 = 22 + 0xffff;
/// A wheel has a few dozen files.
const MAX_DIRECTORY_BYTES: u32 = 16 << 20;

/// A file within an archive.
#[derive(Debug, Clone)]
pub struct ArchiveEntry {
    pub name: String,
    pub bytes: u64,
    method: u16,
    packed: u64,
    at: u64,
}

/// An open archive.
#[derive(Debug)]
pub struct Archive<'a> {
    path: &'a Path,
    file: File,
    pub entries: Vec<ArchiveEntry>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl<'a> Archive<'a> {
    pub fn open(path: &'a Path) -> Result<Self> {
        let mut file = File::open(path).map_err(Error::file(path))?;
        let length = file.metadata().map_err(Error::file(path))?.len();
        let tail =
            read_at(&mut file, length.saturating_sub(MAX_END_RECORD_BYTES), MAX_END_RECORD_BYTES.min(length))
                .map_err(Error::file(path))?;
        let contents = tail.windows(4).rposition(|four| four == b"PK\x05\x06").and_then(|end| {
            Some((
                u32_at(&tail, end + 12).filter(|size| *size <= MAX_DIRECTORY_BYTES)?,
                u32_at(&tail, end + 16)?,
            ))
        });
        let (size, start) = contents.ok_or_else(|| Error::unusable(path, "neither a wheel nor a folder"))?;
        let contents = read_at(&mut file, start.into(), size.into()).map_err(Error::file(path))?;
        let mut entries = Vec::new();
        let mut at = 0;
        while let Some((entry, next)) = parse_entry(&contents, at) {
            entries.push(entry);
            at = next;
        }
        Ok(Self { path, file, entries })
    }

    /// Unpacks one file to `out`; its length must be what the archive says.
    pub fn unpack(&mut self, entry: &ArchiveEntry, out: &mut dyn std::io::Write) -> Result<()> {
        let damaged = || Error::unusable(self.path, format!("{} is damaged", entry.name));
        let head = read_at(&mut self.file, entry.at, 30).map_err(Error::file(self.path))?;
        let (name, extra) = (u16_at(&head, 26).ok_or_else(damaged)?, u16_at(&head, 28).ok_or_else(damaged)?);
        let start = entry.at + 30 + u64::from(name) + u64::from(extra);
        self.file.seek(SeekFrom::Start(start)).map_err(Error::file(self.path))?;
        let packed = (&self.file).take(entry.packed);
        let mut data: Box<dyn Read> = match entry.method {
            0 => Box::new(packed),
            8 => Box::new(DeflateDecoder::new(packed)),
            _ => {
                return Err(Error::unusable(
                    self.path,
                    format!("{} uses an unknown compression method", entry.name),
                ));
            }
        };
        // Read one byte more than stated, to detect a file that is longer.
        let copied =
            std::io::copy(&mut data.by_ref().take(entry.bytes + 1), out).map_err(Error::file(self.path))?;
        if copied == entry.bytes { Ok(()) } else { Err(damaged()) }
    }
}

fn parse_entry(contents: &[u8], at: usize) -> Option<(ArchiveEntry, usize)> {
    if contents.get(at..at + 4)? != b"PK\x01\x02" {
        return None;
    }
    let lengths = [28, 30, 32].map(|field| u16_at(contents, at + field).map_or(0, usize::from));
    let name = contents.get(at + 46..at + 46 + lengths[0])?;
    let entry = ArchiveEntry {
        name: String::from_utf8_lossy(name).into_owned(),
        method: u16_at(contents, at + 10)?,
        packed: u32_at(contents, at + 20)?.into(),
        bytes: u32_at(contents, at + 24)?.into(),
        at: u32_at(contents, at + 42)?.into(),
    };
    Some((entry, at + 46 + lengths.iter().sum::<usize>()))
}

fn read_at(file: &mut File, at: u64, length: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut out = Vec::new();
    file.take(length).read_to_end(&mut out)?;
    Ok(out)
}
