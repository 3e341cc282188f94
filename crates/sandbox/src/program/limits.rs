//! The limits of a program that the kernel keeps.

use super::policy::ProgramLimits;
use super::usage::count_tasks_of_own_account;
use rustix::io;
use rustix::process::{Resource, Rlimit, getrlimit, nice, setrlimit};

/// Programs give way to the server when both want the processor.
const NICENESS: i32 = 5;
/// When memory runs out the kernel ends the process with the highest value first.
const OUT_OF_MEMORY_SCORE: &str = "1000";

/// Limits the calling process and whatever it starts.
pub(super) fn limit_program(limits: &ProgramLimits) -> io::Result<()> {
    let _ = nice(NICENESS);
    // Not every container shows the file as writable; the other limits hold without it.
    let _ = std::fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_SCORE);
    // The kernel counts all tasks of the account, so those of others are added to the limit.
    let processes = limits.max_processes.map(|max| max.saturating_add(count_tasks_of_own_account()));
    for (resource, limit) in [
        (Resource::Nproc, processes),
        (Resource::Nofile, limits.max_open_files),
        (Resource::Fsize, limits.max_file_bytes),
        (Resource::Data, limits.max_data_bytes),
        (Resource::Cpu, limits.max_cpu_seconds),
        (Resource::Core, Some(0)),
    ] {
        let Some(limit) = limit else { continue };
        // A limit that is there already may be lower and is never raised.
        let value = getrlimit(resource).maximum.map_or(limit, |maximum| maximum.min(limit));
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })?;
    }
    Ok(())
}
