//! Fetches a URL into bytes, with redirects and retries, under one deadline. Owns the order of the steps;
//! DNS, sockets, headers, cookies and encodings have modules of their own. Never parses what it fetches.

mod exchange;
mod redirect;
mod request;
mod response;
mod retry;
mod trace;
mod validators;

pub use request::{AtLimit, Limits, Request, UrlRule};
pub use response::{BodySink, FetchedResponse, Hop, ResponseHead, ResponseMeta, Timings, Truncation};
pub use retry::{parse_retry_after, retry_after};
pub use validators::Validators;

use crate::allow::Purpose;
use crate::bot_auth::{BotIdentity, SIGNATURE_HEADERS};
use crate::connect::{ConnectTimings, Connector, Traffic, TrafficCounter};
use crate::cookies::CookieJar;
use crate::credentials::Credentials;
use crate::deadline::Deadline;
use crate::decode::{self, DecodeLimits, Decoder};
use crate::error::{FetchError, Phase, SizeLimit};
use crate::guard::{Destination, EgressPolicy};
use crate::headers;
use crate::pool::{Pool, PoolKey};
use crate::resolve::{CachingResolver, Resolve, SystemResolver};
use crate::route::{ProxySettings, Route, Routes};
use crate::tls::Tls;
use bytes::Bytes;
use exchange::{OutgoingRequest, PendingResponse};
use futures_util::future::BoxFuture;
use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Body as _;
use hyper::http::HeaderValue;
use hyper::http::header::{ACCEPT, CONTENT_TYPE};
use std::fmt;
use std::sync::Arc;
use tokio::time::{Instant, sleep};
use tokio_rustls::rustls::pki_types::CertificateDer;
use tracing::Instrument as _;
use url::Url;

/// The compression ratio is checked once this many bytes have been decoded.
const MIN_BYTES_FOR_RATIO: u64 = 1 << 20;

/// Settings of a [`Fetcher`].
#[derive(Debug, Clone)]
pub struct FetcherSettings {
    pub policy: EgressPolicy,
    pub proxies: ProxySettings,
    pub resolver: Arc<dyn Resolve>,
    /// Certificates to trust in addition to those of the system, for example an intranet's own authority.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Signs requests for pages.
    pub bot_identity: Option<Arc<BotIdentity>>,
}

impl FetcherSettings {
    pub fn new(policy: EgressPolicy) -> Self {
        Self {
            policy,
            proxies: ProxySettings::default(),
            resolver: Arc::new(CachingResolver::new(SystemResolver::default())),
            extra_roots: Vec::new(),
            bot_identity: None,
        }
    }
}

/// Fetches over HTTP. Cheap to clone; clones share connections and counters.
#[derive(Clone)]
pub struct Fetcher(Arc<FetcherInner>);

struct FetcherInner {
    connector: Connector,
    routes: Arc<Routes>,
    pool: Pool,
    bot_identity: Option<Arc<BotIdentity>>,
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Fetcher")
            .field("policy", &self.0.connector.policy)
            .field("routes", &self.0.routes)
            .finish_non_exhaustive()
    }
}

impl Fetcher {
    pub fn new(settings: FetcherSettings) -> Result<Self, FetchError> {
        let FetcherSettings { policy, proxies, resolver, extra_roots, bot_identity } = settings;
        let tls = Tls::new(&extra_roots)?;
        let connector = Connector { policy, resolver, tls, traffic: TrafficCounter::default() };
        Ok(Self(Arc::new(FetcherInner {
            connector,
            routes: Arc::new(Routes::new(proxies)),
            pool: Pool::default(),
            bot_identity,
        })))
    }

    /// Fetches into memory.
    pub fn fetch(
        &self,
        request: Request,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<FetchedResponse, FetchError>> {
        Box::pin(async move {
            let mut body = Vec::new();
            let meta = self.fetch_into(request, deadline, &mut body).await?;
            Ok(FetchedResponse { meta, body: Bytes::from(body) })
        })
    }

    /// Fetches into `sink`, which may stop early. The sink sees only the final response: never a redirect,
    /// never an attempt that is repeated.
    pub fn fetch_into<'a>(
        &'a self,
        request: Request,
        deadline: Deadline,
        sink: &'a mut dyn BodySink,
    ) -> BoxFuture<'a, Result<ResponseMeta, FetchError>> {
        Box::pin(async move {
            let span = trace::fetch_span(&request);
            let outcome = FetchRun::new(&self.0, request, deadline).run(sink).instrument(span.clone()).await;
            trace::record_outcome(&span, &outcome);
            outcome
        })
    }

    /// The connector and the routes, for the loopback proxy, which must follow the same rules.
    pub(crate) fn connector_and_routes(&self) -> (Connector, Arc<Routes>) {
        (self.0.connector.clone(), Arc::clone(&self.0.routes))
    }

    /// What signs requests for pages, if anything does.
    pub fn bot_identity(&self) -> Option<&Arc<BotIdentity>> {
        self.0.bot_identity.as_ref()
    }

    /// Bytes exchanged directly and through proxies since this fetcher was made.
    pub fn traffic(&self) -> Traffic {
        self.0.connector.traffic.snapshot()
    }

    /// Open connections that wait for another request.
    pub fn idle_connections(&self) -> usize {
        self.0.pool.len()
    }
}

/// The state of one fetch over its redirects and retries.
struct FetchRun<'a> {
    inner: &'a FetcherInner,
    request: Request,
    deadline: Deadline,
    started: Instant,
    hops: Vec<Hop>,
    seen: Vec<(Method, Url, Option<HeaderValue>)>,
    /// Whether the next request carries the caller's credentials. Once a redirect has left their site, no
    /// later one does.
    carries_credentials: bool,
    requests: u32,
    retries_left: u32,
}

impl<'a> FetchRun<'a> {
    fn new(inner: &'a FetcherInner, request: Request, deadline: Deadline) -> Self {
        let (retries_left, carries_credentials) =
            (request.limits.retries, request.credentials.covers(&request.url));
        let started = Instant::now();
        Self {
            inner,
            request,
            deadline,
            started,
            hops: Vec::new(),
            seen: Vec::new(),
            carries_credentials,
            requests: 0,
            retries_left,
        }
    }

    async fn run(mut self, sink: &mut dyn BodySink) -> Result<ResponseMeta, FetchError> {
        loop {
            let pending = self.send_with_retries().await?;
            self.request.cookies.store_from(&self.request.url, pending.response.headers());
            let target = if self.request.follow {
                redirect::target(&self.request.url, pending.response.status(), pending.response.headers())?
            } else {
                None
            };
            let Some(target) = target else {
                return self.read_body(pending, sink).await;
            };
            self.follow_redirect(&pending, target)?;
            self.inner.discard(pending, self.deadline).await;
        }
    }

    /// Sends one request, and again where that is safe and there is time.
    async fn send_with_retries(&mut self) -> Result<PendingResponse, FetchError> {
        let mut attempt = 0;
        loop {
            let outcome = self.send_once().await;
            let method = &self.request.method;
            let headers = match &outcome {
                Ok(pending) if retry::may_retry_status(method, pending.response.status()) => {
                    Some(pending.response.headers())
                }
                Err(error) if retry::may_retry_error(method, error) => None,
                _ => return outcome,
            };
            let max_delay = self.request.limits.max_retry_delay;
            let delay = retry::delay(attempt, headers, max_delay, self.deadline);
            let (Some(delay), true) = (delay, self.retries_left > 0) else {
                return outcome;
            };
            self.retries_left -= 1;
            attempt += 1;
            if let Ok(pending) = outcome {
                self.inner.discard(pending, self.deadline).await;
            }
            self.deadline.run(sleep(delay)).await.map_err(|_| self.timed_out(Phase::Retry))?;
        }
    }

    async fn send_once(&mut self) -> Result<PendingResponse, FetchError> {
        let request = &self.request;
        request.rule.check(&request.url)?;
        let destination = Destination::from_url(&request.url)?;
        // Checked before an idle connection can be used: what is forbidden now stays forbidden.
        self.inner.connector.policy.check_literal(request.purpose, &destination)?;
        let key = PoolKey {
            purpose: request.purpose,
            destination,
            route: self.inner.routes.choose(request.purpose, &request.via)?,
            check_certificate: request.check_certificate
                || (self.carries_credentials && request.credentials.need_checked_certificate()),
        };
        let cookie = request.cookies.header(&request.url);
        let own = request.credentials.headers(self.carries_credentials);
        let mut headers = headers::build(request.profile, &request.locale, &own, cookie);
        if request.prefers_markdown && !request.credentials.sets_header("accept") {
            headers.insert(ACCEPT, headers::MARKDOWN_FIRST);
        }
        if let Some(kind) = &request.content_type {
            headers.entry(CONTENT_TYPE).or_insert_with(|| kind.clone());
        }
        if let Some(known) = &request.validators {
            known.add_to(&request.url, &mut headers);
        }
        trace::pass_on(request, &mut headers);
        let is_signed = SIGNATURE_HEADERS.iter().any(|name| request.credentials.sets_header(name));
        if let Some(identity) = &self.inner.bot_identity
            && request.purpose == Purpose::Scrape
            && !is_signed
        {
            for (name, value) in identity.sign_request(&request.url) {
                if let Ok(value) = HeaderValue::from_str(&value) {
                    headers.insert(name, value);
                }
            }
        }
        let outgoing = OutgoingRequest {
            method: &request.method,
            url: &request.url,
            headers: &headers,
            body: &request.body,
        };
        self.requests += 1;
        self.inner.exchange(key, &outgoing, &request.limits, self.deadline).await
    }

    /// Prepares the request for a redirect target.
    fn follow_redirect(&mut self, pending: &PendingResponse, target: Url) -> Result<(), FetchError> {
        let limit = self.request.limits.redirects;
        if self.hops.len() >= limit {
            return Err(FetchError::TooManyRedirects { limit });
        }
        let request = &mut self.request;
        let status = pending.response.status();
        let (method, keep_body) = redirect::method(status, &request.method);
        if !keep_body {
            request.body = Bytes::new();
            request.content_type = None;
            request.credentials.remove_body_headers();
        }
        self.carries_credentials = self.carries_credentials && Credentials::may_follow(&request.url, &target);
        self.hops.push(Hop {
            url: request.url.clone(),
            status,
            remote: pending.connection.handle.remote,
            downgrade: request.url.scheme() == "https" && target.scheme() == "http",
        });
        request.method = method;
        request.url = target;
        // Many sites first redirect back to the same URL with new cookies; the same URL with the same cookies
        // is a loop.
        let state = (request.method.clone(), request.url.clone(), request.cookies.header(&request.url));
        if self.seen.contains(&state) {
            return Err(FetchError::RedirectLoop { url: request.url.to_string() });
        }
        self.seen.push(state);
        Ok(())
    }

    /// Reads the body of the final response into the sink.
    async fn read_body(
        self,
        pending: PendingResponse,
        sink: &mut dyn BodySink,
    ) -> Result<ResponseMeta, FetchError> {
        let PendingResponse { response, connection, key, reused, first_byte } = pending;
        let limits = &self.request.limits;
        let (parts, mut body) = response.into_parts();
        let encodings = decode::parse_encodings(&parts.headers)?;
        let decode_limits = DecodeLimits {
            body: limits.body_bytes,
            ratio: limits.ratio,
            min_bytes_for_ratio: MIN_BYTES_FOR_RATIO,
        };
        let mut decoder = Decoder::new(&encodings, decode_limits)?;
        let head = ResponseHead {
            url: self.request.url.clone(),
            status: parts.status,
            version: parts.version,
            headers: parts.headers,
            hops: self.hops.clone(),
            remote: connection.handle.remote,
            proxy: match &key.route {
                Route::Direct => None,
                Route::Through(proxy) => Some(proxy.to_string()),
            },
            encodings,
        };
        let connect_timings = if reused { ConnectTimings::default() } else { connection.handle.timings };
        let body_started = Instant::now();
        let mut progress = BodyProgress::default();
        let announced = body.size_hint().lower();
        if announced > limits.wire_bytes && limits.at_limit == AtLimit::Fail {
            return Err(FetchError::TooLarge { what: SizeLimit::WireBody, limit: limits.wire_bytes });
        }
        if sink.on_head(&head).is_break() {
            progress.truncated = Some(Truncation::Stopped);
        }
        while progress.truncated.is_none() {
            if let Some(room) = sink.wait_for_room() {
                self.deadline.run(room).await.map_err(|_| self.timed_out(Phase::Room))?;
            }
            let frame = self.deadline.child(limits.idle).run(body.frame()).await;
            let frame = frame.map_err(|_| {
                self.timed_out(if self.deadline.has_passed() { Phase::Body } else { Phase::Idle })
            })?;
            let Some(frame) = frame else {
                decoder.finish()?;
                break;
            };
            let frame = frame.map_err(|error| {
                if connection.handle.budget.is_exhausted() {
                    FetchError::TooLarge { what: SizeLimit::WireBody, limit: limits.wire_bytes }
                } else {
                    match exchange::from_hyper_error(&error, limits) {
                        FetchError::Incomplete(text) => FetchError::CutOff(text),
                        error => error,
                    }
                }
            })?;
            if let Some(piece) = frame.data_ref() {
                if connection.is_http1() {
                    connection.handle.budget.extend(exchange::max_bytes_between_chunks(limits));
                }
                progress.push(piece, &mut decoder, limits, sink)?;
            }
        }
        if progress.truncated.is_none() {
            self.inner.pool.put_back(&key, connection);
        }
        let timings = Timings {
            resolve: connect_timings.resolve,
            connect: connect_timings.connect,
            proxy: connect_timings.proxy,
            tls: connect_timings.tls,
            first_byte,
            body: body_started.elapsed(),
            total: self.started.elapsed(),
            reused,
        };
        Ok(ResponseMeta {
            head,
            wire_bytes: progress.wire,
            body_bytes: progress.plain,
            truncated: progress.truncated,
            timings,
            requests: self.requests,
            cookies: self.cookies(),
        })
    }

    fn cookies(&self) -> CookieJar {
        self.request.cookies.clone()
    }

    fn timed_out(&self, phase: Phase) -> FetchError {
        FetchError::Timeout { phase, after: self.started.elapsed() }
    }
}

/// How much of a body has been read.
#[derive(Debug, Default)]
struct BodyProgress {
    wire: u64,
    plain: u64,
    truncated: Option<Truncation>,
}

impl BodyProgress {
    fn push(
        &mut self,
        piece: &[u8],
        decoder: &mut Decoder,
        limits: &Limits,
        sink: &mut dyn BodySink,
    ) -> Result<(), FetchError> {
        let room = usize::try_from(limits.wire_bytes - self.wire).unwrap_or(usize::MAX);
        let kept = &piece[..piece.len().min(room)];
        self.wire += kept.len() as u64;
        let chunk = decoder.push(kept)?;
        let wire_exceeded = (kept.len() < piece.len()).then_some((SizeLimit::WireBody, limits.wire_bytes));
        let exceeded = chunk.exceeded.or(wire_exceeded);
        if let Some((what, limit)) = exceeded
            && (limits.at_limit == AtLimit::Fail || what == SizeLimit::Ratio)
        {
            return Err(FetchError::TooLarge { what, limit });
        }
        self.plain += chunk.bytes.len() as u64;
        let flow = if chunk.bytes.is_empty() {
            std::ops::ControlFlow::Continue(())
        } else {
            sink.on_chunk(&chunk.bytes)
        };
        self.truncated = match (exceeded, flow) {
            (Some((what, _)), _) => Some(Truncation::Limit(what)),
            (None, flow) if flow.is_break() => Some(Truncation::Stopped),
            _ => None,
        };
        Ok(())
    }
}
