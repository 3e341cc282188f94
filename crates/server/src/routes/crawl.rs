//! `/v2/crawl`: crawls of whole sites. Following them live is in [`super::watch`].

use super::downloads::{self, DownloadedFile};
use super::watch;
use crate::app::App;
use crate::auth::Authenticated;
use crate::base_url::base_url;
use crate::body::{IdempotencyKey, JobId, JsonBody, QueryString};
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use engine::crawl::CrawlAccepted;
use engine::crawl::CrawlKind;
use engine::crawl::status::path;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::crawl::{
    ActiveCrawls, Cancelled, CrawlRequest, CrawlStarted, DownloadQuery, JobErrors, JobStatus, LedgerPage,
    LedgerQuery, PageQuery, ParamsPreview, ParamsPreviewRequest,
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
        .routes(routes!(crawl_download))
}

/// Crawl a site
#[utoipa::path(post, path = "/v2/crawl", tag = "Crawl", request_body = CrawlRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second crawl with the same key is rejected")),
    responses(
        (status = 200, body = CrawlStarted),
        (status = 402, description = "The plan's credits do not cover `limit`", body = ErrorBody),
        (status = 409, description = "The idempotency key was used before", body = ErrorBody),
    ))]
async fn start_crawl(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<CrawlRequest>,
) -> Result<Json<CrawlStarted>, ApiError> {
    let base = base_url(&app.settings, &headers);
    let accepted = app.crawler.start(&caller, &asked, key.as_deref(), &base).await?;
    let CrawlAccepted { id, prompted, warning } = accepted;
    let (generated, options, about_prompt) = prompted.map_or((None, None, None), |prompted| {
        (Some(prompted.generated), Some(prompted.options), prompted.warning)
    });
    let warnings: Vec<String> = warning.into_iter().chain(about_prompt).collect();
    Ok(Json(CrawlStarted {
        success: true,
        id,
        url: format!("{base}{}/{id}", path(KIND)),
        prompt_generated_options: generated,
        final_crawler_options: options,
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    }))
}

/// Preview the crawl options that a prompt generates
#[utoipa::path(post, path = "/v2/crawl/params-preview", tag = "Crawl", request_body = ParamsPreviewRequest,
    responses((status = 200, body = ParamsPreview)))]
async fn preview_crawl(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JsonBody(asked): JsonBody<ParamsPreviewRequest>,
) -> Result<Json<ParamsPreview>, ApiError> {
    let prompted = app.crawler.preview(&caller, &asked).await?;
    Ok(Json(ParamsPreview { success: true, data: prompted.options, warning: prompted.warning }))
}

/// Get the status and the documents of a crawl
///
/// The same URL also accepts a WebSocket that follows the crawl.
#[utoipa::path(get, path = "/v2/crawl/{id}", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl"), PageQuery),
    responses((status = 200, body = JobStatus)))]
async fn crawl_status(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    QueryString(page): QueryString<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(json_response(app.crawler.status(&caller, KIND, id, &page, &base).await?))
}

/// Cancel a crawl
#[utoipa::path(delete, path = "/v2/crawl/{id}", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl")),
    responses(
        (status = 200, body = Cancelled),
        (status = 409, description = "The crawl has already ended", body = ErrorBody),
    ))]
async fn cancel_crawl(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<Cancelled>, ApiError> {
    app.crawler.cancel(&caller, KIND, id).await?;
    Ok(Json(Cancelled { status: "cancelled" }))
}

/// List the pages of a crawl that failed
#[utoipa::path(get, path = "/v2/crawl/{id}/errors", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl")), responses((status = 200, body = JobErrors)))]
async fn crawl_errors(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Json<JobErrors>, ApiError> {
    Ok(Json(app.crawler.errors(&caller, KIND, id).await?))
}

/// List every URL of a crawl and its result
#[utoipa::path(get, path = "/v2/crawl/{id}/ledger", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl"), LedgerQuery),
    responses((status = 200, body = LedgerPage)))]
async fn crawl_ledger(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    QueryString(query): QueryString<LedgerQuery>,
    headers: HeaderMap,
) -> Result<Json<LedgerPage>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.crawler.ledger(&caller, KIND, id, &query, &base).await?))
}

/// Download the documents of a crawl as one file
///
/// JSON lines as the status has them, or WARC. A crawl keeps what its formats ask for, not the responses of servers:
/// pages are WARC records of type `resource` (HTML, where asked for) or `conversion` (markdown).
#[utoipa::path(get, path = "/v2/crawl/{id}/download", tag = "Crawl",
    params(("id" = uuid::Uuid, Path, description = "Id of the crawl"), DownloadQuery),
    responses((status = 200, response = inline(DownloadedFile))))]
async fn crawl_download(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    QueryString(query): QueryString<DownloadQuery>,
) -> Result<Response, ApiError> {
    downloads::download(&app, &caller, KIND, id, &query).await
}

/// Follow a crawl by server-sent events
#[utoipa::path(get, path = "/v2/crawl/{id}/events", tag = "Crawl",
    params(
        ("id" = uuid::Uuid, Path, description = "Id of the crawl"),
        ("Last-Event-ID" = Option<u64>, Header, description = "Number of the last document received"),
    ),
    responses((status = 200, description = "Events `document`, `status`, and finally `done`", body = String, content_type = "text/event-stream")))]
async fn crawl_events(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    watch::events(&app, &caller, KIND, id, &headers).await
}

/// List running crawls
#[utoipa::path(get, path = "/v2/crawl/active", tag = "Crawl", responses((status = 200, body = ActiveCrawls)))]
async fn active_crawls(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<ActiveCrawls>, ApiError> {
    Ok(Json(ActiveCrawls { success: true, crawls: app.crawler.active(&caller).await? }))
}

/// List running crawls (alias of `/v2/crawl/active`)
#[utoipa::path(get, path = "/v2/crawl/ongoing", tag = "Crawl", responses((status = 200, body = ActiveCrawls)))]
async fn ongoing_crawls(state: State<App>, who: Authenticated) -> Result<Json<ActiveCrawls>, ApiError> {
    active_crawls(state, who).await
}

/// A response whose body is already JSON.
pub fn json_response(body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
