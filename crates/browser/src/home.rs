//! The folder a browser keeps its files in. Each has a lock file beside it that its owner holds for as long as it lives,
//! so what a killed server left behind is told from what is in use, and swept away by the next one.

use rustix::process::{Pid, Signal, getuid, kill_process_group};
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PREFIX: &str = "gannet-browser-";
const LOCK: &str = "lock";
/// Entries of the folder that a sweep looks at. It is often the folder for everybody's temporary files.
const MOST_ENTRIES: usize = 20_000;

/// A folder that is removed with its owner.
#[derive(Debug)]
pub(crate) struct Home {
    folder: TempDir,
    lock_path: PathBuf,
    lock: File,
}

impl Home {
    pub(crate) fn make(within: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(within)?;
        // The lock is there and held before the folder is, so a folder without a holder is always stale.
        let (lock, lock_path) = loop {
            let mut secret = [0; 8];
            std::fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
            let path = within.join(format!("{PREFIX}{:016x}.{LOCK}", u64::from_le_bytes(secret)));
            match File::options().read(true).write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => break (file, path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        lock.lock()?;
        let name = lock_path.file_stem().unwrap_or_default();
        let folder = tempfile::Builder::new().prefix(name).rand_bytes(0).tempdir_in(within)?;
        let home = Self { folder, lock_path, lock };
        home.write_preferences()?;
        Ok(home)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves word of which process to end if this one cannot do it any more.
    pub(crate) fn note_process(&mut self, process: u32) -> io::Result<()> {
        self.lock.rewind()?;
        write!(self.lock, "{process}")
    }

    /// A PDF is a file for us, not something to open a viewer for.
    fn write_preferences(&self) -> io::Result<()> {
        let profile = self.path().join("Default");
        std::fs::create_dir(&profile)?;
        let preferences =
            r#"{"plugins":{"always_open_pdf_externally":true},"net":{"network_prediction_options":2}}"#;
        std::fs::write(profile.join("Preferences"), preferences)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A child on its way out may still write: what a first pass leaves, the second takes.
        if std::fs::remove_dir_all(self.path()).is_err() {
            let _ = std::fs::remove_dir_all(self.path());
        }
        let _ = std::fs::remove_file(&self.lock_path);
    }
}

/// Where homes are made unless the settings say otherwise.
pub(crate) fn usual_folder() -> PathBuf {
    std::env::temp_dir()
}

/// Ends and removes what killed owners left. Returns how many there were.
pub(crate) fn sweep(within: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(within) else { return 0 };
    let names = entries.take(MOST_ENTRIES).flatten().map(|entry| entry.path());
    names.filter(|path| is_ours(path)).filter(|path| sweep_one(path)).count()
}

fn is_ours(path: &Path) -> bool {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
    named
        && path.extension().is_some_and(|extension| extension == LOCK)
        && path.symlink_metadata().is_ok_and(|data| data.is_file() && data.uid() == getuid().as_raw())
}

/// Removes one home if nobody holds it.
fn sweep_one(lock_path: &Path) -> bool {
    let Ok(mut lock) = File::options().read(true).write(true).open(lock_path) else { return false };
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return false,
    }
    let folder = lock_path.with_extension("");
    // A lock without a folder may be a home in the making.
    if !folder.is_dir() {
        return false;
    }
    let mut text = String::new();
    let _ = lock.read_to_string(&mut text);
    if let Some(process) = text.trim().parse().ok().and_then(Pid::from_raw) {
        // Numbers of processes are given again: only one that has our folder on its command line is meant.
        let line = std::fs::read(format!("/proc/{}/cmdline", process.as_raw_pid())).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(&*folder.to_string_lossy()) {
            let _ = kill_process_group(process, Signal::KILL);
        }
    }
    let removed = std::fs::remove_dir_all(&folder).or_else(|_| std::fs::remove_dir_all(&folder)).is_ok();
    if removed {
        let _ = std::fs::remove_file(lock_path);
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_goes_with_its_owner_and_a_sweep_takes_only_what_nobody_holds() {
        let within = tempfile::tempdir().unwrap();
        let held = Home::make(within.path()).unwrap();
        let lost = Home::make(within.path()).unwrap();
        std::fs::write(lost.path().join("file"), "x").unwrap();
        let (lost_folder, lost_lock) = (lost.path().to_owned(), lost.lock_path.clone());
        // As after `kill -9`: everything stays but the lock.
        lost.lock.unlock().unwrap();
        std::mem::forget(lost);
        std::fs::create_dir(within.path().join("gannet-browser-of-someone-else")).unwrap();
        assert_eq!(sweep(within.path()), 1);
        assert!(!lost_folder.exists() && !lost_lock.exists());
        assert!(held.path().is_dir());
        drop(held);
        let left: Vec<_> = std::fs::read_dir(within.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
