//! How a request reaches its target: directly or through a proxy. A proxy is configuration: its address is
//! not checked against the egress policy, and once a proxy is chosen there is no falling back to a direct
//! connection.

use crate::allow::Purpose;
use crate::error::{EgressError, FetchError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::http::HeaderValue;
use percent::decoded;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use url::{Host, Url};

/// A proxy: `http://`, `https://` or `socks5://`, with a user and a password if it needs them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Proxy {
    pub(crate) kind: ProxyKind,
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
    pub(crate) login: Option<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ProxyKind {
    Http,
    Https,
    Socks5,
}

/// A proxy URL that does not parse. Never contains the password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProxyError(String);

impl FromStr for Proxy {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let url = Url::parse(text).map_err(|error| ProxyError(format!("not a proxy address: {error}")))?;
        let (kind, usual_port) = match url.scheme() {
            "http" => (ProxyKind::Http, 80),
            "https" => (ProxyKind::Https, 443),
            "socks5" | "socks5h" => (ProxyKind::Socks5, 1080),
            other => return Err(ProxyError(format!("`{other}` is not http, https or socks5"))),
        };
        // `url` keeps hosts of unknown schemes as opaque text.
        let host = url.host_str().map(Host::parse).and_then(Result::ok);
        let Some(host) = host else {
            return Err(ProxyError("a proxy needs a host".into()));
        };
        let user = decoded(url.username());
        let password = decoded(url.password().unwrap_or(""));
        if user.len() > 255 || password.len() > 255 {
            return Err(ProxyError("a proxy's user and password have 255 bytes at most".into()));
        }
        let login = (!user.is_empty() || !password.is_empty()).then_some((user, password));
        Ok(Self { kind, host, port: url.port().unwrap_or(usual_port), login })
    }
}

impl Proxy {
    /// `host:port`
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.login.as_ref()?;
        let mut value =
            HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
                .ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

// Passwords stay out of logs.
impl fmt::Debug for Proxy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Proxy({self})")
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.kind {
            ProxyKind::Http => "http",
            ProxyKind::Https => "https",
            ProxyKind::Socks5 => "socks5",
        };
        write!(out, "{scheme}://{}:{}", self.host, self.port)
    }
}

/// The proxies of a deployment.
#[derive(Debug, Clone, Default)]
pub struct ProxySettings {
    /// Used in rotation. Empty: requests connect directly.
    pub pool: Vec<Proxy>,
    /// The purposes that use the pool. Webhooks and models are often inside the network, pages are not.
    pub purposes: Vec<Purpose>,
    /// Whether a request may choose its own proxy.
    pub per_request: bool,
}

/// Which proxy a request asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Via {
    /// As the settings say.
    #[default]
    Settings,
    /// This proxy; refused where requests may not choose one.
    Proxy(Proxy),
}

/// The route of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Route {
    Direct,
    Through(Proxy),
}

#[derive(Debug, Default)]
pub(crate) struct Routes {
    settings: ProxySettings,
    next: AtomicUsize,
}

impl Routes {
    pub(crate) fn new(settings: ProxySettings) -> Self {
        Self { settings, next: AtomicUsize::new(0) }
    }

    /// The route for the next attempt. Each call moves on, so that a retry uses another proxy.
    pub(crate) fn choose(&self, purpose: Purpose, via: &Via) -> Result<Route, FetchError> {
        match via {
            Via::Proxy(_) if !self.settings.per_request => Err(EgressError::RequestProxy.into()),
            Via::Proxy(proxy) => Ok(Route::Through(proxy.clone())),
            Via::Settings if self.settings.purposes.contains(&purpose) && !self.settings.pool.is_empty() => {
                let next = self.next.fetch_add(1, Ordering::Relaxed);
                Ok(Route::Through(self.settings.pool[next % self.settings.pool.len()].clone()))
            }
            Via::Settings => Ok(Route::Direct),
        }
    }
}

mod percent {
    /// Decodes percent-encoding in a user name or password; the text is kept as it is if the result is not
    /// UTF-8.
    pub(crate) fn decoded(text: &str) -> String {
        let bytes = text.as_bytes();
        let mut plain = Vec::with_capacity(bytes.len());
        let mut place = 0;
        while place < bytes.len() {
            let code = (bytes[place] == b'%')
                .then(|| text.get(place + 1..place + 3))
                .flatten()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
            plain.push(code.unwrap_or(bytes[place]));
            place += if code.is_some() { 3 } else { 1 };
        }
        String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
    }
}

pub(crate) use percent::decoded as percent_decoded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_and_never_show_their_password() {
        let proxy: Proxy = "http://me:s%3Acret@proxy.example:3128".parse().unwrap();
        assert_eq!(proxy.authority(), "proxy.example:3128");
        assert_eq!(proxy.login, Some(("me".into(), "s:cret".into())));
        assert_eq!(
            format!("{proxy:?} {proxy}"),
            "Proxy(http://proxy.example:3128) http://proxy.example:3128"
        );
        let socks: Proxy = "socks5://[::1]".parse().unwrap();
        assert_eq!((socks.kind, socks.authority().as_str()), (ProxyKind::Socks5, "[::1]:1080"));
        for wrong in ["ftp://a.example", "proxy.example:3128", "socks5://", "http://"] {
            assert!(wrong.parse::<Proxy>().is_err(), "{wrong}");
        }
        let long = format!("http://{}@p.example", "u".repeat(256));
        assert!(long.parse::<Proxy>().is_err());
    }

    #[test]
    fn the_pool_is_taken_in_turn_for_its_purposes_only() {
        let pool: Vec<Proxy> =
            ["http://a.example", "http://b.example"].iter().map(|text| text.parse().unwrap()).collect();
        let routes = Routes::new(ProxySettings {
            pool: pool.clone(),
            purposes: vec![Purpose::Scrape],
            per_request: false,
        });
        let chosen: Vec<Route> =
            (0..3).map(|_| routes.choose(Purpose::Scrape, &Via::Settings).unwrap()).collect();
        assert_eq!(chosen, [0, 1, 0].map(|place| Route::Through(pool[place].clone())));
        assert_eq!(routes.choose(Purpose::Model, &Via::Settings), Ok(Route::Direct));
        assert_eq!(
            routes.choose(Purpose::Scrape, &Via::Proxy(pool[0].clone())),
            Err(FetchError::Refused(EgressError::RequestProxy))
        );
    }
}
