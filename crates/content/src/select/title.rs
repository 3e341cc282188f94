//! The words of a page's title, as given in its head.

use super::words::hash_words;
use html::dom::{Attr, Dom, NodeId, Tag};

const BITS: usize = 1 << 14;

/// A set of word hashes with rare false positives.
#[derive(Debug, Default)]
pub struct Title {
    /// Empty while there is no title.
    bits: Vec<u64>,
    /// Words of the longest form of the title.
    pub words: usize,
}

impl Title {
    /// Collects the words of `title`, Open Graph and other titles.
    pub fn from_dom(dom: &Dom) -> Self {
        let mut title = Self::default();
        let end = dom.body().unwrap_or(NodeId(u32::MAX));
        let head = (0..dom.len()).filter_map(|at| u32::try_from(at).ok()).map(NodeId);
        for node in head.take_while(|&node| node < end) {
            match dom.tag(node) {
                Tag::Title => title.add_words(&dom.text_content(node)),
                Tag::Meta => {
                    let name = dom.attr(node, Attr::Property).or_else(|| dom.attr(node, Attr::Name));
                    if name.is_some_and(|name| matches!(name, "og:title" | "twitter:title")) {
                        title.add_words(dom.attr(node, Attr::Content).unwrap_or_default());
                    }
                }
                _ => {}
            }
        }
        title
    }

    fn add_words(&mut self, text: &str) {
        let mut hashes = Vec::new();
        hash_words(text, &mut hashes);
        self.bits.resize(BITS / 64, 0);
        for &hash in &hashes {
            let at = slot(hash);
            self.bits[at / 64] |= 1 << (at % 64);
        }
        self.words = self.words.max(hashes.len());
    }

    /// Share of the words that are in the title.
    pub fn share(&self, hashes: &[u32]) -> f32 {
        if self.words == 0 || hashes.is_empty() {
            return 0.0;
        }
        let known = |&&hash: &&u32| self.bits[slot(hash) / 64] & (1 << (slot(hash) % 64)) != 0;
        hashes.iter().filter(known).count() as f32 / hashes.len() as f32
    }
}

fn slot(hash: u32) -> usize {
    (hash.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::Limits;

    #[test]
    fn reads_every_form_of_the_title() {
        let dom = Dom::parse(
            "<title>Seabirds of Shetland</title><meta property=og:title content='Seabirds of Shetland and Orkney'><p>x",
            &Limits::default(),
        );
        let title = Title::from_dom(&dom);
        let share = |text: &str| {
            let mut hashes = Vec::new();
            hash_words(text, &mut hashes);
            title.share(&hashes)
        };
        assert_eq!(title.words, 5);
        assert!((share("SEABIRDS of Orkney") - 1.0).abs() < 1e-6);
        assert!(share("accept all cookies now") < 0.01);
        assert!(Title::default().share(&[1, 2]) < 0.01);
    }
}
