//! `/admin/sign-in`: a key, or a link that works once, is traded for a cookie; who is signed in; signing out.

use crate::app::App;
use crate::auth::{AuditActor, Authenticated, SIGN_IN_COOKIE, require_own_page, sign_in_token};
use crate::base_url::{ClientAddress, base_url};
use crate::body::{JsonBody, QueryString};
use crate::error::ApiError;
use access::audit_log::{Actor, ActorKind};
use access::sign_ins::SIGN_IN_DURATION;
use access::{Caller, CallerError, RateGroup};
use axum::Json;
use axum::extract::{Extension, State};
use axum::http::header::{CACHE_CONTROL, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use engine::models::Task;
use std::net::IpAddr;
use stored_data::time::iso;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::admin::{SignInRequest, SignInView, SignOutQuery, SuccessResponse};
use wire::team::DataResponse;
use wire::{Issue, Kind, Scope, WireError};

/// Routes that need no key.
pub fn open_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(sign_in))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(current, sign_out))
}

/// Trade an API key, or a link that works once, for a cookie of the dashboard
///
/// The cookie acts as the key for 12 hours, for pages of this server only.
#[utoipa::path(post, path = "/admin/sign-in", tag = "Administration", security(()), request_body = SignInRequest,
    responses((status = 200, body = DataResponse<SignInView>),
        (status = 401, description = "The key or the link is not valid", body = wire::ErrorBody),
        (status = 403, description = "Sent by a page of another origin, or the key is that of an application", body = wire::ErrorBody)))]
async fn sign_in(
    State(app): State<App>,
    Extension(ClientAddress(address)): Extension<ClientAddress>,
    headers: HeaderMap,
    JsonBody(asked): JsonBody<SignInRequest>,
) -> Result<Response, ApiError> {
    require_own_page(&app, &Method::POST, &headers)?;
    let started = match (asked.key, asked.link) {
        _ if app.dashboard.is_none() => return Err(Kind::NotFound.into()),
        (Some(key), None) => {
            let caller = note_failure(&app, address, app.callers.authenticate(key.trim()).await).await?;
            app.services.limiter.admit(&caller, RateGroup::Status).await?;
            let (key, by) = (caller.key.ok_or(Kind::Unauthorized)?, caller.actor(Some(address)));
            app.sign_ins.start(key, caller.expires_at, by).await?
        }
        (None, Some(link)) => {
            let key = note_failure(&app, address, app.sign_ins.open_link(&link)).await?;
            let by = Actor {
                key: Some(key),
                ..Actor::new(ActorKind::Link, "the link of the start", Some(address))
            };
            app.sign_ins.start(key, None, by).await?
        }
        _ => {
            let issue = Issue::at("key", "exactly one of `key` and `link` is needed", "invalid_value");
            return Err(WireError::invalid(&[issue]).into());
        }
    };
    let token = started.token.reveal();
    let caller = app.callers.authenticate_sign_in(token).await?;
    let view = view(&app, &caller, Some(iso(started.expires_at)));
    let cookie = cookie(&app, &headers, token, SIGN_IN_DURATION.as_secs());
    Ok(with_cookie(&cookie, Json(DataResponse::new(view))))
}

/// The same result. That somebody could not prove who they are is noted.
async fn note_failure<T>(
    app: &App,
    address: IpAddr,
    proved: Result<T, CallerError>,
) -> Result<T, CallerError> {
    match &proved {
        Err(CallerError::KeyExpired(expired)) => {
            app.callers.note_expired_use(expired, Some(address)).await;
        }
        Err(CallerError::Unauthorized) => {
            app.sign_ins.note_failure(address, "the key or the link is not valid").await;
        }
        _ => {}
    }
    proved
}

/// Get who is signed in
#[utoipa::path(get, path = "/admin/sign-in", tag = "Administration",
    responses((status = 200, body = DataResponse<SignInView>)))]
async fn current(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let expires_at = match sign_in_token(&headers) {
        Some(token) => app.sign_ins.expires_at(token).await?,
        None => None,
    };
    let view = view(&app, &caller, expires_at.map(iso));
    Ok(([(CACHE_CONTROL, "no-store")], Json(DataResponse::new(view))).into_response())
}

/// Sign out, here or everywhere
#[utoipa::path(delete, path = "/admin/sign-in", tag = "Administration", params(SignOutQuery),
    responses((status = 200, body = SuccessResponse)))]
async fn sign_out(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    AuditActor(by): AuditActor,
    QueryString(query): QueryString<SignOutQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if let Some(token) = sign_in_token(&headers) {
        app.sign_ins.end(token, &by).await?;
    }
    if let Some(key) = caller.key.filter(|_| query.everywhere) {
        app.sign_ins.end_all(key, &by).await?;
    }
    let cookie = cookie(&app, &headers, "", 0);
    Ok(with_cookie(&cookie, Json(SuccessResponse { success: true })))
}

fn view(app: &App, caller: &Caller, expires_at: Option<String>) -> SignInView {
    SignInView {
        team: caller.team_name.clone(),
        plan: caller.plan_name.clone(),
        scopes: Scope::ALL.iter().filter(|scope| caller.may(**scope)).map(|scope| scope.name()).collect(),
        key: caller.key,
        expires_at,
        auth: app.settings.auth,
        version: env!("CARGO_PKG_VERSION"),
        language_model: app.services.models.chat(Task::Agent).is_some(),
    }
}

/// No script can read the cookie, and no other site can have it sent.
fn cookie(app: &App, headers: &HeaderMap, token: &str, seconds: u64) -> String {
    let secure = if base_url(&app.settings, headers).starts_with("https:") { "; Secure" } else { "" };
    format!("{SIGN_IN_COOKIE}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

fn with_cookie(cookie: &str, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
