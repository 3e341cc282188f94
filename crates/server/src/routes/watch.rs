//! Watching crawls and batches: over a WebSocket on their status addresses, as the clients do it, and as server-sent events.

use crate::app::App;
use crate::error::Failure;
use crate::guard::identify;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::crawl::status::path;
use engine::crawl::watch::{Look, Watch};
use engine::{Caller, RateGroup};
use futures_util::stream::{self, Stream};
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use store::crawls::CrawlKind;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::{Issue, Kind, Scope, WireError};

/// A reader that takes nothing for so long is gone.
const SEND_TIME: Duration = Duration::from_secs(30);
/// How long the other side may take to say goodbye too.
const GOODBYE_TIME: Duration = Duration::from_secs(2);
/// A sign of life for whoever is between us.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Clients have nothing to say here.
const LARGEST_MESSAGE: usize = 4096;

/// Round the routes of crawls and batches, outside their door: takes the upgrades on status addresses. A refused key must be told
/// over the socket, where clients can read it.
pub async fn upgrades(State(app): State<App>, request: Request, next: Next) -> Response {
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
    let protocol = key_protocol(&parts.headers).map(str::to_owned);
    let headers = with_key(parts.headers, protocol.as_deref());
    upgrade
        // Clients hang up when what they offered is not taken.
        .protocols(protocol)
        .max_message_size(LARGEST_MESSAGE)
        .on_upgrade(move |mut socket| async move {
            let goodbye = follow(&app, &mut socket, &headers, kind, id).await;
            hang_up(socket, goodbye).await;
        })
}

/// One client offers the bare key as the protocol it wants to speak.
fn key_protocol(headers: &HeaderMap) -> Option<&str> {
    let offered = headers.get(SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    offered.split(',').map(str::trim).find(|protocol| !protocol.is_empty())
}

/// The headers with the key where it is looked for.
fn with_key(mut headers: HeaderMap, protocol: Option<&str>) -> HeaderMap {
    if let Some(key) = protocol
        && !headers.contains_key(AUTHORIZATION)
        && let Ok(value) = HeaderValue::from_str(&format!("Bearer {key}"))
    {
        headers.insert(AUTHORIZATION, value);
    }
    headers
}

/// How a socket is closed: the code, and a reason as JSON. None when the other side is gone already.
type Goodbye = Option<(u16, serde_json::Value)>;

/// Tells all there is to tell. The end itself is told by closing: clients then fetch the whole result.
async fn follow(
    app: &App,
    socket: &mut WebSocket,
    headers: &HeaderMap,
    kind: CrawlKind,
    id: Option<Uuid>,
) -> Goodbye {
    let opened = match open(app, headers, kind, id).await {
        Ok(opened) => opened,
        Err(refusal) => return Some(refusal),
    };
    let told = tell(app, socket, opened).await;
    told.unwrap_or_else(|error| Some((code_of(&error), json!({ "error": error.text() }))))
}

async fn open(
    app: &App,
    headers: &HeaderMap,
    kind: CrawlKind,
    id: Option<Uuid>,
) -> Result<Watch, (u16, serde_json::Value)> {
    let refused = |error: WireError| (code_of(&error), json!({ "error": error.text() }));
    let caller = identify(app, headers).await.map_err(refused)?;
    caller.require(Scope::Crawl).map_err(refused)?;
    app.gate.admit(&caller, RateGroup::Status).await.map_err(refused)?;
    let id = id.ok_or_else(|| refused(Kind::InvalidJobId.into()))?;
    // What belongs to another team is answered like what does not exist, or ids could be probed.
    app.crawler.watch(&caller, kind, id, 0).await.map_err(refused)
}

async fn tell(app: &App, socket: &mut WebSocket, mut watch: Watch) -> Result<Goodbye, WireError> {
    let done = |status: &str| Ok(Some((1000, json!({ "type": "done", "status": status }))));
    let caught_up = watch.catch_up().await?;
    // What has ended and does not fit is not begun: clients take an ended status for the whole result.
    let told = caught_up.live || caught_up.whole;
    if told && !send(socket, framed("catchup", &caught_up.status)).await {
        return Ok(None);
    }
    if !caught_up.live {
        return done("ended");
    }
    loop {
        let Some(look) = next_look(app, socket, &mut watch).await? else { return Ok(None) };
        let Look { head, documents, ended } = look;
        for (_, document) in documents {
            if !send(socket, framed("document", &document)).await {
                return Ok(None);
            }
        }
        // An end that is no failure is told by closing; clients take a failed crawl's status from here only.
        if !ended || head.status == "failed" {
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

/// The next look; none when the other side has gone, or we are.
async fn next_look(app: &App, socket: &mut WebSocket, watch: &mut Watch) -> Result<Option<Look>, WireError> {
    let mut look = pin!(watch.next());
    loop {
        tokio::select! {
            look = &mut look => return look.map(Some),
            () = app.stopping.cancelled() => return Err(WireError::unavailable("the server is stopping", 5)),
            message = socket.recv() => match message {
                None | Some(Err(_) | Ok(Message::Close(_))) => return Ok(None),
                Some(Ok(_)) => {}
            },
            () = tokio::time::sleep(PING_EVERY) => {
                if !send_message(socket, Message::Ping(Bytes::new())).await {
                    return Ok(None);
                }
            }
        }
    }
}

/// `{"type":…,"data":…}` round what is JSON already.
fn framed(kind: &str, json: &[u8]) -> Vec<u8> {
    let mut frame = format!("{{\"type\":\"{kind}\",\"data\":").into_bytes();
    frame.reserve_exact(json.len() + 1);
    frame.extend_from_slice(json);
    frame.push(b'}');
    frame
}

/// Whether it was taken.
async fn send(socket: &mut WebSocket, json: Vec<u8>) -> bool {
    // JSON of ours is always UTF-8.
    let text = String::from_utf8(json).unwrap_or_default();
    send_message(socket, Message::Text(text.into())).await
}

async fn send_message(socket: &mut WebSocket, message: Message) -> bool {
    tokio::time::timeout(SEND_TIME, socket.send(message)).await.is_ok_and(|sent| sent.is_ok())
}

async fn hang_up(mut socket: WebSocket, goodbye: Goodbye) {
    let Some((code, reason)) = goodbye else { return };
    let frame = CloseFrame { code, reason: short(reason.to_string()).into() };
    if send_message(&mut socket, Message::Close(Some(frame))).await {
        // Leaving at once could take the frame with it.
        let heard = async { while let Some(Ok(_)) = socket.recv().await {} };
        let _ = tokio::time::timeout(GOODBYE_TIME, heard).await;
    }
}

/// A reason has room for 123 bytes; one that has not is left out rather than cut into what is no JSON.
fn short(reason: String) -> String {
    if reason.len() <= 123 { reason } else { "{}".to_owned() }
}

fn code_of(error: &WireError) -> u16 {
    match error.status() {
        401 => 3000,
        403 => 3003,
        400 | 404 => 1008,
        429 => 1013,
        503 => 1012,
        _ => 1011,
    }
}

/// The same as server-sent events. Documents have their number as id, so a client that comes back goes on where it was.
pub async fn events(
    app: &App,
    caller: &Arc<Caller>,
    kind: CrawlKind,
    id: Uuid,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let watch = app.crawler.watch(caller, kind, id, last_event(headers)?).await?;
    let stream = told(watch, app.stopping.clone());
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(PING_EVERY)).into_response())
}

fn last_event(headers: &HeaderMap) -> Result<u64, WireError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(0) };
    let number = value.to_str().ok().map(str::trim).filter(|text| !text.is_empty());
    number.map_or(Some(0), |text| text.parse().ok()).ok_or_else(|| {
        WireError::invalid(&[Issue::at("Last-Event-ID", "must be the number of a document", "invalid_value")])
    })
}

fn told(watch: Watch, stopping: CancellationToken) -> impl Stream<Item = Result<Event, Infallible>> {
    let state = (Some(watch), VecDeque::new(), stopping);
    stream::unfold(state, |(mut watch, mut waiting, stopping)| async move {
        while waiting.is_empty() {
            let look = stopping.run_until_cancelled(watch.as_mut()?.next()).await?;
            if waiting_of(look, &mut waiting) {
                watch = None;
            }
        }
        waiting.pop_front().map(|event| (Ok(event), (watch, waiting, stopping)))
    })
}

/// Puts a look into events; whether it was the last one.
fn waiting_of(look: Result<Look, WireError>, waiting: &mut VecDeque<Event>) -> bool {
    let event = |name: &str, json: Vec<u8>| {
        Event::default().event(name).data(String::from_utf8(json).unwrap_or_default())
    };
    let plain = |name: &str, body: Result<Vec<u8>, serde_json::Error>| event(name, body.unwrap_or_default());
    match look {
        Ok(Look { head, documents, ended }) => {
            let numbered = documents.into_iter();
            waiting.extend(numbered.map(|(number, json)| event("document", json).id(number.to_string())));
            waiting.push_back(plain(if ended { "done" } else { "status" }, serde_json::to_vec(&head)));
            ended
        }
        Err(error) => {
            waiting.push_back(plain("error", serde_json::to_vec(&error.body())));
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
        assert_eq!(short("{}".to_owned()), "{}");
        let long = json!({ "error": "x".repeat(200) }).to_string();
        assert_eq!(short(long), "{}");
    }
}
