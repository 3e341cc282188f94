//! What agents read before they register: the metadata of the authorization server (RFC 8414), and the steps in
//! words, with the addresses of this server filled in.

use super::ID_JAG;
use crate::app::App;
use crate::base_url::base_url;
use crate::routes::token::JWT_BEARER;
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
    /// Answers with an error where people cannot allow applications. Some clients do not read metadata without it.
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
    grant_types_supported: Vec<&'static str>,
    authorization_grant_profiles_supported: Vec<&'static str>,
    token_endpoint_auth_methods_supported: Vec<&'static str>,
    /// `code`; none where people cannot allow applications.
    response_types_supported: Vec<&'static str>,
    code_challenge_methods_supported: Vec<&'static str>,
    /// A `client_id` may be the address of a document that describes the client.
    client_id_metadata_document_supported: bool,
    authorization_response_iss_parameter_supported: bool,
    scopes_supported: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_auth: Option<AgentAuth>,
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
    responses((status = 200, body = AuthorizationServer), (status = 404, description = "Neither registration nor authorization is set up", body = wire::ErrorBody)))]
pub async fn authorization_server(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<AuthorizationServer>, ApiError> {
    let registrations = &app.registrations;
    let (by_people, by_issuers) = (app.authorizations.is_some(), registrations.accepts_assertions());
    if !by_people && !registrations.are_offered() {
        let reason = "this server neither registers agents nor lets people allow applications";
        return Err(WireError::because(Kind::NotFound, reason).into());
    }
    let base = base_url(&app.settings, &headers);
    let code = only_if(by_people, &["code"]);
    let (code_grants, assertion_grants) =
        (only_if(by_people, &["authorization_code", "refresh_token"]), only_if(by_issuers, &[JWT_BEARER]));
    let secrets = only_if(by_issuers, &["client_secret_basic", "client_secret_post"]);
    Ok(Json(AuthorizationServer {
        authorization_endpoint: format!("{base}/oauth2/authorize"),
        token_endpoint: format!("{base}/oauth2/token"),
        revocation_endpoint: format!("{base}/oauth2/revoke"),
        registration_endpoint: by_people.then(|| format!("{base}/oauth2/register")),
        grant_types_supported: [code_grants, assertion_grants].concat(),
        authorization_grant_profiles_supported: only_if(
            by_issuers,
            &["urn:ietf:params:oauth:grant-profile:id-jag"],
        ),
        token_endpoint_auth_methods_supported: [secrets, vec!["none"]].concat(),
        response_types_supported: code,
        code_challenge_methods_supported: only_if(by_people, &["S256"]),
        client_id_metadata_document_supported: by_people,
        authorization_response_iss_parameter_supported: by_people,
        scopes_supported: Scope::ALL.iter().map(|scope| scope.name()).collect(),
        agent_auth: registrations.are_offered().then(|| agent_auth(&app, &base)),
        issuer: base,
    }))
}

fn only_if(offered: bool, names: &[&'static str]) -> Vec<&'static str> {
    if offered { names.to_vec() } else { Vec::new() }
}

fn agent_auth(app: &App, base: &str) -> AgentAuth {
    let registrations = &app.registrations;
    AgentAuth {
        skill: format!("{base}/auth.md"),
        register_uri: format!("{base}/agent/auth"),
        revocation_uri: format!("{base}/agent/auth/revoke"),
        identity_types_supported: [
            only_if(registrations.accepts_assertions(), &["identity_assertion"]),
            only_if(registrations.accepts_anonymous(), &["anonymous"]),
        ]
        .concat(),
        identity_assertion: AssertionKinds {
            assertion_types_supported: [ID_JAG],
            credential_types_supported: ["api_key"],
        },
        events_supported: ["http://schemas.openid.net/event/backchannel-logout"],
    }
}

/// `/auth.md`.
pub async fn steps(State(app): State<App>, headers: HeaderMap) -> Response {
    let base = base_url(&app.settings, &headers);
    let registrations = &app.registrations;
    let mut text = include_str!("auth.md").replace("{base}", &base);
    if app.authorizations.is_none() {
        text = without_section(&text, "With a person at hand");
    }
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
