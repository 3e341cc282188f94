//! Other programs under the layers of this crate: the runtimes of users' code, a browser.
//!
//! Three processes: the server ([`RunningProgram`]), a supervisor of our own binary (`supervise`), and the program.
//! The supervisor starts our binary once more, which restricts itself and becomes the program (`restrict_and_exec`).
//! It inherits whatever the program leaves in the background, watches what all of it uses together, and ends all of
//! it when the program ends, when a limit is exceeded, when the server asks for it, and when the server is killed.
//!
//! Where the kernel allows it the program is also in a control group (`control_groups`), whose limits nothing escapes.
//!
//! A program that whoever starts it watches and ends by itself, such as a browser, needs no supervisor: the process that
//! was started restricts its files and ports and becomes the program (`replace`, [`restricted_command`]).

mod access;
mod call_lists;
mod exec;
mod launch;
mod limits;
mod policy;
mod replace;
mod supervise;
mod system_calls;
mod usage;

pub(crate) use exec::{EXEC_ROLE, restrict_and_exec};
pub use launch::{ProgramDescriptors, RunningProgram, probe_program};
pub use policy::{
    ExceededLimit, Program, ProgramAccess, ProgramEnd, ProgramLimits, ProgramPolicy, SystemCallSet,
};
pub(crate) use replace::{REPLACE_ROLE, restrict_and_replace};
pub use replace::{probe_landlock, restricted_command};
pub(crate) use supervise::{SUPERVISE_ROLE, supervise};
pub use system_calls::{ProgramRules, program_filters};
pub use usage::folder_bytes;
