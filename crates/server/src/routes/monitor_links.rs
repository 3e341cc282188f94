//! What the signed links of monitors lead to: pages with differences and checks, the feed, and the pages on
//! which recipients of mail confirm or unsubscribe. No key is needed: the link is the permission.

use super::session_links::TokenQuery;
use crate::app::App;
use crate::base_url::base_url;
use crate::body::{JsonBody, QueryString};
use crate::error::ApiError;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use engine::monitor::{LinkedPage, NotificationLink, Subscription};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::monitor::{SubscriptionRequest, SubscriptionResponse};
use wire::{ErrorBody, Kind};

const FEED_TYPE: &str = "application/atom+xml; charset=utf-8";

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(confirm_email))
        .routes(routes!(unsubscribe_email))
        .route(NotificationLink::Confirm.path(), get(ask_confirm).post(do_confirm))
        .route(NotificationLink::Unsubscribe.path(), get(ask_unsubscribe).post(do_unsubscribe))
        .route(NotificationLink::Diff.path(), get(diff))
        .route(NotificationLink::Timeline.path(), get(timeline))
        .route(NotificationLink::Feed.path(), get(feed))
}

/// Confirm that mail of a monitor is wanted
#[utoipa::path(post, path = "/v2/monitor/email/confirm", tag = "Monitor", security(()),
    request_body = SubscriptionRequest,
    responses((status = 200, body = SubscriptionResponse), (status = 404, body = ErrorBody)))]
async fn confirm_email(
    State(app): State<App>,
    JsonBody(asked): JsonBody<SubscriptionRequest>,
) -> Result<Json<SubscriptionResponse>, ApiError> {
    decide(&app, NotificationLink::Confirm, &asked, "confirmed").await
}

/// End mail of a monitor
#[utoipa::path(post, path = "/v2/monitor/email/unsubscribe", tag = "Monitor", security(()),
    request_body = SubscriptionRequest,
    responses((status = 200, body = SubscriptionResponse), (status = 404, body = ErrorBody)))]
async fn unsubscribe_email(
    State(app): State<App>,
    JsonBody(asked): JsonBody<SubscriptionRequest>,
) -> Result<Json<SubscriptionResponse>, ApiError> {
    decide(&app, NotificationLink::Unsubscribe, &asked, "unsubscribed").await
}

async fn decide(
    app: &App,
    link: NotificationLink,
    asked: &SubscriptionRequest,
    status: &'static str,
) -> Result<Json<SubscriptionResponse>, ApiError> {
    let token = asked.token.as_deref().unwrap_or_default();
    let Subscription { email, .. } =
        app.monitors.decide(link, token).await?.ok_or(Kind::SubscriptionNotFound)?;
    Ok(Json(SubscriptionResponse { success: true, email, status }))
}

async fn ask_confirm(
    State(app): State<App>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
) -> Result<Response, ApiError> {
    Ok(html(app.monitors.subscription_page(NotificationLink::Confirm, &token).await?))
}

async fn ask_unsubscribe(
    State(app): State<App>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
) -> Result<Response, ApiError> {
    Ok(html(app.monitors.subscription_page(NotificationLink::Unsubscribe, &token).await?))
}

/// The body is not looked at: it is that of the button, or of a mail program that unsubscribes by itself (RFC
/// 8058).
async fn do_confirm(
    State(app): State<App>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
) -> Result<Response, ApiError> {
    Ok(html(app.monitors.decision_page(NotificationLink::Confirm, &token).await?))
}

async fn do_unsubscribe(
    State(app): State<App>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
) -> Result<Response, ApiError> {
    Ok(html(app.monitors.decision_page(NotificationLink::Unsubscribe, &token).await?))
}

async fn diff(
    State(app): State<App>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    Ok(html(app.monitors.diff_page(&token, &base_url(&app.settings, &headers)).await?))
}

async fn timeline(
    State(app): State<App>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    Ok(html(app.monitors.timeline_page(&token, &base_url(&app.settings, &headers)).await?))
}

async fn feed(
    State(app): State<App>,
    QueryString(TokenQuery { token }): QueryString<TokenQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let base = base_url(&app.settings, &headers);
    let xml = app.monitors.feed(&token, &base).await?.ok_or(Kind::MonitorNotFound)?;
    let headers = [
        (header::CONTENT_TYPE, FEED_TYPE),
        (header::CACHE_CONTROL, "private, max-age=60"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, xml).into_response())
}

/// A page with the headers that keep it harmless.
fn html(LinkedPage { page, is_found }: LinkedPage) -> Response {
    let status = if is_found { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let mut headers = HeaderMap::new();
    for (name, value) in page.headers() {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    (status, headers, page.html).into_response()
}
