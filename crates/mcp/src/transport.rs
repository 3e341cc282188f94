//! The two ways to a client: HTTP, where each request stands alone, and standard input and output.

use crate::handler::Handler;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::combinators::{BoxBody, UnsyncBoxBody};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The body of a request over HTTP.
pub type RequestBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// What the HTTP transport accepts.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Values of `Host`; empty for any.
    pub hosts: Vec<String>,
    /// Origins of pages that may call; `None` for any. Programs send no origin.
    pub origins: Option<Vec<String>>,
    pub max_body_bytes: usize,
    pub stop: CancellationToken,
}

/// Serves MCP over HTTP without sessions: any process can answer any request.
#[derive(Clone)]
pub struct HttpService(StreamableHttpService<Handler, NeverSessionManager>);

impl std::fmt::Debug for HttpService {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("HttpService").field(&self.0.config).finish()
    }
}

impl HttpService {
    pub fn new(handler: Handler, options: HttpOptions) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            // A stream of events only where progress is sent.
            .with_json_response(true)
            .with_allowed_hosts(options.hosts)
            .with_max_request_body_bytes(options.max_body_bytes)
            .with_cancellation_token(options.stop);
        let config = match options.origins {
            None => config.disable_allowed_origins(),
            Some(origins) => config.with_allowed_origins(origins).enforce_origin_validation(),
        };
        let factory = move || Ok(handler.clone());
        Self(StreamableHttpService::new(factory, Arc::new(NeverSessionManager::default()), config))
    }

    /// Of one type of body, so that the code behind it is compiled in this crate.
    pub fn handle(
        &self,
        request: Request<RequestBody>,
    ) -> BoxFuture<'_, Response<BoxBody<Bytes, Infallible>>> {
        Box::pin(self.0.handle(request))
    }
}

/// Serves one client until standard input ends or `stop` is cancelled.
pub fn serve_stdio(handler: Handler, stop: CancellationToken) -> BoxFuture<'static, Result<(), String>> {
    Box::pin(async move {
        let running = match handler.serve_with_ct(stdio_pipes(), stop.clone()).await {
            Ok(running) => running,
            // A client that leaves before it has said anything.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(error.to_string()),
        };
        running.waiting().await.map(drop).map_err(|error| error.to_string())
    })
}
