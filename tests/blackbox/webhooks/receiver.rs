//! A receiver of webhooks: what it answers depends on the path.

use crate::stand::Stand;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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
    stand: Stand,
    memory: Arc<Memory>,
}

impl Receiver {
    pub fn start() -> Self {
        let memory = Arc::new(Memory::default());
        let router = Router::new().fallback(answer).with_state(memory.clone());
        Self { stand: Stand::start(router), memory }
    }

    pub fn url(&self, path: &str) -> String {
        self.stand.url(path)
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
