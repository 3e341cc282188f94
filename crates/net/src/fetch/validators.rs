//! Conditional requests: the `ETag` and `Last-Modified` of an earlier response, sent back to ask whether it
//! is still current.

use super::response::ResponseHead;
use crate::error::FetchError;
use hyper::http::header::{ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use url::Url;

/// Longer validators are not worth keeping.
const MAX_BYTES: usize = 1024;

/// `ETag` and `Last-Modified` of a response, with the URL they belong to. They are sent to that URL only:
/// another one along the redirects may use the same value for something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validators {
    url: Url,
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

impl Validators {
    /// From stored values: the final URL of the response and its validators.
    pub fn new(url: Url, etag: Option<&str>, last_modified: Option<&str>) -> Result<Self, FetchError> {
        let value = |text: &str| match HeaderValue::from_str(text) {
            Ok(value) if text.len() <= MAX_BYTES => Ok(value),
            _ => Err(FetchError::BadRequest("invalid ETag or Last-Modified".into())),
        };
        let (etag, last_modified) = (etag.map(value).transpose()?, last_modified.map(value).transpose()?);
        Ok(Self { url: without_fragment(url), etag, last_modified })
    }

    /// The validators of a response; `None` if it has none.
    pub fn from_head(head: &ResponseHead) -> Option<Self> {
        let header = |name| head.headers.get(name).filter(|value| value.len() <= MAX_BYTES).cloned();
        let (etag, last_modified) = (header(ETAG), header(LAST_MODIFIED));
        let known = etag.is_some() || last_modified.is_some();
        known.then(|| Self { url: without_fragment(head.url.clone()), etag, last_modified })
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// `None` if there is none, or if it is not text.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_ref()?.to_str().ok()
    }

    pub fn last_modified(&self) -> Option<&str> {
        self.last_modified.as_ref()?.to_str().ok()
    }

    /// Adds the conditional headers to a request to `url`, unless the caller set some.
    pub(super) fn add_to(&self, url: &Url, headers: &mut HeaderMap) {
        if headers.contains_key(IF_NONE_MATCH) || headers.contains_key(IF_MODIFIED_SINCE) {
            return;
        }
        if without_fragment(url.clone()) != self.url {
            return;
        }
        for (name, value) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.last_modified)] {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
    }
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}
