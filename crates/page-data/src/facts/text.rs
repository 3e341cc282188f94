//! Plain text of nodes and of values, in one line and of bounded length.

use html::NodeSet;
use html::dom::{Dom, NodeId, Tag};

/// Text in one line, at most `longest` bytes of it.
pub(crate) fn line(text: &str, max_bytes: usize) -> String {
    let mut line = String::new();
    push_words(&mut line, text, max_bytes);
    line
}

fn push_words(line: &mut String, text: &str, max_bytes: usize) {
    for word in text.split_whitespace() {
        if line.len() + word.len() >= max_bytes {
            let room = word.floor_char_boundary(max_bytes.saturating_sub(line.len() + 1));
            // A single word that is too long is cut; a word after others is left out.
            if line.is_empty() {
                line.push_str(&word[..room]);
            }
            return;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
}

/// The text below a node in one line; a block begins a new word. With a set, only its members are read.
pub(crate) fn of_node(dom: &Dom, id: NodeId, among: Option<&NodeSet>, max_bytes: usize) -> String {
    let mut raw = String::new();
    // Empty elements cost steps too.
    for node in dom.subtree(id).take(max_bytes.saturating_mul(8) + 1_000) {
        if dom.is_text(node) {
            if among.is_none_or(|set| set.contains(node)) {
                raw.push_str(dom.text(node));
            }
        } else if !is_inline(dom.tag(node)) {
            raw.push(' ');
        }
        if raw.len() > max_bytes.saturating_mul(4) {
            break;
        }
    }
    line(&raw, max_bytes)
}

/// Elements that do not separate words.
pub(crate) fn is_inline(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::A
            | Tag::Abbr
            | Tag::B
            | Tag::Bdi
            | Tag::Bdo
            | Tag::Big
            | Tag::Cite
            | Tag::Code
            | Tag::Data
            | Tag::Del
            | Tag::Dfn
            | Tag::Em
            | Tag::Font
            | Tag::I
            | Tag::Ins
            | Tag::Kbd
            | Tag::Label
            | Tag::Mark
            | Tag::Nobr
            | Tag::Q
            | Tag::S
            | Tag::Samp
            | Tag::Small
            | Tag::Span
            | Tag::Strike
            | Tag::Strong
            | Tag::Sub
            | Tag::Sup
            | Tag::Time
            | Tag::Tt
            | Tag::U
            | Tag::Var
            | Tag::Wbr
            | Tag::Other
    )
}

/// A value as plain text: descriptions in JSON-LD often contain markup and entities.
pub(crate) fn plain_text(text: &str, max_bytes: usize) -> String {
    if !text.contains(['<', '&']) {
        return line(text, max_bytes);
    }
    let text = &text[..text.floor_char_boundary(max_bytes.saturating_mul(4))];
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        bare.push_str(&rest[..at]);
        rest = &rest[at..];
        let after = &rest[1..];
        if rest.starts_with('<') {
            let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
            if let Some(end) = after.find('>').filter(|_| is_tag) {
                bare.push(' ');
                rest = &after[end + 1..];
            } else {
                bare.push('<');
                rest = after;
            }
        } else if let Some((name, decoded)) = ENTITIES.iter().find(|(name, _)| after.starts_with(name)) {
            bare.push(*decoded);
            rest = &after[name.len()..];
        } else {
            bare.push('&');
            rest = after;
        }
    }
    bare.push_str(rest);
    line(&bare, max_bytes)
}

const ENTITIES: &[(&str, char)] = &[
    ("amp;", '&'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("quot;", '"'),
    ("apos;", '\''),
    ("#39;", '\''),
    ("#039;", '\''),
    ("nbsp;", ' '),
    ("#8217;", '’'),
    ("#8211;", '–'),
];

/// Whether a class attribute, id or name has a part with this word: `add-to-cart` and `addToCart` have
/// "cart", `cartography` has not.
pub(crate) fn has_part(names: &str, words: &[&str]) -> bool {
    let mut rest = names;
    while !rest.is_empty() {
        let start = rest.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        rest = &rest[start..];
        let end = rest
            .char_indices()
            .skip(1)
            .find(|&(at, c)| {
                !c.is_ascii_alphanumeric()
                    || (c.is_ascii_uppercase() && rest.as_bytes()[at - 1].is_ascii_lowercase())
            })
            .map_or(rest.len(), |(at, _)| at);
        if words.iter().any(|word| rest[..end].eq_ignore_ascii_case(word)) {
            return true;
        }
        rest = &rest[end..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_of_values() {
        assert_eq!(plain_text("<p>Soft &amp; warm.</p><p>5 < 6 &co</p>", 100), "Soft & warm. 5 < 6 &co");
        assert_eq!(line("  a \n b  ", 100), "a b");
        assert_eq!(line("aaa bbb ccc", 8), "aaa bbb");
        assert_eq!(line("ääääää", 5), "ää");
    }

    #[test]
    fn parts_of_names() {
        assert!(has_part("btn add-to-cart", &["cart"]) && has_part("addToCart", &["cart"]));
        assert!(
            !has_part("cartography", &["cart"]) && !has_part("", &["cart"]) && !has_part("é é", &["cart"])
        );
    }
}
