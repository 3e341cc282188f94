//! The process that restricts itself and then becomes the program.

use super::access::restrict_access;
use super::limits::limit_program;
use super::policy::{ProgramPolicy, ProgramSetup, StartReport, SystemCallSet};
use super::system_calls::{ProgramRules, deny_others};
use crate::connection::{Frame, ServerConnection};
use crate::frame::FrameKind;
use crate::layers::{Layer, Layers, MissingLayer};
use crate::restrict::{
    close_inherited_descriptors, drop_privileges, end_with_parent, verify, verify_landlock,
};
use command_fds::{CommandFdExt as _, FdMapping};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use rustix::process::setsid;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, parent_id};
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) const EXEC_ROLE: &str = "exec";

/// Receives its setup and descriptors from the supervisor, gives up its rights and becomes the program. Returns only
/// when that failed.
pub(crate) fn restrict_and_exec() -> io::Result<()> {
    close_inherited_descriptors();
    let mut connection = ServerConnection::from_stdin()?;
    let Some(frame) = connection.receive(FrameKind::Setup)? else { return Ok(()) };
    let mut stream = connection.into_stream();
    // Nobody reads what this process writes elsewhere.
    become_program(frame, &mut stream).or_else(|error| {
        report(&mut stream, &StartReport { error: Some(error.to_string()), ..StartReport::default() })
    })
}

fn become_program(frame: Frame, stream: &mut UnixStream) -> io::Result<()> {
    // Standard input is the connection as well; the program must have neither.
    nix::unistd::dup2_stdin(File::open("/dev/null")?)?;
    let setup: ProgramSetup = serde_json::from_slice(&frame.payload)?;
    end_with_parent(parent_id())?;
    setsid()?;
    let layers = restrict(&setup.policy, &setup.program.executable, setup.verify);
    let missing = setup.policy.required.iter().find_map(|required| find_missing(&layers, *required));
    let is_refused = missing.is_some();
    report(stream, &StartReport { layers, missing, ..StartReport::default() })?;
    if is_refused || setup.verify {
        return Ok(());
    }
    let error = exec(&setup, frame.descriptors);
    Err(io::Error::other(format!("{}: {error}", setup.program.executable.display())))
}

fn find_missing(layers: &Layers, required: Layer) -> Option<MissingLayer> {
    layers.missing.iter().find(|missing| missing.layer == required).cloned()
}

fn restrict(policy: &ProgramPolicy, executable: &Path, try_refused: bool) -> Layers {
    let mut layers = Layers::default();
    if let Err(error) = limit_program(&policy.limits) {
        layers.add_missing(Layer::Resources, error.to_string());
    }
    if let Err(error) = drop_privileges() {
        layers.add_missing(Layer::Privileges, error.to_string());
    }
    restrict_access(&policy.access(), executable, &mut layers);
    if try_refused {
        verify_landlock(&mut layers);
    }
    if policy.system_calls == SystemCallSet::NoSockets {
        let rules = ProgramRules {
            may_change_modes: policy.account.is_some(),
            may_signal: layers.holds(Layer::Signals),
        };
        if let Err(error) = deny_others(rules) {
            layers.add_missing(Layer::SystemCalls, format!("seccomp: {error}"));
        } else if try_refused {
            let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).map(drop);
            verify(&mut layers, Layer::SystemCalls, Errno::PERM, socket);
        }
    }
    layers
}

fn report(stream: &mut UnixStream, report: &StartReport) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Becomes the program. The first three descriptors are its standard ones, the next have the numbers from 3 on.
fn exec(setup: &ProgramSetup, descriptors: Vec<OwnedFd>) -> io::Error {
    let mut descriptors = descriptors.into_iter();
    let (Some(input), Some(output), Some(errors)) =
        (descriptors.next(), descriptors.next(), descriptors.next())
    else {
        return io::Error::other("a program without its standard descriptors");
    };
    let program = &setup.program;
    let mut command = Command::new(&program.executable);
    command
        .args(&program.arguments)
        .env_clear()
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&program.folder)
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors));
    let mappings =
        descriptors.zip(3..).map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd }).collect();
    match command.fd_mappings(mappings) {
        Ok(command) => command.exec(),
        Err(error) => io::Error::other(error),
    }
}
