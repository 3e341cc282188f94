//! Finds the visible nodes of a page.
//!
//! Hidden are scripts, styles, closed dialogs, form options, and what the page itself marks as hidden. Which
//! visible nodes are main content is decided by `select`.

use crate::NodeSet;
use crate::dom::{Attr, Dom, NodeId, Tag};

/// Short text with `aria-hidden` is decoration; longer text is usually the page behind a dialog.
const MAX_DECORATION_BYTES: usize = 160;

/// The visible nodes of a page.
pub fn visible_nodes(dom: &Dom) -> NodeSet {
    let mut set = NodeSet::new(dom);
    let Some(body) = dom.body() else { return set };
    set.insert_subtree(dom, body);
    let mut at = body;
    let end = dom.subtree_end(body);
    while at < end {
        budget::spend(1);
        if dom.is_element(at) && is_hidden(dom, at) {
            set.remove_subtree(dom, at);
            at = dom.subtree_end(at);
        } else {
            at.0 += 1;
        }
    }
    set
}

/// Whether an element hides everything in it.
pub fn is_hidden(dom: &Dom, id: NodeId) -> bool {
    match dom.tag(id) {
        Tag::Style
        | Tag::Template
        | Tag::Head
        | Tag::Svg
        | Tag::Canvas
        | Tag::Iframe
        | Tag::Object
        | Tag::Embed
        | Tag::Select
        | Tag::Datalist
        | Tag::Textarea
        | Tag::Noframes => return true,
        // Scripts may contain formulas, which the writer uses.
        Tag::Script => return dom.attr(id, Attr::Type).is_none_or(|kind| !kind.starts_with("math/tex")),
        Tag::Noscript => return !crate::image::is_lazy_fallback(dom, id),
        Tag::Dialog => return !dom.has_attr(id, Attr::Open),
        Tag::Body | Tag::Html | Tag::Br => return false,
        _ => {}
    }
    for (name, value) in dom.attrs(id) {
        match name {
            "hidden" if value != "until-found" => return true,
            "style" if hides(value) => return true,
            "aria-hidden" if value == "true" && is_decoration(dom, id) => return true,
            _ => {}
        }
    }
    false
}

fn is_decoration(dom: &Dom, id: NodeId) -> bool {
    if dom.tag(id) == Tag::Img {
        return false;
    }
    let mut text = 0;
    for node in dom.descendants(id) {
        text += dom.text_len(node);
        if text > MAX_DECORATION_BYTES {
            return dom.attr(id, Attr::Class).is_some_and(|class| class.contains("katex"));
        }
        if dom.tag(node) == Tag::Img {
            return false;
        }
    }
    true
}

/// `display: none` or `visibility: hidden` in a style attribute.
fn hides(style: &str) -> bool {
    style.split(';').any(|rule| {
        let Some((property, value)) = rule.split_once(':') else { return false };
        let value = value.trim().trim_end_matches("!important").trim_end();
        (property.trim().eq_ignore_ascii_case("display") && value.eq_ignore_ascii_case("none"))
            || (property.trim().eq_ignore_ascii_case("visibility") && value.eq_ignore_ascii_case("hidden"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Limits;

    #[test]
    fn what_the_reader_sees() {
        let html = "<p>a<script>b</script><span hidden>c</span><span style='color:red; DISPLAY : none !important'>d</span>\
                    <i aria-hidden=true>e</i><template>f</template><select><option>g</select><dialog>h</dialog>\
                    <dialog open>i</dialog><noscript>j</noscript><svg><text>k</text></svg><p style='visibility:hidden'>l\
                    <div hidden=until-found>m</div>";
        let dom = Dom::parse(html, &Limits::default());
        let set = visible_nodes(&dom);
        let seen: String = set.iter().map(|id| dom.text(id)).collect();
        assert_eq!(seen.split_whitespace().collect::<String>(), "aim");
        let long = format!("<div aria-hidden=true>{}</div>", "page behind a dialog ".repeat(20));
        let dom = Dom::parse(&long, &Limits::default());
        assert!(visible_nodes(&dom).iter().any(|id| dom.is_text(id)));
    }
}
