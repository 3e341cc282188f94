//! Parses a query into words with their possible forms.

use crate::search::collection_stats::CollectionStats;
use crate::types::Query;
use crate::words::{MAX_WORD_CHARS, WordTokens};
use tantivy::tokenizer::TokenStream;
use text::language::StemCache;
use text::{Language, is_wide, lower};

/// Bytes of a query that are read, and words that are used.
const MAX_QUERY_BYTES: usize = 4_096;
const MAX_QUERY_WORDS: usize = 64;
/// Languages whose word forms are tried: the requested one, that of the query, and the most frequent of the
/// index.
const MAX_LANGUAGES: usize = 3;
/// The first words of a query, which are also tried joined as a host name.
const MAX_JOINED_WORDS: usize = 8;
const MIN_JOINED_BYTES: usize = 5;

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryWord {
    /// In folded form.
    pub(crate) text: String,
    /// Its stems in the languages of the query, folded, if they differ from the word.
    pub(crate) stems: Vec<String>,
    /// In one of the languages the word is its own stem.
    pub(crate) stem: bool,
}

impl QueryWord {
    /// Whether the word asks for news rather than naming a topic.
    pub(crate) fn asks_for_news(&self) -> bool {
        NEWS_WORDS.contains(&self.text.as_str())
    }
}

/// A parsed query.
#[derive(Debug, Default)]
pub(crate) struct ParsedQuery {
    /// Each word once.
    pub(crate) words: Vec<QueryWord>,
    /// Neighbouring words: the indexes of two words and their distance.
    pub(crate) pairs: Vec<(usize, usize, u32)>,
    /// Neighbours joined to one word, as in host names, with the indexes of the words.
    pub(crate) joined: Vec<(String, Vec<usize>)>,
    /// The query asks for news.
    pub(crate) news: bool,
    /// Years that the query names.
    pub(crate) years: Vec<i64>,
}

impl ParsedQuery {
    pub(crate) fn parse(query: &Query, stats: &CollectionStats) -> Self {
        let parts = std::iter::once(&query.text).chain(&query.phrases).chain(&query.in_title);
        let text = &parts.map(String::as_str).collect::<Vec<_>>().join("\n");
        let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
        let languages = query_languages(query, text, stats);
        let mut parsed = Self::default();
        let mut last: Option<(usize, u32)> = None;
        let mut in_order = Vec::new();
        for (position, word) in query_words(text, &languages) {
            let at = parsed.words.iter().position(|known| known.text == word.text).unwrap_or_else(|| {
                parsed.words.push(word);
                parsed.words.len() - 1
            });
            if let Some((before, was)) = last
                && before != at
            {
                parsed.pairs.push((before, at, position - was));
            }
            last = Some((at, position));
            in_order.push(at);
        }
        parsed.joined = join_neighbours(&in_order, &parsed.words);
        parsed.news = parsed.words.iter().any(QueryWord::asks_for_news);
        parsed.years = parsed.words.iter().filter_map(|word| parse_year(&word.text)).collect();
        parsed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Words that ask for news.
const NEWS_WORDS: [&str; 31] = [
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

fn parse_year(word: &str) -> Option<i64> {
    word.parse().ok().filter(|year| word.len() == 4 && (1990..2100).contains(year))
}

fn query_languages(query: &Query, text: &str, stats: &CollectionStats) -> Vec<Language> {
    let parsed = query.language.as_deref().and_then(Language::from_tag);
    let mut languages: Vec<Language> = Vec::new();
    let common = stats.languages.iter().copied().filter(|language| language.uses_script_of(text));
    for language in parsed.into_iter().chain(Language::detect(text)).chain(common) {
        if languages.len() < MAX_LANGUAGES && !languages.contains(&language) {
            languages.push(language);
        }
    }
    languages
}

/// The words of a text with their positions, up to the limit.
pub(crate) fn query_words(text: &str, languages: &[Language]) -> Vec<(u32, QueryWord)> {
    let mut found: Vec<(u32, QueryWord)> = Vec::new();
    let mut none = StemCache::default();
    let mut tokens = WordTokens::new(text, &mut none);
    let mut lowered = String::new();
    while found.len() < MAX_QUERY_WORDS && tokens.advance() {
        let token = tokens.token();
        let written = &text[token.offset_from..token.offset_to];
        let position = token.position as u32;
        // Skip a single character next to its pair: the pair is more specific.
        if found.last().is_some_and(|(last, _)| *last == position)
            || follows_pair(text, token.offset_from, written)
        {
            continue;
        }
        lower(written, &mut lowered);
        let mut stems: Vec<String> =
            languages.iter().filter_map(|language| language.stem(&lowered)).collect();
        let stem = stems.len() < languages.len();
        stems.sort_unstable();
        stems.dedup();
        found.push((position, QueryWord { text: token.text.clone(), stems, stem }));
    }
    found
}

/// Whether a single character ends a run of wide characters; its pair was the previous token.
fn follows_pair(text: &str, from: usize, written: &str) -> bool {
    written.chars().nth(1).is_none()
        && written.chars().all(is_wide)
        && text[..from].chars().next_back().is_some_and(is_wide)
}

/// Two or three neighbours at the beginning of a query, joined to one word.
fn join_neighbours(in_order: &[usize], words: &[QueryWord]) -> Vec<(String, Vec<usize>)> {
    let in_order = &in_order[..in_order.len().min(MAX_JOINED_WORDS)];
    let neighbours = in_order.windows(2).chain(in_order.windows(3));
    let whole = neighbours.map(|neighbours| {
        let text: String = neighbours.iter().map(|&at| words[at].text.as_str()).collect();
        (text, neighbours.to_vec())
    });
    whole
        .filter(|(text, _)| {
            (MIN_JOINED_BYTES..=MAX_WORD_CHARS).contains(&text.len()) && !text.contains(is_wide)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        query_words(text, &[]).into_iter().map(|(_, word)| word.text).collect()
    }

    #[test]
    fn queries_are_tokenized_like_documents() {
        assert_eq!(texts("Stack Overflow"), ["stack", "overflow"]);
        assert_eq!(texts("東京タワー 猫"), ["東京", "京タ", "タワ", "ワー", "猫"]);
        assert_eq!(texts("... !!"), Vec::<String>::new());
        assert_eq!(texts(&"a b ".repeat(1_000)).len(), MAX_QUERY_WORDS);
        let parsed: Vec<QueryWord> =
            query_words("Stack Overflow", &[]).into_iter().map(|(_, word)| word).collect();
        assert_eq!(join_neighbours(&[0, 1], &parsed), [("stackoverflow".to_owned(), vec![0, 1])]);
    }
}
