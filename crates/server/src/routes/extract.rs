//! `/v2/extract`: structured data from pages, as an agent run. Deprecated, kept for existing clients; every
//! response names the replacement.

use crate::app::App;
use crate::auth::Authenticated;
use crate::body::{IdempotencyKey, JobId, JsonBody};
use crate::deprecation::deprecation_headers;
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use engine::extract::Extractor;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::extract::{EXTRACT_REPLACEMENT, EXTRACT_WARNING, ExtractRequest, ExtractStarted, ExtractStatus};

pub fn start_route() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(start_extract))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(extract_status))
}

/// Extract structured data from pages
///
/// Deprecated: use an agent run instead.
#[utoipa::path(post, path = "/v2/extract", tag = "Extract", request_body = ExtractRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second extraction with the same key is rejected")),
    responses(
        (status = 200, body = ExtractStarted),
        (status = 402, description = "The plan has no credits left", body = ErrorBody),
        (status = 409, description = "The idempotency key was used before", body = ErrorBody),
    ))]
async fn start_extract(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    IdempotencyKey(key): IdempotencyKey,
    JsonBody(asked): JsonBody<ExtractRequest>,
) -> Result<(HeaderMap, Json<ExtractStarted>), ApiError> {
    let started = Extractor::new(app.agents.clone()).start(&caller, &asked, key).await?;
    Ok((deprecation_headers(EXTRACT_REPLACEMENT, EXTRACT_WARNING), Json(started)))
}

/// Get the status and the result of an extraction
#[utoipa::path(get, path = "/v2/extract/{id}", tag = "Extract",
    params(("id" = uuid::Uuid, Path, description = "Id of the extraction")),
    responses((status = 200, body = ExtractStatus)))]
async fn extract_status(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
) -> Result<(HeaderMap, Json<ExtractStatus>), ApiError> {
    let status = Extractor::new(app.agents.clone()).status(&caller, id).await?;
    Ok((deprecation_headers(EXTRACT_REPLACEMENT, EXTRACT_WARNING), Json(status)))
}
