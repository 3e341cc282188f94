//! Request headers: our defaults and what callers may add. Which requests carry the callers' headers is
//! decided in [`crate::credentials`]. Pure; knows nothing of connections.

use crate::error::FetchError;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName,
    HeaderValue, USER_AGENT,
};
use hyper::http;
use std::fmt::Write as _;

const MAX_HEADERS: usize = 64;
const MAX_VALUE_BYTES: usize = 8 * 1024;
const MAX_TOTAL_BYTES: usize = 32 * 1024;

/// `Accept` of a request that prefers markdown over a page.
pub(crate) const MARKDOWN_FIRST: HeaderValue =
    HeaderValue::from_static("text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,*/*;q=0.8");

/// Headers that describe the connection or the framing. Only we set them.
const RESERVED_HEADERS: [&str; 13] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "keep-alive",
    "expect",
    "http2-settings",
    "proxy-authorization",
    "proxy-authenticate",
    "proxy-connection",
];

/// Which client a request looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// A current desktop browser loading a page.
    #[default]
    Desktop,
    /// A current browser on a phone.
    Mobile,
    /// Gannet itself: webhooks and model calls.
    Plain,
}

const DESKTOP_USER_AGENT: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
const MOBILE_USER_AGENT: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36";
const PLAIN_USER_AGENT: &str = concat!("Gannet/", env!("CARGO_PKG_VERSION"));

impl Profile {
    pub fn user_agent(self) -> &'static str {
        match self {
            Self::Desktop => DESKTOP_USER_AGENT,
            Self::Mobile => MOBILE_USER_AGENT,
            Self::Plain => PLAIN_USER_AGENT,
        }
    }

    /// Headers in the order a browser sends them.
    fn defaults(self) -> Vec<(&'static str, &'static str)> {
        let (mobile, platform) = match self {
            Self::Plain => return vec![("user-agent", self.user_agent()), ("accept", "*/*")],
            Self::Desktop => ("?0", "\"Linux\""),
            Self::Mobile => ("?1", "\"Android\""),
        };
        vec![
            ("sec-ch-ua", "\"Chromium\";v=\"156\", \"Not_A Brand\";v=\"99\""),
            ("sec-ch-ua-mobile", mobile),
            ("sec-ch-ua-platform", platform),
            ("upgrade-insecure-requests", "1"),
            ("user-agent", self.user_agent()),
            (
                "accept",
                "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            ),
            ("sec-fetch-site", "none"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-user", "?1"),
            ("sec-fetch-dest", "document"),
        ]
    }
}

/// The languages a request prefers, sent as `Accept-Language`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locale(HeaderValue);

impl Default for Locale {
    fn default() -> Self {
        Self(HeaderValue::from_static("en-US,en;q=0.9"))
    }
}

impl Locale {
    /// From language tags, most preferred first. `en-GB` also asks for `en`.
    pub fn from_languages<'a>(languages: impl IntoIterator<Item = &'a str>) -> Result<Self, FetchError> {
        let mut tags: Vec<&str> = Vec::new();
        for tag in languages.into_iter().take(8) {
            let legal = |part: &str| {
                (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
            };
            if tag.len() > 35 || !tag.split('-').all(legal) {
                return Err(FetchError::BadRequest(format!("{:?} is not a language tag", shorten(tag))));
            }
            let primary = tag.split('-').next().unwrap_or(tag);
            for wanted in [tag, primary] {
                if !tags.iter().any(|known| known.eq_ignore_ascii_case(wanted)) {
                    tags.push(wanted);
                }
            }
        }
        if tags.is_empty() {
            return Ok(Self::default());
        }
        let mut text = String::new();
        for (place, tag) in tags.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            text.push_str(tag);
            if place > 0 {
                let _ = write!(text, ";q=0.{}", 10usize.saturating_sub(place).max(1));
            }
        }
        let value =
            HeaderValue::from_str(&text).map_err(|_| FetchError::BadRequest("bad language".into()))?;
        Ok(Self(value))
    }

    /// From a country: its most common language, as a browser sold there would ask.
    pub fn from_country(country: &str) -> Self {
        let upper = country.to_ascii_uppercase();
        let language = COUNTRY_LANGUAGES
            .iter()
            .find(|(countries, _)| countries.split(' ').any(|known| known == upper))
            .map_or("en", |(_, language)| *language);
        if upper.len() != 2 || !upper.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Self::default();
        }
        let regional = format!("{language}-{upper}");
        let tags = if language == "en" { vec![regional.as_str()] } else { vec![regional.as_str(), "en"] };
        Self::from_languages(tags).unwrap_or_default()
    }

    pub fn as_header(&self) -> &HeaderValue {
        &self.0
    }
}

/// Countries whose first language is not English, by language. English is asked for elsewhere.
const COUNTRY_LANGUAGES: [(&str, &str); 34] = [
    ("DE AT CH LI", "de"),
    ("FR BE LU MC SN CI ML CM BF NE TG BJ GA CG CD", "fr"),
    ("ES MX AR CO CL PE VE EC GT CU BO DO HN PY SV NI CR PA UY GQ PR", "es"),
    ("PT BR AO MZ CV GW ST", "pt"),
    ("IT SM VA", "it"),
    ("NL SR", "nl"),
    ("PL", "pl"),
    ("CZ", "cs"),
    ("SK", "sk"),
    ("HU", "hu"),
    ("RO MD", "ro"),
    ("BG", "bg"),
    ("GR CY", "el"),
    ("SE", "sv"),
    ("NO", "nb"),
    ("DK", "da"),
    ("FI", "fi"),
    ("EE", "et"),
    ("LV", "lv"),
    ("LT", "lt"),
    ("RU BY KZ KG", "ru"),
    ("UA", "uk"),
    ("TR", "tr"),
    ("IL", "he"),
    ("SA AE EG IQ JO KW LB LY MA OM QA SD SY TN YE BH DZ", "ar"),
    ("IR", "fa"),
    ("CN SG", "zh"),
    ("TW HK MO", "zh"),
    ("JP", "ja"),
    ("KR KP", "ko"),
    ("TH", "th"),
    ("VN", "vi"),
    ("ID", "id"),
    ("HR BA", "hr"),
];

/// Validated headers of a caller.
#[derive(Debug, Clone, Default)]
pub struct CustomHeaders(HeaderMap);

impl CustomHeaders {
    /// Checks names, values, number and size. Connection headers are refused rather than dropped: the caller
    /// should know that they were not sent.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, FetchError> {
        let mut headers = HeaderMap::new();
        let mut total = 0;
        for (name, value) in pairs {
            total += name.len() + value.len();
            if headers.len() >= MAX_HEADERS || total > MAX_TOTAL_BYTES {
                return Err(FetchError::BadRequest(format!(
                    "more than {MAX_HEADERS} headers, or more than {MAX_TOTAL_BYTES} bytes of them"
                )));
            }
            if value.len() > MAX_VALUE_BYTES {
                return Err(FetchError::BadRequest(format!(
                    "header {:?} is longer than {MAX_VALUE_BYTES} bytes",
                    shorten(name)
                )));
            }
            let name = HeaderName::from_bytes(name.trim().as_bytes())
                .map_err(|_| FetchError::BadRequest(format!("{:?} is not a header name", shorten(name))))?;
            if RESERVED_HEADERS.contains(&name.as_str()) {
                return Err(FetchError::BadRequest(format!("header `{name}` cannot be set by a request")));
            }
            let value = HeaderValue::from_bytes(value.trim().as_bytes())
                .map_err(|_| FetchError::BadRequest(format!("header `{name}` has an invalid value")))?;
            headers.append(name, value);
        }
        Ok(Self(headers))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In lower case, each once.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(HeaderName::as_str)
    }

    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        self.0.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
    }

    /// Only the headers with these names.
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        let kept = self.0.iter().filter(|(name, _)| names.contains(&name.as_str()));
        let mut headers = HeaderMap::new();
        for (name, value) in kept {
            headers.append(name.clone(), value.clone());
        }
        Self(headers)
    }

    pub(crate) fn set_authorization(&mut self, value: HeaderValue) {
        self.0.entry(AUTHORIZATION).or_insert(value);
    }

    pub(crate) fn remove_body_headers(&mut self) {
        for name in [CONTENT_TYPE, http::header::CONTENT_LANGUAGE, http::header::CONTENT_LOCATION] {
            self.0.remove(name);
        }
    }
}

fn shorten(text: &str) -> &str {
    &text[..text.floor_char_boundary(80)]
}

/// The headers of one request on one hop, in sending order, without `Host`.
pub(crate) fn build(
    profile: Profile,
    locale: &Locale,
    custom: &CustomHeaders,
    cookie: Option<HeaderValue>,
) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(24);
    for (name, value) in profile.defaults() {
        let name = HeaderName::from_static(name);
        // A caller who sets a user agent must not be contradicted by our client hints.
        let contradicts = name.as_str().starts_with("sec-ch-ua") && custom.0.contains_key(USER_AGENT);
        let foreign = name.as_str().starts_with("sec-") && custom.0.contains_key(ACCEPT);
        if !contradicts && !foreign {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
    if profile != Profile::Plain {
        headers.insert(ACCEPT_LANGUAGE, locale.0.clone());
    }
    for name in custom.0.keys() {
        headers.remove(name);
        for value in custom.0.get_all(name) {
            headers.append(name.clone(), value.clone());
        }
    }
    if let Some(cookie) = cookie {
        let joined = match headers.get(COOKIE) {
            Some(own) => HeaderValue::from_bytes(&[own.as_bytes(), b"; ", cookie.as_bytes()].concat())
                .unwrap_or(cookie),
            None => cookie,
        };
        headers.insert(COOKIE, joined);
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom(pairs: &[(&str, &str)]) -> Result<CustomHeaders, FetchError> {
        CustomHeaders::new(pairs.iter().copied())
    }

    #[test]
    fn callers_cannot_touch_the_connection_or_smuggle_lines() {
        for (name, value) in [
            ("Host", "a.example"),
            ("connection", "close"),
            ("Content-Length", "0"),
            ("Transfer-Encoding", "chunked"),
            ("Proxy-Authorization", "x"),
            ("bad name", "x"),
            ("", "x"),
            ("x", "a\r\nHost: b"),
            ("x\r\ny", "a"),
            ("x", "a\0b"),
        ] {
            assert!(
                matches!(custom(&[(name, value)]), Err(FetchError::BadRequest(_))),
                "{name:?}: {value:?}"
            );
        }
        let many: Vec<(String, String)> = (0..65).map(|number| (format!("x-{number}"), "1".into())).collect();
        assert!(
            CustomHeaders::new(many.iter().map(|(name, value)| (name.as_str(), value.as_str()))).is_err()
        );
        assert!(custom(&[("x", &"y".repeat(MAX_VALUE_BYTES + 1))]).is_err());
        assert!(custom(&[("x", "fine"), ("accept", "text/plain")]).is_ok());
    }

    #[test]
    fn languages_become_a_weighted_list() {
        let header = |tags: &[&str]| {
            Locale::from_languages(tags.iter().copied()).unwrap().as_header().to_str().unwrap().to_owned()
        };
        assert_eq!(header(&["de-CH", "fr"]), "de-CH,de;q=0.9,fr;q=0.8");
        assert_eq!(header(&["en"]), "en");
        assert_eq!(header(&[]), "en-US,en;q=0.9");
        assert!(Locale::from_languages(["de\r\nx"]).is_err());
        assert_eq!(Locale::from_country("jp").as_header(), "ja-JP,ja;q=0.9,en;q=0.8");
        assert_eq!(Locale::from_country("GB").as_header(), "en-GB,en;q=0.9");
        assert_eq!(Locale::from_country("??"), Locale::default());
    }

    #[test]
    fn own_headers_replace_ours_and_cookies_are_joined() {
        let own = custom(&[("User-Agent", "Own/1"), ("cookie", "a=1")]).unwrap();
        let headers =
            build(Profile::Desktop, &Locale::default(), &own, Some(HeaderValue::from_static("b=2")));
        assert_eq!(headers[USER_AGENT], "Own/1");
        assert_eq!(headers[COOKIE], "a=1; b=2");
        assert!(!headers.contains_key("sec-ch-ua"));
        let mobile = build(Profile::Mobile, &Locale::default(), &CustomHeaders::default(), None);
        assert_eq!(mobile["sec-ch-ua-mobile"], "?1");
        assert!(mobile[USER_AGENT].to_str().unwrap().contains("Mobile"));
    }
}
