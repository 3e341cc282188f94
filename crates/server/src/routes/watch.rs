//! Live updates of crawls and batches: by a WebSocket on their status URLs, as the clients use it, and by
//! server-sent events.

use crate::app::App;
use crate::auth::identify;
use crate::error::ApiError;
use crate::v1::TranslatedFromV1;
use access::{Caller, RateGroup};
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::crawl::CrawlKind;
use engine::crawl::status::path;
use engine::crawl::watch::{Watch, WatchUpdate};
use futures_util::stream::{self, Stream};
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::{Issue, Kind, Scope, WireError};

/// A client that accepts nothing for this long is gone.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait for the client's close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Keep-alive interval, so that proxies do not close the connection.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Clients send nothing but control messages.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Middleware around the routes of crawls and batches that accepts WebSocket upgrades on status URLs. It is
/// outside their access check, because a rejected key must be reported over the socket, where clients can
/// read it.
pub async fn accept_upgrades(State(app): State<App>, request: Request, next: Next) -> Response {
    let asks = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"websocket");
    if !request.headers().get(UPGRADE).is_some_and(asks) {
        return next.run(request).await;
    }
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str).unwrap_or_default();
    let kinds = [CrawlKind::Crawl, CrawlKind::Batch];
    let kind = kinds.into_iter().find(|kind| matched.strip_prefix(path(*kind)) == Some("/{id}"));
    let Some(kind) = kind else { return next.run(request).await };
    let id = request.uri().path().rsplit('/').next().and_then(|text| Uuid::try_parse(text).ok());
    let mut parts = request.into_parts().0;
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &app).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let dialect =
        if parts.extensions.get::<TranslatedFromV1>().is_some() { Dialect::V1 } else { Dialect::V2 };
    let protocol = key_protocol(&parts.headers).map(str::to_owned);
    let headers = with_key(parts.headers, protocol.as_deref());
    upgrade
        // Clients close the connection if the protocol they offered is not accepted.
        .protocols(protocol)
        .max_message_size(MAX_MESSAGE_BYTES)
        .on_upgrade(move |mut socket| async move {
            let close_reason = serve_socket(&app, &mut socket, &headers, kind, id, dialect).await;
            close_socket(socket, close_reason, dialect).await;
        })
}

/// One of the clients sends its key as the WebSocket protocol.
fn key_protocol(headers: &HeaderMap) -> Option<&str> {
    let offered = headers.get(SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    offered.split(',').map(str::trim).find(|protocol| !protocol.is_empty())
}

/// The headers with the key as `Authorization`.
fn with_key(mut headers: HeaderMap, protocol: Option<&str>) -> HeaderMap {
    if let Some(key) = protocol
        && !headers.contains_key(AUTHORIZATION)
        && let Ok(value) = HeaderValue::from_str(&format!("Bearer {key}"))
    {
        headers.insert(AUTHORIZATION, value);
    }
    headers
}

/// Which messages a client understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Updates of the status between documents; the end is the close reason.
    V2,
    /// Messages with a type only; the end is the last of them.
    V1,
}

/// Close code and reason as JSON; none if the client has already gone.
type CloseReason = Option<(u16, serde_json::Value)>;

/// Sends all updates. The end is reported by closing: clients then fetch the whole result.
async fn serve_socket(
    app: &App,
    socket: &mut WebSocket,
    headers: &HeaderMap,
    kind: CrawlKind,
    id: Option<Uuid>,
    dialect: Dialect,
) -> CloseReason {
    let opened = match open_watch(app, headers, kind, id).await {
        Ok(opened) => opened,
        Err(refusal) => return Some(refusal),
    };
    let ended = send_updates(app, socket, opened, dialect).await;
    ended.unwrap_or_else(|error| Some((close_code(&error), json!({ "error": error.text() }))))
}

async fn open_watch(
    app: &App,
    headers: &HeaderMap,
    kind: CrawlKind,
    id: Option<Uuid>,
) -> Result<Watch, (u16, serde_json::Value)> {
    let refused = |error: WireError| (close_code(&error), json!({ "error": error.text() }));
    let caller = identify(app, &Method::GET, headers, None).await.map_err(refused)?;
    caller.require(Scope::Crawl).map_err(|error| refused(error.into()))?;
    app.services.limiter.admit(&caller, RateGroup::Status).await.map_err(|error| refused(error.into()))?;
    let id = id.ok_or_else(|| refused(Kind::InvalidJobId.into()))?;
    // A crawl of another team looks as if it did not exist, so that ids cannot be probed.
    app.crawler.watch(&caller, kind, id, 0).await.map_err(|error| refused(error.into()))
}

async fn send_updates(
    app: &App,
    socket: &mut WebSocket,
    mut watch: Watch,
    dialect: Dialect,
) -> Result<CloseReason, WireError> {
    let done = |status: &str| Ok(Some((1000, json!({ "type": "done", "status": status }))));
    let caught_up = watch.catch_up().await?;
    let live = caught_up.live;
    if live || caught_up.whole {
        if !send(socket, typed_message("catchup", &caught_up.status)).await {
            return Ok(None);
        }
        if !live {
            return done("ended");
        }
    } else {
        // A finished crawl that does not fit into one message: clients take a final status for the whole
        // result, so they are sent the documents alone.
        watch.start_over();
    }
    loop {
        let Some(look) = next_update(app, socket, &mut watch).await? else { return Ok(None) };
        let WatchUpdate { head, documents, ended } = look;
        for (_, document) in documents {
            if !send(socket, typed_message("document", &document)).await {
                return Ok(None);
            }
        }
        // A successful end is reported by closing; for a failed crawl clients need the final status.
        let tells_status = (live && !ended) || (ended && head.status == "failed");
        if tells_status && dialect == Dialect::V2 {
            let status = serde_json::to_vec(&head).unwrap_or_default();
            if !send(socket, status).await {
                return Ok(None);
            }
        }
        if ended {
            return done(head.status);
        }
    }
}

/// The next update; none if the client has gone.
async fn next_update(
    app: &App,
    socket: &mut WebSocket,
    watch: &mut Watch,
) -> Result<Option<WatchUpdate>, WireError> {
    let mut look = watch.next_update();
    loop {
        tokio::select! {
            look = &mut look => return Ok(Some(look?)),
            () = app.stopping.cancelled() => return Err(WireError::unavailable("the server is stopping", 5)),
            message = socket.recv() => match message {
                None | Some(Err(_) | Ok(Message::Close(_))) => return Ok(None),
                Some(Ok(_)) => {}
            },
            () = tokio::time::sleep(PING_INTERVAL) => {
                if !send_message(socket, Message::Ping(Bytes::new())).await {
                    return Ok(None);
                }
            }
        }
    }
}

/// Puts JSON into `{"type":…,"data":…}`.
fn typed_message(kind: &str, json: &[u8]) -> Vec<u8> {
    let mut frame = format!("{{\"type\":\"{kind}\",\"data\":").into_bytes();
    frame.reserve_exact(json.len() + 1);
    frame.extend_from_slice(json);
    frame.push(b'}');
    frame
}

/// Returns whether the message was sent.
async fn send(socket: &mut WebSocket, json: Vec<u8>) -> bool {
    // Our JSON is always UTF-8.
    let text = String::from_utf8(json).unwrap_or_default();
    send_message(socket, Message::Text(text.into())).await
}

async fn send_message(socket: &mut WebSocket, message: Message) -> bool {
    tokio::time::timeout(SEND_TIMEOUT, socket.send(message)).await.is_ok_and(|sent| sent.is_ok())
}

async fn close_socket(mut socket: WebSocket, close_reason: CloseReason, dialect: Dialect) {
    let Some((code, mut reason)) = close_reason else { return };
    // Clients that read the close reason too must not see the end twice.
    if dialect == Dialect::V1 {
        if reason.get("type").is_none() {
            reason["type"] = "error".into();
        }
        send(&mut socket, reason.to_string().into_bytes()).await;
        reason = json!({});
    }
    let frame = CloseFrame { code, reason: fit_close_reason(reason.to_string()).into() };
    if send_message(&mut socket, Message::Close(Some(frame))).await {
        // Closing at once could lose the close frame.
        let heard = async { while let Some(Ok(_)) = socket.recv().await {} };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, heard).await;
    }
}

/// A close reason is limited to 123 bytes; a longer one is left out, because cut JSON would be invalid.
fn fit_close_reason(reason: String) -> String {
    if reason.len() <= 123 { reason } else { "{}".to_owned() }
}

fn close_code(error: &WireError) -> u16 {
    match error.status() {
        401 => 3000,
        403 => 3003,
        400 | 404 => 1008,
        429 => 1013,
        503 => 1012,
        _ => 1011,
    }
}

/// The updates as server-sent events. The number of a document is its event id, so that a client that
/// reconnects can continue.
pub async fn events(
    app: &App,
    caller: &Arc<Caller>,
    kind: CrawlKind,
    id: Uuid,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let watch = app.crawler.watch(caller, kind, id, last_event(headers)?).await?;
    let stream = event_stream(watch, app.stopping.clone());
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(PING_INTERVAL)).into_response())
}

fn last_event(headers: &HeaderMap) -> Result<u64, WireError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(0) };
    let number = value.to_str().ok().map(str::trim).filter(|text| !text.is_empty());
    number.map_or(Some(0), |text| text.parse().ok()).ok_or_else(|| {
        WireError::invalid(&[Issue::at("Last-Event-ID", "must be the number of a document", "invalid_value")])
    })
}

fn event_stream(watch: Watch, stopping: CancellationToken) -> impl Stream<Item = Result<Event, Infallible>> {
    let state = (Some(watch), VecDeque::new(), stopping);
    stream::unfold(state, |(mut watch, mut pending, stopping)| async move {
        while pending.is_empty() {
            let look = stopping.run_until_cancelled(watch.as_mut()?.next_update()).await?;
            if push_events(look, &mut pending) {
                watch = None;
            }
        }
        pending.pop_front().map(|event| (Ok(event), (watch, pending, stopping)))
    })
}

/// Adds the events of an update; returns whether it was the last one.
fn push_events(look: Result<WatchUpdate, engine::Error>, pending: &mut VecDeque<Event>) -> bool {
    let event = |name: &str, json: Vec<u8>| {
        Event::default().event(name).data(String::from_utf8(json).unwrap_or_default())
    };
    let plain = |name: &str, body: Result<Vec<u8>, serde_json::Error>| event(name, body.unwrap_or_default());
    match look {
        Ok(WatchUpdate { head, documents, ended }) => {
            let numbered = documents.into_iter();
            pending.extend(numbered.map(|(number, json)| event("document", json).id(number.to_string())));
            pending.push_back(plain(if ended { "done" } else { "status" }, serde_json::to_vec(&head)));
            ended
        }
        Err(error) => {
            pending.push_back(plain("error", serde_json::to_vec(&error.to_wire().body())));
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (axum::http::HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_key_may_come_as_the_protocol() {
        let offered = headers(&[("sec-websocket-protocol", "gn-key, other")]);
        assert_eq!(key_protocol(&offered), Some("gn-key"));
        assert_eq!(with_key(offered.clone(), Some("gn-key"))[AUTHORIZATION], "Bearer gn-key");
        let both = headers(&[("sec-websocket-protocol", "chat"), ("authorization", "Bearer gn-other")]);
        assert_eq!(with_key(both, Some("chat"))[AUTHORIZATION], "Bearer gn-other");
        assert_eq!(key_protocol(&HeaderMap::new()), None);
    }

    #[test]
    fn the_last_event_is_a_number() {
        assert_eq!(last_event(&HeaderMap::new()).unwrap(), 0);
        assert_eq!(last_event(&headers(&[("last-event-id", "17")])).unwrap(), 17);
        assert_eq!(last_event(&headers(&[("last-event-id", "")])).unwrap(), 0);
        assert!(last_event(&headers(&[("last-event-id", "x")])).is_err());
    }

    #[test]
    fn reasons_fit_their_frame_and_stay_json() {
        assert_eq!(fit_close_reason("{}".to_owned()), "{}");
        let long = json!({ "error": "x".repeat(200) }).to_string();
        assert_eq!(fit_close_reason(long), "{}");
    }
}
