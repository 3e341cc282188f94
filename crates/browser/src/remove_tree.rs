//! Removes a folder with everything that programs of others have left in it: folders that their owner may not list,
//! and folders so deep that no path leads there.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Names that are tried for a folder that is moved up.
const MAX_NAME_ATTEMPTS: u32 = 100;

/// Removes `root`, which nobody else writes to any more. What could not be removed does not keep the rest; the error
/// is the first one.
pub(crate) fn remove_tree(root: &Path) -> io::Result<()> {
    // Each folder is moved up before it is emptied, so neither paths nor the stack grow with the depth.
    let (mut pending, mut moved, mut first_error) = (vec![root.to_owned()], 0_u32, None);
    let mut emptied = Vec::new();
    while let Some(folder) = pending.pop() {
        if let Err(error) = empty_folder(&folder, root, &mut pending, &mut moved) {
            first_error.get_or_insert(error);
        }
        emptied.push(folder);
    }
    for folder in emptied.iter().rev() {
        if let Err(error) = fs::remove_dir(folder)
            && error.kind() != io::ErrorKind::NotFound
        {
            first_error.get_or_insert(error);
        }
    }
    match first_error {
        Some(error) if root.symlink_metadata().is_ok() => Err(error),
        _ => Ok(()),
    }
}

/// Removes the files of a folder and moves its folders into `root`, where they wait in `pending`.
fn empty_folder(folder: &Path, root: &Path, pending: &mut Vec<PathBuf>, moved: &mut u32) -> io::Result<()> {
    open_to_us(folder)?;
    let mut outcome = Ok(());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let done = if entry.file_type()?.is_dir() {
            // To be moved it must be writable: its entry for the folder above changes.
            open_to_us(&path).and_then(|()| move_up(&path, root, moved)).map(|path| pending.push(path))
        } else {
            fs::remove_file(&path)
        };
        outcome = outcome.and(done);
    }
    outcome
}

/// The owner of a folder may always do this.
fn open_to_us(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

fn move_up(folder: &Path, root: &Path, moved: &mut u32) -> io::Result<PathBuf> {
    if folder.parent() == Some(root) {
        return Ok(folder.to_owned());
    }
    let mut outcome = Err(io::ErrorKind::AlreadyExists.into());
    for _ in 0..MAX_NAME_ATTEMPTS {
        *moved += 1;
        let to = root.join(format!(".removed-{moved}"));
        // A file or a folder with something in it may have this name.
        outcome = fs::rename(folder, &to).map(|()| to);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Whether this process may not list what is closed to it. A test of this name that runs as root is run again
    /// under another account.
    fn runs_without_rights(test: &str) -> bool {
        use std::os::unix::process::CommandExt as _;
        if !rustix::process::getuid().is_root() {
            return true;
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", test]).env("TMPDIR", "/tmp").uid(65534).gid(65534).output();
        let output = output.expect("the tests must be readable by other accounts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        false
    }

    #[test]
    fn closed_and_deep_folders_are_removed_and_links_are_not_followed() {
        let name = "remove_tree::tests::closed_and_deep_folders_are_removed_and_links_are_not_followed";
        if !runs_without_rights(name) {
            return;
        }
        let (within, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("file"), "stays").unwrap();
        let root = within.path().join("root");
        fs::create_dir_all(root.join("a/.removed-1/x")).unwrap();
        fs::write(root.join(".removed-2"), "a file of that name").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("a/link")).unwrap();
        for (number, mode) in [0o300, 0o000, 0o400, 0o100].into_iter().enumerate() {
            let folder = root.join(format!("a/closed-{number}"));
            fs::create_dir_all(folder.join("inner")).unwrap();
            fs::write(folder.join("inner/file"), "x").unwrap();
            fs::set_permissions(folder.join("inner"), Permissions::from_mode(mode)).unwrap();
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        }
        // From the inside out, so that every path is short.
        let (deep, above) = (root.join("deep"), root.join("above"));
        fs::create_dir_all(deep.join("closed")).unwrap();
        fs::write(deep.join("closed/file"), "x").unwrap();
        fs::set_permissions(deep.join("closed"), Permissions::from_mode(0o000)).unwrap();
        for _ in 0..2000 {
            fs::create_dir(&above).unwrap();
            fs::rename(&deep, above.join("deep")).unwrap();
            fs::rename(&above, &deep).unwrap();
        }
        remove_tree(&root).unwrap();
        assert!(!root.exists());
        assert_eq!(fs::read_to_string(outside.path().join("file")).unwrap(), "stays");
        remove_tree(&root).unwrap();
    }
}
