//! Generated documents that resemble real ones: the same word frequencies and lengths, and an endless supply
//! of new words.

use super::pages::ReadPage;
use index::Document;
use std::collections::HashSet;
use std::fmt::Write;

/// One word in this many occurs in only a few documents.
const RARE_WORD_INTERVAL: u64 = 60;

/// Pseudo-random numbers, the same each time.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides.max(1)
    }
}

/// What documents are made of.
pub struct Vocabulary<'a> {
    /// Every word as often as it occurs.
    words: Vec<&'a str>,
    /// Lengths of bodies in words.
    lengths: Vec<usize>,
}

impl<'a> Vocabulary<'a> {
    pub fn from_pages(pages: &'a [ReadPage]) -> Self {
        let mut words = Vec::new();
        let mut lengths = Vec::new();
        for page in pages {
            let from = words.len();
            words.extend(page.document.body.split_whitespace());
            lengths.push(words.len() - from);
        }
        Self { words, lengths }
    }

    pub fn different_words(&self) -> usize {
        self.words.iter().collect::<HashSet<_>>().len()
    }

    pub fn document(&self, number: usize) -> Document {
        let mut random = Random::new(number as u64 + 1);
        let length = self.lengths[random.roll(self.lengths.len() as u64) as usize];
        let title = self.text(&mut random, 7, number);
        let path: Vec<String> = self.text(&mut random, 5, number).split(' ').map(str::to_owned).collect();
        let sentences = length / 16 + 1;
        let body: Vec<String> = (0..sentences).map(|_| self.text(&mut random, 16, number) + ".").collect();
        Document {
            url: format!("https://host{}.example/{}/{number}", random.roll(5_000), path.join("-")),
            title,
            description: self.text(&mut random, 20, number),
            headings: (0..random.roll(8)).map(|_| self.text(&mut random, 5, number)).collect(),
            body: body.join(" "),
            language: Some("en".to_owned()),
            links: (0..random.roll(40)).map(|_| random.roll(1 << 20)).collect(),
            ..Document::default()
        }
        .bounded()
    }

    fn text(&self, random: &mut Random, length: usize, number: usize) -> String {
        let mut text = String::new();
        for at in 0..length {
            if at > 0 {
                text.push(' ');
            }
            if random.roll(RARE_WORD_INTERVAL) == 0 {
                let _ = write!(text, "nym{:x}", random.roll(number as u64 * 20 + 1_000));
            } else {
                text.push_str(self.words[random.roll(self.words.len() as u64) as usize]);
            }
        }
        text
    }
}

/// What a person who knows a document might search for: a few words that stand together in it, or from here
/// and there.
pub fn query(number: usize, document: &Document) -> String {
    let mut random = Random::new(number as u64 * 7 + 3);
    let words: Vec<&str> = document.body.split_whitespace().collect();
    let length = 2 + random.roll(5) as usize;
    let from = random.roll(words.len() as u64) as usize;
    if random.roll(2) == 0 {
        return words[from..].iter().take(length).copied().collect::<Vec<_>>().join(" ");
    }
    (0..length).map(|_| words[random.roll(words.len() as u64) as usize]).collect::<Vec<_>>().join(" ")
}
