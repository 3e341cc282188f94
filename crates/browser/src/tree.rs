//! The processes of a group, as the kernel lists them: how many there are and what they hold. And those that browsers leave to us.

use rustix::process::{Pid, WaitOptions, getpgrp, getpid, waitpid};
use std::fs;

/// What a group of processes amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Group {
    pub(crate) processes: usize,
    /// Memory that is theirs alone. What they share with each other would be counted many times over.
    pub(crate) private_bytes: u64,
}

/// Looks at groups, all in one pass. Where there is no `/proc` they seem empty.
pub(crate) fn look(groups: &[Pid]) -> Vec<Group> {
    let mut sums = vec![Group::default(); groups.len()];
    let Ok(entries) = fs::read_dir("/proc") else { return sums };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(number) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(format!("/proc/{number}/stat")) else { continue };
        let Some(place) = groups.iter().position(|group| belongs(&stat, *group)) else { continue };
        sums[place].processes += 1;
        sums[place].private_bytes += private_bytes(number).unwrap_or(0);
    }
    sums
}

/// As the first process of a container we inherit what browsers leave, and must take note of its end, or it stays in the table of
/// processes for ever. Returns how many of them still live.
pub(crate) fn reap_orphans() -> usize {
    let (own, own_group) = (getpid(), getpgrp());
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let mut living = 0;
    for entry in entries.flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        match orphan_of(&stat, own, own_group) {
            Some((pid, true)) => _ = waitpid(Some(pid), WaitOptions::NOHANG),
            Some((_, false)) => living += 1,
            None => {}
        }
    }
    living
}

/// The process of a line of `stat`, and whether it has ended, if it is one that we did not start but inherited. Those that we start are
/// in our own group or lead one; whoever started them waits for them.
fn orphan_of(stat: &str, own: Pid, own_group: Pid) -> Option<(Pid, bool)> {
    let (head, fields) = stat.rsplit_once(')')?;
    let pid = Pid::from_raw(head.split(' ').next()?.parse().ok()?)?;
    let mut fields = fields.split_ascii_whitespace();
    let ended = fields.next()? == "Z";
    let parent = fields.next()?.parse::<i32>().ok()?;
    let group = fields.next()?.parse::<i32>().ok()?;
    let inherited = parent == own.as_raw_pid() && group != own_group.as_raw_pid() && group != pid.as_raw_pid();
    inherited.then_some((pid, ended))
}

/// Whether a line of `stat` is of a living process of the group.
fn belongs(stat: &str, group: Pid) -> bool {
    // The name in parentheses may hold anything, so fields are counted from its end: state, parent, group.
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next();
    let of = fields.nth(1).and_then(|text| text.parse::<i32>().ok());
    state != Some("Z") && of == Some(group.as_raw_pid())
}

fn private_bytes(number: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{number}/statm")).ok()?;
    let mut pages = text.split_ascii_whitespace().skip(1).map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next()??, pages.next()??);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn living_members_are_told_from_dead_ones_and_strangers() {
        let group = Pid::from_raw(77).unwrap();
        assert!(belongs("1 (chrome) S 3 77 77 0", group));
        assert!(belongs("1 (a) b) 1 1) S 3 77 77 0", group));
        assert!(!belongs("1 (chrome) Z 3 77 77 0", group));
        assert!(!belongs("1 (77) S 77 78 77 0", group));
        assert!(!belongs("", group));
    }

    #[test]
    fn what_was_inherited_is_told_from_what_was_started() {
        let pid = |number| Pid::from_raw(number).unwrap();
        let orphan = |stat: &str| orphan_of(stat, pid(1), pid(1)).map(|(pid, ended)| (pid.as_raw_pid(), ended));
        assert_eq!(orphan("40 (chrome_crashpad) Z 1 38 38 0"), Some((40, true)));
        assert_eq!(orphan("40 (chrome) S 1 38 38 0"), Some((40, false)));
        assert_eq!(orphan("38 (chrome) Z 1 38 38 0"), None, "we started it in a group of its own");
        assert_eq!(orphan("41 (unshare) Z 1 1 1 0"), None, "we started it in our group");
        assert_eq!(orphan("42 (chrome) Z 38 38 38 0"), None, "somebody else's child");
    }

    #[test]
    fn our_own_group_holds_something() {
        let own = look(&[rustix::process::getpgrp()])[0];
        assert!(own.processes >= 1 && own.private_bytes > 4096, "{own:?}");
    }
}
