//! The real URL of an image, with lazy loading, `srcset`, `picture` and `noscript`.

use crate::dom::{Attr, Dom, NodeId, Tag};

/// Attributes in which lazy loaders keep the real URL, most reliable first.
const LAZY_SOURCES: [Attr; 3] = [Attr::DataSrc, Attr::DataLazySrc, Attr::DataOriginal];
const SRCSET_ATTRIBUTES: [Attr; 3] = [Attr::Srcset, Attr::DataSrcset, Attr::DataLazySrcset];

/// The best URL of an `img`, as written: the largest of its `srcset`, else a lazy loader's, else its `src`.
pub fn best_source(dom: &Dom, id: NodeId) -> Option<&str> {
    let set = SRCSET_ATTRIBUTES.into_iter().find_map(|name| largest_in_srcset(dom.attr(id, name)?));
    let lazy =
        LAZY_SOURCES.into_iter().filter_map(|name| dom.attr(id, name)).find(|address| is_address(address));
    let own = dom.attr(id, Attr::Src).map(str::trim).filter(|address| !address.is_empty());
    let real = own.filter(|address| is_address(address));
    set.or(lazy).or(real).or_else(|| picture_source(dom, id)).or(own)
}

/// Whether a URL is not empty and not a placeholder.
fn is_address(address: &str) -> bool {
    let address = address.trim();
    !address.is_empty()
        && !address.starts_with("data:")
        && !address.starts_with("about:")
        && !address.starts_with('{')
}

fn picture_source(dom: &Dom, id: NodeId) -> Option<&str> {
    let parent = dom.parent(id).filter(|&parent| dom.tag(parent) == Tag::Picture)?;
    dom.children(parent).filter(|&child| dom.tag(child) == Tag::Source).find_map(|child| {
        SRCSET_ATTRIBUTES.into_iter().find_map(|name| largest_in_srcset(dom.attr(child, name)?))
    })
}

/// The largest candidate of a `srcset`, by width or density; the first of equals.
pub fn largest_in_srcset(set: &str) -> Option<&str> {
    let mut best: Option<(&str, f64)> = None;
    for (address, descriptor) in candidates(set) {
        let size = match descriptor.split_at_checked(descriptor.len().saturating_sub(1)) {
            // A width always outranks a density: mixed sets are invalid, but exist.
            Some((number, "w")) => number.parse::<f64>().map_or(0.0, |width| width + 1000.0),
            Some((number, "x")) => number.parse().unwrap_or(1.0),
            _ => 1.0,
        };
        if is_address(address) && best.is_none_or(|(_, most)| size > most) {
            best = Some((address, size));
        }
    }
    best.map(|(address, _)| address)
}

/// URLs and descriptors of a `srcset`. A comma ends a candidate only before white space or after a
/// descriptor, since URLs may contain commas.
fn candidates(set: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = set;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (address, tail) = rest.split_at(end);
        if address.ends_with(',') {
            rest = tail;
            return Some((address.trim_end_matches(','), ""));
        }
        let end = tail.find(',').unwrap_or(tail.len());
        let (descriptor, tail) = tail.split_at(end);
        rest = tail;
        Some((address, descriptor.trim().split_ascii_whitespace().next().unwrap_or_default()))
    })
}

/// A tracking pixel or spacer.
pub fn is_pixel(dom: &Dom, id: NodeId) -> bool {
    let tiny =
        |name| dom.attr(id, name).is_some_and(|size| matches!(size.trim().trim_end_matches("px"), "0" | "1"));
    tiny(Attr::Width) && tiny(Attr::Height)
}

/// Whether a `noscript` has the real image for a lazy one before it without a URL.
pub fn is_lazy_fallback(dom: &Dom, noscript: NodeId) -> bool {
    if !dom.descendants(noscript).take(16).any(|node| dom.tag(node) == Tag::Img) {
        return false;
    }
    let mut before = dom.prev_sibling(noscript);
    while let Some(node) = before {
        match dom.tag(node) {
            Tag::Text if dom.text(node).trim().is_empty() => before = dom.prev_sibling(node),
            Tag::Img => return best_source(dom, node).is_none_or(|address| address.starts_with("data:")),
            _ => break,
        }
    }
    true
}

/// The TeX of an image that is a rendered formula, and whether it is displayed as a block.
pub fn formula_tex(dom: &Dom, id: NodeId) -> Option<(&str, bool)> {
    let display = dom.attr(id, Attr::Class)?.split_ascii_whitespace().find_map(|name| match name {
        "latex" | "tex" | "math" | "mwe-math-fallback-image-inline" => Some(false),
        "mwe-math-fallback-image-display" => Some(true),
        _ => None,
    })?;
    let alt = dom.attr(id, Attr::Alt)?.trim();
    (!alt.is_empty()).then_some((alt, display))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Limits;

    fn first(html: &str) -> Option<String> {
        let dom = Dom::parse(html, &Limits::default());
        let id = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::Img)?;
        best_source(&dom, id).map(str::to_owned)
    }

    #[test]
    fn sets_by_size() {
        assert_eq!(largest_in_srcset("a.jpg 320w, b.jpg 1024w, c.jpg 640w"), Some("b.jpg"));
        assert_eq!(largest_in_srcset("a.jpg, b.jpg 2x"), Some("b.jpg"));
        assert_eq!(
            largest_in_srcset("w_300,h_200/a.jpg 300w, w_600,h_400/a.jpg 600w"),
            Some("w_600,h_400/a.jpg")
        );
        assert_eq!(largest_in_srcset("data:image/gif;base64,AA== 1w, x.png 2w"), Some("x.png"));
        assert_eq!(largest_in_srcset(" , ,"), None);
    }

    #[test]
    fn where_the_real_address_is() {
        for (html, expected) in [
            ("<img src=a.png>", "a.png"),
            ("<img src='data:image/gif;base64,x' data-src=b.png>", "b.png"),
            ("<img src=small.png srcset='s.png 1x, l.png 2x'>", "l.png"),
            ("<picture><source srcset='w.webp 800w'><img src='data:x'></picture>", "w.webp"),
            ("<img src='data:image/png;base64,abc'>", "data:image/png;base64,abc"),
        ] {
            assert_eq!(first(html).as_deref(), Some(expected), "{html}");
        }
        assert_eq!(first("<img alt=x>"), None);
    }
}
