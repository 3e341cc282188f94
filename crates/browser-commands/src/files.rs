//! Files of a session: screenshots, PDFs, downloads and uploads live below one folder. Code of the session may
//! change that folder at any time, so paths are resolved by the kernel below it, without following links.

use crate::error::CommandError;
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2, renameat};
use std::ffi::OsString;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// The folder of a session, and where in it the caller stands.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    folder: PathBuf,
    directory: PathBuf,
}

fn outside(path: &Path) -> CommandError {
    CommandError::failed(format!("{} is not in this session's folder", path.display()))
}

fn failed(path: &Path, error: impl std::fmt::Display) -> CommandError {
    CommandError::failed(format!("{}: {error}", path.display()))
}

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

impl Files {
    /// `directory` is the caller's working directory; one outside of the folder counts as the folder itself.
    pub(crate) fn new(folder: &Path, directory: Option<&Path>) -> Self {
        let inside = directory.and_then(|path| path.strip_prefix(folder).ok()).unwrap_or(Path::new(""));
        Self { folder: folder.to_owned(), directory: inside.to_owned() }
    }

    /// A path as typed, as one below the folder.
    fn relative(&self, typed: &str) -> Result<PathBuf, CommandError> {
        let typed = Path::new(typed);
        let joined = if typed.is_absolute() {
            typed.strip_prefix(&self.folder).map_err(|_| outside(typed))?.to_owned()
        } else {
            self.directory.join(typed)
        };
        let mut clean = PathBuf::new();
        for part in joined.components() {
            match part {
                Component::Normal(name) => clean.push(name),
                Component::CurDir => {}
                Component::ParentDir if clean.pop() => {}
                _ => return Err(outside(typed)),
            }
        }
        Ok(clean)
    }

    fn open_folder(&self) -> Result<OwnedFd, CommandError> {
        let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        open(&self.folder, flags, Mode::empty()).map_err(|error| failed(&self.folder, error))
    }

    fn open_parent(&self, relative: &Path) -> Result<(OwnedFd, OsString), CommandError> {
        let name = relative.file_name().ok_or_else(|| outside(relative))?.to_owned();
        let parent = relative.parent().filter(|parent| !parent.as_os_str().is_empty());
        let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        let parent = parent.unwrap_or(Path::new("."));
        let opened = openat2(self.open_folder()?, parent, flags, Mode::empty(), BENEATH);
        Ok((opened.map_err(|error| failed(parent, error))?, name))
    }

    /// Writes a file below the folder and returns its whole path.
    pub(crate) fn write(&self, typed: &str, bytes: &[u8]) -> Result<PathBuf, CommandError> {
        let relative = self.relative(typed)?;
        let (parent, name) = self.open_parent(&relative)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = openat2(parent, &name, flags, Mode::from_raw_mode(0o644), BENEATH);
        let mut file = std::fs::File::from(opened.map_err(|error| failed(&relative, error))?);
        file.write_all(bytes).map_err(|error| failed(&relative, error))?;
        Ok(self.folder.join(relative))
    }

    /// The whole path of an existing plain file below the folder, for an upload. The browser opens it itself,
    /// with the browser's rights.
    pub(crate) fn existing(&self, typed: &str) -> Result<PathBuf, CommandError> {
        let relative = self.relative(typed)?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = openat2(self.open_folder()?, &relative, flags, Mode::empty(), BENEATH);
        let opened = opened.map_err(|error| failed(&relative, error))?;
        let is_file = std::fs::File::from(opened).metadata().is_ok_and(|metadata| metadata.is_file());
        if !is_file {
            return Err(failed(&relative, "not a file"));
        }
        Ok(self.folder.join(relative))
    }

    /// Gives a finished download, which lies in the folder under `from`, the name that was asked for.
    pub(crate) fn rename(&self, from: &str, typed: &str) -> Result<PathBuf, CommandError> {
        let relative = self.relative(typed)?;
        let (parent, name) = self.open_parent(&relative)?;
        renameat(self.open_folder()?, from, parent, &name).map_err(|error| failed(&relative, error))?;
        Ok(self.folder.join(relative))
    }

    pub(crate) fn check_writable(&self, typed: &str) -> Result<(), CommandError> {
        self.open_parent(&self.relative(typed)?).map(|_| ())
    }

    /// The folder itself, as the browser must know it for downloads.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("session");
        std::fs::create_dir_all(folder.join("shots")).unwrap();
        std::fs::write(outer.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(outer.path().join("secret"), folder.join("link")).unwrap();
        std::os::unix::fs::symlink(outer.path(), folder.join("up")).unwrap();
        let files = Files::new(&folder, Some(&folder.join("shots")));
        assert_eq!(files.write("a.png", b"x").unwrap(), folder.join("shots/a.png"));
        assert_eq!(files.write("../b.png", b"x").unwrap(), folder.join("b.png"));
        assert!(files.existing(folder.join("b.png").to_str().unwrap()).is_ok());
        for bad in ["../../secret", "/etc/passwd", "../link", "../up/secret", "..", "missing/x.png"] {
            assert!(files.existing(bad).is_err(), "{bad}");
            assert!(files.write(bad, b"x").is_err(), "{bad}");
        }
        assert_eq!(std::fs::read(outer.path().join("secret")).unwrap(), b"s");
        assert!(files.existing("../shots").is_err(), "a folder is no file");
        assert_eq!(files.rename("b.png", "c.png").unwrap(), folder.join("shots/c.png"));
        let elsewhere = Files::new(&folder, Some(Path::new("/etc")));
        assert!(elsewhere.existing("passwd").is_err());
    }
}
