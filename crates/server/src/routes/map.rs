//! `/v2/map`: the URLs of a site.

use crate::app::App;
use crate::auth::Authenticated;
use crate::body::JsonBody;
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;
use wire::map::{MapRequest, MapResponse};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(map))
}

/// List the URLs of a site
#[utoipa::path(post, path = "/v2/map", tag = "Map", request_body = MapRequest,
    responses(
        (status = 200, body = MapResponse),
        (status = 402, description = "The plan's credits are used up", body = ErrorBody),
    ))]
async fn map(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    JsonBody(asked): JsonBody<MapRequest>,
) -> Result<Json<MapResponse>, ApiError> {
    Ok(Json(app.mapper.map(&caller, &asked).await?))
}
