//! What a program is and what it may use.

use crate::account::Account;
use crate::layers::{Layer, Layers, MissingLayer};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A program to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Program {
    pub executable: PathBuf,
    pub arguments: Vec<String>,
    /// All of its environment: nothing is inherited.
    pub environment: Vec<(String, String)>,
    pub folder: PathBuf,
}

/// What a program may use. Nothing that is not named here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProgramPolicy {
    /// Files and folders that it may read and execute. Those that do not exist are passed over.
    pub readable: Vec<PathBuf>,
    /// Files and folders that it may also change. They are what `max_folder_bytes` counts.
    pub writable: Vec<PathBuf>,
    /// Devices that it may read and write.
    pub devices: Vec<PathBuf>,
    /// TCP ports that it may connect to, at any address.
    pub connect_ports: Vec<u16>,
    pub system_calls: SystemCallSet,
    /// The account to run under, for a server that runs as root; otherwise the account of the server.
    pub account: Option<Account>,
    pub limits: ProgramLimits,
    /// The folder of a control group that it is started in, and that is removed after it.
    pub control_group: Option<PathBuf>,
    /// Layers without which it is not started.
    pub required: Vec<Layer>,
}

/// The files, devices and ports that a program may use.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProgramAccess {
    /// Files and folders that it may read and execute. Those that do not exist are passed over.
    pub readable: Vec<PathBuf>,
    /// Files and folders that it may also change.
    pub writable: Vec<PathBuf>,
    /// Folders whose files it may read and write, but neither create, remove nor execute.
    pub existing: Vec<PathBuf>,
    /// Devices that it may read and write.
    pub devices: Vec<PathBuf>,
    /// TCP ports that it may connect to, at any address.
    pub connect_ports: Vec<u16>,
}

impl ProgramPolicy {
    pub(super) fn access(&self) -> ProgramAccess {
        ProgramAccess {
            readable: self.readable.clone(),
            writable: self.writable.clone(),
            existing: Vec::new(),
            devices: self.devices.clone(),
            connect_ports: self.connect_ports.clone(),
        }
    }
}

/// Which system calls a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SystemCallSet {
    /// What runtimes of languages and shells need; no sockets but connected pairs.
    NoSockets,
    /// All, for a program that makes its own filters.
    Unfiltered,
}

/// Limits of a program. `None` is no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProgramLimits {
    /// Processes and threads at the same time.
    pub max_processes: Option<u64>,
    /// Open descriptors of each process.
    pub max_open_files: Option<u64>,
    /// Bytes of each file that is written.
    pub max_file_bytes: Option<u64>,
    /// Writable private memory of each process.
    pub max_data_bytes: Option<u64>,
    /// CPU seconds of each process.
    pub max_cpu_seconds: Option<u64>,
    /// Memory of all processes together. Watched a few times a second, so it can be exceeded for a moment.
    pub max_memory_bytes: Option<u64>,
    /// Everything that is stored in the writable folders. Watched in the same way.
    pub max_folder_bytes: Option<u64>,
}

/// A limit of all processes together that was exceeded; the program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExceededLimit {
    Processes,
    Memory,
    Folder,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProgramEnd {
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub exceeded: Option<ExceededLimit>,
}

/// What the processes of a program are told before they start it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProgramSetup {
    pub(super) program: Program,
    pub(super) policy: ProgramPolicy,
    /// Whether the process also tries what is refused, and does not start the program.
    pub(super) verify: bool,
}

/// What a process reports before it becomes the program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StartReport {
    pub(super) layers: Layers,
    /// A required layer without which it does not start.
    pub(super) missing: Option<MissingLayer>,
    pub(super) error: Option<String>,
    /// Why it is not in its control group, although it has one.
    pub(super) outside_group: Option<String>,
}
