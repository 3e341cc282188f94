//! `/v2/browser/{id}/replay`, and the same under `/v2/interact`: recordings of sessions.

use crate::app::App;
use crate::auth::Authenticated;
use crate::base_url::base_url;
use crate::body::JobId;
use crate::error::ApiError;
use crate::file_bytes::FileBytes;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::interact::{Deleted, ReplayPages};
use wire::{ErrorBody, Kind};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_pages))
        .routes(routes!(playlist))
        .routes(routes!(delete_recording))
        .route("/v2/browser/{id}/replay", get(list_pages))
        .route("/v2/browser/{id}/replay", delete(delete_recording))
        .route("/v2/browser/{id}/replay/{pageId}", get(playlist))
}

/// List the pages of a recorded session
///
/// While the session runs, what is stored so far. Also under `/v2/browser`, as all routes of sessions.
#[utoipa::path(get, path = "/v2/interact/{id}/replay", tag = "Interact",
    params(("id" = Uuid, Path, description = "Id of the session")),
    responses(
        (status = 200, body = ReplayPages),
        (status = 404, description = "The session was not recorded, or its recording is gone", body = ErrorBody),
    ))]
async fn list_pages(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    headers: HeaderMap,
) -> Result<Json<ReplayPages>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.sessions.replays().list(&caller, id, &base).await?))
}

/// Get the pictures of a recorded page
///
/// An HLS playlist of images (`EXT-X-IMAGES-ONLY`): JPEG pictures under signed URLs, each with its time. `url` of
/// the page is a web page that plays them.
#[utoipa::path(get, path = "/v2/interact/{id}/replay/{pageId}", tag = "Interact",
    params(
        ("id" = Uuid, Path, description = "Id of the session"),
        ("pageId" = String, Path, description = "Id of the page"),
    ),
    responses(
        (status = 200, description = "The playlist",
            content((String = "application/vnd.apple.mpegurl"), (FileBytes = "application/octet-stream"))),
        (status = 404, description = "The page was not recorded, or its recording is gone", body = ErrorBody),
    ))]
async fn playlist(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, page)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = Uuid::try_parse(&id).map_err(|_| Kind::InvalidJobId)?;
    let base = base_url(&app.settings, &headers);
    let text = app.sessions.replays().playlist(&caller, id, &page, &base).await?;
    let headers =
        [(header::CONTENT_TYPE, "application/vnd.apple.mpegurl"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, text).into_response())
}

/// Delete the recording of a session
#[utoipa::path(delete, path = "/v2/interact/{id}/replay", tag = "Interact",
    params(("id" = Uuid, Path, description = "Id of the session")),
    responses(
        (status = 200, body = Deleted),
        (status = 404, description = "The session was not recorded, or its recording is gone", body = ErrorBody),
    ))]
async fn delete_recording(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<Deleted>, ApiError> {
    Ok(Json(app.sessions.replays().delete(&caller, id).await?))
}
