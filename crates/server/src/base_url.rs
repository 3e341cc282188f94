//! The URL under which callers reach this server, for absolute links in responses.

use crate::app::Settings;
use axum::http::header::HOST;
use axum::http::{HeaderMap, Request};
use std::net::IpAddr;

/// Headers with which proxies describe the caller.
const FORWARDING_HEADERS: [&str; 4] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];

/// Marks a request with forwarding headers, whether its proxy is trusted or not.
#[derive(Debug, Clone, Copy)]
pub struct Forwarded;

/// The address of the caller: of the connection, or as a trusted proxy names it.
#[derive(Debug, Clone, Copy)]
pub struct ClientAddress(pub IpAddr);

/// Notes who the caller is. A proxy appends the address it sees, so the last one is what a trusted proxy vouches for.
pub fn note_client_address<B>(mut request: Request<B>, peer: IpAddr, trusted: bool) -> Request<B> {
    let forwarded = request.headers().get_all("x-forwarded-for").iter().next_back();
    let last = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    let address = last.filter(|_| trusted).unwrap_or(peer);
    request.extensions_mut().insert(ClientAddress(address));
    request
}

/// Removes forwarding headers unless they come from a trusted proxy: any client can send them.
pub fn drop_forwarding_headers<B>(mut request: Request<B>, trusted: bool) -> Request<B> {
    if FORWARDING_HEADERS.iter().any(|name| request.headers().contains_key(*name)) {
        request.extensions_mut().insert(Forwarded);
        if !trusted {
            for name in FORWARDING_HEADERS {
                request.headers_mut().remove(name);
            }
        }
    }
    request
}

/// Scheme and host without a trailing slash: the configured URL, else that of a trusted proxy, else the
/// `Host` header, else the listening address.
pub fn base_url(settings: &Settings, headers: &HeaderMap) -> String {
    if let Some(url) = &settings.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(first_entry);
    let host = text("x-forwarded-host").or_else(|| text(HOST.as_str())).filter(|host| is_host(host));
    let scheme =
        text("x-forwarded-proto").filter(|scheme| ["http", "https"].contains(scheme)).unwrap_or("http");
    match host {
        Some(host) => format!("{scheme}://{host}"),
        None => format!("http://{}", settings.listen),
    }
}

/// Proxies append to a list; the first entry is the one nearest to the caller.
fn first_entry(list: &str) -> &str {
    list.split(',').next().unwrap_or_default().trim()
}

/// A host with an optional port, without characters that could break a link or a header.
fn is_host(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    !text.is_empty() && text.len() <= 255 && text.bytes().all(legal)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::app::Cors;
    use axum::http::{HeaderName, HeaderValue};

    pub(crate) fn settings(public_url: Option<&str>) -> Settings {
        Settings {
            listen: ([127, 0, 0, 1], 3002).into(),
            api: true,
            auth: true,
            public_url: public_url.map(str::to_owned),
            cors: Cors::None,
            body_limit: 1,
            key_days: None,
        }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn prefers_configuration_then_proxy_then_host_header() {
        let proxied = headers(&[
            ("host", "inner:1"),
            ("x-forwarded-host", "a.example, b"),
            ("x-forwarded-proto", "https"),
        ]);
        assert_eq!(base_url(&settings(Some("https://set.example/")), &proxied), "https://set.example");
        assert_eq!(base_url(&settings(None), &proxied), "https://a.example");
        assert_eq!(base_url(&settings(None), &headers(&[("host", "h:8")])), "http://h:8");
        assert_eq!(base_url(&settings(None), &HeaderMap::new()), "http://127.0.0.1:3002");
    }

    #[test]
    fn only_trusted_proxies_set_the_base_url() {
        let request = || {
            let request =
                Request::builder().header("host", "inner:1").header("x-forwarded-host", "a.example");
            request.body(()).unwrap()
        };
        let trusted = drop_forwarding_headers(request(), true);
        assert_eq!(base_url(&settings(None), trusted.headers()), "http://a.example");
        let untrusted = drop_forwarding_headers(request(), false);
        assert_eq!(base_url(&settings(None), untrusted.headers()), "http://inner:1");
        assert!(trusted.extensions().get::<Forwarded>().is_some());
        assert!(untrusted.extensions().get::<Forwarded>().is_some());
        let plain = drop_forwarding_headers(Request::builder().header("host", "h").body(()).unwrap(), false);
        assert!(plain.extensions().get::<Forwarded>().is_none());
    }

    #[test]
    fn rejects_hostile_hosts() {
        let hostile = headers(&[("host", "x\"><script>"), ("x-forwarded-proto", "javascript")]);
        assert_eq!(base_url(&settings(None), &hostile), "http://127.0.0.1:3002");
    }
}
