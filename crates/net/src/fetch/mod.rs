//! Fetching: one call from an address to its bytes, through redirects and retries, under one deadline. Owns
//! the order of things; names, sockets, headers, cookies and encodings have rooms of their own. Never parses
//! what it brings.

mod exchange;
mod outcome;
mod redirect;
mod request;
mod retry;
pub use retry::retry_after;
mod validators;

pub use outcome::{BodySink, Fetched, Head, Hop, Outcome, Timings, Truncation};
pub use request::{AtLimit, HopRule, Limits, Request};
pub use validators::Validators;

use crate::connect::{Connector, Opening, Traffic, TrafficCount};
use crate::cookies::CookieJar;
use crate::credentials::Credentials;
use crate::deadline::Deadline;
use crate::decode::{self, Caps, Decoder};
use crate::error::{Excess, FetchError, Phase};
use crate::guard::{Destination, EgressPolicy};
use crate::headers;
use crate::pool::{Place, Pool};
use crate::resolve::{RecentNames, Resolve, SystemResolver};
use crate::route::{ProxySettings, Route, Routes};
use crate::tls::Tls;
use bytes::Bytes;
use exchange::{Answer, Message};
use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Body as _;
use hyper::http::HeaderValue;
use hyper::http::header::CONTENT_TYPE;
use std::fmt;
use std::sync::Arc;
use tokio::time::{Instant, sleep};
use tokio_rustls::rustls::pki_types::CertificateDer;
use url::Url;

/// From how many decoded bytes on the compression ratio is looked at.
const RATIO_FROM: u64 = 1 << 20;

/// How a fetcher is set up.
#[derive(Debug, Clone)]
pub struct FetcherSettings {
    pub policy: EgressPolicy,
    pub proxies: ProxySettings,
    pub resolver: Arc<dyn Resolve>,
    /// Certificates to trust beside those of the system: an intranet's own authority.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl FetcherSettings {
    pub fn new(policy: EgressPolicy) -> Self {
        Self {
            policy,
            proxies: ProxySettings::default(),
            resolver: Arc::new(RecentNames::over(SystemResolver::default())),
            extra_roots: Vec::new(),
        }
    }
}

/// Brings bytes from the web. Cheap to clone; clones share connections and counters.
#[derive(Clone)]
pub struct Fetcher(Arc<Inner>);

struct Inner {
    connector: Connector,
    routes: Arc<Routes>,
    pool: Pool,
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
        let FetcherSettings { policy, proxies, resolver, extra_roots } = settings;
        let tls = Tls::new(&extra_roots)?;
        let connector = Connector { policy, resolver, tls, traffic: TrafficCount::default() };
        Ok(Self(Arc::new(Inner { connector, routes: Arc::new(Routes::new(proxies)), pool: Pool::default() })))
    }

    /// Fetches into memory.
    pub async fn fetch(&self, request: Request, deadline: Deadline) -> Result<Fetched, FetchError> {
        let mut body = Vec::new();
        let outcome = self.fetch_into(request, deadline, &mut body).await?;
        Ok(Fetched { outcome, body: Bytes::from(body) })
    }

    /// Fetches into `sink`, which may stop early. The sink sees the final answer only: never a redirect, never
    /// an attempt that is repeated.
    pub async fn fetch_into(
        &self,
        request: Request,
        deadline: Deadline,
        sink: &mut dyn BodySink,
    ) -> Result<Outcome, FetchError> {
        Journey::new(&self.0, request, deadline).run(sink).await
    }

    /// What another way out needs to go by the same rules.
    pub(crate) fn ways(&self) -> (Connector, Arc<Routes>) {
        (self.0.connector.clone(), Arc::clone(&self.0.routes))
    }

    /// Bytes that went straight to targets and through proxies since this fetcher was made.
    pub fn traffic(&self) -> Traffic {
        self.0.connector.traffic.read()
    }

    /// Open connections that wait for a next request.
    pub fn kept_connections(&self) -> usize {
        self.0.pool.len()
    }
}

/// One fetch on its way through redirects and retries.
struct Journey<'a> {
    inner: &'a Inner,
    request: Request,
    deadline: Deadline,
    started: Instant,
    hops: Vec<Hop>,
    seen: Vec<(Method, Url, Option<HeaderValue>)>,
    /// The next request carries the caller's credentials. Once a redirect has left their site, no later one does.
    carries: bool,
    requests: u32,
    retries_left: u32,
}

impl<'a> Journey<'a> {
    fn new(inner: &'a Inner, request: Request, deadline: Deadline) -> Self {
        let (retries_left, carries) = (request.limits.retries, request.credentials.cover(&request.url));
        let started = Instant::now();
        Self {
            inner,
            request,
            deadline,
            started,
            hops: Vec::new(),
            seen: Vec::new(),
            carries,
            requests: 0,
            retries_left,
        }
    }

    async fn run(mut self, sink: &mut dyn BodySink) -> Result<Outcome, FetchError> {
        loop {
            let answer = self.ask().await?;
            self.request.cookies.learn(&self.request.url, answer.response.headers());
            let target = if self.request.follow {
                redirect::target(&self.request.url, answer.response.status(), answer.response.headers())?
            } else {
                None
            };
            let Some(target) = target else {
                return self.read(answer, sink).await;
            };
            self.turn(&answer, target)?;
            self.inner.discard(answer, self.deadline).await;
        }
    }

    /// Makes one request, again where that is safe and there is time.
    async fn ask(&mut self) -> Result<Answer, FetchError> {
        let mut attempt = 0;
        loop {
            let outcome = self.ask_once().await;
            let method = &self.request.method;
            let headers = match &outcome {
                Ok(answer) if retry::may_repeat_status(method, answer.response.status()) => {
                    Some(answer.response.headers())
                }
                Err(error) if retry::may_repeat_error(method, error) => None,
                _ => return outcome,
            };
            let longest = self.request.limits.longest_wait;
            let wait = retry::wait(attempt, headers, longest, self.deadline);
            let (Some(wait), true) = (wait, self.retries_left > 0) else {
                return outcome;
            };
            self.retries_left -= 1;
            attempt += 1;
            if let Ok(answer) = outcome {
                self.inner.discard(answer, self.deadline).await;
            }
            self.deadline.run(sleep(wait)).await.map_err(|_| self.timed_out(Phase::Retry))?;
        }
    }

    async fn ask_once(&mut self) -> Result<Answer, FetchError> {
        let request = &self.request;
        request.rule.check(&request.url)?;
        let destination = Destination::of(&request.url)?;
        // Before a kept connection can be found: what is forbidden now stays forbidden.
        self.inner.connector.policy.check_literal(request.purpose, &destination)?;
        let place = Place {
            purpose: request.purpose,
            destination,
            route: self.inner.routes.choose(request.purpose, &request.via)?,
            check_certificate: request.check_certificate
                || (self.carries && request.credentials.need_checked_certificate()),
        };
        let cookie = request.cookies.header(&request.url);
        let own = request.credentials.headers(self.carries);
        let mut headers = headers::compose(request.profile, &request.locale, &own, cookie);
        if let Some(kind) = &request.content_type {
            headers.entry(CONTENT_TYPE).or_insert_with(|| kind.clone());
        }
        if let Some(known) = &request.validators {
            known.ask(&request.url, &mut headers);
        }
        let message =
            Message { method: &request.method, url: &request.url, headers: &headers, body: &request.body };
        self.requests += 1;
        self.inner.exchange(place, &message, &request.limits, self.deadline).await
    }

    /// Takes the next step of a redirect.
    fn turn(&mut self, answer: &Answer, target: Url) -> Result<(), FetchError> {
        let limit = self.request.limits.redirects;
        if self.hops.len() >= limit {
            return Err(FetchError::TooManyRedirects { limit });
        }
        let request = &mut self.request;
        let status = answer.response.status();
        let (method, keep_body) = redirect::method(status, &request.method);
        if !keep_body {
            request.body = Bytes::new();
            request.content_type = None;
            request.credentials.forget_body();
        }
        self.carries = self.carries && Credentials::may_follow(&request.url, &target);
        self.hops.push(Hop {
            url: request.url.clone(),
            status,
            remote: answer.connection.line.remote,
            downgrade: request.url.scheme() == "https" && target.scheme() == "http",
        });
        request.method = method;
        request.url = target;
        // Coming back with other cookies is how many sites begin; coming back with the same ones is a loop.
        let state = (request.method.clone(), request.url.clone(), request.cookies.header(&request.url));
        if self.seen.contains(&state) {
            return Err(FetchError::RedirectLoop { url: request.url.to_string() });
        }
        self.seen.push(state);
        Ok(())
    }

    /// Reads the final answer into the sink.
    async fn read(self, answer: Answer, sink: &mut dyn BodySink) -> Result<Outcome, FetchError> {
        let Answer { response, connection, place, reused, first_byte } = answer;
        let limits = &self.request.limits;
        let (parts, mut body) = response.into_parts();
        let encodings = decode::encodings(&parts.headers)?;
        let caps = Caps { body: limits.body_bytes, ratio: limits.ratio, ratio_from: RATIO_FROM };
        let mut decoder = Decoder::new(&encodings, caps)?;
        let head = Head {
            url: self.request.url.clone(),
            status: parts.status,
            version: parts.version,
            headers: parts.headers,
            hops: self.hops.clone(),
            remote: connection.line.remote,
            proxy: match &place.route {
                Route::Direct => None,
                Route::Through(proxy) => Some(proxy.to_string()),
            },
            encodings,
        };
        let opening = if reused { Opening::default() } else { connection.line.opening };
        let body_started = Instant::now();
        let mut tally = Tally::default();
        let announced = body.size_hint().lower();
        if announced > limits.wire_bytes && limits.at_limit == AtLimit::Fail {
            return Err(FetchError::TooLarge { what: Excess::WireBody, limit: limits.wire_bytes });
        }
        if sink.head(&head).is_break() {
            tally.truncated = Some(Truncation::Stopped);
        }
        while tally.truncated.is_none() {
            if let Some(room) = sink.room() {
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
                if connection.line.budget.was_spent() {
                    FetchError::TooLarge { what: Excess::WireBody, limit: limits.wire_bytes }
                } else {
                    exchange::of_hyper(&error, limits)
                }
            })?;
            if let Some(piece) = frame.data_ref() {
                if connection.is_http1() {
                    connection.line.budget.go_on(exchange::between_pieces(limits));
                }
                tally.take(piece, &mut decoder, limits, sink)?;
            }
        }
        if tally.truncated.is_none() {
            self.inner.pool.keep(&place, connection);
        }
        let timings = Timings {
            resolve: opening.resolve,
            connect: opening.connect,
            proxy: opening.proxy,
            tls: opening.tls,
            first_byte,
            body: body_started.elapsed(),
            total: self.started.elapsed(),
            reused,
        };
        Ok(Outcome {
            head,
            wire_bytes: tally.wire,
            body_bytes: tally.plain,
            truncated: tally.truncated,
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

/// What has been read of a body.
#[derive(Debug, Default)]
struct Tally {
    wire: u64,
    plain: u64,
    truncated: Option<Truncation>,
}

impl Tally {
    fn take(
        &mut self,
        piece: &[u8],
        decoder: &mut Decoder,
        limits: &Limits,
        sink: &mut dyn BodySink,
    ) -> Result<(), FetchError> {
        let room = usize::try_from(limits.wire_bytes - self.wire).unwrap_or(usize::MAX);
        let kept = &piece[..piece.len().min(room)];
        self.wire += kept.len() as u64;
        let step = decoder.push(kept)?;
        let wire_over = (kept.len() < piece.len()).then_some((Excess::WireBody, limits.wire_bytes));
        let over = step.over.or(wire_over);
        if let Some((what, limit)) = over
            && (limits.at_limit == AtLimit::Fail || what == Excess::Ratio)
        {
            return Err(FetchError::TooLarge { what, limit });
        }
        self.plain += step.bytes.len() as u64;
        let wish =
            if step.bytes.is_empty() { std::ops::ControlFlow::Continue(()) } else { sink.piece(&step.bytes) };
        self.truncated = match (over, wish) {
            (Some((what, _)), _) => Some(Truncation::Limit(what)),
            (None, wish) if wish.is_break() => Some(Truncation::Stopped),
            _ => None,
        };
        Ok(())
    }
}
