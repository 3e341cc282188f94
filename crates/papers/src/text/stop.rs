//! Stop words: function words, and words that occur in every abstract.

/// Length of the longest stop word.
pub const MAX_BYTES: usize = 16;

#[rustfmt::skip]
const WORDS: [&str; 139] = [
    "a", "about", "above", "after", "al", "all", "also", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "did",
    "do", "does", "due", "during", "each", "et", "find", "findings", "for", "found", "from", "get", "give",
    "given", "gives", "had", "has", "have", "he", "her", "here", "his", "how", "however", "i", "if", "in",
    "into", "is", "it", "its", "many", "may", "might", "more", "most", "must", "no", "not", "of", "on",
    "only", "or", "other", "our", "previous", "previously", "recent", "recently", "report", "reported",
    "result", "results", "s", "several", "she", "should", "show", "showed", "shown", "shows", "so", "some",
    "studies", "study", "such", "suggest", "suggested", "suggesting", "suggests", "t", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "thus", "to", "under",
    "up", "upon", "us", "use", "used", "uses", "using", "via", "was", "we", "well", "were", "what", "when",
    "where", "whether", "which", "while", "who", "why", "will", "with", "within", "without", "would", "you",
    "your",
];

/// Slots of the table; a power of two, about four times the words, so that most lookups end at an empty slot.
const SLOTS: usize = 512;

/// A hash table of the words as numbers with linear probing; zero is an empty slot. Every word of every text
/// is looked up here; with binary search this was the most expensive part of an import.
const TABLE: [u128; SLOTS] = {
    let mut table = [0; SLOTS];
    let mut number = 0;
    while number < WORDS.len() {
        let word = WORDS[number].as_bytes();
        let mut padded = [0; MAX_BYTES];
        let mut letter = 0;
        while letter < word.len() {
            padded[letter] = word[letter];
            letter += 1;
        }
        let key = u128::from_le_bytes(padded);
        let mut place = slot(key);
        while table[place] != 0 {
            place = (place + 1) % SLOTS;
        }
        table[place] = key;
        number += 1;
    }
    table
};

const fn slot(key: u128) -> usize {
    let mixed = ((key as u64) ^ ((key >> 64) as u64)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - SLOTS.ilog2())) as usize
}

/// Whether a lower-case word, padded with zeros, is a stop word.
pub fn is_stop_word(padded: [u8; MAX_BYTES]) -> bool {
    let key = u128::from_le_bytes(padded);
    let mut place = slot(key);
    while TABLE[place] != 0 {
        if TABLE[place] == key {
            return true;
        }
        place = (place + 1) % SLOTS;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(word: &str) -> [u8; MAX_BYTES] {
        let mut out = [0; MAX_BYTES];
        out[..word.len()].copy_from_slice(word.as_bytes());
        out
    }

    #[test]
    fn recognizes_stop_words_only() {
        assert!(WORDS.iter().all(|word| is_stop_word(padded(word))));
        for word in ["", "th", "thee", "cell", "studying", "suggestingsomeone"[..16].as_ref()] {
            assert!(!is_stop_word(padded(word)), "{word}");
        }
    }
}
