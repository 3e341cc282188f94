//! Makes the URLs on a page absolute.
//!
//! Resolves them against `<base>` and the page's own URL. Never fetches and does not check whether a URL is
//! safe.

use crate::dom::{Attr, Dom, Tag};
use std::borrow::Cow;
use url::Url;

/// Longer URLs are data, traps or mistakes.
const MAX_URL_BYTES: usize = 8 << 10;

/// Budget steps of resolving one URL.
const STEPS_PER_ADDRESS: u64 = 16;

/// The base of relative URLs on one page.
#[derive(Clone, Debug)]
pub struct Base {
    url: Option<Url>,
    /// Scheme, host and port, for use before an absolute path.
    origin: String,
}

impl Base {
    /// The base of a page: its `<base href>` if it has one, resolved against the page's URL.
    pub fn from_dom(dom: &Dom, page: Option<&Url>) -> Self {
        let declared = dom
            .head()
            .into_iter()
            .flat_map(|head| dom.descendants(head))
            .find(|&id| dom.tag(id) == Tag::Base && dom.has_attr(id, Attr::Href))
            .and_then(|id| dom.attr(id, Attr::Href));
        let url = match (declared, page) {
            (Some(href), Some(page)) => page.join(href.trim()).ok().or_else(|| Some(page.clone())),
            (Some(href), None) => Url::parse(href.trim()).ok(),
            (None, page) => page.cloned(),
        };
        let url = url.filter(|url| !url.cannot_be_a_base());
        let origin = url.as_ref().map_or_else(String::new, |url| url[..url::Position::BeforePath].to_owned());
        Self { url, origin }
    }

    /// Makes a URL absolute. `None` for URLs that lead nowhere: empty, script, too long, invalid.
    /// Without a base, relative URLs stay unchanged.
    pub fn resolve<'a>(&self, written: &'a str) -> Option<Cow<'a, str>> {
        let written = written.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control());
        if written.is_empty() || written.len() > MAX_URL_BYTES {
            return None;
        }
        budget::spend(STEPS_PER_ADDRESS);
        let simple = written.bytes().all(is_plain);
        if simple && (has_prefix(written, "https://") || has_prefix(written, "http://")) {
            return Some(Cow::Borrowed(written));
        }
        let scheme = scheme_of(written);
        if scheme.is_some_and(|scheme| {
            ["javascript", "vbscript", "about", "blob"].iter().any(|bad| scheme.eq_ignore_ascii_case(bad))
        }) {
            return None;
        }
        let Some(base) = &self.url else { return Some(Cow::Borrowed(written)) };
        let rooted = written.starts_with('/') && !written.starts_with("//");
        if simple && rooted && !written.contains("/.") && !written.contains('\\') {
            return Some(Cow::Owned([&self.origin, written].concat()));
        }
        base.join(written).ok().map(|url| Cow::Owned(url.into()))
    }

    /// The base itself.
    pub fn url(&self) -> Option<&Url> {
        self.url.as_ref()
    }
}

/// Characters that parsing a URL leaves unchanged.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%|".contains(&byte)
}

fn has_prefix(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// The scheme of a URL, if it has one.
pub fn scheme_of(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let mut bytes = scheme.bytes();
    let sound = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    sound.then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Limits;

    fn base(html: &str) -> Base {
        Base::from_dom(
            &Dom::parse(html, &Limits::default()),
            Url::parse("https://ex.org/a/b.html?q#f").ok().as_ref(),
        )
    }

    #[test]
    fn relative_to_the_page() {
        let base = base("<p>");
        for (written, absolute) in [
            ("https://x.io", "https://x.io"),
            (" /c/d ", "https://ex.org/c/d"),
            ("e.html", "https://ex.org/a/e.html"),
            ("../e", "https://ex.org/e"),
            ("/x/../y", "https://ex.org/y"),
            ("//cdn.io/x", "https://cdn.io/x"),
            ("#top", "https://ex.org/a/b.html?q#top"),
            ("?p=2", "https://ex.org/a/b.html?p=2"),
            ("/sp ace", "https://ex.org/sp%20ace"),
            ("/grüße", "https://ex.org/gr%C3%BC%C3%9Fe"),
            ("mailto:a@b.c", "mailto:a@b.c"),
            ("HTTPS://X.io/A\n", "HTTPS://X.io/A"),
        ] {
            assert_eq!(base.resolve(written).as_deref(), Some(absolute), "{written}");
        }
        for nowhere in ["", "  ", "javascript:void(0)", "JavaScript:x", "about:blank", &"x".repeat(9000)] {
            assert_eq!(base.resolve(nowhere), None);
        }
    }

    #[test]
    fn base_element_wins() {
        let base = base("<head><base target=_top><base href='/docs/'></head>");
        assert_eq!(base.resolve("x").as_deref(), Some("https://ex.org/docs/x"));
        let none = Base::from_dom(&Dom::parse("", &Limits::default()), None);
        assert_eq!(none.resolve("x/y").as_deref(), Some("x/y"));
    }
}
