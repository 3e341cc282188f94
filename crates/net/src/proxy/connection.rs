//! One connection of the browser to the proxy, which carries one tunnel or one plain request. Never a second
//! one: what a server sends after its response must not be taken for the response of another host.

use super::lease::{FailureReply, LeaseState};
use super::{FAILED_REQUEST_BODY, FailedRequest, ProxyContext, RequestError, host_and_port, tunnel_target};
use crate::connect::Stream;
use crate::error::{BadUrl, FetchError, SizeLimit};
use crate::guard::Destination;
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::http::header::{CONNECTION, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use url::Url;

const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
type ProxyResponse = Response<BoxBody<Bytes, hyper::Error>>;

/// A request that is not answered: its connection is closed.
#[derive(Debug, thiserror::Error)]
#[error("the request failed")]
struct Disconnected;

/// Serves one connection to its end.
pub(super) async fn serve(
    context: Arc<ProxyContext>,
    stream: TcpStream,
    peer: SocketAddr,
    permit: Arc<OwnedSemaphorePermit>,
) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let (context, permit) = (Arc::clone(&context), Arc::clone(&permit));
        async move { Box::pin(handle_request(&context, request, peer, permit)).await }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .keep_alive(false)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // A browser that closes the connection is not an error.
    let _ = connection.await;
}

async fn handle_request(
    context: &ProxyContext,
    request: Request<Incoming>,
    peer: SocketAddr,
    permit: Arc<OwnedSemaphorePermit>,
) -> Result<ProxyResponse, Disconnected> {
    let Some(lease) = context.find_lease(request.headers(), peer).await else {
        let mut response =
            text_response(StatusCode::PROXY_AUTHENTICATION_REQUIRED, "proxy authentication required");
        response.headers_mut().insert(PROXY_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"gannet\""));
        return Ok(response);
    };
    let is_tunnel = request.method() == Method::CONNECT;
    let target = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let ended = lease.ended.clone();
    let handling = async {
        if is_tunnel {
            tunnel(context, &lease, request, permit).await
        } else {
            forward(context, &lease, request).await
        }
    };
    let handled = Box::pin(ended.run_until_cancelled(lease.rules.deadline.run(handling))).await;
    match handled {
        Some(Ok(Ok(response))) => Ok(response),
        Some(Ok(Err((target, error)))) => {
            let status = match &error {
                RequestError::BrowserService
                | RequestError::HostNotAllowed
                | RequestError::Fetch(FetchError::Refused(_) | FetchError::BadUrl(_)) => {
                    StatusCode::FORBIDDEN
                }
                RequestError::Fetch(FetchError::Timeout { .. }) => StatusCode::GATEWAY_TIMEOUT,
                RequestError::Fetch(_) => StatusCode::BAD_GATEWAY,
            };
            lease.record_failed(FailedRequest { target, error });
            // For a tunnel, whose failure is a network error to the browser in any case, the status is the reason.
            if !is_tunnel
                && status != StatusCode::FORBIDDEN
                && lease.rules.failure_reply == FailureReply::Disconnect
            {
                return Err(Disconnected);
            }
            Ok(text_response(status, FAILED_REQUEST_BODY))
        }
        Some(Err(_)) | None => {
            tracing::debug!(%target, "the lease ended before the request");
            Ok(text_response(StatusCode::GATEWAY_TIMEOUT, "the lease has ended"))
        }
    }
}

type TargetError = (String, RequestError);

async fn tunnel(
    context: &ProxyContext,
    lease: &Arc<LeaseState>,
    mut request: Request<Incoming>,
    permit: Arc<OwnedSemaphorePermit>,
) -> Result<ProxyResponse, TargetError> {
    let named = request.uri().to_string();
    let destination = tunnel_target(request.uri().authority())
        .map_err(|error| (named[..named.floor_char_boundary(200)].to_owned(), RequestError::Fetch(error)))?;
    let target = host_and_port(&destination.host, destination.port);
    let opened = context.open(lease, &destination).await.map_err(|error| (target, error))?;
    let upgrade = hyper::upgrade::on(&mut request);
    let onward = LeaseStream { stream: opened.stream, lease: Arc::clone(lease) };
    tokio::spawn(copy_both_ways(upgrade, onward, Arc::clone(lease), permit));
    Ok(text_response(StatusCode::OK, ""))
}

/// Copies in both directions until one side, the lease or its deadline ends.
async fn copy_both_ways(
    upgrade: OnUpgrade,
    mut onward: LeaseStream,
    lease: Arc<LeaseState>,
    // A tunnel counts as a connection until it ends.
    _permit: Arc<OwnedSemaphorePermit>,
) {
    let copying = async {
        let Ok(inward) = upgrade.await else { return };
        let _ = copy_bidirectional(&mut TokioIo::new(inward), &mut onward).await;
    };
    lease.ended.run_until_cancelled(lease.rules.deadline.run(copying)).await;
}

async fn forward(
    context: &ProxyContext,
    lease: &Arc<LeaseState>,
    request: Request<Incoming>,
) -> Result<ProxyResponse, TargetError> {
    let named = request.uri().to_string();
    let failed =
        |error: FetchError| (named[..named.floor_char_boundary(200)].to_owned(), RequestError::Fetch(error));
    let url = Url::parse(&named).map_err(|error| failed(BadUrl::Invalid(error.to_string()).into()))?;
    let destination = Destination::from_url(&url).map_err(|error| failed(error.into()))?;
    if destination.tls {
        return Err(failed(BadUrl::Invalid("https requests must use a tunnel".into()).into()));
    }
    let target = host_and_port(&destination.host, destination.port);
    let opened = context.open(lease, &destination).await.map_err(|error| (target.clone(), error))?;
    let lost = |error: hyper::Error| {
        (target.clone(), RequestError::Fetch(FetchError::Incomplete(error.to_string())))
    };
    let onward = TokioIo::new(LeaseStream { stream: opened.stream, lease: Arc::clone(lease) });
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        // Servers and the tools of whoever drives the browser see header names as they were sent.
        .preserve_header_case(true)
        .handshake(onward)
        .await
        .map_err(lost)?;
    let watched = Arc::clone(lease);
    tokio::spawn(async move {
        watched.ended.run_until_cancelled(watched.rules.deadline.run(connection)).await;
    });
    let (mut parts, body) = request.into_parts();
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    parts.uri = path.parse().map_err(|_| failed(BadUrl::Invalid("the path cannot be sent".into()).into()))?;
    parts.headers.remove(CONNECTION);
    let ours: Vec<HeaderName> =
        parts.headers.keys().filter(|name| name.as_str().starts_with("proxy-")).cloned().collect();
    for name in ours {
        parts.headers.remove(name);
    }
    // The request URL decides where the request goes, so it also decides the `Host` header.
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    if let Ok(host) = HeaderValue::from_str(host) {
        parts.headers.insert(HOST, host);
    }
    let response = sender.send_request(Request::from_parts(parts, body)).await.map_err(lost)?;
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(CONNECTION);
    Ok(Response::from_parts(parts, body.boxed()))
}

fn text_response(status: StatusCode, text: &'static str) -> ProxyResponse {
    let body = Full::new(Bytes::from_static(text.as_bytes())).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// A stream that counts bytes for its lease and fails when the lease has no bytes left.
struct LeaseStream {
    stream: Pin<Box<dyn Stream>>,
    lease: Arc<LeaseState>,
}

impl AsyncRead for LeaseStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let limit = self.lease.rules.max_bytes;
        if self.lease.received.load(Ordering::Relaxed) > limit {
            let error = FetchError::TooLarge { what: SizeLimit::WireBody, limit };
            self.lease
                .record_failed(FailedRequest { target: String::new(), error: RequestError::Fetch(error) });
            self.lease.ended.cancel();
            return Poll::Ready(Err(io::Error::other("the byte limit of the lease is reached")));
        }
        let before = buffer.filled().len();
        let polled = self.stream.as_mut().poll_read(context, buffer);
        self.lease.received.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        polled
    }
}

impl AsyncWrite for LeaseStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = self.stream.as_mut().poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = &polled {
            self.lease.sent.fetch_add(*count as u64, Ordering::Relaxed);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }
}
