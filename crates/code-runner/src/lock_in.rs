//! What users' code may use, as a policy for the sandbox.

use crate::error::RunnerError;
use crate::folder::SessionFolder;
use crate::runtimes::Runtime;
use futures_util::future::BoxFuture;
use sandbox::{
    Account, HARMLESS_DEVICES, Layer, Layers, ProgramLimits, ProgramPolicy, SYSTEM_FILES, SystemCallSet,
    probe_program,
};
use std::path::PathBuf;

/// What runtimes read besides the files that every program needs. Of `/proc/self` only what tells of the process alone:
/// there are also the connections, mounts and control groups of the machine.
const MORE_READABLE: [&str; 11] = [
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self/cmdline",
    "/proc/self/comm",
    "/proc/self/fd",
    "/proc/self/limits",
    "/proc/self/maps",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/status",
    "/proc/sys/vm/overcommit_memory",
];

/// The limits of each process of users' code. V8 reserves far more address space than it uses, so what is limited is
/// memory that can be written to.
pub const CODE_LIMITS: ProgramLimits = ProgramLimits {
    max_processes: Some(64),
    max_open_files: Some(256),
    max_file_bytes: Some(100 * 1024 * 1024),
    max_data_bytes: Some(1024 * 1024 * 1024),
    max_cpu_seconds: Some(3600),
    max_memory_bytes: Some(1024 * 1024 * 1024),
    max_folder_bytes: Some(1024 * 1024 * 1024),
};

/// Whether code is run where it cannot be locked in: the setting `interact_code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockIn {
    /// Code runs only where the kernel restricts files and system calls.
    #[default]
    Required,
    /// Code also runs with what the kernel offers.
    Unlocked,
}

/// What a process may use that runs code with this runtime.
pub(crate) fn policy(
    runtime: &Runtime,
    folder: &SessionFolder,
    more_readable: &[PathBuf],
    account: Option<Account>,
    lock_in: LockIn,
) -> ProgramPolicy {
    let mut policy = base_policy(account, lock_in);
    policy.readable.extend(runtime.readable.iter().chain(more_readable).cloned());
    policy.readable.push(folder.programs().to_owned());
    policy.writable.push(folder.home().to_owned());
    policy
}

fn base_policy(account: Option<Account>, lock_in: LockIn) -> ProgramPolicy {
    ProgramPolicy {
        readable: SYSTEM_FILES.iter().chain(&MORE_READABLE).map(PathBuf::from).collect(),
        writable: Vec::new(),
        devices: HARMLESS_DEVICES.map(PathBuf::from).into(),
        connect_ports: Vec::new(),
        system_calls: SystemCallSet::NoSockets,
        account,
        limits: CODE_LIMITS,
        control_group: None,
        required: match lock_in {
            LockIn::Required => vec![Layer::Files, Layer::SystemCalls, Layer::Privileges],
            LockIn::Unlocked => Vec::new(),
        },
    }
}

/// Finds out which rights can be taken away from code on this machine, by trying.
pub fn probe() -> BoxFuture<'static, Result<Layers, RunnerError>> {
    Box::pin(async move {
        let policy = base_policy(None, LockIn::Unlocked);
        probe_program(&policy).await.map_err(|error| RunnerError::NotLockedIn(error.to_string()))
    })
}
