//! Processes of our own binary that give up their rights before they read an untrusted byte.
//!
//! The server starts itself again ([`ProcessPool`]), the new process takes away its own rights ([`Policy`]),
//! and then works on one job at a time ([`Job`]): a descriptor to read from, and a few bytes of options. A
//! crash, an endless loop or a memory bomb costs the job that caused it, as a typed [`JobError`] inside its
//! time limit, and nothing else.
//!
//! A pool can also start another program of ours ([`Executable`]), under the same layers.
//!
//! The binary calls [`run_if_sandboxed`] first of all in `main`: a process cannot take rights away from
//! threads that run already. What this machine can take away is found out by [`probe`].
//!
//! Other programs, such as the runtimes of users' code or a browser, run under the same layers: our binary starts
//! itself, restricts itself and then becomes that program ([`RunningProgram`], [`ProgramPolicy`]).
//!
//! It never parses anything and knows no file format; those who call it bring the code that does.

mod account;
mod child;
mod connection;
mod control_groups;
mod error;
mod executable;
mod frame;
mod landlock_rules;
mod layers;
mod pool;
mod process;
mod process_tree;
mod program;
mod resources;
mod restrict;
mod spawn;
mod stderr;
mod system_calls;
mod system_files;

pub use account::{Account, accounts};
pub use child::{Handler, ReceivedJob, run_if_sandboxed};
pub use control_groups::{
    ControlGroup, ControlGroups, GroupLimits, control_groups, describe_control_groups, lies_in_memory,
    remove_control_groups,
};
pub use error::{JobError, ProgramError, StartError};
pub use executable::Executable;
pub use layers::{Layer, Layers, MissingLayer};
pub use pool::{Job, PoolOptions, ProcessPool, bytes_as_input};
pub use process::probe;
pub use program::{
    ExceededLimit, Program, ProgramAccess, ProgramDescriptors, ProgramEnd, ProgramLimits, ProgramPolicy,
    ProgramRules, RunningProgram, SystemCallSet, folder_bytes, probe_landlock, probe_program,
    program_filters, restricted_command,
};
pub use resources::Policy;
pub use system_calls::reader_filters;
pub use system_files::{HARMLESS_DEVICES, SYSTEM_FILES};
