//! What an application asks a person for, and what the person decides (OAuth). Names are those of the standards.

use crate::Scope;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// An authorization request: RFC 6749 with PKCE (RFC 7636) and the resource it is for (RFC 8707).
#[derive(Debug, Clone, Default, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuthorizationRequest {
    /// `code`
    #[schema(max_length = 2048)]
    pub response_type: Option<String>,
    /// The id that a registration gave the client, or the address of a document that describes it.
    #[schema(max_length = 2048)]
    pub client_id: Option<String>,
    /// One that the client registered; for a loopback address the port may be another.
    #[schema(max_length = 2048)]
    pub redirect_uri: Option<String>,
    /// Returned as it is.
    #[schema(max_length = 2048)]
    pub state: Option<String>,
    #[schema(max_length = 2048)]
    pub code_challenge: Option<String>,
    /// `S256`
    #[schema(max_length = 2048)]
    pub code_challenge_method: Option<String>,
    /// Scopes, separated by spaces; without it all that the person may give.
    #[schema(max_length = 2048)]
    pub scope: Option<String>,
    /// The address of this server or of its `/mcp`.
    #[schema(max_length = 2048)]
    pub resource: Option<String>,
}

impl AuthorizationRequest {
    /// The parameters that are there, by their names.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("response_type", &self.response_type),
            ("client_id", &self.client_id),
            ("redirect_uri", &self.redirect_uri),
            ("state", &self.state),
            ("code_challenge", &self.code_challenge),
            ("code_challenge_method", &self.code_challenge_method),
            ("scope", &self.scope),
            ("resource", &self.resource),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

/// What the person is shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizationView {
    /// What the client calls itself. Nobody has checked it.
    pub client_name: String,
    /// Where the client's own description is from; none for one that registered itself.
    pub client_host: Option<String>,
    /// Where the browser goes next.
    pub redirect_host: String,
    /// Whether that is this machine, or an application on it.
    pub redirect_is_local: bool,
    /// What the client would be allowed.
    pub scopes: Vec<&'static str>,
    pub team: String,
}

/// What the person decides.
#[derive(Debug, Deserialize, ToSchema)]
pub struct AuthorizationDecision {
    pub request: AuthorizationRequest,
    pub allow: bool,
    /// Of the scopes that were shown; without it all of them.
    pub scopes: Option<Vec<Scope>>,
}

/// Where the browser goes with the answer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizationAnswer {
    pub redirect_to: String,
}
