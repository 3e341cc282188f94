//! Parse: an uploaded file in the formats of a scrape. The file comes with the request (multipart) or was uploaded
//! before (`uploadRef`).

mod fields;

pub use fields::{fields, table};

use crate::scrape::{
    ActionInput, AuditInput, FormatInput, LocationInput, ParserInput, ProfileInput, RedactInput,
    ScrapeOptions, ThreatInput, with_scrape_options,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

with_scrape_options! {
    /// `POST /v2/parse`: the JSON body, or what the part `options` of a multipart body holds. Options that are about
    /// fetching a page are refused with `PARSE_UNSUPPORTED_OPTIONS`.
    ParseRequest, timeout 30_000 {
        /// The file, as `POST /v2/parse/upload-url` named it. Only in a JSON body.
        upload_ref: Option<String>,
        /// Store nothing of the file, not even its name.
        #[schema(default = false)]
        zero_data_retention: Option<bool>,
    }
}

/// `POST /v2/parse` as `multipart/form-data`: the parts, in any order.
#[derive(Debug, ToSchema)]
pub struct ParseForm {
    /// The file with its name, at most 50 MB.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    pub file: String,
    /// A JSON object with the fields of the JSON body, without `uploadRef`.
    pub options: Option<String>,
}

/// `POST /v2/parse/upload-url`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadUrlRequest {
    /// The name of the file, 1 to 512 characters.
    #[schema(min_length = 1, max_length = 512)]
    pub filename: String,
    /// The media type of the file.
    #[schema(max_length = 255)]
    pub content_type: Option<String>,
    /// The size of the file, so that one that is too large is refused before it is sent.
    #[schema(minimum = 1, maximum = 52_428_800)]
    pub declared_size_bytes: Option<i64>,
}

/// Where a file can be uploaded, once, without a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadUrl {
    /// Send the bytes of the file here.
    pub upload_url: String,
    /// Names the file in `POST /v2/parse`, once.
    pub upload_ref: String,
    /// Always `PUT`.
    pub method: &'static str,
    /// Headers to send with the file.
    pub headers: BTreeMap<&'static str, String>,
    /// Until when the file can be uploaded and parsed, as ISO 8601.
    pub expires_at: String,
    pub max_size_bytes: u64,
}

/// A kind of file that is parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParseFormat {
    /// The usual ending of its names.
    pub format: &'static str,
    /// `document` or `image`.
    pub kind: &'static str,
    /// Endings of names, without the dot.
    pub extensions: &'static [&'static str],
    pub mime_types: Vec<&'static str>,
    /// Whether this server can read it. Images need OCR.
    pub available: bool,
}

/// The response of `GET /v2/parse/formats`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ParseFormats {
    pub formats: Vec<ParseFormat>,
}
