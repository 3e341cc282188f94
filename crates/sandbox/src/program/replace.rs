//! A program that is restricted by Landlock alone and has no supervisor: our binary is started in its place, restricts itself
//! and becomes it, so that the process that was started is the program. Everything else (account, folder, environment,
//! descriptors, process group) is what the caller sets on the command.

use super::access::restrict_access;
use super::policy::ProgramAccess;
use crate::executable::Executable;
use crate::landlock_rules::deny_files_tcp_and_signals;
use crate::layers::{Layer, Layers};
use crate::process::COMMAND;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

pub(crate) const REPLACE_ROLE: &str = "replace";

/// A command that becomes `program` with the arguments that are added to it, and opens no other files than `access` names.
/// It fails where the kernel cannot restrict files: ask [`probe_landlock`] before. Only for a binary whose `main` calls
/// [`crate::run_if_sandboxed`].
pub fn restricted_command(access: &ProgramAccess, program: &Path) -> io::Result<Command> {
    let mut command = Executable::default().command();
    command.args([COMMAND, REPLACE_ROLE]).arg(serde_json::to_string(access)?).arg(program);
    Ok(command)
}

/// What Landlock can take away on this machine, found out in a thread that ends with it.
pub fn probe_landlock() -> Layers {
    let probing = std::thread::spawn(|| {
        let mut layers = Layers::default();
        deny_files_tcp_and_signals(&mut layers);
        layers
    });
    probing.join().unwrap_or_else(|_| {
        let mut layers = Layers::default();
        layers.add_missing(Layer::Files, "Landlock could not be tried");
        layers
    })
}

/// Restricts itself as its first argument says and becomes the program of its second, with the others as arguments. Returns
/// only when that failed.
pub(crate) fn restrict_and_replace(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let missing = || io::Error::other("an argument is missing");
    let access = arguments.next().ok_or_else(missing)?;
    let access: ProgramAccess = serde_json::from_slice(access.as_encoded_bytes())?;
    let program = arguments.next().ok_or_else(missing)?;
    let mut layers = Layers::default();
    restrict_access(&access, Path::new(&program), &mut layers);
    if let Some(missing) = layers.missing.iter().find(|missing| missing.layer == Layer::Files) {
        return Err(io::Error::other(missing.reason.clone()));
    }
    Err(Command::new(program).args(arguments).exec())
}
