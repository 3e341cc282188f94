//! `/admin/keys`: the keys of the caller's team, for a dashboard and for scripts.

use crate::app::App;
use crate::auth::Authenticated;
use crate::body::JsonBody;
use crate::error::ApiError;
use access::keys::{self, ApiKey, Secret};
use axum::Json;
use axum::extract::{Path, State};
use stored_data::time::{iso, now};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::admin::{CreateKey, CreatedKey, KeyList, KeyView, SuccessResponse};
use wire::{Issue, Issues, Kind, WireError};

const DAY_MILLIS: i64 = 24 * 3600 * 1000;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(revoke))
}

/// List the API keys of the team
#[utoipa::path(get, path = "/admin/keys", tag = "Administration", responses((status = 200, body = KeyList)))]
async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<KeyList>, ApiError> {
    let keys = app.teams.keys(&caller).await?;
    Ok(Json(KeyList { success: true, data: keys.iter().map(view).collect() }))
}

/// Create an API key; it is shown only once
#[utoipa::path(post, path = "/admin/keys", tag = "Administration", request_body = CreateKey,
    responses((status = 200, body = CreatedKey)))]
async fn create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JsonBody(asked): JsonBody<CreateKey>,
) -> Result<Json<CreatedKey>, ApiError> {
    let mut issues = Issues::default();
    issues.length("name", &asked.name, &(1..=100));
    if asked.scopes.as_ref().is_some_and(Vec::is_empty) {
        issues.add("scopes", "must name at least one scope", "too_small");
    }
    if let Some(days) = asked.expires_in_days {
        issues.range("expiresInDays", days, &(1..=3650));
    }
    issues.finish()?;
    let scopes = asked.scopes.unwrap_or_else(keys::ordinary_scopes);
    let expires_at = asked.expires_in_days.map(|days| now() + i64::from(days) * DAY_MILLIS);
    let secret = Secret::random().map_err(|error| {
        tracing::error!(%error, "no system randomness for a new key");
        WireError::from(Kind::Internal)
    })?;
    let key = app.teams.create_key(&caller, &asked.name, &scopes, expires_at, &secret).await?;
    Ok(Json(CreatedKey { success: true, key: secret.reveal().to_owned(), data: view(&key) }))
}

/// Revoke an API key permanently
#[utoipa::path(delete, path = "/admin/keys/{id}", tag = "Administration",
    params(("id" = Uuid, Path, description = "Id of the key")), responses((status = 200, body = SuccessResponse)))]
async fn revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<SuccessResponse>, ApiError> {
    let issue = || Issue::at("id", "must be a UUID", "invalid_value");
    let id = Uuid::try_parse(&id).map_err(|_| WireError::invalid(&[issue()]))?;
    app.teams.revoke_key(&caller, id).await?;
    app.callers.forget();
    Ok(Json(SuccessResponse { success: true }))
}

fn view(key: &ApiKey) -> KeyView {
    KeyView {
        id: key.id,
        name: key.name.clone(),
        hint: key.hint.clone(),
        scopes: key.scopes.clone(),
        status: keys::status(key, now()),
        created_at: iso(key.created_at),
        expires_at: key.expires_at.map(iso),
        last_used_at: key.last_used_at.map(iso),
        revoked_at: key.revoked_at.map(iso),
    }
}
