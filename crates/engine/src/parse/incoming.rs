//! Files on their way in: written to disk as they arrive, with a limit for each, for each team and for all together.
//!
//! A file has no name in its folder: it is there for as long as it is open and gone with whatever ends its request, a
//! caller who hangs up and `kill -9` included.

use crate::Error;
use document_process::MAX_FILE_BYTES;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use uuid::Uuid;
use wire::{Kind, WireError};

/// Bytes of all files that are arriving or being parsed. A team may use half of them.
const MAX_BYTES_ON_DISK: u64 = 4 * 1024 * 1024 * 1024;
/// Seconds after which a caller may try again who found no room.
const NO_ROOM_RETRY_SECONDS: u64 = 5;

/// Why a file could not be taken in.
#[derive(Debug, thiserror::Error)]
pub enum IncomingError {
    #[error("the file is larger than 50 MB")]
    TooLarge,
    #[error("too many files are being uploaded at once")]
    NoRoom,
    #[error("could not write the file: {0}")]
    Disk(#[source] io::Error),
}

impl From<IncomingError> for Error {
    fn from(error: IncomingError) -> Self {
        match error {
            IncomingError::TooLarge => Self::because(Kind::BadRequest, &error.to_string()),
            IncomingError::NoRoom => Self::Unavailable {
                reason: "too many files are being uploaded at once",
                retry_after: NO_ROOM_RETRY_SECONDS,
            },
            IncomingError::Disk(cause) if is_full(&cause) => {
                Self::OutOfSpace("the disk that holds the data folder is full".to_owned())
            }
            IncomingError::Disk(cause) => Self::internal(cause),
        }
    }
}

impl From<IncomingError> for WireError {
    fn from(error: IncomingError) -> Self {
        Error::from(error).into()
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The folder of incoming files.
#[derive(Debug)]
pub struct IncomingFiles {
    folder: PathBuf,
    max_bytes: u64,
    /// Bytes on disk by team.
    bytes: Mutex<HashMap<Uuid, u64>>,
}

impl IncomingFiles {
    /// Makes the folder, and clears it of what a process left that died just when it made a file.
    pub fn open(folder: &Path) -> io::Result<Arc<Self>> {
        Self::with_limit(folder, MAX_BYTES_ON_DISK)
    }

    fn with_limit(folder: &Path, max_bytes: u64) -> io::Result<Arc<Self>> {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)?.flatten() {
            // Another server may share the folder and have deleted it just now.
            let _ = fs::remove_file(entry.path());
        }
        Ok(Arc::new(Self { folder: folder.to_owned(), max_bytes, bytes: Mutex::default() }))
    }

    /// A new, empty file of a team.
    pub fn create(self: &Arc<Self>, team: Uuid) -> Result<IncomingFile, IncomingError> {
        let path = self.folder.join(Uuid::new_v4().simple().to_string());
        let opened = (|| {
            let writer = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
            let reader = fs::File::open(&path);
            fs::remove_file(&path)?;
            Ok((writer, reader?))
        })();
        let (writer, reader) = opened.map_err(IncomingError::Disk)?;
        let room = Room { files: self.clone(), team, bytes: 0 };
        Ok(IncomingFile { writer: writer.into(), reader, room })
    }
}

/// The bytes of one file that count for its team.
#[derive(Debug)]
struct Room {
    files: Arc<IncomingFiles>,
    team: Uuid,
    bytes: u64,
}

impl Room {
    fn grow(&mut self, bytes: u64) -> Result<(), IncomingError> {
        if self.bytes + bytes > MAX_FILE_BYTES {
            return Err(IncomingError::TooLarge);
        }
        let mut teams = self.files.bytes.lock();
        let all: u64 = teams.values().sum();
        let own = teams.entry(self.team).or_default();
        if all + bytes > self.files.max_bytes || *own + bytes > self.files.max_bytes / 2 {
            return Err(IncomingError::NoRoom);
        }
        *own += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut teams = self.files.bytes.lock();
        if let Some(own) = teams.get_mut(&self.team) {
            *own = own.saturating_sub(self.bytes);
            if *own == 0 {
                teams.remove(&self.team);
            }
        }
    }
}

/// A file that is arriving, or has arrived. Dropping it deletes it.
#[derive(Debug)]
pub struct IncomingFile {
    writer: tokio::fs::File,
    /// The same file, open for reading only.
    reader: fs::File,
    room: Room,
}

impl IncomingFile {
    /// Adds bytes at the end.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), IncomingError> {
        self.room.grow(bytes.len() as u64)?;
        self.writer.write_all(bytes).await.map_err(IncomingError::Disk)
    }

    pub fn len(&self) -> u64 {
        self.room.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.room.bytes == 0
    }

    /// Waits until everything is written; the file for reading, from its beginning.
    pub async fn open_for_reading(&mut self) -> Result<fs::File, IncomingError> {
        self.writer.flush().await.map_err(IncomingError::Disk)?;
        self.reader.try_clone().map_err(IncomingError::Disk)
    }

    /// Writes an object of the storage into the file, which is still empty; `None` where there is no such object.
    pub async fn fill(
        &mut self,
        objects: &store::objects::Objects,
        key: &str,
        bytes: u64,
    ) -> Result<Option<()>, Error> {
        self.room.grow(bytes)?;
        self.writer.rewind().await.map_err(IncomingError::Disk)?;
        let copied = objects.get_to_file(key, &mut self.writer).await.map_err(crate::from_store)?;
        Ok(copied.filter(|copied| *copied == bytes).map(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use testkit::TempDir;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[tokio::test]
    async fn a_file_is_read_as_it_came_and_leaves_nothing() {
        let dir = TempDir::new();
        let folder = dir.join("incoming");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("left-by-a-killed-process"), "x").unwrap();
        let files = IncomingFiles::open(&folder).unwrap();
        assert_eq!(names(&folder), 0, "leftovers go at the start");
        let mut file = files.create(Uuid::nil()).unwrap();
        assert!(file.is_empty());
        file.write(b"one ").await.unwrap();
        file.write(b"two").await.unwrap();
        let mut text = String::new();
        file.open_for_reading().await.unwrap().read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), file.len()), ("one two", 7));
        assert_eq!(names(&folder), 0, "it never has a name that could stay");
        drop(file);
        assert!(files.bytes.lock().is_empty());
    }

    #[tokio::test]
    async fn files_teams_and_all_together_are_bounded() {
        let dir = TempDir::new();
        let files = IncomingFiles::with_limit(&dir.join("incoming"), 100).unwrap();
        let [one, two, three] = [1, 2, 3].map(Uuid::from_u128);
        let mut first = files.create(one).unwrap();
        first.write(&[0; 50]).await.unwrap();
        let mut more = files.create(one).unwrap();
        assert!(matches!(more.write(b"x").await, Err(IncomingError::NoRoom)), "half for a team");
        let mut second = files.create(two).unwrap();
        second.write(&[0; 49]).await.unwrap();
        let mut third = files.create(three).unwrap();
        third.write(b"x").await.unwrap();
        assert!(matches!(third.write(b"x").await, Err(IncomingError::NoRoom)), "all together");
        drop(first);
        more.write(&[0; 50]).await.unwrap();
        let large = IncomingFiles::open(&dir.join("large")).unwrap();
        let mut file = large.create(one).unwrap();
        let megabyte = vec![7; 1024 * 1024];
        for _ in 0..50 {
            file.write(&megabyte).await.unwrap();
        }
        assert_eq!(file.len(), MAX_FILE_BYTES);
        assert!(matches!(file.write(b"x").await, Err(IncomingError::TooLarge)), "one byte more");
    }
}
