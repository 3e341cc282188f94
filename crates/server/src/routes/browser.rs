//! `/v2/browser`, and the same under `/v2/interact`: browser sessions; `/v2/scrape/{id}/interact`: the session of a
//! scrape.

use crate::app::App;
use crate::auth::Authenticated;
use crate::base_url::base_url;
use crate::body::{JobId, JsonBody, QueryString};
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{delete, get, post};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::interact::{
    BrowserCreated, BrowserDeleted, BrowserList, BrowserListQuery, BrowserRequest, ExecuteRequest,
    ExecuteResponse, InteractRequest, InteractResponse,
};

/// Routes that start or use browsers.
pub fn start_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(create_session))
        .routes(routes!(execute))
        .routes(routes!(interact))
        .route("/v2/interact", post(create_session))
        .route("/v2/interact/{id}/execute", post(execute))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_sessions))
        .routes(routes!(delete_session))
        .routes(routes!(stop_interact))
        .route("/v2/interact", get(list_sessions))
        .route("/v2/interact/{id}", delete(delete_session))
}

/// Begin a browser session
///
/// Also under `/v2/interact`, as all routes of sessions.
#[utoipa::path(post, path = "/v2/browser", tag = "Interact", request_body = BrowserRequest,
    responses(
        (status = 200, body = BrowserCreated),
        (status = 402, description = "The plan's credits do not cover the session", body = ErrorBody),
        (status = 409, description = "Another request or session writes the profile", body = ErrorBody),
        (status = 429, description = "All browsers of the plan are in use", body = ErrorBody),
        (status = 502, description = "The browser did not start", body = ErrorBody),
        (status = 503, description = "No browser is installed", body = ErrorBody),
    ))]
async fn create_session(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<BrowserRequest>,
) -> Result<Json<BrowserCreated>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.sessions.create(&caller, &asked, &base).await?))
}

/// List the browser sessions of the team, newest first
#[utoipa::path(get, path = "/v2/browser", tag = "Interact", params(BrowserListQuery),
    responses((status = 200, body = BrowserList)))]
async fn list_sessions(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<BrowserListQuery>,
    headers: HeaderMap,
) -> Result<Json<BrowserList>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.sessions.list(&caller, &query, &base).await?))
}

/// Run code in a browser session
#[utoipa::path(post, path = "/v2/browser/{id}/execute", tag = "Interact", request_body = ExecuteRequest,
    params(("id" = Uuid, Path, description = "Id of the session")),
    responses(
        (status = 200, body = ExecuteResponse),
        (status = 410, description = "The session has ended", body = ErrorBody),
        (status = 501, description = "The language is not installed on this server", body = ErrorBody),
        (status = 502, description = "The browser did not answer", body = ErrorBody),
        (status = 503, description = "The session runs in another process of this service", body = ErrorBody),
    ))]
async fn execute(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<ExecuteRequest>,
) -> Result<Json<ExecuteResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.sessions.execute(&caller, id, &asked, &base).await?))
}

/// End a browser session
#[utoipa::path(delete, path = "/v2/browser/{id}", tag = "Interact",
    params(("id" = Uuid, Path, description = "Id of the session")),
    responses(
        (status = 200, body = BrowserDeleted),
        (status = 410, description = "The session has ended", body = ErrorBody),
    ))]
async fn delete_session(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<BrowserDeleted>, ApiError> {
    Ok(Json(app.sessions.delete(&caller, id).await?))
}

/// Run code or a prompt in the page of a scrape
///
/// The first call begins a session and opens the page again; later calls use the same session.
#[utoipa::path(post, path = "/v2/scrape/{id}/interact", tag = "Interact", request_body = InteractRequest,
    params(("id" = Uuid, Path, description = "Id of the scrape")),
    responses(
        (status = 200, body = InteractResponse),
        (status = 402, description = "The plan's credits do not cover the session", body = ErrorBody),
        (status = 409, description = "The page cannot be opened again, or its profile is being written", body = ErrorBody),
        (status = 429, description = "All browsers of the plan are in use", body = ErrorBody),
        (status = 501, description = "The language is not installed on this server", body = ErrorBody),
        (status = 502, description = "The browser did not start", body = ErrorBody),
        (status = 503, description = "No browser is installed, or the session runs in another process", body = ErrorBody),
    ))]
async fn interact(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<InteractRequest>,
) -> Result<Json<InteractResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.sessions.interact(&caller, id, &asked, &base).await?))
}

/// End the session of a scrape
#[utoipa::path(delete, path = "/v2/scrape/{id}/interact", tag = "Interact",
    params(("id" = Uuid, Path, description = "Id of the scrape")),
    responses((status = 200, body = BrowserDeleted)))]
async fn stop_interact(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<BrowserDeleted>, ApiError> {
    Ok(Json(app.sessions.stop_interact(&caller, id).await?))
}
