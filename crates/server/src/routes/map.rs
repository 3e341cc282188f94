//! `/v2/map`: the addresses of a site.

use crate::app::App;
use crate::body::JsonBody;
use crate::error::Failure;
use crate::guard::Who;
use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::map::{MapAnswer, MapRequest};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(map))
}

/// List the addresses of a site
#[utoipa::path(post, path = "/v2/map", tag = "Map", request_body = MapRequest,
    responses(
        (status = 200, body = MapAnswer),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn map(
    State(app): State<App>,
    Who(caller): Who,
    JsonBody(asked): JsonBody<MapRequest>,
) -> Result<Json<MapAnswer>, Failure> {
    Ok(Json(app.mapper.map(&caller, &asked).await?))
}
