//! The page of the dashboard at `/` and its files at `/assets/…`; without a dashboard, `/` leads to `/docs`.

use crate::app::App;
use crate::error::ApiError;
use crate::shared_document::takes_gzip;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Response as HttpResponse, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use dashboard::{Asset, CONTENT_SECURITY_POLICY};
use wire::Kind;

pub fn routes() -> Router<App> {
    Router::new()
        .route("/", get(page))
        .route("/favicon.ico", get(icon))
        .route("/assets/{version}/{*path}", get(asset))
}

async fn page(State(app): State<App>, headers: HeaderMap) -> Response {
    let Some(dashboard) = &app.dashboard else { return Redirect::temporary("/docs").into_response() };
    respond(dashboard.page(), &headers)
}

/// Browsers ask for it on pages that name no icon: differences of monitors, the live view, replays.
async fn icon(State(app): State<App>, headers: HeaderMap) -> Response {
    respond(app.dashboard.as_ref().and_then(dashboard::Dashboard::icon), &headers)
}

async fn asset(
    State(app): State<App>,
    Path((version, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    respond(app.dashboard.as_ref().and_then(|dashboard| dashboard.asset(&version, &path)), &headers)
}

fn respond(asset: Option<Asset>, asked: &HeaderMap) -> Response {
    let Some(asset) = asset else { return ApiError::from(Kind::NotFound).into_response() };
    let text = |name| asked.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    let unchanged = text(header::IF_NONE_MATCH).split(',').any(|tag| tag.trim() == asset.etag);
    let caching = if asset.immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = HttpResponse::builder()
        .header(header::CONTENT_TYPE, asset.content_type)
        .header(header::CACHE_CONTROL, caching)
        .header(header::ETAG, &asset.etag)
        .header(header::VARY, "accept-encoding")
        .header(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header("cross-origin-opener-policy", "same-origin");
    let body = if unchanged {
        response = response.status(StatusCode::NOT_MODIFIED);
        Body::empty()
    } else if let Some(gzip) = asset.gzip.filter(|_| takes_gzip(asked)) {
        response = response.header(header::CONTENT_ENCODING, "gzip");
        Body::from(gzip)
    } else {
        Body::from(asset.plain)
    };
    response.body(body).unwrap_or_else(|_| ApiError::from(Kind::Internal).into_response())
}
