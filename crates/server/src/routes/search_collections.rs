//! `/v2/search/developer` and `/v2/search/gov`: collections that the operator brought in, by `GET` and by `POST`.

use crate::app::App;
use crate::body::{JsonBody, QueryString};
use crate::error::Failure;
use crate::guard::Who;
use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::search_collections::{DeveloperAnswer, DeveloperQuery, DeveloperRequest, GovAnswer, GovRequest};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(developer, developer_by_query)).routes(routes!(gov, gov_by_query))
}

/// Search documentation, issues, pull requests and READMEs
#[utoipa::path(post, path = "/v2/search/developer", operation_id = "searchDeveloper", tag = "Search",
    request_body = DeveloperRequest,
    responses(
        (status = 200, body = DeveloperAnswer),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn developer(
    State(app): State<App>,
    Who(caller): Who,
    JsonBody(asked): JsonBody<DeveloperRequest>,
) -> Result<Json<DeveloperAnswer>, Failure> {
    Ok(Json(app.collections.developer(&caller, &asked).await?))
}

/// The same with the question in the address
#[utoipa::path(get, path = "/v2/search/developer", operation_id = "searchDeveloperByQuery", tag = "Search",
    params(DeveloperQuery),
    responses(
        (status = 200, body = DeveloperAnswer),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn developer_by_query(
    State(app): State<App>,
    Who(caller): Who,
    QueryString(asked): QueryString<DeveloperQuery>,
) -> Result<Json<DeveloperAnswer>, Failure> {
    Ok(Json(app.collections.developer(&caller, &asked.into()).await?))
}

/// Search public law
#[utoipa::path(post, path = "/v2/search/gov", operation_id = "searchGov", tag = "Search", request_body = GovRequest,
    responses(
        (status = 200, body = GovAnswer),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn gov(
    State(app): State<App>,
    Who(caller): Who,
    JsonBody(asked): JsonBody<GovRequest>,
) -> Result<Json<GovAnswer>, Failure> {
    Ok(Json(app.collections.gov(&caller, &asked).await?))
}

/// The same with the question in the address
#[utoipa::path(get, path = "/v2/search/gov", operation_id = "searchGovByQuery", tag = "Search", params(GovRequest),
    responses(
        (status = 200, body = GovAnswer),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn gov_by_query(
    State(app): State<App>,
    Who(caller): Who,
    QueryString(asked): QueryString<GovRequest>,
) -> Result<Json<GovAnswer>, Failure> {
    Ok(Json(app.collections.gov(&caller, &asked).await?))
}
