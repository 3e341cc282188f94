//! What agents read before they register: the metadata of the authorization server (RFC 8414), and the steps in
//! words, with the addresses of this server filled in.

use super::{ID_JAG, JWT_BEARER};
use crate::app::App;
use crate::base_url::base_url;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Kind, Scope, WireError};

use crate::error::ApiError;

#[derive(Debug, Serialize, ToSchema)]
pub struct AuthorizationServer {
    issuer: String,
    /// Answers with an error: there is no code flow. Some clients do not read metadata without it.
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: String,
    grant_types_supported: [&'static str; 1],
    authorization_grant_profiles_supported: [&'static str; 1],
    token_endpoint_auth_methods_supported: [&'static str; 3],
    /// None: there is no code flow.
    response_types_supported: [&'static str; 0],
    scopes_supported: Vec<&'static str>,
    agent_auth: AgentAuth,
}

#[derive(Debug, Serialize, ToSchema)]
struct AgentAuth {
    /// The steps in words
    skill: String,
    register_uri: String,
    revocation_uri: String,
    identity_types_supported: Vec<&'static str>,
    identity_assertion: AssertionKinds,
    events_supported: [&'static str; 1],
}

#[derive(Debug, Serialize, ToSchema)]
struct AssertionKinds {
    assertion_types_supported: [&'static str; 1],
    credential_types_supported: [&'static str; 1],
}

/// Get the metadata of the authorization server (RFC 8414)
#[utoipa::path(get, path = "/.well-known/oauth-authorization-server", tag = "Registration", security(()),
    responses((status = 200, body = AuthorizationServer), (status = 404, description = "Registration is not set up", body = wire::ErrorBody)))]
pub async fn authorization_server(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<AuthorizationServer>, ApiError> {
    let registrations = &app.registrations;
    if !registrations.are_offered() {
        return Err(WireError::because(
            Kind::NotFound,
            "registration of agents is not set up on this server",
        )
        .into());
    }
    let base = base_url(&app.settings, &headers);
    let kinds = [
        (registrations.accepts_assertions(), "identity_assertion"),
        (registrations.accepts_anonymous(), "anonymous"),
    ];
    Ok(Json(AuthorizationServer {
        authorization_endpoint: format!("{base}/oauth2/authorize"),
        token_endpoint: format!("{base}/oauth2/token"),
        revocation_endpoint: format!("{base}/oauth2/revoke"),
        grant_types_supported: [JWT_BEARER],
        authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
        token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
        response_types_supported: [],
        scopes_supported: Scope::ALL.iter().map(|scope| scope.name()).collect(),
        agent_auth: AgentAuth {
            skill: format!("{base}/auth.md"),
            register_uri: format!("{base}/agent/auth"),
            revocation_uri: format!("{base}/agent/auth/revoke"),
            identity_types_supported: kinds
                .into_iter()
                .filter_map(|(offered, name)| offered.then_some(name))
                .collect(),
            identity_assertion: AssertionKinds {
                assertion_types_supported: [ID_JAG],
                credential_types_supported: ["api_key"],
            },
            events_supported: ["http://schemas.openid.net/event/backchannel-logout"],
        },
        issuer: base,
    }))
}

/// `/auth.md`.
pub async fn steps(State(app): State<App>, headers: HeaderMap) -> Response {
    let base = base_url(&app.settings, &headers);
    let registrations = &app.registrations;
    let mut text = include_str!("auth.md").replace("{base}", &base);
    if !registrations.accepts_assertions() {
        text = without_section(&text, "With an identity assertion");
    }
    if !registrations.accepts_anonymous() {
        text = without_section(&text, "Without any assertion");
    }
    ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text).into_response()
}

/// The text without the section of this heading.
fn without_section(text: &str, heading: &str) -> String {
    let start = format!("## {heading}\n");
    let Some((before, rest)) = text.split_once(&start) else { return text.to_owned() };
    let after = rest.find("\n## ").map_or("", |at| &rest[at + 1..]);
    format!("{before}{after}")
}
