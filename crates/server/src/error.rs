//! Errors as HTTP responses.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use wire::{Kind, WireError};

/// A [`WireError`] that a handler can return.
#[derive(Debug)]
pub struct ApiError(pub WireError);

impl<E: Into<WireError>> From<E> for ApiError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, axum::Json(self.0.body())).into_response();
        if let Some(seconds) = self.0.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        // For routes that add another error format.
        response.extensions_mut().insert(self.0);
        response
    }
}

/// The catalogue's error for a status, for responses that the framework wrote.
pub fn for_status(status: StatusCode) -> WireError {
    let kind = match status.as_u16() {
        401 => Kind::Unauthorized,
        403 => Kind::Forbidden,
        404 => Kind::NotFound,
        408 => Kind::RequestTimeout,
        409 => Kind::Conflict,
        413 => Kind::PayloadTooLarge,
        415 => Kind::UnsupportedMediaType,
        422 => Kind::UnprocessableEntity,
        503 => Kind::Unavailable,
        400..=499 => Kind::BadRequest,
        _ => Kind::Internal,
    };
    kind.into()
}
