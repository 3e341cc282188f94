//! The side of the sandboxed process: it gives up its rights and then works on one job after another, until
//! the server closes the connection.

use crate::frame::{FrameKind, HEADER_BYTES, MAX_REQUEST_BYTES, TICKET_BYTES, encode_header, parse_header};
use crate::layers::Layers;
use crate::process::{COMMAND, PROBE_ROLE, Setup};
use crate::restrict::restrict_process;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, IoSliceMut, Read as _, Seek as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
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
    Some(match run(&role, prepare) {
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
    let mut connection = ServerConnection(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?));
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
    while let Some(Frame { payload, descriptor }) = connection.receive(FrameKind::Job)? {
        let (ticket, options) = payload
            .split_at_checked(TICKET_BYTES)
            .ok_or_else(|| io::Error::other("a job without its ticket"))?;
        let descriptor = descriptor.ok_or_else(|| io::Error::other("a job without its input"))?;
        let mut input = File::from(descriptor);
        input.rewind()?;
        let output = handler(ReceivedJob { options: options.to_vec(), input });
        connection.send(FrameKind::Output, &[ticket, &output].concat())?;
    }
    Ok(())
}

/// Closes what the server should not have handed down: descriptors that it was given itself without the flag
/// that closes them, such as sockets of a supervisor. Here only the standard three are open.
fn close_inherited_descriptors() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let number = |name: std::ffi::OsString| name.to_str()?.parse::<RawFd>().ok();
    let inherited: Vec<RawFd> = entries.flatten().filter_map(|entry| number(entry.file_name())).collect();
    for descriptor in inherited.into_iter().filter(|descriptor| *descriptor > 2) {
        // The one of the list itself is closed already, which is an error that says nothing.
        let _ = nix::unistd::close(descriptor);
    }
}

/// Has the kernel kill this process when the server ends, however it ends.
fn end_with_parent(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before that.
    if getppid().map(Pid::as_raw_pid) != i32::try_from(parent).ok() {
        return Err(io::Error::other("the server has ended"));
    }
    Ok(())
}

struct Frame {
    payload: Vec<u8>,
    descriptor: Option<OwnedFd>,
}

/// The connection to the server, which is trusted.
struct ServerConnection(UnixStream);

impl ServerConnection {
    /// The next frame; `None` when the server has closed the connection.
    fn receive(&mut self, expected: FrameKind) -> io::Result<Option<Frame>> {
        let mut header = [0; HEADER_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received =
            recvmsg(&self.0, &mut [IoSliceMut::new(&mut header)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes == 0 {
            return Ok(None);
        }
        let mut descriptor = None;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
                descriptor = descriptors.next();
            }
        }
        self.0.read_exact(&mut header[received.bytes..])?;
        match parse_header(header) {
            Some((kind, length)) if kind == expected && length <= MAX_REQUEST_BYTES => {
                let mut payload = vec![0; length];
                self.0.read_exact(&mut payload)?;
                Ok(Some(Frame { payload, descriptor }))
            }
            _ => Err(io::Error::other("an unexpected message")),
        }
    }

    fn send(&mut self, kind: FrameKind, payload: &[u8]) -> io::Result<()> {
        let header =
            encode_header(kind, payload.len()).ok_or_else(|| io::Error::other("the output is too large"))?;
        self.0.write_all(&header)?;
        self.0.write_all(payload)
    }
}
