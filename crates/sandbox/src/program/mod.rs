//! Other programs under the layers of this crate: the runtimes of users' code, a browser.
//!
//! Three processes: the server ([`RunningProgram`]), a supervisor of our own binary (`supervise`), and the program.
//! The supervisor starts our binary once more, which restricts itself and becomes the program (`restrict_and_exec`).
//! It inherits whatever the program leaves in the background, watches what all of it uses together, and ends all of
//! it when the program ends, when a limit is exceeded, when the server asks for it, and when the server is killed.
//!
//! What a browser needs: its own sandbox makes namespaces and filters, so [`SystemCallSet::Unfiltered`]; readable
//! `/usr`, `/lib`, `/lib64`, `/bin`, `/etc/fonts`, `/etc/ssl`, `/etc/chromium*`, `/etc/ld.so.cache`, `/proc`, `/sys`;
//! writable its profile, `/dev/shm` and `/dev/null`; `connect_ports` with the port of the proxy; no limit on
//! processes; `HOME`, `TMPDIR` and `XDG_*` inside the profile.

mod access;
mod call_lists;
mod exec;
mod launch;
mod limits;
mod policy;
mod supervise;
mod system_calls;
mod usage;

pub(crate) use exec::{EXEC_ROLE, restrict_and_exec};
pub use launch::{ProgramDescriptors, RunningProgram, probe_program};
pub use policy::{ExceededLimit, Program, ProgramEnd, ProgramLimits, ProgramPolicy, SystemCallSet};
pub(crate) use supervise::{SUPERVISE_ROLE, supervise};
