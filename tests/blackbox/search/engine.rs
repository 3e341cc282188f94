//! A metasearch engine on loopback: answers what a test wants, and remembers what it was asked. It runs on a thread of its own.

use axum::Router;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A running engine; it ends with this value.
pub struct Engine {
    pub base: String,
    memory: Arc<Memory>,
    _end: oneshot::Sender<()>,
}

#[derive(Default)]
struct Memory {
    asked: Mutex<Vec<HashMap<String, String>>>,
    says: Mutex<Says>,
}

#[derive(Clone, Default)]
enum Says {
    #[default]
    Nothing,
    Results(Vec<Value>),
    Status(u16),
    Hangs,
}

impl Engine {
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
        let address = told.recv().expect("the engine listens");
        Self { base: format!("http://{address}"), memory, _end: end }
    }

    /// Finds pages at these addresses from now on.
    pub fn finds(&self, urls: &[String]) {
        let result = |(number, url): (usize, &String)| json!({ "url": url, "title": format!("Title {number}"), "content": format!("Snippet {number}") });
        self.answers(urls.iter().enumerate().map(result).collect());
    }

    pub fn answers(&self, results: Vec<Value>) {
        *self.memory.says.lock().unwrap() = Says::Results(results);
    }

    pub fn fails(&self, status: u16) {
        *self.memory.says.lock().unwrap() = Says::Status(status);
    }

    pub fn hangs(&self) {
        *self.memory.says.lock().unwrap() = Says::Hangs;
    }

    /// The parameters of every request so far.
    pub fn asked(&self) -> Vec<HashMap<String, String>> {
        self.memory.asked.lock().unwrap().clone()
    }
}

async fn answer(State(memory): State<Arc<Memory>>, Query(query): Query<HashMap<String, String>>) -> Response {
    let later = query.get("pageno").is_some_and(|page| page != "1");
    memory.asked.lock().unwrap().push(query);
    let says = memory.says.lock().unwrap().clone();
    match says {
        Says::Nothing => axum::Json(json!({ "results": [] })).into_response(),
        Says::Results(_) if later => axum::Json(json!({ "results": [] })).into_response(),
        Says::Results(results) => axum::Json(json!({ "results": results })).into_response(),
        Says::Status(status) => axum::http::StatusCode::from_u16(status).expect("a status").into_response(),
        Says::Hangs => std::future::pending().await,
    }
}
