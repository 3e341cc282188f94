//! Reads files from a wheel, which is a zip archive.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use zip::ZipArchive;

use super::{Error, Result};

/// An open archive.
#[derive(Debug)]
pub struct Archive<'a> {
    path: &'a Path,
    zip: ZipArchive<BufReader<File>>,
}

impl<'a> Archive<'a> {
    pub fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::file(path))?;
        let zip = ZipArchive::new(BufReader::new(file));
        Ok(Self { path, zip: zip.map_err(|_| Error::unusable(path, "neither a wheel nor a folder"))? })
    }

    /// Whether a file with this name is in it, in whatever folder.
    pub fn contains(&self, name: &str) -> bool {
        self.zip.file_names().flatten().any(|full_name| full_name.rsplit('/').next() == Some(name))
    }

    /// Unpacks the file with this name to `out`; of several in different folders the one highest up. Its length
    /// and checksum must be what the archive says.
    pub fn unpack(&mut self, name: &str, max_bytes: u64, out: &mut dyn Write) -> Result<()> {
        let index = (0..self.zip.len())
            .filter_map(|index| {
                let entry = self.zip.by_index_data(index).ok()?;
                let full_name = entry.name().ok()?;
                let fits = full_name.rsplit('/').next() == Some(name) && entry.size() <= max_bytes;
                fits.then(|| (full_name.matches('/').count(), index))
            })
            .min()
            .map(|(_, index)| index)
            .ok_or_else(|| Error::unusable(self.path, format!("it does not contain {name}")))?;
        let damaged = |why: &dyn std::fmt::Display| {
            Error::unusable(self.path, format!("{name} cannot be unpacked: {why}"))
        };
        let file = self.zip.by_index(index).map_err(|error| damaged(&error))?;
        let size = file.size();
        // Read one byte more than stated, to detect a file that is longer.
        let copied = std::io::copy(&mut file.take(size + 1), out).map_err(|error| damaged(&error))?;
        if copied == size { Ok(()) } else { Err(damaged(&"its size is not the one that the archive states")) }
    }
}
