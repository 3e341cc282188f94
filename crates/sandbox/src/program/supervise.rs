//! The supervisor of a program: a process of our own binary between the server and the program.
//!
//! The kernel gives it every process that the program or its children leave behind, so it can end all of them, also
//! those that have left the process group. It does so when the program ends, when a limit is exceeded, and when the
//! server closes the connection or is killed.

use super::exec::EXEC_ROLE;
use super::policy::{ExceededLimit, ProgramEnd, ProgramLimits, ProgramSetup, StartReport};
use super::usage::{count_tasks, deleted_file_bytes, folder_bytes, kill, memory_bytes};
use crate::connection::{Frame, ServerConnection, send_with_descriptors};
use crate::control_groups::{add_process, kill_group, remove_group, remove_groups_above, was_out_of_memory};
use crate::executable::Executable;
use crate::frame::FrameKind;
use crate::process::COMMAND;
use crate::process_tree::descendants;
use crate::restrict::close_inherited_descriptors;
use rustix::io::Errno;
use rustix::process::{WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, parent_id};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) const SUPERVISE_ROLE: &str = "supervise";
/// How often limits are looked at, and the part of these times that folders are.
const WATCH_INTERVAL: Duration = Duration::from_millis(250);
const FOLDER_WATCH_EVERY: u32 = 4;
/// The pause between two rounds of killing.
const KILL_PAUSE: Duration = Duration::from_millis(5);
/// How long a control group may take to be empty when all its processes have ended.
const GROUP_TIMEOUT: Duration = Duration::from_secs(1);

/// Starts the program that the server describes and returns when nothing of it is left.
pub(crate) fn supervise() -> io::Result<()> {
    close_inherited_descriptors();
    rustix::thread::set_name(c"gannet-program")?;
    let mut connection = ServerConnection::from_stdin()?;
    let Some(frame) = connection.receive(FrameKind::Setup)? else { return Ok(()) };
    let mut server = connection.into_stream();
    set_child_subreaper(Some(getpid()))?;
    let setup: ProgramSetup = serde_json::from_slice(&frame.payload)?;
    let group = ProgramGroup { folder: setup.policy.control_group.clone(), server: parent_id() };
    // The program ends with the thread that starts it, which is this one.
    let child = match start(&setup, frame, &mut server) {
        Ok(child) => child,
        Err(error) => return report_error(&mut server, error.to_string()),
    };
    let exceeded = Arc::new(Mutex::new(None));
    let watcher = Watcher {
        server: server.try_clone()?,
        limits: setup.policy.limits.clone(),
        folders: setup.policy.writable.clone(),
        group: group.folder.clone(),
        exceeded: exceeded.clone(),
    };
    std::thread::Builder::new().spawn(move || watcher.run())?;
    let status = wait_for(child.id())?;
    let out_of_memory = group.was_out_of_memory();
    kill_descendants();
    // Before the server is told: it removes the group around this one.
    drop(group);
    let exceeded = *exceeded.lock().unwrap_or_else(PoisonError::into_inner);
    let exceeded = exceeded.or(out_of_memory.then_some(ExceededLimit::Memory));
    let end = ProgramEnd { exit_code: status.exit_status(), signal: status.terminating_signal(), exceeded };
    // The server may be gone.
    let _ = server.write_all(&serde_json::to_vec(&end)?);
    Ok(())
}

/// The most that the process says until it is the program.
const MAX_REPORT_BYTES: u64 = 64 * 1024;
/// Our allocator begins with a gigabyte of addresses, which count as data: as much as a program may have. The process that limits
/// itself to that would be refused any more of them before it is the program.
const ALLOCATOR: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "64MiB");

/// Starts the process that becomes the program, and passes its report on.
fn start(setup: &ProgramSetup, frame: Frame, server: &mut UnixStream) -> io::Result<Child> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Executable::default().command();
    command
        .args([COMMAND, EXEC_ROLE])
        .env_clear()
        .env(ALLOCATOR.0, ALLOCATOR.1)
        .current_dir("/")
        // What the runtime says when it ends the process goes where its report goes.
        .stderr(Stdio::from(OwnedFd::from(theirs.try_clone()?)))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null());
    if let Some(account) = setup.policy.account {
        // The standard library also drops all supplementary groups when it changes the user.
        command.gid(account.gid).uid(account.uid);
    }
    let mut child = command.spawn()?;
    // Before it is told what to become: whatever it starts is in the group too.
    let group = setup.policy.control_group.as_deref();
    let outside = group.and_then(|group| add_process(group, child.id()).err());
    // The command holds the other end of the connection.
    drop(command);
    let descriptors: Vec<_> = frame.descriptors.iter().map(AsFd::as_fd).collect();
    send_with_descriptors(&ours, FrameKind::Setup, &frame.payload, &descriptors)?;
    // The descriptors are the program's alone.
    drop(frame);
    // The connection closes when it has become the program.
    let mut report = Vec::new();
    (&ours).take(MAX_REPORT_BYTES).read_to_end(&mut report)?;
    // One line, the last one if becoming the program failed.
    let line = report.split_inclusive(|byte| *byte == b'\n').next_back().unwrap_or_default();
    if !line.starts_with(b"{") {
        let (status, text) = (child.wait()?, String::from_utf8_lossy(line));
        let text = format!("it ended before it became the program: {status} {}", text.trim());
        return Err(io::Error::other(text));
    }
    match outside {
        None => server.write_all(line)?,
        Some(error) => {
            let said: StartReport = serde_json::from_slice(line)?;
            write_report(server, &StartReport { outside_group: Some(error.to_string()), ..said })?;
        }
    }
    Ok(child)
}

fn report_error(server: &mut UnixStream, error: String) -> io::Result<()> {
    write_report(server, &StartReport { error: Some(error), ..StartReport::default() })
}

fn write_report(server: &mut UnixStream, report: &StartReport) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    server.write_all(&line)
}

/// The control group of the program, if it has one. Dropping it ends what is left in it and removes it.
struct ProgramGroup {
    folder: Option<PathBuf>,
    /// The process that started this one.
    server: u32,
}

impl ProgramGroup {
    fn was_out_of_memory(&self) -> bool {
        self.folder.as_deref().is_some_and(was_out_of_memory)
    }
}

impl Drop for ProgramGroup {
    fn drop(&mut self) {
        let Some(folder) = &self.folder else { return };
        // What cannot be removed here is removed by the server, or by the next one.
        let _ = remove_group(folder, GROUP_TIMEOUT);
        if parent_id() != self.server {
            remove_groups_above(folder);
        }
    }
}

/// Reaps processes until this one has ended.
fn wait_for(program: u32) -> io::Result<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if u32::try_from(pid.as_raw_pid()) == Ok(program) => return Ok(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Kills until nothing is left. A process that starts others while it is killed needs more than one round.
fn kill_descendants() {
    loop {
        kill(&descendants(std::process::id()));
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                // There is no child left.
                Err(_) => return,
            }
        }
        std::thread::sleep(KILL_PAUSE);
    }
}

/// Ends the program when the server closes the connection or a limit is exceeded.
struct Watcher {
    server: UnixStream,
    limits: ProgramLimits,
    folders: Vec<PathBuf>,
    group: Option<PathBuf>,
    exceeded: Arc<Mutex<Option<ExceededLimit>>>,
}

impl Watcher {
    fn run(mut self) {
        let _ = self.server.set_read_timeout(Some(WATCH_INTERVAL));
        for round in 0_u32.. {
            match self.server.read(&mut [0; 1]) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                _ => break,
            }
            if let Some(limit) = self.find_exceeded(round) {
                *self.exceeded.lock().unwrap_or_else(PoisonError::into_inner) = Some(limit);
                break;
            }
        }
        if let Some(group) = &self.group {
            kill_group(group);
        }
        // The main thread sees the program end and kills what is left then. What the program starts meanwhile is
        // killed in the next round.
        loop {
            kill(&descendants(std::process::id()));
            std::thread::sleep(KILL_PAUSE);
        }
    }

    fn find_exceeded(&self, round: u32) -> Option<ExceededLimit> {
        let processes = descendants(std::process::id());
        let is_above = |limit: Option<u64>, used: &dyn Fn() -> u64| limit.is_some_and(|limit| used() > limit);
        if is_above(self.limits.max_processes, &|| count_tasks(&processes)) {
            return Some(ExceededLimit::Processes);
        }
        if is_above(self.limits.max_memory_bytes, &|| memory_bytes(&processes)) {
            return Some(ExceededLimit::Memory);
        }
        let largest = self.limits.max_file_bytes.unwrap_or(u64::MAX);
        let deleted = || deleted_file_bytes(&processes, &self.folders, largest);
        let stored = || folder_bytes(&self.folders).saturating_add(deleted());
        (round.is_multiple_of(FOLDER_WATCH_EVERY) && is_above(self.limits.max_folder_bytes, &stored))
            .then_some(ExceededLimit::Folder)
    }
}
