//! One running Chromium with all its processes: started in a group of its own, watched until it ends, and ended as a
//! group. It also ends by itself when its pipe closes, which is what happens when this server is killed.

use crate::cdp::Connection;
use crate::error::clip;
use crate::flags::command_line;
use crate::home::Home;
use command_fds::{CommandFdExt as _, FdMapping};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpgid};
use serde_json::json;
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
/// What a browser needs to know of our surroundings. The rest, secrets among it, is none of its business.
const PASSED_ON: [&str; 12] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "FONTCONFIG_PATH",
    "FONTCONFIG_FILE",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
];

/// A browser that runs.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) connection: Connection,
    pub(crate) group: Pid,
    pub(crate) sandboxed: bool,
    end: CancellationToken,
    gone: CancellationToken,
}

/// Why it does not.
#[derive(Debug)]
pub(crate) struct StartError {
    pub(crate) message: String,
    /// It complained about its sandbox, so it may start without.
    pub(crate) sandbox: bool,
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self { message: clip(&error.to_string()), sandbox: false }
    }
}

impl Process {
    pub(crate) async fn start(
        program: &Path,
        folder: &Path,
        proxy: SocketAddr,
        sandboxed: bool,
    ) -> Result<Self, StartError> {
        let mut home = Home::make(folder)?;
        let (their_ear, our_mouth) = io::pipe()?;
        let (our_ear, their_mouth) = io::pipe()?;
        let mut command = Command::new(program);
        command
            .args(command_line(home.path(), proxy, sandboxed))
            .env_clear()
            .envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mappings = vec![
            FdMapping { parent_fd: their_ear.into(), child_fd: 3 },
            FdMapping { parent_fd: their_mouth.into(), child_fd: 4 },
        ];
        command.fd_mappings(mappings).map_err(io::Error::other)?;
        let mut child = command.spawn()?;
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
        let process = Self { connection, group, sandboxed, end, gone };
        tokio::spawn(process.clone().watch(child, home));
        let ready = process.connection.send(None, "Browser.getVersion", &json!({}));
        let outcome = tokio::time::timeout(START_LIMIT, ready).await;
        if let Ok(Ok(_)) = outcome {
            return Ok(process);
        }
        process.end().await;
        let text = complaint.text();
        let sandbox = text.to_lowercase().contains("sandbox");
        let message = if text.is_empty() { "it said nothing".to_owned() } else { clip(&text) };
        Err(StartError { message, sandbox })
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
        // As the first process of a container we inherit what it leaves, and must bury it.
        while matches!(waitpgid(self.group, WaitOptions::NOHANG), Ok(Some(_))) {}
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
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        // Without a message bus it complains at length; that is never the reason.
        let lines = text.lines().filter(|line| !line.contains("dbus"));
        lines.collect::<Vec<_>>().join(" ")
    }
}
