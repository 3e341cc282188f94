//! Sandboxed processes that are kept ready, one job at a time in each.
//!
//! A process that has worked for an owner is used again for the same owner only: a file that takes over its
//! process must not see the files of others.

use crate::error::{JobError, StartError};
use crate::executable::Executable;
use crate::process::SandboxedProcess;
use crate::resources::Policy;
use futures_util::future::BoxFuture;
use rustix::fs::{FileType, MemfdFlags, OFlags, SealFlags};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

/// What the processes of a pool are for, and how many there are.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// The program that the processes run.
    pub executable: Executable,
    /// Chooses the handler in the process, see [`crate::run_if_sandboxed`].
    pub role: String,
    /// Given to the code that prepares the handler.
    pub arguments: Vec<String>,
    pub policy: Policy,
    /// Jobs at the same time; others wait, within their own time limits.
    pub max_jobs: usize,
    /// Processes that are started before a job needs them, and as many more that wait for the owner they have
    /// worked for.
    pub warm_processes: usize,
    /// A process ends after so many jobs, or when it occupies more memory than this after one.
    pub max_jobs_per_process: u32,
    pub max_idle_bytes: u64,
    pub max_output_bytes: usize,
}

impl PoolOptions {
    pub fn new(role: impl Into<String>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            executable: Executable::default(),
            role: role.into(),
            arguments: Vec::new(),
            policy: Policy::default(),
            max_jobs: cores,
            warm_processes: cores.min(2),
            max_jobs_per_process: 100,
            max_idle_bytes: 128 * 1024 * 1024,
            max_output_bytes: 128 * 1024 * 1024,
        }
    }
}

/// A piece of work for a sandboxed process.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Who may see what the process has seen: a team.
    pub owner: Uuid,
    /// A few bytes for the handler, a megabyte at most.
    pub options: &'a [u8],
    /// A regular file that is open for reading only, or [`bytes_as_input`].
    pub input: BorrowedFd<'a>,
    /// For everything: waiting for a free process, starting it, the work.
    pub time_limit: Duration,
}

/// A pool of sandboxed processes. Clones share it; its processes end with the last clone.
#[derive(Debug, Clone)]
pub struct ProcessPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: PoolOptions,
    slots: Semaphore,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    /// Have seen no job yet.
    fresh: Vec<SandboxedProcess>,
    /// The oldest first.
    used: VecDeque<(Uuid, SandboxedProcess)>,
    is_topping_up: bool,
}

impl ProcessPool {
    /// A pool whose first processes start when [`ProcessPool::warm_up`] or a job asks for them.
    pub fn new(options: PoolOptions) -> Self {
        let slots = Semaphore::new(options.max_jobs.clamp(1, Semaphore::MAX_PERMITS));
        Self(Arc::new(Shared { options, slots, idle: Mutex::default() }))
    }

    /// Starts processes in the background, up to the number that is kept ready.
    pub fn warm_up(&self) {
        let mut idle = self.0.idle();
        if !idle.is_topping_up && idle.fresh.len() < self.0.options.warm_processes {
            idle.is_topping_up = true;
            tokio::spawn(top_up(Arc::downgrade(&self.0)));
        }
    }

    /// Works on a job and returns its output. When the future is dropped, the process is killed.
    pub fn run<'a>(&'a self, job: Job<'a>) -> BoxFuture<'a, Result<Vec<u8>, JobError>> {
        Box::pin(async move {
            check_input(job.input).map_err(JobError::Input)?;
            let deadline = Instant::now() + job.time_limit;
            let expired = |_| JobError::TimedOut;
            // The semaphore is never closed.
            let _slot = timeout_at(deadline, self.0.slots.acquire()).await.map_err(expired)?;
            let mut process = match self.0.take_idle(job.owner) {
                Some(process) => process,
                None => timeout_at(deadline, self.0.start()).await.map_err(expired)??,
            };
            self.warm_up();
            let time_left = deadline.saturating_duration_since(Instant::now());
            let work = process.run(job.options, job.input, self.0.options.max_output_bytes, time_left);
            match timeout_at(deadline, work).await.unwrap_or(Err(JobError::TimedOut)) {
                Ok(output) => {
                    self.0.keep(job.owner, process);
                    Ok(output)
                }
                Err(error) => {
                    process.end().await;
                    Err(error)
                }
            }
        })
    }
}

impl Shared {
    async fn start(&self) -> Result<SandboxedProcess, StartError> {
        let PoolOptions { executable, role, policy, arguments, .. } = &self.options;
        SandboxedProcess::start(executable, role, policy, arguments).await
    }

    /// A process that waits: one that has worked for this owner, else a fresh one.
    fn take_idle(&self, owner: Uuid) -> Option<SandboxedProcess> {
        let mut idle = self.idle();
        while let Some(place) = idle.used.iter().position(|(of, _)| *of == owner) {
            if let Some((_, mut process)) = idle.used.remove(place)
                && process.is_waiting()
            {
                return Some(process);
            }
        }
        std::iter::from_fn(|| idle.fresh.pop())
            .find_map(|mut process| process.is_waiting().then_some(process))
    }

    /// Keeps a process for the next job of this owner, unless it is old or large. Then, and when another one
    /// has to go, it is killed by dropping it.
    fn keep(&self, owner: Uuid, process: SandboxedProcess) {
        let PoolOptions { max_jobs_per_process, max_idle_bytes, warm_processes, .. } = self.options;
        let is_small = process.resident_bytes().is_some_and(|bytes| bytes <= max_idle_bytes);
        if process.jobs >= max_jobs_per_process || !is_small || warm_processes == 0 {
            return;
        }
        let mut idle = self.idle();
        idle.used.push_back((owner, process));
        if idle.used.len() > warm_processes {
            idle.used.pop_front();
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts processes until enough are ready. It does not keep the pool alive.
async fn top_up(pool: Weak<Shared>) {
    loop {
        let Some(pool) = pool.upgrade() else { return };
        let started = pool.start().await;
        let mut idle = pool.idle();
        match started {
            Ok(process) => idle.fresh.push(process),
            Err(error) => {
                tracing::warn!(role = pool.options.role, %error, "no process is ready for the next job");
                idle.is_topping_up = false;
                return;
            }
        }
        if idle.fresh.len() >= pool.options.warm_processes {
            idle.is_topping_up = false;
            return;
        }
    }
}

/// Bytes as an input, in memory that cannot be changed any more.
pub fn bytes_as_input(bytes: &[u8]) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(rustix::fs::memfd_create(c"input", flags)?);
    file.write_all(bytes)?;
    let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, all)?;
    Ok(file)
}

/// Whoever gets a descriptor can do with it what it is open for.
fn check_input(input: BorrowedFd<'_>) -> io::Result<()> {
    let is_file = FileType::from_raw_mode(rustix::fs::fstat(input)?.st_mode) == FileType::RegularFile;
    let is_read_only = (rustix::fs::fcntl_getfl(input)? & OFlags::RWMODE) == OFlags::RDONLY;
    let is_sealed = || rustix::fs::fcntl_get_seals(input).is_ok_and(|seals| seals.contains(SealFlags::WRITE));
    if is_file && (is_read_only || is_sealed()) {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "it must be a regular file that is open for reading only",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;

    #[test]
    fn an_input_is_a_file_that_cannot_be_written() {
        let check = |file: &File| check_input(file.as_fd()).is_ok();
        let own = std::env::current_exe().expect("this program");
        assert!(check(&File::open(&own).expect("open")));
        assert!(check(&bytes_as_input(b"text").expect("memory")));
        let folder = File::open("/").expect("open");
        let unsealed = File::from(rustix::fs::memfd_create(c"x", MemfdFlags::CLOEXEC).expect("memory"));
        let device = File::open("/dev/null").expect("open");
        assert!(!check(&folder) && !check(&unsealed) && !check(&device));
        assert!((&bytes_as_input(b"text").expect("memory")).write_all(b"more").is_err(), "sealed");
    }
}
