//! A webhook receiver whose response depends on the path.

use crate::site_server::SiteServer;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A delivery that was received.
#[derive(Clone)]
pub struct Delivery {
    path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Bytes,
}

impl Delivery {
    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

#[derive(Default)]
struct ReceiverState {
    got: Mutex<Vec<Delivery>>,
    mended: Mutex<bool>,
}

impl ReceiverState {
    /// Deliveries to each path so far.
    fn at(&self, path: &str) -> Vec<Delivery> {
        self.got.lock().unwrap().iter().filter(|got| got.path == path).cloned().collect()
    }
}

/// A running receiver; it stops when this value is dropped.
pub struct Receiver {
    server: SiteServer,
    state: Arc<ReceiverState>,
}

impl Receiver {
    pub fn start() -> Self {
        let state = Arc::new(ReceiverState::default());
        let router = Router::new().fallback(answer).with_state(state.clone());
        Self { server: SiteServer::start(router), state }
    }

    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    pub fn deliveries(&self, path: &str) -> Vec<Delivery> {
        self.state.at(path)
    }

    /// From now on every path accepts deliveries.
    pub fn accept_everything(&self) {
        *self.state.mended.lock().unwrap() = true;
    }

    /// Waits until this many deliveries came in all.
    pub async fn wait_for_all(&self, count: usize) -> Vec<Delivery> {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let got = self.state.got.lock().unwrap().clone();
            if got.len() >= count {
                return got;
            }
            assert!(Instant::now() < end, "{} of {count} came", got.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until this many deliveries came to a path.
    pub async fn wait_for(&self, path: &str, count: usize) -> Vec<Delivery> {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let got = self.deliveries(path);
            if got.len() >= count {
                return got;
            }
            assert!(Instant::now() < end, "{path}: {} of {count} came", got.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn answer(
    State(state): State<Arc<ReceiverState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().to_owned();
    let headers = headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    state.got.lock().unwrap().push(Delivery { path: path.clone(), headers, body });
    let count = state.at(&path).len();
    if *state.mended.lock().unwrap() {
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
