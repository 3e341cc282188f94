//! An authorization request: checked, shown to a person, and decided.

use super::clients::{Client, USED_LIFETIME, document_host};
use super::{AuthorizationError, Authorizations, Rejection, random_secret, redirect, tokens};
use crate::audit_log::{self, Actor, AuditAction};
use crate::callers::Caller;
use crate::keys::ordinary_scopes;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::net::IpAddr;
use std::time::Duration;
use store::authorizations::NewAuthorization;
use uuid::Uuid;
use wire::Scope;
use wire::authorization::{AuthorizationRequest, AuthorizationView};

/// How long a code may be traded.
const CODE_LIFETIME: Duration = Duration::from_mins(1);
const MAX_PARAMETER_BYTES: usize = 2048;
/// SHA-256 in base64url.
const CHALLENGE_CHARS: usize = 43;

/// A request in which nothing is wrong.
#[derive(Debug)]
pub struct CheckedRequest {
    client: Client,
    redirect_uri: String,
    state: String,
    challenge: String,
    scope: Option<String>,
}

impl Authorizations {
    /// Whether the request may be shown to a person. `base` is the address of this server, which is its issuer too.
    pub fn check<'a>(
        &'a self,
        address: IpAddr,
        request: &'a AuthorizationRequest,
        base: &'a str,
    ) -> BoxFuture<'a, Result<CheckedRequest, Rejection>> {
        Box::pin(async move {
            let client_id = required(request.client_id.as_ref(), "`client_id` is missing or too long")?;
            let uri = required(request.redirect_uri.as_ref(), "`redirect_uri` is missing or too long")?;
            let client = self.find_client(address, &client_id).await?;
            if !redirect::matches(&client.redirect_uris, &uri) {
                return Err(
                    AuthorizationError::InvalidRequest("`redirect_uri` is not one of the client's").into()
                );
            }
            check_rest(request, base)
                .map(|(state, challenge)| CheckedRequest {
                    client,
                    redirect_uri: uri.clone(),
                    state,
                    challenge,
                    scope: request.scope.clone(),
                })
                .map_err(|error| {
                    let state = request.state.as_deref().filter(|state| state.len() <= MAX_PARAMETER_BYTES);
                    let redirect_to =
                        redirect::is_local(&uri).then(|| error_redirect(&uri, &error, state, base));
                    Rejection { error, redirect_to }
                })
        })
    }

    /// Gives the client a code for these of the scopes, or all; where the browser goes with it.
    pub fn allow<'a>(
        &'a self,
        caller: &'a Caller,
        request: CheckedRequest,
        chosen: Option<&'a [Scope]>,
        base: &'a str,
        by: &'a Actor,
    ) -> BoxFuture<'a, Result<String, AuthorizationError>> {
        Box::pin(async move {
            let scopes = request.grantable_scopes(caller)?.into_iter();
            let scopes: Vec<String> = scopes
                .filter(|scope| chosen.is_none_or(|chosen| chosen.contains(scope)))
                .map(|scope| scope.name().to_owned())
                .collect();
            // Without authentication nobody needs a key.
            let approver =
                caller.key.filter(|_| !scopes.is_empty()).ok_or(AuthorizationError::InvalidScope)?;
            let code = random_secret()?;
            let new = NewAuthorization {
                key: Uuid::now_v7(),
                team: caller.team,
                approver,
                client: request.client.id,
                name: request.client.name,
                redirect_uri: request.redirect_uri.clone(),
                challenge: request.challenge,
                scopes,
                code: tokens::code_hash(code.reveal()),
            };
            if !self.store.authorize(new, CODE_LIFETIME, by).await? {
                return Err(AuthorizationError::NotByApplications);
            }
            if let Some(registered) = request.client.registered {
                self.store.keep_client(registered, USED_LIFETIME).await?;
            }
            let answer = [("code", code.reveal()), ("state", &request.state), ("iss", base)];
            Ok(redirect::with(&request.redirect_uri, &answer))
        })
    }
}

impl Authorizations {
    /// Where the browser goes when the person does not allow it.
    pub fn deny<'a>(
        &'a self,
        caller: &'a Caller,
        request: &'a CheckedRequest,
        base: &'a str,
        by: &'a Actor,
    ) -> BoxFuture<'a, String> {
        Box::pin(async move {
            let details = json!({ "application": request.client.name, "client": request.client.id });
            let (action, key) = (AuditAction::ApplicationDenied, caller.key.unwrap_or_default());
            audit_log::note(self.store.as_ref(), caller.team, by, action, key, details).await;
            request.deny(base)
        })
    }
}

impl CheckedRequest {
    /// What the person is shown.
    pub fn view(&self, caller: &Caller) -> Result<AuthorizationView, AuthorizationError> {
        let scopes = self.grantable_scopes(caller)?;
        Ok(AuthorizationView {
            client_name: self.client.name.clone(),
            client_host: document_host(&self.client.id).ok(),
            redirect_host: redirect::shown_host(&self.redirect_uri),
            redirect_is_local: redirect::is_local(&self.redirect_uri),
            scopes: scopes.into_iter().map(Scope::name).collect(),
            team: caller.team_name.clone(),
        })
    }

    fn deny(&self, base: &str) -> String {
        error_redirect(&self.redirect_uri, &AuthorizationError::AccessDenied, Some(&self.state), base)
    }

    /// What was asked for and the person may do. Administration is for people.
    fn grantable_scopes(&self, caller: &Caller) -> Result<Vec<Scope>, AuthorizationError> {
        let asked = |scope: &Scope| {
            self.scope.as_ref().is_none_or(|names| names.split(' ').any(|name| name == scope.name()))
        };
        let scopes: Vec<Scope> =
            ordinary_scopes().into_iter().filter(|scope| caller.may(*scope) && asked(scope)).collect();
        if scopes.is_empty() { Err(AuthorizationError::InvalidScope) } else { Ok(scopes) }
    }
}

/// What is checked once it is known where an error goes: the state and the challenge.
fn check_rest(request: &AuthorizationRequest, base: &str) -> Result<(String, String), AuthorizationError> {
    if request.response_type.as_deref() != Some("code") {
        return Err(AuthorizationError::UnsupportedResponseType);
    }
    let state = required(request.state.as_ref(), "`state` is missing or too long")?;
    if request.code_challenge_method.as_deref() != Some("S256") {
        return Err(AuthorizationError::InvalidRequest("`code_challenge_method` must be `S256`"));
    }
    let challenge = required(request.code_challenge.as_ref(), "`code_challenge` is missing or too long")?;
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if challenge.len() != CHALLENGE_CHARS || !challenge.bytes().all(legal) {
        return Err(AuthorizationError::InvalidRequest("`code_challenge` must be a SHA-256 in base64url"));
    }
    if request.resource.as_ref().is_some_and(|resource| !includes_resource(base, resource)) {
        return Err(AuthorizationError::InvalidTarget);
    }
    if request.scope.as_ref().is_some_and(|scope| scope.len() > MAX_PARAMETER_BYTES) {
        return Err(AuthorizationError::InvalidRequest("`scope` is too long"));
    }
    Ok((state, challenge))
}

fn required(value: Option<&String>, problem: &'static str) -> Result<String, AuthorizationError> {
    value
        .filter(|text| !text.is_empty() && text.len() <= MAX_PARAMETER_BYTES)
        .cloned()
        .ok_or(AuthorizationError::InvalidRequest(problem))
}

fn error_redirect(uri: &str, error: &AuthorizationError, state: Option<&str>, base: &str) -> String {
    let description = error.to_string();
    let mut answer = vec![("error", error.code()), ("error_description", &description), ("iss", base)];
    answer.extend(state.map(|state| ("state", state)));
    redirect::with(uri, &answer)
}

/// Whether a resource is this server or a path of it.
pub fn includes_resource(base: &str, resource: &str) -> bool {
    resource.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
