//! Cookies that responses set during one request and its redirects. The jar is dropped with its request; the
//! fetcher has none, so one caller's session can never be sent for another. Cookies that a caller sends are
//! [`crate::Credentials`]. Bounded in number and size.

use crate::guard::Destination;
use http::HeaderValue;
use http::header::{HeaderMap, SET_COOKIE};
use hyper::http;
use sites::public_suffix::is_public_suffix;
use std::fmt;
use std::time::{Duration, SystemTime};
use url::{Host, Url};

const MAX_COOKIES: usize = 180;
const MAX_COOKIE_BYTES: usize = 4096;
/// The longest `Cookie` header that is sent.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// The cookies of one request and of the redirects it follows.
#[derive(Debug, Clone, Default)]
pub struct CookieJar(Vec<Cookie>);

#[derive(Clone, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    /// Set without `Domain`: sent to exactly this host only.
    host_only: bool,
    path: String,
    secure: bool,
    expires: Option<SystemTime>,
}

/// Values stay out of logs.
impl fmt::Debug for Cookie {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Cookie")
            .field("name", &self.name)
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

impl CookieJar {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Stores the cookies that the response from `url` sets. Invalid ones are dropped, as browsers do.
    pub(crate) fn store_from(&mut self, url: &Url, headers: &HeaderMap) {
        let now = SystemTime::now();
        for header in headers.get_all(SET_COOKIE).iter().take(MAX_COOKIES) {
            let Ok(text) = header.to_str() else { continue };
            let Some(cookie) = parse_set_cookie(url, text, now) else { continue };
            if cookie.expires.is_some_and(|expires| expires <= now) {
                self.0.retain(|known| !known.replaces(&cookie));
            } else {
                self.insert(cookie);
            }
        }
    }

    /// The `Cookie` header for a request to `url`.
    pub(crate) fn header(&self, url: &Url) -> Option<HeaderValue> {
        let now = SystemTime::now();
        let mut text = String::new();
        for cookie in self.0.iter().filter(|cookie| cookie.is_sent_to(url, now)) {
            if text.len() + cookie.name.len() + cookie.value.len() + 3 > MAX_HEADER_BYTES {
                break;
            }
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(&cookie.name);
            text.push('=');
            text.push_str(&cookie.value);
        }
        if text.is_empty() { None } else { HeaderValue::from_str(&text).ok() }
    }

    fn insert(&mut self, cookie: Cookie) {
        self.0.retain(|known| !known.replaces(&cookie));
        // The oldest is removed first, so a flood of cookies only displaces its own.
        if self.0.len() >= MAX_COOKIES {
            self.0.remove(0);
        }
        self.0.push(cookie);
    }
}

impl Cookie {
    fn replaces(&self, other: &Self) -> bool {
        self.name == other.name && self.domain == other.domain && self.path == other.path
    }

    fn is_sent_to(&self, url: &Url, now: SystemTime) -> bool {
        let Some(host) = url.host_str() else { return false };
        let host_fits = if self.host_only { host == self.domain } else { is_below(host, &self.domain) };
        host_fits
            && path_fits(url.path(), &self.path)
            && (!self.secure || url.scheme() == "https")
            && self.expires.is_none_or(|expires| expires > now)
    }
}

fn parse_set_cookie(url: &Url, text: &str, now: SystemTime) -> Option<Cookie> {
    if text.len() > MAX_COOKIE_BYTES {
        return None;
    }
    let mut parts = text.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || !is_cookie_text(name) || !is_cookie_text(value) {
        return None;
    }
    let host = url.host_str()?;
    let mut cookie = Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain: host.to_owned(),
        host_only: true,
        path: default_path(url.path()).to_owned(),
        secure: false,
        expires: None,
    };
    let mut max_age = None;
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "domain" => {
                let domain = value.strip_prefix('.').unwrap_or(value).to_ascii_lowercase();
                if domain.is_empty() {
                    continue;
                }
                let named = matches!(Destination::from_url(url).ok()?.host, Host::Domain(_));
                let shared = named && !is_public_suffix(&domain);
                // A cookie for all of `co.uk`, or for another host, is invalid.
                if domain != host && (!shared || !is_below(host, &domain)) {
                    return None;
                }
                cookie.host_only = !shared;
                cookie.domain = domain;
            }
            "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
            "secure" => cookie.secure = true,
            "max-age" => max_age = value.parse::<i64>().ok(),
            // Many servers write dashes between the parts of the date.
            "expires" => cookie.expires = httpdate::parse_http_date(&value.replace('-', " ")).ok(),
            _ => {}
        }
    }
    if let Some(seconds) = max_age {
        let length = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        cookie.expires = Some(now.checked_add(length).unwrap_or(now + Duration::from_secs(1 << 31)));
    }
    // A plain http response may not set cookies that only https may set, and name prefixes require more.
    let over_tls = url.scheme() == "https";
    let host_prefix = cookie.name.starts_with("__Host-");
    if (cookie.secure && !over_tls)
        || (cookie.name.starts_with("__Secure-") && !cookie.secure)
        || (host_prefix && (!cookie.secure || !cookie.host_only || cookie.path != "/"))
    {
        return None;
    }
    Some(cookie)
}

fn is_cookie_text(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b';')
}

fn is_below(host: &str, domain: &str) -> bool {
    host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

fn path_fits(path: &str, cookie_path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}

fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(end) => &path[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jar(url: &str, cookies: &[&str]) -> CookieJar {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(SET_COOKIE, HeaderValue::from_str(cookie).unwrap());
        }
        let mut jar = CookieJar::default();
        jar.store_from(&Url::parse(url).unwrap(), &headers);
        jar
    }

    fn sent(jar: &CookieJar, url: &str) -> String {
        jar.header(&Url::parse(url).unwrap())
            .map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn cookies_go_back_to_their_host_and_path_only() {
        let jar = jar("http://a.example/shop/list", &["one=1", "two=2; Path=/", "deep=3; Domain=a.example"]);
        assert_eq!(sent(&jar, "http://a.example/shop/x"), "one=1; two=2; deep=3");
        assert_eq!(sent(&jar, "http://a.example/"), "two=2");
        assert_eq!(sent(&jar, "http://a.example/shopping"), "two=2");
        assert_eq!(sent(&jar, "http://b.a.example/shop/x"), "deep=3");
        assert_eq!(sent(&jar, "http://xa.example/shop/x"), "");
    }

    #[test]
    fn foreign_wide_and_broken_cookies_are_dropped() {
        let jar = jar(
            "http://a.example/",
            &[
                "x=1; Domain=example",
                "x=1; Domain=other.example",
                "x=1; Domain=b.a.example",
                "x=1; Secure",
                "__Host-x=1",
                "=1",
                "novalue",
                "x=1; Max-Age=0",
                "x=1; Expires=Wed, 21-Oct-2015 07:28:00 GMT",
            ],
        );
        assert!(jar.is_empty(), "{jar:?}");
    }

    #[test]
    fn secure_cookies_stay_on_https_and_expired_ones_go() {
        let mut jar = jar("https://a.example/", &["s=1; Secure", "p=2; Max-Age=1000"]);
        assert_eq!(sent(&jar, "https://a.example/"), "s=1; p=2");
        assert_eq!(sent(&jar, "http://a.example/"), "p=2");
        let mut headers = HeaderMap::new();
        headers.append(SET_COOKIE, HeaderValue::from_static("p=; Max-Age=-1"));
        jar.store_from(&Url::parse("https://a.example/").unwrap(), &headers);
        assert_eq!(sent(&jar, "http://a.example/"), "");
    }

    #[test]
    fn a_flood_of_cookies_stays_bounded() {
        let many: Vec<String> = (0..1000).map(|number| format!("c{number}={}", "x".repeat(1000))).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let jar = jar("http://a.example/", &many);
        assert_eq!(jar.len(), MAX_COOKIES);
        assert!(sent(&jar, "http://a.example/").len() <= MAX_HEADER_BYTES);
    }

    #[test]
    fn nobody_sets_cookies_for_a_public_suffix() {
        let many = ["a=1; Domain=co.uk", "b=1; Domain=uk", "c=1; Domain=shop.co.uk"];
        let jar_of_shop = jar("http://www.shop.co.uk/", &many);
        assert_eq!(sent(&jar_of_shop, "http://other.shop.co.uk/"), "c=1");
        assert_eq!(jar_of_shop.len(), 1);
        // The host of the suffix itself may, for exactly that host.
        let own = jar("http://github.io/", &["a=1; Domain=github.io"]);
        assert_eq!(sent(&own, "http://github.io/"), "a=1");
        assert_eq!(sent(&own, "http://somebody.github.io/"), "");
        let one = jar("http://somebody.github.io/", &["a=1; Domain=github.io"]);
        assert!(one.is_empty());
    }

    #[test]
    fn addresses_get_no_domain_cookies() {
        let jar = jar("http://127.0.0.1/", &["a=1; Domain=127.0.0.1", "b=1; Domain=0.0.1"]);
        assert_eq!(sent(&jar, "http://127.0.0.1/"), "a=1");
        assert_eq!(jar.len(), 1);
    }
}
