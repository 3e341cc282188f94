//! Applications that people allow (OAuth's authorization code with PKCE): clients register at `/oauth2/register`, send
//! people to `/oauth2/authorize`, which leads to a view of the dashboard, and that view shows what is asked for and sends
//! back what the person decided.

use super::token::private;
use crate::app::App;
use crate::auth::{AuditActor, Authenticated};
use crate::base_url::{ClientAddress, base_url};
use crate::body::{JsonBody, QueryString, read_small_body};
use crate::error::ApiError;
use crate::oauth_error::{OAuthError, OAuthResponses};
use access::authorization::{
    AuthorizationError, Authorizations, CheckedRequest, NewClient, RegisteredClient,
};
use axum::body::Body;
use axum::extract::{Extension, RawQuery, State};
use axum::http::header::{CACHE_CONTROL, REFERRER_POLICY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use wire::authorization::{
    AuthorizationAnswer, AuthorizationDecision, AuthorizationRequest, AuthorizationView,
};
use wire::team::DataResponse;
use wire::{Kind, WireError};

/// Routes that need no key.
pub fn open_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(register_client))
}

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show, decide))
}

/// For browsers, not part of the OpenAPI document.
pub fn pages() -> Router<App> {
    Router::new().route("/oauth2/authorize", axum::routing::get(authorize))
}

#[derive(Debug, Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the body, of which only some fields are used")]
struct ClientMetadata {
    /// 1 to 10: https, http on a loopback address, or of an application
    redirect_uris: Vec<String>,
    /// What people are shown
    client_name: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ClientInformation {
    client_id: String,
    /// Seconds since 1970
    client_id_issued_at: i64,
    client_name: String,
    redirect_uris: Vec<String>,
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    /// `none`: clients have no secrets, whatever they asked for
    token_endpoint_auth_method: &'static str,
}

/// Register an application that will ask people for access (RFC 7591)
#[utoipa::path(post, path = "/oauth2/register", tag = "Registration", security(()), request_body = ClientMetadata,
    responses((status = 201, description = "The client is registered", body = ClientInformation), OAuthResponses,
        (status = 404, description = "People cannot allow applications on this server", body = wire::ErrorBody)))]
async fn register_client(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    body: Body,
) -> Result<Response, OAuthError> {
    let Some(authorizations) = &app.authorizations else {
        return Ok(ApiError::from(Kind::NotFound).into_response());
    };
    let body = read_small_body(&app, body).await.map_err(|_| OAuthError::invalid("the body is too large"))?;
    let new: NewClient = serde_json::from_slice(&body.bytes).map_err(|_| {
        AuthorizationError::InvalidClientMetadata("the body must be a JSON object with `redirect_uris`")
    })?;
    let RegisteredClient { id, name, redirect_uris } = authorizations.register_client(address.0, new).await?;
    let information = ClientInformation {
        client_id: id.to_string(),
        client_id_issued_at: stored_data::time::now() / 1000,
        client_name: name,
        redirect_uris,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
    };
    Ok(private((StatusCode::CREATED, Json(information))))
}

/// Where a client sends the person's browser: on to the view that asks the person, who may have to sign in first. The
/// cookie of the sign-in is not looked at here, since browsers do not send it when another site leads here.
async fn authorize(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let response = match ask(&app, address, &headers, query.as_deref().unwrap_or_default()).await {
        Ok(view) => Redirect::to(&view).into_response(),
        Err(error) => error.into_response(),
    };
    let mut response = private(response);
    response.headers_mut().insert(REFERRER_POLICY, axum::http::HeaderValue::from_static("no-referrer"));
    response
}

/// Where the browser goes next: to the view, or back with an error.
async fn ask(
    app: &App,
    address: ClientAddress,
    headers: &HeaderMap,
    query: &str,
) -> Result<String, OAuthError> {
    let authorizations = app.authorizations.as_ref().ok_or_else(OAuthError::no_code_flow)?;
    let request = read_request(query)?;
    match authorizations.check(address.0, &request, &base_url(&app.settings, headers)).await {
        Ok(_) => {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            Ok(format!("/#/authorize?{}", query.extend_pairs(request.parameters()).finish()))
        }
        Err(rejection) => rejection.redirect_to.ok_or_else(|| rejection.error.into()),
    }
}

/// The parameters that we know; others are ignored, as the standard wants it.
fn read_request(query: &str) -> Result<AuthorizationRequest, OAuthError> {
    let mut request = AuthorizationRequest::default();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let field = match name.as_ref() {
            "response_type" => &mut request.response_type,
            "client_id" => &mut request.client_id,
            "redirect_uri" => &mut request.redirect_uri,
            "state" => &mut request.state,
            "code_challenge" => &mut request.code_challenge,
            "code_challenge_method" => &mut request.code_challenge_method,
            "scope" => &mut request.scope,
            "resource" => &mut request.resource,
            _ => continue,
        };
        if field.replace(value.into_owned()).is_some() {
            return Err(OAuthError::invalid("a parameter must not be repeated"));
        }
    }
    Ok(request)
}

/// Get what an application asks the caller for
#[utoipa::path(get, path = "/admin/authorization", tag = "Administration", params(AuthorizationRequest),
    responses((status = 200, body = DataResponse<AuthorizationView>),
        (status = 404, description = "People cannot allow applications on this server", body = wire::ErrorBody)))]
async fn show(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    QueryString(request): QueryString<AuthorizationRequest>,
) -> Result<Response, ApiError> {
    let authorizations = offered(&app)?;
    let checked = check(authorizations, address, &request, &base_url(&app.settings, &headers)).await?;
    Ok(unstored(checked.view(&caller).map_err(to_wire)?))
}

/// Allow or deny what an application asks the caller for
#[utoipa::path(post, path = "/admin/authorization", tag = "Administration", request_body = AuthorizationDecision,
    responses((status = 200, body = DataResponse<AuthorizationAnswer>),
        (status = 404, description = "People cannot allow applications on this server", body = wire::ErrorBody)))]
async fn decide(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Extension(address): Extension<ClientAddress>,
    AuditActor(by): AuditActor,
    headers: HeaderMap,
    JsonBody(decision): JsonBody<AuthorizationDecision>,
) -> Result<Response, ApiError> {
    let authorizations = offered(&app)?;
    let base = base_url(&app.settings, &headers);
    let checked = check(authorizations, address, &decision.request, &base).await?;
    let redirect_to = if decision.allow {
        let allowed = authorizations.allow(&caller, checked, decision.scopes.as_deref(), &base, &by);
        allowed.await.map_err(to_wire)?
    } else {
        authorizations.deny(&caller, &checked, &base, &by).await
    };
    Ok(unstored(AuthorizationAnswer { redirect_to }))
}

/// What an application asks for, if it may ask for it.
async fn check(
    authorizations: &Authorizations,
    address: ClientAddress,
    request: &AuthorizationRequest,
    base: &str,
) -> Result<CheckedRequest, ApiError> {
    let checked = authorizations.check(address.0, request, base).await;
    Ok(checked.map_err(|rejection| to_wire(rejection.error))?)
}

/// A response that no cache keeps.
fn unstored(data: impl Serialize) -> Response {
    ([(CACHE_CONTROL, "no-store")], Json(DataResponse::new(data))).into_response()
}

fn offered(app: &App) -> Result<&Authorizations, ApiError> {
    app.authorizations.as_ref().ok_or_else(|| Kind::NotFound.into())
}

/// In the format of the API, for people who are signed in.
fn to_wire(error: AuthorizationError) -> WireError {
    match error {
        AuthorizationError::Store(error) => access::from_store(error).into(),
        AuthorizationError::Randomness => Kind::Internal.into(),
        AuthorizationError::NotByApplications => WireError::because(Kind::Forbidden, &error.to_string()),
        AuthorizationError::RateLimited { retry_after } => {
            let mut limited = WireError::from(Kind::RateLimited);
            limited.retry_after = Some(retry_after.as_secs().max(1));
            limited
        }
        other => WireError::because(Kind::BadRequest, &other.to_string()),
    }
}
