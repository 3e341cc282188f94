//! Where the keys that stored secrets are encrypted with come from: a setting, or a file in the data folder that the first start makes.
//!
//! The file holds the current key in its first line, and in further lines keys that were current before, while
//! `gannet secrets rekey` is under way. It is never overwritten by a start.

use crate::home::store_options;
use crate::settings::{Settings, without_password};
use anyhow::{Context, Result, ensure};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use store::secrets::{KeyId, SecretKey, SecretKeys};

const FILE: &str = "secret-key";

pub fn key_file(settings: &Settings) -> PathBuf {
    settings.data_dir.join(FILE)
}

/// The keys of this process, as far as they are there; nothing is made. The keys of the file go on to be read when a setting names the
/// current one.
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

/// The keys of this process; the first start makes one, in the data folder. Not on a database whose secrets were encrypted elsewhere: a new
/// key could not read them.
pub async fn find_or_make(settings: &Settings) -> Result<SecretKeys> {
    if let Some(keys) = find(settings)? {
        return Ok(keys);
    }
    let known = store::secret_key_ids(&store_options(settings)).await.context("cannot open the database")?;
    ensure!(known.is_empty(), missing(settings, &known));
    make(settings)
}

/// A new key in the data folder, unless another process was first.
pub fn make(settings: &Settings) -> Result<SecretKeys> {
    let path = key_file(settings);
    let draft = write_draft(&path, &[SecretKey::random().context("no randomness for a key")?])?;
    // A link fails where there is a file already, which a rename would replace.
    let made = std::fs::hard_link(&draft, &path);
    std::fs::remove_file(&draft).with_context(|| format!("cannot remove {}", draft.display()))?;
    match made {
        Ok(()) if settings.database_url.starts_with("sqlite:") => {
            tracing::info!(file = %path.display(), "made the key that stored secrets are encrypted with");
        }
        Ok(()) => tracing::warn!(
            file = %path.display(),
            "made the key that stored secrets are encrypted with; every process on this database needs the same one: give it as secret_key"
        ),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).with_context(|| format!("cannot make {}", path.display())),
    }
    find(settings)?.with_context(|| format!("{} is gone", path.display()))
}

/// Replaces the file by one with these keys, whole or not at all. None of them may be missing that something is encrypted with.
pub fn replace(settings: &Settings, keys: &[SecretKey]) -> Result<()> {
    let path = key_file(settings);
    let draft = write_draft(&path, keys)?;
    std::fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))
}

/// Why a process without a key cannot use a database.
pub fn missing(settings: &Settings, known: &[KeyId]) -> String {
    let ids: Vec<String> = known.iter().map(ToString::to_string).collect();
    format!(
        "the secrets in {} are encrypted with the secret key {}, and this process has none: give it that key as secret_key or in {}, \
         or drop what nobody can read any more with `gannet secrets reset`",
        without_password(&settings.database_url),
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

/// Whether others than its owner may read the file; `false` when there is none.
pub fn is_open_to_others(settings: &Settings) -> bool {
    key_file(settings).metadata().is_ok_and(|facts| facts.mode() & 0o077 != 0)
}

/// Readable by its owner only, from the first byte on, and on the disk when this returns.
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
    fn the_file_is_made_once_and_privately() {
        let dir = TempDir::new();
        let settings = settings(&dir, &[]);
        assert!(find(&settings).unwrap().is_none());
        let first = make(&settings).unwrap();
        assert_eq!(make(&settings).unwrap(), first, "never overwritten");
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
    fn a_setting_comes_before_the_file_which_goes_on_to_be_read() {
        let dir = TempDir::new();
        let in_file = make(&settings(&dir, &[])).unwrap().current;
        let [chosen, older] = ["ab", "cd"].map(|digits| digits.repeat(32));
        let both = settings(&dir, &[("secret_key", &chosen), ("previous_secret_keys", &older)]);
        let keys = find(&both).unwrap().unwrap();
        assert_eq!(keys.current, SecretKey::parse(&chosen).unwrap());
        assert_eq!(keys.previous, [in_file.clone(), SecretKey::parse(&older).unwrap()]);
        let same = settings(&dir, &[("secret_key", &in_file.to_text())]);
        assert!(find(&same).unwrap().unwrap().previous.is_empty());
    }

    #[test]
    fn broken_files_and_lonely_previous_keys_are_named() {
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
