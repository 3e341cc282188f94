//! Process groups, read from `/proc`: how many processes there are and how much memory they use. Also reaps
//! processes that browsers leave to us.

use rustix::process::{Pid, WaitOptions, waitpid};
use std::fs;

/// Processes and memory of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct GroupUsage {
    pub(crate) processes: usize,
    /// Memory that is not shared. Shared memory would be counted many times.
    pub(crate) private_bytes: u64,
}

/// Measures groups in one pass. Without `/proc` they appear empty.
pub(crate) fn measure(groups: &[Pid]) -> Vec<GroupUsage> {
    let mut sums = vec![GroupUsage::default(); groups.len()];
    let Ok(entries) = fs::read_dir("/proc") else { return sums };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(number) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(format!("/proc/{number}/stat")) else { continue };
        let Some(index) = groups.iter().position(|group| is_living_member(&stat, *group)) else { continue };
        sums[index].processes += 1;
        sums[index].private_bytes += private_bytes(number).unwrap_or(0);
    }
    sums
}

/// The living processes of a group.
pub(crate) fn members(group: Pid) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let living = entries.flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        is_living_member(&stat, group).then_some(number)
    });
    living.collect()
}

/// As the first process (PID 1) of a container we inherit processes that browsers leave behind and must reap
/// them, or they stay in the process table forever. Returns how many of them still run.
pub(crate) fn reap_orphans() -> usize {
    // Our own group may belong to an outer namespace and have no number here: then it is 0.
    let own = fs::read_to_string("/proc/self/stat").ok();
    let Some((own, _, _, own_group)) = own.as_deref().and_then(parse_stat) else { return 0 };
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let mut living = 0;
    for entry in entries.flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        match parse_orphan(&stat, own, own_group) {
            Some((pid, true)) => _ = waitpid(Some(pid), WaitOptions::NOHANG),
            Some((_, false)) => living += 1,
            None => {}
        }
    }
    living
}

/// Parses a line of `stat` and returns the process, and whether it has ended, if we inherited it. Processes
/// that we start are in our own group or lead one; whoever started them waits for them.
fn parse_orphan(stat: &str, own: i32, own_group: i32) -> Option<(Pid, bool)> {
    let (pid, ended, parent, group) = parse_stat(stat)?;
    let inherited = parent == own && group != own_group && group != pid;
    Pid::from_raw(pid).filter(|_| inherited).map(|pid| (pid, ended))
}

/// Whether a line of `stat` describes a living process of the group.
fn is_living_member(stat: &str, group: Pid) -> bool {
    parse_stat(stat).is_some_and(|(_, ended, _, of)| !ended && of == group.as_raw_pid())
}

/// Parses a line of `stat`: process id, whether it has ended, parent, group.
fn parse_stat(stat: &str) -> Option<(i32, bool, i32, i32)> {
    // The name in parentheses may contain anything, so fields are counted after it.
    let (head, fields) = stat.rsplit_once(')')?;
    let pid = head.split(' ').next()?.parse().ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let ended = fields.next()? == "Z";
    Some((pid, ended, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
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
        assert!(is_living_member("1 (chrome) S 3 77 77 0", group));
        assert!(is_living_member("1 (a) b) 1 1) S 3 77 77 0", group));
        assert!(!is_living_member("1 (chrome) Z 3 77 77 0", group));
        assert!(!is_living_member("1 (77) S 77 78 77 0", group));
        assert!(!is_living_member("", group));
    }

    #[test]
    fn what_was_inherited_is_told_from_what_was_started() {
        let orphan = |stat: &str| parse_orphan(stat, 1, 1).map(|(pid, ended)| (pid.as_raw_pid(), ended));
        assert_eq!(orphan("40 (chrome_crashpad) Z 1 38 38 0"), Some((40, true)));
        assert_eq!(orphan("40 (chrome) S 1 38 38 0"), Some((40, false)));
        assert_eq!(orphan("38 (chrome) Z 1 38 38 0"), None, "we started it in a group of its own");
        assert_eq!(orphan("41 (unshare) Z 1 1 1 0"), None, "we started it in our group");
        assert_eq!(orphan("42 (chrome) Z 38 38 38 0"), None, "somebody else's child");
    }

    #[test]
    fn our_own_group_holds_something() {
        let own = measure(&[rustix::process::getpgrp()])[0];
        assert!(own.processes >= 1 && own.private_bytes > 4096, "{own:?}");
    }
}
