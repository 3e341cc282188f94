//! Health, readiness, metrics, the OpenAPI document and its page, and the metadata that a 401 points to.

use crate::app::App;
use crate::auth::{error_response, has_literal_host, identify, is_from_foreign_page};
use crate::base_url::{Forwarded, base_url};
use crate::error::ApiError;
use crate::shared_document::SharedDocument;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use serde::Serialize;
use std::future;
use utoipa::ToSchema;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::{Kind, Scope, WireError};

#[derive(Debug, Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
    version: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
struct ResourceMetadata {
    resource: String,
    resource_name: &'static str,
    bearer_methods_supported: [&'static str; 1],
    scopes_supported: Vec<&'static str>,
    authorization_servers: Vec<String>,
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health))
        .routes(routes!(ready))
        .routes(routes!(metrics))
        .routes(routes!(resource_metadata))
        .routes(routes!(signature_directory))
}

/// The OpenAPI document and its page.
pub fn documents(document: &OpenApi) -> Router<App> {
    let json = SharedDocument::new("application/json", crate::docs::to_json(document).to_string());
    let page = SharedDocument::new("text/html; charset=utf-8", crate::docs::page());
    Router::new()
        // Clients look for the metadata of the resource `/mcp` here; it is that of the whole server.
        .route("/.well-known/oauth-protected-resource/mcp", get(resource_metadata))
        .route("/docs", get(move |headers: HeaderMap| future::ready(page.response(&headers))))
        .route("/v2/openapi.json", get(move |headers: HeaderMap| future::ready(json.response(&headers))))
}

/// Check that the process is alive
#[utoipa::path(get, path = "/health", tag = "Service", security(()), responses((status = 200, body = Health)))]
async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Check that the server can accept work
#[utoipa::path(get, path = "/ready", tag = "Service", security(()),
    responses((status = 200, body = Health), (status = 503, description = "The server is stopping, the database is unavailable, or a disk is full", body = wire::ErrorBody)))]
async fn ready(State(app): State<App>) -> Result<Json<Health>, ApiError> {
    if app.stopping.is_cancelled() {
        return Err(WireError::unavailable("the server is stopping", 5).into());
    }
    if let Some(disk) = app.storage.shortage() {
        return Err(WireError::out_of_space(&disk).into());
    }
    app.readiness.check(&app.storage).await?;
    Ok(health().await)
}

/// Get Prometheus metrics; beyond loopback they need a key with the scope `admin`
#[utoipa::path(get, path = "/metrics", tag = "Service", responses((status = 200, body = String, content_type = "text/plain")))]
async fn metrics(
    State(app): State<App>,
    forwarded: Option<Extension<Forwarded>>,
    headers: HeaderMap,
) -> Response {
    if forwarded.is_some() || may_be_from_outside(&app, &headers) {
        let admitted = identify(&app, &Method::GET, &headers, None)
            .await
            .and_then(|caller| Ok(caller.require(Scope::Admin)?));
        if let Err(error) = admitted {
            return error_response(&app, error, &headers);
        }
    }
    if let Some(bytes) = app.storage.object_bytes().await {
        gauge("gannet_objects_bytes", bytes);
    }
    if let Some(bytes) = app.storage.database_bytes().await {
        gauge("gannet_database_bytes", i64::try_from(bytes).unwrap_or(i64::MAX));
    }
    if let Some(sandboxed) = app.services.browser_is_sandboxed() {
        gauge("gannet_browser_sandboxed", i64::from(sandboxed));
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.telemetry.render()).into_response()
}

/// Whether the request may come from another machine or from a web page: the server is reachable from other
/// machines, or a page in a browser on this machine sent it, seen by its origin or by a host name that
/// resolves to this machine.
fn may_be_from_outside(app: &App, headers: &HeaderMap) -> bool {
    let settings = &app.settings;
    !settings.listen.ip().is_loopback()
        || settings.public_url.is_some()
        || !has_literal_host(headers)
        || headers.contains_key(header::ORIGIN)
        || is_from_foreign_page(settings, headers)
}

fn gauge(name: &'static str, value: i64) {
    metrics::gauge!(name).set(value as f64);
}

/// Get the public key that requests for pages are signed with (Web Bot Auth)
#[utoipa::path(get, path = "/.well-known/http-message-signatures-directory", tag = "Service", security(()),
    responses(
        (status = 200, description = "A set of JSON Web Keys, signed",
            content_type = "application/http-message-signatures-directory+json", body = Value),
        (status = 404, description = "Requests are not signed", body = wire::ErrorBody)
    ))]
async fn signature_directory(State(app): State<App>, headers: HeaderMap) -> Result<Response, ApiError> {
    let Some(identity) = app.services.fetcher.bot_identity() else { return Err(Kind::NotFound.into()) };
    let base = base_url(&app.settings, &headers);
    let authority = base.split_once("://").map_or("", |(_, host)| host).to_ascii_lowercase();
    let mut response = identity.directory().into_response();
    for (name, value) in identity.directory_headers(&authority) {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// Get the authentication metadata (RFC 9728)
#[utoipa::path(get, path = "/.well-known/oauth-protected-resource", tag = "Service", security(()),
    responses((status = 200, body = ResourceMetadata)))]
async fn resource_metadata(State(app): State<App>, headers: HeaderMap) -> Json<ResourceMetadata> {
    let base = base_url(&app.settings, &headers);
    let is_server = app.registrations.are_offered() || app.authorizations.is_some();
    let servers = if is_server { vec![base.clone()] } else { Vec::new() };
    Json(ResourceMetadata {
        resource: format!("{base}/"),
        resource_name: "Gannet",
        bearer_methods_supported: ["header"],
        scopes_supported: Scope::ALL.iter().map(|scope| scope.name()).collect(),
        authorization_servers: servers,
    })
}
