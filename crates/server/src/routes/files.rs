//! `/v2/files/{name}`: screenshots and PDFs under signed URLs. No key is needed: the URLs are passed to
//! browsers and models, and expire.

use crate::app::App;
use crate::body::QueryString;
use crate::error::ApiError;
use crate::file_bytes::FileBytes;
use crate::response_memory::ResponseTeam;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::ErrorBody;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(file))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SignedQuery {
    /// Seconds since 1970.
    expires: i64,
    signature: String,
}

/// Get a screenshot or PDF
#[utoipa::path(get, path = "/v2/files/{name}", tag = "Scrape", security(()),
    params(("name" = String, Path, description = "As in the URL of the file"), SignedQuery),
    responses(
        (status = 200, description = "The file", body = FileBytes, content_type = "application/octet-stream"),
        (status = 404, description = "Unknown, expired, or not signed by this server", body = ErrorBody),
    ))]
async fn file(
    State(app): State<App>,
    Path(name): Path<String>,
    QueryString(signed): QueryString<SignedQuery>,
) -> Result<Response, ApiError> {
    let file = app.services.files.find(&name, signed.expires, &signed.signature).await?;
    let headers = [
        (header::CONTENT_TYPE, file.mime),
        (header::CACHE_CONTROL, "private, max-age=86400"),
        // The content of a page must not be executed in the origin of this server.
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    let mut response = (headers, file.bytes).into_response();
    response.extensions_mut().insert(ResponseTeam::OF_LINKS);
    Ok(response)
}
