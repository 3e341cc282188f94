//! What a page says of itself in its head and in JSON-LD: its title, and whether it is a product's.
//!
//! JSON-LD is searched as text, not parsed: one key is wanted, and blocks that are not valid JSON have it too.

use super::title::Title;
use html::dom::{Attr, Dom, NodeId, Tag};

const MAX_BLOCKS: usize = 64;
const MAX_BLOCK_BYTES: usize = 1 << 20;
/// Types read from one block.
const MAX_TYPES: usize = 200;
/// Bytes of one list of types.
const MAX_TYPE_LIST_BYTES: usize = 300;

/// See the module.
#[derive(Debug, Default)]
pub struct Declared {
    pub title: Title,
    /// By Open Graph or JSON-LD.
    pub is_product: bool,
}

impl Declared {
    /// Reads the titles and types of the head and the JSON-LD of the whole page.
    pub fn from_dom(dom: &Dom) -> Self {
        let mut declared = Self::default();
        let body = dom.body().unwrap_or(NodeId(u32::MAX));
        let mut blocks = 0;
        for node in (0..dom.len()).filter_map(|at| u32::try_from(at).ok()).map(NodeId) {
            match dom.tag(node) {
                Tag::Title if node < body => declared.title.add(&dom.text_content(node)),
                Tag::Meta if node < body => declared.add_meta(dom, node),
                Tag::Script if blocks < MAX_BLOCKS && is_json_ld(dom, node) => {
                    blocks += 1;
                    declared.add_json_ld(&dom.text_content(node));
                }
                _ => {}
            }
        }
        declared
    }

    fn add_meta(&mut self, dom: &Dom, node: NodeId) {
        let name = dom.attr(node, Attr::Property).or_else(|| dom.attr(node, Attr::Name));
        let content = dom.attr(node, Attr::Content).unwrap_or_default();
        match name {
            Some("og:title" | "twitter:title") => self.title.add(content),
            Some("og:type") => self.is_product |= content.to_ascii_lowercase().contains("product"),
            _ => {}
        }
    }

    fn add_json_ld(&mut self, text: &str) {
        if text.len() > MAX_BLOCK_BYTES {
            return;
        }
        budget::spend_on_text(text.len());
        for value in values(text, "\"@type\"").take(MAX_TYPES) {
            let list = match value.strip_prefix('[') {
                Some(list) => {
                    let cut = list.floor_char_boundary(MAX_TYPE_LIST_BYTES);
                    list[..cut].split(']').next().unwrap_or_default()
                }
                None => value.strip_prefix('"').and_then(|name| name.split('"').next()).unwrap_or_default(),
            };
            let name =
                |name: &str| name.rsplit('/').next().is_some_and(|n| matches!(n, "Product" | "ProductGroup"));
            self.is_product |= list.split(['"', ',', ' ']).any(name);
        }
    }
}

fn is_json_ld(dom: &Dom, script: NodeId) -> bool {
    dom.attr(script, Attr::Type).is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
}

/// What follows each `key:` in the text.
fn values<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(key)
        .filter_map(move |(at, _)| text[at + key.len()..].trim_start().strip_prefix(':').map(str::trim_start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::Limits;

    fn is_product(html: &str) -> bool {
        Declared::from_dom(&Dom::parse(html, &Limits::default())).is_product
    }

    #[test]
    fn a_product_says_so_by_open_graph_or_by_json_ld_in_any_place() {
        assert!(is_product("<meta property=og:type content='og:product'><p>x"));
        let listed = "<p>x</p><script type='application/ld+json'>{\"@graph\": [{\"@type\" : [\"Thing\", \"Product\"]}]}</script>";
        assert!(is_product(listed));
        let cut = "<script type=application/ld+json>{\"@type\":\"https://schema.org/Product\"";
        assert!(is_product(cut), "cut short");
        assert!(!is_product("<script>{\"@type\":\"Product\"}</script>"), "another script");
        assert!(!is_product("<script type=application/ld+json>{\"@type\":\"NewsArticle\"}</script>"));
    }
}
