//! File permissions: everything in the data directory is readable by its owner only.

use crate::settings::{ObjectStorage, Settings};
use anyhow::{Context, Result};
use rustix::fs::Mode;
use std::fs::Metadata;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;
use tempfile::TempDir;

/// Permission bits of group and others.
const GROUP_AND_OTHERS: u32 = 0o077;
/// The sticky bit of shared folders such as /tmp.
const STICKY: u32 = 0o1000;
/// Names of folders in the data directory, and prefixes of file names.
const OWN_NAMES: [&str; 9] = [
    "gannet.db",
    "first-key",
    "sign-in-link",
    "secret-key",
    "search-index",
    "objects",
    "research",
    "models",
    "incoming",
];

/// From here on every file and folder that this process creates is private. This covers libraries that know
/// nothing of secrets, such as the index and the object storage.
pub fn make_new_files_private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Creates the data directory if it is missing, readable by its owner only. An existing one is made private
/// too.
pub fn create_data_folder(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    let created = builder.recursive(true).mode(0o700).create(folder);
    created.with_context(|| format!("cannot create the data directory {}", folder.display()))?;
    if let Err(error) = make_private(folder) {
        let folder = folder.display();
        tracing::warn!(%folder, %error, "the data directory is readable by other users and could not be made private");
    }
    Ok(())
}

/// Removes the permissions of other users from a data directory that holds only our files, else from our
/// files in it: a folder that also holds something else (a home directory, a project, /tmp) keeps its
/// permissions.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let facts = folder.metadata()?;
    if facts.mode() & GROUP_AND_OTHERS == 0 {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    let is_own = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        OWN_NAMES.iter().any(|own| name.as_encoded_bytes().starts_with(own.as_bytes()))
    };
    if is_ours(&facts) && facts.mode() & STICKY == 0 && entries.iter().all(is_own) {
        remove_other_permissions(folder, &facts)?;
        tracing::info!(folder = %folder.display(), "the data directory was readable by other users; made it private");
        return Ok(());
    }
    for entry in entries.iter().filter(|entry| is_own(entry)) {
        // Metadata of the entry itself: the target of a link may be meant to be shared.
        let facts = entry.metadata()?;
        if !facts.is_symlink() && is_ours(&facts) && facts.mode() & GROUP_AND_OTHERS != 0 {
            remove_other_permissions(&entry.path(), &facts)?;
            tracing::info!(path = %entry.path().display(), "file was readable by other users; made it private");
        }
    }
    Ok(())
}

fn is_ours(facts: &Metadata) -> bool {
    facts.uid() == rustix::process::geteuid().as_raw()
}

fn remove_other_permissions(path: &Path, facts: &Metadata) -> std::io::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(facts.mode() & 0o7777 & !GROUP_AND_OTHERS))
}

/// A temporary data directory for one command; removed when dropped.
#[derive(Debug)]
pub struct TempFolder(TempDir);

impl TempFolder {
    pub fn create() -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("gannet-").permissions(std::fs::Permissions::from_mode(0o700));
        Ok(Self(builder.tempdir().context("cannot create a temporary folder")?))
    }

    /// Changes settings so that everything is written into this folder.
    pub fn redirect_data(&self, settings: &mut Settings) {
        let folder = self.0.path();
        settings.database_url = format!("sqlite:{}", folder.join("gannet.db").display());
        settings.objects = ObjectStorage::Folder(folder.join("objects"));
        folder.clone_into(&mut settings.data_dir);
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
    fn a_folder_of_ours_is_made_private_and_a_shared_one_is_not() {
        let dir = TempDir::new();
        let ours = dir.join("ours");
        std::fs::create_dir_all(ours.join("search-index")).unwrap();
        open(&ours);
        create_data_folder(&ours).unwrap();
        assert_eq!(mode(&ours), 0o700);
        let shared = dir.join("shared");
        std::fs::create_dir_all(shared.join("search-index")).unwrap();
        std::fs::write(shared.join("letter.txt"), "x").unwrap();
        for path in [&shared, &shared.join("search-index"), &shared.join("letter.txt")] {
            open(path);
        }
        create_data_folder(&shared).unwrap();
        assert_eq!((mode(&shared), mode(&shared.join("letter.txt"))), (0o755, 0o755));
        assert_eq!(mode(&shared.join("search-index")), 0o700);
        let missing = dir.join("new/data");
        create_data_folder(&missing).unwrap();
        assert_eq!(mode(&missing), 0o700);
    }
}
