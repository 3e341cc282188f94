//! Which addresses are one page, and which are one site.

use sites::{Address, Sameness};
use url::{Host, Url};

/// A run reads a page once, however its address is written.
const SAMENESS: Sameness = Sameness { ignore_query: false, similar: true };

/// An address to fetch and the key it is compared by; `None` for what is no address of a page.
pub(crate) fn address(written: &str) -> Option<Address> {
    Address::parse(written, SAMENESS).ok()
}

/// Whether two addresses lie on one site: the same host and port, or a subdomain of it.
pub(crate) fn one_site(one: &Url, other: &Url) -> bool {
    if one.port_or_known_default() != other.port_or_known_default()
        && !(one.port().is_none() && other.port().is_none())
    {
        return false;
    }
    let (Some(a), Some(b)) = (one.host(), other.host()) else { return false };
    match (a, b) {
        (Host::Domain(a), Host::Domain(b)) => {
            let (a, b) = (bare(a), bare(b));
            a == b || below(a, b) || below(b, a)
        }
        (a, b) => a == b,
    }
}

fn bare(host: &str) -> &str {
    let host = host.trim_end_matches('.');
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

/// A host below another that is itself more than a suffix everybody shares.
fn below(host: &str, parent: &str) -> bool {
    parent.contains('.') && host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// Addresses that stand in a text, as a person writes them, in order and once each.
pub(crate) fn in_text(text: &str, most: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '(' | ')' | '`')) {
        let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ']', '}']);
        let written = if word.starts_with("http://") || word.starts_with("https://") {
            word.to_owned()
        } else if word.starts_with("www.") && word.len() > 8 {
            format!("https://{word}")
        } else {
            continue;
        };
        let Some(address) = address(&written) else { continue };
        // What is read of a prompt is shown in the trace; a login in it is not.
        let written = if written.contains('@') { address.into_url().into() } else { written };
        if !found.contains(&written) {
            found.push(written);
        }
        if found.len() == most {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_its_host_its_port_and_what_lies_below() {
        let one = |a: &str, b: &str| one_site(&Url::parse(a).unwrap(), &Url::parse(b).unwrap());
        assert!(one("https://www.shop.example/a", "http://shop.example/b"));
        assert!(one("https://docs.shop.example/", "https://shop.example/"));
        assert!(!one("https://shop.example/", "https://notshop.example/"));
        assert!(!one("https://shop.example/", "https://shop.example:8443/"));
        assert!(!one("http://127.0.0.1:4001/", "http://127.0.0.1:4002/"));
        assert!(!one("http://a.localhost/", "http://localhost/"));
    }

    #[test]
    fn addresses_in_a_prompt_are_found_as_people_write_them() {
        let text =
            "Compare https://a.example/x, (www.b-shop.example) and https://a.example/x. Not ftp://c.example.";
        assert_eq!(in_text(text, 9), ["https://a.example/x", "https://www.b-shop.example"]);
        assert_eq!(in_text(text, 1).len(), 1);
    }
}
