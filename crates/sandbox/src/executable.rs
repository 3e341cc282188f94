//! Which program of ours a sandboxed process runs: the one that is running, or another one of the same kind.
//! Owns how it is started, never what it does.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

/// The program that is running, also after the file was replaced by a newer version.
const OWN_PROGRAM: &str = "/proc/self/exe";
const OWN_NAME: &str = "gannet";

/// A program that calls [`crate::run_if_sandboxed`] first of all in `main`. The default is the one that is
/// running.
#[derive(Debug, Clone, Default)]
pub struct Executable(Option<Arc<OpenProgram>>);

#[derive(Debug)]
struct OpenProgram {
    /// Started by this descriptor and not by its path: every process then runs what was opened, also after an
    /// upgrade has replaced the file under a running server.
    file: File,
    /// How the program is shown among processes.
    name: String,
}

impl Executable {
    /// Another program than the one that is running. It must be a binary, not a script.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self(Some(Arc::new(OpenProgram { file, name }))))
    }

    /// Runs it without a sandbox and without the variables of this process, to ask it about itself, and waits
    /// for its end.
    pub fn run(&self, arguments: &[&OsStr]) -> io::Result<Output> {
        self.command().args(arguments).env_clear().stdin(Stdio::null()).output()
    }

    /// A command that starts it, which may only be used while this executable is held.
    pub(crate) fn command(&self) -> Command {
        let (program, name) = match &self.0 {
            None => (OWN_PROGRAM.to_owned(), OWN_NAME),
            Some(open) => (format!("/proc/self/fd/{}", open.file.as_raw_fd()), open.name.as_str()),
        };
        let mut command = Command::new(program);
        command.arg0(name);
        command
    }
}
