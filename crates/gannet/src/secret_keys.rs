//! The encryption keys of stored secrets: from a setting, or from a file in the data directory that the first
//! start creates.
//!
//! The first line of the file is the current key; further lines are previous keys while `gannet secrets
//! rekey` is running. A start never overwrites the file.

use crate::settings::{Settings, hide_password};
use anyhow::{Context, Result, ensure};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use store::secrets::{KeyId, SecretKey, SecretKeys};

const FILE: &str = "secret-key";

pub fn key_file(settings: &Settings) -> PathBuf {
    settings.data_dir.join(FILE)
}

/// The existing keys of this process; nothing is created. If a setting gives the current key, the keys of the
/// file can still decrypt.
pub fn find(settings: &Settings) -> Result<Option<SecretKeys>> {
    let path = key_file(settings);
    let in_file = read_file(&path)?;
    let mut keys = settings.secret_key.iter().cloned().chain(in_file);
    let Some(current) = keys.next() else {
        ensure!(
            settings.previous_secret_keys.is_empty(),
            "previous_secret_keys is set, but there is no current key: neither secret_key nor {}",
            path.display()
        );
        return Ok(None);
    };
    let mut found = SecretKeys::new(current);
    for key in keys.chain(settings.previous_secret_keys.iter().cloned()) {
        if !found.has(key.id()) {
            found.previous.push(key);
        }
    }
    Ok(Some(found))
}

/// The keys of this process; the first start creates one in the data directory, but not if the database
/// contains secrets of another key, which a new key could not decrypt.
pub async fn find_or_create(settings: &Settings) -> Result<SecretKeys> {
    if let Some(keys) = find(settings)? {
        return Ok(keys);
    }
    let known =
        store::secret_key_ids(&settings.store_options()).await.context("Could not open the database")?;
    ensure!(known.is_empty(), missing_key_error(settings, &known));
    create(settings)
}

/// Creates a key in the data directory, unless another process was first.
pub fn create(settings: &Settings) -> Result<SecretKeys> {
    let path = key_file(settings);
    let draft = write_draft(&path, &[SecretKey::random().context("no system randomness for a new key")?])?;
    // A hard link fails if the file exists; a rename would replace it.
    let made = std::fs::hard_link(&draft, &path);
    std::fs::remove_file(&draft).with_context(|| format!("cannot remove {}", draft.display()))?;
    match made {
        Ok(()) if settings.database_url.starts_with("sqlite:") => {
            tracing::info!(file = %path.display(), "created the key that encrypts stored secrets");
        }
        Ok(()) => tracing::warn!(
            file = %path.display(),
            "created the key that encrypts stored secrets; every process that uses this database needs the same key: set it as secret_key"
        ),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).with_context(|| format!("cannot create {}", path.display())),
    }
    find(settings)?.with_context(|| format!("{} has disappeared", path.display()))
}

/// Replaces the file atomically. It must contain every key that is still in use.
pub fn replace(settings: &Settings, keys: &[SecretKey]) -> Result<()> {
    let path = key_file(settings);
    let draft = write_draft(&path, keys)?;
    std::fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))
}

/// The error of a process that has no key for a database.
pub fn missing_key_error(settings: &Settings, known: &[KeyId]) -> String {
    let ids: Vec<String> = known.iter().map(ToString::to_string).collect();
    format!(
        "the secrets in {} are encrypted with the secret key {}, which this process does not have: set it as secret_key or put it into \
         {}, or delete the unreadable secrets with `gannet secrets reset`",
        hide_password(&settings.database_url),
        ids.join(" and "),
        key_file(settings).display()
    )
}

fn read_file(path: &Path) -> Result<Vec<SecretKey>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let keys = lines.map(SecretKey::parse).collect::<Result<Vec<_>, _>>();
    let keys = keys.map_err(|why| anyhow::anyhow!("a line of {} {why}", path.display()))?;
    ensure!(!keys.is_empty(), "{} is empty; restore it from a backup", path.display());
    Ok(keys)
}

/// Whether other users may read the file; `false` if there is none.
pub fn is_open_to_others(settings: &Settings) -> bool {
    key_file(settings).metadata().is_ok_and(|facts| facts.mode() & 0o077 != 0)
}

/// Writes a file that is readable by its owner only, and flushes it to disk.
fn write_draft(path: &Path, keys: &[SecretKey]) -> Result<PathBuf> {
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let written = || {
        let mut file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        for key in keys {
            writeln!(file, "{}", key.to_text())?;
        }
        file.sync_all()
    };
    written().with_context(|| format!("cannot write {}", draft.display()))?;
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Flags, load};
    use std::collections::BTreeMap;
    use testkit::TempDir;

    fn settings(dir: &TempDir, values: &[(&str, &str)]) -> Settings {
        let mut values: Vec<_> =
            values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        values.push(("data_dir".to_owned(), dir.path().display().to_string()));
        load(&Flags { config: None, values }, &BTreeMap::new()).unwrap()
    }

    #[test]
    fn the_file_is_created_once_and_is_private() {
        let dir = TempDir::new();
        let settings = settings(&dir, &[]);
        assert!(find(&settings).unwrap().is_none());
        let first = create(&settings).unwrap();
        assert_eq!(create(&settings).unwrap(), first, "never overwritten");
        assert_eq!(find(&settings).unwrap(), Some(first.clone()));
        assert!(!is_open_to_others(&settings));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
        let next = SecretKey::random().unwrap();
        replace(&settings, &[next.clone(), first.current.clone()]).unwrap();
        assert!(!is_open_to_others(&settings));
        assert_eq!(
            find(&settings).unwrap(),
            Some(SecretKeys { current: next, previous: vec![first.current] })
        );
    }

    #[test]
    fn a_setting_overrides_the_file_which_can_still_decrypt() {
        let dir = TempDir::new();
        let in_file = create(&settings(&dir, &[])).unwrap().current;
        let [chosen, older] = ["ab", "cd"].map(|digits| digits.repeat(32));
        let both = settings(&dir, &[("secret_key", &chosen), ("previous_secret_keys", &older)]);
        let keys = find(&both).unwrap().unwrap();
        assert_eq!(keys.current, SecretKey::parse(&chosen).unwrap());
        assert_eq!(keys.previous, [in_file.clone(), SecretKey::parse(&older).unwrap()]);
        let same = settings(&dir, &[("secret_key", &in_file.to_text())]);
        assert!(find(&same).unwrap().unwrap().previous.is_empty());
    }

    #[test]
    fn broken_files_and_previous_keys_without_a_current_one_are_errors() {
        let dir = TempDir::new();
        let lonely = settings(&dir, &[("previous_secret_keys", &"ab".repeat(32))]);
        assert!(find(&lonely).unwrap_err().to_string().contains("previous_secret_keys"));
        for broken in ["", "  \n", "t0ps3cret", "t0ps3cret\nt0ps3cret"] {
            std::fs::write(dir.join(FILE), broken).unwrap();
            let error = format!("{:#}", find(&settings(&dir, &[])).unwrap_err());
            assert!(error.contains(FILE) && !error.contains("t0ps3cret"), "{error}");
        }
    }
}
