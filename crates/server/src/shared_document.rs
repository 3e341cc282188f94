//! Documents that are the same for everybody and need no key: made once, shared by all who read them, and compressed
//! once, because a compressor for each reader would be megabytes of memory for whoever connects and does not read.

use axum::body::Bytes;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::sync::{Arc, OnceLock};

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct SharedDocument(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    content_type: &'static str,
    plain: Bytes,
    /// Made for the first who takes it.
    gzip: OnceLock<Bytes>,
}

impl SharedDocument {
    pub fn new(content_type: &'static str, text: String) -> Self {
        Self(Arc::new(Parts { content_type, plain: text.into(), gzip: OnceLock::new() }))
    }

    pub fn response(&self, asked: &HeaderMap) -> Response {
        let headers = [(CONTENT_TYPE, self.0.content_type), (VARY, "accept-encoding")];
        if takes_gzip(asked) {
            let gzip = self.0.gzip.get_or_init(|| compress(&self.0.plain)).clone();
            return (headers, [(CONTENT_ENCODING, "gzip")], gzip).into_response();
        }
        (headers, self.0.plain.clone()).into_response()
    }
}

/// Whether a client says that it reads gzip.
pub fn takes_gzip(asked: &HeaderMap) -> bool {
    let given = asked.get(ACCEPT_ENCODING).and_then(|value: &HeaderValue| value.to_str().ok());
    given.unwrap_or_default().split(',').any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim() == "gzip" && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

fn compress(plain: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to a vector does not fail.
    let written = encoder.write_all(plain).and_then(|()| encoder.finish());
    written.unwrap_or_default().into()
}
