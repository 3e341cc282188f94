//! The folder a browser keeps its files in. Each has a lock file beside it that its owner holds for as long as it lives,
//! so what a killed server left behind is told from what is in use, and swept away by the next one.
//!
//! Where the browser runs under an account of its own, only the innermost folder belongs to it: the one around it, which has its
//! name in a folder that everybody may write to, stays ours, so that the browser cannot put something else in its place.

use crate::account::Account;
use rustix::process::{Pid, Signal, getuid, kill_process_group};
use std::fs::{DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PREFIX: &str = "gannet-browser-";
const LOCK: &str = "lock";
/// Where Chromium looks for certificates below the home folder of its account, and the files that hold them.
const CERTIFICATES: &str = ".pki/nssdb";
const CERTIFICATE_FILES: [&str; 2] = ["cert9.db", "key4.db"];
/// The folder inside that the browser writes to.
const INNER: &str = "home";
/// Entries of the folder that a sweep looks at. It is often the folder for everybody's temporary files.
const MOST_ENTRIES: usize = 20_000;

/// A folder that is removed with its owner.
#[derive(Debug)]
pub(crate) struct Home {
    folder: TempDir,
    path: PathBuf,
    lock_path: PathBuf,
    lock: File,
}

impl Home {
    /// Makes a folder for a browser that runs under `account`, or under our own.
    pub(crate) fn make(within: &Path, account: Option<Account>) -> io::Result<Self> {
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
        let path = folder.path().join(INNER);
        let home = Self { folder, path, lock_path, lock };
        DirBuilder::new().mode(0o700).create(&home.path)?;
        home.write_preferences(account)?;
        if let Some(account) = account {
            home.copy_certificates(account)?;
            account.take_ownership(&home.path)?;
            std::fs::set_permissions(home.folder.path(), Permissions::from_mode(0o711))?;
        }
        Ok(home)
    }

    /// Where the browser may write.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves word of which process to end if this one cannot do it any more.
    pub(crate) fn note_process(&mut self, process: u32) -> io::Result<()> {
        self.lock.rewind()?;
        write!(self.lock, "{process}")
    }

    /// A PDF is a file for us, not something to open a viewer for.
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

/// The certificates that our own account has told Chromium to trust (docs/scrape.md) are trusted under the other account as well.
impl Home {
    fn copy_certificates(&self, account: Account) -> io::Result<()> {
        let Some(ours) = std::env::home_dir().map(|home| home.join(CERTIFICATES)) else { return Ok(()) };
        if !ours.join(CERTIFICATE_FILES[0]).is_file() {
            return Ok(());
        }
        let theirs = self.path().join(CERTIFICATES);
        DirBuilder::new().mode(0o700).recursive(true).create(&theirs)?;
        for folder in theirs.ancestors().take_while(|path| *path != self.path()) {
            account.take_ownership(folder)?;
        }
        for name in CERTIFICATE_FILES {
            if ours.join(name).is_file() {
                std::fs::copy(ours.join(name), theirs.join(name))?;
                account.take_ownership(&theirs.join(name))?;
            }
        }
        Ok(())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A child on its way out may still write: what a first pass leaves, the second takes.
        if std::fs::remove_dir_all(self.folder.path()).is_err() {
            let _ = std::fs::remove_dir_all(self.folder.path());
        }
        let _ = std::fs::remove_file(&self.lock_path);
    }
}

/// Where homes are made unless the settings say otherwise: where temporary files go, or, if the browser's account has no way there,
/// the first of the usual places that it can reach.
pub(crate) fn default_folder(account: Option<Account>) -> PathBuf {
    let usual = std::env::temp_dir();
    let Some(account) = account.filter(|account| !account.can_reach(&usual)) else { return usual };
    let others = ["/tmp", "/var/tmp"].map(PathBuf::from);
    others.into_iter().find(|path| account.can_reach(path)).unwrap_or(usual)
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
        let held = Home::make(within.path(), None).unwrap();
        let lost = Home::make(within.path(), None).unwrap();
        std::fs::write(lost.path().join("file"), "x").unwrap();
        let (lost_folder, lost_lock) = (lost.folder.path().to_owned(), lost.lock_path.clone());
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
