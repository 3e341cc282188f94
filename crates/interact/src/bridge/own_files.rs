//! The folders of one session, and how files in them are opened: their content belongs to the browser and to code of callers,
//! who may replace anything by a link at any time.

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The folder of a session's code, beside that of its files.
pub const CODE_FOLDER: &str = "code";
/// Whatever is named stays inside, and the kernel follows no links.
pub(super) const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

pub(super) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a file below a folder.
pub(crate) fn open_file(folder: &Path, inside: &Path) -> io::Result<File> {
    // A pipe in place of a file must not keep us waiting.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(openat2(open_folder(folder)?, inside, flags, Mode::empty(), INSIDE)?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a file")) }
}
