//! Where requests of tools go: the router of this process, or a running server.

use bytes::Bytes;
use http::{Request, Response};
use std::fmt;
use std::pin::Pin;

pub type ApiRequest = Request<Bytes>;
pub type ApiResponse = Response<Bytes>;
/// A response that is on its way.
pub type Sent<'a> = Pin<Box<dyn Future<Output = Result<ApiResponse, Unreachable>> + Send + 'a>>;

/// Answers requests whose URI is a path under `/v2` with its query.
pub trait Api: Send + Sync + 'static {
    fn send(&self, request: ApiRequest) -> Sent<'_>;
}

/// Why there was no response at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable(pub String);

impl fmt::Display for Unreachable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Unreachable {}
