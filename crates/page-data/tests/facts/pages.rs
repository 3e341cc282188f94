//! Pages as if they had been fetched.

use content::{Limits, Page, PageSource};
use url::Url;

/// A page at an address.
pub fn page(html: &str, address: &str) -> Page {
    let url = Url::parse(address).unwrap();
    Page::parse(
        &PageSource {
            bytes: html.as_bytes(),
            content_type: Some("text/html; charset=utf-8"),
            url: Some(&url),
            status: Some(200),
        },
        &Limits::default(),
    )
}
