//! The folder for the files of a browser. Next to each folder is a lock file that its owner keeps locked, so
//! that folders left by a killed server can be told from those in use and are removed by the next server.
//!
//! If the browser runs under an account of its own, only the inner folder belongs to it. The outer folder,
//! whose name is in a world-writable folder, stays ours, so that the browser cannot replace it.

use crate::account::Account;
use crate::remove_tree::remove_tree;
use rustix::process::{Pid, Signal, getuid, kill_process_group};
use std::fs::{DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PREFIX: &str = "gannet-browser-";
const LOCK_EXTENSION: &str = "lock";
/// Where Chromium looks for certificates in the home folder of its account, and the files that hold them.
const CERTIFICATE_FOLDER: &str = ".pki/nssdb";
const CERTIFICATE_FILES: [&str; 2] = ["cert9.db", "key4.db"];
/// Downloads, and files that may be uploaded. Beside the inner folder, so that code of a session can read them under
/// an account that may not look into the browser's profile.
const FILES_FOLDER: &str = "files";
/// The inner folder that the browser writes to.
const INNER_FOLDER: &str = "home";
/// Folder entries that are scanned for stale folders. It is often the shared folder for temporary files.
const MAX_SCANNED_ENTRIES: usize = 20_000;
/// How long those who write to a folder may take to end, and the pause between two looks.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(15);
const REMOVAL_PAUSE: Duration = Duration::from_millis(100);

/// Whether a folder could not be removed.
static LEFT_OVER: AtomicBool = AtomicBool::new(false);

/// A folder that is removed with its owner.
#[derive(Debug)]
pub(crate) struct ProfileDir {
    folder: TempDir,
    path: PathBuf,
    lock_path: PathBuf,
    lock: File,
}

impl ProfileDir {
    /// Creates a folder for a browser that runs under `account`, or under our own.
    pub(crate) fn create(within: &Path, account: Option<Account>) -> io::Result<Self> {
        std::fs::create_dir_all(within)?;
        // The lock exists and is held before the folder exists, so a folder without a held lock is always
        // stale.
        let (lock, lock_path) = loop {
            let mut secret = [0; 8];
            std::fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
            let path = within.join(format!("{PREFIX}{:016x}.{LOCK_EXTENSION}", u64::from_le_bytes(secret)));
            match File::options().read(true).write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => break (file, path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        lock.lock()?;
        let name = lock_path.file_stem().unwrap_or_default();
        let folder = tempfile::Builder::new().prefix(name).rand_bytes(0).tempdir_in(within)?;
        let path = folder.path().join(INNER_FOLDER);
        let profile = Self { folder, path, lock_path, lock };
        DirBuilder::new().mode(0o700).create(&profile.path)?;
        profile.write_preferences(account)?;
        if let Some(account) = account {
            profile.copy_certificates(account)?;
            account.take_ownership(&profile.path)?;
            std::fs::set_permissions(profile.folder.path(), Permissions::from_mode(0o711))?;
        }
        profile.create_files_folder(account)?;
        Ok(profile)
    }

    fn create_files_folder(&self, account: Option<Account>) -> io::Result<()> {
        let folder = self.files();
        DirBuilder::new().mode(0o700).create(&folder)?;
        let Some(account) = account else { return Ok(()) };
        account.take_ownership(&folder)?;
        std::fs::set_permissions(&folder, Permissions::from_mode(0o755))
    }

    /// The folder for downloads and uploads.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.path().join(FILES_FOLDER)
    }

    /// The folder the browser may write to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder with all of them.
    pub(crate) fn outer(&self) -> &Path {
        self.folder.path()
    }

    /// Records which process to kill if this server cannot do it any more.
    pub(crate) fn record_process(&mut self, process: u32) -> io::Result<()> {
        self.lock.rewind()?;
        write!(self.lock, "{process}")
    }

    /// Makes Chromium download PDFs instead of opening a viewer.
    fn write_preferences(&self, account: Option<Account>) -> io::Result<()> {
        let profile = self.path().join("Default");
        DirBuilder::new().mode(0o700).create(&profile)?;
        let preferences =
            r#"{"plugins":{"always_open_pdf_externally":true},"net":{"network_prediction_options":2}}"#;
        let file = profile.join("Preferences");
        std::fs::write(&file, preferences)?;
        match account {
            Some(account) => [&profile, &file].into_iter().try_for_each(|path| account.take_ownership(path)),
            None => Ok(()),
        }
    }
}

/// Certificates that our own account trusts in Chromium (docs/scrape.md) are trusted under the other account
/// as well.
impl ProfileDir {
    fn copy_certificates(&self, account: Account) -> io::Result<()> {
        let Some(source) = std::env::home_dir().map(|home| home.join(CERTIFICATE_FOLDER)) else {
            return Ok(());
        };
        if !source.join(CERTIFICATE_FILES[0]).is_file() {
            return Ok(());
        }
        let target = self.path().join(CERTIFICATE_FOLDER);
        DirBuilder::new().mode(0o700).recursive(true).create(&target)?;
        for folder in target.ancestors().take_while(|path| *path != self.path()) {
            account.take_ownership(folder)?;
        }
        for name in CERTIFICATE_FILES {
            if source.join(name).is_file() {
                std::fs::copy(source.join(name), target.join(name))?;
                account.take_ownership(&target.join(name))?;
            }
        }
        Ok(())
    }
}

impl ProfileDir {
    /// Removes it, and returns it if something is left.
    pub(crate) fn remove(self) -> Option<Self> {
        remove_folder(self.folder.path()).is_err().then_some(self)
    }

    /// Removes it once those who still write to it have ended.
    pub(crate) fn remove_patiently(self) {
        let start = Instant::now();
        while remove_folder(self.folder.path()).is_err() && start.elapsed() < REMOVAL_TIMEOUT {
            std::thread::sleep(REMOVAL_PAUSE);
        }
    }
}

impl Drop for ProfileDir {
    fn drop(&mut self) {
        match remove_folder(self.folder.path()) {
            Ok(()) => _ = std::fs::remove_file(&self.lock_path),
            Err(error) => {
                warn_of_left_over(self.folder.path(), &error);
                // The next start of a browser finds it by its lock.
                LEFT_OVER.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    // A process that is still ending may write: the second pass removes what the first left.
    remove_tree(folder).or_else(|_| remove_tree(folder))
}

fn warn_of_left_over(folder: &Path, error: &io::Error) {
    tracing::warn!(%error, folder = %folder.display(), "could not remove the folder of a browser");
}

/// Whether a folder could not be removed since this was asked last.
pub(crate) fn take_left_over() -> bool {
    LEFT_OVER.swap(false, Ordering::Relaxed)
}

/// Where folders are created unless the settings say otherwise: in the temporary folder or, if the browser's
/// account cannot reach it, in the first common folder that it can.
pub(crate) fn default_folder(account: Option<Account>) -> PathBuf {
    let usual = std::env::temp_dir();
    let Some(account) = account.filter(|account| !account.can_reach(&usual)) else { return usual };
    let others = ["/tmp", "/var/tmp"].map(PathBuf::from);
    others.into_iter().find(|path| account.can_reach(path)).unwrap_or(usual)
}

/// Kills and removes what killed servers left. Returns how many there were.
pub(crate) fn remove_stale(within: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(within) else { return 0 };
    let names = entries.take(MAX_SCANNED_ENTRIES).flatten().map(|entry| entry.path());
    names.filter(|path| is_ours(path)).filter(|path| remove_if_stale(path)).count()
}

fn is_ours(path: &Path) -> bool {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
    named
        && path.extension().is_some_and(|extension| extension == LOCK_EXTENSION)
        && path.symlink_metadata().is_ok_and(|data| data.is_file() && data.uid() == getuid().as_raw())
}

/// Removes one folder if its lock is not held.
fn remove_if_stale(lock_path: &Path) -> bool {
    let Ok(mut lock) = File::options().read(true).write(true).open(lock_path) else { return false };
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return false,
    }
    let folder = lock_path.with_extension("");
    // A lock without a folder may belong to a folder that is being created.
    if !folder.is_dir() {
        return false;
    }
    let mut text = String::new();
    let _ = lock.read_to_string(&mut text);
    if let Some(process) = text.trim().parse().ok().and_then(Pid::from_raw) {
        // Process ids are reused: only a process with our folder on its command line is meant.
        let line = std::fs::read(format!("/proc/{}/cmdline", process.as_raw_pid())).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(&*folder.to_string_lossy()) {
            let _ = kill_process_group(process, Signal::KILL);
        }
    }
    let removed = remove_folder(&folder);
    match &removed {
        Ok(()) => _ = std::fs::remove_file(lock_path),
        Err(error) => warn_of_left_over(&folder, error),
    }
    removed.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_with_its_owner_and_only_stale_ones_are_swept() {
        let within = tempfile::tempdir().unwrap();
        let held = ProfileDir::create(within.path(), None).unwrap();
        let lost = ProfileDir::create(within.path(), None).unwrap();
        std::fs::write(lost.path().join("file"), "x").unwrap();
        let (lost_folder, lost_lock) = (lost.folder.path().to_owned(), lost.lock_path.clone());
        // As after `kill -9`: everything remains except the lock.
        lost.lock.unlock().unwrap();
        std::mem::forget(lost);
        std::fs::create_dir(within.path().join("gannet-browser-of-someone-else")).unwrap();
        assert_eq!(remove_stale(within.path()), 1);
        assert!(!lost_folder.exists() && !lost_lock.exists());
        assert!(held.path().is_dir());
        drop(held);
        let left: Vec<_> = std::fs::read_dir(within.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
