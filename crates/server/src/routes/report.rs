//! `/admin/report`: what `gannet doctor` says about this server, for people who have no shell on it.

use crate::app::App;
use crate::body::QueryString;
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::admin::{ReportQuery, ServerReport};
use wire::team::DataResponse;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(report))
}

/// Check the parts of this server, and list its limits and settings
#[utoipa::path(get, path = "/admin/report", tag = "Administration", params(ReportQuery),
    responses((status = 200, body = DataResponse<ServerReport>)))]
async fn report(
    State(app): State<App>,
    QueryString(query): QueryString<ReportQuery>,
) -> Result<Json<DataResponse<ServerReport>>, ApiError> {
    Ok(Json(DataResponse::new(app.report.get(query.fresh).await)))
}
