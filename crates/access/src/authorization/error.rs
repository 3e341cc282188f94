//! Why an application is not given access, with the codes of the standards.

use std::time::Duration;
use store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum AuthorizationError {
    #[error("{0}")]
    InvalidRequest(&'static str),
    #[error("{0}")]
    InvalidClient(&'static str),
    #[error("{0}")]
    InvalidRedirectUri(&'static str),
    #[error("{0}")]
    InvalidClientMetadata(&'static str),
    #[error("`response_type` must be `code`")]
    UnsupportedResponseType,
    #[error("none of the requested scopes may be granted")]
    InvalidScope,
    #[error("`resource` is not this server")]
    InvalidTarget,
    #[error("{0}")]
    InvalidGrant(&'static str),
    #[error("the person did not allow it")]
    AccessDenied,
    #[error("a key that was given to an application cannot allow other applications")]
    NotByApplications,
    #[error("too many attempts; try again later")]
    RateLimited { retry_after: Duration },
    #[error("the database is not available")]
    Store(#[from] StoreError),
    #[error("no system randomness for a code or a token")]
    Randomness,
}

impl AuthorizationError {
    /// The code of RFC 6749, 7591 or 8707.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidClient(_) => "invalid_client",
            Self::InvalidRedirectUri(_) => "invalid_redirect_uri",
            Self::InvalidClientMetadata(_) => "invalid_client_metadata",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::InvalidGrant(_) => "invalid_grant",
            Self::AccessDenied | Self::NotByApplications => "access_denied",
            Self::RateLimited { .. } => "rate_limited",
            Self::Store(_) | Self::Randomness => "server_error",
        }
    }
}

/// A refused authorization request.
#[derive(Debug)]
pub struct Rejection {
    pub error: AuthorizationError,
    /// Where the browser is sent with the error. None where the request does not prove where it is from, and for
    /// other machines than this one: anybody may register a client, and this server must not lead people to
    /// addresses that they did not agree to.
    pub redirect_to: Option<String>,
}

impl<E: Into<AuthorizationError>> From<E> for Rejection {
    fn from(error: E) -> Self {
        Self { error: error.into(), redirect_to: None }
    }
}
