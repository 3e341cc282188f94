//! Hash routes: pages that scripts show for one document, told apart by its fragment (`#/notes/HTTP`,
//! `#!/about`).
//!
//! Fragments are places in a page otherwise, so an address has a hash route only where its caller knows that the
//! page comes from scripts ([`PageUrl::from_url_with_hash_route`]).

use super::{MAX_URL_BYTES, PageUrl, PageUrlError, UrlEquivalence};
use url::Url;

/// The hash route of an address that has one. That of the front page is none: the address without a fragment
/// shows the same.
pub fn find_hash_route(url: &Url) -> Option<&str> {
    let fragment = url.fragment()?;
    let path = fragment.strip_prefix('!').unwrap_or(fragment);
    (path.starts_with('/') && path.len() > 1).then_some(fragment)
}

impl PageUrl {
    /// The same as [`PageUrl::from_url`], but a hash route is part of the address to fetch and of the key.
    pub fn from_url_with_hash_route(url: Url, equivalence: UrlEquivalence) -> Result<Self, PageUrlError> {
        let route = find_hash_route(&url).map(str::to_owned);
        let mut page = Self::from_url(url, equivalence)?;
        let Some(route) = route else { return Ok(page) };
        page.url.set_fragment(Some(&route));
        if page.url.as_str().len() > MAX_URL_BYTES {
            return Err(PageUrlError::TooLong);
        }
        page.key.push('#');
        page.key.push_str(if equivalence.similar { route.trim_end_matches('/') } else { &route });
        Ok(page)
    }

    /// The same for a text.
    pub fn parse_with_hash_route(text: &str, equivalence: UrlEquivalence) -> Result<Self, PageUrlError> {
        if text.len() > MAX_URL_BYTES {
            return Err(PageUrlError::TooLong);
        }
        let url = Url::parse(text.trim()).map_err(|_| PageUrlError::Malformed)?;
        Self::from_url_with_hash_route(url, equivalence)
    }

    /// The document that shows this page: its address without a hash route.
    pub fn document(&self, equivalence: UrlEquivalence) -> Result<Self, PageUrlError> {
        Self::from_url(self.url.clone(), equivalence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMILAR: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: true };

    fn page(text: &str) -> PageUrl {
        PageUrl::parse_with_hash_route(text, SIMILAR).unwrap()
    }

    #[test]
    fn routes_are_pages_of_their_own() {
        let notes = page("https://example.com/docs/?utm_source=x#/notes/HTTP");
        assert_eq!(notes.url().as_str(), "https://example.com/docs/#/notes/HTTP");
        assert_ne!(notes.key(), page("https://example.com/docs/#/notes/TCP").key());
        assert_ne!(notes.key(), page("https://example.com/docs/").key());
        assert_eq!(notes.key(), page("http://www.example.com/docs#/notes/HTTP/").key());
        assert_eq!(page("https://example.com/#!/about").url().as_str(), "https://example.com/#!/about");
        let document = notes.document(SIMILAR).unwrap();
        assert_eq!(document.key(), page("https://example.com/docs/").key());
    }

    #[test]
    fn other_fragments_are_places_in_a_page() {
        for text in [
            "https://example.com/#top",
            "https://example.com/#/",
            "https://example.com/#!/",
            "https://example.com/#!",
        ] {
            let found = page(text);
            assert_eq!(found.url().as_str(), "https://example.com/", "{text}");
            assert_eq!(found, page("https://example.com/"), "{text}");
        }
        let long = format!("https://example.com/#/{}", "a".repeat(MAX_URL_BYTES));
        assert_eq!(PageUrl::parse_with_hash_route(&long, SIMILAR), Err(PageUrlError::TooLong));
    }
}
