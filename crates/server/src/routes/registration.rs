//! Registration of agents without a key: the metadata that leads to it, `/auth.md` with the steps in words,
//! `/agent/auth`, the token endpoint of OAuth with identity assertions, and revocation. Errors have the format of
//! OAuth.

mod documents;
mod errors;

use crate::app::App;
use crate::base_url::{ClientAddress, base_url};
use crate::body::read_body;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::registration::{ClientCredentials, Registered, TOKEN_LIFETIME};
use engine::time::iso;
use errors::OAuthError;
use identity::Expected;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The grant and the kind of assertion, as standards name them.
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
/// A form or a JSON body has an assertion and a few names.
const MAX_BODY_BYTES: usize = 64 * 1024;

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(register))
        .routes(routes!(revoke_user))
        .routes(routes!(exchange))
        .routes(routes!(revoke_token))
        .routes(routes!(documents::authorization_server))
}

/// Pages for people and agents, not part of the OpenAPI document.
pub fn pages() -> Router<App> {
    Router::new()
        .route("/auth.md", axum::routing::get(documents::steps))
        .route("/oauth2/authorize", axum::routing::get(async || OAuthError::no_code_flow()))
}

#[derive(Debug, Deserialize, ToSchema)]
struct Registration {
    /// `identity_assertion` or `anonymous`
    #[serde(rename = "type")]
    kind: String,
    /// `urn:ietf:params:oauth:token-type:id-jag`
    assertion_type: Option<String>,
    /// The assertion: a signed JSON Web Token
    assertion: Option<String>,
    /// `api_key`
    requested_credential_type: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RegisteredAgent {
    user_id: Uuid,
    api_key: String,
    registration_id: Uuid,
    /// `agent-provider` or `anonymous`
    registration_type: &'static str,
    /// `api_key`
    credential_type: &'static str,
    /// The same as `api_key`
    credential: String,
    /// When the key expires; `null`: never
    credential_expires: Option<String>,
    scopes: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct GrantedToken {
    access_token: String,
    /// `Bearer`
    token_type: &'static str,
    /// Seconds
    expires_in: u64,
    scope: String,
}

/// Register an agent with an identity assertion and get an API key
#[utoipa::path(post, path = "/agent/auth", tag = "Registration", security(()), request_body = Registration,
    responses((status = 200, body = RegisteredAgent),
        (status = 400, description = "The request is invalid", body = errors::OAuthErrorBody),
        (status = 401, description = "The assertion, the token or the client is refused", body = errors::OAuthErrorBody),
        (status = 429, description = "Too many attempts", body = errors::OAuthErrorBody),
        (status = 500, description = "Keys or the database are not available", body = errors::OAuthErrorBody)))]
async fn register(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OAuthError> {
    let bytes =
        read_body(body, MAX_BODY_BYTES).await.map_err(|_| OAuthError::invalid("the body is too large"))?;
    let asked: Registration = serde_json::from_slice(&bytes)
        .map_err(|_| OAuthError::invalid("the body must be a JSON object with `type`"))?;
    if asked.requested_credential_type.as_deref().is_some_and(|kind| kind != "api_key") {
        return Err(OAuthError::unsupported_credential());
    }
    let registrations = &app.registrations;
    let (registered, kind) = match asked.kind.as_str() {
        "anonymous" => (registrations.register_anonymously(address.0).await?, "anonymous"),
        "identity_assertion" => {
            if asked.assertion_type.as_deref() != Some(ID_JAG) {
                return Err(OAuthError::invalid(
                    "`assertion_type` must be urn:ietf:params:oauth:token-type:id-jag",
                ));
            }
            let assertion = asked.assertion.ok_or_else(|| OAuthError::invalid("`assertion` is missing"))?;
            let names = OwnNames::new(&app, &headers);
            let registered = registrations.register(address.0, &assertion, &names.expected()).await?;
            (registered, "agent-provider")
        }
        _ => return Err(OAuthError::invalid("`type` must be `identity_assertion` or `anonymous`")),
    };
    let Registered { user, secret, key } = registered;
    Ok(private(Json(RegisteredAgent {
        user_id: user,
        api_key: secret.reveal().to_owned(),
        registration_id: key.id,
        registration_type: kind,
        credential_type: "api_key",
        credential: secret.reveal().to_owned(),
        credential_expires: key.expires_at.map(iso),
        scopes: key.scopes,
    })))
}

#[derive(Debug, Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the body; its fields are read one by one")]
struct Logout {
    /// A logout token, signed by the issuer
    logout_token: String,
}

/// Revoke all keys of a user whom the issuer has logged out
#[utoipa::path(post, path = "/agent/auth/revoke", tag = "Registration", security(()), request_body = Logout,
    responses((status = 200, description = "The keys of the user are revoked"),
        (status = 400, description = "The request is invalid", body = errors::OAuthErrorBody),
        (status = 401, description = "The assertion, the token or the client is refused", body = errors::OAuthErrorBody),
        (status = 429, description = "Too many attempts", body = errors::OAuthErrorBody),
        (status = 500, description = "Keys or the database are not available", body = errors::OAuthErrorBody)))]
async fn revoke_user(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OAuthError> {
    let mut fields = form_or_json(&headers, body).await?;
    let token =
        fields.remove("logout_token").ok_or_else(|| OAuthError::invalid("`logout_token` is missing"))?;
    let names = OwnNames::new(&app, &headers);
    app.registrations.revoke_user(address.0, &token, &names.expected()).await?;
    Ok(private(StatusCode::OK))
}

#[derive(Debug, Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the form; its fields are read one by one")]
struct TokenRequest {
    /// `urn:ietf:params:oauth:grant-type:jwt-bearer`
    grant_type: String,
    assertion: String,
    client_id: Option<String>,
    client_secret: Option<String>,
    /// The address of this server or of its `/mcp`
    resource: Option<String>,
    /// Scopes, separated by spaces
    scope: Option<String>,
}

/// Trade an identity assertion for a token that expires (OAuth, RFC 7523)
#[utoipa::path(post, path = "/oauth2/token", tag = "Registration", security(()),
    request_body(content = TokenRequest, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, body = GrantedToken),
        (status = 400, description = "The request is invalid", body = errors::OAuthErrorBody),
        (status = 401, description = "The assertion, the token or the client is refused", body = errors::OAuthErrorBody),
        (status = 429, description = "Too many attempts", body = errors::OAuthErrorBody),
        (status = 500, description = "Keys or the database are not available", body = errors::OAuthErrorBody)))]
async fn exchange(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OAuthError> {
    let form = form_or_json(&headers, body).await?;
    let field = |name: &str| form.get(name).map(String::as_str);
    if field("grant_type") != Some(JWT_BEARER) {
        return Err(OAuthError::unsupported_grant());
    }
    let assertion = field("assertion").ok_or_else(|| OAuthError::invalid("`assertion` is missing"))?;
    let names = OwnNames::new(&app, &headers);
    if field("resource").is_some_and(|resource| !names.includes(resource)) {
        return Err(OAuthError::invalid_target());
    }
    let basic = basic_credentials(&headers)?;
    let client = match (&basic, field("client_id")) {
        (Some((id, secret)), named) if named.is_none_or(|named| named == id) => {
            Some(ClientCredentials { id, secret: Some(secret) })
        }
        (Some(_), _) => {
            return Err(OAuthError::invalid("`client_id` is not the client of the Authorization header"));
        }
        (None, Some(id)) => Some(ClientCredentials { id, secret: field("client_secret") }),
        (None, None) => None,
    };
    let expected = names.expected();
    let exchanged = app.registrations.exchange(address.0, client, assertion, field("scope"), &expected);
    let Registered { secret, key, .. } = exchanged.await.map_err(OAuthError::at_token_endpoint)?;
    Ok(private(Json(GrantedToken {
        access_token: secret.reveal().to_owned(),
        token_type: "Bearer",
        expires_in: TOKEN_LIFETIME.as_secs(),
        scope: key.scopes.join(" "),
    })))
}

#[derive(Debug, Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the form; its fields are read one by one")]
struct Revocation {
    token: String,
}

/// Revoke a token or key (RFC 7009)
#[utoipa::path(post, path = "/oauth2/revoke", tag = "Registration", security(()),
    request_body(content = Revocation, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, description = "The token does not work, whether it existed or not"),
        (status = 400, description = "The request is invalid", body = errors::OAuthErrorBody),
        (status = 401, description = "The assertion, the token or the client is refused", body = errors::OAuthErrorBody),
        (status = 429, description = "Too many attempts", body = errors::OAuthErrorBody),
        (status = 500, description = "Keys or the database are not available", body = errors::OAuthErrorBody)))]
async fn revoke_token(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OAuthError> {
    let form = form_or_json(&headers, body).await?;
    let token = form.get("token").ok_or_else(|| OAuthError::invalid("`token` is missing"))?;
    app.registrations.revoke_token(address.0, token).await?;
    Ok(private(StatusCode::OK))
}

/// The addresses under which assertions name this server.
struct OwnNames {
    base: String,
}

impl OwnNames {
    fn new(app: &App, headers: &HeaderMap) -> Self {
        Self { base: base_url(&app.settings, headers) }
    }

    fn expected(&self) -> Expected<'_> {
        Expected { resource: &self.base, issuer: &self.base }
    }

    /// Whether the resource is this server or a path of it.
    fn includes(&self, resource: &str) -> bool {
        resource.strip_prefix(&self.base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The fields of a form, or of a JSON object with texts.
async fn form_or_json(headers: &HeaderMap, body: Body) -> Result<BTreeMap<String, String>, OAuthError> {
    let bytes =
        read_body(body, MAX_BODY_BYTES).await.map_err(|_| OAuthError::invalid("the body is too large"))?;
    let kind = headers.get(axum::http::header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if kind.starts_with(b"application/json") {
        return serde_json::from_slice(&bytes)
            .map_err(|_| OAuthError::invalid("the body must be a JSON object of texts"));
    }
    let mut fields = BTreeMap::new();
    for (name, value) in url::form_urlencoded::parse(&bytes) {
        if fields.insert(name.into_owned(), value.into_owned()).is_some() {
            return Err(OAuthError::invalid("a parameter must not be repeated"));
        }
    }
    Ok(fields)
}

/// Client id and secret of an `Authorization: Basic` header.
fn basic_credentials(headers: &HeaderMap) -> Result<Option<(String, String)>, OAuthError> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let decode = || {
        let encoded = value
            .to_str()
            .ok()?
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"))?
            .1;
        let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
        let (id, secret) = text.split_once(':')?;
        // RFC 6749: both are form-encoded before they are joined.
        Some((form_decoded(id), form_decoded(secret)))
    };
    decode().map(Some).ok_or_else(|| OAuthError::invalid("the Authorization header must be Basic"))
}

fn form_decoded(text: &str) -> String {
    let pair = format!("x={text}");
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// A response with a secret must not be kept by any cache.
fn private(response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
