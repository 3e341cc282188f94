//! Redirect URIs: which ones a client may have, and whether a request names one of them.

use url::{Host, Url};

pub const MAX_URI_BYTES: usize = 2048;
/// Schemes that applications on a person's machine open. Besides these, only names with a period, as RFC 8252 wants
/// them: everything else may be something that a browser carries out.
const APPLICATION_SCHEMES: [&str; 7] =
    ["claude", "cursor", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed"];

/// Why a client may not have this redirect URI.
pub fn refuse(uri: &str) -> Option<&'static str> {
    if uri.len() > MAX_URI_BYTES {
        return Some("a redirect URI has more than 2048 characters");
    }
    let Ok(url) = Url::parse(uri) else { return Some("a redirect URI is not an absolute URI") };
    if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Some("a redirect URI must have no fragment and no user");
    }
    let fits = match url.scheme() {
        "https" => true,
        "http" => is_loopback(&url),
        scheme => scheme.contains('.') || APPLICATION_SCHEMES.contains(&scheme),
    };
    (!fits).then_some("a redirect URI must be https, http on a loopback address, or of an application")
}

/// Exactly one that is registered; for a loopback address the port may be another (RFC 8252), because it is chosen
/// when the application listens.
pub fn matches(registered: &[String], asked: &str) -> bool {
    registered.iter().any(|known| known == asked || differs_in_loopback_port(known, asked))
}

fn differs_in_loopback_port(known: &str, asked: &str) -> bool {
    let (Ok(known), Ok(asked)) = (Url::parse(known), Url::parse(asked)) else { return false };
    let plain = |url: &Url| url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    known.scheme() == "http"
        && asked.scheme() == "http"
        && is_loopback(&known)
        && known.host() == asked.host()
        && plain(&asked)
        && (known.path(), known.query()) == (asked.path(), asked.query())
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether it leads to this machine or to an application on it, and not to another machine.
pub fn is_local(uri: &str) -> bool {
    Url::parse(uri).is_ok_and(|url| url.scheme() != "https" && (url.scheme() != "http" || is_loopback(&url)))
}

/// For people: the host, or the scheme of an application.
pub fn shown_host(uri: &str) -> String {
    let Ok(url) = Url::parse(uri) else { return String::new() };
    match (url.scheme(), url.host_str(), url.port()) {
        ("http" | "https", Some(host), Some(port)) => format!("{host}:{port}"),
        ("http" | "https", Some(host), None) => host.to_owned(),
        (scheme, ..) => format!("{scheme}:"),
    }
}

/// The URI with more parameters.
pub fn with(uri: &str, parameters: &[(&str, &str)]) -> String {
    match Url::parse(uri) {
        Ok(mut url) => {
            url.query_pairs_mut().extend_pairs(parameters);
            url.into()
        }
        Err(_) => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uris_that_lead_to_applications_are_accepted() {
        for fine in [
            "https://app.example/callback",
            "http://127.0.0.1/callback",
            "http://localhost:8080/callback?x=1",
            "http://[::1]:3/",
            "cursor://anysphere.cursor/callback",
            "com.example.app:/callback",
        ] {
            assert_eq!(refuse(fine), None, "{fine}");
        }
        for wrong in [
            "http://app.example/callback",
            "http://localhost.evil.example/",
            "http://127.0.0.1@evil.example/",
            "https://app.example/#fragment",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "callback",
            "",
        ] {
            assert!(refuse(wrong).is_some(), "{wrong}");
        }
        assert!(refuse(&format!("https://app.example/{}", "x".repeat(3000))).is_some());
    }

    #[test]
    fn a_request_names_a_registered_uri_exactly_but_for_the_port_of_this_machine() {
        let registered =
            ["http://127.0.0.1/callback", "https://app.example:8443/callback"].map(str::to_owned);
        for same in [
            "http://127.0.0.1/callback",
            "http://127.0.0.1:49152/callback",
            "https://app.example:8443/callback",
        ] {
            assert!(matches(&registered, same), "{same}");
        }
        for other in [
            "http://127.0.0.1:49152/other",
            "http://127.0.0.1:49152/callback?more",
            "http://localhost:49152/callback",
            "https://127.0.0.1:49152/callback",
            "http://u@127.0.0.1:1/callback",
            "https://app.example/callback",
            "https://app.example:8443/callback/",
            "https://app.example:8443/CALLBACK",
        ] {
            assert!(!matches(&registered, other), "{other}");
        }
    }

    #[test]
    fn parameters_are_added_to_those_that_are_there() {
        let to = with("http://127.0.0.1:1/cb?a=b", &[("code", "x y"), ("state", "&=")]);
        assert_eq!(to, "http://127.0.0.1:1/cb?a=b&code=x+y&state=%26%3D");
        assert_eq!(with("cursor://x/cb", &[("code", "1")]), "cursor://x/cb?code=1");
        assert_eq!(shown_host("cursor://x/cb"), "cursor:");
    }
}
