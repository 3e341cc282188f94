//! One connection of the browser to the proxy, carrying one tunnel or one plain request. Never a second one:
//! what a server sends after its answer must not be taken for the answer of another host.

use super::lease::LeaseState;
use super::{Gate, Unfetched, WhyNot, shown, tunnel_target};
use crate::connect::Stream;
use crate::error::{BadUrl, Excess, FetchError};
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
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use url::Url;

const HEAD_LIMIT: Duration = Duration::from_secs(10);
type Answer = Response<BoxBody<Bytes, hyper::Error>>;

/// Serves one connection to its end.
pub(super) async fn serve(gate: Arc<Gate>, stream: TcpStream, place: Arc<OwnedSemaphorePermit>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let (gate, place) = (Arc::clone(&gate), Arc::clone(&place));
        async move { Ok::<_, Infallible>(Box::pin(pass(&gate, request, place)).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // A browser that goes away in the middle is no news.
    let _ = connection.await;
}

async fn pass(gate: &Gate, request: Request<Incoming>, place: Arc<OwnedSemaphorePermit>) -> Answer {
    let Some(lease) = gate.holder(request.headers()) else {
        let mut answer = said(StatusCode::PROXY_AUTHENTICATION_REQUIRED, "a lease is needed");
        answer.headers_mut().insert(PROXY_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"gannet\""));
        return answer;
    };
    let target = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let ended = lease.ended.clone();
    let passing = async {
        if request.method() == Method::CONNECT {
            tunnel(gate, &lease, request, place).await
        } else {
            forward(gate, &lease, request).await
        }
    };
    let passed = Box::pin(ended.run_until_cancelled(lease.rules.deadline.run(passing))).await;
    match passed {
        Some(Ok(Ok(answer))) => answer,
        Some(Ok(Err((target, why)))) => {
            let status = match &why {
                WhyNot::CallHome
                | WhyNot::Forbidden
                | WhyNot::Failed(FetchError::Refused(_) | FetchError::BadUrl(_)) => StatusCode::FORBIDDEN,
                WhyNot::Failed(FetchError::Timeout { .. }) => StatusCode::GATEWAY_TIMEOUT,
                WhyNot::Failed(_) => StatusCode::BAD_GATEWAY,
            };
            lease.remember(Unfetched { target, why });
            said(status, "not fetched")
        }
        Some(Err(_)) | None => {
            tracing::debug!(%target, "a lease ended before its request");
            said(StatusCode::GATEWAY_TIMEOUT, "the lease has ended")
        }
    }
}

type Failure = (String, WhyNot);

async fn tunnel(
    gate: &Gate,
    lease: &Arc<LeaseState>,
    mut request: Request<Incoming>,
    place: Arc<OwnedSemaphorePermit>,
) -> Result<Answer, Failure> {
    let named = request.uri().to_string();
    let destination = tunnel_target(request.uri().authority())
        .map_err(|error| (named[..named.floor_char_boundary(200)].to_owned(), WhyNot::Failed(error)))?;
    let target = shown(&destination.host, destination.port);
    let opened = gate.open(lease, &destination).await.map_err(|why| (target, why))?;
    let upgrade = hyper::upgrade::on(&mut request);
    let onward = Counted { stream: opened.stream, lease: Arc::clone(lease) };
    tokio::spawn(carry(upgrade, onward, Arc::clone(lease), place));
    Ok(said(StatusCode::OK, ""))
}

/// Copies both ways until one side ends, or the lease, or its deadline.
async fn carry(
    upgrade: OnUpgrade,
    mut onward: Counted,
    lease: Arc<LeaseState>,
    // A tunnel takes up its place until it ends.
    _place: Arc<OwnedSemaphorePermit>,
) {
    let copying = async {
        let Ok(inward) = upgrade.await else { return };
        let _ = copy_bidirectional(&mut TokioIo::new(inward), &mut onward).await;
    };
    lease.ended.run_until_cancelled(lease.rules.deadline.run(copying)).await;
}

async fn forward(
    gate: &Gate,
    lease: &Arc<LeaseState>,
    request: Request<Incoming>,
) -> Result<Answer, Failure> {
    let named = request.uri().to_string();
    let failed =
        |error: FetchError| (named[..named.floor_char_boundary(200)].to_owned(), WhyNot::Failed(error));
    let url = Url::parse(&named).map_err(|error| failed(BadUrl::Invalid(error.to_string()).into()))?;
    let destination = Destination::of(&url).map_err(|error| failed(error.into()))?;
    if destination.tls {
        return Err(failed(BadUrl::Invalid("https goes through a tunnel".into()).into()));
    }
    let target = shown(&destination.host, destination.port);
    let opened = gate.open(lease, &destination).await.map_err(|why| (target.clone(), why))?;
    let lost =
        |error: hyper::Error| (target.clone(), WhyNot::Failed(FetchError::Incomplete(error.to_string())));
    let onward = TokioIo::new(Counted { stream: opened.stream, lease: Arc::clone(lease) });
    let (mut sender, connection) =
        hyper::client::conn::http1::Builder::new().handshake(onward).await.map_err(lost)?;
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
    // The address decides where it goes, so it also decides what is said.
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    if let Ok(host) = HeaderValue::from_str(host) {
        parts.headers.insert(HOST, host);
    }
    let response = sender.send_request(Request::from_parts(parts, body)).await.map_err(lost)?;
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(CONNECTION);
    Ok(Response::from_parts(parts, body.boxed()))
}

fn said(status: StatusCode, text: &'static str) -> Answer {
    let body = Full::new(Bytes::from_static(text.as_bytes())).map_err(|never| match never {}).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer
}

/// A stream that counts for its lease and ends when the lease has had its fill.
struct Counted {
    stream: Pin<Box<dyn Stream>>,
    lease: Arc<LeaseState>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let limit = self.lease.rules.bytes;
        if self.lease.received.load(Ordering::Relaxed) > limit {
            let error = FetchError::TooLarge { what: Excess::WireBody, limit };
            self.lease.remember(Unfetched { target: String::new(), why: WhyNot::Failed(error) });
            self.lease.ended.cancel();
            return Poll::Ready(Err(io::Error::other("the lease has had its fill")));
        }
        let before = buffer.filled().len();
        let polled = self.stream.as_mut().poll_read(context, buffer);
        self.lease.received.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        polled
    }
}

impl AsyncWrite for Counted {
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
