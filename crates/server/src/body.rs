//! Extractors for JSON bodies, query strings, job ids and idempotency keys: strict, with size and time
//! limits, and with errors from the catalogue.

use crate::app::App;
use crate::error::ApiError;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use std::time::Duration;
use uuid::Uuid;
use wire::{Kind, WireError};

/// Time for a body to arrive after its headers.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A JSON body.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        if !is_json(request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok())) {
            return Err(Kind::UnsupportedMediaType.into());
        }
        let bytes = read_body(request.into_body(), app.settings.body_limit).await?;
        Ok(Self(wire::read::body(&bytes)?))
    }
}

/// A JSON body that may be missing, as some clients send none where nothing has to be said.
#[derive(Debug)]
pub struct OptionalJsonBody<T>(pub T);

impl<T: DeserializeOwned + Default> FromRequest<App> for OptionalJsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let reading = read_all(request.into_body(), app.settings.body_limit);
        let bytes = tokio::time::timeout(BODY_TIMEOUT, reading)
            .await
            .map_err(|_| WireError::from(Kind::RequestTimeout))??;
        let is_empty = bytes.iter().all(u8::is_ascii_whitespace);
        Ok(Self(if is_empty { T::default() } else { wire::read::body(&bytes)? }))
    }
}

/// A missing content type counts as JSON: no other type is accepted.
fn is_json(content_type: Option<&str>) -> bool {
    let Some(text) = content_type else { return true };
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// All bytes of a request's body, at most `limit`.
pub async fn read_body(body: Body, limit: usize) -> Result<Vec<u8>, ApiError> {
    tokio::time::timeout(BODY_TIMEOUT, read_all(body, limit))
        .await
        .map_err(|_| WireError::from(Kind::RequestTimeout))?
}

async fn read_all(body: Body, limit: usize) -> Result<Vec<u8>, ApiError> {
    let mut stream = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| WireError::invalid_json("the body ended early"))?;
        if bytes.len() + chunk.len() > limit {
            return Err(WireError::payload_too_large(limit).into());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// A query string.
#[derive(Debug)]
pub struct QueryString<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryString<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(wire::read::query(parts.uri.query().unwrap_or_default())?))
    }
}

/// The id of a job in the path.
#[derive(Debug, Clone, Copy)]
pub struct JobId(pub Uuid);

impl<S: Send + Sync> FromRequestParts<S> for JobId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let text = Path::<String>::from_request_parts(parts, state).await;
        let id = text.ok().and_then(|Path(text)| Uuid::try_parse(&text).ok());
        Ok(Self(id.ok_or(Kind::InvalidJobId)?))
    }
}

/// An optional `x-idempotency-key` of 1 to 256 visible characters.
#[derive(Debug)]
pub struct IdempotencyKey(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("x-idempotency-key") else { return Ok(Self(None)) };
        let key = value.to_str().ok().filter(|key| (1..=256).contains(&key.len()));
        let issue =
            || wire::Issue::at("x-idempotency-key", "must be 1 to 256 visible characters", "invalid_value");
        let key = key.ok_or_else(|| WireError::invalid(&[issue()]))?;
        Ok(Self(Some(key.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn recognizes_json_content_types() {
        for yes in [
            None,
            Some("application/json"),
            Some("Application/JSON; charset=utf-8"),
            Some("application/ld+json"),
        ] {
            assert!(is_json(yes), "{yes:?}");
        }
        for no in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
            assert!(!is_json(Some(no)), "{no}");
        }
    }
}
