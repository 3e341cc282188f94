//! What the signed links of monitors lead to: pages with differences and checks, the feed, and the pages on
//! which recipients of mail confirm or unsubscribe. No key is needed: the link is the permission.

use crate::app::App;
use crate::base_url::base_url;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::response_memory::{HeldResponse, ResponseTeam};
use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use engine::monitor::{LinkedPage, NotificationLink, Subscription};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::monitor::{SubscriptionRequest, SubscriptionResponse};
use wire::{ErrorBody, Kind};

const FEED_TYPE: &str = "application/atom+xml; charset=utf-8";

/// The token of a link. People follow these links, so nothing about the query is an error: mail programs add parameters of
/// their own, and a link that is broken leads to a page that says so.
struct LinkToken(String);

impl<S: Send + Sync> FromRequestParts<S> for LinkToken {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        let token = url::form_urlencoded::parse(query).find(|(name, _)| name == "token");
        Ok(Self(token.map(|(_, token)| token.into_owned()).unwrap_or_default()))
    }
}

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

async fn ask_confirm(State(app): State<App>, LinkToken(token): LinkToken) -> Result<Response, ApiError> {
    Ok(html(app.monitors.subscription_page(NotificationLink::Confirm, &token).await?))
}

async fn ask_unsubscribe(State(app): State<App>, LinkToken(token): LinkToken) -> Result<Response, ApiError> {
    Ok(html(app.monitors.subscription_page(NotificationLink::Unsubscribe, &token).await?))
}

/// The body is not looked at: it is that of the button, or of a mail program that unsubscribes by itself (RFC
/// 8058).
async fn do_confirm(State(app): State<App>, LinkToken(token): LinkToken) -> Result<Response, ApiError> {
    Ok(html(app.monitors.decision_page(NotificationLink::Confirm, &token).await?))
}

async fn do_unsubscribe(State(app): State<App>, LinkToken(token): LinkToken) -> Result<Response, ApiError> {
    Ok(html(app.monitors.decision_page(NotificationLink::Unsubscribe, &token).await?))
}

async fn diff(
    State(app): State<App>,
    LinkToken(token): LinkToken,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    Ok(html(app.monitors.diff_page(&token, &base_url(&app.settings, &headers)).await?))
}

async fn timeline(
    State(app): State<App>,
    LinkToken(token): LinkToken,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    Ok(html(app.monitors.timeline_page(&token, &base_url(&app.settings, &headers)).await?))
}

async fn feed(
    State(app): State<App>,
    LinkToken(token): LinkToken,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let base = base_url(&app.settings, &headers);
    let Some(xml) = app.monitors.feed(&token, &base).await? else { return Ok(html(LinkedPage::unknown())) };
    let headers = [
        (header::CONTENT_TYPE, FEED_TYPE),
        (header::CACHE_CONTROL, "private, max-age=60"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let mut response = (headers, xml).into_response();
    response.extensions_mut().insert(ResponseTeam::OF_LINKS);
    Ok(response)
}

/// A page with the headers that keep it harmless.
fn html(linked: LinkedPage) -> Response {
    let status = if linked.is_found { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let mut headers = HeaderMap::new();
    for (name, value) in linked.page.headers() {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    // Not copied: whoever has the link may leave many of them unread.
    let mut response = (status, headers, Bytes::from_owner(linked)).into_response();
    response.extensions_mut().insert(ResponseTeam::OF_LINKS);
    response.extensions_mut().insert(HeldResponse { bytes: 0, again: None });
    response
}
