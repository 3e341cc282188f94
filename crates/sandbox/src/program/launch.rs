//! The server's side of a program.

use super::policy::{Program, ProgramEnd, ProgramPolicy, ProgramSetup, StartReport};
use super::supervise::SUPERVISE_ROLE;
use crate::connection::send_with_descriptors;
use crate::error::{ProgramError, StartError};
use crate::executable::Executable;
use crate::frame::FrameKind;
use crate::layers::Layers;
use crate::process::COMMAND;
use crate::spawn::spawn;
use futures_util::future::BoxFuture;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

const START_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the supervisor may take to end everything.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest report of a program that starts.
const MAX_REPORT_BYTES: u64 = 64 * 1024;

/// The descriptors of a program: the standard ones, and more with the numbers from 3 on.
#[derive(Debug)]
pub struct ProgramDescriptors {
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    pub more: Vec<OwnedFd>,
}

/// A program under the supervision of a process of our own binary. When this is dropped, the supervisor ends the
/// program with everything that it has started, and then itself.
#[derive(Debug)]
pub struct RunningProgram {
    supervisor: Child,
    connection: BufReader<UnixStream>,
    /// What the supervisor has said so far about the end.
    said: Vec<u8>,
    layers: Layers,
}

/// Starts a process under a policy, which tries what it still can do, and ends.
pub fn probe_program(policy: &ProgramPolicy) -> BoxFuture<'_, Result<Layers, ProgramError>> {
    Box::pin(async move {
        let null = || std::fs::File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
        let descriptors =
            ProgramDescriptors { stdin: null()?, stdout: null()?, stderr: null()?, more: Vec::new() };
        let program = Program {
            executable: "/bin/true".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: "/".into(),
        };
        let mut process = RunningProgram::start_with(program, policy.clone(), descriptors, true).await?;
        process.wait().await;
        Ok(process.layers.clone())
    })
}

impl RunningProgram {
    /// Starts a program and returns when it runs under its policy.
    pub fn start(
        program: Program,
        policy: ProgramPolicy,
        descriptors: ProgramDescriptors,
    ) -> BoxFuture<'static, Result<Self, ProgramError>> {
        Box::pin(async move { Self::start_with(program, policy, descriptors, false).await })
    }

    async fn start_with(
        program: Program,
        policy: ProgramPolicy,
        descriptors: ProgramDescriptors,
        verify: bool,
    ) -> Result<Self, ProgramError> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let executable = Executable::default();
        let mut command = Command::from(executable.command());
        command
            .args([COMMAND, SUPERVISE_ROLE])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let supervisor = spawn(command, executable).await?;
        let setup = serde_json::to_vec(&ProgramSetup { program, policy, verify })
            .map_err(|error| StartError(error.to_string()))?;
        let ProgramDescriptors { stdin, stdout, stderr, more } = &descriptors;
        let all: Vec<BorrowedFd<'_>> =
            [stdin, stdout, stderr].into_iter().chain(more).map(AsFd::as_fd).collect();
        send_with_descriptors(&ours, FrameKind::Setup, &setup, &all)?;
        drop(descriptors);
        ours.set_nonblocking(true)?;
        let connection = BufReader::new(UnixStream::from_std(ours)?);
        let mut process = Self { supervisor, connection, said: Vec::new(), layers: Layers::default() };
        let report = match timeout(START_TIMEOUT, process.read_report()).await {
            Ok(report) => report?,
            Err(_) => return Err(StartError("it was not ready in time".into()).into()),
        };
        match (report.missing, report.error) {
            (Some(missing), _) => return Err(ProgramError::NotRestricted(missing)),
            (None, Some(error)) => return Err(StartError(error).into()),
            (None, None) => {}
        }
        if let Some(reason) = report.outside_group {
            tracing::warn!(reason, "a program runs outside of its control group");
        }
        process.layers = report.layers;
        Ok(process)
    }

    async fn read_report(&mut self) -> io::Result<StartReport> {
        let mut line = Vec::new();
        (&mut self.connection).take(MAX_REPORT_BYTES).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Err(io::Error::other("it ended before it was ready"));
        }
        Ok(serde_json::from_slice(&line)?)
    }

    /// What it has given up.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The process id of its supervisor, whose descendants are the program and all that it has started.
    pub fn supervisor_id(&self) -> Option<u32> {
        self.supervisor.id()
    }

    /// Waits until it has ended and nothing is left of it. May be given up and called again.
    pub fn wait(&mut self) -> BoxFuture<'_, ProgramEnd> {
        Box::pin(async move {
            // One read at a time, so that nothing is lost when this future is dropped.
            while matches!(self.connection.read_buf(&mut self.said).await, Ok(1..)) {}
            let _ = self.supervisor.wait().await;
            serde_json::from_slice(&self.said).unwrap_or_default()
        })
    }

    /// Ends it with everything that it has started, and returns when nothing is left.
    pub fn end(mut self) -> BoxFuture<'static, ProgramEnd> {
        Box::pin(async move {
            let _ = rustix::net::shutdown(self.connection.get_ref(), rustix::net::Shutdown::Write);
            timeout(END_TIMEOUT, self.wait()).await.unwrap_or_else(|_| {
                tracing::warn!("the supervisor of a program does not end");
                ProgramEnd::default()
            })
        })
    }
}
