//! The control group of a session's code, where this machine has one: all its processes together have the memory of
//! one session, and each language its number of processes.

use crate::lock_in::CODE_LIMITS;
use sandbox::{ControlGroup, GroupLimits, control_groups, lies_in_memory};
use std::path::{Path, PathBuf};

/// Makes the group for code that writes to `folder`.
pub(crate) fn create(folder: &Path) -> Option<ControlGroup> {
    let groups = control_groups().ok()?;
    let limits =
        GroupLimits { max_memory_bytes: Some(memory_limit(lies_in_memory(folder))), max_processes: None };
    let created = groups.create("code", limits);
    created.inspect_err(|error| tracing::warn!(%error, "code of a session has no control group")).ok()
}

/// Makes the group of one program.
pub(crate) fn create_for_program(group: Option<&ControlGroup>) -> Option<PathBuf> {
    let created = group?.create_for_program(CODE_LIMITS.max_processes);
    created.inspect_err(|error| tracing::warn!(%error, "code of a session has no control group")).ok()
}

/// Files that lie in memory are memory of the group, and have a limit of their own.
fn memory_limit(has_files_in_memory: bool) -> u64 {
    let files = CODE_LIMITS.max_folder_bytes.filter(|_| has_files_in_memory).unwrap_or(0);
    CODE_LIMITS.max_memory_bytes.unwrap_or(u64::MAX).saturating_add(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_do_not_take_that_of_programs() {
        assert_eq!((memory_limit(false), memory_limit(true)), (1 << 30, 2 << 30));
        assert!(!lies_in_memory(Path::new("/proc")) && !lies_in_memory(Path::new("/no such folder")));
    }
}
