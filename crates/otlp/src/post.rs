//! How requests reach the collector: by a function that the exporter is given.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;

/// What a collector answered.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub status: u16,
    /// When it says to come back.
    pub retry_after: Option<Duration>,
    pub body: Bytes,
}

/// Posts a body to a path of the collector. The error says why there was no answer. It ends by itself in a bounded
/// time.
pub type Post = Arc<dyn Fn(&'static str, Bytes) -> BoxFuture<'static, Result<Answer, String>> + Send + Sync>;
