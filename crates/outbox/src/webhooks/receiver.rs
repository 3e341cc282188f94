//! A receiver of webhooks for tests: answers as the test says and remembers what it received.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct Got {
    /// By their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Got {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Debug, Clone)]
pub enum Reply {
    Status(u16),
    /// After a while.
    Slow(Duration),
    Never,
    Redirect(String),
    /// 200, and then a body without an end.
    Endless,
    /// 200, after which the connection is closed without a word of it.
    Abrupt,
}

#[derive(Debug, Default)]
struct Notes {
    got: Mutex<Vec<Got>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    notes: Arc<Notes>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// `answer` is asked with the number of the request, from 0.
    pub async fn start(answer: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let notes = Arc::new(Notes::default());
        let (kept, answer) = (notes.clone(), Arc::new(answer));
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(talk(stream, kept.clone(), answer.clone()));
            }
        });
        Self { address, notes, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub fn got(&self) -> Vec<Got> {
        self.notes.got.lock().unwrap().clone()
    }

    /// The most requests that were open at once.
    pub fn most_at_once(&self) -> usize {
        self.notes.most.load(Ordering::SeqCst)
    }

    /// Waits until so many requests have come.
    pub async fn wait_for(&self, count: usize) -> Vec<Got> {
        let waiting = async {
            while self.got().len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let came = tokio::time::timeout(Duration::from_secs(20), waiting).await;
        assert!(came.is_ok(), "{count} requests were expected and {} came", self.got().len());
        self.got()
    }
}

async fn talk(mut stream: TcpStream, notes: Arc<Notes>, answer: Arc<dyn Fn(usize) -> Reply + Send + Sync>) {
    while let Some(got) = read_request(&mut stream).await {
        let now = notes.now.fetch_add(1, Ordering::SeqCst) + 1;
        notes.most.fetch_max(now, Ordering::SeqCst);
        let number = {
            let mut all = notes.got.lock().unwrap();
            all.push(got);
            all.len() - 1
        };
        let goes_on = reply(&mut stream, answer(number)).await;
        notes.now.fetch_sub(1, Ordering::SeqCst);
        if !goes_on {
            return;
        }
    }
}

async fn reply(stream: &mut TcpStream, reply: Reply) -> bool {
    let (status, more) = match &reply {
        Reply::Status(status) => (*status, "content-length: 2\r\n\r\nok".to_owned()),
        Reply::Slow(wait) => {
            tokio::time::sleep(*wait).await;
            (200, "content-length: 0\r\n\r\n".to_owned())
        }
        Reply::Never => return std::future::pending().await,
        Reply::Redirect(to) => (307, format!("location: {to}\r\ncontent-length: 0\r\n\r\n")),
        Reply::Endless => (200, "transfer-encoding: chunked\r\n\r\n".to_owned()),
        Reply::Abrupt => (200, "content-length: 0\r\n\r\n".to_owned()),
    };
    let text = format!("HTTP/1.1 {status} x\r\n{more}");
    if stream.write_all(text.as_bytes()).await.is_err() {
        return false;
    }
    if matches!(reply, Reply::Endless) {
        while stream.write_all(b"4\r\nmore\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    !matches!(reply, Reply::Endless | Reply::Abrupt)
}

async fn read_request(stream: &mut TcpStream) -> Option<Got> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let headers: BTreeMap<String, String> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length")?.parse().ok()?;
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Got { headers, body })
}
