//! Where this process may make control groups: in its own group, if nobody else is in it, or in one above that gives
//! the limits of memory and processes to its children already.

use crate::process_tree::descendants;
use rustix::fs::{Access, access};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The limits that groups need.
pub(super) const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// What gives them to the children of a group.
pub(super) const ENABLE: &str = "+memory +pids";
/// The group that this process moves into: a group with limits for its children has no processes of its own.
const OWN_PROCESSES: &str = "gannet-main";
/// Processes may be started while others are moved.
const MAX_MOVES: usize = 3;

/// A group in which this process may make others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) parent: PathBuf,
    /// Whether our processes have to leave it first.
    is_own: bool,
    /// Whether its children have the limits already.
    gives_limits: bool,
}

/// What the kernel says about this process, and which processes are ours.
pub(super) struct Found {
    mounts: String,
    groups: String,
    own: BTreeSet<u32>,
}

impl Found {
    pub(super) fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let own = std::process::id();
        Self {
            mounts: text("/proc/self/mountinfo"),
            groups: text("/proc/self/cgroup"),
            own: descendants(own).into_iter().chain([own]).collect(),
        }
    }

    #[cfg(test)]
    pub(super) fn fake(mount: &Path, group: &str) -> Self {
        let mounts = format!("30 24 0:26 / {} rw - cgroup2 cgroup2 rw\n", mount.display());
        Self { mounts, groups: format!("0::{group}\n"), own: BTreeSet::from([std::process::id()]) }
    }
}

/// Looks for a place and changes nothing. The reason where there is none is a part of a sentence.
pub(super) fn find_place(found: &Found) -> Result<Place, String> {
    let (mount, own) = own_group(found)?;
    if !gives(&own, "cgroup.controllers") && !gives(&mount, "cgroup.controllers") {
        return Err(format!(
            "the control groups at {} have no limits of memory and processes (cgroup v1 has them, or nothing)",
            mount.display()
        ));
    }
    let is_alone = processes(&own).is_some_and(|all| all.iter().all(|number| found.own.contains(number)));
    if is_alone && gives(&own, "cgroup.controllers") && is_writable(&own) {
        let gives_limits = gives(&own, "cgroup.subtree_control");
        return Ok(Place { parent: own, is_own: true, gives_limits });
    }
    for group in own.ancestors().take_while(|group| group.starts_with(&mount)) {
        let gives_limits = gives(group, "cgroup.subtree_control");
        // The first of all groups may have processes and children with limits. No file tells of its events.
        let is_first = group == mount && !group.join("cgroup.events").exists();
        if (gives_limits || is_first) && is_writable(group) {
            return Ok(Place { parent: group.to_owned(), is_own: false, gives_limits });
        }
    }
    let why = if is_writable(&own) {
        "other processes are in the group of this one"
    } else {
        "it is not given to this account, or not to be written to"
    };
    Err(format!("no control group can be made in {}: {why}", own.display()))
}

impl Place {
    /// Makes it give the limits to groups that are made in it.
    pub(super) fn prepare(&self) -> Result<(), String> {
        if self.is_own {
            let inner = self.parent.join(OWN_PROCESSES);
            if let Err(error) = fs::create_dir(&inner)
                && error.kind() != std::io::ErrorKind::AlreadyExists
            {
                return Err(format!("{}: {error}", inner.display()));
            }
            for _ in 0..MAX_MOVES {
                let left = processes(&self.parent).unwrap_or_default();
                if left.is_empty() {
                    break;
                }
                for number in left {
                    // It may have ended meanwhile.
                    let _ = super::set(&inner, "cgroup.procs", &number.to_string());
                }
            }
        }
        if self.is_own || !self.gives_limits {
            // Not every machine lets processors be shared out; the other limits do not need it.
            let _ = super::set(&self.parent, "cgroup.subtree_control", "+cpu");
            super::set(&self.parent, "cgroup.subtree_control", ENABLE).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// The mount point of the second version of control groups, and the group of this process in it.
fn own_group(found: &Found) -> Result<(PathBuf, PathBuf), String> {
    let none = || "this machine has no control groups of version 2".to_owned();
    let (root, mount) = found.mounts.lines().find_map(parse_mount).ok_or_else(none)?;
    let path = found.groups.lines().find_map(|line| line.strip_prefix("0::")).ok_or_else(none)?;
    let path = Path::new(path);
    let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let inner = path.strip_prefix(root).ok().filter(|_| is_plain);
    let inner =
        inner.ok_or_else(|| format!("the group of this process ({}) is not shown", path.display()))?;
    Ok((mount.into(), Path::new(mount).join(inner)))
}

/// The root and the mount point of a line about control groups of version 2.
fn parse_mount(line: &str) -> Option<(&str, &str)> {
    let (mounted, kind) = line.split_once(" - ")?;
    let mut words = mounted.split(' ').skip(3);
    let found = (words.next()?, words.next()?);
    kind.starts_with("cgroup2 ").then_some(found)
}

/// Whether this file of a group names all limits that are needed.
fn gives(group: &Path, file: &str) -> bool {
    let text = fs::read_to_string(group.join(file)).unwrap_or_default();
    CONTROLLERS.iter().all(|wanted| text.split_ascii_whitespace().any(|word| word == *wanted))
}

/// The processes of a group; 0 is one of another name space. `None` where they are not shown.
fn processes(group: &Path) -> Option<Vec<u32>> {
    let text = fs::read_to_string(group.join("cgroup.procs")).ok()?;
    text.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
}

fn is_writable(group: &Path) -> bool {
    let files = ["", "cgroup.procs", "cgroup.subtree_control"].map(|name| group.join(name));
    files.iter().all(|path| access(path, Access::WRITE_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(path: &Path, processes: &str, controllers: &str, given: &str) {
        fs::create_dir_all(path).unwrap();
        for (name, text) in [
            ("cgroup.procs", processes),
            ("cgroup.controllers", controllers),
            ("cgroup.subtree_control", given),
            ("cgroup.events", "populated 1\n"),
        ] {
            fs::write(path.join(name), text).unwrap();
        }
    }

    #[test]
    fn a_group_of_our_own_is_taken_and_one_with_others_is_not() {
        let root = tempfile::tempdir().unwrap();
        let (slice, own) = (root.path().join("some.slice"), root.path().join("some.slice/gannet.service"));
        let both = "cpu memory pids\n";
        group(root.path(), "", both, "");
        group(&slice, "", both, "cpu\n");
        let number = std::process::id();
        group(&own, &format!("{number}\n"), both, "");
        let found = Found::fake(root.path(), "/some.slice/gannet.service");
        let place = find_place(&found).unwrap();
        assert_eq!(place, Place { parent: own.clone(), is_own: true, gives_limits: false });
        place.prepare().unwrap();
        let moved = fs::read_to_string(own.join("gannet-main/cgroup.procs")).unwrap();
        assert_eq!(moved, number.to_string());
        assert_eq!(fs::read_to_string(own.join("cgroup.subtree_control")).unwrap(), ENABLE);

        // With somebody else in it, a group above is taken if it gives limits already.
        group(&own, &format!("1\n{number}\n"), both, "");
        assert!(find_place(&found).unwrap_err().contains("other processes are in the group"));
        group(&slice, "", both, both);
        let place = find_place(&found).unwrap();
        assert_eq!(place, Place { parent: slice, is_own: false, gives_limits: true });
        place.prepare().unwrap();
        assert_eq!(fs::read_to_string(own.join("cgroup.subtree_control")).unwrap(), "", "ours is untouched");
    }

    #[test]
    fn the_first_group_of_a_machine_is_taken_as_it_is() {
        let root = tempfile::tempdir().unwrap();
        group(root.path(), "1\n2\n", "memory pids\n", "");
        fs::remove_file(root.path().join("cgroup.events")).unwrap();
        let place = find_place(&Found::fake(root.path(), "/")).unwrap();
        assert_eq!(place, Place { parent: root.path().into(), is_own: false, gives_limits: false });
        place.prepare().unwrap();
        assert_eq!(fs::read_to_string(root.path().join("cgroup.subtree_control")).unwrap(), ENABLE);
    }

    #[test]
    fn where_no_group_can_be_made_the_reason_is_said() {
        let root = tempfile::tempdir().unwrap();
        group(root.path(), "1\n", "hugetlb\n", "");
        let reason = |found: &Found| find_place(found).unwrap_err();
        assert!(reason(&Found::fake(root.path(), "/")).contains("no limits of memory and processes"));
        let none = Found { mounts: String::new(), ..Found::fake(root.path(), "/") };
        assert!(reason(&none).contains("no control groups of version 2"));
        let outside = Found::fake(root.path(), "/../other");
        assert!(reason(&outside).contains("is not shown"));
        assert_eq!(parse_mount("30 24 0:26 /a /b rw shared:4 - cgroup2 x rw"), Some(("/a", "/b")));
        assert_eq!(parse_mount("30 24 0:26 /a /b rw - tmpfs x rw"), None);
    }
}
