//! The headers of deprecated endpoints.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Marks a response as deprecated and names the path or page that replaces the endpoint.
pub fn deprecation_headers(replacement: &str, warning: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("deprecation"), HeaderValue::from_static("true"));
    let texts = [
        (header::LINK, format!("<{replacement}>; rel=\"successor-version\"")),
        (header::WARNING, format!("299 - \"{warning}\"")),
    ];
    for (name, text) in texts {
        // Our own ASCII texts are always valid header values.
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(name, value);
        }
    }
    headers
}
