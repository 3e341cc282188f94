//! A collector of OpenTelemetry that keeps what it is sent, and misbehaves when it is told to.

use crate::site_server::SiteServer;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testkit::otlp::{OtlpLog, OtlpMetric, OtlpSpan, read_logs, read_metrics, read_spans};

/// A request that was taken.
#[derive(Clone)]
pub struct Export {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What it does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Behaviour {
    #[default]
    Takes,
    /// With a `Retry-After` of one second.
    TooMany,
    Status(u16),
    Hangs,
    /// 200 with a body that is no OTLP.
    Garbage,
    /// Takes the request and says that it rejected one record of it.
    RejectsOne,
}

#[derive(Default)]
struct CollectorState {
    taken: Mutex<Vec<Export>>,
    behaviour: Mutex<Behaviour>,
    /// Requests that were answered otherwise than by taking them.
    refused: Mutex<usize>,
}

/// A running collector; it stops when this value is dropped.
pub struct Collector {
    server: SiteServer,
    state: Arc<CollectorState>,
}

impl Collector {
    pub fn start() -> Self {
        let state = Arc::new(CollectorState::default());
        let router = Router::new().fallback(take).with_state(state.clone());
        let router = router.layer(axum::extract::DefaultBodyLimit::max(64 << 20));
        Self { server: SiteServer::start(router), state }
    }

    pub fn url(&self) -> &str {
        &self.server.base
    }

    pub fn set(&self, behaviour: Behaviour) {
        *self.state.behaviour.lock().unwrap() = behaviour;
    }

    /// How many requests it did not take.
    pub fn refused(&self) -> usize {
        *self.state.refused.lock().unwrap()
    }

    pub fn exports(&self) -> Vec<Export> {
        self.state.taken.lock().unwrap().clone()
    }

    fn read<T>(&self, path: &str, read: impl Fn(&[u8]) -> Vec<T>) -> Vec<T> {
        self.exports().iter().filter(|got| got.path == path).flat_map(|got| read(&got.body)).collect()
    }

    pub fn spans(&self) -> Vec<OtlpSpan> {
        self.read("/v1/traces", read_spans)
    }

    pub fn logs(&self) -> Vec<OtlpLog> {
        self.read("/v1/logs", read_logs)
    }

    pub fn metrics(&self) -> Vec<OtlpMetric> {
        self.read("/v1/metrics", read_metrics)
    }
}

async fn take(
    State(state): State<Arc<CollectorState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let behaviour = *state.behaviour.lock().unwrap();
    if matches!(behaviour, Behaviour::TooMany | Behaviour::Status(_) | Behaviour::Hangs) {
        *state.refused.lock().unwrap() += 1;
    }
    let taken = Export { path: uri.path().to_owned(), headers, body };
    match behaviour {
        Behaviour::TooMany => (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "1")]).into_response(),
        Behaviour::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Behaviour::Hangs => {
            tokio::time::sleep(Duration::from_mins(5)).await;
            StatusCode::OK.into_response()
        }
        Behaviour::Garbage => {
            state.taken.lock().unwrap().push(taken);
            "<html>Welcome to the login page</html>".into_response()
        }
        Behaviour::Takes => {
            state.taken.lock().unwrap().push(taken);
            StatusCode::OK.into_response()
        }
        Behaviour::RejectsOne => {
            state.taken.lock().unwrap().push(taken);
            // `partial_success { rejected: 1, error_message: "late" }`
            Bytes::from_static(b"\x0a\x08\x08\x01\x12\x04late").into_response()
        }
    }
}
