//! A zip file in memory, read with limits: an entry is inflated only when it is asked for, and never past them.
//! Nothing is written to disk, so names such as `../x` are only names that nobody asks for.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::DocumentError;

const MAX_ENTRIES: usize = 20_000;
/// One part after inflation. The largest real ones are the sheets of workbooks.
const MAX_PART_BYTES: u64 = 128 * 1024 * 1024;
/// All parts of one file together.
const MAX_TOTAL_BYTES: u64 = 384 * 1024 * 1024;
/// Deflate cannot do better than about 1032 to 1; text of offices stays under 100. Small parts may compress better.
const MAX_RATIO: u64 = 250;
const RATIO_APPLIES_FROM_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    names: Vec<String>,
    inflated: u64,
}

/// What is wrong with an archive, without the words of the format.
fn damaged(error: ZipError) -> DocumentError {
    match error {
        ZipError::InvalidArchive(_) => DocumentError::damaged(
            "it is a ZIP archive without its end, or with parts that do not fit together",
        ),
        error => DocumentError::damaged(error),
    }
}

impl<'a> Archive<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, DocumentError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        if zip.len() > MAX_ENTRIES {
            return Err(DocumentError::TooLarge(format!("it holds more than {MAX_ENTRIES} parts")));
        }
        let names = zip.file_names().filter_map(Result::ok).map(std::borrow::Cow::into_owned).collect();
        Ok(Self { zip, names, inflated: 0 })
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// A part of the package; `None` when there is no such part.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, DocumentError> {
        let Some(index) = self.index(name) else { return Ok(None) };
        let mut bytes = Vec::new();
        self.inflate(index, |piece| bytes.extend_from_slice(piece))?;
        Ok(Some(bytes))
    }

    /// A part without which there is nothing to read.
    pub(crate) fn required_part(&mut self, name: &str) -> Result<Vec<u8>, DocumentError> {
        self.part(name)?.ok_or_else(|| DocumentError::Damaged(format!("the part {name} is missing")))
    }

    /// Inflates every part once without keeping it. For readers that inflate by themselves and have no limits: what
    /// the directory says about sizes is not to be trusted.
    pub(crate) fn check_sizes(&mut self) -> Result<(), DocumentError> {
        for index in 0..self.zip.len() {
            self.inflate(index, |_| {})?;
        }
        self.inflated = 0;
        Ok(())
    }

    /// Names are looked up as written and then without regard to case, as offices do.
    fn index(&self, name: &str) -> Option<usize> {
        let name = name.trim_start_matches('/');
        self.zip.index_for_name(name).or_else(|| {
            let found = self.names.iter().find(|other| other.eq_ignore_ascii_case(name))?;
            self.zip.index_for_name(found)
        })
    }

    fn inflate(&mut self, index: usize, mut sink: impl FnMut(&[u8])) -> Result<(), DocumentError> {
        let mut entry = self.zip.by_index(index).map_err(|error| match error {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
                DocumentError::Encrypted
            }
            error => damaged(error),
        })?;
        let by_ratio = entry.compressed_size().saturating_mul(MAX_RATIO).max(RATIO_APPLIES_FROM_BYTES);
        let limit = MAX_PART_BYTES.min(by_ratio).min(MAX_TOTAL_BYTES - self.inflated.min(MAX_TOTAL_BYTES));
        let mut buffer = vec![0; 64 * 1024];
        let mut read: u64 = 0;
        loop {
            let count = match entry.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                // A checksum that does not match, or a file cut short: what came before is still there.
                Err(_) if read > 0 => break,
                Err(error) => return Err(DocumentError::damaged(error)),
            };
            read += count as u64;
            if read > limit {
                let why = "a part of it inflates to more than is reasonable".to_owned();
                return Err(DocumentError::TooLarge(why));
            }
            sink(&buffer[..count]);
        }
        self.inflated += read;
        Ok(())
    }
}
