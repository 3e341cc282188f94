//! Files that pages are given: those in the session's own folder as they are, those of the session's code and of clients on
//! this machine as copies, and those that somebody has sent for this session. The browser runs under another account than
//! the code and cannot read its folder; and code may replace a file by a link at any time, so the kernel opens it without
//! following any.

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
/// The longest name of a file that somebody sends.
const MAX_NAME_BYTES: usize = 200;

/// The files of one session.
#[derive(Debug)]
pub(super) struct Uploads {
    /// Downloads go here, uploads come from here.
    pub(super) files: PathBuf,
    /// The folder that clients on this machine share with the server, if the operator has named one.
    pub(super) shared: Option<PathBuf>,
    copied: Mutex<Copied>,
}

#[derive(Debug, Default)]
struct Copied {
    count: usize,
    bytes: u64,
}

impl Uploads {
    pub(super) fn new(files: PathBuf, shared: Option<PathBuf>) -> Self {
        Self { files, shared, copied: Mutex::default() }
    }

    /// Where files are that were copied or sent.
    pub(super) fn folder(&self) -> PathBuf {
        self.files.canonicalize().unwrap_or_else(|_| self.files.clone()).with_file_name(COPIES_FOLDER)
    }

    /// Makes room for a file that somebody sends, under its own name; where it is written.
    pub(super) fn create(&self, name: &str) -> io::Result<(PathBuf, File)> {
        let is_name = !name.is_empty()
            && name.len() <= MAX_NAME_BYTES
            && !matches!(name, "." | "..")
            && !name.contains(|character: char| character == '/' || character.is_control());
        if !is_name {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no name of a file"));
        }
        let mut copied = self.copied.lock();
        if copied.count >= MAX_COPIES || copied.bytes >= MAX_COPIED_BYTES {
            return Err(io::Error::other("the session has uploaded too much"));
        }
        self.create_copy(&mut copied, Path::new(name))
    }

    /// Counts bytes before they are written; whether there is room for them.
    pub(super) fn reserve(&self, bytes: u64) -> bool {
        let mut copied = self.copied.lock();
        let fits = copied.bytes + bytes <= MAX_COPIED_BYTES;
        if fits {
            copied.bytes += bytes;
        }
        fits
    }

    /// A new file in a folder of its own, which the browser may read.
    fn create_copy(&self, copied: &mut Copied, name: &Path) -> io::Result<(PathBuf, File)> {
        let folder = self.folder();
        let target = folder.join(copied.count.to_string());
        std::fs::create_dir_all(&target)?;
        for path in [&folder, &target] {
            // The browser may run under another account, and new files of the server are private.
            std::fs::set_permissions(path, Permissions::from_mode(0o755))?;
        }
        copied.count += 1;
        let target = target.join(name);
        let file = File::options().write(true).create_new(true).open(&target)?;
        file.set_permissions(Permissions::from_mode(0o644))?;
        Ok((target, file))
    }

    /// The path under which the browser can read a file that a client named; the reason why not.
    pub(super) fn resolve(&self, file: &str) -> Result<PathBuf, String> {
        let refused = || format!("{file:?} is not a file of this session");
        let path = Path::new(file);
        if !path.is_absolute() {
            return Err(refused());
        }
        let folder = self.files.canonicalize().map_err(|_| "this session has no files".to_owned())?;
        // What was sent for this session is ours alone to write.
        let sent = folder.with_file_name(COPIES_FOLDER);
        if path.canonicalize().is_ok_and(|path| path.starts_with(&folder) || path.starts_with(&sent)) {
            return Ok(path.to_owned());
        }
        let code = folder.with_file_name(CODE_FOLDER);
        let roots = [Some(code.as_path()), self.shared.as_deref()];
        let inside = roots.into_iter().flatten().find_map(|root| Some((root, path.strip_prefix(root).ok()?)));
        let (root, inside) = inside.ok_or_else(refused)?;
        self.copy(root, inside).map_err(|error| format!("{file:?} cannot be uploaded: {error}"))
    }

    fn copy(&self, root: &Path, inside: &Path) -> io::Result<PathBuf> {
        let name = inside.file_name().ok_or_else(|| io::Error::other("it is not a file"))?;
        let source = open_file(root, inside)?;
        let mut copied = self.copied.lock();
        let room = MAX_COPIED_BYTES.saturating_sub(copied.bytes);
        if copied.count >= MAX_COPIES || source.metadata()?.len() > room {
            return Err(io::Error::other("the session has uploaded too much"));
        }
        let (target, mut file) = self.create_copy(&mut copied, Path::new(name))?;
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
        let shared = outer.join("shared");
        std::fs::create_dir(&shared).unwrap();
        std::fs::write(shared.join("c.txt"), "c").unwrap();
        std::os::unix::fs::symlink(&secret, shared.join("link")).unwrap();
        let uploads = Uploads::new(files.clone(), Some(shared.clone()));
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
        let copy = resolve(&shared.join("c.txt")).unwrap();
        assert_eq!(std::fs::read(&copy).unwrap(), b"c");
        let (sent, _) = uploads.create("d.txt").unwrap();
        assert_eq!(resolve(&sent).unwrap(), sent, "a file that was sent");
        for name in ["", ".", "..", "a/b", "a\nb"] {
            assert!(uploads.create(name).is_err(), "{name:?}");
        }
        assert!(uploads.reserve(1) && !uploads.reserve(MAX_COPIED_BYTES));
        assert!(resolve(&shared.join("link")).is_err() && resolve(&shared.join("../secret")).is_err());
        let mut wrong = vec![secret.clone(), PathBuf::from("a.txt"), PathBuf::new(), code.join("home")];
        for within in [&files, &code] {
            wrong.extend(["link", "folder/secret", "../secret", "missing"].map(|name| within.join(name)));
        }
        for path in wrong {
            assert!(resolve(&path).is_err(), "{}", path.display());
        }
    }
}
