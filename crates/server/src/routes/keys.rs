//! `/admin/keys`: the keys of the caller's team, for a dashboard and for scripts.

use crate::app::App;
use crate::auth::{AuditActor, Authenticated};
use crate::body::{JsonBody, QueryString};
use crate::error::ApiError;
use access::Caller;
use access::audit_log::Actor;
use access::keys::{
    self, ApiKey, DEFAULT_PHASE_OUT_HOURS, KeyHosts, MAX_PHASE_OUT_HOURS, ReplacedSecret, Secret,
};
use axum::Json;
use axum::extract::{Path, State};
use std::time::Duration;
use stored_data::time::{iso, now};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::admin::{
    ChangedKey, CreateKey, CreatedKey, KeyList, KeyView, ReplacedSecretView, RotateKeyQuery, SetKeyHosts,
    SuccessResponse,
};
use wire::{Issue, Issues, Kind, WireError};

const DAY_MILLIS: i64 = 24 * 3600 * 1000;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(revoke))
        .routes(routes!(rotate_key))
        .routes(routes!(set_key_hosts, free_key_hosts))
}

/// List the API keys of the team
#[utoipa::path(get, path = "/admin/keys", tag = "Administration", responses((status = 200, body = KeyList)))]
async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<KeyList>, ApiError> {
    let keys = app.teams.keys(&caller).await?;
    let replaced = app.teams.replaced_secrets(&caller).await?;
    let hosts = app.teams.hosts_of_keys(&caller).await?;
    let data = keys.iter().map(|key| view(key, &replaced, &hosts)).collect();
    Ok(Json(KeyList { success: true, data }))
}

/// Create an API key; it is shown only once
#[utoipa::path(post, path = "/admin/keys", tag = "Administration", request_body = CreateKey,
    responses((status = 200, body = CreatedKey)))]
async fn create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
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
    let default = if asked.hosts.is_some() { keys::held_scopes } else { keys::ordinary_scopes };
    let scopes = asked.scopes.unwrap_or_else(default);
    let hosts = asked.hosts.map_or(Ok(Vec::new()), |hosts| keys::parse_hosts(&hosts, &scopes));
    let hosts = hosts.unwrap_or_else(|why| {
        issues.add("hosts", &why, "invalid_value");
        Vec::new()
    });
    issues.finish()?;
    let expires_at = asked.expires_in_days.or(app.settings.key_days).map(in_days);
    let secret = random_secret()?;
    let key = keys::new_key(caller.team, &asked.name, &scopes, expires_at, &secret);
    let held = KeyHosts { key: key.id, hosts: hosts.clone() };
    let key = app.teams.create_key(key, hosts, &by).await?;
    let held = Some(held).filter(|held| !held.hosts.is_empty());
    Ok(Json(CreatedKey {
        success: true,
        key: secret.reveal().to_owned(),
        data: view(&key, &[], held.as_slice()),
    }))
}

/// Revoke an API key permanently
#[utoipa::path(delete, path = "/admin/keys/{id}", tag = "Administration",
    params(("id" = Uuid, Path, description = "Id of the key")), responses((status = 200, body = SuccessResponse)))]
async fn revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    Path(id): Path<String>,
) -> Result<Json<SuccessResponse>, ApiError> {
    app.teams.revoke_key(&caller, parse_id(&id)?, &by).await?;
    app.callers.forget();
    Ok(Json(SuccessResponse { success: true }))
}

/// Give an API key a new secret; the one before goes on working for a while
///
/// The key keeps its id, name and scopes. The new secret is shown only once. Sign-ins of the dashboard that act as the
/// key end with the secret before.
#[utoipa::path(post, path = "/admin/keys/{id}/rotate", tag = "Administration",
    params(("id" = Uuid, Path, description = "Id of the key"), RotateKeyQuery),
    responses((status = 200, body = CreatedKey),
        (status = 409, description = "The key is expired or revoked, or an application renews it by itself", body = wire::ErrorBody)))]
async fn rotate_key(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    Path(id): Path<String>,
    QueryString(query): QueryString<RotateKeyQuery>,
) -> Result<Json<CreatedKey>, ApiError> {
    let id = parse_id(&id)?;
    let hours = query.phase_out_hours.unwrap_or(DEFAULT_PHASE_OUT_HOURS);
    let mut issues = Issues::default();
    issues.range("phaseOutHours", hours, &(0..=MAX_PHASE_OUT_HOURS));
    if let Some(days) = query.expires_in_days {
        issues.range("expiresInDays", days, &(1..=3650));
    }
    issues.finish()?;
    let (phase_out, expires_at) = (Duration::from_hours(hours.into()), query.expires_in_days.map(in_days));
    let secret = random_secret()?;
    let key = app.teams.rotate_key(&caller, id, phase_out, expires_at, &secret, &by).await?;
    app.callers.forget();
    let replaced = app.teams.replaced_secrets(&caller).await?;
    let hosts = app.teams.hosts_of_keys(&caller).await?;
    let data = view(&key, &replaced, &hosts);
    Ok(Json(CreatedKey { success: true, key: secret.reveal().to_owned(), data }))
}

/// Hold an API key to certain hosts
///
/// For what begins from now on; jobs that run go on as they began. Applications that were allowed with the key are held
/// to the same hosts. Not with the scopes `interact`, `monitor` and `admin`.
#[utoipa::path(put, path = "/admin/keys/{id}/hosts", tag = "Administration", request_body = SetKeyHosts,
    params(("id" = Uuid, Path, description = "Id of the key")),
    responses((status = 200, body = ChangedKey),
        (status = 409, description = "The key is expired or revoked, or belongs to an application", body = wire::ErrorBody)))]
async fn set_key_hosts(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    Path(id): Path<String>,
    JsonBody(asked): JsonBody<SetKeyHosts>,
) -> Result<Json<ChangedKey>, ApiError> {
    let id = parse_id(&id)?;
    let keys = app.teams.keys(&caller).await?;
    let key = keys.iter().find(|key| key.id == id).ok_or(Kind::NotFound)?;
    let hosts = keys::parse_hosts(&asked.hosts, &keys::scopes_of(key))
        .map_err(|why| WireError::invalid(&[Issue::at("hosts", &why, "invalid_value")]))?;
    change_hosts(&app, &caller, id, hosts, &by).await
}

/// Let an API key reach all hosts again
#[utoipa::path(delete, path = "/admin/keys/{id}/hosts", tag = "Administration",
    params(("id" = Uuid, Path, description = "Id of the key")),
    responses((status = 200, body = ChangedKey),
        (status = 409, description = "The key is expired or revoked, or belongs to an application", body = wire::ErrorBody)))]
async fn free_key_hosts(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    Path(id): Path<String>,
) -> Result<Json<ChangedKey>, ApiError> {
    change_hosts(&app, &caller, parse_id(&id)?, Vec::new(), &by).await
}

async fn change_hosts(
    app: &App,
    caller: &Caller,
    id: Uuid,
    hosts: Vec<String>,
    by: &Actor,
) -> Result<Json<ChangedKey>, ApiError> {
    let key = app.teams.set_key_hosts(caller, id, &hosts, by).await?;
    app.callers.forget();
    let replaced = app.teams.replaced_secrets(caller).await?;
    let held = Some(KeyHosts { key: id, hosts }).filter(|held| !held.hosts.is_empty());
    Ok(Json(ChangedKey { success: true, data: view(&key, &replaced, held.as_slice()) }))
}

fn parse_id(id: &str) -> Result<Uuid, WireError> {
    let issue = || Issue::at("id", "must be a UUID", "invalid_value");
    Uuid::try_parse(id).map_err(|_| WireError::invalid(&[issue()]))
}

fn in_days(days: u32) -> i64 {
    now() + i64::from(days) * DAY_MILLIS
}

fn random_secret() -> Result<Secret, WireError> {
    Secret::random().map_err(|error| {
        tracing::error!(%error, "no system randomness for a new key");
        WireError::from(Kind::Internal)
    })
}

fn view(key: &ApiKey, replaced: &[ReplacedSecret], hosts: &[KeyHosts]) -> KeyView {
    let of_key = replaced.iter().filter(|secret| secret.key == key.id);
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
        hosts: hosts.iter().find(|held| held.key == key.id).map(|held| held.hosts.clone()),
        replaced: of_key
            .map(|secret| ReplacedSecretView {
                hint: secret.hint.clone(),
                expires_at: iso(secret.expires_at),
            })
            .collect(),
    }
}
