//! The words of a query with the forms they may take.

use crate::parts::Query;
use crate::search::census::Census;
use crate::words::{LONGEST_WORD, Language, Stems, Tokens, is_wide, lower};
use tantivy::tokenizer::TokenStream;

/// Bytes of a query that are read, and words of it that count.
const LONGEST_QUERY: usize = 4_096;
const MOST_WORDS: usize = 64;
/// Languages whose forms are tried: that asked for, that of the query, and the most frequent of the index.
const MOST_LANGUAGES: usize = 3;
/// Words that are tried in one piece as the name of a host.
const MOST_GLUED: usize = 8;
const SHORTEST_GLUED: usize = 5;

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Folded.
    pub(crate) text: String,
    /// Its stems in the languages of the query, folded, where they are other words.
    pub(crate) stems: Vec<String>,
    /// In one of them it is its own stem.
    pub(crate) stem: bool,
}

impl Word {
    /// Says how new the answer should be rather than what it is about.
    pub(crate) fn asks_for_news(&self) -> bool {
        NEWS.contains(&self.text.as_str())
    }
}

/// What a query asks for.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Each word once.
    pub(crate) words: Vec<Word>,
    /// Words that follow each other: numbers of two words, and how far apart they stand.
    pub(crate) pairs: Vec<(usize, usize, u32)>,
    /// Neighbours written as one word, as hosts are named, with the numbers of these words.
    pub(crate) glued: Vec<(String, Vec<usize>)>,
    /// The query wants what is new.
    pub(crate) news: bool,
    /// Years it names.
    pub(crate) years: Vec<i64>,
}

impl Asked {
    pub(crate) fn of(query: &Query, census: &Census) -> Self {
        let parts = std::iter::once(&query.text).chain(&query.phrases).chain(&query.in_title);
        let text = &parts.map(String::as_str).collect::<Vec<_>>().join("\n");
        let text = &text[..text.floor_char_boundary(LONGEST_QUERY)];
        let languages = languages(query, text, census);
        let mut asked = Self::default();
        let mut last: Option<(usize, u32)> = None;
        let mut in_order = Vec::new();
        for (position, word) in words(text, &languages) {
            let at = asked.words.iter().position(|known| known.text == word.text).unwrap_or_else(|| {
                asked.words.push(word);
                asked.words.len() - 1
            });
            if let Some((before, was)) = last
                && before != at
            {
                asked.pairs.push((before, at, position - was));
            }
            last = Some((at, position));
            in_order.push(at);
        }
        asked.glued = glued(&in_order, &asked.words);
        asked.news = asked.words.iter().any(Word::asks_for_news);
        asked.years = asked.words.iter().filter_map(|word| year(&word.text)).collect();
        asked
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Words that ask for what is new.
const NEWS: [&str; 31] = [
    "news",
    "latest",
    "newest",
    "recent",
    "recently",
    "today",
    "yesterday",
    "tonight",
    "breaking",
    "update",
    "updates",
    "nachrichten",
    "neueste",
    "neuesten",
    "aktuell",
    "aktuelle",
    "heute",
    "actualites",
    "dernieres",
    "recentes",
    "noticias",
    "ultimas",
    "hoy",
    "notizie",
    "oggi",
    "новости",
    "последние",
    "сегодня",
    "最新",
    "أخبار",
    "اخبار",
];

fn year(word: &str) -> Option<i64> {
    word.parse().ok().filter(|year| word.len() == 4 && (1990..2100).contains(year))
}

fn languages(query: &Query, text: &str, census: &Census) -> Vec<Language> {
    let asked = query.language.as_deref().and_then(Language::tagged);
    let mut languages: Vec<Language> = Vec::new();
    let common = census.languages.iter().copied().filter(|language| language.writes(text));
    for language in asked.into_iter().chain(Language::of_text(text)).chain(common) {
        if languages.len() < MOST_LANGUAGES && !languages.contains(&language) {
            languages.push(language);
        }
    }
    languages
}

/// The words of a text with their places, as many as count.
pub(crate) fn words(text: &str, languages: &[Language]) -> Vec<(u32, Word)> {
    let mut found: Vec<(u32, Word)> = Vec::new();
    let mut none = Stems::default();
    let mut tokens = Tokens::new(text, &mut none);
    let mut small = String::new();
    while found.len() < MOST_WORDS && tokens.advance() {
        let token = tokens.token();
        let written = &text[token.offset_from..token.offset_to];
        let position = token.position as u32;
        // A character beside its pair: the pair says more.
        if found.last().is_some_and(|(last, _)| *last == position)
            || follows_pair(text, token.offset_from, written)
        {
            continue;
        }
        lower(written, &mut small);
        let mut stems: Vec<String> = languages.iter().filter_map(|language| language.stem(&small)).collect();
        let stem = stems.len() < languages.len();
        stems.sort_unstable();
        stems.dedup();
        found.push((position, Word { text: token.text.clone(), stems, stem }));
    }
    found
}

/// Whether a single wide character ends a run: its pair was the token before.
fn follows_pair(text: &str, from: usize, written: &str) -> bool {
    written.chars().nth(1).is_none()
        && written.chars().all(is_wide)
        && text[..from].chars().next_back().is_some_and(is_wide)
}

/// Two or three neighbours at the beginning of a query written as one word.
fn glued(in_order: &[usize], words: &[Word]) -> Vec<(String, Vec<usize>)> {
    let in_order = &in_order[..in_order.len().min(MOST_GLUED)];
    let neighbours = in_order.windows(2).chain(in_order.windows(3));
    let whole = neighbours.map(|neighbours| {
        let text: String = neighbours.iter().map(|&at| words[at].text.as_str()).collect();
        (text, neighbours.to_vec())
    });
    whole
        .filter(|(text, _)| (SHORTEST_GLUED..=LONGEST_WORD).contains(&text.len()) && !text.contains(is_wide))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text, &[]).into_iter().map(|(_, word)| word.text).collect()
    }

    #[test]
    fn a_query_is_read_as_documents_are() {
        assert_eq!(texts("Stack Overflow"), ["stack", "overflow"]);
        assert_eq!(texts("東京タワー 猫"), ["東京", "京タ", "タワ", "ワー", "猫"]);
        assert_eq!(texts("... !!"), Vec::<String>::new());
        assert_eq!(texts(&"a b ".repeat(1_000)).len(), MOST_WORDS);
        let asked: Vec<Word> = words("Stack Overflow", &[]).into_iter().map(|(_, word)| word).collect();
        assert_eq!(glued(&[0, 1], &asked), [("stackoverflow".to_owned(), vec![0, 1])]);
    }
}
