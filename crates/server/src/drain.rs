//! Reads what a handler left unread of a request's body before the response goes out. An error is often known before
//! the body was read (no key, no credits, a wrong path); a client that writes its whole request before it reads would
//! get a broken connection instead of that error if the connection ended with bytes unread.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::EXPECT;
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// More than the largest body that any route accepts.
const MAX_DRAINED_BYTES: usize = 64 * 1024 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn drain_body(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let waits_for_continue = request.headers().contains_key(EXPECT);
    let (parts, body) = request.into_parts();
    let shared = SharedBody(Arc::new(Mutex::new(OpenBody { body, was_read: false })));
    let response = next.run(Request::from_parts(parts, Body::new(shared.clone()))).await;
    // A client that asked whether it may send its body has not sent it, and reads the response first. Reading would
    // tell it to go ahead.
    if !waits_for_continue || shared.0.lock().was_read {
        drain(shared).await;
    }
    response
}

/// The response is the same whether or not the rest arrived.
async fn drain(mut body: SharedBody) {
    let mut drained = 0;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            drained += frame.data_ref().map_or(0, Bytes::len);
            if drained > MAX_DRAINED_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, reading).await;
}

/// A body that the handler reads from, and [`drain_body`] after it.
#[derive(Clone)]
struct SharedBody(Arc<Mutex<OpenBody>>);

struct OpenBody {
    body: Body,
    was_read: bool,
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut open = self.0.lock();
        open.was_read = true;
        Pin::new(&mut open.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::http::StatusCode;
    use axum::middleware::from_fn;
    use axum::routing::post;
    use futures_util::{StreamExt, stream};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tower::ServiceExt;

    const CHUNKS: usize = 40;

    /// Sends a body of many chunks; the status, and how many chunks were read.
    async fn chunks_read(path: &str, expect: Option<&str>) -> (StatusCode, usize) {
        let router = Router::new()
            .route("/refuses", post(async || StatusCode::UNAUTHORIZED))
            .route("/reads", post(async |body: Bytes| body.len().to_string()))
            .layer(from_fn(drain_body));
        let read = Arc::new(AtomicUsize::new(0));
        let counter = read.clone();
        let chunks = stream::iter(0..CHUNKS).map(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(Bytes::from_static(&[0; 1000]))
        });
        let mut request = Request::post(path);
        if let Some(expect) = expect {
            request = request.header(EXPECT, expect);
        }
        let response = router.oneshot(request.body(Body::from_stream(chunks)).unwrap()).await.unwrap();
        (response.status(), read.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn what_was_left_unread_is_read_before_the_response() {
        assert_eq!(chunks_read("/refuses", None).await, (StatusCode::UNAUTHORIZED, CHUNKS));
        assert_eq!(chunks_read("/nowhere", None).await, (StatusCode::NOT_FOUND, CHUNKS));
        assert_eq!(chunks_read("/reads", None).await, (StatusCode::OK, CHUNKS));
    }

    #[tokio::test]
    async fn a_client_that_waits_is_not_told_to_send() {
        assert_eq!(chunks_read("/refuses", Some("100-continue")).await, (StatusCode::UNAUTHORIZED, 0));
        assert_eq!(chunks_read("/reads", Some("100-continue")).await, (StatusCode::OK, CHUNKS));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        let router =
            Router::new().route("/", post(async || StatusCode::UNAUTHORIZED)).layer(from_fn(drain_body));
        let forever = stream::pending::<Result<Bytes, std::io::Error>>();
        let request = Request::post("/").body(Body::from_stream(forever)).unwrap();
        let began = tokio::time::Instant::now();
        assert_eq!(router.oneshot(request).await.unwrap().status(), StatusCode::UNAUTHORIZED);
        assert_eq!(began.elapsed(), DRAIN_TIMEOUT);
    }
}
