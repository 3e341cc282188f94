//! Links that are furniture of what they stand in: permalinks of headings and signatures, links to the source
//! code or to an editor.

use html::dom::{Attr, Dom, NodeId, Tag};

/// Furniture says no more than this.
const MAX_TEXT_BYTES: usize = 40;
const MAX_NODES: usize = 12;

/// Whether a link is furniture. `in_title` says that it stands in a heading, a defined term or a caption,
/// which have a text of their own.
pub(super) fn is_furniture(dom: &Dom, id: NodeId, in_title: bool) -> bool {
    let mut text = String::new();
    for node in dom.descendants(id).take(MAX_NODES) {
        if dom.tag(node) == Tag::Img {
            return false;
        }
        text.push_str(dom.text(node));
        if text.len() > MAX_TEXT_BYTES {
            return false;
        }
    }
    let text = text.trim().trim_matches(['\u{200b}', '\u{feff}', '\u{fe0f}']);
    if text.is_empty() {
        return in_title;
    }
    let class = dom.attr(id, Attr::Class).unwrap_or_default();
    let mut signs = text.chars();
    if let (Some(sign), None) = (signs.next(), signs.next())
        && is_permalink_sign(sign)
    {
        let within = dom.attr(id, Attr::Href).is_some_and(|href| href.contains('#'));
        return in_title || (within && (matches!(sign, '¶' | '🔗' | '⚓') || names_permalink(class)));
    }
    if in_title && names_permalink(class) && is_permalink_text(text) {
        return true;
    }
    is_source_link(dom, id, text, class, in_title)
}

/// Icon fonts draw their signs at code points for private use.
fn is_permalink_sign(sign: char) -> bool {
    "#¶§🔗⚓∞†☍".contains(sign) || ('\u{e000}'..='\u{f8ff}').contains(&sign)
}

fn names_permalink(class: &str) -> bool {
    ["headerlink", "permalink", "anchor", "hash-link", "heading-link", "id_link", "selflink"]
        .iter()
        .any(|part| class.contains(part))
}

fn is_permalink_text(text: &str) -> bool {
    ["link", "permalink", "permanent link", "anchor", "link to this heading", "link to this section"]
        .iter()
        .any(|known| text.eq_ignore_ascii_case(known))
}

/// "[source]" beside a signature, "[edit]" beside a heading.
fn is_source_link(dom: &Dom, id: NodeId, text: &str, class: &str, in_title: bool) -> bool {
    let word = text.trim_matches(['[', ']', '(', ')']).trim();
    let known = ["source", "src", "view source", "source code", "docs", "edit", "edit source"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known));
    if !known {
        return false;
    }
    let names_source = |class: &str| {
        class.split_ascii_whitespace().any(|name| {
            matches!(
                name,
                "src" | "srclink" | "viewcode-link" | "viewcode-back" | "source-link" | "edit-link"
            )
        })
    };
    // Documentation tools mark the link itself or the one element in it.
    let inner = dom.first_child(id).and_then(|child| dom.attr(child, Attr::Class)).unwrap_or_default();
    names_source(class) || names_source(inner) || (in_title && text.starts_with('['))
}
