//! What a process and all its descendants use, read from `/proc`.

use rustix::process::{Pid, Signal, getuid, kill_process};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Entries of a folder that are looked at; more of them count as too many bytes.
const MAX_FOLDER_ENTRIES: usize = 50_000;
/// `stat` counts blocks of this size, whatever the file system's own.
const BLOCK_BYTES: u64 = 512;

/// The descendants of a process, each before its own children.
pub(super) fn descendants(of: u32) -> Vec<u32> {
    let mut found = children(of);
    let mut next = 0;
    while next < found.len() {
        let more = children(found[next]);
        found.extend(more);
        next += 1;
    }
    found
}

fn children(of: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{of}/task")) else { return Vec::new() };
    let mut found = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(text) => {
                found.extend(text.split_ascii_whitespace().filter_map(|number| number.parse::<u32>().ok()));
            }
            // A kernel without these lists.
            Err(_) if task.path().exists() => return children_by_search(of),
            Err(_) => {}
        }
    }
    found
}

fn children_by_search(of: u32) -> Vec<u32> {
    let is_child = |number: &u32| stat_field(*number, PARENT_FIELD) == Some(u64::from(of));
    process_numbers().filter(is_child).collect()
}

fn process_numbers() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Fields of `/proc/N/stat`, counted after the name.
const PARENT_FIELD: usize = 1;
const THREADS_FIELD: usize = 17;

fn stat_field(number: u32, field: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name in parentheses may contain anything.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(field)?.parse().ok()
}

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

/// The memory of these processes that no file backs.
pub(super) fn memory_bytes(processes: &[u32]) -> u64 {
    let bytes = |number: &u32| {
        let status = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
        let kilobytes = |name: &str| -> u64 {
            let value = status.lines().find_map(|line| line.strip_prefix(name));
            value.and_then(|value| value.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        Some((kilobytes("RssAnon:") + kilobytes("RssShmem:") + kilobytes("VmSwap:")) * 1024)
    };
    processes.iter().filter_map(bytes).sum()
}

/// What the folders hold; `u64::MAX` when they have too many entries.
pub(super) fn folder_bytes(folders: &[PathBuf]) -> u64 {
    let mut pending: Vec<PathBuf> = folders.to_vec();
    let (mut bytes, mut entries) = (0_u64, 0);
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            entries += 1;
            if entries > MAX_FOLDER_ENTRIES {
                return u64::MAX;
            }
            let Ok(data) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(data.blocks() * BLOCK_BYTES);
            if data.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    bytes
}

/// Files that these processes have open and that have no name any more.
pub(super) fn deleted_file_bytes(processes: &[u32]) -> u64 {
    let mut files = std::collections::BTreeMap::new();
    for number in processes {
        for entry in fs::read_dir(format!("/proc/{number}/fd")).into_iter().flatten().flatten() {
            if let Ok(data) = fs::metadata(entry.path())
                && data.is_file()
                && data.nlink() == 0
            {
                files.insert((data.dev(), data.ino()), data.blocks() * BLOCK_BYTES);
            }
        }
    }
    files.values().sum()
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
        let before = deleted_file_bytes(&[std::process::id()]);
        let open = fs::File::open(folder.path().join("inner/file")).unwrap();
        fs::remove_file(folder.path().join("inner/file")).unwrap();
        assert!(deleted_file_bytes(&[std::process::id()]) >= before + 100_000);
        drop(open);
    }
}
