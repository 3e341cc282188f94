//! `/v2/search/developer` and `/v2/search/gov`: search in imported collections, by `GET` and by `POST`.

use crate::app::App;
use crate::auth::Authenticated;
use crate::body::{JsonBody, QueryString};
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::search_collections::{
    DeveloperQuery, DeveloperRequest, DeveloperResponse, GovRequest, GovResponse,
};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(developer, developer_by_query))
        .routes(routes!(developer_formerly, developer_formerly_by_query))
        .routes(routes!(gov, gov_by_query))
}

/// Search documentation, issues, pull requests and READMEs
#[utoipa::path(post, path = "/v2/search/developer", operation_id = "searchDeveloper", tag = "Search",
    request_body = DeveloperRequest,
    responses(
        (status = 200, body = DeveloperResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn developer(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JsonBody(asked): JsonBody<DeveloperRequest>,
) -> Result<Json<DeveloperResponse>, ApiError> {
    Ok(Json(app.collections.developer(&caller, &asked).await?))
}

/// Search documentation, issues, pull requests and READMEs, with query parameters
#[utoipa::path(get, path = "/v2/search/developer", operation_id = "searchDeveloperByQuery", tag = "Search",
    params(DeveloperQuery),
    responses(
        (status = 200, body = DeveloperResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn developer_by_query(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(asked): QueryString<DeveloperQuery>,
) -> Result<Json<DeveloperResponse>, ApiError> {
    Ok(Json(app.collections.developer(&caller, &asked.into()).await?))
}

/// The former path of `/v2/search/developer`
#[utoipa::path(post, path = "/v2/developer", operation_id = "searchDeveloperFormerly", tag = "Search",
    request_body = DeveloperRequest,
    responses(
        (status = 200, body = DeveloperResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn developer_formerly(
    app: State<App>,
    caller: Authenticated,
    asked: JsonBody<DeveloperRequest>,
) -> Result<Json<DeveloperResponse>, ApiError> {
    developer(app, caller, asked).await
}

/// The former path of `/v2/search/developer`, with query parameters
#[utoipa::path(get, path = "/v2/developer", operation_id = "searchDeveloperFormerlyByQuery", tag = "Search",
    params(DeveloperQuery),
    responses(
        (status = 200, body = DeveloperResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn developer_formerly_by_query(
    app: State<App>,
    caller: Authenticated,
    asked: QueryString<DeveloperQuery>,
) -> Result<Json<DeveloperResponse>, ApiError> {
    developer_by_query(app, caller, asked).await
}

/// Search legislation and court decisions
#[utoipa::path(post, path = "/v2/search/gov", operation_id = "searchGov", tag = "Search", request_body = GovRequest,
    responses(
        (status = 200, body = GovResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn gov(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JsonBody(asked): JsonBody<GovRequest>,
) -> Result<Json<GovResponse>, ApiError> {
    Ok(Json(app.collections.gov(&caller, &asked).await?))
}

/// Search legislation and court decisions, with query parameters
#[utoipa::path(get, path = "/v2/search/gov", operation_id = "searchGovByQuery", tag = "Search", params(GovRequest),
    responses(
        (status = 200, body = GovResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn gov_by_query(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    QueryString(asked): QueryString<GovRequest>,
) -> Result<Json<GovResponse>, ApiError> {
    Ok(Json(app.collections.gov(&caller, &asked).await?))
}
