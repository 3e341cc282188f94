//! `/v2/team/webhook-secret` and `/v2/team/webhooks/…`: the signing secret, and deliveries that failed.

use crate::app::App;
use crate::auth::{AuditActor, Authenticated};
use crate::body::QueryString;
use crate::error::ApiError;
use axum::Json;
use axum::extract::{Path, State};
use outbox::webhooks::{Delivery, WebhookSecret, job_id, target_url};
use std::time::Duration;
use stored_data::time::iso;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::admin::SuccessResponse;
use wire::team::DataResponse;
use wire::webhook::{
    FailedDelivery, FailedPage, FailedQuery, PreviousSecret, RotateQuery, WebhookSecretView,
};
use wire::{Issue, Issues, Kind, WireError};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(secret))
        .routes(routes!(rotate))
        .routes(routes!(failed))
        .routes(routes!(retry))
}

/// Get the secret that webhooks are signed with
#[utoipa::path(get, path = "/v2/team/webhook-secret", tag = "Webhooks",
    responses((status = 200, body = DataResponse<WebhookSecretView>)))]
async fn secret(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<DataResponse<WebhookSecretView>>, ApiError> {
    secret_view(app.teams.webhook_secrets(&caller).await?)
}

/// Replace the webhook secret; the previous one stays valid for a while
#[utoipa::path(post, path = "/v2/team/webhook-secret/rotate", tag = "Webhooks", params(RotateQuery),
    responses((status = 200, body = DataResponse<WebhookSecretView>)))]
async fn rotate(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    QueryString(query): QueryString<RotateQuery>,
) -> Result<Json<DataResponse<WebhookSecretView>>, ApiError> {
    let hours = query.phase_out_hours.unwrap_or(24);
    let mut issues = Issues::default();
    issues.range("phaseOutHours", hours, &(0..=168));
    issues.finish()?;
    let phase_out = Duration::from_hours(hours.into());
    secret_view(app.teams.rotate_webhook_secret(&caller, phase_out, &by).await?)
}

/// List failed webhook deliveries, newest first
#[utoipa::path(get, path = "/v2/team/webhooks/failed", tag = "Webhooks", params(FailedQuery),
    responses((status = 200, body = FailedPage)))]
async fn failed(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(query): QueryString<FailedQuery>,
) -> Result<Json<FailedPage>, ApiError> {
    let limit = query.limit.unwrap_or(50);
    let mut issues = Issues::default();
    issues.range("limit", limit, &(1..=100));
    issues.finish()?;
    let found = app.teams.failed_deliveries(&caller, query.cursor, limit + 1).await?;
    let mut data: Vec<_> = found.into_iter().map(failed_delivery).collect();
    let more = data.len() > limit as usize;
    data.truncate(limit as usize);
    let cursor = data.last().filter(|_| more).map(|last| last.id);
    Ok(Json(FailedPage { success: true, data, cursor }))
}

/// Retry a failed webhook delivery
#[utoipa::path(post, path = "/v2/team/webhooks/failed/{id}/retry", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the delivery")), responses((status = 200, body = SuccessResponse)))]
async fn retry(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<String>,
) -> Result<Json<SuccessResponse>, ApiError> {
    let issue = || Issue::at("id", "must be a UUID", "invalid_value");
    let id = Uuid::try_parse(&id).map_err(|_| WireError::invalid(&[issue()]))?;
    app.teams.retry_delivery(&caller, id).await?;
    Ok(Json(SuccessResponse { success: true }))
}

/// The secrets are ordered newest first and never empty: the first one is created on request.
fn secret_view(known: Vec<WebhookSecret>) -> Result<Json<DataResponse<WebhookSecretView>>, ApiError> {
    let mut known = known.into_iter();
    let current = known.next().ok_or(Kind::Internal)?;
    let previous = known.next().map(|older| PreviousSecret {
        secret: older.secret,
        created_at: iso(older.created_at),
        until: iso(older.until.unwrap_or(older.created_at)),
    });
    let view = WebhookSecretView { secret: current.secret, created_at: iso(current.created_at), previous };
    Ok(Json(DataResponse::new(view)))
}

fn failed_delivery(delivery: Delivery) -> FailedDelivery {
    FailedDelivery {
        id: delivery.id,
        job_id: job_id(&delivery),
        kind: delivery.event,
        url: target_url(&delivery.target),
        attempts: delivery.attempts,
        error: delivery.last_error,
        created_at: iso(delivery.created_at),
        failed_at: iso(delivery.given_up_at.unwrap_or(delivery.created_at)),
    }
}
