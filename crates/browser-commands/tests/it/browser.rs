//! A real Chromium over a pipe, as the commands see it.

use command_fds::{CommandFdExt as _, FdMapping};
use gannet_browser_commands::{BoxFuture, Cdp, CdpError, CdpEvent};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::process::{Child, Command};
use tokio::sync::{broadcast, mpsc, oneshot};

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, CdpError>>>>>;

/// A running browser; it is killed when it is dropped.
pub struct Chromium {
    outbox: mpsc::UnboundedSender<Vec<u8>>,
    events: broadcast::Sender<CdpEvent>,
    waiting: Waiting,
    next: AtomicU64,
    _process: Child,
    _profile: tempfile::TempDir,
}

impl Chromium {
    pub fn start() -> Arc<Self> {
        let program =
            std::env::var("GANNET_TEST_CHROMIUM").unwrap_or_else(|_| "chromium-headless-shell".to_owned());
        let profile = tempfile::tempdir().unwrap();
        let (browser_reads, we_write) = io::pipe().unwrap();
        let (we_read, browser_writes) = io::pipe().unwrap();
        let mut command = Command::new(program);
        command
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--no-first-run",
                "--disable-gpu",
            ])
            .args([
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .args([
                "--deny-permission-prompts",
                "--hide-scrollbars",
                "--mute-audio",
                "--site-per-process",
                "--disable-popup-blocking",
            ])
            .args(["--disable-features=HttpsUpgrades,Translate,MediaRouter", "--window-size=1280,720"])
            .args([
                "--host-resolver-rules=MAP other.test 127.0.0.1",
                "--enable-features=WebMCP,WebMCPTesting",
            ])
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
        command.fd_mappings(mappings).unwrap();
        let process = command.spawn().expect("Chromium must be installed; GANNET_TEST_CHROMIUM names it");
        drop(command);
        let (outbox, inbox) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(10_000);
        let waiting = Waiting::default();
        tokio::spawn(write(Sender::from_owned_fd(we_write.into()).unwrap(), inbox));
        let reader = Receiver::from_owned_fd(we_read.into()).unwrap();
        tokio::spawn(read(reader, Arc::clone(&waiting), events.clone()));
        let next = AtomicU64::new(1);
        Arc::new(Self { outbox, events, waiting, next, _process: process, _profile: profile })
    }
}

impl Cdp for Chromium {
    fn call<'a>(
        &'a self,
        session: Option<&'a str>,
        method: &'a str,
        params: Value,
    ) -> BoxFuture<'a, Result<Value, CdpError>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap().insert(id, sender);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let _ = self.outbox.send(bytes);
        Box::pin(async move { receiver.await.unwrap_or(Err(CdpError::Closed)) })
    }

    fn events(&self) -> broadcast::Receiver<CdpEvent> {
        self.events.subscribe()
    }
}

async fn write(mut pipe: Sender, mut inbox: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = inbox.recv().await {
        if pipe.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn read(mut pipe: Receiver, waiting: Waiting, events: broadcast::Sender<CdpEvent>) {
    let mut buffer = Vec::new();
    let mut chunk = vec![0; 256 << 10];
    while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
        let mut rest = &chunk[..length];
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            buffer.extend_from_slice(&rest[..end]);
            receive(&buffer, &waiting, &events);
            buffer.clear();
            rest = &rest[end + 1..];
        }
        buffer.extend_from_slice(rest);
    }
    waiting.lock().unwrap().clear();
}

fn receive(bytes: &[u8], waiting: &Waiting, events: &broadcast::Sender<CdpEvent>) {
    let mut message: Value = serde_json::from_slice(bytes).unwrap();
    if let Some(id) = message["id"].as_u64() {
        if let Some(sender) = waiting.lock().unwrap().remove(&id) {
            let result = match message["error"]["message"].as_str() {
                Some(error) => Err(CdpError::Rejected(error.to_owned())),
                None => Ok(message["result"].take()),
            };
            let _ = sender.send(result);
        }
        return;
    }
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    let session = message["sessionId"].as_str().map(str::to_owned);
    let _ = events.send(CdpEvent { session, method, params: message["params"].take() });
}
