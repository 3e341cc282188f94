//! Extractors for JSON bodies, query strings, job ids and idempotency keys: strict, with size and time
//! limits, and with errors from the catalogue.

use crate::app::App;
use crate::error::ApiError;
use crate::shared_memory::{Share, SharedMemory};
use access::Caller;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;
use wire::{Kind, WireError};

/// The largest body of a caller who may be anybody.
pub const SMALL_BODY_BYTES: usize = 16 * 1024;
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
        let body = read_request(request, app).await?;
        Ok(Self(wire::read::body(&body.bytes)?))
    }
}

/// A JSON body that may be missing, as some clients send none where nothing has to be said.
#[derive(Debug)]
pub struct OptionalJsonBody<T>(pub T);

impl<T: DeserializeOwned + Default> FromRequest<App> for OptionalJsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let body = read_request(request, app).await?;
        let is_empty = body.bytes.iter().all(u8::is_ascii_whitespace);
        Ok(Self(if is_empty { T::default() } else { wire::read::body(&body.bytes)? }))
    }
}

/// The body of a request, large only where it is known who sent it.
fn read_request(request: Request, app: &App) -> BoxFuture<'static, Result<ReadBody, ApiError>> {
    let is_known = request.extensions().get::<Arc<Caller>>().is_some();
    let limit = if is_known { app.settings.body_limit } else { SMALL_BODY_BYTES };
    read_body(request.into_body(), limit.min(app.settings.body_limit), &app.body_memory)
}

/// A missing content type counts as JSON: no other type is accepted.
fn is_json(content_type: Option<&str>) -> bool {
    let Some(text) = content_type else { return true };
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// The bytes of a body, and its share of the memory until they are dropped.
#[derive(Debug)]
pub struct ReadBody {
    pub bytes: Vec<u8>,
    _share: Share,
}

/// All bytes of a request's body, at most `limit`. Boxed, so that the future of each handler with a body does
/// not hold it once more.
pub fn read_body(
    body: Body,
    limit: usize,
    memory: &SharedMemory,
) -> BoxFuture<'static, Result<ReadBody, ApiError>> {
    let share = memory.share();
    Box::pin(async move {
        tokio::time::timeout(BODY_TIMEOUT, read_all(body, limit, share)).await.map_err(|_| {
            let seconds = BODY_TIMEOUT.as_secs();
            let why = format!("the body did not arrive within {seconds} seconds");
            WireError::because(Kind::RequestTimeout, &why)
        })?
    })
}

/// The body of a caller who may be anybody.
pub fn read_small_body(app: &App, body: Body) -> BoxFuture<'static, Result<ReadBody, ApiError>> {
    read_body(body, SMALL_BODY_BYTES, &app.body_memory)
}

async fn read_all(body: Body, limit: usize, mut share: Share) -> Result<ReadBody, ApiError> {
    let mut stream = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| WireError::invalid_json("the body ended early"))?;
        if bytes.len() + chunk.len() > limit {
            return Err(WireError::payload_too_large(limit).into());
        }
        share.take(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(ReadBody { bytes, _share: share })
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

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read_job_id(parts).await.map(Self)
    }
}

/// Boxed for the same reason as [`read_body`].
fn read_job_id(parts: &mut Parts) -> BoxFuture<'_, Result<Uuid, ApiError>> {
    Box::pin(async move {
        let text = Path::<String>::from_request_parts(parts, &()).await;
        let id = text.ok().and_then(|Path(text)| Uuid::try_parse(&text).ok());
        Ok(id.ok_or(Kind::InvalidJobId)?)
    })
}

/// An optional `x-idempotency-key` of 1 to 256 visible characters.
#[derive(Debug)]
pub struct IdempotencyKey(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read_idempotency_key(&parts.headers).map(Self)
    }
}

fn read_idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("x-idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| (1..=256).contains(&key.len()));
    let issue =
        || wire::Issue::at("x-idempotency-key", "must be 1 to 256 visible characters", "invalid_value");
    let key = key.ok_or_else(|| WireError::invalid(&[issue()]))?;
    Ok(Some(key.to_owned()))
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
