//! Which URLs are the same page, and which belong to the same site.

use sites::{PageUrl, UrlEquivalence};
use url::{Host, Url};

/// A run reads a page once, however its URL is written.
const SAMENESS: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: true };

/// A URL with the key it is compared by; `None` when it is not the URL of a page.
pub(crate) fn parse_address(written: &str) -> Option<PageUrl> {
    PageUrl::parse(written, SAMENESS).ok()
}

/// Whether two URLs belong to the same site: the same host and port, or a subdomain of it.
pub(crate) fn same_site(one: &Url, other: &Url) -> bool {
    if one.port_or_known_default() != other.port_or_known_default()
        && !(one.port().is_none() && other.port().is_none())
    {
        return false;
    }
    let (Some(a), Some(b)) = (one.host(), other.host()) else { return false };
    match (a, b) {
        (Host::Domain(a), Host::Domain(b)) => {
            let (a, b) = (without_www(a), without_www(b));
            a == b || is_subdomain(a, b) || is_subdomain(b, a)
        }
        (a, b) => a == b,
    }
}

/// Whether two URLs are pages of one list: they differ only in the query, in numbers and in words for pages. The
/// next page of a book is no page of a list.
pub(crate) fn same_list(one: &Url, other: &Url) -> bool {
    list_path(one.path()) == list_path(other.path())
}

/// The words of a path, without numbers and the words for pages.
fn list_path(path: &str) -> Vec<String> {
    const PAGE_WORDS: [&str; 8] = ["page", "pages", "p", "index", "seite", "pagina", "html", "htm"];
    path.to_lowercase()
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty() && !PAGE_WORDS.contains(word))
        .map(str::to_owned)
        .collect()
}

fn without_www(host: &str) -> &str {
    let host = host.trim_end_matches('.');
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

/// Whether `host` is a subdomain of `parent`, which must have more than one label.
fn is_subdomain(host: &str, parent: &str) -> bool {
    parent.contains('.') && host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// The URLs in a text, in order and once each.
pub(crate) fn find_urls(text: &str, max_urls: usize) -> Vec<String> {
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
        let Some(address) = parse_address(&written) else { continue };
        // These URLs appear in the trace, so credentials in them are removed.
        let written = if written.contains('@') { address.into_url().into() } else { written };
        if !found.contains(&written) {
            found.push(written);
        }
        if found.len() == max_urls {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_list_differ_in_numbers_only() {
        let same = |a: &str, b: &str| {
            let base = Url::parse("https://a.example/").unwrap();
            same_list(&base.join(a).unwrap(), &base.join(b).unwrap())
        };
        assert!(same("/list", "/list?page=2"));
        assert!(same("/posts/", "/posts/page/2/"));
        assert!(same("/members.html", "/members-2.html"));
        assert!(same("/index.html", "/page2.html"));
        assert!(!same("/datatype-numeric.html", "/datatype-money.html"));
    }

    #[test]
    fn a_site_is_a_host_and_port_with_its_subdomains() {
        let one = |a: &str, b: &str| same_site(&Url::parse(a).unwrap(), &Url::parse(b).unwrap());
        assert!(one("https://www.shop.example/a", "http://shop.example/b"));
        assert!(one("https://docs.shop.example/", "https://shop.example/"));
        assert!(!one("https://shop.example/", "https://notshop.example/"));
        assert!(!one("https://shop.example/", "https://shop.example:8443/"));
        assert!(!one("http://127.0.0.1:4001/", "http://127.0.0.1:4002/"));
        assert!(!one("http://a.localhost/", "http://localhost/"));
    }

    #[test]
    fn urls_in_a_prompt_are_found() {
        let text =
            "Compare https://a.example/x, (www.b-shop.example) and https://a.example/x. Not ftp://c.example.";
        assert_eq!(find_urls(text, 9), ["https://a.example/x", "https://www.b-shop.example"]);
        assert_eq!(find_urls(text, 1).len(), 1);
    }
}
