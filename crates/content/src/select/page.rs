//! What a page says about itself outside its body: title, description, kind, structured data.
//!
//! Owns the sketches that let a block be compared with those texts in constant space. Structured data is read as
//! words, never parsed: only whether a block's words occur there matters here.

use super::words::Scanner;
use crate::dom::{Attr, Dom, NodeId, Tag};

/// Bytes of structured data read.
const MOST_DATA: usize = 256 << 10;
const BITS: usize = 1 << 16;

/// A set of word or word-run hashes that may claim a stranger, rarely.
#[derive(Debug)]
pub struct Sketch {
    bits: Vec<u64>,
    pub members: usize,
}

impl Default for Sketch {
    fn default() -> Self {
        Self { bits: vec![0; BITS / 64], members: 0 }
    }
}

impl Sketch {
    fn insert(&mut self, hash: u32) {
        let at = slot(hash);
        self.bits[at / 64] |= 1 << (at % 64);
        self.members += 1;
    }

    fn has(&self, hash: u32) -> bool {
        let at = slot(hash);
        self.bits[at / 64] & (1 << (at % 64)) != 0
    }

    /// Share of the words that are in the sketch.
    pub fn share(&self, hashes: &[u32]) -> f32 {
        if self.members == 0 || hashes.is_empty() {
            return 0.0;
        }
        let found = hashes.iter().filter(|&&hash| self.has(hash)).count();
        found as f32 / hashes.len() as f32
    }

    /// Share of the three-word runs that are in the sketch; shorter texts count as one run.
    pub fn run_share(&self, hashes: &[u32]) -> f32 {
        if self.members == 0 || hashes.is_empty() {
            return 0.0;
        }
        let (mut found, mut runs) = (0u32, 0u32);
        for run in hashes.windows(3) {
            runs += 1;
            found += u32::from(self.has(run_hash(run)));
        }
        if runs == 0 { 0.0 } else { found as f32 / runs as f32 }
    }
}

fn slot(hash: u32) -> usize {
    (hash.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

fn run_hash(run: &[u32]) -> u32 {
    run.iter().fold(0x1234_5678, |hash: u32, word| hash.rotate_left(7).wrapping_mul(0x85eb_ca6b) ^ word)
}

/// What the page's structured data and `og:type` call it, as bits.
pub mod kind {
    pub const ARTICLE: u32 = 1;
    pub const PRODUCT: u32 = 1 << 1;
    pub const LIST: u32 = 1 << 2;
    pub const FORUM: u32 = 1 << 3;
    pub const QUESTIONS: u32 = 1 << 4;
    pub const ORGANISATION: u32 = 1 << 5;
    pub const BREADCRUMBS: u32 = 1 << 6;
    pub const OG_ARTICLE: u32 = 1 << 7;
    pub const OG_PRODUCT: u32 = 1 << 8;
    pub const OG_WEBSITE: u32 = 1 << 9;
    pub const COLLECTION: u32 = 1 << 10;
    pub const REVIEW: u32 = 1 << 11;
    pub const URL_ROOT: u32 = 1 << 12;
    pub const URL_STORY: u32 = 1 << 13;
    pub const URL_PRODUCT: u32 = 1 << 14;
    pub const URL_SHELF: u32 = 1 << 15;
    pub const URL_FORUM: u32 = 1 << 16;
    pub const URL_MANUAL: u32 = 1 << 17;
    pub const URL_SERVICE: u32 = 1 << 18;
    pub const ALL: usize = 19;
}

/// See the module.
#[derive(Debug, Default)]
pub struct PageFacts {
    pub title: Sketch,
    pub description: Sketch,
    pub data: Sketch,
    pub kinds: u32,
    pub title_words: usize,
    /// Parts of the path of the page's address, and words in its last part.
    pub address_depth: u32,
    pub address_words: u32,
}

impl PageFacts {
    /// Reads the head, and the structured data wherever it stands.
    pub fn of(dom: &Dom) -> Self {
        let mut facts = Self::default();
        let body = dom.body().unwrap_or(NodeId(u32::MAX));
        let mut data_left = MOST_DATA;
        for at in 0..dom.len() {
            let node = NodeId(u32::try_from(at).unwrap_or(u32::MAX));
            match dom.tag(node) {
                Tag::Title if node < body => {
                    let text = dom.text_content(node);
                    facts.title_words = facts.title_words.max(read_words(&text, &mut facts.title));
                }
                Tag::Meta => facts.meta(dom, node),
                Tag::Link
                    if dom.attr(node, Attr::Rel).is_some_and(|rel| rel.eq_ignore_ascii_case("canonical")) =>
                {
                    facts.address(dom.attr(node, Attr::Href).unwrap_or(""));
                }
                Tag::Script => {
                    let linked = dom
                        .attr(node, Attr::Type)
                        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"));
                    if linked && data_left > 0 {
                        for child in dom.children(node) {
                            let text = dom.text(child);
                            let text = &text[..text.floor_char_boundary(data_left.min(text.len()))];
                            data_left -= text.len();
                            facts.data(text);
                        }
                    }
                }
                _ => {}
            }
        }
        facts
    }

    fn meta(&mut self, dom: &Dom, node: NodeId) {
        let Some(name) = dom.attr(node, Attr::Property).or_else(|| dom.attr(node, Attr::Name)) else {
            return;
        };
        let Some(content) = dom.attr(node, Attr::Content) else { return };
        match name.to_ascii_lowercase().as_str() {
            "og:title" | "twitter:title" => {
                self.title_words = self.title_words.max(read_words(content, &mut self.title));
            }
            "description" | "og:description" | "twitter:description" => {
                let mut hashes = Vec::new();
                read_hashes(content, &mut hashes);
                for run in hashes.windows(3) {
                    self.description.insert(run_hash(run));
                }
            }
            "og:url" if self.address_depth == 0 => self.address(content),
            "og:type" => {
                let content = content.to_ascii_lowercase();
                if content.contains("article") || content.contains("blog") {
                    self.kinds |= kind::OG_ARTICLE;
                } else if content.contains("product") {
                    self.kinds |= kind::OG_PRODUCT;
                } else {
                    self.kinds |= kind::OG_WEBSITE;
                }
            }
            _ => {}
        }
    }

    /// What the path of the page's own address says: sites name their sections much alike.
    fn address(&mut self, address: &str) {
        let Some((_, rest)) = address.split_once("://") else { return };
        let path = rest.split(['?', '#']).next().unwrap_or(rest);
        let mut parts = path.split('/').skip(1).filter(|part| !part.is_empty()).peekable();
        if parts.peek().is_none() {
            self.kinds |= kind::URL_ROOT;
        }
        self.address_depth = 0;
        for part in parts {
            self.address_depth += 1;
            self.address_words = part.split(['-', '_', '+']).count().try_into().unwrap_or(u32::MAX);
            let part = part.to_ascii_lowercase();
            self.kinds |= match part.as_str() {
                "blog" | "blogs" | "news" | "article" | "articles" | "post" | "posts" | "story"
                | "stories" | "magazine" | "guide" | "guides" | "learn" | "resources" | "insights" => {
                    kind::URL_STORY
                }
                "product" | "products" | "p" | "dp" | "item" | "itm" | "ip" | "pd" | "prod" => {
                    kind::URL_PRODUCT
                }
                "collection" | "collections" | "category" | "categories" | "c" | "cat" | "shop"
                | "browse" | "store" | "search" | "b" | "tag" | "tags" | "topic" | "topics" | "list"
                | "lists" => kind::URL_SHELF,
                "forum" | "forums" | "thread" | "threads" | "t" | "question" | "questions" | "discussion"
                | "discussions" | "d" | "r" | "comments" | "viewtopic.php" | "showthread.php"
                | "community" => kind::URL_FORUM,
                "docs" | "doc" | "documentation" | "manual" | "reference" | "api" | "help" | "wiki"
                | "tutorial" | "tutorials" | "man" | "html" | "en-us" => kind::URL_MANUAL,
                "service" | "services" | "solutions" | "pricing" | "about" | "features" | "platform"
                | "industries" => kind::URL_SERVICE,
                _ if part.len() == 4
                    && part.starts_with("20")
                    && part.bytes().all(|b| b.is_ascii_digit()) =>
                {
                    kind::URL_STORY
                }
                _ => 0,
            };
        }
    }

    fn data(&mut self, text: &str) {
        let mut hashes = Vec::new();
        read_hashes(text, &mut hashes);
        for run in hashes.windows(3) {
            self.data.insert(run_hash(run));
        }
        // Types are quoted: `"@type":"NewsArticle"`, or stand in a list of such names.
        for part in text.split("@type").skip(1) {
            let near: String = part.chars().take(60).take_while(|&c| c != '}').collect();
            for (needle, bit) in [
                ("Article", kind::ARTICLE),
                ("BlogPosting", kind::ARTICLE),
                ("Product", kind::PRODUCT),
                ("ItemList", kind::LIST),
                ("DiscussionForumPosting", kind::FORUM),
                ("QAPage", kind::FORUM),
                ("FAQPage", kind::QUESTIONS),
                ("Organization", kind::ORGANISATION),
                ("BreadcrumbList", kind::BREADCRUMBS),
                ("CollectionPage", kind::COLLECTION),
                ("Review", kind::REVIEW),
            ] {
                if near.contains(needle) {
                    self.kinds |= bit;
                }
            }
        }
    }
}

fn read_hashes(text: &str, hashes: &mut Vec<u32>) {
    let mut scanner = Scanner::default();
    scanner.read(text, false, hashes);
    scanner.finish(false, hashes);
}

fn read_words(text: &str, sketch: &mut Sketch) -> usize {
    let mut hashes = Vec::new();
    read_hashes(text, &mut hashes);
    for &hash in &hashes {
        sketch.insert(hash);
    }
    hashes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Limits;

    #[test]
    fn reads_title_description_and_data() {
        let dom = Dom::parse(
            "<title>Seabirds of Shetland</title><meta name=description content='Where gannets nest in summer'>\
             <script type='application/ld+json'>{\"@type\":\"NewsArticle\",\"articleBody\":\"The birds dive for fish\"}</script>",
            &Limits::default(),
        );
        let facts = PageFacts::of(&dom);
        let hashes = |text: &str| {
            let mut found = Vec::new();
            read_hashes(text, &mut found);
            found
        };
        assert!((facts.title.share(&hashes("Seabirds of Shetland")) - 1.0).abs() < 1e-6);
        assert!(facts.description.run_share(&hashes("gannets nest in summer")) > 0.99);
        assert!(facts.data.run_share(&hashes("birds dive for fish")) > 0.99);
        assert!(facts.data.run_share(&hashes("accept all cookies now")) < 0.01);
        assert_eq!(facts.kinds, kind::ARTICLE);
    }
}
