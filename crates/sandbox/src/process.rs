//! The server's side of one sandboxed process: started, asked, and ended with its whole process group.

use crate::error::{JobError, StartError};
use crate::executable::Executable;
use crate::frame::{
    FrameKind, HEADER_BYTES, MAX_READY_BYTES, MAX_REQUEST_BYTES, TICKET_BYTES, encode_header, parse_header,
};
use crate::layers::Layers;
use crate::resources::Policy;
use crate::spawn::spawn;
use crate::stderr::{FirstOutput, is_out_of_memory, panic_place};
use futures_util::future::BoxFuture;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, prlimit};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, Interest};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;
use uuid::Uuid;

/// The first argument of every sandboxed process; the second is its role.
pub(crate) const COMMAND: &str = "sandboxed-process";
/// The role that does no work: it reports what can be taken away on this machine.
pub(crate) const PROBE_ROLE: &str = "probe";
/// By default the allocator of `gannet` reserves a gigabyte of address space at once (a number of KiB), which
/// would be all that a process may use. No other variable is set.
pub(crate) const ALLOCATOR_VARIABLE: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "65536");
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a process that has closed its connection may take to exit, and one that was killed to be gone.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// Messages that nobody asked for, before a job is given up.
const MAX_UNASKED_FRAMES: usize = 16;

/// What a process is told before it gives up its rights.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// The process that it ends with.
    pub(crate) parent: u32,
    pub(crate) policy: Policy,
    pub(crate) arguments: Vec<String>,
}

/// Starts a process that takes its rights away, tries what it still can do, and ends.
pub fn probe() -> BoxFuture<'static, Result<Layers, StartError>> {
    Box::pin(async move {
        let process =
            SandboxedProcess::start(&Executable::default(), PROBE_ROLE, &Policy::default(), &[]).await?;
        let layers = process.layers.clone();
        process.end().await;
        Ok(layers)
    })
}

/// A running process. It is killed when this is dropped, and its entry in the process table is cleared by the
/// runtime.
#[derive(Debug)]
pub(crate) struct SandboxedProcess {
    child: Child,
    pid: Pid,
    stream: UnixStream,
    errors: FirstOutput,
    /// What it has given up.
    pub(crate) layers: Layers,
    /// How many jobs it has been given.
    pub(crate) jobs: u32,
    /// Whether it has sent what nobody asked for, and must not be used again.
    has_misbehaved: bool,
}

impl SandboxedProcess {
    /// Starts a process and waits until it has given up its rights.
    pub(crate) async fn start(
        executable: &Executable,
        role: &str,
        policy: &Policy,
        arguments: &[String],
    ) -> Result<Self, StartError> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::from(executable.command());
        command
            .args([COMMAND, role])
            .env_clear()
            .env(ALLOCATOR_VARIABLE.0, ALLOCATOR_VARIABLE.1)
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = spawn(command, executable.clone()).await?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (Some(pid), Some(errors)) = (pid, child.stderr.take()) else {
            return Err(StartError("it exited at once".into()));
        };
        let stream = UnixStream::from_std(ours)?;
        let errors = FirstOutput::collect(errors);
        let mut process =
            Self { child, pid, stream, errors, layers: Layers::default(), jobs: 0, has_misbehaved: false };
        let setup =
            Setup { parent: std::process::id(), policy: policy.clone(), arguments: arguments.to_vec() };
        match timeout(START_TIMEOUT, process.set_up(&setup)).await {
            Ok(Ok(layers)) => process.layers = layers,
            Ok(Err(error)) => return Err(process.explain_start(&error).await),
            Err(_) => return Err(StartError("it was not ready in time".into())),
        }
        Ok(process)
    }

    async fn set_up(&mut self, setup: &Setup) -> io::Result<Layers> {
        let payload = serde_json::to_vec(setup)?;
        self.send(FrameKind::Setup, &payload, None).await?;
        let report = match self.receive(FrameKind::Ready, MAX_READY_BYTES).await? {
            Ok(report) => report,
            Err(error) => return Err(io::Error::other(error.to_string())),
        };
        Ok(serde_json::from_slice(&report)?)
    }

    /// Its own words, if it has left any: it has not seen a document yet.
    async fn explain_start(mut self, error: &io::Error) -> StartError {
        let _ = timeout(EXIT_TIMEOUT, self.child.wait()).await;
        let text = self.errors.text().await;
        StartError(text.lines().next().map_or_else(|| error.to_string(), str::to_owned))
    }

    /// Works on a job. After an error the process must not be used again.
    pub(crate) async fn run(
        &mut self,
        options: &[u8],
        input: BorrowedFd<'_>,
        max_output_bytes: usize,
        time_limit: Duration,
    ) -> Result<Vec<u8>, JobError> {
        if options.len() + TICKET_BYTES > MAX_REQUEST_BYTES {
            return Err(JobError::Input(io::Error::other("the options are too large")));
        }
        self.jobs += 1;
        self.limit_cpu_time(time_limit);
        let ticket = Uuid::new_v4().into_bytes();
        let sent = self.send(FrameKind::Job, &[&ticket, options].concat(), Some(input)).await;
        // One that has ended may still have left its output, so that is looked at first.
        match self.receive_output(ticket, max_output_bytes).await {
            Ok(output) if sent.is_ok() => output,
            Ok(_) => Err(JobError::Protocol("it answered before it was asked")),
            Err(_) => Err(self.explain_end().await),
        }
    }

    /// Sends a frame, with a descriptor if there is one.
    async fn send(&self, kind: FrameKind, payload: &[u8], input: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let header = encode_header(kind, payload.len()).ok_or_else(|| io::Error::other("too large"))?;
        let frame = [&header, payload].concat();
        let descriptors: Vec<BorrowedFd<'_>> = input.into_iter().collect();
        let send_first = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !descriptors.is_empty() {
                control.push(SendAncillaryMessage::ScmRights(&descriptors));
            }
            let bytes = [IoSlice::new(&frame)];
            Ok(sendmsg(&self.stream, &bytes, &mut control, SendFlags::NOSIGNAL)?)
        };
        let mut sent = self.stream.async_io(Interest::WRITABLE, send_first).await?;
        while sent < frame.len() {
            let write = || Ok(rustix::net::send(&self.stream, &frame[sent..], SendFlags::NOSIGNAL)?);
            sent += self.stream.async_io(Interest::WRITABLE, write).await?;
        }
        Ok(())
    }

    /// Receives the output of the job with this ticket, and drops what was not asked for.
    async fn receive_output(
        &mut self,
        ticket: [u8; TICKET_BYTES],
        max_bytes: usize,
    ) -> io::Result<Result<Vec<u8>, JobError>> {
        for _ in 0..MAX_UNASKED_FRAMES {
            match self.receive(FrameKind::Output, max_bytes + TICKET_BYTES).await? {
                Ok(mut payload) if payload.starts_with(&ticket) => {
                    return Ok(Ok(payload.split_off(TICKET_BYTES)));
                }
                Ok(_) => self.has_misbehaved = true,
                Err(JobError::TooLarge { bytes, .. }) => {
                    return Ok(Err(JobError::TooLarge { bytes: bytes - TICKET_BYTES, max_bytes }));
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Err(JobError::Protocol("it sent what nobody asked for")))
    }

    /// Receives a frame. The outer error is that of the connection.
    async fn receive(
        &mut self,
        expected: FrameKind,
        max_bytes: usize,
    ) -> io::Result<Result<Vec<u8>, JobError>> {
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header).await?;
        let length = match parse_header(header) {
            Some((kind, length)) if kind == expected => length,
            _ => return Ok(Err(JobError::Protocol("it sent an unknown message"))),
        };
        if length > max_bytes {
            return Ok(Err(JobError::TooLarge { bytes: length, max_bytes }));
        }
        // Grows with what arrives: a length alone costs no memory.
        let mut payload = Vec::new();
        (&mut self.stream).take(length as u64).read_to_end(&mut payload).await?;
        if payload.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Ok(payload))
    }

    /// Why its connection is closed.
    async fn explain_end(&mut self) -> JobError {
        let Ok(Ok(status)) = timeout(EXIT_TIMEOUT, self.child.wait()).await else {
            return JobError::Protocol("it closed its connection and went on");
        };
        // What it may have started, where nothing keeps it from starting processes.
        let _ = kill_process_group(self.pid, Signal::KILL);
        classify_end(status, &self.errors.text().await)
    }

    /// A limit in case the server is too busy to keep the time: the time of the job on every core. The server
    /// sets it, so that the process needs no right to.
    fn limit_cpu_time(&self, time_limit: Duration) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let used = cpu_seconds(self.pid).unwrap_or(0);
        let seconds = time_limit.as_secs().saturating_add(1).saturating_mul(cores).saturating_add(used + 1);
        let maximum = getrlimit(Resource::Cpu).maximum;
        let current = Some(maximum.map_or(seconds, |maximum| maximum.min(seconds)));
        if let Err(error) = prlimit(Some(self.pid), Resource::Cpu, Rlimit { current, maximum }) {
            tracing::debug!(%error, "cannot limit the CPU time of a sandboxed process");
        }
    }

    /// Whether it waits for a job and has said nothing that nobody asked for.
    pub(crate) fn is_waiting(&mut self) -> bool {
        if self.has_misbehaved {
            return false;
        }
        let unasked = recv(&self.stream, &mut [0_u8; 1][..], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        matches!(self.child.try_wait(), Ok(None)) && unasked.err() == Some(rustix::io::Errno::AGAIN)
    }

    /// The memory that it occupies; `None` where `/proc` does not show it.
    pub(crate) fn resident_bytes(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/statm", self.pid.as_raw_pid())).ok()?;
        let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// Ends it and returns when it is gone.
    pub(crate) async fn end(mut self) {
        self.kill();
        let _ = timeout(KILL_TIMEOUT, self.child.wait()).await;
    }

    fn kill(&self) {
        // Once it has been waited for, its number may belong to another process.
        if self.child.id().is_some() {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }
}

impl Drop for SandboxedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn classify_end(status: ExitStatus, stderr: &str) -> JobError {
    match status.signal() {
        Some(libc::SIGXCPU) => JobError::TimedOut,
        // We have not killed it, so the kernel has: the machine or its container is out of memory.
        Some(libc::SIGKILL) => JobError::OutOfMemory,
        Some(_) if is_out_of_memory(stderr) => JobError::OutOfMemory,
        None if status.success() => JobError::Protocol("it ended without an output"),
        signal => JobError::Crashed { signal, exit_code: status.code(), place: panic_place(stderr) },
    }
}

/// The CPU time that a process has used.
fn cpu_seconds(pid: Pid) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    // The name in parentheses may contain anything, so fields are counted after it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((ticks()? + ticks()?) / rustix::param::clock_ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_a_typed_error() {
        let signal = ExitStatus::from_raw;
        assert!(matches!(classify_end(signal(libc::SIGXCPU), ""), JobError::TimedOut));
        assert!(matches!(classify_end(signal(libc::SIGKILL), ""), JobError::OutOfMemory));
        let no_memory = "memory allocation of 64 bytes failed\n";
        assert!(matches!(classify_end(signal(libc::SIGABRT), no_memory), JobError::OutOfMemory));
        let crash = classify_end(signal(libc::SIGSEGV), "");
        assert!(matches!(crash, JobError::Crashed { signal: Some(libc::SIGSEGV), .. }), "{crash}");
        assert!(matches!(classify_end(signal(0), ""), JobError::Protocol(_)));
        let panic = classify_end(signal(101 << 8), "thread 'main' panicked at src/a.rs:1:2:\nx");
        assert!(panic.to_string().contains("exit code 101, panicked at src/a.rs:1:2"), "{panic}");
    }

    #[test]
    fn cpu_time_is_read_from_proc() {
        assert!(cpu_seconds(rustix::process::getpid()).is_some());
    }
}
