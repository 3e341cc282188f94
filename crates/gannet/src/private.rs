//! Files that only their owner may read: everything a command keeps in the data folder.

use crate::settings::{ObjectsAt, Settings};
use anyhow::{Context, Result};
use rustix::fs::Mode;
use std::fs::Metadata;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// What group and others may do.
const OTHERS: u32 = 0o077;
/// A folder such as /tmp, where everybody makes files.
const STICKY: u32 = 0o1000;
/// Folders that commands make in the data folder, and the beginnings of the names of files.
const OWN_NAMES: [&str; 7] =
    ["gannet.db", "first-key", "secret-key", "search-index", "objects", "research", "models"];

/// From here on every file and folder this process makes is private, whoever makes it: the index and the object storage are
/// libraries that know nothing of secrets.
pub fn make_new_files_private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Makes the data folder when it is missing, readable by its owner only. One that was there before is made private as well.
pub fn make_data_folder(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot make the data folder {}", folder.display()))?;
    if let Err(error) = close_to_others(folder) {
        let folder = folder.display();
        tracing::warn!(%folder, %error, "the data folder can be read by other users and could not be made private");
    }
    Ok(())
}

/// Takes the rights of others away from a data folder that holds nothing but our files, else from our files in it: a folder that
/// also holds something else (a home, a project, /tmp) is not ours to close.
fn close_to_others(folder: &Path) -> std::io::Result<()> {
    let facts = folder.metadata()?;
    if facts.mode() & OTHERS == 0 {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    let is_own = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        OWN_NAMES.iter().any(|own| name.as_encoded_bytes().starts_with(own.as_bytes()))
    };
    if is_ours(&facts) && facts.mode() & STICKY == 0 && entries.iter().all(is_own) {
        close(folder, &facts)?;
        tracing::info!(folder = %folder.display(), "the data folder could be read by other users; it is private now");
        return Ok(());
    }
    for entry in entries.iter().filter(|entry| is_own(entry)) {
        // Of the entry itself: what a link leads to may be meant for others.
        let facts = entry.metadata()?;
        if !facts.is_symlink() && is_ours(&facts) && facts.mode() & OTHERS != 0 {
            close(&entry.path(), &facts)?;
            tracing::info!(path = %entry.path().display(), "could be read by other users; it is private now");
        }
    }
    Ok(())
}

fn is_ours(facts: &Metadata) -> bool {
    facts.uid() == rustix::process::geteuid().as_raw()
}

fn close(path: &Path, facts: &Metadata) -> std::io::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(facts.mode() & 0o7777 & !OTHERS))
}

/// A folder for the data of one command, gone with this value.
#[derive(Debug)]
pub struct TempFolder(PathBuf);

impl TempFolder {
    pub fn make() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("gannet-{}", Uuid::now_v7().simple()));
        // Not one that somebody else made under this name.
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    /// Leads everything that is written under these settings into this folder.
    pub fn hold_data_of(&self, settings: &mut Settings) {
        settings.database_url = format!("sqlite:{}", self.0.join("gannet.db").display());
        settings.objects = ObjectsAt::Folder(self.0.join("objects"));
        settings.data_dir.clone_from(&self.0);
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // What is left in a temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::TempDir;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    fn open(path: &Path) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_folder_of_ours_is_closed_and_one_of_others_is_not() {
        let dir = TempDir::new();
        let ours = dir.join("ours");
        std::fs::create_dir_all(ours.join("search-index")).unwrap();
        open(&ours);
        make_data_folder(&ours).unwrap();
        assert_eq!(mode(&ours), 0o700);
        let shared = dir.join("shared");
        std::fs::create_dir_all(shared.join("search-index")).unwrap();
        std::fs::write(shared.join("letter.txt"), "x").unwrap();
        for path in [&shared, &shared.join("search-index"), &shared.join("letter.txt")] {
            open(path);
        }
        make_data_folder(&shared).unwrap();
        assert_eq!((mode(&shared), mode(&shared.join("letter.txt"))), (0o755, 0o755));
        assert_eq!(mode(&shared.join("search-index")), 0o700);
        let missing = dir.join("new/data");
        make_data_folder(&missing).unwrap();
        assert_eq!(mode(&missing), 0o700);
    }
}
