//! Sends one request over an idle or a new connection and waits for the response head. Knows nothing of
//! redirects and retries, except for the one case that is nobody's fault: an idle connection that was closed
//! in the meantime.

use super::FetcherInner;
use crate::connect::{ConnectRequest, OpenedConnection};
use crate::deadline::Deadline;
use crate::error::{FetchError, Phase, SizeLimit, error_chain};
use crate::pool::{Body, Connection, ConnectionHandle, PoolKey, Sender};
use crate::route::{ProxyKind, Route};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::http::header::{HOST, HeaderMap, HeaderValue, PROXY_AUTHORIZATION};
use hyper::http::request::Builder;
use hyper::{Method, Response, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// The smallest read buffer the HTTP library accepts.
const MIN_BUFFER_BYTES: usize = 8192;
/// The body of a redirect is read up to this size, so that its connection can be reused.
const MAX_DRAIN_BYTES: usize = 16 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// The request to send.
pub(super) struct OutgoingRequest<'a> {
    pub(super) method: &'a Method,
    pub(super) url: &'a Url,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Bytes,
}

/// The head of a response, and the connection its body is still to be read from.
pub(super) struct PendingResponse {
    pub(super) response: Response<Incoming>,
    pub(super) connection: Connection,
    pub(super) key: PoolKey,
    pub(super) reused: bool,
    pub(super) first_byte: Duration,
}

impl FetcherInner {
    pub(super) async fn exchange(
        &self,
        key: PoolKey,
        outgoing: &OutgoingRequest<'_>,
        limits: &super::Limits,
        deadline: Deadline,
    ) -> Result<PendingResponse, FetchError> {
        if let Some(connection) = self.pool.take_idle(&key) {
            match self.send(connection, key.clone(), true, outgoing, limits, deadline).await {
                Err(SendError { error, unsent }) if unsent || may_resend(&error, outgoing.method) => {
                    tracing::debug!(%error, "an idle connection was closed; opening a new one");
                }
                other => return other.map_err(|failed| failed.error),
            }
        }
        let request = ConnectRequest {
            purpose: key.purpose,
            destination: &key.destination,
            route: &key.route,
            check_certificate: key.check_certificate,
            raw: false,
            deadline: deadline.child(limits.connect),
        };
        let opened = self.connector.open(&request).await?;
        let connection = http_handshake(opened, limits, request.deadline).await?;
        self.send(connection, key, false, outgoing, limits, deadline).await.map_err(|failed| failed.error)
    }

    async fn send(
        &self,
        mut connection: Connection,
        key: PoolKey,
        reused: bool,
        outgoing: &OutgoingRequest<'_>,
        limits: &super::Limits,
        deadline: Deadline,
    ) -> Result<PendingResponse, SendError> {
        let started = Instant::now();
        let budget = Arc::clone(&connection.handle.budget);
        let http1 = connection.is_http1();
        if http1 {
            // Interim (1xx) responses count as well, so that a flood of them ends here.
            budget.start(limits.head_bytes as u64, limits.head_bytes as u64);
        }
        let request =
            build_request(outgoing, &key, http1).map_err(|error| SendError { error, unsent: false })?;
        let sending = async {
            match &mut connection.sender {
                Sender::Http1(sender) => {
                    sender.ready().await.map_err(|error| (error, true))?;
                    let sent = sender.try_send_request(request).await;
                    sent.map_err(|mut failed| (failed.take_message().is_some(), failed.into_error()))
                        .map_err(|(unsent, error)| (error, unsent))
                }
                Sender::Http2(sender) => {
                    sender.ready().await.map_err(|error| (error, true))?;
                    let sent = sender.try_send_request(request).await;
                    sent.map_err(|mut failed| (failed.take_message().is_some(), failed.into_error()))
                        .map_err(|(unsent, error)| (error, unsent))
                }
            }
        };
        let sent = deadline.child(limits.first_byte).run(sending).await.map_err(|_| SendError {
            error: FetchError::Timeout { phase: Phase::FirstByte, after: started.elapsed() },
            unsent: false,
        })?;
        let response = sent.map_err(|(error, unsent)| {
            let error =
                if budget.is_exhausted() { head_too_large(limits) } else { from_hyper_error(&error, limits) };
            SendError { error, unsent }
        })?;
        if http1 {
            // Chunk framing may take as many bytes again as the body itself.
            let in_all = limits.wire_bytes.saturating_mul(2).saturating_add(max_bytes_between_chunks(limits));
            budget.start(max_bytes_between_chunks(limits), in_all);
        }
        if response.status().is_informational() {
            // We never ask for a protocol upgrade, so a 1xx status here is not a response.
            let error = FetchError::BadProtocol(format!("unexpected response status {}", response.status()));
            return Err(SendError { error, unsent: false });
        }
        // HTTP/2 limits the bytes of the head itself, but not the number of headers.
        if response.headers().len() > limits.head_count {
            return Err(SendError { error: head_too_large(limits), unsent: false });
        }
        Ok(PendingResponse { response, connection, key, reused, first_byte: started.elapsed() })
    }

    /// Drops a response whose body is not needed. A short body is read first, so that its connection can be
    /// reused.
    pub(super) async fn discard(&self, pending: PendingResponse, deadline: Deadline) {
        let PendingResponse { response, connection, key, .. } = pending;
        let mut body = response.into_body();
        let draining = async {
            let mut read = 0;
            while let Some(frame) = body.frame().await {
                read += frame.ok()?.data_ref().map_or(0, Bytes::len);
                if read > MAX_DRAIN_BYTES {
                    return None;
                }
            }
            Some(())
        };
        if let Ok(Some(())) = deadline.child(DRAIN_TIMEOUT).run(draining).await {
            self.pool.put_back(&key, connection);
        }
    }
}

struct SendError {
    error: FetchError,
    /// The request was never sent.
    unsent: bool,
}

fn may_resend(error: &FetchError, method: &Method) -> bool {
    matches!(error, FetchError::Incomplete(_)) && method.is_idempotent()
}

/// Starts HTTP on a new connection.
async fn http_handshake(
    opened: OpenedConnection,
    limits: &super::Limits,
    deadline: Deadline,
) -> Result<Connection, FetchError> {
    let OpenedConnection { stream, http2, remote, budget, timings } = opened;
    let io = TokioIo::new(stream);
    let started = Instant::now();
    let (sender, driver) = if http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(2 << 20)
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX));
        let handshake = deadline
            .run(builder.handshake::<_, Body>(io))
            .await
            .map_err(|_| FetchError::Timeout { phase: Phase::Connect, after: started.elapsed() })?;
        let (sender, connection) = handshake.map_err(|error| from_hyper_error(&error, limits))?;
        (Sender::Http2(sender), tokio::spawn(async { drop(connection.await) }))
    } else {
        let mut builder = http1::Builder::new();
        builder
            .max_headers(limits.head_count)
            .max_buf_size(limits.head_bytes.max(MIN_BUFFER_BYTES))
            .title_case_headers(true);
        let handshake = deadline
            .run(builder.handshake::<_, Body>(io))
            .await
            .map_err(|_| FetchError::Timeout { phase: Phase::Connect, after: started.elapsed() })?;
        let (sender, connection) = handshake.map_err(|error| from_hyper_error(&error, limits))?;
        (Sender::Http1(sender), tokio::spawn(async { drop(connection.await) }))
    };
    let handle = ConnectionHandle { remote, budget, timings, driver: driver.abort_handle() };
    Ok(Connection { sender, handle: Arc::new(handle) })
}

fn build_request(
    outgoing: &OutgoingRequest<'_>,
    key: &PoolKey,
    http1: bool,
) -> Result<hyper::Request<Body>, FetchError> {
    let url = outgoing.url;
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    // An HTTP proxy gets the whole URL, a server only the path; HTTP/2 splits the URL itself.
    let plain_proxy = match &key.route {
        Route::Through(proxy) if proxy.kind != ProxyKind::Socks5 && !key.destination.tls => Some(proxy),
        _ => None,
    };
    let target = if http1 && plain_proxy.is_none() {
        path.to_owned()
    } else {
        format!("{}://{host}{path}", url.scheme())
    };
    let uri: Uri = target.parse().map_err(|_| FetchError::BadRequest("the URL cannot be sent".into()))?;
    let mut builder: Builder = hyper::Request::builder().method(outgoing.method).uri(uri);
    if let Some(headers) = builder.headers_mut() {
        if http1 {
            let host = HeaderValue::from_str(host)
                .map_err(|_| FetchError::BadRequest("the host cannot be sent".into()))?;
            headers.insert(HOST, host);
        }
        headers.extend(outgoing.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let Some(authorization) = plain_proxy.and_then(crate::route::Proxy::authorization) {
            headers.insert(PROXY_AUTHORIZATION, authorization);
        }
    }
    builder.body(Full::new(outgoing.body.clone())).map_err(|error| FetchError::BadRequest(error.to_string()))
}

/// How many bytes may be read between two chunks of a body: a few full buffers. Chunks that are all framing
/// and no content end here.
pub(super) fn max_bytes_between_chunks(limits: &super::Limits) -> u64 {
    limits.head_bytes.max(MIN_BUFFER_BYTES) as u64 * 4
}

fn head_too_large(limits: &super::Limits) -> FetchError {
    FetchError::TooLarge { what: SizeLimit::Head, limit: limits.head_bytes as u64 }
}

/// Converts an error of the HTTP library.
pub(super) fn from_hyper_error(error: &hyper::Error, limits: &super::Limits) -> FetchError {
    if error.is_parse_too_large() {
        return head_too_large(limits);
    }
    let text = error_chain(error);
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut io_kind = None;
    for _ in 0..8 {
        let Some(current) = cause else { break };
        io_kind = io_kind.or_else(|| current.downcast_ref::<std::io::Error>().map(std::io::Error::kind));
        cause = current.source();
    }
    let gone = matches!(
        io_kind,
        Some(
            std::io::ErrorKind::ConnectionReset
                | std::io::ErrorKind::ConnectionAborted
                | std::io::ErrorKind::BrokenPipe
                | std::io::ErrorKind::UnexpectedEof
                | std::io::ErrorKind::NotConnected
                | std::io::ErrorKind::TimedOut
        )
    );
    let ended = error.is_incomplete_message() || error.is_closed() || error.is_canceled();
    if !error.is_parse() && (gone || ended) {
        FetchError::Incomplete(text)
    } else {
        FetchError::BadProtocol(text)
    }
}
