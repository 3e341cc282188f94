//! `/v2/search`: pages, news and pictures for a question; and what callers say of answers.

use crate::app::App;
use crate::body::{JobId, JsonBody};
use crate::error::Failure;
use crate::guard::Who;
use crate::public::base_url;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::search::{FeedbackAnswer, FeedbackRequest, SearchAnswer, SearchFeedbackRequest, SearchRequest};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(search))
}

pub fn feedback_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(search_feedback)).routes(routes!(feedback))
}

/// Search, and scrape what is found
#[utoipa::path(post, path = "/v2/search", tag = "Search", request_body = SearchRequest,
    responses(
        (status = 200, body = SearchAnswer),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
        (status = 408, description = "Nobody answered within `timeout`", body = ErrorBody),
    ))]
async fn search(
    State(app): State<App>,
    Who(caller): Who,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<SearchRequest>,
) -> Result<Json<SearchAnswer>, Failure> {
    let base = base_url(&app.settings, &headers);
    Ok(Json(app.searcher.search(&caller, &asked, &base).await?))
}

/// Say how good the results of a search were
#[utoipa::path(post, path = "/v2/search/{id}/feedback", tag = "Search", request_body = SearchFeedbackRequest,
    params(("id" = uuid::Uuid, Path, description = "`id` of the search")),
    responses((status = 200, body = FeedbackAnswer)))]
async fn search_feedback(
    State(app): State<App>,
    Who(caller): Who,
    JobId(id): JobId,
    JsonBody(asked): JsonBody<SearchFeedbackRequest>,
) -> Result<Json<FeedbackAnswer>, Failure> {
    Ok(Json(app.searcher.take_search_feedback(&caller, id, asked).await?))
}

/// Say how good an answer was
#[utoipa::path(post, path = "/v2/feedback", tag = "Search", request_body = FeedbackRequest,
    responses(
        (status = 200, body = FeedbackAnswer),
        (status = 404, description = "There is no such answer", body = ErrorBody),
    ))]
async fn feedback(
    State(app): State<App>,
    Who(caller): Who,
    JsonBody(asked): JsonBody<FeedbackRequest>,
) -> Result<Json<FeedbackAnswer>, Failure> {
    Ok(Json(app.searcher.take_feedback(&caller, asked).await?))
}
