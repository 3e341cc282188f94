//! `/v2/monitor`: monitors, their checks and the pages of checks.

use crate::app::App;
use crate::auth::{AuditActor, Authenticated};
use crate::base_url::base_url;
use crate::body::{JsonBody, OptionalJsonBody, QueryString};
use crate::error::ApiError;
use access::audit_log::AuditAction;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::monitor::{
    CheckListQuery, CheckListResponse, CheckPageQuery, CheckResponse, MonitorDeleted, MonitorListQuery,
    MonitorListResponse, MonitorPatch, MonitorRequest, MonitorResponse, MonitorRunRequest,
    MonitorRunResponse, MonitorView, WatchAgainRequest, WatchAgainResponse,
};
use wire::{ErrorBody, Kind};

pub fn start_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(run_monitor))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(create_monitor, list_monitors))
        .routes(routes!(get_monitor, update_monitor, delete_monitor))
        .routes(routes!(watch_again))
        .routes(routes!(list_checks))
        .routes(routes!(get_check))
}

/// Create a monitor
#[utoipa::path(post, path = "/v2/monitor", tag = "Monitor", request_body = MonitorRequest,
    responses((status = 200, body = MonitorResponse)))]
async fn create_monitor(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<MonitorRequest>,
) -> Result<Json<MonitorResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    let data = app.monitors.create(&caller, &asked, &base).await?;
    app.teams.note(&caller, &by, AuditAction::MonitorCreated, data.id, audit_details(&data)).await;
    Ok(Json(MonitorResponse { success: true, data }))
}

/// List the monitors of the team, newest first
#[utoipa::path(get, path = "/v2/monitor", tag = "Monitor", params(MonitorListQuery),
    responses((status = 200, body = MonitorListResponse)))]
async fn list_monitors(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<MonitorListQuery>,
    headers: HeaderMap,
) -> Result<Json<MonitorListResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(MonitorListResponse { success: true, data: app.monitors.list(&caller, &query, &base).await? }))
}

/// Get a monitor
#[utoipa::path(get, path = "/v2/monitor/{id}", tag = "Monitor",
    params(("id" = Uuid, Path, description = "Id of the monitor")),
    responses((status = 200, body = MonitorResponse), (status = 404, body = ErrorBody)))]
async fn get_monitor(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<MonitorResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    let data = app.monitors.get(&caller, monitor_id(&id)?, &base).await?;
    Ok(Json(MonitorResponse { success: true, data }))
}

/// Change a monitor: what is absent stays, and null clears
#[utoipa::path(patch, path = "/v2/monitor/{id}", tag = "Monitor", request_body = MonitorPatch,
    params(("id" = Uuid, Path, description = "Id of the monitor")),
    responses((status = 200, body = MonitorResponse), (status = 404, body = ErrorBody)))]
async fn update_monitor(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    Path(id): Path<String>,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<MonitorPatch>,
) -> Result<Json<MonitorResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    let data = app.monitors.update(&caller, monitor_id(&id)?, &asked, &base).await?;
    app.teams.note(&caller, &by, AuditAction::MonitorChanged, data.id, audit_details(&data)).await;
    Ok(Json(MonitorResponse { success: true, data }))
}

/// Delete a monitor with its checks
#[utoipa::path(delete, path = "/v2/monitor/{id}", tag = "Monitor",
    params(("id" = Uuid, Path, description = "Id of the monitor")),
    responses((status = 200, body = MonitorDeleted), (status = 404, body = ErrorBody)))]
async fn delete_monitor(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    Path(id): Path<String>,
) -> Result<Json<MonitorDeleted>, ApiError> {
    let id = monitor_id(&id)?;
    app.monitors.delete(&caller, id).await?;
    app.teams.note(&caller, &by, AuditAction::MonitorDeleted, id, json!({})).await;
    Ok(Json(MonitorDeleted { success: true }))
}

/// Run a check now
#[utoipa::path(post, path = "/v2/monitor/{id}/run", tag = "Monitor", request_body = Option<MonitorRunRequest>,
    params(("id" = Uuid, Path, description = "Id of the monitor")),
    responses(
        (status = 200, body = MonitorRunResponse),
        (status = 404, body = ErrorBody),
        (status = 409, description = "A check is running, or the monitor is paused", body = ErrorBody),
    ))]
async fn run_monitor(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
    headers: HeaderMap,
    OptionalJsonBody(_): OptionalJsonBody<MonitorRunRequest>,
) -> Result<Json<MonitorRunResponse>, ApiError> {
    let data = app.monitors.run(&caller, monitor_id(&id)?, &base_url(&app.settings, &headers)).await?;
    Ok(Json(MonitorRunResponse { success: true, id: data.id, data }))
}

/// Watch a line again that changes by itself
///
/// Forgets what the monitor has learnt of a line, or of a whole page: the next difference is told, until it has changed
/// by itself in two more checks. An extension of Gannet.
#[utoipa::path(post, path = "/v2/monitor/{id}/watch-again", tag = "Monitor", request_body = WatchAgainRequest,
    params(("id" = Uuid, Path, description = "Id of the monitor")),
    responses(
        (status = 200, body = WatchAgainResponse),
        (status = 404, body = ErrorBody),
        (status = 409, description = "A check is running", body = ErrorBody),
    ))]
async fn watch_again(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<WatchAgainRequest>,
) -> Result<Json<WatchAgainResponse>, ApiError> {
    Ok(Json(app.monitors.watch_again(&caller, monitor_id(&id)?, &asked).await?))
}

/// List the checks of a monitor, newest first
#[utoipa::path(get, path = "/v2/monitor/{id}/checks", tag = "Monitor",
    params(("id" = Uuid, Path, description = "Id of the monitor"), CheckListQuery),
    responses((status = 200, body = CheckListResponse), (status = 404, body = ErrorBody)))]
async fn list_checks(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
    QueryString(query): QueryString<CheckListQuery>,
    headers: HeaderMap,
) -> Result<Json<CheckListResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    let data = app.monitors.checks(&caller, monitor_id(&id)?, &query, &base).await?;
    Ok(Json(CheckListResponse { success: true, data }))
}

/// Get a check with its pages
#[utoipa::path(get, path = "/v2/monitor/{id}/checks/{checkId}", tag = "Monitor",
    params(
        ("id" = Uuid, Path, description = "Id of the monitor"),
        ("checkId" = Uuid, Path, description = "Id of the check"),
        CheckPageQuery,
    ),
    responses((status = 200, body = CheckResponse), (status = 404, body = ErrorBody)))]
async fn get_check(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, check)): Path<(String, String)>,
    QueryString(query): QueryString<CheckPageQuery>,
    headers: HeaderMap,
) -> Result<Json<CheckResponse>, ApiError> {
    let check = Uuid::try_parse(&check).map_err(|_| Kind::CheckNotFound)?;
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.monitors.check(&caller, (monitor_id(&id)?, check), &query, &base).await?))
}

/// What the audit log says of a monitor: no addresses, which may hold secrets.
fn audit_details(monitor: &MonitorView) -> Value {
    let webhook = monitor.webhook.as_ref().map(|webhook| webhook["url"].as_str().unwrap_or_default());
    let host = webhook.and_then(|url| Some(url::Url::parse(url).ok()?.host_str()?.to_owned()));
    json!({ "name": monitor.name, "webhookHost": host })
}

/// An id that is none is the id of no monitor.
fn monitor_id(text: &str) -> Result<Uuid, Kind> {
    Uuid::try_parse(text).map_err(|_| Kind::MonitorNotFound)
}
