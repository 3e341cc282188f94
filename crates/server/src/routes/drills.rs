//! `/admin/drills`: rehearsals of the queue, the ledger and the limits. See `wire::drill`.

use crate::app::App;
use crate::body::{IdempotencyKey, JobId, JsonBody, QueryString};
use crate::error::Failure;
use crate::guard::Who;
use axum::Json;
use axum::extract::State;
use engine::drill::{self, DrillPlan, Stop};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::Issues;
use wire::admin::Done;
use wire::drill::{DrillRequest, DrillStatus, StepPage, StepsQuery};

pub fn start_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(start))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(status, cancel)).routes(routes!(steps))
}

/// Start a drill
#[utoipa::path(post, path = "/admin/drills", tag = "Administration", request_body = DrillRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second drill with the same key is refused")),
    responses(
        (status = 200, body = DrillStatus),
        (status = 402, description = "The plan's credits do not cover the steps", body = wire::ErrorBody),
        (status = 408, description = "The drill did not end within `timeout`; it goes on", body = wire::ErrorBody),
        (status = 409, description = "The idempotency key was used before", body = wire::ErrorBody),
    ))]
async fn start(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(key): IdempotencyKey,
    JsonBody(asked): JsonBody<DrillRequest>,
) -> Result<Json<DrillStatus>, Failure> {
    let plan = DrillPlan::resolve(&asked, app.settings.drill_faults)?;
    // A little less than the server's own patience, so that the answer still gets out.
    let stop = Stop { token: app.stopping.clone(), patience: app.settings.shutdown_grace * 3 / 4 };
    Ok(Json(drill::start(&app.store, &app.gate, &caller, &plan, key, &stop).await?))
}

/// How a drill stands
#[utoipa::path(get, path = "/admin/drills/{id}", tag = "Administration",
    params(("id" = uuid::Uuid, Path, description = "Id of the drill")), responses((status = 200, body = DrillStatus)))]
async fn status(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
) -> Result<Json<DrillStatus>, Failure> {
    Ok(Json(drill::status(app.store.as_ref(), &caller, id).await?))
}

/// Cancel a drill
#[utoipa::path(delete, path = "/admin/drills/{id}", tag = "Administration",
    params(("id" = uuid::Uuid, Path, description = "Id of the drill")),
    responses(
        (status = 200, body = Done),
        (status = 409, description = "It has ended, or is being cancelled", body = wire::ErrorBody),
    ))]
async fn cancel(State(app): State<App>, Who(caller): Who, JobId(id): JobId) -> Result<Json<Done>, Failure> {
    drill::cancel(app.store.as_ref(), &caller, id).await?;
    Ok(Json(Done { success: true }))
}

/// What the finished steps left
#[utoipa::path(get, path = "/admin/drills/{id}/steps", tag = "Administration",
    params(("id" = uuid::Uuid, Path, description = "Id of the drill"), StepsQuery), responses((status = 200, body = StepPage)))]
async fn steps(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    QueryString(query): QueryString<StepsQuery>,
) -> Result<Json<StepPage>, Failure> {
    let limit = query.limit.unwrap_or(1000);
    let mut issues = Issues::default();
    issues.range("limit", limit, &(1..=1000));
    issues.finish()?;
    let data = drill::steps(app.store.as_ref(), &caller, id, query.after, limit).await?;
    Ok(Json(StepPage { success: true, data }))
}
