//! One running Chromium with all its processes: started in a process group of its own, monitored until it
//! ends, and killed as a group. It also ends by itself when its pipe closes, which happens when this server
//! is killed.

use crate::account::Account;
use crate::cdp::Connection;
use crate::error::shorten;
use crate::file_access::file_access;
use crate::flags::{Launch, NO_SANDBOX, command_line};
use crate::process_group;
use crate::profile_dir::ProfileDir;
use command_fds::{CommandFdExt as _, FdMapping};
use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, geteuid, getpriority_process, kill_process_group, setpriority_pgrp};
use sandbox::{ControlGroup, GroupLimits, control_groups, lies_in_memory};
use serde_json::json;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};
use tokio_util::sync::CancellationToken;

const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a browser may take to exit by itself.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_STDERR_BYTES: usize = 4096;
/// What is added to our own niceness, as for users' code.
const NICENESS: i32 = 5;
/// Processes and threads of a session's browser, where the kernel holds them. A page has some twenty.
const MAX_TASKS: u64 = 8192;
/// How often we reap processes that a browser has left to us, and the time between.
const REAP_ATTEMPTS: u32 = 20;
const REAP_PAUSE: Duration = Duration::from_millis(50);
/// The environment variables a browser gets. The others may contain secrets.
const INHERITED_VARIABLES: [&str; 8] =
    ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE"];
/// Folders of our own account, which another account cannot use.
const INHERITED_BY_SAME_ACCOUNT: [&str; 3] = ["HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];
/// The longest path for temporary files. Chromium creates a socket in it, and a socket path has at most 108
/// bytes.
const MAX_TEMP_PATH_BYTES: usize = 60;
/// A short name of the profile folder, for each process of the browser.
const WORKING_DIRECTORY: &str = "/proc/self/cwd";

/// A running browser.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) connection: Connection,
    pub(crate) group: Pid,
    /// The user id it runs under.
    pub(crate) uid: u32,
    /// The folder for downloads and uploads. It goes with the browser.
    pub(crate) files: Arc<Path>,
    /// The folder with this one and everything else that the browser writes.
    folder: Arc<Path>,
    end: CancellationToken,
    gone: CancellationToken,
}

/// What differs between browsers of one launch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StartOptions<'a> {
    pub(crate) flags: &'a [OsString],
    /// The memory its holder may use, of which the kernel is told where it can hold it.
    pub(crate) max_memory: Option<u64>,
}

/// Why a browser did not start.
#[derive(Debug)]
pub(crate) struct StartError {
    pub(crate) message: String,
    pub(crate) kind: StartErrorKind,
}

/// The kind of a start error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartErrorKind {
    /// It reported a sandbox error, so it may start without a sandbox.
    Sandbox,
    /// It cannot be started under that account, but perhaps under our own.
    Account,
    Other,
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self { message: shorten(&error.to_string()), kind: StartErrorKind::Other }
    }
}

impl StartError {
    /// An error before the program ran. Under another account the reason may be that we may not switch to it
    /// (a container without the capabilities), that it does not exist in this user namespace, or that it may
    /// not execute the program.
    fn before_start(error: &io::Error, launch: Launch) -> Self {
        let denied = [Errno::PERM, Errno::ACCESS, Errno::INVAL].map(|errno| Some(errno.raw_os_error()));
        match launch.account {
            Some(Account { uid, .. }) if denied.contains(&error.raw_os_error()) => {
                Self { message: shorten(&format!("user {uid}: {error}")), kind: StartErrorKind::Account }
            }
            _ => Self { message: shorten(&error.to_string()), kind: StartErrorKind::Other },
        }
    }
}

impl Process {
    pub(crate) async fn start(
        program: &Path,
        folder: &Path,
        proxy: SocketAddr,
        launch: Launch,
        more: StartOptions<'_>,
    ) -> Result<Self, StartError> {
        // Relative paths would be resolved in the browser's folder, not in ours.
        let (program, folder) = (std::path::absolute(program)?, &std::path::absolute(folder)?);
        let before_start = |error: io::Error| StartError::before_start(&error, launch);
        let mut profile = ProfileDir::create(folder, launch.account).map_err(before_start)?;
        if let Some(account) = launch.account
            && !account.can_reach(profile.path())
        {
            let message = format!("user {} may not enter {}", account.uid, folder.display());
            return Err(StartError { message: shorten(&message), kind: StartErrorKind::Account });
        }
        let (browser_reads, we_write) = io::pipe()?;
        let (we_read, browser_writes) = io::pipe()?;
        let mut command = if launch.files_restricted {
            let writable = [profile.path(), &*profile.files()];
            let access = file_access(&program, profile.outer(), &writable, proxy, launch.account.is_none());
            Command::from(sandbox::restricted_command(&access, &program)?)
        } else {
            Command::new(program)
        };
        command
            .args(command_line(profile.path(), proxy, launch))
            .args(more.flags)
            .env_clear()
            .envs(environment(profile.path(), launch.account))
            .current_dir(profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(account) = launch.account {
            // The standard library also drops all supplementary groups when it changes the user.
            command.gid(account.gid).uid(account.uid);
        }
        let mappings = vec![
            FdMapping { parent_fd: browser_reads.into(), child_fd: 3 },
            FdMapping { parent_fd: browser_writes.into(), child_fd: 4 },
        ];
        command.fd_mappings(mappings).map_err(io::Error::other)?;
        let mut child = command.spawn().map_err(before_start)?;
        // The command holds the browser's ends of the pipes, which must be closed on our side.
        drop(command);
        let number = child.id().ok_or_else(|| io::Error::other("it exited at once"))?;
        profile.record_process(number)?;
        let group = i32::try_from(number).ok().and_then(Pid::from_raw);
        let group = group.ok_or_else(|| io::Error::other("it has no process id"))?;
        lower_priority(group);
        let control_group =
            more.max_memory.and_then(|bytes| join_control_group(number, bytes, profile.outer()));
        let stderr = StderrTail::default();
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(stderr.clone().collect(errors));
        }
        let connection = Connection::open(we_write.into(), we_read.into())?;
        let (end, gone) = (CancellationToken::new(), CancellationToken::new());
        let (files, folder) = (profile.files().into(), profile.outer().into());
        let uid = launch.account.map_or_else(|| geteuid().as_raw(), |account| account.uid);
        let process = Self { connection, group, uid, files, folder, end, gone };
        tokio::spawn(process.clone().watch(child, profile, control_group));
        let ready = process.connection.send(None, "Browser.getVersion", &json!({}));
        let outcome = tokio::time::timeout(START_TIMEOUT, ready).await;
        if let Ok(Ok(_)) = outcome {
            return Ok(process);
        }
        process.end().await;
        let text = stderr.text();
        // A browser that has not exited is slow; that is not a sandbox error.
        let sandbox_failed = outcome.is_ok() && mentions_sandbox(&text);
        let kind = if sandbox_failed { StartErrorKind::Sandbox } else { StartErrorKind::Other };
        let message = if sandbox_failed {
            stderr.lines_with(mentions_sandbox)
        } else if text.is_empty() {
            "it exited without an error message".to_owned()
        } else {
            text
        };
        Err(StartError { message: shorten(&message), kind })
    }

    /// Whether it really runs with its sandbox. A wrapper script may have added `--no-sandbox`.
    pub(crate) fn is_sandboxed(&self, launch: Launch) -> bool {
        let line = std::fs::read(format!("/proc/{}/cmdline", self.group.as_raw_pid())).unwrap_or_default();
        launch.sandboxed && !line.split(|byte| *byte == 0).any(|word| word == NO_SANDBOX.as_bytes())
    }

    /// Waits until the browser ends or should end, and cleans up.
    async fn watch(self, mut child: Child, profile: ProfileDir, control_group: Option<ControlGroup>) {
        tokio::select! {
            _ = child.wait() => {}
            () = self.end.cancelled() => {}
            () = self.connection.until_closed() => {}
        }
        // A browser exits by itself when its pipe is closed.
        self.connection.close();
        let _ = tokio::time::timeout(EXIT_TIMEOUT, child.wait()).await;
        let _ = kill_process_group(self.group, Signal::KILL);
        if let Some(group) = &control_group {
            group.kill();
        }
        let _ = tokio::time::timeout(EXIT_TIMEOUT, child.wait()).await;
        reap().await;
        drop(control_group);
        // Code of a session may still write: what cannot be removed at once must not hold up the end.
        let left = tokio::task::spawn_blocking(move || profile.remove()).await.unwrap_or_default();
        self.gone.cancel();
        if let Some(left) = left {
            let _ = tokio::task::spawn_blocking(move || left.remove_patiently()).await;
        }
    }

    /// What it has written and not deleted; `u64::MAX` where that cannot be looked into.
    pub(crate) fn stored_bytes(&self) -> u64 {
        sandbox::folder_bytes(&[self.folder.to_path_buf()])
    }

    pub(crate) fn is_over(&self) -> bool {
        self.connection.is_closed() || self.end.is_cancelled()
    }

    /// Whether all its processes should be gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Ends it and returns when nothing of it is left.
    pub(crate) async fn end(&self) {
        self.end.cancel();
        self.gone.cancelled().await;
    }

    /// Starts to end it.
    pub(crate) fn end_soon(&self) {
        self.end.cancel();
    }
}

/// Pages make way for the server when both want the processor. All processes of a browser inherit it.
fn lower_priority(group: Pid) {
    let niceness = getpriority_process(None).unwrap_or(0) + NICENESS;
    if let Err(error) = setpriority_pgrp(Some(group), niceness) {
        tracing::debug!(%error, "cannot lower the priority of a browser");
    }
}

/// Moves a browser into a control group, where there is one. Beyond the limit the kernel ends one of its processes, mostly
/// that of a page; whoever measures its memory ends it as a whole, and is faster unless it grows suddenly.
fn join_control_group(process: u32, max_memory: u64, folder: &Path) -> Option<ControlGroup> {
    let groups = control_groups().ok()?;
    let memory = max_memory.saturating_add(max_memory / 2);
    let limits = GroupLimits {
        // What it stores in memory has a limit of its own.
        max_memory_bytes: (!lies_in_memory(folder)).then_some(memory),
        max_processes: Some(MAX_TASKS),
    };
    let joined =
        groups.create("browser", limits).and_then(|group| group.add_process(process).map(|()| group));
    joined.inspect_err(|error| tracing::warn!(%error, "a browser has no control group")).ok()
}

/// Reaps processes that a browser has left to us. Processes killed just now may take a moment.
async fn reap() {
    for _ in 0..REAP_ATTEMPTS {
        if tokio::task::spawn_blocking(process_group::reap_orphans).await.unwrap_or(0) == 0 {
            return;
        }
        tokio::time::sleep(REAP_PAUSE).await;
    }
}

/// The environment of a browser: a few of our variables, and folders that it can write to.
fn environment(profile: &Path, account: Option<Account>) -> Vec<(OsString, OsString)> {
    let own: &[&str] = if account.is_none() { &INHERITED_BY_SAME_ACCOUNT } else { &[] };
    let names = INHERITED_VARIABLES.iter().chain(own);
    let mut variables: Vec<(OsString, OsString)> =
        names.filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))).collect();
    if account.is_some() {
        variables.push(("HOME".into(), profile.into()));
    }
    // Without a locale it cannot open files whose names are not ASCII, as those that are uploaded may be.
    if !variables.iter().any(|(name, _)| name == "LANG" || name == "LC_ALL" || name == "LC_CTYPE") {
        variables.push(("LC_CTYPE".into(), "C.UTF-8".into()));
    }
    // Temporary files are in its profile folder, its working directory, and are removed with it.
    let folder =
        if profile.as_os_str().len() <= MAX_TEMP_PATH_BYTES { profile } else { WORKING_DIRECTORY.as_ref() };
    variables.push(("TMPDIR".into(), folder.into()));
    variables
}

/// Whether the error output of a browser mentions its sandbox.
fn mentions_sandbox(stderr: &str) -> bool {
    let stderr = stderr.to_lowercase();
    stderr.contains("sandbox") || stderr.contains("new namespace")
}

/// The last error output of a browser, to explain why it does not start.
#[derive(Clone, Default)]
struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
    /// Reads until the end, so that a full pipe never blocks the browser.
    async fn collect(self, mut errors: ChildStderr) {
        let mut chunk = [0; 1024];
        while let Ok(length @ 1..) = errors.read(&mut chunk).await {
            let mut tail = self.0.lock();
            tail.extend_from_slice(&chunk[..length]);
            let excess = tail.len().saturating_sub(MAX_STDERR_BYTES);
            tail.drain(..excess);
        }
    }

    fn text(&self) -> String {
        // Without D-Bus it prints many warnings; they are never the reason.
        self.lines_with(|line| !line.contains("dbus"))
    }

    fn lines_with(&self, wanted: impl Fn(&str) -> bool) -> String {
        let tail = self.0.lock();
        let text = String::from_utf8_lossy(&tail);
        text.lines().filter(|line| wanted(line)).collect::<Vec<_>>().join(" ")
    }
}
