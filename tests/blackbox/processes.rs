//! Processes of this machine, read from `/proc`: a server and everything it started.

use std::fs;
use std::time::{Duration, Instant};

/// A process, told from a later one of the same number by when it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    parent: u32,
    began: u64,
    name: String,
    zombie: bool,
}

impl Process {
    fn find(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (head, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            began: fields.get(19)?.parse().ok()?,
            name: head.split_once('(')?.1.to_owned(),
            zombie: *fields.first()? == "Z",
        })
    }

    pub fn is_chromium(&self) -> bool {
        self.name.starts_with("chrom")
    }

    pub fn is_zombie(&self) -> bool {
        self.zombie
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn lives(&self) -> bool {
        Self::find(self.pid).is_some_and(|now| now.began == self.began && !now.zombie)
    }

    /// Memory of its own. What it shares with strangers, such as the text of a program, is left out: it would change whenever
    /// another test starts the same program.
    pub fn memory_kb(&self) -> u64 {
        let text = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", self.pid)).unwrap_or_default();
        let sum = |text: &str, names: &[&str]| {
            let values =
                text.lines().filter_map(|line| names.iter().find_map(|name| line.strip_prefix(name)));
            values.filter_map(|value| value.trim().trim_end_matches(" kB").parse::<u64>().ok()).sum()
        };
        // The first divides pages among those who share them, but is closed for sandboxed processes of other users.
        match sum(&text("smaps_rollup"), &["Pss_Anon:", "Pss_Shmem:"]) {
            0 => sum(&text("status"), &["RssAnon:", "RssShmem:"]),
            memory => memory,
        }
    }

    pub fn handles(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid)).map_or(0, Iterator::count)
    }
}

/// A process and everything below it.
pub fn tree(root: u32) -> Vec<Process> {
    let pids = fs::read_dir("/proc").expect("/proc").flatten();
    let all: Vec<Process> =
        pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(Process::find).collect();
    let mut found: Vec<Process> = all.iter().filter(|process| process.pid == root).cloned().collect();
    let mut at = 0;
    while at < found.len() {
        let parent = found[at].pid;
        found.extend(all.iter().filter(|process| process.parent == parent).cloned());
        at += 1;
    }
    found
}

/// Waits until none of these processes lives.
#[track_caller]
pub fn all_gone(processes: &[Process], patience: Duration) {
    let end = Instant::now() + patience;
    loop {
        let living: Vec<_> = processes.iter().filter(|process| process.lives()).collect();
        if living.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "still there: {living:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
