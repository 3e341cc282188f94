//! Runs users' code beside a browser session: Node and Python with Playwright, and bash.
//!
//! A session has [`Runners`]: for each language one process that is started with the first call and kept, so that
//! variables survive from call to call. The process has no network, sees no file but its runtime and its own folder,
//! and has no secret in its environment (`lock_in`). It reaches the browser by an inherited descriptor ([`CdpPort`]).
//! What runs in it is a small driver of ours (`drivers`), which evaluates the code of each call.
//!
//! It knows nothing of HTTP, of sessions or of browsers: those who call it bring the browser's messages.

mod account;
mod cdp;
mod control_group;
mod driver_response;
mod error;
mod folder;
mod language;
mod lock_in;
mod output;
mod repl;
mod runners;
mod runtimes;
mod shell_line;
mod trial;

pub use account::CodeUser;
pub use cdp::{CdpPort, OpenCdp};
pub use error::RunnerError;
pub use folder::{BrowserCommands, SessionFolder};
pub use language::Language;
pub use lock_in::{CODE_LIMITS, LockIn, probe};
pub use output::CodeOutput;
pub use runners::{Runners, RunnersOptions};
pub use runtimes::{Runtime, RuntimeSettings, Runtimes};
