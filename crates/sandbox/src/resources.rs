//! Limits that the kernel keeps on what a process uses.

use rustix::io;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// What a sandboxed process may use. Files, network and other processes it may never use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Address space, the program's own code included.
    pub max_memory_bytes: u64,
    /// Descriptors that are open at the same time.
    pub max_open_files: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self { max_memory_bytes: 1024 * 1024 * 1024, max_open_files: 32 }
    }
}

/// Limits the calling process. CPU time is limited for each job by the server, see `process`.
pub(crate) fn limit_resources(policy: &Policy) -> io::Result<()> {
    set_limit(Resource::As, policy.max_memory_bytes)?;
    set_limit(Resource::Nofile, policy.max_open_files)?;
    // No file may grow, and a crash leaves no copy of the memory, which holds the caller's document.
    set_limit(Resource::Fsize, 0)?;
    set_limit(Resource::Core, 0)?;
    set_limit(Resource::Memlock, 0)?;
    set_limit(Resource::Msgqueue, 0)
}

fn set_limit(resource: Resource, value: u64) -> io::Result<()> {
    setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })
}
