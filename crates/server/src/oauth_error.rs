//! Errors of the routes of OAuth, in its format: `error` is a code, `error_description` says what to mend.

use access::authorization::AuthorizationError;
use access::registration::RegistrationError;
use axum::Json;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::time::Duration;
use utoipa::{IntoResponses, ToSchema};

#[derive(Debug, Serialize, ToSchema)]
pub struct OAuthErrorBody {
    pub error: &'static str,
    pub error_description: String,
}

/// The same for every route, in the OpenAPI document.
#[derive(Debug, IntoResponses)]
#[expect(dead_code, reason = "describes responses; they are written by `OAuthError`")]
pub enum OAuthResponses {
    /// The request is invalid
    #[response(status = 400)]
    Invalid(OAuthErrorBody),
    /// The assertion, the token or the client is refused
    #[response(status = 401)]
    Refused(OAuthErrorBody),
    /// Too many attempts
    #[response(status = 429)]
    RateLimited(OAuthErrorBody),
    /// Keys or the database are not available
    #[response(status = 500)]
    Unavailable(OAuthErrorBody),
}

#[derive(Debug)]
pub struct OAuthError {
    status: StatusCode,
    code: &'static str,
    description: String,
    retry_after: Option<Duration>,
}

impl OAuthError {
    fn new(status: StatusCode, code: &'static str, description: &str) -> Self {
        Self { status, code, description: description.to_owned(), retry_after: None }
    }

    pub fn invalid(description: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", description)
    }

    pub fn unsupported_credential() -> Self {
        let description = "`requested_credential_type` must be `api_key`";
        Self::new(StatusCode::BAD_REQUEST, "unsupported_credential_type", description)
    }

    pub fn unsupported_grant() -> Self {
        let description = "this server has no such grant; its metadata lists those it has";
        Self::new(StatusCode::BAD_REQUEST, "unsupported_grant_type", description)
    }

    pub fn no_code_flow() -> Self {
        let description = "people cannot allow applications here; use an API key, or an identity assertion";
        Self::new(StatusCode::BAD_REQUEST, "unsupported_response_type", description)
    }

    pub fn invalid_target() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_target", "`resource` is not this server")
    }

    /// At the token endpoint, clients of OAuth know one code for every assertion that is refused.
    pub fn at_token_endpoint(error: RegistrationError) -> Self {
        match error {
            RegistrationError::Refused(refusal) if refusal.code() != "server_error" => {
                let description = format!("{}: {error}", refusal.code());
                Self::new(StatusCode::BAD_REQUEST, "invalid_grant", &description)
            }
            RegistrationError::Replayed => {
                let description = format!("replay_detected: {error}");
                Self::new(StatusCode::BAD_REQUEST, "invalid_grant", &description)
            }
            other => other.into(),
        }
    }
}

impl From<RegistrationError> for OAuthError {
    fn from(error: RegistrationError) -> Self {
        let description = error.to_string();
        let (status, code) = match &error {
            RegistrationError::Refused(refusal) if refusal.code() == "server_error" => {
                (StatusCode::INTERNAL_SERVER_ERROR, "server_error")
            }
            RegistrationError::Refused(refusal) => (StatusCode::UNAUTHORIZED, refusal.code()),
            RegistrationError::Replayed => (StatusCode::UNAUTHORIZED, "replay_detected"),
            RegistrationError::RateLimited { .. } => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
            RegistrationError::NoScope => (StatusCode::BAD_REQUEST, "invalid_scope"),
            RegistrationError::NotOffered => (StatusCode::BAD_REQUEST, "invalid_request"),
            RegistrationError::UnknownClient => (StatusCode::UNAUTHORIZED, "invalid_client"),
            RegistrationError::Store(_) | RegistrationError::Randomness => {
                tracing::error!(%error, "registration failed");
                (StatusCode::INTERNAL_SERVER_ERROR, "server_error")
            }
        };
        let retry_after = match error {
            RegistrationError::RateLimited { retry_after } => Some(retry_after),
            _ => None,
        };
        Self { status, code, description, retry_after }
    }
}

impl From<AuthorizationError> for OAuthError {
    fn from(error: AuthorizationError) -> Self {
        let (status, retry_after) = match &error {
            AuthorizationError::InvalidClient(_) => (StatusCode::UNAUTHORIZED, None),
            AuthorizationError::NotByApplications => (StatusCode::FORBIDDEN, None),
            AuthorizationError::RateLimited { retry_after } => {
                (StatusCode::TOO_MANY_REQUESTS, Some(*retry_after))
            }
            AuthorizationError::Store(_) | AuthorizationError::Randomness => {
                tracing::error!(%error, "authorization failed");
                (StatusCode::INTERNAL_SERVER_ERROR, None)
            }
            _ => (StatusCode::BAD_REQUEST, None),
        };
        Self { status, code: error.code(), description: error.to_string(), retry_after }
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let body = OAuthErrorBody { error: self.code, error_description: self.description };
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        response
    }
}
