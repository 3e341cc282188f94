//! A receiver of webhooks: what it answers depends on the path. It runs on a thread of its own, so that a test which waits
//! for a program does not stop it.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A delivery, as it came.
#[derive(Clone)]
pub struct Got {
    path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Bytes,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

#[derive(Default)]
struct Memory {
    got: Mutex<Vec<Got>>,
    mended: Mutex<bool>,
}

impl Memory {
    /// What came to a path so far.
    fn at(&self, path: &str) -> Vec<Got> {
        self.got.lock().unwrap().iter().filter(|got| got.path == path).cloned().collect()
    }
}

/// A running receiver; it ends with this value.
pub struct Receiver {
    base: String,
    memory: Arc<Memory>,
    _end: oneshot::Sender<()>,
}

impl Receiver {
    pub fn start() -> Self {
        let memory = Arc::new(Memory::default());
        let router = Router::new().fallback(answer).with_state(memory.clone());
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                tell.send(listener.local_addr().expect("an address")).expect("the test waits");
                tokio::select! {
                    () = async { drop(axum::serve(listener, router).await) } => {}
                    _ = ended => {}
                }
            });
        });
        let address = told.recv().expect("the receiver listens");
        Self { base: format!("http://{address}"), memory, _end: end }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub fn got(&self, path: &str) -> Vec<Got> {
        self.memory.at(path)
    }

    /// From now on every path takes what comes.
    pub fn mend(&self) {
        *self.memory.mended.lock().unwrap() = true;
    }

    /// Waits until so many deliveries came to a path.
    pub async fn wait_for(&self, path: &str, count: usize) -> Vec<Got> {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let got = self.got(path);
            if got.len() >= count {
                return got;
            }
            assert!(Instant::now() < end, "{path}: {} of {count} came", got.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn answer(State(memory): State<Arc<Memory>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    let headers = headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    memory.got.lock().unwrap().push(Got { path: path.clone(), headers, body });
    let count = memory.at(&path).len();
    if *memory.mended.lock().unwrap() {
        return StatusCode::OK.into_response();
    }
    match path.as_str() {
        "/redirects" => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/ok")]).into_response(),
        "/hangs" => {
            tokio::time::sleep(Duration::from_mins(5)).await;
            StatusCode::OK.into_response()
        }
        "/slow" => {
            tokio::time::sleep(Duration::from_millis(40)).await;
            StatusCode::ACCEPTED.into_response()
        }
        _ => match path.strip_prefix("/fails/").and_then(|times| times.parse().ok()) {
            Some(times) if count <= times => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            _ => StatusCode::OK.into_response(),
        },
    }
}
