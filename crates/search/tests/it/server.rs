//! A server with scripted responses that records its requests.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use net::{EgressAllow, EgressPolicy, Fetcher, FetcherSettings};
use search::{
    ApiKey, ApiKeys, ListedProvider, ProviderMode, ProviderRouter, Question, SearchSettings, SourceKind,
};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use uuid::Uuid;

pub const BRAVE_KEY: &str = "brave-secret";
pub const SERPER_KEY: &str = "serper-secret";
pub const TAVILY_KEY: &str = "tavily-secret";

/// A scripted response.
#[derive(Debug, Clone)]
pub enum Scripted {
    Json(Value),
    Raw(u16, &'static str, Vec<u8>),
    Header(u16, &'static str, &'static str),
    /// No response, ever.
    Hangs,
    /// An endless body.
    Floods,
    /// The connection breaks in the middle of the body.
    Breaks,
    /// The first value for the first request, the second for all others.
    Page(Value, Value),
}

/// A request that was received.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub path: String,
    pub query: HashMap<String, String>,
    pub headers: HeaderMap,
    pub body: Value,
}

#[derive(Clone)]
pub struct Server {
    pub base: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
    scripted: Arc<Scripted>,
}

impl Server {
    pub async fn start(scripted: Scripted) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { base, asked: Arc::default(), scripted: Arc::new(scripted) };
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    pub fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

async fn answer(State(server): State<Server>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
    let query = parts.uri.query().unwrap_or_default();
    let url = url::Url::parse(&format!("http://x/?{query}")).unwrap();
    let asked = ReceivedRequest {
        path: parts.uri.path().to_owned(),
        query: url.query_pairs().into_owned().collect(),
        headers: parts.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let first = server.asked.lock().unwrap().is_empty();
    server.asked.lock().unwrap().push(asked);
    let scripted = Scripted::clone(&server.scripted);
    match scripted {
        Scripted::Json(value) => axum::Json(value).into_response(),
        Scripted::Page(one, rest) => axum::Json(if first { one } else { rest }).into_response(),
        Scripted::Raw(status, mime, body) => {
            (StatusCode::from_u16(status).unwrap(), [(header::CONTENT_TYPE, mime)], body).into_response()
        }
        Scripted::Header(status, name, value) => {
            (StatusCode::from_u16(status).unwrap(), [(name, value)], "{}").into_response()
        }
        Scripted::Hangs => std::future::pending().await,
        Scripted::Floods => {
            let endless = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 64 << 10]));
            Body::from_stream(endless).into_response()
        }
        Scripted::Breaks => {
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
        providers: listed.iter().map(|one| ListedProvider::parse(one).unwrap()).collect(),
        keys: ApiKeys {
            brave: Some(ApiKey::new(BRAVE_KEY)),
            serper: Some(ApiKey::new(SERPER_KEY)),
            tavily: Some(ApiKey::new(TAVILY_KEY)),
        },
        provider_timeout: Duration::from_millis(400),
        ..SearchSettings::default()
    }
}

pub fn provider_router(listed: &[String], mode: ProviderMode) -> ProviderRouter {
    SearchSettings { mode, ..settings(listed) }.build_router(&fetcher("search=127.0.0.0/8"), None)
}

/// A router with one provider at one server.
pub fn router_with(name: &str, server: &Server) -> ProviderRouter {
    provider_router(&[format!("{name}={}", server.base)], ProviderMode::Fallback)
}

pub fn question(query: &str, kind: SourceKind) -> Question {
    Question { kind, ..Question::new(query, 10, Uuid::nil()) }
}

pub fn five_seconds() -> net::Deadline {
    net::Deadline::after(Duration::from_secs(5))
}
