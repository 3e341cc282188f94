//! The token endpoint of OAuth: codes that people's browsers brought, refresh tokens and identity assertions are traded
//! for tokens, which are keys that expire. And their revocation.

use crate::app::App;
use crate::base_url::{ClientAddress, base_url};
use crate::body::read_small_body;
use crate::oauth_error::{OAuthError, OAuthResponses};
use access::authorization::{AuthorizationError, CodeGrant, includes_resource};
use access::keys::Secret;
use access::registration::{ClientCredentials, Registered, TOKEN_LIFETIME};
use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use identity::Expected;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The grant of identity assertions, as standards name it.
pub const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(exchange)).routes(routes!(revoke_token))
}

#[derive(Debug, Serialize, ToSchema)]
struct GrantedToken {
    access_token: String,
    /// `Bearer`
    token_type: &'static str,
    /// Seconds
    expires_in: u64,
    scope: String,
    /// Not with an identity assertion: a client presents a new one
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the form; its fields are read one by one")]
struct TokenRequest {
    /// `authorization_code`, `refresh_token` or `urn:ietf:params:oauth:grant-type:jwt-bearer`
    grant_type: String,
    /// The code that a person's browser brought
    code: Option<String>,
    /// With a code: as in the authorization request
    redirect_uri: Option<String>,
    /// With a code: what the challenge was made of
    code_verifier: Option<String>,
    /// The newest one
    refresh_token: Option<String>,
    /// An identity assertion
    assertion: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    /// The address of this server or of its `/mcp`
    resource: Option<String>,
    /// Scopes, separated by spaces. A token that is renewed keeps its scopes
    scope: Option<String>,
}

/// Trade a code, a refresh token or an identity assertion for a token that expires (OAuth)
#[utoipa::path(post, path = "/oauth2/token", tag = "Registration", security(()),
    request_body(content = TokenRequest, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, body = GrantedToken), OAuthResponses))]
async fn exchange(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OAuthError> {
    let form = Form(form_or_json(&app, &headers, body).await?);
    let base = base_url(&app.settings, &headers);
    if form.get("resource").is_some_and(|resource| !includes_resource(&base, resource)) {
        return Err(OAuthError::invalid_target());
    }
    let basic = basic_credentials(&headers)?;
    let client = client_credentials(basic.as_ref(), form.get("client_id"), form.get("client_secret"))?;
    match (form.get("grant_type"), &app.authorizations) {
        (Some(JWT_BEARER), _) => {
            let assertion = form.require("assertion")?;
            let expected = Expected { resource: &base, issuer: &base };
            let exchanged =
                app.registrations.exchange(address.0, client, assertion, form.get("scope"), &expected);
            let Registered { secret, key, .. } = exchanged.await.map_err(OAuthError::at_token_endpoint)?;
            Ok(granted(&secret, TOKEN_LIFETIME, &key.scopes, None))
        }
        (Some("authorization_code"), Some(authorizations)) => {
            let grant = CodeGrant {
                client: public_client(client)?,
                code: form.require("code")?,
                redirect_uri: form.require("redirect_uri")?,
                verifier: form.require("code_verifier")?,
            };
            let tokens = authorizations.redeem(address.0, grant).await?;
            Ok(granted(&tokens.access, tokens.expires_in, &tokens.scopes, Some(tokens.refresh.reveal())))
        }
        (Some("refresh_token"), Some(authorizations)) => {
            let (client, token) = (public_client(client)?, form.require("refresh_token")?);
            let tokens = authorizations.refresh(address.0, client, token, form.get("scope")).await?;
            Ok(granted(&tokens.access, tokens.expires_in, &tokens.scopes, Some(tokens.refresh.reveal())))
        }
        _ => Err(OAuthError::unsupported_grant()),
    }
}

fn granted(token: &Secret, lifetime: Duration, scopes: &[String], refresh_token: Option<String>) -> Response {
    private(Json(GrantedToken {
        access_token: token.reveal().to_owned(),
        token_type: "Bearer",
        expires_in: lifetime.as_secs(),
        scope: scopes.join(" "),
        refresh_token,
    }))
}

/// The id of a client that people allow. None of them has a secret.
fn public_client(client: Option<ClientCredentials<'_>>) -> Result<&str, OAuthError> {
    match client {
        Some(ClientCredentials { secret: Some(secret), .. }) if !secret.is_empty() => {
            Err(AuthorizationError::InvalidClient("this client has no secret").into())
        }
        Some(client) => Ok(client.id),
        None => Err(OAuthError::invalid("`client_id` is missing")),
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes the form; its fields are read one by one")]
struct Revocation {
    token: String,
}

/// Revoke a token or key (RFC 7009)
#[utoipa::path(post, path = "/oauth2/revoke", tag = "Registration", security(()),
    request_body(content = Revocation, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, description = "The token does not work, whether it existed or not"), OAuthResponses))]
async fn revoke_token(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OAuthError> {
    let form = form_or_json(&app, &headers, body).await?;
    let token = form.get("token").ok_or_else(|| OAuthError::invalid("`token` is missing"))?;
    app.registrations.revoke_token(address.0, token).await?;
    if let Some(authorizations) = &app.authorizations {
        authorizations.revoke(address.0, token).await?;
    }
    Ok(private(StatusCode::OK))
}

struct Form(BTreeMap<String, String>);

impl Form {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn require(&self, name: &str) -> Result<&str, OAuthError> {
        self.get(name).ok_or_else(|| OAuthError::invalid(&format!("`{name}` is missing")))
    }
}

/// The fields of a form, or of a JSON object with texts.
pub(super) async fn form_or_json(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<BTreeMap<String, String>, OAuthError> {
    let body = read_small_body(app, body).await.map_err(|_| OAuthError::invalid("the body is too large"))?;
    let kind = headers.get(axum::http::header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if kind.starts_with(b"application/json") {
        return serde_json::from_slice(&body.bytes)
            .map_err(|_| OAuthError::invalid("the body must be a JSON object of texts"));
    }
    let mut fields = BTreeMap::new();
    for (name, value) in url::form_urlencoded::parse(&body.bytes) {
        if fields.insert(name.into_owned(), value.into_owned()).is_some() {
            return Err(OAuthError::invalid("a parameter must not be repeated"));
        }
    }
    Ok(fields)
}

/// The client that a header names, or the fields of a body.
pub(super) fn client_credentials<'a>(
    basic: Option<&'a (String, String)>,
    id: Option<&'a str>,
    secret: Option<&'a str>,
) -> Result<Option<ClientCredentials<'a>>, OAuthError> {
    match (basic, id) {
        (Some((id, secret)), named) if named.is_none_or(|named| named == id) => {
            Ok(Some(ClientCredentials { id, secret: Some(secret) }))
        }
        (Some(_), _) => Err(OAuthError::invalid("`client_id` is not the client of the Authorization header")),
        (None, Some(id)) => Ok(Some(ClientCredentials { id, secret })),
        (None, None) => Ok(None),
    }
}

/// Client id and secret of an `Authorization: Basic` header.
pub(super) fn basic_credentials(headers: &HeaderMap) -> Result<Option<(String, String)>, OAuthError> {
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
pub(super) fn private(response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
