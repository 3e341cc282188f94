//! The browser's messages on their way to and from a process of users' code: over a socket that the process inherits,
//! with a NUL after each message as in Chromium's own pipe.

use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

/// The largest message from a process: an upload of some 50 MB.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// A connection to the browser, one CDP message in each string. It ends when either side is dropped.
#[derive(Debug)]
pub struct CdpPort {
    pub to_browser: mpsc::Sender<String>,
    pub from_browser: mpsc::Receiver<String>,
}

/// Opens a connection to the browser of the session. Called once for each process that is started.
pub type OpenCdp =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<CdpPort, String>> + Send>> + Send + Sync>;

/// Passes messages on until one side closes. Returns the end for the process.
pub(crate) fn connect(port: CdpPort) -> std::io::Result<OwnedFd> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let ours = UnixStream::from_std(ours)?;
    tokio::spawn(pass_messages(ours, port));
    Ok(theirs.into())
}

async fn pass_messages(process: UnixStream, CdpPort { to_browser, mut from_browser }: CdpPort) {
    let (mut from_process, mut to_process) = process.into_split();
    let upwards = async {
        let mut received = Vec::new();
        let mut searched = 0;
        while received.len() <= MAX_MESSAGE_BYTES
            && matches!(from_process.read_buf(&mut received).await, Ok(1..))
        {
            while let Some(end) = received[searched..].iter().position(|byte| *byte == 0) {
                let rest = received.split_off(searched + end + 1);
                received.pop();
                searched = 0;
                let Ok(message) = String::from_utf8(std::mem::replace(&mut received, rest)) else { return };
                if to_browser.send(message).await.is_err() {
                    return;
                }
            }
            searched = received.len();
        }
    };
    let downwards = async {
        while let Some(message) = from_browser.recv().await {
            let mut bytes = message.into_bytes();
            bytes.push(0);
            if to_process.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::select! { () = upwards => {} () = downwards => {} }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn messages_pass_both_ways_and_the_end_of_one_side_ends_the_other() {
        let (to_browser, mut browser_reads) = mpsc::channel(4);
        let (browser_writes, from_browser) = mpsc::channel(4);
        let process = connect(CdpPort { to_browser, from_browser }).unwrap();
        let process = std::os::unix::net::UnixStream::from(process);
        process.set_nonblocking(true).unwrap();
        let mut process = UnixStream::from_std(process).unwrap();
        let long = "x".repeat(1_000_000);
        let text = format!("{{\"id\":1}}\0{long}\0");
        let (sent, first) = tokio::join!(process.write_all(text.as_bytes()), browser_reads.recv());
        sent.unwrap();
        assert_eq!(first.as_deref(), Some("{\"id\":1}"));
        assert_eq!(browser_reads.recv().await, Some(long));
        browser_writes.send("answer".to_owned()).await.unwrap();
        let mut answer = [0; 7];
        process.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"answer\0");
        drop(process);
        let end = tokio::time::timeout(Duration::from_secs(5), browser_reads.recv()).await;
        assert_eq!(end, Ok(None));
        browser_writes.closed().await;
    }
}
