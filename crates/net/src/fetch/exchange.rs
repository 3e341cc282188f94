//! One request and the head of its answer, over a kept or a new connection. Knows no redirects and no
//! retries, except for the one case that is nobody's fault: a kept connection that was closed meanwhile.

use super::Inner;
use crate::connect::{Opened, Wanted};
use crate::deadline::Deadline;
use crate::error::{Excess, FetchError, Phase, detail};
use crate::pool::{Body, Connection, Line, Place, Sender};
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

/// The HTTP library reads into no less.
const LEAST_BUFFER: usize = 8192;
/// A redirect's own body is read up to here to keep its connection.
const DRAINED: usize = 16 * 1024;
const DRAINED_FOR: Duration = Duration::from_millis(100);

/// What is sent.
pub(super) struct Message<'a> {
    pub(super) method: &'a Method,
    pub(super) url: &'a Url,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Bytes,
}

/// The head of an answer, and the connection its body is still to be read from.
pub(super) struct Answer {
    pub(super) response: Response<Incoming>,
    pub(super) connection: Connection,
    pub(super) place: Place,
    pub(super) reused: bool,
    pub(super) first_byte: Duration,
}

impl Inner {
    pub(super) async fn exchange(
        &self,
        place: Place,
        message: &Message<'_>,
        limits: &super::Limits,
        deadline: Deadline,
    ) -> Result<Answer, FetchError> {
        if let Some(connection) = self.pool.take(&place) {
            match self.send(connection, place.clone(), true, message, limits, deadline).await {
                Err(Failed { error, unsent }) if unsent || lost(&error, message.method) => {
                    tracing::debug!(%error, "a kept connection was gone; opening a new one");
                }
                other => return other.map_err(|failed| failed.error),
            }
        }
        let wanted = Wanted {
            purpose: place.purpose,
            destination: &place.destination,
            route: &place.route,
            check_certificate: place.check_certificate,
            bare: false,
            deadline: deadline.child(limits.connect),
        };
        let opened = self.connector.open(&wanted).await?;
        let connection = speak(opened, limits, wanted.deadline).await?;
        self.send(connection, place, false, message, limits, deadline).await.map_err(|failed| failed.error)
    }

    async fn send(
        &self,
        mut connection: Connection,
        place: Place,
        reused: bool,
        message: &Message<'_>,
        limits: &super::Limits,
        deadline: Deadline,
    ) -> Result<Answer, Failed> {
        let started = Instant::now();
        let budget = Arc::clone(&connection.line.budget);
        let http1 = connection.is_http1();
        if http1 {
            // Interim answers count as well, so that a flood of them ends here.
            budget.start(limits.head_bytes as u64, limits.head_bytes as u64);
        }
        let request = build(message, &place, http1).map_err(|error| Failed { error, unsent: false })?;
        let answering = async {
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
        let answered = deadline.child(limits.first_byte).run(answering).await.map_err(|_| Failed {
            error: FetchError::Timeout { phase: Phase::FirstByte, after: started.elapsed() },
            unsent: false,
        })?;
        let response = answered.map_err(|(error, unsent)| {
            let error = if budget.was_spent() { head_too_large(limits) } else { of_hyper(&error, limits) };
            Failed { error, unsent }
        })?;
        if http1 {
            // Framing may take as much again as the body itself.
            let in_all = limits.wire_bytes.saturating_mul(2).saturating_add(between_pieces(limits));
            budget.start(between_pieces(limits), in_all);
        }
        if response.status().is_informational() {
            // We never ask for another protocol, so a switch to one is no answer.
            let error = FetchError::BadProtocol(format!("an answer with status {}", response.status()));
            return Err(Failed { error, unsent: false });
        }
        // HTTP/2 counts bytes by itself, but not headers.
        if response.headers().len() > limits.head_count {
            return Err(Failed { error: head_too_large(limits), unsent: false });
        }
        Ok(Answer { response, connection, place, reused, first_byte: started.elapsed() })
    }

    /// Gives up an answer whose body is not wanted; a short one is read so that its connection can be kept.
    pub(super) async fn discard(&self, answer: Answer, deadline: Deadline) {
        let Answer { response, connection, place, .. } = answer;
        let mut body = response.into_body();
        let draining = async {
            let mut read = 0;
            while let Some(frame) = body.frame().await {
                read += frame.ok()?.data_ref().map_or(0, Bytes::len);
                if read > DRAINED {
                    return None;
                }
            }
            Some(())
        };
        if let Ok(Some(())) = deadline.child(DRAINED_FOR).run(draining).await {
            self.pool.keep(&place, connection);
        }
    }
}

struct Failed {
    error: FetchError,
    /// The request never left.
    unsent: bool,
}

fn lost(error: &FetchError, method: &Method) -> bool {
    matches!(error, FetchError::Incomplete(_)) && method.is_idempotent()
}

/// Begins to speak HTTP on a fresh connection.
async fn speak(opened: Opened, limits: &super::Limits, deadline: Deadline) -> Result<Connection, FetchError> {
    let Opened { stream, http2, remote, budget, opening } = opened;
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
        let (sender, connection) = handshake.map_err(|error| of_hyper(&error, limits))?;
        (Sender::Http2(sender), tokio::spawn(async { drop(connection.await) }))
    } else {
        let mut builder = http1::Builder::new();
        builder
            .max_headers(limits.head_count)
            .max_buf_size(limits.head_bytes.max(LEAST_BUFFER))
            .title_case_headers(true);
        let handshake = deadline
            .run(builder.handshake::<_, Body>(io))
            .await
            .map_err(|_| FetchError::Timeout { phase: Phase::Connect, after: started.elapsed() })?;
        let (sender, connection) = handshake.map_err(|error| of_hyper(&error, limits))?;
        (Sender::Http1(sender), tokio::spawn(async { drop(connection.await) }))
    };
    let line = Line { remote, budget, opening, driver: driver.abort_handle() };
    Ok(Connection { sender, line: Arc::new(line) })
}

fn build(message: &Message<'_>, place: &Place, http1: bool) -> Result<hyper::Request<Body>, FetchError> {
    let url = message.url;
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    // An http proxy is told the whole address; a server the path; HTTP/2 splits it up itself.
    let plain_proxy = match &place.route {
        Route::Through(proxy) if proxy.kind != ProxyKind::Socks5 && !place.destination.tls => Some(proxy),
        _ => None,
    };
    let target = if http1 && plain_proxy.is_none() {
        path.to_owned()
    } else {
        format!("{}://{host}{path}", url.scheme())
    };
    let uri: Uri = target.parse().map_err(|_| FetchError::BadRequest("the address cannot be sent".into()))?;
    let mut builder: Builder = hyper::Request::builder().method(message.method).uri(uri);
    if let Some(headers) = builder.headers_mut() {
        if http1 {
            let host = HeaderValue::from_str(host)
                .map_err(|_| FetchError::BadRequest("the host cannot be sent".into()))?;
            headers.insert(HOST, host);
        }
        headers.extend(message.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let Some(authorization) = plain_proxy.and_then(crate::route::Proxy::authorization) {
            headers.insert(PROXY_AUTHORIZATION, authorization);
        }
    }
    builder.body(Full::new(message.body.clone())).map_err(|error| FetchError::BadRequest(error.to_string()))
}

/// What may be read from one piece of a body to the next: a few full buffers. Chunks that are all size and no content
/// end here.
pub(super) fn between_pieces(limits: &super::Limits) -> u64 {
    limits.head_bytes.max(LEAST_BUFFER) as u64 * 4
}

fn head_too_large(limits: &super::Limits) -> FetchError {
    FetchError::TooLarge { what: Excess::Head, limit: limits.head_bytes as u64 }
}

/// What an error of the HTTP library means.
pub(super) fn of_hyper(error: &hyper::Error, limits: &super::Limits) -> FetchError {
    if error.is_parse_too_large() {
        return head_too_large(limits);
    }
    let text = detail(error);
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
