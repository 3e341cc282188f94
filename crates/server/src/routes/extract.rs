//! `/v2/extract`: structured data out of a few pages, as a run. Kept for clients that still call it; every answer says what replaces it.

use crate::app::App;
use crate::body::{IdempotencyKey, JobId, JsonBody};
use crate::error::Failure;
use crate::guard::Who;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
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
/// In maintenance mode: an agent run does the same and more.
#[utoipa::path(post, path = "/v2/extract", tag = "Extract", request_body = ExtractRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "A second extraction with the same key is refused")),
    responses(
        (status = 200, body = ExtractStarted),
        (status = 402, description = "The plan has no credits left", body = ErrorBody),
        (status = 409, description = "The idempotency key was used before", body = ErrorBody),
    ))]
async fn start_extract(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(key): IdempotencyKey,
    JsonBody(asked): JsonBody<ExtractRequest>,
) -> Result<(HeaderMap, Json<ExtractStarted>), Failure> {
    let started = Extractor::new(app.agents.clone()).start(&caller, &asked, key).await?;
    Ok((deprecated(), Json(started)))
}

/// How an extraction stands, and what it came to
#[utoipa::path(get, path = "/v2/extract/{id}", tag = "Extract",
    params(("id" = uuid::Uuid, Path, description = "Id of the extraction")),
    responses((status = 200, body = ExtractStatus)))]
async fn extract_status(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
) -> Result<(HeaderMap, Json<ExtractStatus>), Failure> {
    let status = Extractor::new(app.agents.clone()).status(&caller, id).await?;
    Ok((deprecated(), Json(status)))
}

/// Says that the endpoint works and will not grow, and where to go instead.
fn deprecated() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("deprecation"), HeaderValue::from_static("true"));
    let texts = [
        (header::LINK, format!("<{EXTRACT_REPLACEMENT}>; rel=\"successor-version\"")),
        (header::WARNING, format!("299 - \"{EXTRACT_WARNING}\"")),
    ];
    for (name, text) in texts {
        // Our own plain words always fit into a header.
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(name, value);
        }
    }
    headers
}
