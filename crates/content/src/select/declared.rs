//! What a page says of itself in its head and in JSON-LD: its title, its kind, the text of its article.
//!
//! JSON-LD is searched as text, not parsed: two keys are wanted, and blocks that are not valid JSON have them
//! too. Nothing here is trusted; the model learns how much each statement is worth.

use super::title::Title;
use super::words::hash_words;
use html::dom::{Attr, Dom, NodeId, Tag};

const MAX_BLOCKS: usize = 64;
const MAX_BLOCK_BYTES: usize = 1 << 20;
const MAX_BODY_BYTES: usize = 300_000;
/// Types read from one block.
const MAX_TYPES: usize = 200;
/// Bytes of one list of types.
const MAX_TYPE_LIST_BYTES: usize = 300;
/// A shorter text is a teaser, not the article.
const MIN_BODY_WORDS: usize = 40;

/// Elements with such a class that are looked at: their texts may lie within each other.
const MAX_CLASS_TITLES: usize = 8;
/// A longer text is no title, whatever its class says.
const MAX_CLASS_TITLE_WORDS: usize = 15;

/// Bits of the set of word pairs.
const BITS: usize = 1 << 16;

/// See the module.
#[derive(Debug, Default)]
pub struct Declared {
    pub title: Title,
    /// What stands in for it on a page that states none. The model was not trained with it.
    title_by_class: Title,
    /// The kinds the page says it is of, as bits.
    pub kinds: u32,
    /// Pairs of neighbouring words of the article's text, with rare false positives; empty where the page
    /// gives no such text.
    body: Vec<u64>,
}

impl Declared {
    /// By Open Graph.
    pub const WEBSITE: u32 = 1;
    pub const OPEN_GRAPH_ARTICLE: u32 = 1 << 1;
    /// By JSON-LD, products by either.
    pub const ARTICLE: u32 = 1 << 2;
    pub const PRODUCT: u32 = 1 << 3;
    pub const FORUM: u32 = 1 << 4;
    pub const LIST: u32 = 1 << 5;

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
        if declared.title.words == 0
            && let Some(title) = title_by_class(dom, body)
        {
            declared.title_by_class.add(&title);
        }
        declared
    }

    /// The title as far as the page has one.
    pub fn any_title(&self) -> &Title {
        if self.title.words == 0 { &self.title_by_class } else { &self.title }
    }

    fn add_meta(&mut self, dom: &Dom, node: NodeId) {
        let name = dom.attr(node, Attr::Property).or_else(|| dom.attr(node, Attr::Name));
        let content = dom.attr(node, Attr::Content).unwrap_or_default();
        match name {
            Some("og:title" | "twitter:title") => self.title.add(content),
            Some("og:type") => self.kinds |= by_open_graph(content),
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
            for name in list.split(['"', ',', ' ']).filter(|name| !name.is_empty()) {
                self.kinds |= by_type(name);
            }
        }
        if self.body.is_empty()
            && let Some(body) = values(text, "\"articleBody\"").find_map(|value| value.strip_prefix('"'))
        {
            self.add_body(&json_text(body));
        }
    }

    fn add_body(&mut self, text: &str) {
        let mut hashes = Vec::new();
        hash_words(text, &mut hashes);
        if hashes.len() < MIN_BODY_WORDS {
            return;
        }
        self.body.resize(BITS / 64, 0);
        for pair in hashes.windows(2) {
            let at = slot(pair);
            self.body[at / 64] |= 1 << (at % 64);
        }
    }

    /// Share of the neighbouring words that also are neighbours in the article's text as the page gives it;
    /// -1 where it gives none.
    pub fn body_share(&self, hashes: &[u32]) -> f32 {
        if self.body.is_empty() {
            return -1.0;
        }
        let pairs = hashes.windows(2);
        let count = pairs.len();
        let known = pairs.filter(|pair| self.body[slot(pair) / 64] & (1 << (slot(pair) % 64)) != 0).count();
        if count == 0 { 0.0 } else { known as f32 / count as f32 }
    }
}

/// On a page with neither a `title` nor a main heading, as old pages that are put together by the server may be: the
/// first text whose class says that it is a title.
fn title_by_class(dom: &Dom, body: NodeId) -> Option<String> {
    let mut named = None;
    let mut candidates = 0;
    for node in (body.0..u32::try_from(dom.len()).unwrap_or(u32::MAX)).map(NodeId) {
        if matches!(dom.tag(node), Tag::H1 | Tag::H2) {
            return None;
        }
        let class = dom.attr(node, Attr::Class).unwrap_or_default();
        if named.is_none() && candidates < MAX_CLASS_TITLES && class.to_ascii_lowercase().contains("title") {
            candidates += 1;
            let text = dom.text_content(node);
            let words = text.split_whitespace().take(MAX_CLASS_TITLE_WORDS + 1).count();
            named = (1..=MAX_CLASS_TITLE_WORDS).contains(&words).then_some(text);
        }
    }
    named
}

fn is_json_ld(dom: &Dom, script: NodeId) -> bool {
    dom.attr(script, Attr::Type).is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
}

/// What follows each `key:` in the text.
fn values<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(key)
        .filter_map(move |(at, _)| text[at + key.len()..].trim_start().strip_prefix(':').map(str::trim_start))
}

/// The text of a JSON string that begins after its opening quote.
fn json_text(rest: &str) -> String {
    let rest = &rest[..rest.floor_char_boundary(MAX_BODY_BYTES)];
    let mut text = String::with_capacity(rest.len().min(1 << 14));
    let mut chars = rest.chars();
    while let Some(found) = chars.next() {
        match found {
            '"' => break,
            '\\' => match chars.next() {
                Some('n' | 'r' | 't') => text.push(' '),
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                    text.push(code.unwrap_or(' '));
                }
                Some(other) => text.push(other),
                None => break,
            },
            other => text.push(other),
        }
    }
    text
}

fn by_open_graph(kind: &str) -> u32 {
    let kind = kind.trim().to_ascii_lowercase();
    if kind.contains("article") {
        Declared::OPEN_GRAPH_ARTICLE
    } else if kind.contains("product") {
        Declared::PRODUCT
    } else if kind == "website" {
        Declared::WEBSITE
    } else {
        0
    }
}

fn by_type(name: &str) -> u32 {
    match name.rsplit('/').next().unwrap_or(name) {
        name if name.ends_with("Article") || name.ends_with("BlogPosting") => Declared::ARTICLE,
        "Product" | "ProductGroup" => Declared::PRODUCT,
        "DiscussionForumPosting" | "QAPage" => Declared::FORUM,
        "CollectionPage" | "ItemList" | "SearchResultsPage" | "OfferCatalog" => Declared::LIST,
        _ => 0,
    }
}

fn slot(pair: &[u32]) -> usize {
    let mixed = pair[0].rotate_left(9).wrapping_mul(0x9e37_79b1) ^ pair[1];
    (mixed.wrapping_mul(0x85eb_ca6b) >> 16) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::Limits;

    fn declared(html: &str) -> Declared {
        Declared::from_dom(&Dom::parse(html, &Limits::default()))
    }

    fn share(declared: &Declared, text: &str) -> f32 {
        let mut hashes = Vec::new();
        hash_words(text, &mut hashes);
        declared.body_share(&hashes)
    }

    #[test]
    fn kinds_by_open_graph_and_by_json_ld_in_any_place() {
        let found = declared(
            "<meta property=og:type content=article><p>x</p><script type='application/ld+json'>\
             {\"@graph\": [{\"@type\" : [\"WebPage\", \"NewsArticle\"]}, {\"@type\":\"ListItem\"}]}</script>",
        );
        assert_eq!(found.kinds, Declared::OPEN_GRAPH_ARTICLE | Declared::ARTICLE);
        let shop = declared("<script type=application/ld+json>{\"@type\":\"https://schema.org/Product\"");
        assert_eq!(shop.kinds, Declared::PRODUCT, "cut short");
        assert_eq!(declared("<script>{\"@type\":\"Product\"}</script>").kinds, 0, "another script");
    }

    #[test]
    fn the_text_of_the_article_is_known_by_its_pairs_of_words() {
        let body = "The gannet folds its wings and falls. ".repeat(8);
        let html = format!(
            "<script type=application/ld+json>{{\"articleBody\": \"{body}It said:\\n\\\"up\\u0020again\\\".\"}}</script>"
        );
        let found = declared(&html);
        assert!(share(&found, "folds its wings and falls") > 0.99);
        assert!(share(&found, "said up again") > 0.99);
        assert!(share(&found, "most popular stories of today") < 0.2);
        assert!(share(&declared("<p>x"), "any words") < 0.0, "none given");
    }
}
