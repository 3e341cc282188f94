//! Registration of agents without a key: the metadata that leads to it, `/auth.md` with the steps in words,
//! `/agent/auth`, and its revocation by an issuer.

mod documents;

use super::token::{basic_credentials, client_credentials, form_or_json, private};
use crate::app::App;
use crate::base_url::{ClientAddress, base_url};
use crate::body::read_small_body;
use crate::oauth_error::{OAuthError, OAuthResponses};
use access::registration::Registered;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Json, Router};
use identity::Expected;
use serde::{Deserialize, Serialize};
use stored_data::time::iso;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The kind of assertion, as standards name it.
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(register))
        .routes(routes!(revoke_user))
        .routes(routes!(documents::authorization_server))
}

/// Pages for people and agents, not part of the OpenAPI document.
pub fn pages() -> Router<App> {
    Router::new().route("/auth.md", axum::routing::get(documents::steps))
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
    /// Of a client with a secret, which may also send both in a Basic `Authorization` header
    client_id: Option<String>,
    client_secret: Option<String>,
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

/// Register an agent with an identity assertion and get an API key
#[utoipa::path(post, path = "/agent/auth", tag = "Registration", security(()), request_body = Registration,
    responses((status = 200, body = RegisteredAgent), OAuthResponses))]
async fn register(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OAuthError> {
    let body = read_small_body(&app, body).await.map_err(|_| OAuthError::invalid("the body is too large"))?;
    let asked: Registration = serde_json::from_slice(&body.bytes)
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
            let base = base_url(&app.settings, &headers);
            let expected = Expected { resource: &base, issuer: &base };
            // Another kind of header is that of a key which did not work.
            let basic = basic_credentials(&headers).ok().flatten();
            let named = asked.client_id.as_deref();
            let client = client_credentials(basic.as_ref(), named, asked.client_secret.as_deref())?;
            let registered = registrations.register(address.0, client, &assertion, &expected).await?;
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
    responses((status = 200, description = "The keys of the user are revoked"), OAuthResponses))]
async fn revoke_user(
    State(app): State<App>,
    Extension(address): Extension<ClientAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, OAuthError> {
    let mut fields = form_or_json(&app, &headers, body).await?;
    let token =
        fields.remove("logout_token").ok_or_else(|| OAuthError::invalid("`logout_token` is missing"))?;
    let base = base_url(&app.settings, &headers);
    let expected = Expected { resource: &base, issuer: &base };
    app.registrations.revoke_user(address.0, &token, &expected).await?;
    Ok(private(StatusCode::OK))
}
