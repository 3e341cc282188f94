//! `/v2/batch/scrape`: lists of pages, as jobs.

use super::crawl::json;
use super::watch;
use crate::app::App;
use crate::body::{IdempotencyKey, JobId, JsonBody, QueryString};
use crate::error::Failure;
use crate::guard::Who;
use crate::public::base_url;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use engine::crawl::status::path;
use store::crawls::CrawlKind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::batch::{BatchRequest, BatchStarted};
use wire::crawl::{Cancelled, JobErrors, JobStatus, LedgerPage, LedgerQuery, PageQuery};

const KIND: CrawlKind = CrawlKind::Batch;

pub fn start_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(start_batch))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(batch_status, cancel_batch))
        .routes(routes!(batch_errors))
        .routes(routes!(batch_ledger))
        .routes(routes!(batch_events))
}

/// Scrape a list of pages
#[utoipa::path(post, path = "/v2/batch/scrape", tag = "Batch", request_body = BatchRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second batch with the same key is refused")),
    responses(
        (status = 200, body = BatchStarted),
        (status = 402, description = "The plan's credits do not cover the pages", body = ErrorBody),
        (status = 404, description = "There is no batch with the id in `appendToId`", body = ErrorBody),
        (status = 409, description = "The idempotency key was used before, or the batch to add to has failed or was cancelled", body = ErrorBody),
    ))]
async fn start_batch(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<BatchRequest>,
) -> Result<Json<BatchStarted>, Failure> {
    let base = base_url(&app.settings, &headers);
    let accepted = app.crawler.start_batch(&caller, asked, key.as_deref(), &base).await?;
    let url = format!("{base}{}/{}", path(KIND), accepted.id);
    Ok(Json(BatchStarted { success: true, id: accepted.id, url, invalid_urls: accepted.invalid }))
}

/// How a batch stands, and its documents
///
/// Over a WebSocket, the same address follows the batch: see the guide.
#[utoipa::path(get, path = "/v2/batch/scrape/{id}", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch"), PageQuery),
    responses((status = 200, body = JobStatus)))]
async fn batch_status(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    QueryString(page): QueryString<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let base = base_url(&app.settings, &headers);
    Ok(json(app.crawler.status(&caller, KIND, id, &page, &base).await?))
}

/// Cancel a batch
#[utoipa::path(delete, path = "/v2/batch/scrape/{id}", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch")),
    responses(
        (status = 200, body = Cancelled),
        (status = 409, description = "It has ended", body = ErrorBody),
    ))]
async fn cancel_batch(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
) -> Result<Json<Cancelled>, Failure> {
    app.crawler.cancel(&caller, KIND, id).await?;
    Ok(Json(Cancelled { status: "cancelled" }))
}

/// The pages of a batch that could not be had
#[utoipa::path(get, path = "/v2/batch/scrape/{id}/errors", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch")), responses((status = 200, body = JobErrors)))]
async fn batch_errors(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
) -> Result<Json<JobErrors>, Failure> {
    Ok(Json(app.crawler.errors(&caller, KIND, id).await?))
}

/// Every address of a batch, and what became of it
#[utoipa::path(get, path = "/v2/batch/scrape/{id}/ledger", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch"), LedgerQuery),
    responses((status = 200, body = LedgerPage)))]
async fn batch_ledger(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    QueryString(query): QueryString<LedgerQuery>,
    headers: HeaderMap,
) -> Result<Json<LedgerPage>, Failure> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.crawler.ledger(&caller, KIND, id, &query, &base).await?))
}

/// A batch as it goes on, as server-sent events
#[utoipa::path(get, path = "/v2/batch/scrape/{id}/events", tag = "Batch",
    params(
        ("id" = uuid::Uuid, Path, description = "Id of the batch"),
        ("Last-Event-ID" = Option<u64>, Header, description = "The number of the last document that is known"),
    ),
    responses((status = 200, description = "`document`, `status`, and `done` at the end", body = String, content_type = "text/event-stream")))]
async fn batch_events(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    watch::events(&app, &caller, KIND, id, &headers).await
}
