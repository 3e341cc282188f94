//! Text into terms: splitting, folding, stop words and a light English stemmer. Linear in its input, and no term is
//! longer than [`MAX_TERM_BYTES`]. Everything that is matched in this crate passes here, so that a query and a document
//! never disagree.

use crate::hash::stable_hash;

/// Longer runs of letters are cut: they are base pairs, hashes and other noise.
pub const MAX_TERM_BYTES: usize = 40;

/// Calls `each` with the hash of every term of `text`, in order, stop words left out. A word with inner hyphens gives its
/// parts and, after them, the whole written together, so that "co-citation" meets both "citation" and "cocitation".
pub fn for_each_term(text: &str, mut each: impl FnMut(u64)) {
    let mut word = String::with_capacity(MAX_TERM_BYTES);
    let mut joined = String::with_capacity(MAX_TERM_BYTES);
    let mut parts = 0_usize;
    let mut pending_join = false;
    for character in text.chars().chain(std::iter::once(' ')) {
        if character.is_alphanumeric() {
            if pending_join {
                pending_join = false;
            }
            for folded in character.to_lowercase() {
                if word.len() + folded.len_utf8() <= MAX_TERM_BYTES {
                    word.push(folded);
                }
            }
            continue;
        }
        if !word.is_empty() {
            if joined.len() + word.len() <= MAX_TERM_BYTES {
                joined.push_str(&word);
            }
            parts += 1;
            emit(&word, &mut each);
            word.clear();
        }
        let joins = matches!(character, '-' | '\u{2010}' | '\u{2011}' | '\'' | '\u{2019}')
            && parts > 0
            && !pending_join;
        if joins {
            pending_join = true;
            continue;
        }
        pending_join = false;
        if parts > 1 {
            emit(&joined, &mut each);
        }
        parts = 0;
        joined.clear();
    }
}

fn emit(word: &str, each: &mut impl FnMut(u64)) {
    if STOP_WORDS.binary_search(&word).is_err() {
        each(stable_hash(&[stem(word).as_bytes()]));
    }
}

/// Endings in the order they are tried, with the least length of what must remain.
const ENDINGS: [(&str, usize); 25] = [
    ("ational", 4),
    ("ization", 4),
    ("isation", 4),
    ("ingly", 4),
    ("edly", 4),
    ("ation", 4),
    ("ness", 4),
    ("ment", 4),
    ("ally", 4),
    ("ating", 4),
    ("ated", 4),
    ("ator", 4),
    ("ate", 4),
    ("ing", 4),
    ("ive", 4),
    ("ion", 4),
    ("ity", 4),
    ("ed", 4),
    ("al", 4),
    ("ly", 4),
    ("ic", 4),
    ("er", 4),
    ("or", 5),
    ("e", 3),
    ("y", 3),
];

/// The part of the word that its forms share. Words with digits are names and are left alone.
fn stem(word: &str) -> &str {
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let mut stem = word;
    if stem.len() > 4 && stem.ends_with("ies") {
        // "studies" and "study" must meet; the "y" would go below anyway.
        stem = &stem[..stem.len() - 3];
    } else if stem.ends_with("sses") {
        stem = &stem[..stem.len() - 2];
    } else if stem.ends_with('s') && !(stem.ends_with("ss") || stem.ends_with("us") || stem.ends_with("is")) {
        stem = &stem[..stem.len() - 1];
    }
    if let Some((ending, _)) =
        ENDINGS.iter().find(|(ending, least)| stem.len() >= ending.len() + least && stem.ends_with(ending))
    {
        stem = &stem[..stem.len() - ending.len()];
        let bytes = stem.as_bytes();
        let last = bytes[bytes.len() - 1];
        if bytes.len() > 3 && last == bytes[bytes.len() - 2] && !matches!(last, b'l' | b's') {
            stem = &stem[..stem.len() - 1];
        }
        if stem.len() > 4 {
            // "studied" leaves "studi" and "studying" leaves "study".
            stem = stem.strip_suffix(['e', 'i', 'y']).unwrap_or(stem);
        }
    }
    stem
}

/// Function words, and the words every abstract is made of. Sorted: searched by halving.
const STOP_WORDS: [&str; 139] = [
    "a",
    "about",
    "above",
    "after",
    "al",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "did",
    "do",
    "does",
    "due",
    "during",
    "each",
    "et",
    "find",
    "findings",
    "for",
    "found",
    "from",
    "get",
    "give",
    "given",
    "gives",
    "had",
    "has",
    "have",
    "he",
    "her",
    "here",
    "his",
    "how",
    "however",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "many",
    "may",
    "might",
    "more",
    "most",
    "must",
    "no",
    "not",
    "of",
    "on",
    "only",
    "or",
    "other",
    "our",
    "previous",
    "previously",
    "recent",
    "recently",
    "report",
    "reported",
    "result",
    "results",
    "s",
    "several",
    "she",
    "should",
    "show",
    "showed",
    "shown",
    "shows",
    "so",
    "some",
    "studies",
    "study",
    "such",
    "suggest",
    "suggested",
    "suggesting",
    "suggests",
    "t",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "thus",
    "to",
    "under",
    "up",
    "upon",
    "us",
    "use",
    "used",
    "uses",
    "using",
    "via",
    "was",
    "we",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "you",
    "your",
];

/// A title reduced to its letters and digits, for recognising one work from two sources; `None` when too short to be
/// proof of anything.
pub fn title_key(title: &str) -> Option<String> {
    const LEAST_LETTERS: usize = 25;
    let key: String = title
        .chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(300)
        .collect();
    (key.chars().count() >= LEAST_LETTERS).then_some(key)
}

/// Bytes of a text that are cut into sentences.
const SENTENCE_BYTES: usize = 8 << 10;

/// Sentences, roughly: cut at a full stop, question or exclamation mark before a space.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let text = &text[..text.floor_char_boundary(SENTENCE_BYTES)];
    text.split_inclusive(['.', '?', '!'])
        .scan(0_usize, move |start, piece| {
            let begin = *start;
            *start += piece.len();
            Some((begin, *start))
        })
        .scan(0_usize, move |open, (_, end)| {
            let ends = text[end..].chars().next().is_none_or(char::is_whitespace);
            if ends {
                let sentence = text[*open..end].trim();
                *open = end;
                Some(Some(sentence))
            } else {
                Some(None)
            }
        })
        .flatten()
        .filter(|sentence| !sentence.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<u64> {
        let mut out = Vec::new();
        for_each_term(text, |term| out.push(term));
        out
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted(), "binary search needs order");
    }

    #[test]
    fn forms_of_a_word_meet() {
        for (one, other) in [
            ("neurons", "neuron"),
            ("studied", "studying"),
            ("mutations", "mutation"),
            ("imaging", "images"),
            ("binding", "binds"),
            ("bodies", "body"),
            ("running", "runs"),
            ("Glucose", "glucose"),
            ("regulation", "regulates"),
        ] {
            assert_eq!(terms(one), terms(other), "{one} {other}");
        }
        assert_ne!(terms("virus"), terms("viru"));
        assert_ne!(terms("CD4"), terms("CD8"));
    }

    #[test]
    fn hyphens_give_parts_and_whole() {
        assert_eq!(terms("co-citation").len(), 3);
        assert_eq!(terms("co-citation")[2], terms("cocitation")[0]);
        assert_eq!(terms("PAM-α1 neurons").len(), 4);
        assert_eq!(terms("- -- word-- -cell").len(), 2);
    }

    #[test]
    fn noise_is_bounded() {
        assert_eq!(terms(&"acgt".repeat(10_000)).len(), 1);
        assert!(terms("the of and").is_empty());
        assert!(terms("\u{0}\u{feff}…— !").is_empty());
    }

    #[test]
    fn sentences_end_before_a_space() {
        let found: Vec<_> = sentences("First, 3.5 mg. Second? Third e.g.this. Tail").collect();
        assert_eq!(found, ["First, 3.5 mg.", "Second?", "Third e.g.this.", "Tail"]);
        assert_eq!(sentences("").count(), 0);
        assert_eq!(sentences("...").count(), 1);
    }
}
