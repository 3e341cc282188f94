//! Conditional requests: what an earlier answer said about itself, sent back to ask whether it still holds.

use super::outcome::Head;
use crate::error::FetchError;
use hyper::http::header::{ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use url::Url;

/// Longer marks are not worth keeping.
const LONGEST: usize = 1024;

/// `ETag` and `Last-Modified` of an answer, with the address they belong to. They are sent to that address only: another
/// one on the way may use the same mark for something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validators {
    url: Url,
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

impl Validators {
    /// As they were kept: the final address of the answer, and its marks.
    pub fn new(url: Url, etag: Option<&str>, last_modified: Option<&str>) -> Result<Self, FetchError> {
        let value = |text: &str| match HeaderValue::from_str(text) {
            Ok(value) if text.len() <= LONGEST => Ok(value),
            _ => Err(FetchError::BadRequest("an ETag or a date that cannot be sent".into())),
        };
        let (etag, last_modified) = (etag.map(value).transpose()?, last_modified.map(value).transpose()?);
        Ok(Self { url: without_fragment(url), etag, last_modified })
    }

    /// What an answer says of itself; `None` where it says nothing that could be asked about later.
    pub fn of(head: &Head) -> Option<Self> {
        let take = |name| head.headers.get(name).filter(|value| value.len() <= LONGEST).cloned();
        let (etag, last_modified) = (take(ETAG), take(LAST_MODIFIED));
        let known = etag.is_some() || last_modified.is_some();
        known.then(|| Self { url: without_fragment(head.url.clone()), etag, last_modified })
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// `None` where there is none, or none that is text.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_ref()?.to_str().ok()
    }

    pub fn last_modified(&self) -> Option<&str> {
        self.last_modified.as_ref()?.to_str().ok()
    }

    /// Adds the question to a request to `url`, unless the caller asks one of their own.
    pub(super) fn ask(&self, url: &Url, headers: &mut HeaderMap) {
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
