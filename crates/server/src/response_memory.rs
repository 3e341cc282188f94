//! What responses take in memory until their callers have read them, bounded for this process and for each team.
//! A response takes its part when it is complete and gives it back when the last of it is on the connection. Who
//! does not read at all is disconnected by [`crate::connection`]; who reads large responses too slowly, here.

use crate::error::ApiError;
use crate::shared_memory::{FREE_BYTES, Share, SharedMemory};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::Extensions;
use axum::http::header::ACCEPT_ENCODING;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;
use wire::WireError;

/// What one team may have of all, as a fraction.
const TEAM_SHARE: usize = 2;
/// A team that has less left than this fraction of its share starts no more work; nor does anybody where so little
/// of all is left.
const RESERVE: usize = 8;
const RETRY_AFTER_SECONDS: u64 = 5;
/// So long a counted response may take to be read, and as much longer as it takes at the least rate.
const READ_TIMEOUT: Duration = Duration::from_mins(1);
const MIN_BYTES_PER_SECOND: u64 = 64 * 1024;
/// What compressing a response on its way takes.
const COMPRESSOR_BYTES: usize = 1 << 20;
/// What the connection gets at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The memory of all responses.
#[derive(Debug)]
pub struct ResponseMemory {
    bytes: usize,
    all: SharedMemory,
    teams: Mutex<HashMap<Uuid, SharedMemory>>,
}

impl ResponseMemory {
    pub fn new(bytes: usize) -> Self {
        Self { bytes, all: SharedMemory::new(bytes), teams: Mutex::default() }
    }

    /// An error where work would begin whose response might find no memory.
    pub fn require_room(&self, team: Uuid) -> Result<(), WireError> {
        let is_short = |memory: &SharedMemory, of: usize| memory.free_bytes() < of / RESERVE;
        let share = self.share_bytes();
        if self.teams.lock().get(&team).is_some_and(|memory| is_short(memory, share)) {
            return Err(unavailable("responses of this team wait to be read"));
        }
        if is_short(&self.all, self.bytes) { Err(unavailable(MANY)) } else { Ok(()) }
    }

    fn share_bytes(&self) -> usize {
        (self.bytes / TEAM_SHARE).max(FREE_BYTES)
    }

    fn hold(&self, team: Uuid, bytes: usize) -> Result<[Share; 2], WireError> {
        let of_team = {
            let mut teams = self.teams.lock();
            teams.retain(|_, memory| memory.is_used());
            teams.entry(team).or_insert_with(|| SharedMemory::new(self.share_bytes())).clone()
        };
        // Whatever is larger than a share takes all of it.
        let bytes = bytes.min(self.share_bytes());
        let mut held = [of_team.share(), self.all.share()];
        for share in &mut held {
            share.take(bytes).map_err(|_| unavailable(MANY))?;
        }
        Ok(held)
    }
}

const MANY: &str = "too many responses wait to be read";

fn unavailable(why: &str) -> WireError {
    WireError::unavailable(why, RETRY_AFTER_SECONDS)
}

/// Whose response it is.
#[derive(Debug, Clone, Copy)]
pub struct ResponseTeam(pub Uuid);

impl ResponseTeam {
    /// All who have signed links share the part of one team: nobody knows who they are.
    pub const OF_LINKS: Self = Self(Uuid::nil());
}

/// What a response takes whose body is made while it is read, and where its result can be read again.
#[derive(Debug, Clone)]
pub struct HeldResponse {
    pub bytes: usize,
    pub again: Option<String>,
}

/// There is no memory for a compressor of this response.
#[derive(Debug, Clone, Copy)]
struct Uncompressed;

/// Whether a response may be compressed: what a compressor takes is counted for a team, and nobody else gets one.
pub fn may_compress(extensions: &Extensions) -> bool {
    extensions.get::<ResponseTeam>().is_some() && extensions.get::<Uncompressed>().is_none()
}

/// Has the response of a team take its memory. What is read by nobody in particular is the same bytes for everybody.
pub async fn hold_response(
    State(memory): State<Arc<ResponseMemory>>,
    request: Request,
    next: Next,
) -> Response {
    let takes_compressed = request.headers().contains_key(ACCEPT_ENCODING);
    let response = next.run(request).await;
    hold(&memory, response, takes_compressed)
}

fn hold(memory: &ResponseMemory, mut response: Response, takes_compressed: bool) -> Response {
    let Some(&ResponseTeam(team)) = response.extensions().get() else { return response };
    let Some(length) = response.body().size_hint().exact() else { return response };
    let made = response.extensions().get::<HeldResponse>();
    let bytes = made.map_or_else(|| usize::try_from(length).unwrap_or(usize::MAX), |made| made.bytes);
    let compresses = takes_compressed && length > FREE_BYTES as u64;
    if bytes <= FREE_BYTES && !compresses {
        return response;
    }
    let mut held = memory.hold(team, bytes.saturating_add(if compresses { COMPRESSOR_BYTES } else { 0 }));
    if held.is_err() && compresses {
        response.extensions_mut().insert(Uncompressed);
        held = memory.hold(team, bytes);
    }
    let held = match held {
        Ok(held) => held,
        Err(error) => {
            metrics::counter!("gannet_responses_refused_total").increment(1);
            let again = response.extensions().get().and_then(|made: &HeldResponse| made.again.as_deref());
            let again = again.map(|again| unavailable(&format!("{MANY}; the result may be read by {again}")));
            return ApiError(again.unwrap_or(error)).into_response();
        }
    };
    let time = READ_TIMEOUT + Duration::from_secs(length / MIN_BYTES_PER_SECOND);
    response.map(|body| {
        Body::new(HeldBody { body, rest: Bytes::new(), read_until: Instant::now() + time, _held: held })
    })
}

/// A body in small pieces, which keeps its part of the memory until the last one was taken.
struct HeldBody {
    body: Body,
    /// What was taken from the body and not yet given to the connection.
    rest: Bytes,
    read_until: Instant,
    _held: [Share; 2],
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Asked for each time the connection has taken what it got before.
        if Instant::now() > self.read_until {
            metrics::counter!("gannet_connections_cut_total", "reason" => "reading_slowly").increment(1);
            let error = io::Error::new(io::ErrorKind::TimedOut, "the client reads the response too slowly");
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        while self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end),
            }
        }
        let bytes = self.rest.len().min(PIECE_BYTES);
        // A copy: a part of the same memory would keep all of it until the connection has sent that part.
        let piece = Bytes::copy_from_slice(&self.rest.split_to(bytes));
        if self.rest.is_empty() {
            self.rest = Bytes::new();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let inner = self.body.size_hint().exact().unwrap_or_default();
        SizeHint::with_exact(inner + self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;
    use http_body_util::BodyExt as _;

    const BYTES: usize = 1 << 20;
    const SHARE: usize = BYTES / TEAM_SHARE;

    fn response(team: u128, bytes: usize) -> Response {
        let mut response = vec![b'x'; bytes].into_response();
        response.extensions_mut().insert(ResponseTeam(Uuid::from_u128(team)));
        response
    }

    #[tokio::test]
    async fn responses_wait_within_the_share_of_their_team_until_they_are_read() {
        let memory = ResponseMemory::new(BYTES);
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        // Larger than a share: one is served, and nothing beside it.
        let first = hold(&memory, response(1, 3 * SHARE), false);
        assert_eq!(
            (first.status(), first.body().size_hint().exact()),
            (StatusCode::OK, Some(3 * SHARE as u64))
        );
        let refused = hold(&memory, response(1, 3 * FREE_BYTES), false);
        assert_eq!(
            (refused.status(), refused.headers()["retry-after"].as_bytes()),
            (StatusCode::SERVICE_UNAVAILABLE, &b"5"[..])
        );
        assert_eq!(
            hold(&memory, response(1, FREE_BYTES), false).status(),
            StatusCode::OK,
            "small ones are free"
        );
        assert!(memory.require_room(one).is_err());
        memory.require_room(other).unwrap();
        let others: Vec<Response> =
            (2..=TEAM_SHARE as u128).map(|team| hold(&memory, response(team, SHARE), false)).collect();
        assert!(others.iter().all(|held| held.status() == StatusCode::OK));
        let late = Uuid::from_u128(9);
        assert!(memory.require_room(late).is_err(), "all of it is taken");
        let mut body = first.into_body();
        let mut read = 0;
        while let Some(frame) = body.frame().await {
            let piece = frame.unwrap().into_data().unwrap();
            assert!(piece.len() <= PIECE_BYTES);
            read += piece.len();
        }
        assert_eq!(read, 3 * SHARE);
        drop((body, others));
        memory.require_room(late).unwrap();
        assert_eq!(memory.all.free_bytes(), BYTES);
    }

    #[tokio::test]
    async fn a_body_that_is_made_while_it_is_read_takes_what_it_is_made_of() {
        let memory = ResponseMemory::new(BYTES);
        let made = || {
            let mut made = response(1, 3 * SHARE);
            made.extensions_mut().insert(HeldResponse { bytes: SHARE / 2, again: Some("GET /x".to_owned()) });
            hold(&memory, made, false)
        };
        let held = [made(), made()];
        assert!(held.iter().all(|held| held.status() == StatusCode::OK));
        let refused = made().into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&refused).contains("may be read by GET /x"), "{refused:?}");
    }

    #[tokio::test]
    async fn where_a_compressor_has_no_room_the_response_goes_out_as_it_is() {
        let memory = ResponseMemory::new(2 * TEAM_SHARE * COMPRESSOR_BYTES);
        let held = [(); 2].map(|()| hold(&memory, response(1, 2 * FREE_BYTES), true));
        assert_eq!(held.each_ref().map(|held| may_compress(held.extensions())), [true, false]);
        assert!(held.iter().all(|held| held.status() == StatusCode::OK));
        let nobody = vec![b'x'; 2 * FREE_BYTES].into_response();
        assert!(!may_compress(hold(&memory, nobody, true).extensions()), "nobody in particular asked");
        let short = hold(&memory, response(2, FREE_BYTES), true);
        assert!(may_compress(short.extensions()), "what is short is compressed at once");
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_who_reads_too_slowly_is_cut_off() {
        let memory = ResponseMemory::new(BYTES);
        let mut body = hold(&memory, response(1, 2 * PIECE_BYTES), false).into_body();
        tokio::time::advance(READ_TIMEOUT).await;
        assert!(body.frame().await.unwrap().is_ok());
        tokio::time::advance(Duration::from_secs(3)).await;
        assert!(body.frame().await.unwrap().is_err());
    }
}
