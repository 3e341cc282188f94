//! What all pages share: the document around their content, and the headers that keep it harmless.

use crate::html::Markup;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("style.css");

/// A page and the headers it must be sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlPage {
    pub html: String,
    /// Also refuses scripts of any kind.
    pub content_security_policy: String,
}

impl HtmlPage {
    /// `title` is shown by the browser, `content` is the body.
    pub(super) fn new(title: &str, content: &Markup) -> Self {
        let mut html = Markup::new();
        html.raw(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"robots\" content=\"noindex\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta name=\"color-scheme\" content=\"light dark\"><title>",
        );
        html.text(title).raw("</title><style>").raw(STYLE).raw("</style></head><body>");
        html.markup(content).raw("</body></html>\n");
        Self { html: html.into_string(), content_security_policy: content_security_policy() }
    }

    /// The headers of the response, besides its length. The address of the page is a secret: it is neither
    /// passed on to other sites nor kept by caches or search engines.
    pub fn headers(&self) -> [(&'static str, &str); 7] {
        [
            ("content-type", "text/html; charset=utf-8"),
            ("content-security-policy", &self.content_security_policy),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            ("x-robots-tag", "noindex"),
            ("cache-control", "private, no-store"),
            ("cross-origin-opener-policy", "same-origin"),
        ]
    }
}

fn content_security_policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src 'self' data:; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
         sandbox allow-forms allow-popups allow-popups-to-escape-sandbox allow-same-origin"
    )
}
