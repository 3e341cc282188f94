//! `/v2/crawl`: whole sites, as jobs. Watching them is [`super::watch`]'s.

use super::watch;
use crate::app::App;
use crate::body::{IdempotencyKey, JobId, JsonBody, QueryString};
use crate::error::Failure;
use crate::guard::Who;
use crate::public::base_url;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use engine::crawl::CrawlAccepted;
use engine::crawl::status::path;
use store::crawls::CrawlKind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::crawl::{
    ActiveCrawls, Cancelled, CrawlRequest, CrawlStarted, JobErrors, JobStatus, LedgerPage, LedgerQuery,
    PageQuery, ParamsPreview, ParamsPreviewRequest,
};

const KIND: CrawlKind = CrawlKind::Crawl;

pub fn start_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(start_crawl)).routes(routes!(preview_crawl))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(active_crawls))
        .routes(routes!(ongoing_crawls))
        .routes(routes!(crawl_status, cancel_crawl))
        .routes(routes!(crawl_errors))
        .routes(routes!(crawl_ledger))
        .routes(routes!(crawl_events))
}

/// Crawl a site
#[utoipa::path(post, path = "/v2/crawl", tag = "Crawl", request_body = CrawlRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second crawl with the same key is refused")),
    responses(
        (status = 200, body = CrawlStarted),
        (status = 402, description = "The plan's credits do not cover `limit`", body = ErrorBody),
        (status = 409, description = "The idempotency key was used before", body = ErrorBody),
    ))]
async fn start_crawl(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<CrawlRequest>,
) -> Result<Json<CrawlStarted>, Failure> {
    let base = base_url(&app.settings, &headers);
    let CrawlAccepted { id, prompted } = app.crawler.start(&caller, &asked, key.as_deref(), &base).await?;
    let (generated, options, warning) = prompted.map_or((None, None, None), |prompted| {
        (Some(prompted.generated), Some(prompted.options), prompted.warning)
    });
    Ok(Json(CrawlStarted {
        success: true,
        id,
        url: format!("{base}{}/{id}", path(KIND)),
        prompt_generated_options: generated,
        final_crawler_options: options,
        warning,
    }))
}

/// The options that a prompt would give a crawl
#[utoipa::path(post, path = "/v2/crawl/params-preview", tag = "Crawl", request_body = ParamsPreviewRequest,
    responses((status = 200, body = ParamsPreview)))]
async fn preview_crawl(
    State(app): State<App>,
    Who(caller): Who,
    JsonBody(asked): JsonBody<ParamsPreviewRequest>,
) -> Result<Json<ParamsPreview>, Failure> {
    let prompted = app.crawler.preview(&caller, &asked).await?;
    Ok(Json(ParamsPreview { success: true, data: prompted.options, warning: prompted.warning }))
}

/// How a crawl stands, and its documents
///
/// Over a WebSocket, the same address follows the crawl: see the guide.
#[utoipa::path(get, path = "/v2/crawl/{id}", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl"), PageQuery),
    responses((status = 200, body = JobStatus)))]
async fn crawl_status(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    QueryString(page): QueryString<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let base = base_url(&app.settings, &headers);
    Ok(json(app.crawler.status(&caller, KIND, id, &page, &base).await?))
}

/// Cancel a crawl
#[utoipa::path(delete, path = "/v2/crawl/{id}", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl")),
    responses(
        (status = 200, body = Cancelled),
        (status = 409, description = "It has ended", body = ErrorBody),
    ))]
async fn cancel_crawl(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
) -> Result<Json<Cancelled>, Failure> {
    app.crawler.cancel(&caller, KIND, id).await?;
    Ok(Json(Cancelled { status: "cancelled" }))
}

/// The pages of a crawl that could not be had
#[utoipa::path(get, path = "/v2/crawl/{id}/errors", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl")), responses((status = 200, body = JobErrors)))]
async fn crawl_errors(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
) -> Result<Json<JobErrors>, Failure> {
    Ok(Json(app.crawler.errors(&caller, KIND, id).await?))
}

/// Every address of a crawl, and what became of it
#[utoipa::path(get, path = "/v2/crawl/{id}/ledger", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl"), LedgerQuery),
    responses((status = 200, body = LedgerPage)))]
async fn crawl_ledger(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    QueryString(query): QueryString<LedgerQuery>,
    headers: HeaderMap,
) -> Result<Json<LedgerPage>, Failure> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.crawler.ledger(&caller, KIND, id, &query, &base).await?))
}

/// A crawl as it goes on, as server-sent events
#[utoipa::path(get, path = "/v2/crawl/{id}/events", tag = "Crawl",
    params(
        ("id" = uuid::Uuid, Path, description = "Id of the crawl"),
        ("Last-Event-ID" = Option<u64>, Header, description = "The number of the last document that is known"),
    ),
    responses((status = 200, description = "`document`, `status`, and `done` at the end", body = String, content_type = "text/event-stream")))]
async fn crawl_events(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    watch::events(&app, &caller, KIND, id, &headers).await
}

/// Crawls that run
#[utoipa::path(get, path = "/v2/crawl/active", tag = "Crawl", responses((status = 200, body = ActiveCrawls)))]
async fn active_crawls(State(app): State<App>, Who(caller): Who) -> Result<Json<ActiveCrawls>, Failure> {
    Ok(Json(ActiveCrawls { success: true, crawls: app.crawler.active(&caller).await? }))
}

/// Crawls that run, under another name
#[utoipa::path(get, path = "/v2/crawl/ongoing", tag = "Crawl", responses((status = 200, body = ActiveCrawls)))]
async fn ongoing_crawls(state: State<App>, who: Who) -> Result<Json<ActiveCrawls>, Failure> {
    active_crawls(state, who).await
}

/// What is JSON already.
pub fn json(body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
