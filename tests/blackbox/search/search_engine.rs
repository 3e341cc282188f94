//! A scripted metasearch engine on loopback, which records what it was asked. It runs on a thread of its own.

use axum::Router;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A running engine; it stops when this value is dropped.
pub struct SearchEngine {
    pub base: String,
    state: Arc<EngineState>,
    _end: oneshot::Sender<()>,
}

#[derive(Default)]
struct EngineState {
    requests: Mutex<Vec<HashMap<String, String>>>,
    response: Mutex<EngineResponse>,
}

#[derive(Clone, Default)]
enum EngineResponse {
    #[default]
    Nothing,
    Results(Vec<Value>),
    Status(u16),
    Hangs,
}

impl SearchEngine {
    pub fn start() -> Self {
        let state = Arc::new(EngineState::default());
        let router = Router::new().fallback(answer).with_state(state.clone());
        let (report, listening) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                report.send(listener.local_addr().expect("an address")).expect("the test waits");
                tokio::select! {
                    () = async { drop(axum::serve(listener, router).await) } => {}
                    _ = ended => {}
                }
            });
        });
        let address = listening.recv().expect("the engine listens");
        Self { base: format!("http://{address}"), state, _end: end }
    }

    /// Returns pages at these URLs from now on.
    pub fn set_results(&self, urls: &[String]) {
        let result = |(number, url): (usize, &String)| json!({ "url": url, "title": format!("Title {number}"), "content": format!("Snippet {number}") });
        self.set_response(urls.iter().enumerate().map(result).collect());
    }

    pub fn set_response(&self, results: Vec<Value>) {
        *self.state.response.lock().unwrap() = EngineResponse::Results(results);
    }

    pub fn set_failing(&self, status: u16) {
        *self.state.response.lock().unwrap() = EngineResponse::Status(status);
    }

    pub fn set_hanging(&self) {
        *self.state.response.lock().unwrap() = EngineResponse::Hangs;
    }

    /// The parameters of every request so far.
    pub fn requests(&self) -> Vec<HashMap<String, String>> {
        self.state.requests.lock().unwrap().clone()
    }
}

async fn answer(
    State(state): State<Arc<EngineState>>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let later = query.get("pageno").is_some_and(|page| page != "1");
    state.requests.lock().unwrap().push(query);
    let response = state.response.lock().unwrap().clone();
    match response {
        EngineResponse::Nothing => axum::Json(json!({ "results": [] })).into_response(),
        EngineResponse::Results(_) if later => axum::Json(json!({ "results": [] })).into_response(),
        EngineResponse::Results(results) => axum::Json(json!({ "results": results })).into_response(),
        EngineResponse::Status(status) => {
            axum::http::StatusCode::from_u16(status).expect("a status").into_response()
        }
        EngineResponse::Hangs => std::future::pending().await,
    }
}
