//! One process that evaluates code, call after call.

use crate::driver_response::{AnswerReader, DriverResponse};
use crate::error::RunnerError;
use crate::language::Language;
use crate::lock_in::CODE_LIMITS;
use crate::output::{CappedOutput, CodeOutput, to_code_output};
use rustix::pipe::{PipeFlags, pipe_with};
use sandbox::{
    ExceededLimit, Program, ProgramDescriptors, ProgramEnd, ProgramError, ProgramPolicy, RunningProgram,
};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// What may still lie in a pipe when the answer arrives.
const MAX_REMAINING_BYTES: usize = 1024 * 1024;
const READ_BYTES: usize = 64 * 1024;
/// As a shell reports a process that was killed.
const KILLED_EXIT_CODE: i32 = 128 + 9;

/// A running process.
#[derive(Debug)]
pub(crate) struct Repl {
    language: Language,
    program: RunningProgram,
    requests: Sender,
    answers: AnswerReader,
    stdout: Receiver,
    stderr: Receiver,
}

/// What became of a call, and of the process that it was made in.
#[derive(Debug)]
pub(crate) struct CallEnd {
    pub(crate) output: CodeOutput,
    /// The process, if it can be used again.
    pub(crate) repl: Option<Repl>,
}

/// How a call ended.
enum Outcome {
    Answered(DriverResponse),
    ProgramEnded(ProgramEnd),
    TimedOut,
    SessionEnded,
}

impl Repl {
    /// Starts the process and waits until its driver is ready. `more` are its descriptors 3 (the browser) and, after
    /// those of the driver, 6.
    pub(crate) async fn start(
        language: Language,
        program: Program,
        policy: ProgramPolicy,
        browser: OwnedFd,
        commands: Option<OwnedFd>,
        deadline: Instant,
    ) -> Result<Self, RunnerError> {
        let failed = |reason: String| RunnerError::Start { language, reason };
        let pipes = || -> io::Result<_> { Ok([pipe()?, pipe()?, pipe()?, pipe()?]) };
        let [requests, answers, stdout, stderr] = pipes().map_err(|error| failed(error.to_string()))?;
        let null = std::fs::File::open("/dev/null").map_err(|error| failed(error.to_string()))?;
        let more = [browser, requests.0, answers.1].into_iter().chain(commands).collect();
        let descriptors = ProgramDescriptors { stdin: null.into(), stdout: stdout.1, stderr: stderr.1, more };
        let program = RunningProgram::start(program, policy, descriptors).await;
        let program = program.map_err(|error| match error {
            ProgramError::NotRestricted(_) => RunnerError::NotLockedIn(error.to_string()),
            ProgramError::Start(error) => failed(error.to_string()),
        })?;
        let open = || -> io::Result<_> {
            Ok((
                Sender::from_owned_fd(requests.1)?,
                Receiver::from_owned_fd(answers.0)?,
                Receiver::from_owned_fd(stdout.0)?,
                Receiver::from_owned_fd(stderr.0)?,
            ))
        };
        let (requests, answers, stdout, stderr) = open().map_err(|error| failed(error.to_string()))?;
        let answers = AnswerReader::new(answers);
        let mut repl = Self { language, program, requests, answers, stdout, stderr };
        match timeout_at(deadline, repl.answers.next()).await {
            Ok(Ok(DriverResponse { ready: Some(true), .. })) => Ok(repl),
            Ok(Ok(answer)) => Err(RunnerError::Browser(answer.error.unwrap_or_default())),
            Ok(Err(_)) => Err(failed(repl.explain_end().await)),
            Err(_) => Err(failed("it was not ready in time".to_owned())),
        }
    }

    /// The last line that it wrote before it ended.
    async fn explain_end(mut self) -> String {
        let mut stderr = CappedOutput::default();
        let end = self.program.wait().await;
        read_remaining(&mut self.stderr, &mut stderr);
        let text = stderr.into_text();
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        line.map_or_else(|| format!("it ended with {end:?}"), str::to_owned)
    }

    /// Evaluates code until its time or the session ends.
    pub(crate) async fn run(
        mut self,
        request: Vec<u8>,
        deadline: Instant,
        time_limit: Duration,
        session_end: &CancellationToken,
    ) -> CallEnd {
        let (mut stdout, mut stderr) = (CappedOutput::default(), CappedOutput::default());
        let outcome = tokio::select! {
            outcome = self.evaluate(&request, deadline, &mut stdout, &mut stderr) => outcome,
            () = session_end.cancelled() => Outcome::SessionEnded,
        };
        if let Outcome::Answered(answer) = outcome {
            read_remaining(&mut self.stdout, &mut stdout);
            read_remaining(&mut self.stderr, &mut stderr);
            let mut output = to_code_output(stdout, stderr, answer.result, answer.exit_code, false);
            output.truncated |= answer.truncated;
            return CallEnd { output, repl: Some(self) };
        }
        let Self { language, program, stdout: mut stdout_pipe, stderr: mut stderr_pipe, .. } = self;
        program.end().await;
        read_remaining(&mut stdout_pipe, &mut stdout);
        read_remaining(&mut stderr_pipe, &mut stderr);
        let (exit_code, killed, reason) = describe_end(&outcome, time_limit);
        if let Some(reason) = reason {
            stderr.add(format!("gannet: {} was ended: {reason}\n", language.name()).as_bytes());
        }
        CallEnd { output: to_code_output(stdout, stderr, None, exit_code, killed), repl: None }
    }

    async fn evaluate(
        &mut self,
        request: &[u8],
        deadline: Instant,
        stdout: &mut CappedOutput,
        stderr: &mut CappedOutput,
    ) -> Outcome {
        let mut sent = 0;
        let (mut output, mut errors) = (vec![0; READ_BYTES], vec![0; READ_BYTES]);
        let (mut has_output, mut has_errors) = (true, true);
        let until_deadline = tokio::time::sleep_until(deadline);
        tokio::pin!(until_deadline);
        loop {
            tokio::select! {
                () = &mut until_deadline => return Outcome::TimedOut,
                end = self.program.wait() => return Outcome::ProgramEnded(end),
                written = self.requests.write(&request[sent..]), if sent < request.len() => match written {
                    Ok(bytes) => sent += bytes,
                    Err(_) => return Outcome::ProgramEnded(self.program.wait().await),
                },
                read = self.stdout.read(&mut output), if has_output => match read {
                    Ok(bytes @ 1..) => stdout.add(&output[..bytes]),
                    _ => has_output = false,
                },
                read = self.stderr.read(&mut errors), if has_errors => match read {
                    Ok(bytes @ 1..) => stderr.add(&errors[..bytes]),
                    _ => has_errors = false,
                },
                answer = self.answers.next() => {
                    if let Ok(answer) = answer {
                        return Outcome::Answered(answer);
                    }
                    // It has closed its descriptor or broken the protocol, so no answer can come.
                    let end = timeout_at(deadline, self.program.wait()).await;
                    return end.map_or(Outcome::TimedOut, Outcome::ProgramEnded);
                }
            }
        }
    }

    /// Ends it and everything that it has started.
    pub(crate) async fn end(self) {
        self.program.end().await;
    }
}

/// Exit code, whether it was killed, and why, for a call whose process has ended.
fn describe_end(outcome: &Outcome, time_limit: Duration) -> (i32, bool, Option<String>) {
    let Outcome::ProgramEnded(end) = outcome else {
        let reason = match outcome {
            Outcome::SessionEnded => "the session has ended".to_owned(),
            _ => format!("time limit of {} s", time_limit.as_secs_f64()),
        };
        return (KILLED_EXIT_CODE, true, Some(reason));
    };
    let megabytes = |limit: Option<u64>| limit.unwrap_or_default() >> 20;
    let exceeded = end.exceeded.map(|limit| match limit {
        ExceededLimit::Processes => {
            format!("more than {} processes and threads", CODE_LIMITS.max_processes.unwrap_or_default())
        }
        ExceededLimit::Memory => {
            format!("more than {} MB of memory", megabytes(CODE_LIMITS.max_memory_bytes))
        }
        ExceededLimit::Folder => format!("more than {} MB of files", megabytes(CODE_LIMITS.max_folder_bytes)),
    });
    let exit_code = end.exit_code.or(end.signal.map(|signal| 128 + signal)).unwrap_or(KILLED_EXIT_CODE);
    (exit_code, exceeded.is_some(), exceeded)
}

/// Both ends of a pipe, neither of which other processes inherit. Ours is read and written without blocking.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

/// Reads what was written before the answer arrived, and is in the pipe therefore.
fn read_remaining(pipe: &mut Receiver, output: &mut CappedOutput) {
    let mut chunk = vec![0; READ_BYTES];
    let mut bytes = 0;
    while bytes < MAX_REMAINING_BYTES {
        match pipe.try_read(&mut chunk) {
            Ok(read @ 1..) => {
                bytes += read;
                output.add(&chunk[..read]);
            }
            _ => return,
        }
    }
}
