//! Control groups (cgroup v2): the kernel itself holds the memory and the number of processes of what is started in
//! one, and ends all of it at once. Where none can be made, the sums of a supervisor are all there is.
//!
//! A server has one group, which it keeps locked, so that groups left by a killed server can be told from those in use.
//! In it each holder (a session's code, a session's browser) has one, and in that the code has one for each program.

mod place;

use place::{CONTROLLERS, ENABLE, Found, find_place};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// The name of a server's group begins with this.
const PREFIX: &str = "gannet-groups-";
const MAX_NAME_ATTEMPTS: usize = 10;
/// Groups within groups: a server's, a holder's, a program's.
const MAX_DEPTH: usize = 3;
/// How long killed processes may take to leave their group.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(5);
/// What all holders together get of processors that the server wants too, which has 100.
const CPU_WEIGHT: &str = "50";
/// What `statfs` calls a file system in memory.
const TMPFS_MAGIC: i128 = 0x0102_1994;
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);

/// What everything in a group may use together. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupLimits {
    /// Memory of all kinds: also shared, of the kernel, and of files that lie in memory. Nothing is swapped out.
    pub max_memory_bytes: Option<u64>,
    /// Processes and threads.
    pub max_processes: Option<u64>,
}

/// The group of this server.
#[derive(Debug)]
pub struct ControlGroups {
    folder: PathBuf,
    /// Held as long as the group is in use.
    _lock: File,
    next: AtomicU64,
}

static OWN: OnceLock<Result<ControlGroups, String>> = OnceLock::new();

/// The groups of this process, which are made when this is called first: early in a server, because it may move itself
/// and what it has started into a group. The error is the reason why there are none, a part of a sentence.
pub fn control_groups() -> Result<&'static ControlGroups, &'static str> {
    let groups = OWN.get_or_init(|| ControlGroups::open(&Found::read()));
    groups.as_ref().map_err(String::as_str)
}

/// Whether a process like this one has control groups, for operators. Makes none.
pub fn describe_control_groups() -> Result<String, String> {
    let parent = match OWN.get() {
        Some(Ok(groups)) => groups.folder.parent().unwrap_or(&groups.folder).to_owned(),
        Some(Err(reason)) => return Err(reason.clone()),
        None => find_place(&Found::read())?.parent,
    };
    Ok(parent.display().to_string())
}

/// Whether files of a folder lie in memory, and so are memory of the group that writes them.
pub fn lies_in_memory(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|found| i128::from(found.f_type) == TMPFS_MAGIC)
}

/// Removes the group of this process, when nothing is started any more.
pub fn remove_control_groups() {
    if let Some(Ok(groups)) = OWN.get() {
        remove_group(&groups.folder, REMOVAL_TIMEOUT);
    }
}

impl ControlGroups {
    fn open(found: &Found) -> Result<Self, String> {
        let place = find_place(found)?;
        place.prepare()?;
        remove_stale(&place.parent);
        let failed = |error: io::Error| error.to_string();
        let (folder, lock) = create_locked(&place.parent).map_err(failed)?;
        let groups = Self { folder, _lock: lock, next: AtomicU64::new(1) };
        // Where processors are shared out: a page with hundreds of threads takes no more of them than a page with one.
        let _ = set(&groups.folder, "cpu.weight", CPU_WEIGHT);
        let usable = set(&groups.folder, "cgroup.subtree_control", ENABLE).and_then(|()| {
            // Tried with the first one, so that it is known whether it works.
            let limits = GroupLimits { max_memory_bytes: Some(1 << 20), max_processes: Some(1) };
            groups.create("trial", limits).map(drop)
        });
        if let Err(error) = usable {
            remove_group(&groups.folder, Duration::ZERO);
            return Err(error.to_string());
        }
        Ok(groups)
    }

    /// Makes a group with limits for a holder of this kind.
    pub fn create(&self, kind: &str, limits: GroupLimits) -> io::Result<ControlGroup> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let group = ControlGroup { folder: self.folder.join(format!("{kind}-{number}")) };
        create_folder(&group.folder)?;
        limits.set(&group.folder)?;
        Ok(group)
    }
}

impl GroupLimits {
    fn set(self, group: &Path) -> io::Result<()> {
        if let Some(bytes) = self.max_memory_bytes {
            set(group, "memory.max", &bytes.to_string())?;
            // A kernel without swap has no such file.
            let _ = set(group, "memory.swap.max", "0");
        }
        if let Some(processes) = self.max_processes {
            set(group, "pids.max", &processes.to_string())?;
        }
        Ok(())
    }
}

/// A group of one holder. Dropping it ends everything in it and removes it.
pub struct ControlGroup {
    folder: PathBuf,
}

impl ControlGroup {
    /// Makes a group for one program of the holder, with its own number of processes, and returns its folder for
    /// [`crate::ProgramPolicy`]. All programs together have the memory of the holder; one that takes the most when it
    /// is used up ends as a whole.
    pub fn create_for_program(&self, max_processes: Option<u64>) -> io::Result<PathBuf> {
        let given = fs::read_to_string(self.folder.join("cgroup.subtree_control")).unwrap_or_default();
        if !CONTROLLERS.iter().all(|name| given.contains(name)) {
            set(&self.folder, "cgroup.subtree_control", ENABLE)?;
        }
        let folder = self.folder.join(Uuid::new_v4().simple().to_string());
        create_folder(&folder)?;
        set(&folder, "memory.oom.group", "1")?;
        GroupLimits { max_processes, max_memory_bytes: None }.set(&folder)?;
        Ok(folder)
    }

    /// Moves a process that was started just now, and what it starts from now on.
    pub fn add_process(&self, number: u32) -> io::Result<()> {
        add_process(&self.folder, number)
    }

    /// Ends all processes in it.
    pub fn kill(&self) {
        kill_group(&self.folder);
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        if remove_group(&self.folder, Duration::ZERO) {
            return;
        }
        let folder = self.folder.clone();
        let removal = move || {
            if !remove_group(&folder, REMOVAL_TIMEOUT) {
                tracing::warn!(folder = %folder.display(), "could not remove a control group");
            }
        };
        let _ = std::thread::Builder::new().name("control-group".into()).spawn(removal);
    }
}

impl fmt::Debug for ControlGroup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("ControlGroup").field(&self.folder).finish()
    }
}

/// Moves a process into the group with this folder.
pub(crate) fn add_process(group: &Path, number: u32) -> io::Result<()> {
    set(group, "cgroup.procs", &number.to_string())
}

/// Ends all processes of a group and of those in it. Nothing where the kernel cannot (before Linux 5.14).
pub(crate) fn kill_group(group: &Path) {
    if group.join("cgroup.kill").exists() {
        let _ = set(group, "cgroup.kill", "1");
    }
}

/// Whether the kernel has ended processes of a program because the memory of its holder was used up.
pub(crate) fn was_out_of_memory(program: &Path) -> bool {
    let count = |group: &Path, name: &str| -> u64 {
        let text = fs::read_to_string(group.join("memory.events")).unwrap_or_default();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
    };
    // When the whole machine has no memory left, the group has not reached its limit.
    count(program, "oom_kill") > 0 && program.parent().is_some_and(|holder| count(holder, "oom") > 0)
}

/// Removes the groups above that of a program whose server is gone, if nothing else is in them.
pub(crate) fn remove_groups_above(program: &Path) {
    for group in program.ancestors().skip(1).take(MAX_DEPTH - 1) {
        let _ = fs::remove_dir(group);
    }
}

/// Ends what is in a group and removes it with the groups in it, as long as `patience` allows. Whether nothing is left.
pub(crate) fn remove_group(group: &Path, patience: Duration) -> bool {
    let start = Instant::now();
    loop {
        kill_group(group);
        if remove_folders(group) {
            return true;
        }
        if start.elapsed() >= patience {
            return false;
        }
        std::thread::sleep(REMOVAL_PAUSE);
    }
}

/// Removes the folders of empty groups, the innermost first.
fn remove_folders(group: &Path) -> bool {
    let mut levels = vec![vec![group.to_owned()]];
    for depth in 1..=MAX_DEPTH {
        let inner: Vec<PathBuf> = levels[depth - 1].iter().flat_map(|folder| folders_in(folder)).collect();
        levels.push(inner);
    }
    for folder in levels.iter().rev().flatten() {
        let _ = fs::remove_dir(folder);
    }
    !group.exists()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Ends and removes what killed servers left.
fn remove_stale(parent: &Path) {
    let is_ours = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX))
    };
    for group in folders_in(parent).into_iter().filter(is_ours) {
        // The lock of a server that runs is held.
        let Ok(lock) = File::open(&group) else { continue };
        if lock.try_lock().is_ok() && remove_group(&group, REMOVAL_TIMEOUT) {
            tracing::info!(group = %group.display(), "removed a control group left by a killed server");
        }
    }
}

/// A new group of a server, locked.
fn create_locked(parent: &Path) -> io::Result<(PathBuf, File)> {
    let mut outcome = Err(io::Error::other("no name is free"));
    for _ in 0..MAX_NAME_ATTEMPTS {
        let folder = parent.join(format!("{PREFIX}{}", Uuid::new_v4().simple()));
        create_folder(&folder)?;
        // Until it is locked another server may take it for one that was left, and remove it.
        let locked = File::open(&folder).and_then(|lock| lock.try_lock().map(|()| lock).map_err(Into::into));
        match locked {
            Ok(lock) if folder.exists() => return Ok((folder, lock)),
            Ok(_) => {}
            Err(error) => outcome = Err(error),
        }
    }
    outcome
}

fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder).map_err(|error| with_path(folder, &error))
}

/// Writes a value to a file of a group.
fn set(group: &Path, file: &str, value: &str) -> io::Result<()> {
    let path = group.join(file);
    fs::write(&path, value).map_err(|error| with_path(&path, &error))
}

fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: GroupLimits = GroupLimits { max_memory_bytes: Some(1 << 30), max_processes: None };

    /// A folder that looks like the control groups of a machine.
    fn fake_root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in
            [("cgroup.procs", "1\n"), ("cgroup.controllers", "memory pids"), ("cgroup.subtree_control", "")]
        {
            fs::write(root.path().join(name), text).unwrap();
        }
        root
    }

    #[test]
    fn a_holder_has_the_memory_and_each_program_its_processes() {
        let root = fake_root();
        let groups = ControlGroups::open(&Found::fake(root.path(), "/")).unwrap();
        let holder = groups.create("code", LIMITS).unwrap();
        let value = |folder: &Path, file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
        assert_eq!(value(&holder.folder, "memory.max"), "1073741824");
        assert_eq!(value(&holder.folder, "memory.swap.max"), "0");
        assert_eq!(value(&groups.folder, "cpu.weight"), CPU_WEIGHT, "the server comes before all of them");
        assert_eq!(value(&holder.folder, "pids.max"), "");
        let programs = [(); 2].map(|()| holder.create_for_program(Some(64)).unwrap());
        assert_eq!(value(&holder.folder, "cgroup.subtree_control"), ENABLE);
        for program in &programs {
            assert_eq!(
                (value(program, "pids.max"), value(program, "memory.oom.group")),
                ("64".into(), "1".into())
            );
        }
        add_process(&programs[0], 4711).unwrap();
        assert_eq!(value(&programs[0], "cgroup.procs"), "4711");
        assert!(!was_out_of_memory(&programs[0]));
        fs::write(programs[0].join("memory.events"), "oom 0\noom_kill 3\n").unwrap();
        assert!(!was_out_of_memory(&programs[0]), "the machine had no memory left");
        fs::write(holder.folder.join("memory.events"), "max 9\noom 1\noom_kill 3\n").unwrap();
        assert!(was_out_of_memory(&programs[0]) && !was_out_of_memory(&programs[1]));
    }

    #[test]
    fn groups_of_killed_servers_are_removed_and_those_in_use_are_not() {
        let root = fake_root();
        let folder = |name: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let left = folder("gannet-groups-left/code-1/program");
        let used = folder("gannet-groups-used/code-1/program");
        let other = folder("other.slice/inner");
        let held = File::open(root.path().join("gannet-groups-used")).unwrap();
        held.try_lock().unwrap();
        let own = ControlGroups::open(&Found::fake(root.path(), "/")).unwrap();
        assert!(!left.exists() && !root.path().join("gannet-groups-left").exists());
        assert!(used.exists() && other.exists());
        // The next server leaves ours alone.
        remove_stale(root.path());
        assert!(own.folder.exists());
        drop(held);
        remove_stale(root.path());
        assert!(!used.exists());
    }

    #[test]
    fn the_last_program_of_a_killed_server_removes_what_is_empty() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| root.path().join(name);
        fs::create_dir_all(folder("server/one/program")).unwrap();
        fs::create_dir_all(folder("server/two/program")).unwrap();
        for (name, left) in [("one", true), ("two", false)] {
            let program = folder(&format!("server/{name}/program"));
            assert!(remove_group(&program, Duration::ZERO));
            remove_groups_above(&program);
            assert_eq!(
                (folder(&format!("server/{name}")).exists(), folder("server").exists()),
                (false, left)
            );
        }
        assert!(root.path().exists());
    }
}
