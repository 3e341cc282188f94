//! The links and images of a page: absolute, in order, once each.

use html::address::{Base, scheme_of};
use html::dom::{Attr, Dom, NodeId, Tag};
use html::image;
use std::borrow::Cow;
use std::collections::HashSet;
use url::form_urlencoded;

/// More links than this on one page are a trap.
const MAX_LINKS: usize = 50_000;
/// Nodes of a custom element that are searched for a link of its own.
const MAX_CUSTOM_LINK_NODES: usize = 200;

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

/// All links of a page. References within the page itself are not links, but those that scripts show another
/// page for (`#/settings`, `#!/about`) are.
pub fn find_links(dom: &Dom, base: &Base) -> Vec<Link> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut anchors = Anchors::default();
    for id in dom.subtree(dom.root()).filter(|&id| is_link(dom, id)) {
        let Some(href) = dom.attr(id, Attr::Href).filter(|href| !leads_within(href)) else { continue };
        let href = anchors.cut_off(dom, href);
        let Some(url) = base.resolve(&href) else { continue };
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

fn is_link(dom: &Dom, id: NodeId) -> bool {
    match dom.tag(id) {
        Tag::A | Tag::Area => true,
        Tag::Other => is_custom_link(dom, id),
        _ => false,
    }
}

/// Whether a custom element is a link: it has an address, and no link in it.
pub(crate) fn is_custom_link(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Other
        && dom.has_attr(id, Attr::Href)
        && dom.local_name(id).contains('-')
        && !dom.descendants(id).take(MAX_CUSTOM_LINK_NODES).any(|node| dom.tag(node) == Tag::A)
}

/// Whether a reference leads to a place in the page itself.
fn leads_within(href: &str) -> bool {
    href.trim_start()
        .strip_prefix('#')
        .is_some_and(|place| !place.starts_with('/') && !place.starts_with("!/"))
}

/// The ids of a page's elements, read when they are first needed.
#[derive(Default)]
struct Anchors<'a> {
    ids: Option<HashSet<&'a str>>,
}

impl<'a> Anchors<'a> {
    /// A reference to a route without the place in the page that some scripts write behind it
    /// (`#/notes/HTTP?id=methods`), where this page has that place.
    fn cut_off<'h>(&mut self, dom: &'a Dom, href: &'h str) -> Cow<'h, str> {
        let Some((before, fragment)) = href.split_once('#') else { return Cow::Borrowed(href) };
        let Some((route, id)) = fragment.split_once("?id=") else { return Cow::Borrowed(href) };
        if !(route.starts_with('/') || route.starts_with("!/")) || id.contains('&') {
            return Cow::Borrowed(href);
        }
        let decoded = form_urlencoded::parse(id.as_bytes()).next().map(|(name, _)| name).unwrap_or_default();
        let ids = self.ids.get_or_insert_with(|| {
            dom.subtree(dom.root()).filter_map(|node| dom.attr(node, Attr::Id)).take(MAX_LINKS).collect()
        });
        if ids.contains(&*decoded) { Cow::Owned(format!("{before}#{route}")) } else { Cow::Borrowed(href) }
    }
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

    #[test]
    fn routes_of_scripts_and_custom_elements_are_links() {
        let html = "<h2 id='what-is-http'>HTTP</h2><a href='#/notes/HTTP'>1</a><a href='#!/about'>2</a><a href='#top'>3</a>\
                    <a href='#/notes/HTTP?id=what-is-http'>4</a><a href='#/item?id=77'>5</a><x-link href=/x>6</x-link>\
                    <x-card href=/card><a href=/inner>7</a></x-card><custom href=/no>8</custom>";
        let dom = Dom::parse(html, &Limits::default());
        let base = Base::from_dom(&dom, Url::parse("https://ex.org/docs/#/notes/TCP").ok().as_ref());
        let links = find_links(&dom, &base);
        let urls: Vec<&str> = links.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(
            urls,
            [
                "https://ex.org/docs/#/notes/HTTP",
                "https://ex.org/docs/#!/about",
                "https://ex.org/docs/#/item?id=77",
                "https://ex.org/x",
                "https://ex.org/inner"
            ]
        );
    }
}
