//! Stored objects (pages, screenshots, PDFs): bytes in a folder or in S3-compatible storage, with their
//! index in the database. An object is noted before its bytes are written and forgotten after they are
//! deleted, so no stored byte is ever unknown, whenever the process dies. Knows nothing of what the
//! bytes mean.

mod content;
mod index;
mod place;

pub(crate) use index::object_entry_from_row;
pub use index::{ObjectEntry, ObjectIndex};
pub use place::{ObjectPlace, S3Place};

use crate::error::FullDisk;
use crate::{StoreError, StoreResult, clock, failure};
use bytes::Bytes;
use content::ObjectContent;
use futures_util::future::BoxFuture;
use object_store::{ObjectStore, ObjectStoreExt, path::Path};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use uuid::Uuid;

/// Where files of a folder are written before they get their name. Nothing here survives for long, so
/// what a killed process left behind is found in one place.
const PARTIAL: &str = "partial";
/// A file that is being written is younger than this.
const PARTIAL_FILE_RETENTION: Duration = Duration::from_hours(1);
const MAX_KEY_BYTES: usize = 300;
/// Objects that are looked up and deleted together.
const MAX_BATCH_OBJECTS: u32 = 256;
/// Batches per sweep: what is left is for the next one.
const MAX_BATCHES_PER_SWEEP: usize = 16;
/// Deletions under way at once.
const MAX_PARALLEL_DELETIONS: usize = 16;
/// What one call of the storage may take, all its tries together: so long, and so much more for each megabyte. Storage that hangs
/// holds nobody for longer.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);
const CALL_TIMEOUT_PER_MEGABYTE: Duration = Duration::from_secs(1);

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectSweep {
    /// Objects past their time.
    pub expired: u64,
    /// Objects deleted before their time, to stay under the ceiling.
    pub evicted: u64,
    pub bytes_freed: u64,
}

/// The object storage of a store.
#[derive(Clone)]
pub struct Objects {
    index: Arc<dyn ObjectIndex>,
    place: Arc<dyn ObjectStore>,
    /// Set when the place is a folder.
    folder: Option<PathBuf>,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Objects {
    /// Connects a place with its index. Writes nothing but a missing folder.
    pub fn open(place: &ObjectPlace, index: Arc<dyn ObjectIndex>) -> StoreResult<Self> {
        let folder = match place {
            ObjectPlace::Folder(folder) => Some(folder.clone()),
            ObjectPlace::S3(_) => None,
        };
        Ok(Self { index, place: place.connect()?, folder })
    }

    /// Stores an object for `keep_for`, replacing one with the same key. It is there whole or not at
    /// all, for readers too.
    pub fn put<'a>(
        &'a self,
        key: &'a str,
        team: Uuid,
        bytes: Bytes,
        keep_for: Duration,
    ) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move { self.put_content(key, team, ObjectContent::Bytes(bytes), keep_for).await })
    }

    /// The same for the bytes of a file, from its beginning; a few megabytes of it are in memory at a time.
    pub fn put_file<'a>(
        &'a self,
        key: &'a str,
        team: Uuid,
        file: tokio::fs::File,
        bytes: u64,
        keep_for: Duration,
    ) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(
            async move { self.put_content(key, team, ObjectContent::File { file, bytes }, keep_for).await },
        )
    }

    async fn put_content(
        &self,
        key: &str,
        team: Uuid,
        content: ObjectContent,
        keep_for: Duration,
    ) -> StoreResult<()> {
        let path = checked(key)?;
        let size = i64::try_from(content.len()).unwrap_or(i64::MAX);
        self.index.note_object(key, team, size, keep_for).await?;
        if let Err(error) = self.write(&path, content).await {
            // Best effort: when this fails too, the note stays and a sweep ends it in its time. Storage that hangs would hold the
            // caller once more.
            let (objects, key) = (self.clone(), key.to_owned());
            let clearing = tokio::spawn(async move { objects.delete(&key).await });
            if self.folder.is_some() {
                let _ = clearing.await;
            }
            return Err(error);
        }
        // Once more, because a sweep may have taken the first note for an object without bytes. This
        // one is new to such a sweep, so it stays.
        self.index.note_object(key, team, size, keep_for).await
    }

    async fn write(&self, path: &Path, content: ObjectContent) -> StoreResult<()> {
        let size = content.len();
        if self.folder.is_none() {
            return within(size, content.send_to(self.place.as_ref(), path)).await;
        }
        let partial = Path::from(PARTIAL).join(Uuid::now_v7().to_string());
        let written = match within(size, content.send_to(self.place.as_ref(), &partial)).await {
            Ok(()) => within(0, self.place.rename(&partial, path)).await,
            Err(error) => Err(error),
        };
        if written.is_err() {
            // Nothing of it stays, unless the disk refuses this too; then a sweep deletes it later.
            let _ = within(0, self.place.delete(&partial)).await;
        }
        written
    }

    /// The bytes of an object; `None` when it is unknown, past its time, or was never written whole.
    pub fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, StoreResult<Option<Bytes>>> {
        Box::pin(async move { self.read_object(key, object_store::GetResult::bytes).await })
    }

    /// Writes the bytes of an object to a file; how many, or `None` as for [`Self::get`].
    pub fn get_to_file<'a>(
        &'a self,
        key: &'a str,
        file: &'a mut tokio::fs::File,
    ) -> BoxFuture<'a, StoreResult<Option<u64>>> {
        Box::pin(async move { self.read_object(key, |found| content::copy_to_file(found, file)).await })
    }

    /// Reads an object with `reader`, unless there is none.
    async fn read_object<T, F>(
        &self,
        key: &str,
        reader: impl FnOnce(object_store::GetResult) -> F,
    ) -> StoreResult<Option<T>>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        let path = checked(key)?;
        let Some(entry) = self.index.object(key).await? else { return Ok(None) };
        if entry.expires_at <= clock::now() {
            return Ok(None);
        }
        let reading = async {
            match self.place.get(&path).await {
                Ok(found) => reader(found).await.map(Some),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        };
        within(u64::try_from(entry.bytes).unwrap_or(0), reading).await
    }

    /// Deletes an object; `false` when it was not known.
    pub fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, StoreResult<bool>> {
        Box::pin(async move {
            checked(key)?;
            let Some(entry) = self.index.object(key).await? else { return Ok(false) };
            self.remove(vec![entry]).await?;
            Ok(true)
        })
    }

    /// Deletes what is past its time; then, while more than `ceiling_bytes` is stored, what would
    /// expire soonest. Bounded work per call.
    pub fn sweep(&self, ceiling_bytes: u64) -> BoxFuture<'_, StoreResult<ObjectSweep>> {
        Box::pin(async move {
            self.clear_partial().await?;
            let ceiling = i64::try_from(ceiling_bytes).unwrap_or(i64::MAX);
            let mut done = ObjectSweep::default();
            for _ in 0..MAX_BATCHES_PER_SWEEP {
                let expired = self.index.expired_objects(MAX_BATCH_OBJECTS).await?;
                if expired.is_empty() {
                    break;
                }
                done.expired += expired.len() as u64;
                done.bytes_freed += self.remove(expired).await?;
            }
            for _ in 0..MAX_BATCHES_PER_SWEEP {
                let mut excess = self.index.object_bytes().await?.saturating_sub(ceiling);
                if excess <= 0 {
                    break;
                }
                let mut soonest = self.index.soonest_objects(MAX_BATCH_OBJECTS).await?;
                let enough = soonest.iter().position(|entry| {
                    excess -= entry.bytes;
                    excess <= 0
                });
                soonest.truncate(enough.map_or(soonest.len(), |last| last + 1));
                if soonest.is_empty() {
                    break;
                }
                done.evicted += soonest.len() as u64;
                done.bytes_freed += self.remove(soonest).await?;
            }
            Ok(done)
        })
    }

    /// Writes, reads and deletes a small object, to find out whether the place works.
    pub fn probe(&self, team: Uuid) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move {
            let key = format!("probe/{}", Uuid::now_v7());
            let bytes = Bytes::from_static(b"probe");
            self.put(&key, team, bytes.clone(), Duration::from_mins(1)).await?;
            let read = self.get(&key).await?;
            self.delete(&key).await?;
            if read.as_ref() == Some(&bytes) {
                return Ok(());
            }
            Err(StoreError::Objects("it did not give back what was written".into()))
        })
    }

    /// Deletes the bytes first and then the index rows, of those whose bytes are gone; how many bytes.
    /// An object that is written anew meanwhile keeps its row, and its reader finds it missing at worst.
    /// Deletes the oldest objects whose key begins with `prefix` while these take more than `ceiling_bytes`. Bounded
    /// work per call; how many were deleted.
    pub fn shrink<'a>(&'a self, prefix: &'a str, ceiling_bytes: u64) -> BoxFuture<'a, StoreResult<u64>> {
        Box::pin(async move {
            let ceiling = i64::try_from(ceiling_bytes).unwrap_or(i64::MAX);
            let mut deleted = 0;
            for _ in 0..MAX_BATCHES_PER_SWEEP {
                let mut excess = self.index.bytes_under(prefix).await?.saturating_sub(ceiling);
                if excess <= 0 {
                    break;
                }
                let mut oldest = self.index.oldest_under(prefix, MAX_BATCH_OBJECTS).await?;
                oldest.retain(|entry| {
                    let wanted = excess > 0;
                    excess = excess.saturating_sub(entry.bytes);
                    wanted
                });
                if oldest.is_empty() {
                    break;
                }
                deleted += oldest.len() as u64;
                self.remove(oldest).await?;
            }
            Ok(deleted)
        })
    }

    async fn remove(&self, entries: Vec<ObjectEntry>) -> StoreResult<u64> {
        let mut waiting = entries.into_iter();
        let mut running = JoinSet::new();
        let mut gone = Vec::new();
        let mut failure = None;
        loop {
            while failure.is_none() && running.len() < MAX_PARALLEL_DELETIONS {
                let Some(entry) = waiting.next() else { break };
                let (place, path) = (self.place.clone(), checked(&entry.key)?);
                running.spawn(async move {
                    let deleting = async {
                        match place.delete(&path).await {
                            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                            Err(error) => Err(error),
                        }
                    };
                    (within(0, deleting).await, entry)
                });
            }
            match running.join_next().await {
                Some(Ok((Ok(()), entry))) => gone.push(entry),
                Some(Ok((Err(error), _))) => failure = Some(error),
                Some(Err(stopped)) => failure = Some(StoreError::Objects(stopped.to_string())),
                None => break,
            }
        }
        self.index.forget_objects(&gone).await?;
        match failure {
            Some(failure) => Err(failure),
            None => Ok(gone.iter().map(|entry| u64::try_from(entry.bytes).unwrap_or(0)).sum()),
        }
    }

    /// Deletes what killed processes left half written.
    async fn clear_partial(&self) -> StoreResult<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut files = match tokio::fs::read_dir(folder.join(PARTIAL)).await {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(StoreError::Objects(error.to_string())),
        };
        let unreadable = |error: std::io::Error| StoreError::Objects(error.to_string());
        while let Some(file) = files.next_entry().await.map_err(unreadable)? {
            let age = file.metadata().await.ok().and_then(|about| about.modified().ok()?.elapsed().ok());
            if age.is_some_and(|age| age > PARTIAL_FILE_RETENTION) {
                // Another process may have deleted it just now.
                let _ = tokio::fs::remove_file(file.path()).await;
            }
        }
        Ok(())
    }
}

/// Keys become file names: plain characters only, no hidden or upward parts, and not our own folder.
fn checked(key: &str) -> StoreResult<Path> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let part = |part: &str| {
        !part.is_empty() && part.len() <= 128 && !part.starts_with('.') && part.chars().all(plain)
    };
    let ok = key.len() <= MAX_KEY_BYTES && key.split('/').all(part) && key.split('/').next() != Some(PARTIAL);
    if !ok {
        return Err(StoreError::Misuse(format!(
            "not a key for an object: {:?}",
            key.get(..64).unwrap_or(key)
        )));
    }
    Path::parse(key).map_err(|error| StoreError::Misuse(error.to_string()))
}

/// Waits for a call that moves so many bytes, but not for ever.
async fn within<T>(bytes: u64, call: impl Future<Output = object_store::Result<T>>) -> StoreResult<T> {
    let megabytes = u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
    let longest = CALL_TIMEOUT.saturating_add(CALL_TIMEOUT_PER_MEGABYTE.saturating_mul(megabytes));
    match tokio::time::timeout(longest, call).await {
        Ok(done) => done.map_err(|error| failed(&error)),
        Err(_) => Err(StoreError::Objects(format!("no answer within {} seconds", longest.as_secs()))),
    }
}

/// A full disk is told from other failures by the error of the file system, which the library wraps.
fn failed(error: &object_store::Error) -> StoreError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if one.downcast_ref::<std::io::Error>().is_some_and(failure::is_full) {
            return StoreError::Full { disk: FullDisk::Objects, text: error.to_string() };
        }
        cause = one.source();
    }
    StoreError::Objects(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_cannot_leave_their_place() {
        for good in ["a", "pages/ab/cd-ef_0.html", "a/b/c.d.e"] {
            assert_eq!(checked(good).unwrap().as_ref(), good);
        }
        let long = "a/".repeat(200) + "a";
        let wide = "a".repeat(129);
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a//b",
            "a/",
            ".hidden",
            "a/.b",
            "a\\b",
            "a b",
            "a#1",
            "a%2e",
            "ä",
            "a\0b",
            "partial/x",
            "C:x",
            "~",
            "?",
            long.as_str(),
            wide.as_str(),
        ] {
            assert!(matches!(checked(bad), Err(StoreError::Misuse(_))), "{bad:?}");
        }
    }
}
