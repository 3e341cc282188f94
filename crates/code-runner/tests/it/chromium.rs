//! A Chromium that is controlled over pipes.

use code_runner::{CdpPort, OpenCdp};
use command_fds::{CommandFdExt as _, FdMapping};
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

pub struct Chromium {
    _child: Child,
    _profile: TempDir,
    to_browser: mpsc::Sender<String>,
    /// Who receives its messages: whoever has connected last.
    reader: Arc<Mutex<Option<mpsc::Sender<String>>>>,
}

impl Chromium {
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let (browser_reads, we_write) = io::pipe().expect("a pipe");
        let (we_read, browser_writes) = io::pipe().expect("a pipe");
        let mut command = Command::new("chromium-headless-shell");
        command
            .args(["--headless=new", "--no-sandbox", "--no-first-run", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mappings = vec![
            FdMapping { parent_fd: browser_reads.into(), child_fd: 3 },
            FdMapping { parent_fd: browser_writes.into(), child_fd: 4 },
        ];
        command.fd_mappings(mappings).expect("descriptors");
        let child = command.spawn().expect("tests need Chromium: install the package `chromium`");
        drop(command);
        let (to_browser, messages) = mpsc::channel(64);
        let reader = Arc::new(Mutex::new(None));
        tokio::spawn(write_messages(Sender::from_owned_fd(we_write.into()).expect("a pipe"), messages));
        tokio::spawn(read_messages(Receiver::from_owned_fd(we_read.into()).expect("a pipe"), reader.clone()));
        Self { _child: child, _profile: profile, to_browser, reader }
    }

    pub fn open_cdp(&self) -> OpenCdp {
        let (to_browser, reader) = (self.to_browser.clone(), self.reader.clone());
        Arc::new(move || {
            let (sender, from_browser) = mpsc::channel(1024);
            *reader.lock().expect("the reader") = Some(sender);
            let port = CdpPort { to_browser: to_browser.clone(), from_browser };
            Box::pin(async move { Ok(port) })
        })
    }
}

async fn write_messages(mut pipe: Sender, mut messages: mpsc::Receiver<String>) {
    while let Some(message) = messages.recv().await {
        let mut bytes = message.into_bytes();
        bytes.push(0);
        if pipe.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn read_messages(mut pipe: Receiver, reader: Arc<Mutex<Option<mpsc::Sender<String>>>>) {
    let mut received = Vec::new();
    while matches!(pipe.read_buf(&mut received).await, Ok(1..)) {
        while let Some(end) = received.iter().position(|byte| *byte == 0) {
            let rest = received.split_off(end + 1);
            received.pop();
            let message = String::from_utf8(std::mem::replace(&mut received, rest)).expect("text");
            let sender = reader.lock().expect("the reader").clone();
            if let Some(sender) = sender {
                let _ = sender.send(message).await;
            }
        }
    }
}
