//! Scrape: one page. The options are shared by every capability that scrapes.

mod actions;
mod document;
mod fields;
mod formats;

pub use actions::ActionInput;
pub use document::{
    ActionResults, BlockConfidence, ChangeTracking, Document, FileBlock, FilePage, FilePageBlocks,
    JavascriptReturn, Metadata, ScrapeResponse, ScrapedFrame,
};
pub(crate) use fields::fields_table;
pub use fields::{Effect, RequestField, SCRAPE_FIELDS, table};
pub use formats::{FormatInput, FormatObject, SelectorInput, Viewport};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Declares a request that has the scrape options at its top level, as the contract requires, with the default of its
/// `timeout` where that is not the usual one. Flattening a struct would do the same but lose the path of unknown keys.
macro_rules! with_scrape_options {
    ($(#[$about:meta])* $name:ident { $($fields:tt)* }) => {
        $crate::scrape::with_scrape_options! { $(#[$about])* $name, timeout 60_000 { $($fields)* } }
    };
    ($(#[$about:meta])* $name:ident, timeout $timeout:tt { $($(#[$note:meta])* $field:ident : $kind:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$note])* pub $field: $kind,)*
            /// What to return: names, or objects with options.
            pub formats: Option<Vec<FormatInput>>,
            /// Leave out navigation, banners, footers and similar parts.
            #[schema(default = true)]
            pub only_main_content: Option<bool>,
            /// Let a model clean the content; needs a model.
            #[schema(default = false)]
            pub only_clean_content: Option<bool>,
            /// CSS selectors of the parts to keep.
            pub include_tags: Option<Vec<String>>,
            /// CSS selectors of the parts to leave out.
            pub exclude_tags: Option<Vec<String>>,
            /// Headers to send with the request. With headers, nothing is cached.
            #[schema(value_type = Option<BTreeMap<String, String>>)]
            pub headers: Option<$crate::SecretHeaders>,
            /// Timeout in milliseconds.
            #[schema(minimum = 1000, maximum = 300_000, default = $timeout)]
            pub timeout: Option<i64>,
            /// Milliseconds to wait in the browser before the page is read; less than half of `timeout`.
            #[schema(minimum = 0, maximum = 60_000, default = 0)]
            pub wait_for: Option<i64>,
            /// Emulate a phone.
            #[schema(default = false)]
            pub mobile: Option<bool>,
            /// How files are parsed; `[]` returns them unparsed.
            pub parsers: Option<Vec<ParserInput>>,
            /// Actions in the page before it is read; at most 50.
            pub actions: Option<Vec<ActionInput>>,
            /// Country and languages of the request.
            pub location: Option<LocationInput>,
            /// Accept any certificate. On by default, off with `headers` or `actions`.
            pub skip_tls_verification: Option<bool>,
            /// Leave inline images out of the markdown.
            #[schema(default = true)]
            pub remove_base64_images: Option<bool>,
            /// Never use a browser unless an option needs one.
            #[schema(default = false)]
            pub fast_mode: Option<bool>,
            /// A test hook of another server; refused.
            pub use_mock: Option<String>,
            /// Block ads, trackers and cookie banners in the browser.
            #[schema(default = true)]
            pub block_ads: Option<bool>,
            /// `basic`, `enhanced`, `stealth` or `auto`.
            pub proxy: Option<String>,
            /// Accept a cached page up to this many milliseconds old.
            #[schema(minimum = 0, default = 172_800_000)]
            pub max_age: Option<i64>,
            /// Only a cached page, at least this many milliseconds old.
            #[schema(minimum = 0)]
            pub min_age: Option<i64>,
            /// Cache the page for later requests.
            #[schema(default = true)]
            pub store_in_cache: Option<bool>,
            /// Only a cached page; nothing is sent to the network.
            #[schema(default = false)]
            pub lockdown: Option<bool>,
            /// Hold to robots.txt, and do not try to get past block pages and captchas.
            #[schema(default = false)]
            pub safe_mode: Option<bool>,
            /// Refuse pages that contain a prompt injection.
            #[schema(default = false)]
            pub check_prompt_injection: Option<bool>,
            /// Remove personal data from the markdown: `true`, or an object with options.
            #[serde(rename = "redactPII")]
            pub redact_pii: Option<RedactInput>,
            /// Hosts that must not be contacted.
            pub threat_protection: Option<ThreatInput>,
            /// Recorded with the request, for the activity log.
            pub audit_metadata: Option<AuditInput>,
            /// A named browser state to start from.
            pub profile: Option<ProfileInput>,
            /// Catalogue tools for the page's domain; there are none here.
            pub domain_tools: Option<bool>,
            /// `compact`, `summary` or `full`; there are no catalogue tools here.
            pub tool_detail: Option<String>,
        }

        impl $name {
            /// The scrape options without the other fields.
            #[must_use]
            pub fn options(&self) -> ScrapeOptions {
                let asked = self.clone();
                ScrapeOptions {
                    formats: asked.formats,
                    only_main_content: asked.only_main_content,
                    only_clean_content: asked.only_clean_content,
                    include_tags: asked.include_tags,
                    exclude_tags: asked.exclude_tags,
                    headers: asked.headers,
                    timeout: asked.timeout,
                    wait_for: asked.wait_for,
                    mobile: asked.mobile,
                    parsers: asked.parsers,
                    actions: asked.actions,
                    location: asked.location,
                    skip_tls_verification: asked.skip_tls_verification,
                    remove_base64_images: asked.remove_base64_images,
                    fast_mode: asked.fast_mode,
                    use_mock: asked.use_mock,
                    block_ads: asked.block_ads,
                    proxy: asked.proxy,
                    max_age: asked.max_age,
                    min_age: asked.min_age,
                    store_in_cache: asked.store_in_cache,
                    lockdown: asked.lockdown,
                    safe_mode: asked.safe_mode,
                    check_prompt_injection: asked.check_prompt_injection,
                    redact_pii: asked.redact_pii,
                    threat_protection: asked.threat_protection,
                    audit_metadata: asked.audit_metadata,
                    profile: asked.profile,
                    domain_tools: asked.domain_tools,
                    tool_detail: asked.tool_detail,
                }
            }
        }
    };
}

pub(crate) use with_scrape_options;

with_scrape_options! {
    /// Options of a scrape; also part of other requests.
    ScrapeOptions {}
}

with_scrape_options! {
    /// `POST /v2/scrape`
    ScrapeRequest {
        /// The URL of the page. `http://` is added to a URL without a scheme.
        url: Option<String>,
        /// Store nothing of the page, not even its URL.
        #[schema(default = false)]
        zero_data_retention: Option<bool>,
        /// Catalogue tools to call instead of fetching a page; there are none here.
        #[schema(value_type = Option<Object>)]
        alexandria: Option<serde_json::Value>,
    }
}

/// Country and languages of a request.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[schema(as = LocationAsked)]
pub struct LocationInput {
    /// ISO 3166-1 alpha-2.
    #[schema(default = "US")]
    pub country: Option<String>,
    /// Language tags, most preferred first.
    pub languages: Option<Vec<String>>,
}

/// Hosts and top-level domains that must not be contacted.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[schema(as = ThreatAsked)]
#[serde(rename_all = "camelCase")]
pub struct ThreatInput {
    /// `off`, `manual-only` or `normal`.
    pub mode: Option<String>,
    /// Accepted without effect: there is no risk score here.
    #[schema(minimum = 0, maximum = 100)]
    pub risk_score_threshold: Option<i64>,
    /// Hosts to refuse; `*` matches any part.
    pub blacklist: Option<Vec<String>>,
    /// Hosts that are allowed despite `blacklist` and `blockedTlds`.
    pub whitelist: Option<Vec<String>>,
    /// Top-level domains to refuse.
    pub blocked_tlds: Option<Vec<String>>,
    /// `open` or `closed`; accepted without effect: lists cannot fail.
    pub failure_policy: Option<String>,
}

/// The user behind a request.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[schema(as = AuditAsked)]
pub struct AuditInput {
    /// At most 1024 characters.
    pub username: Option<String>,
}

/// A named browser state.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[schema(as = ProfileAsked)]
#[serde(rename_all = "camelCase")]
pub struct ProfileInput {
    /// 1 to 128 characters.
    pub name: Option<String>,
    /// Store the changes of the visit; one request at a time may.
    #[schema(default = true)]
    pub save_changes: Option<bool>,
}

/// Options of `redactPII`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedactObject {
    /// `accurate`, `aggressive` or `fast`.
    #[schema(default = "accurate")]
    pub mode: Option<String>,
    /// `PERSON`, `EMAIL`, `PHONE`, `LOCATION`, `FINANCIAL`, `SECRET`; all by default.
    pub entities: Option<Vec<String>>,
    /// `tag`, `mask` or `remove`.
    #[schema(default = "tag")]
    pub replace_style: Option<String>,
}

/// Options of a parser.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParserObject {
    /// `pdf` or `image`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// `fast` reads text only, `auto` uses OCR for pages without usable text, `ocr` for every page.
    #[schema(default = "auto")]
    pub mode: Option<String>,
    /// Pages that are read at most.
    #[schema(minimum = 1, maximum = 10_000)]
    pub max_pages: Option<i64>,
    /// Adds `pages`: the markdown of each page.
    pub pages: Option<bool>,
    /// Adds `blocks`: each piece of a page with its place.
    pub blocks: Option<bool>,
    /// A rule line and the comment `page N` between two pages of the markdown.
    pub page_markers: Option<bool>,
    /// The former name of `pages`.
    pub page_markdown: Option<bool>,
    /// Opens an encrypted PDF. With it, nothing is cached.
    #[schema(value_type = Option<String>, max_length = 127)]
    pub password: Option<crate::SecretText>,
}

/// Declares a value that is either plain or an object, with its name in the OpenAPI document. An untagged
/// enum would lose the path of unknown keys.
macro_rules! plain_or_object {
    ($(#[$about:meta])* $name:ident as $schema:ident { $plain:ident($value:ty) by $($visit:ident : $given:ty),+; $object:ident }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
        #[schema(as = $schema)]
        #[serde(untagged)]
        pub enum $name { Plain($value), Object(Box<$object>) }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl<'de> serde::de::Visitor<'de> for Either {
                    type Value = $name;
                    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        out.write_str(concat!("a ", stringify!($plain), " or an object"))
                    }
                    $(fn $visit<E>(self, value: $given) -> Result<$name, E> { Ok($name::Plain(value.into())) })+
                    fn visit_map<M: serde::de::MapAccess<'de>>(self, map: M) -> Result<$name, M::Error> {
                        let object = $object::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                        Ok($name::Object(Box::new(object)))
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }
    };
}
pub(crate) use plain_or_object;

plain_or_object! {
    /// `redactPII`: a boolean, or an object with options.
    RedactInput as RedactAsked { boolean(bool) by visit_bool: bool; RedactObject }
}

plain_or_object! {
    /// One of `parsers`: a name, or an object with options.
    ParserInput as ParserAsked { string(String) by visit_str: &str, visit_string: String; ParserObject }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, read};
    use serde_json::json;

    fn asked(body: &serde_json::Value) -> Result<ScrapeRequest, crate::WireError> {
        read::body(body.to_string().as_bytes())
    }

    #[test]
    fn reads_what_clients_send() {
        let body = json!({
            "url": "https://example.com", "origin": "python-sdk@4.54.0", "skipTlsVerification": true,
            "formats": ["markdown", { "type": "screenshot", "fullPage": true, "viewport": { "width": 10, "height": 20 } }],
            "actions": [{ "type": "click", "selector": "#x", "all": true }, { "type": "wait", "milliseconds": 3 }],
            "redactPII": true, "parsers": ["pdf", { "type": "pdf", "maxPages": 3 }], "maxAge": 14_400_000_i64,
        });
        let asked = asked(&body).unwrap();
        assert_eq!(asked.redact_pii, Some(RedactInput::Plain(true)));
        assert!(
            matches!(&asked.formats.as_ref().unwrap()[0], FormatInput::Plain(name) if name == "markdown")
        );
        assert!(
            matches!(&asked.formats.as_ref().unwrap()[1], FormatInput::Object(shot) if shot.full_page == Some(true))
        );
        assert_eq!(asked.options().max_age, Some(14_400_000));
    }

    #[test]
    fn an_unknown_key_is_named_where_it_stands() {
        let body =
            json!({ "url": "x", "formats": [{ "type": "json", "promt": "x" }], "location": { "land": "x" } });
        let error = asked(&body).unwrap_err();
        assert_eq!(error.kind, Kind::UnknownKeys);
        let details = error.details().unwrap();
        assert_eq!(details[0]["path"], json!(["formats", 0, "promt"]));
        assert_eq!(details[1]["path"], json!(["location", "land"]));
    }
}
