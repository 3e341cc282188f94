//! Which processes there are and who started them, read from `/proc`.

use std::fs;

/// The descendants of a process, each before its own children.
pub(crate) fn descendants(of: u32) -> Vec<u32> {
    let mut found = children(of);
    let mut next = 0;
    while next < found.len() {
        let more = children(found[next]);
        found.extend(more);
        next += 1;
    }
    found
}

pub(crate) fn children(of: u32) -> Vec<u32> {
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

pub(crate) fn children_by_search(of: u32) -> Vec<u32> {
    let is_child = |number: &u32| stat_field(*number, PARENT_FIELD) == Some(u64::from(of));
    process_numbers().filter(is_child).collect()
}

pub(crate) fn process_numbers() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Fields of `/proc/N/stat`, counted after the name.
const PARENT_FIELD: usize = 1;
pub(crate) const THREADS_FIELD: usize = 17;

pub(crate) fn stat_field(number: u32, field: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name in parentheses may contain anything.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(field)?.parse().ok()
}
