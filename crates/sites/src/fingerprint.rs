//! Which pages say nearly the same: 64 bits of a text that change little when the text changes little (a simhash).
//!
//! Likeness is a hint. Pages of one template with a few words of their own are alike too, so a caller that drops pages by
//! it should have a second reason.

use crate::hash::{Hash, mix};

/// Fewer words than this have no fingerprint: a changed word would change everything, or nothing.
const FEWEST_WORDS: usize = 24;
/// Text past this many bytes does not count.
const MOST_BYTES: usize = 1 << 20;
/// Counters of this many bits suffice for all words of [`MOST_BYTES`].
const PLANES: usize = 20;
const LOW: usize = 4;

/// The fingerprint of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Up to this distance, texts are nearly the same.
    pub const NEAR: u32 = 3;

    /// Reads a text: three neighbouring words at a time, case and punctuation aside. None for texts that are too short.
    pub fn of(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MOST_BYTES)];
        let mut votes = Votes::default();
        let (mut before_last, mut last) = (0_u64, 0_u64);
        let mut words = 0_usize;
        each_word(text, |word| {
            words += 1;
            if words >= 3 {
                votes.add(mix(before_last.rotate_left(21) ^ last.rotate_left(42) ^ word));
            }
            (before_last, last) = (last, word);
        });
        (words >= FEWEST_WORDS).then(|| Self(votes.majority()))
    }

    /// How many bits differ, 0 to 64. Unrelated texts differ in about half of them.
    pub const fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// For storing.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// From what was stored.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// Calls with the hash of each word. Words are runs of letters and digits; in scripts without spaces each sign is one.
fn each_word(text: &str, mut found: impl FnMut(u64)) {
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
            // Makes letters small and leaves digits as they are.
            rest[..plain].bytes().for_each(|byte| hash.byte(byte | 0x20));
            rest = &rest[plain..];
        } else if first.is_ascii() {
            end(&mut word);
            rest = &rest[1..];
        } else if let Some(sign) = rest.chars().next() {
            let unspaced = is_unspaced(sign);
            if unspaced || !sign.is_alphanumeric() {
                end(&mut word);
            }
            if unspaced {
                found_sign(&mut word, sign);
            } else if sign.is_alphanumeric() {
                sign.to_lowercase().for_each(|lower| found_sign(&mut word, lower));
            }
            rest = &rest[sign.len_utf8()..];
        }
    }
    end(&mut word);
}

fn found_sign(word: &mut Option<Hash>, sign: char) {
    let hash = word.get_or_insert_with(Hash::new);
    u32::from(sign).to_le_bytes().into_iter().for_each(|byte| hash.byte(byte));
}

/// Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces between words.
fn is_unspaced(sign: char) -> bool {
    matches!(u32::from(sign), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0x2_0000..=0x3_ffff)
}

/// 64 counters, held as bit planes: plane `k` has bit `k` of every counter, so one addition serves all of them. The lowest
/// planes are filled without a branch and emptied into all when they are full.
#[derive(Debug, Default)]
struct Votes {
    planes: [u64; PLANES],
    low: [u64; LOW],
    in_low: u32,
    count: u32,
}

impl Votes {
    fn add(&mut self, hash: u64) {
        let mut carry = hash;
        for plane in &mut self.low {
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
        self.count += 1;
        self.in_low += 1;
        if self.in_low == (1 << LOW) - 1 {
            self.empty_low();
        }
    }

    fn empty_low(&mut self) {
        for (bit, low) in std::mem::take(&mut self.low).into_iter().enumerate() {
            let mut carry = low;
            for plane in &mut self.planes[bit..] {
                (*plane, carry) = (*plane ^ carry, *plane & carry);
            }
        }
        self.in_low = 0;
    }

    /// The bits that more than half of all hashes had.
    fn majority(mut self) -> u64 {
        self.empty_low();
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

    /// Prose of a small vocabulary, the same for one seed always.
    fn prose(seed: u64, words: u64) -> String {
        let words: Vec<String> = (0..words).map(|n| format!("word{}", mix(seed * 7919 + n) % 400)).collect();
        words.join(" ")
    }

    #[test]
    fn small_changes_stay_near_and_others_far() {
        let text = prose(1, 600);
        let print = Fingerprint::of(&text).unwrap();
        let edited = format!("{text} today").to_uppercase().replace(' ', " – ");
        assert!(print.distance(Fingerprint::of(&edited).unwrap()) <= Fingerprint::NEAR);
        for seed in 2..40 {
            let other = Fingerprint::of(&prose(seed, 600)).unwrap();
            assert!(print.distance(other) > 12, "{seed}: {}", print.distance(other));
        }
    }

    #[test]
    fn the_value_is_stored_and_must_not_change() {
        let print = Fingerprint::of(&prose(3, 100)).unwrap();
        assert_eq!(Fingerprint::from_bits(print.bits()), print);
        assert_eq!(print.bits(), STORED);
    }
    const STORED: u64 = 10_549_950_972_798_340_510;

    #[test]
    fn short_texts_have_none_and_unspaced_ones_have() {
        assert_eq!(Fingerprint::of("Not found. Go back to the start page."), None);
        assert_eq!(Fingerprint::of(""), None);
        assert!(Fingerprint::of(&"网页数据服务".repeat(6)).is_some());
    }

    #[test]
    fn counters_count() {
        let mut votes = Votes::default();
        for n in 0..1000_u32 {
            votes.add(if n < 501 { 0b11 } else { 0b101 });
        }
        assert_eq!(votes.majority(), 0b11);
    }
}
