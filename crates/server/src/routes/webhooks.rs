//! `/v2/team/webhook-secret` and `/v2/team/webhooks/…`: what webhooks are signed with, and what could not be delivered.

use crate::app::App;
use crate::body::QueryString;
use crate::error::Failure;
use crate::guard::Who;
use axum::Json;
use axum::extract::{Path, State};
use engine::time::iso;
use engine::webhooks::{secrets, target_url};
use std::time::Duration;
use store::webhooks::{Delivery, WebhookSecret};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use wire::admin::Done;
use wire::team::Answer;
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

/// The secret webhooks are signed with
#[utoipa::path(get, path = "/v2/team/webhook-secret", tag = "Webhooks",
    responses((status = 200, body = Answer<WebhookSecretView>)))]
async fn secret(
    State(app): State<App>,
    Who(caller): Who,
) -> Result<Json<Answer<WebhookSecretView>>, Failure> {
    view(secrets::of_team(app.store.as_ref(), caller.team).await?)
}

/// Make a new secret; the one before signs for a while longer
#[utoipa::path(post, path = "/v2/team/webhook-secret/rotate", tag = "Webhooks", params(RotateQuery),
    responses((status = 200, body = Answer<WebhookSecretView>)))]
async fn rotate(
    State(app): State<App>,
    Who(caller): Who,
    QueryString(query): QueryString<RotateQuery>,
) -> Result<Json<Answer<WebhookSecretView>>, Failure> {
    let hours = query.phase_out_hours.unwrap_or(24);
    let mut issues = Issues::default();
    issues.range("phaseOutHours", hours, &(0..=168));
    issues.finish()?;
    let phase_out = Duration::from_hours(hours.into());
    view(secrets::rotate(app.store.as_ref(), caller.team, phase_out).await?)
}

/// Deliveries that were given up, newest first
#[utoipa::path(get, path = "/v2/team/webhooks/failed", tag = "Webhooks", params(FailedQuery),
    responses((status = 200, body = FailedPage)))]
async fn failed(
    State(app): State<App>,
    Who(caller): Who,
    QueryString(query): QueryString<FailedQuery>,
) -> Result<Json<FailedPage>, Failure> {
    let limit = query.limit.unwrap_or(50);
    let mut issues = Issues::default();
    issues.range("limit", limit, &(1..=100));
    issues.finish()?;
    let found = app.store.dead_letters(caller.team, query.cursor, limit + 1).await.map_err(Failure::store)?;
    let mut data: Vec<_> = found.into_iter().map(letter).collect();
    let more = data.len() > limit as usize;
    data.truncate(limit as usize);
    let cursor = data.last().filter(|_| more).map(|last| last.id);
    Ok(Json(FailedPage { success: true, data, cursor }))
}

/// Send a delivery that was given up again
#[utoipa::path(post, path = "/v2/team/webhooks/failed/{id}/retry", tag = "Webhooks",
    params(("id" = Uuid, Path, description = "Id of the delivery")), responses((status = 200, body = Done)))]
async fn retry(
    State(app): State<App>,
    Who(caller): Who,
    Path(id): Path<String>,
) -> Result<Json<Done>, Failure> {
    let issue = || Issue::at("id", "must be a UUID", "invalid_value");
    let id = Uuid::try_parse(&id).map_err(|_| WireError::invalid(&[issue()]))?;
    if !app.store.revive_delivery(caller.team, id).await.map_err(Failure::store)? {
        return Err(Kind::NotFound.into());
    }
    Ok(Json(Done { success: true }))
}

/// Newest first, and never empty: the first is made when it is asked for.
fn view(known: Vec<WebhookSecret>) -> Result<Json<Answer<WebhookSecretView>>, Failure> {
    let mut known = known.into_iter();
    let current = known.next().ok_or(Kind::Internal)?;
    let previous = known.next().map(|older| PreviousSecret {
        secret: older.secret,
        created_at: iso(older.created_at),
        until: iso(older.until.unwrap_or(older.created_at)),
    });
    let view = WebhookSecretView { secret: current.secret, created_at: iso(current.created_at), previous };
    Ok(Json(Answer::of(view)))
}

fn letter(delivery: Delivery) -> FailedDelivery {
    FailedDelivery {
        id: delivery.id,
        kind: delivery.event,
        job_id: delivery.subject,
        url: target_url(&delivery.target),
        attempts: delivery.attempts,
        error: delivery.last_error,
        created_at: iso(delivery.created_at),
        failed_at: iso(delivery.given_up_at.unwrap_or(delivery.created_at)),
    }
}
