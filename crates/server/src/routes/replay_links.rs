//! What the signed links of recordings lead to: a page that plays them, and their pictures. No key is needed: the link is
//! the permission.

use super::session_links::{TokenQuery, embeddable_page, parse_id};
use crate::app::App;
use crate::body::QueryString;
use crate::error::ApiError;
use crate::response_memory::ResponseTeam;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;
use wire::Kind;

const PLAYER_PAGE: &str = include_str!("replay.html");

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .route("/replay/{id}", get(player_page))
        .route("/replay/{id}/index", get(index))
        .route("/replay/{id}/chunks/{number}", get(chunk))
        .route("/replay/{id}/frames/{page}/{frame}", get(frame))
}

async fn player_page() -> Response {
    embeddable_page(PLAYER_PAGE)
}

/// What the player needs to know of a recording.
async fn index(
    State(app): State<App>,
    Path(id): Path<String>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
) -> Result<Json<Value>, ApiError> {
    let index = app.sessions.replays().linked_index(parse_id(&id)?, &token).await?;
    Ok(Json(json!({
        "startedAt": index.started_at,
        "truncated": index.truncated,
        "pages": index.pages,
    })))
}

/// Pictures one after another; the index says where each is.
async fn chunk(
    State(app): State<App>,
    Path((id, number)): Path<(String, u32)>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
) -> Result<Response, ApiError> {
    let chunk = app.sessions.replays().linked_chunk(parse_id(&id)?, &token, number).await?;
    Ok(pictures("application/octet-stream", chunk))
}

async fn frame(
    State(app): State<App>,
    Path((id, page, frame)): Path<(String, String, String)>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
) -> Result<Response, ApiError> {
    let frame = frame.parse().map_err(|_| Kind::ReplayNotFound)?;
    let picture = app.sessions.replays().linked_frame(parse_id(&id)?, &token, &page, frame).await?;
    Ok(pictures("image/jpeg", picture))
}

fn pictures(mime: &'static str, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, mime),
        // A chunk never changes once it is stored.
        (header::CACHE_CONTROL, "private, max-age=3600, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    let mut response = (headers, bytes).into_response();
    response.extensions_mut().insert(ResponseTeam::OF_LINKS);
    response
}
