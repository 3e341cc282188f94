//! What a process and all its descendants use, read from `/proc`.

use crate::process_tree::{THREADS_FIELD, process_numbers, stat_field};
use rustix::process::{Pid, Signal, getuid, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Entries of folders that are looked at; more of them count as too many bytes.
const MAX_FOLDER_ENTRIES: usize = 100_000;
/// Text about the memory of one process that is read; more of it counts as too many bytes.
const MAX_MAPS_BYTES: u64 = 2 * 1024 * 1024;
/// How the kernel names memory that is shared without a file. Only a program that maps this device has any.
const SHARED_ZEROES: &str = "/dev/zero";
/// What a socket holds at most, where the kernel does not say. Programs are refused to change it.
const DEFAULT_SOCKET_BYTES: u64 = 212_992;
/// `stat` counts blocks of this size, whatever the file system's own.
const BLOCK_BYTES: u64 = 512;

/// Processes and threads of the account that this process runs under.
pub(super) fn count_tasks_of_own_account() -> u64 {
    let own = getuid().as_raw();
    let is_own = |number: &u32| fs::metadata(format!("/proc/{number}")).is_ok_and(|data| data.uid() == own);
    process_numbers().filter(is_own).filter_map(|number| stat_field(number, THREADS_FIELD)).sum()
}

/// Processes and threads among these processes.
pub(super) fn count_tasks(processes: &[u32]) -> u64 {
    processes.iter().filter_map(|number| stat_field(*number, THREADS_FIELD)).sum()
}

/// The memory of these processes that no file backs, with what the kernel keeps for them: tables of their pages, and
/// what may wait in their sockets.
pub(super) fn memory_bytes(processes: &[u32]) -> u64 {
    let bytes = |number: &u32| {
        let status = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
        let kilobytes = |name: &str| -> u64 {
            let value = status.lines().find_map(|line| line.strip_prefix(name));
            value.and_then(|value| value.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        let names = ["RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"];
        Some(names.into_iter().map(kilobytes).sum::<u64>() * 1024)
    };
    let own: u64 = processes.iter().filter_map(bytes).sum();
    own.saturating_add(socket_bytes(processes))
}

/// The most that the sockets of these processes can hold.
fn socket_bytes(processes: &[u32]) -> u64 {
    let mut sockets = BTreeSet::new();
    for entry in processes.iter().flat_map(|number| descriptors(*number)) {
        if let Ok(target) = fs::read_link(entry)
            && let Some(number) = target.to_str().and_then(|text| text.strip_prefix("socket:"))
        {
            sockets.insert(number.to_owned());
        }
    }
    let each = fs::read_to_string("/proc/sys/net/core/wmem_default").ok();
    let each: u64 = each.and_then(|text| text.trim().parse().ok()).unwrap_or(DEFAULT_SOCKET_BYTES);
    each.saturating_mul(sockets.len() as u64)
}

fn descriptors(process: u32) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// What the folders hold on disk; `u64::MAX` when they have too many entries, or one that cannot be looked into.
pub fn folder_bytes(folders: &[PathBuf]) -> u64 {
    count_folders(folders).unwrap_or(u64::MAX)
}

fn count_folders(folders: &[PathBuf]) -> io::Result<u64> {
    let mut pending: Vec<PathBuf> = folders.to_vec();
    let (mut bytes, mut entries) = (0_u64, 0);
    while let Some(folder) = pending.pop() {
        let Some(listed) = unless_gone(fs::read_dir(folder))? else { continue };
        for entry in listed {
            entries += 1;
            if entries > MAX_FOLDER_ENTRIES {
                return Ok(u64::MAX);
            }
            let Some(entry) = unless_gone(entry)? else { continue };
            let Some(data) = unless_gone(entry.metadata())? else { continue };
            bytes = bytes.saturating_add(data.blocks() * BLOCK_BYTES);
            if data.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    Ok(bytes)
}

/// Nothing for what has been removed meanwhile, or was replaced by a file.
fn unless_gone<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Files that these processes have open or mapped and that have no name any more. Of one that is only mapped the kernel
/// may not say the size: it counts as `largest`. `u64::MAX` for what no program needs and nobody can measure.
pub(super) fn deleted_file_bytes(processes: &[u32], folders: &[PathBuf], largest: u64) -> u64 {
    let mut files = BTreeMap::new();
    for number in processes {
        for entry in descriptors(*number) {
            if let Ok(data) = fs::metadata(entry)
                && data.is_file()
                && data.nlink() == 0
            {
                files.insert((device_name(data.dev()), data.ino()), data.blocks() * BLOCK_BYTES);
            }
        }
    }
    let folders: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    for number in processes {
        let Some(maps) = read_maps(*number) else { return u64::MAX };
        for mapping in maps.lines().filter_map(DeletedMapping::parse) {
            if mapping.path == SHARED_ZEROES {
                return u64::MAX;
            }
            if folders.iter().any(|folder| Path::new(mapping.path).starts_with(folder)) {
                files.entry((mapping.device.to_owned(), mapping.inode)).or_insert_with(|| {
                    let file = format!("/proc/{number}/map_files/{}", mapping.range);
                    fs::metadata(file).map_or(largest, |data| data.blocks() * BLOCK_BYTES)
                });
            }
        }
    }
    files.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))
}

/// What a process has mapped; empty when it has ended, none when there is too much of it.
fn read_maps(process: u32) -> Option<String> {
    let mut text = Vec::new();
    if let Ok(file) = fs::File::open(format!("/proc/{process}/maps")) {
        let _ = file.take(MAX_MAPS_BYTES).read_to_end(&mut text);
    }
    // Names of files may be any bytes.
    ((text.len() as u64) < MAX_MAPS_BYTES).then(|| String::from_utf8_lossy(&text).into_owned())
}

/// A line of `/proc/N/maps` about a file without a name.
struct DeletedMapping<'a> {
    range: &'a str,
    device: &'a str,
    inode: u64,
    path: &'a str,
}

impl<'a> DeletedMapping<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.strip_suffix(" (deleted)")?.splitn(6, ' ');
        let (range, device) = (words.next()?, words.nth(2)?);
        let (inode, path) = (words.next()?.parse().ok()?, words.next()?.trim_start());
        Some(Self { range, device, inode, path })
    }
}

/// A device as the kernel writes it there.
fn device_name(device: u64) -> String {
    format!("{:02x}:{:02x}", rustix::fs::major(device), rustix::fs::minor(device))
}

/// Kills these processes.
pub(super) fn kill(processes: &[u32]) {
    for number in processes {
        if let Some(pid) = i32::try_from(*number).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_tree::{children, children_by_search, descendants};
    use std::process::{Command, Stdio};

    #[test]
    fn descendants_are_found_by_lists_and_by_search_and_measured() {
        let mut child =
            Command::new("sh").args(["-c", "sleep 60; true"]).stdin(Stdio::null()).spawn().unwrap();
        let own = std::process::id();
        let start = std::time::Instant::now();
        while descendants(child.id()).is_empty() {
            assert!(start.elapsed().as_secs() < 10);
        }
        assert!(descendants(own).contains(&child.id()));
        assert!(children_by_search(own).contains(&child.id()));
        assert_eq!(children_by_search(child.id()), children(child.id()));
        assert!(count_tasks(&[child.id()]) == 1 && count_tasks_of_own_account() >= 3);
        assert!(memory_bytes(&[own]) > 100_000);
        kill(&descendants(child.id()));
        kill(&[child.id()]);
        child.wait().unwrap();
    }

    #[test]
    fn folders_and_deleted_files_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("inner/file"), vec![1; 100_000]).unwrap();
        let bytes = folder_bytes(&[folder.path().to_owned()]);
        assert!((100_000..200_000).contains(&bytes), "{bytes}");
        let own = [folder.path().to_owned()];
        let deleted = || deleted_file_bytes(&[std::process::id()], &own, 5_000_000);
        let before = deleted();
        let open = fs::File::open(folder.path().join("inner/file")).unwrap();
        fs::remove_file(folder.path().join("inner/file")).unwrap();
        assert!(deleted() >= before + 100_000);
        drop(open);
    }

    #[test]
    fn lines_about_deleted_files_are_parsed() {
        let line = "7f1c-7f2d r--s 00000000 fe:01 4711                       /home/x y/m (deleted)";
        let mapping = DeletedMapping::parse(line).unwrap();
        assert_eq!((mapping.range, mapping.device, mapping.inode), ("7f1c-7f2d", "fe:01", 4711));
        assert_eq!(mapping.path, "/home/x y/m");
        assert!(DeletedMapping::parse("7f1c-7f2d r--p 00000000 fe:01 4711 /usr/lib/x.so").is_none());
        assert!(DeletedMapping::parse(" (deleted)").is_none());
    }

    /// What a test of this name does under an account that is not root, to which no folder is closed.
    fn runs_without_rights(test: &str) -> bool {
        use std::os::unix::process::CommandExt as _;
        if !getuid().is_root() {
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
    fn a_folder_that_cannot_be_listed_counts_as_too_large() {
        use std::os::unix::fs::PermissionsExt as _;
        let name = "program::usage::tests::a_folder_that_cannot_be_listed_counts_as_too_large";
        if !runs_without_rights(name) {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let hidden = folder.path().join("hidden");
        fs::create_dir(&hidden).unwrap();
        for (mode, bytes) in [(0o300, u64::MAX), (0o400, u64::MAX), (0o500, 0)] {
            fs::set_permissions(&hidden, fs::Permissions::from_mode(0o700)).unwrap();
            fs::write(hidden.join("file"), "").unwrap();
            fs::set_permissions(&hidden, fs::Permissions::from_mode(mode)).unwrap();
            let counted = folder_bytes(&[folder.path().to_owned()]);
            assert!(if bytes == 0 { counted < 100_000 } else { counted == bytes }, "{mode:o}: {counted}");
        }
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o700)).unwrap();
    }
}
