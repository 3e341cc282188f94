//! Writes selected nodes as clean HTML: no scripts, styles or handlers, absolute URLs, best image sources.
//!
//! The output is for programs; it keeps structure and meaningful attributes.

use crate::NodeSet;
use crate::address::Base;
use crate::dom::{Dom, NodeId, Tag};
use crate::image;

/// Writes the kept nodes of a page as HTML.
pub fn write_html(dom: &Dom, keep: &NodeSet, base: &Base) -> String {
    let mut out = String::with_capacity(16 << 10);
    let Some(body) = dom.body() else { return out };
    let mut open: Vec<NodeId> = Vec::new();
    let mut at = NodeId(body.0 + 1);
    let end = dom.subtree_end(body);
    while at < end {
        budget::spend(1);
        while open.last().is_some_and(|&last| dom.subtree_end(last) <= at) {
            close(dom, open.pop(), &mut out);
        }
        if dom.is_text(at) {
            if keep.contains(at) {
                budget::spend_on_text(dom.text_len(at));
                escape(dom.text(at), false, &mut out);
            }
            at.0 += 1;
            continue;
        }
        if !keep.reaches(dom, at)
            || matches!(dom.tag(at), Tag::Script | Tag::Style | Tag::Template | Tag::Link | Tag::Meta)
        {
            at = dom.subtree_end(at);
            continue;
        }
        out.push('<');
        out.push_str(dom.local_name(at));
        attributes(dom, at, base, &mut out);
        out.push('>');
        if is_void(dom.tag(at)) {
            at = dom.subtree_end(at);
        } else {
            open.push(at);
            at.0 += 1;
        }
    }
    while let Some(last) = open.pop() {
        close(dom, Some(last), &mut out);
    }
    out
}

fn close(dom: &Dom, id: Option<NodeId>, out: &mut String) {
    if let Some(id) = id {
        out.push_str("</");
        out.push_str(dom.local_name(id));
        out.push('>');
    }
}

fn attributes(dom: &Dom, id: NodeId, base: &Base, out: &mut String) {
    let is_image = dom.tag(id) == Tag::Img;
    if is_image && let Some(source) = image::best_source(dom, id) {
        let address = if source.starts_with("data:") { Some(source.into()) } else { base.resolve(source) };
        if let Some(address) = address {
            attribute("src", &address, out);
        }
    }
    for (name, value) in dom.attrs(id) {
        let dropped = name.starts_with("on")
            || matches!(name, "style" | "nonce" | "integrity" | "srcset" | "sizes" | "loading")
            || name.starts_with("data-") && !matches!(name, "data-lang" | "data-language")
            || (is_image && name == "src")
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte));
        if dropped {
            continue;
        }
        if matches!(name, "href" | "src" | "poster" | "action" | "cite" | "longdesc" | "formaction") {
            if let Some(address) = base.resolve(value) {
                attribute(name, &address, out);
            }
        } else {
            attribute(name, value, out);
        }
    }
}

fn attribute(name: &str, value: &str, out: &mut String) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape(value, true, out);
    out.push('"');
}

fn escape(text: &str, in_attribute: bool, out: &mut String) {
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' if !in_attribute => "&gt;",
            b'"' if in_attribute => "&quot;",
            _ => continue,
        };
        out.push_str(&text[copied..at]);
        out.push_str(entity);
        copied = at + 1;
    }
    out.push_str(&text[copied..]);
}

fn is_void(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Area
            | Tag::Base
            | Tag::Br
            | Tag::Col
            | Tag::Embed
            | Tag::Frame
            | Tag::Hr
            | Tag::Img
            | Tag::Input
            | Tag::Link
            | Tag::Meta
            | Tag::Param
            | Tag::Source
            | Tag::Track
            | Tag::Wbr
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Limits;
    use crate::visible::visible_nodes;
    use url::Url;

    #[test]
    fn clean_and_absolute() {
        let html = "<head><title>T</title></head><p onclick=x style='c' class=k>a &lt; b &amp; <a href=/x title='q\"'>l</a>\
                    <img src=s.png srcset='l.png 2x' alt=A><script>z</script><br></p><p hidden>h</p>";
        let dom = Dom::parse(html, &Limits::default());
        let base = Base::from_dom(&dom, Url::parse("https://ex.org/").ok().as_ref());
        assert_eq!(
            write_html(&dom, &visible_nodes(&dom), &base),
            "<p class=\"k\">a &lt; b &amp; <a href=\"https://ex.org/x\" title=\"q&quot;\">l</a>\
             <img src=\"https://ex.org/l.png\" alt=\"A\"><br></p>"
        );
    }
}
