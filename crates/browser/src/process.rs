//! One running Chromium with all its processes: started in a group of its own, watched until it ends, and ended as a
//! group. It also ends by itself when its pipe closes, which is what happens when this server is killed.

use crate::account::Account;
use crate::cdp::Connection;
use crate::error::clip;
use crate::flags::{NO_SANDBOX, command_line};
use crate::home::Home;
use crate::tree;
use command_fds::{CommandFdExt as _, FdMapping};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};
use tokio_util::sync::CancellationToken;

const START_LIMIT: Duration = Duration::from_secs(20);
/// How long a browser may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
const LONGEST_COMPLAINT: usize = 4096;
/// How often we look for processes that a browser has left to us, and the time between.
const REAP_ATTEMPTS: u32 = 20;
const REAP_PAUSE: Duration = Duration::from_millis(50);
/// What a browser needs to know of our surroundings. The rest, secrets among it, is none of its business.
const PASSED_ON: [&str; 8] =
    ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE"];
/// Folders of our own account, which another has no use for.
const PASSED_ON_TO_SAME_ACCOUNT: [&str; 3] = ["HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];
/// The longest path for temporary files. Chromium makes a socket below it, and the path of a socket has at most 108 bytes.
const MAX_TEMPORARY_PATH: usize = 60;

/// How a browser is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The account to change to; `None` is our own.
    pub(crate) account: Option<Account>,
    pub(crate) sandboxed: bool,
    pub(crate) site_isolation: bool,
}

/// A browser that runs.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) connection: Connection,
    pub(crate) group: Pid,
    end: CancellationToken,
    gone: CancellationToken,
}

/// Why it does not.
#[derive(Debug)]
pub(crate) struct StartError {
    pub(crate) message: String,
    pub(crate) cause: StartFailure,
}

/// What kept a browser from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartFailure {
    /// It complained about its sandbox, so it may start without.
    Sandbox,
    /// It cannot be started under that account, but perhaps under our own.
    Account,
    Other,
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self { message: clip(&error.to_string()), cause: StartFailure::Other }
    }
}

impl StartError {
    /// An error before the program ran. Under another account it may be that we are not allowed to change to it (a container without
    /// the capabilities), that the account does not exist in this user namespace, or that it may not execute the program.
    fn before_start(error: &io::Error, launch: Launch) -> Self {
        let denied = [Errno::PERM, Errno::ACCESS, Errno::INVAL].map(|errno| Some(errno.raw_os_error()));
        match launch.account {
            Some(Account { uid, .. }) if denied.contains(&error.raw_os_error()) => {
                Self { message: clip(&format!("user {uid}: {error}")), cause: StartFailure::Account }
            }
            _ => Self { message: clip(&error.to_string()), cause: StartFailure::Other },
        }
    }
}

impl Process {
    pub(crate) async fn start(
        program: &Path,
        folder: &Path,
        proxy: SocketAddr,
        launch: Launch,
    ) -> Result<Self, StartError> {
        // Relative paths would be looked up in the browser's folder, not in ours.
        let (program, folder) = (std::path::absolute(program)?, &std::path::absolute(folder)?);
        let before_start = |error: io::Error| StartError::before_start(&error, launch);
        let mut home = Home::make(folder, launch.account).map_err(before_start)?;
        if let Some(account) = launch.account
            && !account.can_reach(home.path())
        {
            let message = format!("user {} may not enter {}", account.uid, folder.display());
            return Err(StartError { message: clip(&message), cause: StartFailure::Account });
        }
        let (their_ear, our_mouth) = io::pipe()?;
        let (our_ear, their_mouth) = io::pipe()?;
        let mut command = Command::new(program);
        command
            .args(command_line(home.path(), proxy, launch))
            .env_clear()
            .envs(environment(home.path(), launch.account))
            .current_dir(home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(account) = launch.account {
            // The standard library also gives up all other groups when it changes the user.
            command.gid(account.gid).uid(account.uid);
        }
        let mappings = vec![
            FdMapping { parent_fd: their_ear.into(), child_fd: 3 },
            FdMapping { parent_fd: their_mouth.into(), child_fd: 4 },
        ];
        command.fd_mappings(mappings).map_err(io::Error::other)?;
        let mut child = command.spawn().map_err(before_start)?;
        // The command holds the browser's ends of the pipes; ours must be the only others.
        drop(command);
        let number = child.id().ok_or_else(|| io::Error::other("it ended at once"))?;
        home.note_process(number)?;
        let group = i32::try_from(number).ok().and_then(Pid::from_raw);
        let group = group.ok_or_else(|| io::Error::other("it has no number"))?;
        let complaint = Complaint::default();
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(complaint.clone().collect(errors));
        }
        let connection = Connection::open(our_mouth.into(), our_ear.into())?;
        let (end, gone) = (CancellationToken::new(), CancellationToken::new());
        let process = Self { connection, group, end, gone };
        tokio::spawn(process.clone().watch(child, home));
        let ready = process.connection.send(None, "Browser.getVersion", &json!({}));
        let outcome = tokio::time::timeout(START_LIMIT, ready).await;
        if let Ok(Ok(_)) = outcome {
            return Ok(process);
        }
        process.end().await;
        let text = complaint.text();
        // A browser that has not ended by itself is slow; that is not the sandbox's fault.
        let complained = outcome.is_ok() && is_about_sandbox(&text);
        let cause = if complained { StartFailure::Sandbox } else { StartFailure::Other };
        let message = if complained {
            complaint.lines_with(is_about_sandbox)
        } else if text.is_empty() {
            "it said nothing".to_owned()
        } else {
            text
        };
        Err(StartError { message: clip(&message), cause })
    }

    /// Whether it really runs with its sandbox. A script in front of Chromium may have added the switch against it.
    pub(crate) fn is_sandboxed(&self, launch: Launch) -> bool {
        let line = std::fs::read(format!("/proc/{}/cmdline", self.group.as_raw_pid())).unwrap_or_default();
        launch.sandboxed && !line.split(|byte| *byte == 0).any(|word| word == NO_SANDBOX.as_bytes())
    }

    /// Waits for the end, or brings it about, and clears up.
    async fn watch(self, mut child: Child, home: Home) {
        tokio::select! {
            _ = child.wait() => {}
            () = self.end.cancelled() => {}
            () = self.connection.until_closed() => {}
        }
        // A browser whose pipe is closed leaves by itself.
        self.connection.close();
        let _ = tokio::time::timeout(GRACE, child.wait()).await;
        let _ = kill_process_group(self.group, Signal::KILL);
        let _ = tokio::time::timeout(GRACE, child.wait()).await;
        reap().await;
        let _ = tokio::task::spawn_blocking(move || drop(home)).await;
        self.gone.cancel();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.connection.is_closed() || self.end.is_cancelled()
    }

    /// Whether nothing of it should be left.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Ends it, and returns when nothing of it is left.
    pub(crate) async fn end(&self) {
        self.end.cancel();
        self.gone.cancelled().await;
    }

    /// Begins to end it.
    pub(crate) fn end_soon(&self) {
        self.end.cancel();
    }
}

/// Takes note of the end of what a browser has left to us. What was killed just now may take a moment.
async fn reap() {
    for _ in 0..REAP_ATTEMPTS {
        if tokio::task::spawn_blocking(tree::reap_orphans).await.unwrap_or(0) == 0 {
            return;
        }
        tokio::time::sleep(REAP_PAUSE).await;
    }
}

/// The environment of a browser: a few variables of ours, and folders that it can write to.
fn environment(home: &Path, account: Option<Account>) -> Vec<(OsString, OsString)> {
    let own: &[&str] = if account.is_none() { &PASSED_ON_TO_SAME_ACCOUNT } else { &[] };
    let names = PASSED_ON.iter().chain(own);
    let mut variables: Vec<(OsString, OsString)> =
        names.filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))).collect();
    if account.is_some() {
        variables.push(("HOME".into(), home.into()));
    }
    // Inside its home they are removed with it, whatever becomes of the browser.
    if home.as_os_str().len() <= MAX_TEMPORARY_PATH {
        variables.push(("TMPDIR".into(), home.into()));
    } else if let Some(folder) = std::env::var_os("TMPDIR").filter(|_| account.is_none()) {
        variables.push(("TMPDIR".into(), folder));
    }
    variables
}

/// Whether a browser that did not start has complained about its sandbox.
fn is_about_sandbox(complaint: &str) -> bool {
    let complaint = complaint.to_lowercase();
    complaint.contains("sandbox") || complaint.contains("new namespace")
}

/// The last words a browser wrote, for people who wonder why it does not start.
#[derive(Clone, Default)]
struct Complaint(Arc<Mutex<Vec<u8>>>);

impl Complaint {
    /// Reads on for as long as there is something, so that a full pipe never stops the browser.
    async fn collect(self, mut errors: ChildStderr) {
        let mut piece = [0; 1024];
        while let Ok(length @ 1..) = errors.read(&mut piece).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&piece[..length]);
            let excess = kept.len().saturating_sub(LONGEST_COMPLAINT);
            kept.drain(..excess);
        }
    }

    fn text(&self) -> String {
        // Without a message bus it complains at length; that is never the reason.
        self.lines_with(|line| !line.contains("dbus"))
    }

    fn lines_with(&self, wanted: impl Fn(&str) -> bool) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        text.lines().filter(|line| wanted(line)).collect::<Vec<_>>().join(" ")
    }
}
