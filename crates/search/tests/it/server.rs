//! A server that answers what it is told to, and remembers what it was asked.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use net::{EgressAllow, EgressPolicy, Fetcher, FetcherSettings};
use search::{Desk, Key, Keys, Kind, Listed, Mode, Question, SearchSettings};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use uuid::Uuid;

pub const BRAVE_KEY: &str = "brave-secret";
pub const SERPER_KEY: &str = "serper-secret";
pub const TAVILY_KEY: &str = "tavily-secret";

/// What a server answers with.
#[derive(Debug, Clone)]
pub enum Says {
    Json(Value),
    Raw(u16, &'static str, Vec<u8>),
    Header(u16, &'static str, &'static str),
    /// Never.
    Hangs,
    /// Bytes without end.
    Floods,
    /// The connection breaks in the middle of the body.
    Breaks,
    /// The first page has these, every other one has none.
    Page(Value, Value),
}

/// A request that came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    pub query: HashMap<String, String>,
    pub headers: HeaderMap,
    pub body: Value,
}

#[derive(Clone)]
pub struct Server {
    pub base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    says: Arc<Says>,
}

impl Server {
    pub async fn start(says: Says) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { base, asked: Arc::default(), says: Arc::new(says) };
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn answer(State(server): State<Server>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
    let query = parts.uri.query().unwrap_or_default();
    let url = url::Url::parse(&format!("http://x/?{query}")).unwrap();
    let asked = Asked {
        path: parts.uri.path().to_owned(),
        query: url.query_pairs().into_owned().collect(),
        headers: parts.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let first = server.asked.lock().unwrap().is_empty();
    server.asked.lock().unwrap().push(asked);
    let says = Says::clone(&server.says);
    match says {
        Says::Json(value) => axum::Json(value).into_response(),
        Says::Page(one, rest) => axum::Json(if first { one } else { rest }).into_response(),
        Says::Raw(status, mime, body) => {
            (StatusCode::from_u16(status).unwrap(), [(header::CONTENT_TYPE, mime)], body).into_response()
        }
        Says::Header(status, name, value) => {
            (StatusCode::from_u16(status).unwrap(), [(name, value)], "{}").into_response()
        }
        Says::Hangs => std::future::pending().await,
        Says::Floods => {
            let endless = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 64 << 10]));
            Body::from_stream(endless).into_response()
        }
        Says::Breaks => {
            let parts = vec![Ok("{\"results\": ["), Err(std::io::Error::other("gone"))];
            Body::from_stream(futures_util::stream::iter(parts)).into_response()
        }
    }
}

pub fn fetcher(allow: &str) -> Fetcher {
    let policy = EgressPolicy::new(EgressAllow::parse(allow).unwrap());
    Fetcher::new(FetcherSettings::new(policy)).unwrap()
}

/// Settings with these providers: `brave=http://…`.
pub fn settings(listed: &[String]) -> SearchSettings {
    SearchSettings {
        providers: listed.iter().map(|one| Listed::parse(one).unwrap()).collect(),
        keys: Keys {
            brave: Some(Key::new(BRAVE_KEY)),
            serper: Some(Key::new(SERPER_KEY)),
            tavily: Some(Key::new(TAVILY_KEY)),
        },
        patience: Duration::from_millis(400),
        ..SearchSettings::default()
    }
}

pub fn desk(listed: &[String], mode: Mode) -> Desk {
    SearchSettings { mode, ..settings(listed) }.open(&fetcher("search=127.0.0.0/8"), None)
}

/// A desk with one provider at one server.
pub fn one(name: &str, server: &Server) -> Desk {
    desk(&[format!("{name}={}", server.base)], Mode::Fallback)
}

pub fn question(query: &str, kind: Kind) -> Question {
    Question { kind, ..Question::new(query, 10, Uuid::nil()) }
}

pub fn soon() -> net::Deadline {
    net::Deadline::after(Duration::from_secs(5))
}
