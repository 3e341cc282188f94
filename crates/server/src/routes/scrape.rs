//! `/v2/scrape`: scrape one page.

use crate::app::App;
use crate::auth::Authenticated;
use crate::base_url::base_url;
use crate::body::{IdempotencyKey, JobId, JsonBody};
use crate::document_body::document_response;
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use engine::search::call_tools;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::scrape::{ScrapeRequest, ScrapeResponse};
use wire::{ErrorBody, Issue, WireError};

pub fn start_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(scrape))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(find))
}

/// Scrape a page
#[utoipa::path(post, path = "/v2/scrape", tag = "Scrape", request_body = ScrapeRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second scrape with the same key is rejected")),
    responses(
        (status = 200, body = ScrapeResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
        (status = 404, description = "Only a cached page was requested, and there is none", body = ErrorBody),
        (status = 409, description = "The idempotency key was used before, or the profile is in use by another writer", body = ErrorBody),
    ))]
async fn scrape(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<ScrapeRequest>,
) -> Result<Response, ApiError> {
    if asked.alexandria.is_some() {
        check_request_id(&headers)?;
        return Ok(Json(call_tools(&asked)?).into_response());
    }
    let plan = app.scraper.plan(&caller, &asked)?;
    let base = base_url(&app.settings, &headers);
    let scraped = app.scraper.scrape(&caller, plan, key, &base).await?;
    app.scraper.keep_request(&caller, scraped.id, &asked).await;
    Ok(document_response(scraped.id, scraped.document))
}

/// Get the result of a scrape of the last 24 hours
#[utoipa::path(get, path = "/v2/scrape/{id}", tag = "Scrape",
    params(("id" = uuid::Uuid, Path, description = "`metadata.scrapeId` of the scrape")),
    responses(
        (status = 200, body = ScrapeResponse),
        (status = 408, description = "The scrape timed out", body = ErrorBody),
    ))]
async fn find(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<Response, ApiError> {
    Ok(document_response(id, app.scraper.find(&caller, id).await?))
}

/// Validates the caller's id of a tool call. Tools do nothing here, so a repeated id changes nothing.
fn check_request_id(headers: &HeaderMap) -> Result<(), WireError> {
    let Some(id) = headers.get("x-request-id") else { return Ok(()) };
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:-".contains(byte);
    if (1..=128).contains(&id.len()) && id.as_bytes().iter().all(legal) {
        return Ok(());
    }
    let text = "must be 1 to 128 letters, digits, dots, underscores, colons and dashes";
    Err(WireError::invalid(&[Issue::at("x-request-id", text, "invalid_value")]))
}
