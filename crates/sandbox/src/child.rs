//! The side of the sandboxed process: it gives up its rights and then works on one job after another, until
//! the server closes the connection.

use crate::connection::{Frame, ServerConnection};
use crate::frame::{FrameKind, TICKET_BYTES};
use crate::layers::Layers;
use crate::process::{COMMAND, PROBE_ROLE, Setup};
use crate::program;
use crate::restrict::{close_inherited_descriptors, end_with_parent, restrict_process};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Seek as _};
use std::process::ExitCode;

/// The work of a process, called once for each job.
pub type Handler = Box<dyn FnMut(ReceivedJob) -> Vec<u8>>;

/// A job as it arrives in the process.
#[derive(Debug)]
pub struct ReceivedJob {
    pub options: Vec<u8>,
    /// The input, at its start. It can be read and sought; its metadata cannot be asked for.
    pub input: File,
}

/// Runs this process as a sandboxed one, if the server started it as such; otherwise returns `None` at once.
/// Must be the first call in `main`, before there is another thread.
///
/// `prepare` makes the handler of a role from the arguments of the pool. It runs while the process still has
/// its rights, so it may open files that the operator trusts, and must not read anything else.
pub fn run_if_sandboxed(
    prepare: impl FnOnce(&str, &[String]) -> Result<Handler, String>,
) -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != COMMAND {
        return None;
    }
    let role = arguments.next().and_then(|role| role.into_string().ok()).unwrap_or_default();
    let result = match role.as_str() {
        program::SUPERVISE_ROLE => program::supervise(),
        program::EXEC_ROLE => program::restrict_and_exec(),
        program::REPLACE_ROLE => program::restrict_and_replace(arguments),
        _ => run(&role, prepare),
    };
    Some(match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sandboxed process {role}: {error}");
            ExitCode::FAILURE
        }
    })
}

fn run(role: &str, prepare: impl FnOnce(&str, &[String]) -> Result<Handler, String>) -> io::Result<()> {
    close_inherited_descriptors();
    if let Ok(name) = CString::new(format!("gannet-{role}")) {
        rustix::thread::set_name(&name)?;
    }
    let mut connection = ServerConnection::from_stdin()?;
    let Some(frame) = connection.receive(FrameKind::Setup)? else { return Ok(()) };
    let setup: Setup = serde_json::from_slice(&frame.payload)?;
    end_with_parent(setup.parent)?;
    let mut handler = if role == PROBE_ROLE {
        Box::new(|_| Vec::new())
    } else {
        prepare(role, &setup.arguments).map_err(io::Error::other)?
    };
    let layers: Layers = restrict_process(&setup.policy, role == PROBE_ROLE);
    connection.send(FrameKind::Ready, &serde_json::to_vec(&layers)?)?;
    while let Some(Frame { payload, mut descriptors }) = connection.receive(FrameKind::Job)? {
        let (ticket, options) = payload
            .split_at_checked(TICKET_BYTES)
            .ok_or_else(|| io::Error::other("a job without its ticket"))?;
        let descriptor = descriptors.pop().ok_or_else(|| io::Error::other("a job without its input"))?;
        let mut input = File::from(descriptor);
        input.rewind()?;
        let output = handler(ReceivedJob { options: options.to_vec(), input });
        connection.send(FrameKind::Output, &[ticket, &output].concat())?;
    }
    Ok(())
}
