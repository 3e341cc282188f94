//! Languages: detection, and the stemmer of each.

use crate::fold;
use frostem::{Algorithm, Stemmer};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use whatlang::Lang;

/// Cached stems of one language; when it is full, the cache is cleared.
const MAX_CACHED_STEMS: usize = 20_000;
/// Bytes of a text used to detect its language.
const MAX_DETECTION_BYTES: usize = 1_000;
/// Fewer letters are not enough to detect a language.
const MIN_DETECTION_LETTERS: usize = 20;

/// A shorter text is not enough to detect any language.
const MIN_DETECTION_BYTES: usize = 40;

/// A language with a stemmer; its ISO 639-1 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(&'static str);

/// Code, stemmer, name in the detector, script.
const LANGUAGES: [(&str, Algorithm, Lang, WritingScript); 24] = {
    use Algorithm as A;
    use WritingScript::{Arabic, Cyrillic, Greek, Indic, Latin};
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
enum WritingScript {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Indic,
}

impl WritingScript {
    fn detect(text: &str) -> Option<Self> {
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
pub fn languages() -> impl Iterator<Item = Language> {
    LANGUAGES.iter().map(|known| Language(known.0))
}

impl Language {
    /// Parses a language tag: `de`, `de-AT`, `nb`.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let primary = if matches!(primary.as_str(), "nb" | "nn") { "no" } else { primary.as_str() };
        LANGUAGES.iter().find(|known| known.0 == primary).map(|known| Self(known.0))
    }

    /// Detects the language of a text; none if not reliable.
    pub fn detect(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MAX_DETECTION_BYTES)];
        if text.chars().filter(|c| c.is_alphabetic()).take(MIN_DETECTION_LETTERS).count()
            < MIN_DETECTION_LETTERS
        {
            return None;
        }
        let found = whatlang::detect(text).filter(whatlang::Info::is_reliable)?.lang();
        LANGUAGES.iter().find(|known| known.2 == found).map(|known| Self(known.0))
    }

    pub fn code(self) -> &'static str {
        self.0
    }

    /// Whether stems may begin differently from their words, because articles and the like are attached in
    /// front.
    pub fn has_attached_prefixes(self) -> bool {
        matches!(self.0, "ar" | "fa" | "id")
    }

    /// Whether a text uses the script of this language.
    pub fn uses_script_of(self, text: &str) -> bool {
        WritingScript::detect(text).is_some_and(|script| self.entry().3 == script)
    }

    fn entry(self) -> &'static (&'static str, Algorithm, Lang, WritingScript) {
        // Every language comes from the table, so the fallback is never used.
        LANGUAGES.iter().find(|known| known.0 == self.0).unwrap_or(&LANGUAGES[6])
    }

    /// The folded stem of a lower-case word; none if it equals the word.
    pub fn stem(self, lower: &str) -> Option<String> {
        if lower.len() < 3 || lower.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let stem = Stemmer::new(self.entry().1).stem(lower);
        let (mut folded, mut word) = (String::new(), String::new());
        fold(&stem, &mut folded);
        fold(lower, &mut word);
        (folded != word && !folded.is_empty()).then_some(folded)
    }
}

/// The language of a text as the code that the web uses, of any language the detector knows; none when the
/// text is too short or unclear.
pub fn detect_code(text: &str) -> Option<&'static str> {
    if text.len() < MIN_DETECTION_BYTES {
        return None;
    }
    let found = whatlang::detect(text).filter(whatlang::Info::is_reliable)?.lang().code();
    Some(CODES.iter().find(|(three, _)| *three == found).map_or(found, |&(_, two)| two))
}

/// Three-letter codes of the detector and the two letters the web uses.
#[rustfmt::skip]
const CODES: &[(&str, &str)] = &[
    ("epo", "eo"), ("eng", "en"), ("rus", "ru"), ("cmn", "zh"), ("spa", "es"), ("por", "pt"),
    ("ita", "it"), ("ben", "bn"), ("fra", "fr"), ("deu", "de"), ("ukr", "uk"), ("kat", "ka"),
    ("ara", "ar"), ("hin", "hi"), ("jpn", "ja"), ("heb", "he"), ("yid", "yi"), ("pol", "pl"),
    ("amh", "am"), ("jav", "jv"), ("kor", "ko"), ("nob", "nb"), ("dan", "da"), ("swe", "sv"),
    ("fin", "fi"), ("tur", "tr"), ("nld", "nl"), ("hun", "hu"), ("ces", "cs"), ("ell", "el"),
    ("bul", "bg"), ("bel", "be"), ("mar", "mr"), ("kan", "kn"), ("ron", "ro"), ("slv", "sl"),
    ("hrv", "hr"), ("srp", "sr"), ("mkd", "mk"), ("lit", "lt"), ("lav", "lv"), ("est", "et"),
    ("tam", "ta"), ("vie", "vi"), ("urd", "ur"), ("tha", "th"), ("guj", "gu"), ("uzb", "uz"),
    ("pan", "pa"), ("aze", "az"), ("ind", "id"), ("tel", "te"), ("pes", "fa"), ("mal", "ml"),
    ("ori", "or"), ("mya", "my"), ("nep", "ne"), ("sin", "si"), ("khm", "km"), ("tuk", "tk"),
    ("aka", "ak"), ("zul", "zu"), ("sna", "sn"), ("afr", "af"), ("lat", "la"), ("slk", "sk"),
    ("cat", "ca"), ("tgl", "tl"), ("hye", "hy"), ("cym", "cy"),
];

/// A cache of stems: most words of a text have occurred before.
#[derive(Clone, Debug, Default)]
pub struct StemCache {
    /// Index of the current language.
    current: Option<usize>,
    languages: Vec<LanguageStems>,
}

/// The cached stems of one language.
#[derive(Clone, Debug)]
struct LanguageStems {
    language: Language,
    /// Index of each word's stem in `stems`.
    indexes: HashMap<Box<str>, usize, BuildHasherDefault<WordHasher>>,
    /// None if a word is its own stem.
    stems: Vec<Option<Box<str>>>,
}

impl StemCache {
    /// Sets the language of the words that follow.
    pub fn set_language(&mut self, language: Option<Language>) {
        self.current = language.map(|language| {
            self.languages.iter().position(|cache| cache.language == language).unwrap_or_else(|| {
                self.languages.push(LanguageStems {
                    language,
                    indexes: HashMap::default(),
                    stems: Vec::new(),
                });
                self.languages.len() - 1
            })
        });
    }

    /// The stem of a lower-case word, if it differs from the word.
    #[inline]
    pub fn stem(&mut self, lower: &str) -> Option<&str> {
        let cache = &mut self.languages[self.current?];
        let index = if let Some(index) = cache.indexes.get(lower) {
            *index
        } else {
            if cache.stems.len() >= MAX_CACHED_STEMS {
                cache.indexes.clear();
                cache.stems.clear();
            }
            cache.stems.push(cache.language.stem(lower).map(String::into_boxed_str));
            let index = cache.stems.len() - 1;
            cache.indexes.insert(lower.into(), index);
            index
        };
        cache.stems[index].as_deref()
    }
}

/// A fast hash of words. Deliberate collisions only slow down a cache of limited size.
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
            let language = Language::from_tag(tag).unwrap();
            assert!(language.stem(one).is_some() || language.stem(other).is_some());
            let stem = |word: &str| {
                let mut folded = String::new();
                fold(word, &mut folded);
                language.stem(word).unwrap_or(folded)
            };
            assert_eq!(stem(one), stem(other), "{tag}");
        }
    }

    #[test]
    fn a_language_is_only_detected_when_reliable() {
        let german = "Der schnelle braune Fuchs springt über den faulen Hund und läuft in den Wald zurück.";
        assert_eq!(Language::detect(german).map(Language::code), Some("de"));
        assert_eq!(Language::detect("ok"), None);
        assert_eq!(Language::from_tag("xx"), None);
    }
}
