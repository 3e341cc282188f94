//! Near-duplicate detection: a 64-bit simhash of a text that changes little when the text changes little.
//!
//! A small distance is only a hint. Pages of one template with few words of their own are close too, so a
//! caller that drops pages should have a second reason.

use crate::hash::{Hash, mix};

/// Shorter texts have no fingerprint: one changed word would change everything or nothing.
const MIN_WORDS: usize = 24;
/// Text beyond this many bytes is ignored.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Counters of this many bits suffice for all words of [`MAX_TEXT_BYTES`].
const COUNTER_BITS: usize = 20;
const LOW_BITS: usize = 4;

/// The fingerprint of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Texts up to this distance are nearly the same.
    pub const MAX_NEAR_DISTANCE: u32 = 3;

    /// Computes the fingerprint from three neighbouring words at a time, ignoring case and punctuation.
    /// `None` for texts that are too short.
    pub fn from_text(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        let mut counters = BitCounters::default();
        let (mut before_last, mut last) = (0_u64, 0_u64);
        let mut words = 0_usize;
        for_each_word(text, |word| {
            words += 1;
            if words >= 3 {
                counters.add(mix(before_last.rotate_left(21) ^ last.rotate_left(42) ^ word));
            }
            (before_last, last) = (last, word);
        });
        (words >= MIN_WORDS).then(|| Self(counters.majority()))
    }

    /// The number of different bits, 0 to 64. Unrelated texts differ in about half of them.
    pub const fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// The value, for storage.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// From a stored value.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// Calls `found` with the hash of each word. Words are runs of letters and digits; in scripts without spaces
/// each character is a word.
fn for_each_word(text: &str, mut found: impl FnMut(u64)) {
    let mut word: Option<Hash> = None;
    let mut end = |word: &mut Option<Hash>| {
        if let Some(hash) = word.take() {
            found(hash.raw());
        }
    };
    let mut rest = text;
    while let Some(&first) = rest.as_bytes().first() {
        let plain = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if plain > 0 {
            let hash = word.get_or_insert_with(Hash::new);
            // Converts letters to lower case and leaves digits as they are.
            rest[..plain].bytes().for_each(|byte| hash.byte(byte | 0x20));
            rest = &rest[plain..];
        } else if first.is_ascii() {
            end(&mut word);
            rest = &rest[1..];
        } else if let Some(letter) = rest.chars().next() {
            let unspaced = is_unspaced(letter);
            if unspaced || !letter.is_alphanumeric() {
                end(&mut word);
            }
            if unspaced {
                hash_char(&mut word, letter);
            } else if letter.is_alphanumeric() {
                letter.to_lowercase().for_each(|lower| hash_char(&mut word, lower));
            }
            rest = &rest[letter.len_utf8()..];
        }
    }
    end(&mut word);
}

fn hash_char(word: &mut Option<Hash>, letter: char) {
    let hash = word.get_or_insert_with(Hash::new);
    u32::from(letter).to_le_bytes().into_iter().for_each(|byte| hash.byte(byte));
}

/// Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces between words.
fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0x2_0000..=0x3_ffff)
}

/// 64 counters, stored as bit planes: plane `k` holds bit `k` of every counter, so one addition updates all
/// of them. The lowest planes are updated without a branch and carried over when they are full.
#[derive(Debug, Default)]
struct BitCounters {
    planes: [u64; COUNTER_BITS],
    low: [u64; LOW_BITS],
    in_low: u32,
    count: u32,
}

impl BitCounters {
    fn add(&mut self, hash: u64) {
        let mut carry = hash;
        for plane in &mut self.low {
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
        self.count += 1;
        self.in_low += 1;
        if self.in_low == (1 << LOW_BITS) - 1 {
            self.flush_low();
        }
    }

    fn flush_low(&mut self) {
        for (bit, low) in std::mem::take(&mut self.low).into_iter().enumerate() {
            let mut carry = low;
            for plane in &mut self.planes[bit..] {
                (*plane, carry) = (*plane ^ carry, *plane & carry);
            }
        }
        self.in_low = 0;
    }

    /// The bits that are set in more than half of all hashes.
    fn majority(mut self) -> u64 {
        self.flush_low();
        (0..64).fold(0, |bits, lane| {
            let count: u32 =
                (0..).zip(&self.planes).map(|(bit, plane)| u32::from(plane >> lane & 1 == 1) << bit).sum();
            bits | u64::from(count * 2 > self.count) << lane
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text with a small vocabulary, always the same for one seed.
    fn prose(seed: u64, words: u64) -> String {
        let words: Vec<String> = (0..words).map(|n| format!("word{}", mix(seed * 7919 + n) % 400)).collect();
        words.join(" ")
    }

    #[test]
    fn small_changes_stay_near_and_others_far() {
        let text = prose(1, 600);
        let print = Fingerprint::from_text(&text).unwrap();
        let edited = format!("{text} today").to_uppercase().replace(' ', " – ");
        assert!(print.distance(Fingerprint::from_text(&edited).unwrap()) <= Fingerprint::MAX_NEAR_DISTANCE);
        for seed in 2..40 {
            let other = Fingerprint::from_text(&prose(seed, 600)).unwrap();
            assert!(print.distance(other) > 12, "{seed}: {}", print.distance(other));
        }
    }

    #[test]
    fn the_value_is_stored_and_must_not_change() {
        let print = Fingerprint::from_text(&prose(3, 100)).unwrap();
        assert_eq!(Fingerprint::from_bits(print.bits()), print);
        assert_eq!(print.bits(), STORED);
    }
    const STORED: u64 = 10_549_950_972_798_340_510;

    #[test]
    fn short_texts_have_none_and_unspaced_ones_have() {
        assert_eq!(Fingerprint::from_text("Not found. Go back to the start page."), None);
        assert_eq!(Fingerprint::from_text(""), None);
        assert!(Fingerprint::from_text(&"网页数据服务".repeat(6)).is_some());
    }

    #[test]
    fn counters_count() {
        let mut counters = BitCounters::default();
        for n in 0..1000_u32 {
            counters.add(if n < 501 { 0b11 } else { 0b101 });
        }
        assert_eq!(counters.majority(), 0b11);
    }
}
