//! The links and images of a page: absolute, in order, once each.

use html::address::{Base, scheme_of};
use html::dom::{Attr, Dom, Tag};
use html::image;
use std::collections::HashSet;

/// More links than this on one page are a trap.
const MAX_LINKS: usize = 50_000;

/// A link as a crawler needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The absolute address.
    pub url: String,
    /// What the page calls it, white space collapsed, at most a few hundred bytes.
    pub text: String,
    /// The page asks not to follow it.
    pub nofollow: bool,
}

/// All links of a page. References within the page itself are not links.
pub fn find_links(dom: &Dom, base: &Base) -> Vec<Link> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for id in dom.subtree(dom.root()).filter(|&id| matches!(dom.tag(id), Tag::A | Tag::Area)) {
        let Some(href) = dom.attr(id, Attr::Href).filter(|href| !href.trim_start().starts_with('#')) else {
            continue;
        };
        let Some(url) = base.resolve(href) else { continue };
        if matches!(scheme_of(&url), Some("data")) || !seen.insert(url.to_string()) {
            continue;
        }
        let mut text = String::new();
        for node in dom.descendants(id) {
            if text.len() > 300 {
                break;
            }
            for word in dom.text(node).split_whitespace() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
            }
        }
        text.truncate(text.floor_char_boundary(400));
        let nofollow = dom.attr(id, Attr::Rel).is_some_and(|rel| {
            rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("nofollow"))
        });
        found.push(Link { url: url.into_owned(), text, nofollow });
        if found.len() == MAX_LINKS {
            break;
        }
    }
    found
}

/// Addresses of all images: those shown, and those the page offers for previews.
pub fn find_images(dom: &Dom, base: &Base) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |written: Option<&str>| {
        if let Some(written) = written.filter(|written| !written.starts_with("data:"))
            && let Some(url) = base.resolve(written)
            && found.len() < MAX_LINKS
            && seen.insert(url.to_string())
        {
            found.push(url.into_owned());
        }
    };
    for id in dom.subtree(dom.root()).filter(|&id| dom.is_element(id)) {
        match dom.tag(id) {
            Tag::Img if !image::is_pixel(dom, id) => add(image::best_source(dom, id)),
            Tag::Video => add(dom.attr_named(id, "poster")),
            Tag::Meta => {
                let name =
                    dom.attr(id, Attr::Property).or_else(|| dom.attr(id, Attr::Name)).unwrap_or_default();
                if matches!(name, "og:image" | "og:image:url" | "twitter:image" | "twitter:image:src") {
                    add(dom.attr(id, Attr::Content));
                }
            }
            Tag::Link => {
                if dom.attr(id, Attr::Rel).is_some_and(|rel| rel.eq_ignore_ascii_case("image_src")) {
                    add(dom.attr(id, Attr::Href));
                }
            }
            _ => {
                if let Some(style) = dom.attr(id, Attr::Style) {
                    add(background(style));
                }
            }
        }
    }
    found
}

/// The address of a background image in a style attribute.
fn background(style: &str) -> Option<&str> {
    let (before, rest) = style.split_once("url(")?;
    if !before.contains("background") {
        return None;
    }
    let address = rest.split(')').next()?.trim().trim_matches(['"', '\'']);
    (!address.is_empty()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::Limits;
    use url::Url;

    #[test]
    fn in_order_and_once() {
        let html = "<meta property=og:image content=/o.png><a href=/b>B  b</a><a href='/a' rel='nofollow x'>A</a>\
                    <a href=/b>again</a><a href='#top'>t</a><a href='javascript:x'>j</a><a href=mailto:x@y.z>m</a>\
                    <img src=i.png srcset='j.png 2x'><div style=\"background-image: url('/bg.jpg')\"></div><img src=i.png>";
        let dom = Dom::parse(html, &Limits::default());
        let base = Base::from_dom(&dom, Url::parse("https://ex.org/p/").ok().as_ref());
        let links = find_links(&dom, &base);
        let urls: Vec<&str> = links.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(urls, ["https://ex.org/b", "https://ex.org/a", "mailto:x@y.z"]);
        assert_eq!(links[0].text, "B b");
        assert!(links[1].nofollow && !links[0].nofollow);
        assert_eq!(
            find_images(&dom, &base),
            [
                "https://ex.org/o.png",
                "https://ex.org/p/j.png",
                "https://ex.org/bg.jpg",
                "https://ex.org/p/i.png"
            ]
        );
    }
}
