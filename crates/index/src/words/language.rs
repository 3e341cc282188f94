//! Languages: which stemmer a text gets, and in which languages a query may be meant.

use frostem::{Algorithm, Stemmer};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use whatlang::Lang;

/// Stems that are remembered for one language; past this many the memory starts anew.
const MOST_STEMS: usize = 20_000;
/// Characters of a text that are looked at to tell its language.
const LOOKED_AT: usize = 1_000;
/// Fewest letters that tell a language at all.
const TELLING: usize = 20;

/// A language with a stemmer, as two letters of ISO 639-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Language(&'static str);

/// What is known of each: code, stemmer, name in the detector, script.
const KNOWN: [(&str, Algorithm, Lang, Script); 24] = {
    use Algorithm as A;
    use Script::{Arabic, Cyrillic, Greek, Indic, Latin};
    [
        ("ar", A::Arabic, Lang::Ara, Arabic),
        ("ca", A::Catalan, Lang::Cat, Latin),
        ("cs", A::Czech, Lang::Ces, Latin),
        ("da", A::Danish, Lang::Dan, Latin),
        ("de", A::German, Lang::Deu, Latin),
        ("el", A::Greek, Lang::Ell, Greek),
        ("en", A::English, Lang::Eng, Latin),
        ("es", A::Spanish, Lang::Spa, Latin),
        ("fa", A::Persian, Lang::Pes, Arabic),
        ("fi", A::Finnish, Lang::Fin, Latin),
        ("fr", A::French, Lang::Fra, Latin),
        ("hi", A::Hindi, Lang::Hin, Indic),
        ("hu", A::Hungarian, Lang::Hun, Latin),
        ("id", A::Indonesian, Lang::Ind, Latin),
        ("it", A::Italian, Lang::Ita, Latin),
        ("nl", A::Dutch, Lang::Nld, Latin),
        ("no", A::Norwegian, Lang::Nob, Latin),
        ("pl", A::Polish, Lang::Pol, Latin),
        ("pt", A::Portuguese, Lang::Por, Latin),
        ("ro", A::Romanian, Lang::Ron, Latin),
        ("ru", A::Russian, Lang::Rus, Cyrillic),
        ("sv", A::Swedish, Lang::Swe, Latin),
        ("ta", A::Tamil, Lang::Tam, Indic),
        ("tr", A::Turkish, Lang::Tur, Latin),
    ]
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Indic,
}

impl Script {
    fn of(text: &str) -> Option<Self> {
        text.chars().find_map(|c| match c {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => Some(Self::Latin),
            '\u{370}'..='\u{3ff}' => Some(Self::Greek),
            '\u{400}'..='\u{52f}' => Some(Self::Cyrillic),
            '\u{600}'..='\u{6ff}' => Some(Self::Arabic),
            '\u{900}'..='\u{97f}' | '\u{b80}'..='\u{bff}' => Some(Self::Indic),
            _ => None,
        })
    }
}

/// All languages with a stemmer.
pub(crate) fn languages() -> impl Iterator<Item = Language> {
    KNOWN.iter().map(|known| Language(known.0))
}

impl Language {
    /// By its tag: `de`, `de-AT`, `nb`.
    pub(crate) fn tagged(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let primary = if matches!(primary.as_str(), "nb" | "nn") { "no" } else { primary.as_str() };
        KNOWN.iter().find(|known| known.0 == primary).map(|known| Self(known.0))
    }

    /// By the look of a text; none where that would be a guess.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(LOOKED_AT)];
        if text.chars().filter(|c| c.is_alphabetic()).take(TELLING).count() < TELLING {
            return None;
        }
        let found = whatlang::detect(text).filter(whatlang::Info::is_reliable)?.lang();
        KNOWN.iter().find(|known| known.2 == found).map(|known| Self(known.0))
    }

    pub(crate) fn code(self) -> &'static str {
        self.0
    }

    /// Whether its stems may begin otherwise than the words: articles and the like are written on to them.
    pub(crate) fn cuts_beginnings(self) -> bool {
        matches!(self.0, "ar" | "fa" | "id")
    }

    /// Whether words of a text could be of this language, by their letters.
    pub(crate) fn writes(self, text: &str) -> bool {
        Script::of(text).is_some_and(|script| self.known().3 == script)
    }

    fn known(self) -> &'static (&'static str, Algorithm, Lang, Script) {
        // A language is only ever made from the table.
        KNOWN.iter().find(|known| known.0 == self.0).unwrap_or(&KNOWN[6])
    }

    /// The stem of a word in small letters, folded; none where it is the word itself.
    pub(crate) fn stem(self, lower: &str) -> Option<String> {
        if lower.len() < 3 || lower.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let stem = Stemmer::new(self.known().1).stem(lower);
        let (mut folded, mut word) = (String::new(), String::new());
        super::fold(&stem, &mut folded);
        super::fold(lower, &mut word);
        (folded != word && !folded.is_empty()).then_some(folded)
    }
}

/// Stems, remembered: most words of a text were there before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stems {
    /// Which of the memories is spoken.
    spoken: Option<usize>,
    memories: Vec<Memory>,
}

/// The stems of one language.
#[derive(Clone, Debug)]
struct Memory {
    language: Language,
    /// Number of the stem of each word.
    places: HashMap<Box<str>, u32, BuildHasherDefault<WordHasher>>,
    /// None where a word is its own.
    stems: Vec<Option<Box<str>>>,
}

impl Stems {
    /// From now on, words are of this language.
    pub(crate) fn speak(&mut self, language: Option<Language>) {
        self.spoken = language.map(|language| {
            self.memories.iter().position(|memory| memory.language == language).unwrap_or_else(|| {
                self.memories.push(Memory { language, places: HashMap::default(), stems: Vec::new() });
                self.memories.len() - 1
            })
        });
    }

    /// The stem of a word in small letters, where it is another word.
    pub(crate) fn of(&mut self, lower: &str) -> Option<&str> {
        let memory = &mut self.memories[self.spoken?];
        let place = if let Some(place) = memory.places.get(lower) {
            *place
        } else {
            if memory.stems.len() >= MOST_STEMS {
                memory.places.clear();
                memory.stems.clear();
            }
            memory.stems.push(memory.language.stem(lower).map(String::into_boxed_str));
            let place = memory.stems.len() as u32 - 1;
            memory.places.insert(lower.into(), place);
            place
        };
        memory.stems[place as usize].as_deref()
    }
}

/// A quick hash of words. Whoever makes words collide slows down a memory of bounded size and nothing else.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (tag, one, other) in [
            ("en-GB", "searching", "searched"),
            ("de", "häuser", "häusern"),
            ("fr", "continuellement", "continuelle"),
            ("ru", "книгами", "книгах"),
            ("ar", "المكتبة", "مكتبة"),
        ] {
            let language = Language::tagged(tag).unwrap();
            assert!(language.stem(one).is_some() || language.stem(other).is_some());
            let stem = |word: &str| {
                let mut folded = String::new();
                super::super::fold(word, &mut folded);
                language.stem(word).unwrap_or(folded)
            };
            assert_eq!(stem(one), stem(other), "{tag}");
        }
    }

    #[test]
    fn a_language_is_told_only_where_the_text_tells_it() {
        let german = "Der schnelle braune Fuchs springt über den faulen Hund und läuft in den Wald zurück.";
        assert_eq!(Language::of_text(german).map(Language::code), Some("de"));
        assert_eq!(Language::of_text("ok"), None);
        assert_eq!(Language::tagged("xx"), None);
    }
}
