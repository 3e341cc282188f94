//! Files that pages are given: those in the session's own folder as they are, and those of the session's code as copies.
//! The browser runs under another account than the code and cannot read its folder; and code may replace a file by a link
//! at any time, so the kernel opens it without following any.

use super::own_files::{CODE_FOLDER, open_file};
use parking_lot::Mutex;
use std::fs::{File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The folder of copies, beside both. It is ours: neither the browser nor code may write to it.
const COPIES_FOLDER: &str = "uploads";
/// Copies of one session, and their bytes together.
const MAX_COPIES: usize = 1000;
const MAX_COPIED_BYTES: u64 = 256 << 20;

/// The files of one session.
#[derive(Debug)]
pub(super) struct Uploads {
    /// Downloads go here, uploads come from here.
    pub(super) files: PathBuf,
    copied: Mutex<Copied>,
}

#[derive(Debug, Default)]
struct Copied {
    count: usize,
    bytes: u64,
}

impl Uploads {
    pub(super) fn new(files: PathBuf) -> Self {
        Self { files, copied: Mutex::default() }
    }

    /// The path under which the browser can read a file that a client named; the reason why not.
    pub(super) fn resolve(&self, file: &str) -> Result<PathBuf, String> {
        let refused = || format!("{file:?} is not a file of this session");
        let path = Path::new(file);
        if !path.is_absolute() {
            return Err(refused());
        }
        let folder = self.files.canonicalize().map_err(|_| "this session has no files".to_owned())?;
        if path.canonicalize().is_ok_and(|path| path.starts_with(&folder)) {
            return Ok(path.to_owned());
        }
        let code = folder.with_file_name(CODE_FOLDER);
        let inside = path.strip_prefix(&code).map_err(|_| refused())?;
        self.copy(&code, inside).map_err(|error| format!("{file:?} cannot be uploaded: {error}"))
    }

    fn copy(&self, code: &Path, inside: &Path) -> io::Result<PathBuf> {
        let name = inside.file_name().ok_or_else(|| io::Error::other("it is not a file"))?;
        let source = open_file(code, inside)?;
        let mut copied = self.copied.lock();
        let room = MAX_COPIED_BYTES - copied.bytes;
        if copied.count >= MAX_COPIES || source.metadata()?.len() > room {
            return Err(io::Error::other("the session has uploaded too much"));
        }
        let folder = self.files.with_file_name(COPIES_FOLDER);
        let target = folder.join(copied.count.to_string());
        std::fs::create_dir_all(&target)?;
        for path in [&folder, &target] {
            // The browser may run under another account, and new files of the server are private.
            std::fs::set_permissions(path, Permissions::from_mode(0o755))?;
        }
        copied.count += 1;
        let target = target.join(name);
        let mut file = File::options().write(true).create_new(true).open(&target)?;
        file.set_permissions(Permissions::from_mode(0o644))?;
        // It may still grow.
        copied.bytes += io::copy(&mut source.take(room), &mut file)?;
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_from_the_session_and_from_its_code_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outer = folder.path().canonicalize().unwrap();
        let (files, code, secret) = (outer.join("files"), outer.join("code"), outer.join("secret"));
        std::fs::create_dir(&files).unwrap();
        std::fs::create_dir_all(code.join("home")).unwrap();
        std::fs::write(&secret, "x").unwrap();
        std::fs::write(files.join("a.txt"), "a").unwrap();
        std::fs::write(code.join("home/b.txt"), "b").unwrap();
        for within in [&files, &code] {
            std::os::unix::fs::symlink(&secret, within.join("link")).unwrap();
            std::os::unix::fs::symlink(&outer, within.join("folder")).unwrap();
        }
        let uploads = Uploads::new(files.clone());
        let resolve = |path: &Path| uploads.resolve(path.to_str().unwrap());
        assert_eq!(resolve(&files.join("a.txt")).unwrap(), files.join("a.txt"));
        let copies = [1, 2].map(|_| resolve(&code.join("home/b.txt")).unwrap());
        assert_ne!(copies[0], copies[1], "a copy for each upload");
        for copy in copies {
            assert_eq!(
                (copy.file_name().unwrap().to_str(), std::fs::read(&copy).unwrap()),
                (Some("b.txt"), b"b".to_vec())
            );
        }
        let mut wrong = vec![secret.clone(), PathBuf::from("a.txt"), PathBuf::new(), code.join("home")];
        for within in [&files, &code] {
            wrong.extend(["link", "folder/secret", "../secret", "missing"].map(|name| within.join(name)));
        }
        for path in wrong {
            assert!(resolve(&path).is_err(), "{}", path.display());
        }
    }
}
