//! Whether there is room to store more: free space on the disks of this machine, and the ceilings of crawls
//! and agent runs.
//!
//! Looked at once a second by a task of every server. While there is no room, requests that would start work
//! are refused with 503 and workers claim nothing new; what runs may end, everything stored can be read, and
//! work goes on when there is room again.

use crate::{Error, from_store};
use access::RateGroup;
use futures_util::future::BoxFuture;
use parking_lot::RwLock;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::ceilings::Counted;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const CHECK_EVERY: Duration = Duration::from_secs(1);
/// How often the database is asked to give space back while its disk is full.
const RELEASE_EVERY: Duration = Duration::from_secs(5);
/// A small disk is not full before this share of it is left, whatever the setting says.
const SMALL_DISK_SHARE: u64 = 10;

/// A folder that is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// As people call it: "data folder".
    pub name: &'static str,
    pub path: PathBuf,
    /// Free space inside of the database counts as free.
    pub holds_database: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct StorageLimits {
    /// Free bytes below which a disk counts as full.
    pub min_free: u64,
    /// The most bytes that crawls and batches may store.
    pub crawl_ceiling: u64,
    /// The same for agent runs and extracts.
    pub run_ceiling: u64,
}

/// The space of the disk under a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    pub free: u64,
    pub total: u64,
    /// Tells disks apart.
    pub id: u64,
}

impl DiskSpace {
    /// Of the disk that holds a folder, or would: a folder that is not there yet is looked for in its
    /// parents.
    pub fn at(folder: &std::path::Path) -> std::io::Result<Self> {
        let absolute = std::path::absolute(folder)?;
        let existing = absolute.ancestors().find(|path| path.exists()).unwrap_or(&absolute);
        let disk = rustix::fs::statvfs(existing)?;
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        Ok(Self { free: bytes(disk.f_bavail), total: bytes(disk.f_blocks), id: disk.f_fsid })
    }

    /// Whether it counts as full, where so many bytes of it are to stay free.
    pub fn is_full(self, min_free: u64) -> bool {
        self.free < min_free.min(self.total / SMALL_DISK_SHARE)
    }
}

/// What there is not enough room for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Shortage {
    /// Which disk is full, in words.
    disk: Option<String>,
    crawls: bool,
    runs: bool,
}

pub struct Storage {
    store: Arc<dyn Store>,
    folders: Vec<Folder>,
    limits: StorageLimits,
    shortage: RwLock<Shortage>,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Storage").field("folders", &self.folders).finish_non_exhaustive()
    }
}

impl Storage {
    pub fn new(store: Arc<dyn Store>, folders: Vec<Folder>, limits: StorageLimits) -> Arc<Self> {
        Arc::new(Self { store, folders, limits, shortage: RwLock::default() })
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), Error> {
        self.store.ping().await.map_err(from_store)
    }

    /// Bytes of all objects; none while the database does not answer.
    pub async fn object_bytes(&self) -> Option<i64> {
        self.store.object_bytes().await.ok()
    }

    /// Bytes that the database takes on disk; none while it does not answer.
    pub async fn database_bytes(&self) -> Option<u64> {
        self.store.size_bytes().await.ok()
    }

    /// Keeps looking until told to stop; one task of this runs per process.
    pub fn watch(self: Arc<Self>, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let mut released: Option<Instant> = None;
            loop {
                let is_short = self.check().await;
                if is_short && released.is_none_or(|at| at.elapsed() >= RELEASE_EVERY) {
                    released = Some(Instant::now());
                    if let Err(error) = self.store.release_space().await {
                        tracing::debug!(%error, "the database could not give space back");
                    }
                }
                if stop.run_until_cancelled(tokio::time::sleep(CHECK_EVERY)).await.is_none() {
                    return;
                }
            }
        })
    }

    /// Looks once; whether a disk is full.
    pub fn check(&self) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let over =
                |stored: store::StoreResult<u64>, ceiling: u64| stored.is_ok_and(|bytes| bytes > ceiling);
            let found = Shortage {
                disk: self.full_disk().await,
                crawls: over(self.store.counted_bytes(Counted::Crawls).await, self.limits.crawl_ceiling),
                runs: over(self.store.counted_bytes(Counted::Runs).await, self.limits.run_ceiling),
            };
            let is_short = found.disk.is_some();
            let before = std::mem::replace(&mut *self.shortage.write(), found.clone());
            if before != found {
                report(&before, &found);
            }
            is_short
        })
    }

    async fn full_disk(&self) -> Option<String> {
        let folders = self.folders.clone();
        // A network disk that hangs blocks a thread of its own, and none that serves requests.
        let looking = tokio::task::spawn_blocking(move || {
            folders.into_iter().map(|folder| (DiskSpace::at(&folder.path), folder)).collect::<Vec<_>>()
        });
        for (space, folder) in looking.await.unwrap_or_default() {
            let Ok(mut space) = space else { continue };
            metrics::gauge!("gannet_disk_free_bytes", "folder" => folder.name).set(space.free as f64);
            if folder.holds_database && space.is_full(self.limits.min_free) {
                space.free += self.store.reusable_bytes().await.unwrap_or(0);
            }
            if space.is_full(self.limits.min_free) {
                return Some(format!("the disk that holds the {} is full", folder.name));
            }
        }
        None
    }

    /// Which disk is full, if one is.
    pub fn shortage(&self) -> Option<String> {
        self.read_shortage().disk.clone()
    }

    /// 503 while there is no room for what requests of the group would start.
    pub fn require_room(&self, group: RateGroup) -> Result<(), Error> {
        let shortage = self.read_shortage();
        if let Some(disk) = &shortage.disk {
            return Err(Error::OutOfSpace(disk.clone()));
        }
        match group {
            RateGroup::Crawl if shortage.crawls => {
                Err(Error::OutOfSpace("the storage for crawls and batches (crawls_limit) is full".to_owned()))
            }
            RateGroup::Agent if shortage.runs => {
                Err(Error::OutOfSpace("the storage for agent runs (runs_limit) is full".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Whether workers may start on further pages of crawls and batches.
    pub fn has_room_for_pages(&self) -> bool {
        let shortage = self.read_shortage();
        shortage.disk.is_none() && !shortage.crawls
    }

    /// Whether workers may start on agent runs, and the index may grow.
    pub fn has_room(&self) -> bool {
        self.read_shortage().disk.is_none()
    }

    fn read_shortage(&self) -> parking_lot::RwLockReadGuard<'_, Shortage> {
        self.shortage.read()
    }
}

fn report(before: &Shortage, found: &Shortage) {
    match (&before.disk, &found.disk) {
        (None, Some(disk)) => tracing::warn!("{disk}: new work is refused until there is room"),
        (Some(disk), None) => tracing::info!("no longer true that {disk}; work goes on"),
        _ => {}
    }
    if found.crawls && !before.crawls {
        tracing::warn!("crawls and batches store more than crawls_limit allows: their pages wait");
    }
    if found.runs && !before.runs {
        tracing::warn!("agent runs store more than runs_limit allows: no new ones are accepted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;

    #[test]
    fn small_disks_are_full_later_than_the_setting_says() {
        let disk = |free: u64, total: u64| DiskSpace { free: free * MB, total: total * MB, id: 1 };
        assert!(disk(63, 100_000).is_full(64 * MB));
        assert!(!disk(64, 100_000).is_full(64 * MB));
        assert!(!disk(2, 14).is_full(64 * MB));
        assert!(disk(1, 14).is_full(64 * MB));
        assert!(!disk(0, 100_000).is_full(0), "0 switches it off");
    }

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_disk_of_its_parent() {
        let here = DiskSpace::at(&std::env::temp_dir()).unwrap();
        let below = DiskSpace::at(&std::env::temp_dir().join("not/there/yet")).unwrap();
        assert_eq!(here.total, below.total);
    }
}
