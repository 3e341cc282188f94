//! `/v2/batch/scrape`: batches, which scrape a list of pages.

use super::crawl::json_response;
use super::downloads::{self, DownloadedFile};
use super::watch;
use crate::app::App;
use crate::auth::Authenticated;
use crate::base_url::base_url;
use crate::body::{IdempotencyKey, JobId, JsonBody, QueryString};
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use engine::crawl::CrawlKind;
use engine::crawl::status::path;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::batch::{BatchRequest, BatchStarted};
use wire::crawl::{Cancelled, DownloadQuery, JobErrors, JobStatus, LedgerPage, LedgerQuery, PageQuery};

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
        .routes(routes!(batch_download))
}

/// Scrape a list of pages
#[utoipa::path(post, path = "/v2/batch/scrape", tag = "Batch", request_body = BatchRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second batch with the same key is rejected")),
    responses(
        (status = 200, body = BatchStarted),
        (status = 402, description = "The plan's credits do not cover the pages", body = ErrorBody),
        (status = 404, description = "The batch in `appendToId` does not exist", body = ErrorBody),
        (status = 409, description = "The idempotency key was used before, or the batch to add to has failed or was cancelled", body = ErrorBody),
    ))]
async fn start_batch(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<BatchRequest>,
) -> Result<Json<BatchStarted>, ApiError> {
    let base = base_url(&app.settings, &headers);
    let accepted = app.crawler.start_batch(&caller, asked, key.as_deref(), &base).await?;
    let url = format!("{base}{}/{}", path(KIND), accepted.id);
    Ok(Json(BatchStarted { success: true, id: accepted.id, url, invalid_urls: accepted.invalid }))
}

/// Get the status and the documents of a batch
///
/// The same URL also accepts a WebSocket that follows the batch.
#[utoipa::path(get, path = "/v2/batch/scrape/{id}", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch"), PageQuery),
    responses((status = 200, body = JobStatus)))]
async fn batch_status(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    QueryString(page): QueryString<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(json_response(app.crawler.status(&caller, KIND, id, &page, &base).await?))
}

/// Cancel a batch
#[utoipa::path(delete, path = "/v2/batch/scrape/{id}", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch")),
    responses(
        (status = 200, body = Cancelled),
        (status = 409, description = "The batch has already ended", body = ErrorBody),
    ))]
async fn cancel_batch(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<Cancelled>, ApiError> {
    app.crawler.cancel(&caller, KIND, id).await?;
    Ok(Json(Cancelled { status: "cancelled" }))
}

/// List the pages of a batch that failed
#[utoipa::path(get, path = "/v2/batch/scrape/{id}/errors", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch")), responses((status = 200, body = JobErrors)))]
async fn batch_errors(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<JobErrors>, ApiError> {
    Ok(Json(app.crawler.errors(&caller, KIND, id).await?))
}

/// List every URL of a batch and its result
#[utoipa::path(get, path = "/v2/batch/scrape/{id}/ledger", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch"), LedgerQuery),
    responses((status = 200, body = LedgerPage)))]
async fn batch_ledger(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    QueryString(query): QueryString<LedgerQuery>,
    headers: HeaderMap,
) -> Result<Json<LedgerPage>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.crawler.ledger(&caller, KIND, id, &query, &base).await?))
}

/// Download the documents of a batch as one file
///
/// JSON lines as the status has them, or WARC. A batch keeps what its formats ask for, not the responses of servers:
/// pages are WARC records of type `resource` (HTML, where asked for) or `conversion` (markdown).
#[utoipa::path(get, path = "/v2/batch/scrape/{id}/download", tag = "Batch",
    params(("id" = uuid::Uuid, Path, description = "Id of the batch"), DownloadQuery),
    responses((status = 200, response = inline(DownloadedFile))))]
async fn batch_download(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    QueryString(query): QueryString<DownloadQuery>,
) -> Result<Response, ApiError> {
    downloads::download(&app, &caller, KIND, id, &query).await
}

/// Follow a batch by server-sent events
#[utoipa::path(get, path = "/v2/batch/scrape/{id}/events", tag = "Batch",
    params(
        ("id" = uuid::Uuid, Path, description = "Id of the batch"),
        ("Last-Event-ID" = Option<u64>, Header, description = "Number of the last document received"),
    ),
    responses((status = 200, description = "Events `document`, `status`, and finally `done`", body = String, content_type = "text/event-stream")))]
async fn batch_events(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    watch::events(&app, &caller, KIND, id, &headers).await
}
