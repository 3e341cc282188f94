//! What the signed links of browser sessions lead to: the WebSocket of the Chrome DevTools Protocol, and the live view. No
//! key is needed: clients and browsers that follow the links cannot send one.

use crate::app::App;
use crate::base_url::base_url;
use crate::body::QueryString;
use crate::error::ApiError;
use crate::message_meter::{MAX_MESSAGE_BYTES, MessageMeter};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::{Extensions, HeaderMap, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, put};
use engine::interact::{CdpPort, LinkPurpose, OnActivity, SessionUpload, ViewInput, ViewOutput};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, interval_at};
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;
use wire::Kind;

const VIEW_PAGE: &str = include_str!("live_view.html");
/// The largest message of a viewer: a text that is pasted.
const MAX_INPUT_BYTES: usize = 256 << 10;
/// The buffer that a socket is read with, which is cleared for each message: small, because most messages are.
const READ_BUFFER_BYTES: usize = 8 << 10;
const FILE_PIECE_BYTES: usize = 64 << 10;
/// A client that accepts nothing for this long is gone.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Keep-alive interval, so that proxies do not close the connection.
const PING_INTERVAL: Duration = Duration::from_secs(20);

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .route("/cdp/{id}", get(cdp_socket))
        .route("/cdp/{id}/json/version", get(cdp_version))
        .route("/cdp/{id}/json/version/", get(cdp_version))
        .route("/cdp/{id}/files/{name}", get(session_file).put(send_file))
        .route("/view/{id}", get(view_page))
        .route("/view/{id}/socket", get(view_socket))
        .route("/view/{id}/files/{name}", put(send_file_by_view))
}

/// A request without an upgrade finds nothing here.
type MaybeUpgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

#[derive(Debug, Deserialize)]
pub(super) struct TokenQuery {
    #[serde(default)]
    pub(super) token: String,
}

pub(super) fn parse_id(id: &str) -> Result<Uuid, ApiError> {
    Uuid::try_parse(id).map_err(|_| Kind::SessionNotFound.into())
}

/// The protocol, as a browser of its own would speak it.
async fn cdp_socket(
    State(app): State<App>,
    extensions: Extensions,
    Path(id): Path<String>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
    upgrade: MaybeUpgrade,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|_| Kind::NotFound)?;
    // Before the upgrade, so that errors have a status.
    let id = parse_id(&id)?;
    let (port, note_activity) = app.sessions.connect(id, &token).await?;
    let meter = extensions.get::<MessageMeter>().cloned().unwrap_or_default();
    meter.start(&app.client_memory.of_session(id));
    let upgrade = upgrade.max_message_size(MAX_MESSAGE_BYTES).max_frame_size(MAX_MESSAGE_BYTES);
    let upgrade = upgrade.read_buffer_size(READ_BUFFER_BYTES);
    Ok(upgrade.on_upgrade(move |socket| relay(socket, port, note_activity, meter)))
}

async fn relay(mut socket: WebSocket, port: CdpPort, note_activity: OnActivity, meter: MessageMeter) {
    let (sender, mut receiver) = port.split();
    let mut ping = ping_interval();
    loop {
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    note_activity();
                    sender.send(&text);
                    meter.note_message();
                }
                Some(Ok(Message::Ping(payload) | Message::Pong(payload))) => meter.note_control(payload.len()),
                Some(Ok(Message::Binary(_))) => meter.note_message(),
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
            },
            message = receiver.recv() => {
                let Some(text) = message else {
                    let _ = send(&mut socket, Message::Close(None)).await;
                    return;
                };
                if !send(&mut socket, Message::Text(text.into())).await {
                    return;
                }
            }
            _ = ping.tick() => {
                if meter.is_late() || !send(&mut socket, Message::Ping(Bytes::new())).await {
                    return;
                }
            }
        }
    }
}

/// One timer for the whole connection: setting one for each message costs as much as passing it on.
fn ping_interval() -> Interval {
    interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL)
}

/// Returns whether the message was sent.
async fn send(socket: &mut WebSocket, message: Message) -> bool {
    tokio::time::timeout(SEND_TIMEOUT, socket.send(message)).await.is_ok_and(|sent| sent.is_ok())
}

/// Where clients that are given an `http://` URL find the WebSocket.
async fn cdp_version(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let id = parse_id(&id)?;
    app.sessions.check_link(id, &token)?;
    let base = base_url(&app.settings, &headers).replacen("http", "ws", 1);
    Ok(Json(json!({
        "Browser": "Chrome",
        "Protocol-Version": "1.3",
        "webSocketDebuggerUrl": format!("{base}/cdp/{id}?token={token}"),
    })))
}

/// A download of the session: a client on another machine has no other way to it.
async fn session_file(
    State(app): State<App>,
    Path((id, name)): Path<(String, String)>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
) -> Result<Response, ApiError> {
    let file = app.sessions.open_file(parse_id(&id)?, &token, name).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        // What a page sent must not be shown or run in the origin of this server.
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let pieces = stream::try_unfold(file, |mut file| async move {
        let mut piece = Vec::with_capacity(FILE_PIECE_BYTES);
        let read = file.read_buf(&mut piece).await?;
        Ok::<_, io::Error>((read > 0).then(|| (Bytes::from(piece), file)))
    });
    Ok((headers, Body::from_stream(pieces)).into_response())
}

/// A file for a page of the session. The path in the answer is what `DOM.setFileInputFiles` takes.
async fn send_file(
    State(app): State<App>,
    Path((id, name)): Path<(String, String)>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let upload = app.sessions.create_upload(parse_id(&id)?, LinkPurpose::Cdp, &token, name).await?;
    let path = upload.path.to_string_lossy().into_owned();
    receive_file(upload, body).await?;
    Ok(Json(json!({ "path": path })))
}

/// The same in the live view, for the choice of files that it shows. Its page is told a name, and no path of this machine.
async fn send_file_by_view(
    State(app): State<App>,
    Path((id, name)): Path<(String, String)>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let upload = app.sessions.create_upload(parse_id(&id)?, LinkPurpose::Act, &token, name).await?;
    let name = upload.name();
    receive_file(upload, body).await?;
    Ok(Json(json!({ "file": name })))
}

/// Writes a body piece by piece, as long as the session has room for it.
async fn receive_file(mut upload: SessionUpload, body: Body) -> Result<(), ApiError> {
    let mut pieces = body.into_data_stream();
    while let Some(piece) =
        tokio::time::timeout(SEND_TIMEOUT, pieces.next()).await.map_err(|_| Kind::BadRequest)?
    {
        let piece = piece.map_err(|_| Kind::BadRequest)?;
        if !upload.reserve(piece.len() as u64) {
            return Err(Kind::PayloadTooLarge.into());
        }
        upload.file.write_all(&piece).await.map_err(engine::Error::internal)?;
    }
    upload.file.flush().await.map_err(engine::Error::internal)?;
    Ok(())
}

async fn view_page() -> Response {
    embeddable_page(VIEW_PAGE)
}

/// A page of ours that may be embedded in any page: its link is the permission.
pub(super) fn embeddable_page(page: &str) -> Response {
    let nonce = Uuid::new_v4().simple().to_string();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src blob:; \
         base-uri 'none'; form-action 'none'; frame-ancestors *"
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy.as_str()),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, Html(page.replace("{{nonce}}", &nonce))).into_response()
}

async fn view_socket(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
    upgrade: MaybeUpgrade,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|_| Kind::NotFound)?;
    let (inputs, outputs) = app.sessions.view(parse_id(&id)?, &token).await?;
    let upgrade = upgrade.max_message_size(MAX_INPUT_BYTES).read_buffer_size(READ_BUFFER_BYTES);
    Ok(upgrade.on_upgrade(move |socket| show(socket, inputs, outputs)))
}

/// Frames and the state of the tabs go out, what the viewer does comes in.
async fn show(
    mut socket: WebSocket,
    inputs: mpsc::Sender<ViewInput>,
    mut outputs: mpsc::Receiver<ViewOutput>,
) {
    let mut ping = ping_interval();
    loop {
        tokio::select! {
            output = outputs.recv() => {
                let message = match output {
                    Some(ViewOutput::Frame(jpeg)) => Message::Binary(jpeg),
                    Some(ViewOutput::State(state)) => {
                        Message::Text(serde_json::to_string(&state).unwrap_or_default().into())
                    }
                    None => Message::Close(None),
                };
                let ended = matches!(message, Message::Close(_));
                if !send(&mut socket, message).await || ended {
                    return;
                }
            }
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    let Ok(input) = serde_json::from_str(&text) else { continue };
                    // A viewer that does too much at once loses some of it.
                    let _ = inputs.try_send(input);
                }
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
                Some(Ok(_)) => {}
            },
            _ = ping.tick() => {
                if !send(&mut socket, Message::Ping(Bytes::new())).await {
                    return;
                }
            }
        }
    }
}
