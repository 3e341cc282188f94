//! `/v2/search`: web, news and image search; and feedback on results.

use crate::app::App;
use crate::auth::Authenticated;
use crate::base_url::base_url;
use crate::body::{JobId, JsonBody};
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::search::{FeedbackRequest, FeedbackResponse, SearchFeedbackRequest, SearchRequest, SearchResponse};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(search))
}

pub fn feedback_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(search_feedback)).routes(routes!(feedback))
}

/// Search the web, and optionally scrape the results
#[utoipa::path(post, path = "/v2/search", tag = "Search", request_body = SearchRequest,
    responses(
        (status = 200, body = SearchResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
        (status = 408, description = "No search provider responded within `timeout`", body = ErrorBody),
    ))]
async fn search(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<SearchRequest>,
) -> Result<Json<SearchResponse>, ApiError> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.searcher.search(&caller, &asked, &base).await?))
}

/// Give feedback on the results of a search
#[utoipa::path(post, path = "/v2/search/{id}/feedback", tag = "Search", request_body = SearchFeedbackRequest,
    params(("id" = uuid::Uuid, Path, description = "`id` of the search")),
    responses((status = 200, body = FeedbackResponse)))]
async fn search_feedback(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JobId(id): JobId,
    JsonBody(asked): JsonBody<SearchFeedbackRequest>,
) -> Result<Json<FeedbackResponse>, ApiError> {
    Ok(Json(app.searcher.take_search_feedback(&caller, id, asked).await?))
}

/// Give feedback on a result
#[utoipa::path(post, path = "/v2/feedback", tag = "Search", request_body = FeedbackRequest,
    responses(
        (status = 200, body = FeedbackResponse),
        (status = 404, description = "The result does not exist", body = ErrorBody),
    ))]
async fn feedback(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JsonBody(asked): JsonBody<FeedbackRequest>,
) -> Result<Json<FeedbackResponse>, ApiError> {
    Ok(Json(app.searcher.take_feedback(&caller, asked).await?))
}
