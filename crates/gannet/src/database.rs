//! Opens the database and decides who may change its schema. A server holds a lock on its SQLite file while
//! it runs; commands that run at the same time read and write rows, but never change the schema.

use crate::private_files::create_data_folder;
use crate::secret_keys;
use crate::settings::{Settings, hide_password};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{File, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Inspection, Store};

/// Symbolic links that are followed to the database file; the same number as in the kernel.
const MAX_LINKS: usize = 40;

/// The file of a SQLite URL.
pub fn sqlite_file(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("sqlite:")?;
    Some(PathBuf::from(path.strip_prefix("//").unwrap_or(path)))
}

/// Locks a SQLite file for one process, because two servers would each assume to be the only one. Released
/// when dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub struct DatabaseLock(#[expect(dead_code, reason = "held open for its lock")] File);

/// Taken before the database is opened, so that a second server cannot even migrate it. `None` for
/// PostgreSQL, which several servers may use.
pub fn lock_database(settings: &Settings) -> Result<Option<DatabaseLock>> {
    let Some(database) = sqlite_file(&settings.database_url) else { return Ok(None) };
    create_data_folder(&settings.data_dir)?;
    match try_lock(&database)? {
        Some(lock) => Ok(Some(lock)),
        None => bail!(
            "another server uses {}; to run several servers, use PostgreSQL (database_url)",
            database.display()
        ),
    }
}

/// `None` when another process holds it.
fn try_lock(database: &Path) -> Result<Option<DatabaseLock>> {
    let database = real_path(database).with_context(|| format!("cannot find {}", database.display()))?;
    if let Ok(facts) = database.metadata() {
        ensure!(
            facts.nlink() == 1,
            "{} has {} names (hard links); SQLite keeps a log next to each name, and two processes that use different names \
             would corrupt the database: remove the other names, or make a copy",
            database.display(),
            facts.nlink()
        );
    }
    let path = PathBuf::from(format!("{}.lock", database.display()));
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(DatabaseLock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

/// The path of a file with all links resolved; the lock file is next to it. The file itself need not exist
/// yet.
fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = std::path::absolute(path)?;
    for _ in 0..MAX_LINKS {
        let folder = path.parent().unwrap_or(Path::new("/")).canonicalize()?;
        let file = folder.join(path.file_name().unwrap_or_default());
        match std::fs::read_link(&file) {
            Ok(target) => path = folder.join(target),
            Err(_) => return Ok(file),
        }
    }
    Err(std::io::Error::other("too many links"))
}

/// Opens the database and migrates its schema. The caller must hold its lock or be its only user.
pub async fn open_store(settings: &Settings) -> Result<Arc<dyn Store>> {
    create_data_folder(&settings.data_dir)?;
    let options = settings.store_options().with_secret_keys(secret_keys::find_or_create(settings).await?);
    store::open(&options).await.context("Could not open the database")
}

/// What a command does if there is no database yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    Create,
    Fail,
}

/// A database opened by a command, with or without a running server.
pub struct CommandStore {
    pub store: Arc<dyn Store>,
    /// Held if the schema had to be migrated first, so that no server starts meanwhile.
    _lock: Option<DatabaseLock>,
}

/// Opens the database for a command. The schema is never changed while a server is running; without a server,
/// a SQLite file is migrated as a server would do it.
pub async fn open_for_command(settings: &Settings, if_missing: IfMissing) -> Result<CommandStore> {
    let lock =
        if needs_migration(settings, if_missing).await? { lock_for_migration(settings)? } else { None };
    Ok(CommandStore { store: open_store(settings).await?, _lock: lock })
}

/// Whether a command has to migrate the schema first; an error if it must not.
async fn needs_migration(settings: &Settings, if_missing: IfMissing) -> Result<bool> {
    let shown = hide_password(&settings.database_url);
    let is_sqlite = match sqlite_file(&settings.database_url) {
        Some(file) if !file.exists() => {
            ensure!(
                if_missing == IfMissing::Create,
                "there is no database at {} yet; start `gannet serve` to create it, or choose another directory with --data-dir",
                file.display()
            );
            return Ok(true);
        }
        file => file.is_some(),
    };
    let Inspection { version, newest } =
        store::inspect(&settings.store_options()).await.context("Could not open the database")?;
    match version {
        _ if version == newest => Ok(false),
        0 if if_missing == IfMissing::Fail => {
            bail!("the database {shown} is empty; start `gannet serve` to create its tables")
        }
        0 => Ok(true),
        _ if is_sqlite => Ok(true),
        _ => bail!(
            "the database {shown} has schema version {version} and this program needs {newest}: upgrade the servers, \
             then run `gannet migrate`"
        ),
    }
}

fn lock_for_migration(settings: &Settings) -> Result<Option<DatabaseLock>> {
    lock_database(settings).context(
        "the database schema must be migrated first, which is not possible while a server is running: stop the server, \
         or use the same version of gannet as the server",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::TempDir;

    #[test]
    fn one_file_has_one_lock_under_all_its_names() {
        let dir = TempDir::new();
        let (real, elsewhere) = (dir.join("real"), dir.join("elsewhere"));
        std::fs::create_dir_all(&real).unwrap();
        std::fs::create_dir_all(&elsewhere).unwrap();
        std::os::unix::fs::symlink("../real/gannet.db", elsewhere.join("gannet.db")).unwrap();
        std::os::unix::fs::symlink(&real, dir.join("folder")).unwrap();
        let names = [real.join("gannet.db"), elsewhere.join("gannet.db"), dir.join("folder/gannet.db")];
        for made in [false, true] {
            if made {
                std::fs::write(&names[0], "").unwrap();
            }
            for first in &names {
                let lock = try_lock(first).unwrap();
                assert!(lock.is_some(), "{}", first.display());
                for second in &names {
                    assert!(try_lock(second).unwrap().is_none(), "{} {}", first.display(), second.display());
                }
            }
        }
        std::fs::hard_link(&names[0], elsewhere.join("copy.db")).unwrap();
        assert!(try_lock(&names[0]).unwrap_err().to_string().contains("hard links"));
        std::os::unix::fs::symlink("loop", dir.join("loop")).unwrap();
        assert!(try_lock(&dir.join("loop")).is_err());
        assert!(try_lock(&dir.join("missing/gannet.db")).is_err());
    }
}
