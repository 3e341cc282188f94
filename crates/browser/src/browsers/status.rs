//! State and counters of browsers, for metrics, for `doctor` and for tests.

use crate::error::VisitError;
use crate::process::Process;
use crate::process_group;
use crate::visit_result::Visited;
use parking_lot::{Mutex, MutexGuard};
use rustix::process::Pid;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ended browsers whose processes are still looked for.
const MAX_ENDED_PROCESSES: usize = 16;

/// State and counters of all browsers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Status {
    /// Running browsers, and all their processes.
    pub browsers: usize,
    pub processes: usize,
    /// Memory that these processes do not share.
    pub private_bytes: u64,
    /// Processes of browsers that should have ended.
    pub orphans: usize,
    /// Visits in progress.
    pub pages_open: usize,
    pub visits: u64,
    pub failures: u64,
    /// Visits that failed because the browser died.
    pub deaths: u64,
    /// Pages that crashed their renderer.
    pub crashes: u64,
    pub starts: u64,
}

#[derive(Default)]
pub(super) struct Counters {
    pub(super) visits: AtomicU64,
    failures: AtomicU64,
    deaths: AtomicU64,
    crashes: AtomicU64,
    pub(super) starts: AtomicU64,
    processes: Mutex<Vec<Process>>,
}

impl Counters {
    pub(super) fn started(&self, process: &Process) {
        self.starts.fetch_add(1, Ordering::Relaxed);
        let mut processes = self.list();
        let ended = processes.iter().filter(|process| process.is_gone()).count();
        if ended > MAX_ENDED_PROCESSES
            && let Some(oldest) = processes.iter().position(Process::is_gone)
        {
            processes.remove(oldest);
        }
        processes.push(process.clone());
    }

    pub(super) fn count_result(&self, outcome: &Result<Visited, VisitError>) {
        let Err(error) = outcome else { return };
        self.failures.fetch_add(1, Ordering::Relaxed);
        match error {
            VisitError::Died => _ = self.deaths.fetch_add(1, Ordering::Relaxed),
            VisitError::RendererCrashed => _ = self.crashes.fetch_add(1, Ordering::Relaxed),
            _ => {}
        }
    }

    /// Processes that may still run.
    pub(super) fn processes(&self) -> Vec<Process> {
        self.list().clone()
    }

    pub(super) fn snapshot(&self, pages_open: usize) -> Status {
        let mut status = Status {
            pages_open,
            visits: self.visits.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            deaths: self.deaths.load(Ordering::Relaxed),
            crashes: self.crashes.load(Ordering::Relaxed),
            starts: self.starts.load(Ordering::Relaxed),
            ..Status::default()
        };
        let processes = self.processes();
        let groups: Vec<Pid> = processes.iter().map(|process| process.group).collect();
        for (process, group) in processes.iter().zip(process_group::measure(&groups)) {
            if process.is_gone() {
                status.orphans += group.processes;
            } else {
                status.browsers += 1;
                status.processes += group.processes;
                status.private_bytes += group.private_bytes;
            }
        }
        status
    }

    fn list(&self) -> MutexGuard<'_, Vec<Process>> {
        self.processes.lock()
    }
}
