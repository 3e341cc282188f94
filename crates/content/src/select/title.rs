//! The words of a page's title, as given in its head, and the forms in which the page may repeat it.

use super::words::{Scanner, hash_words};

const BITS: usize = 1 << 14;
/// Parts of one title, such as the article's name and the site's.
const MAX_PARTS: usize = 6;
/// Titles read from one page, and of each.
const MAX_TITLES: usize = 8;
const MAX_TITLE_BYTES: usize = 4_000;

/// A set of word hashes with rare false positives, and the title's parts.
#[derive(Debug, Default)]
pub struct Title {
    /// Empty while there is no title.
    bits: Vec<u64>,
    /// Words of the longest form of the title.
    pub words: usize,
    /// The hash of every run of parts of every title.
    forms: Vec<u32>,
    /// Those that begin the title: the page's own name, where the site's name follows.
    leading: Vec<u32>,
    titles: usize,
    /// Words of the longest title, counted as blocks are.
    longest: u32,
}

impl Title {
    /// Adds one form of the title.
    pub fn add(&mut self, text: &str) {
        if self.titles == MAX_TITLES {
            return;
        }
        self.titles += 1;
        let text = &text[..text.floor_char_boundary(MAX_TITLE_BYTES)];
        let mut hashes = Vec::new();
        hash_words(text, &mut hashes);
        self.bits.resize(BITS / 64, 0);
        for &hash in &hashes {
            let at = slot(hash);
            self.bits[at / 64] |= 1 << (at % 64);
        }
        self.words = self.words.max(hashes.len());
        let parts = split_parts(text);
        for start in 0..parts.len() {
            for end in start..parts.len() {
                let mut scanner = Scanner::default();
                scanner.scan(&text[parts[start].0..parts[end].1], false, &mut hashes);
                let tally = scanner.finish(false, &mut hashes);
                if tally.words > 0 {
                    self.forms.push(tally.text_hash);
                    if start == 0 {
                        self.leading.push(tally.text_hash);
                    }
                    self.longest = self.longest.max(tally.words);
                }
            }
        }
    }

    /// Whether a text of so many words is the title, or the larger part of it: not the site's name alone.
    pub fn is_repeated_by(&self, text_hash: u32, words: u32) -> bool {
        2 * words >= self.longest && self.forms.contains(&text_hash)
    }

    /// Whether a text is the beginning of a title up to one of its parts, and more than a word.
    pub fn begins_with(&self, text_hash: u32, words: u32) -> bool {
        words > 1 && self.leading.contains(&text_hash)
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

/// The parts of a title, as byte ranges: "Gannets | Birds - The Site" has three. A dash parts only between
/// spaces.
fn split_parts(text: &str) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, ' ');
    let mut chars = text.char_indices().peekable();
    while let Some((at, found)) = chars.next() {
        let after = chars.peek().map_or(' ', |&(_, after)| after);
        let alone = before.is_whitespace() && after.is_whitespace();
        let parts_here = match found {
            '|' | '·' | '•' | '»' | '«' | '›' | '｜' | '：' => true,
            '-' | '–' | '—' | '−' => alone,
            ':' => after == ':' || before == ':',
            _ => false,
        };
        if parts_here && parts.len() + 1 < MAX_PARTS {
            parts.push((start, at));
            start = at + found.len_utf8();
        }
        before = found;
    }
    parts.push((start, text.len()));
    parts
}

fn slot(hash: u32) -> usize {
    (hash.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::declared::Declared;
    use html::dom::{Dom, Limits};

    #[test]
    fn reads_every_form_of_the_title() {
        let dom = Dom::parse(
            "<title>Seabirds of Shetland</title><meta property=og:title content='Seabirds of Shetland and Orkney'><p>x",
            &Limits::default(),
        );
        let title = Declared::from_dom(&dom).title;
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

    #[test]
    fn the_title_is_known_without_the_name_of_the_site() {
        let mut title = Title::default();
        title.add("Announcing Gannet 1.70.0 – in full | Seabird Blog");
        let repeated = |text: &str| {
            let (mut scanner, mut hashes) = (Scanner::default(), Vec::new());
            scanner.scan(text, false, &mut hashes);
            let tally = scanner.finish(false, &mut hashes);
            title.is_repeated_by(tally.text_hash, tally.words)
        };
        assert!(repeated("Announcing Gannet 1.70.0"));
        assert!(repeated("Announcing Gannet 1.70.0 (in full)"));
        assert!(!repeated("Seabird Blog"), "the site");
        assert!(!repeated("Announcing"), "a word of it");
        assert!(!Title::default().is_repeated_by(0, 0), "no title");
    }
}
