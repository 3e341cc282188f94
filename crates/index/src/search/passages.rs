//! Finds the passages of a document that match the query best, verbatim.

use crate::search::plan::QueryPlan;
use crate::types::Document;
use crate::words::{STEM_PREFIX, WordTokens};
use std::collections::HashMap;
use tantivy::tokenizer::TokenStream;
use text::language::StemCache;
use text::sentences::{SentenceRules, sentence_ranges};
use text::{Language, lower, pieces};

/// A passage is made of whole sentences; a longer sentence is cut at a space.
const MAX_PASSAGE_BYTES: usize = 320;
/// Of one document.
const MAX_PASSAGES: usize = 20;
/// Sentences that are examined.
const MAX_SENTENCES: usize = 5_000;
/// Bonus for repeated words, and for passages near the beginning.
const REPEAT_BONUS: f32 = 0.1;
const EARLY_BONUS: f32 = 0.05;

/// A sentence: its range in the text, and the words of the query in it.
#[derive(Debug, Clone, Copy)]
struct Sentence {
    from: usize,
    to: usize,
    words: u64,
    repeats: u32,
}

/// The best passages, best first; the beginning of the body if it contains no word of the query.
pub(crate) fn best_passages(document: &Document, plan: &QueryPlan, wanted: usize) -> Vec<String> {
    let wanted = wanted.min(MAX_PASSAGES);
    let body = document.body.as_str();
    if wanted == 0 || body.trim().is_empty() {
        return Vec::new();
    }
    let sentences = match_sentences(document, plan);
    // A passage starts at each sentence and includes the following ones while they fit.
    let mut passages: Vec<(f32, usize, usize)> = Vec::new();
    for (first, sentence) in sentences.iter().enumerate().filter(|(_, sentence)| sentence.words != 0) {
        let (mut words, mut repeats, mut last) = (0, 0, first);
        for (at, next) in sentences.iter().enumerate().skip(first) {
            if at > first && next.to - sentence.from > MAX_PASSAGE_BYTES {
                break;
            }
            words |= next.words;
            repeats += next.repeats;
            last = at;
        }
        let early = EARLY_BONUS / (1.0 + first as f32);
        passages.push((
            plan.weight(words) * (1.0 + REPEAT_BONUS * (repeats.min(5) as f32) + early),
            first,
            last,
        ));
    }
    passages.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for (_, first, last) in passages {
        if chosen.len() == wanted {
            break;
        }
        if chosen.iter().all(|&(from, to)| last < from || first > to) {
            chosen.push((first, last));
        }
    }
    if chosen.is_empty()
        && let Some(first) = sentences.first()
    {
        let last =
            sentences.iter().rposition(|sentence| sentence.to - first.from <= MAX_PASSAGE_BYTES).unwrap_or(0);
        chosen.push((0, last));
    }
    chosen
        .iter()
        .map(|&(first, last)| cut_to_limit(&body[sentences[first].from..sentences[last].to]))
        .collect()
}

/// Cuts a passage to its maximum length.
fn cut_to_limit(text: &str) -> String {
    let mut text = text.trim();
    if text.len() > MAX_PASSAGE_BYTES {
        let most = text.floor_char_boundary(MAX_PASSAGE_BYTES);
        let space = text[..most].rfind(char::is_whitespace).filter(|at| *at > MAX_PASSAGE_BYTES / 2);
        text = text[..space.unwrap_or(most)].trim_end();
    }
    text.to_owned()
}

/// The sentences of a body with the words of the query in them.
fn match_sentences(document: &Document, plan: &QueryPlan) -> Vec<Sentence> {
    let forms = QueryForms::new(plan, document);
    let mut none = StemCache::default();
    let mut sentences: Vec<Sentence> =
        sentence_ranges(&document.body, &SentenceRules::lines(MAX_PASSAGE_BYTES))
            .take(MAX_SENTENCES)
            .map(|range| Sentence { from: range.start, to: range.end, words: 0, repeats: 0 })
            .collect();
    let mut lowered = String::new();
    let mut at = 0;
    for piece in pieces(&document.body) {
        while sentences.get(at).is_some_and(|sentence| sentence.to <= piece.from) {
            at += 1;
        }
        if at == sentences.len() {
            break;
        }
        if !piece.wide && !forms.may_match(piece.text) {
            continue;
        }
        let mut tokens = WordTokens::new(piece.text, &mut none);
        while tokens.advance() {
            let token = tokens.token();
            let written = &piece.text[token.offset_from..token.offset_to];
            let Some(word) = forms.word(&token.text, written, &mut lowered) else { continue };
            let from = piece.from + token.offset_from;
            while sentences.get(at).is_some_and(|sentence| sentence.to <= from) {
                at += 1;
            }
            let Some(sentence) = sentences.get_mut(at) else { return sentences };
            sentence.repeats += (sentence.words >> word & 1) as u32;
            sentence.words |= 1 << word;
        }
    }
    sentences
}

/// The forms of the query's words, to find them in a text.
struct QueryForms<'a> {
    words: HashMap<&'a str, usize>,
    /// The first two bytes of all forms: a cheap check before the costly lookup.
    prefixes: Vec<[u8; 2]>,
    /// Prefixes cannot be used, because stems of this language may begin differently.
    ignore_prefixes: bool,
    language: Option<Language>,
}

impl<'a> QueryForms<'a> {
    fn new(plan: &'a QueryPlan, document: &Document) -> Self {
        let terms = plan.terms.iter().enumerate().filter(|(_, term)| !term.joined);
        let words: HashMap<&str, usize> = terms
            .flat_map(|(at, term)| term.forms.iter().map(move |(form, _)| (form.as_str(), at)))
            .collect();
        let mut prefixes: Vec<[u8; 2]> =
            words.keys().map(|form| prefix(form.trim_start_matches(STEM_PREFIX))).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let language = match &document.language {
            Some(tag) => Language::from_tag(tag),
            None => Language::detect(&document.body),
        };
        let ignore_prefixes = language.is_some_and(Language::has_attached_prefixes);
        Self { words, prefixes, ignore_prefixes, language }
    }

    /// Whether a word begins like a word of the query. Most ASCII words do not and can be skipped.
    fn may_match(&self, written: &str) -> bool {
        let [first, second] = prefix(written);
        let plain = written.is_ascii();
        !plain
            || self.ignore_prefixes
            || self.prefixes.contains(&[first.to_ascii_lowercase(), second.to_ascii_lowercase()])
    }

    /// The word of the query that a word of the text equals or is a form of.
    fn word(&self, folded: &str, written: &str, lowered: &mut String) -> Option<usize> {
        if !self.ignore_prefixes && !self.prefixes.contains(&prefix(folded)) {
            return None;
        }
        if let Some(word) = self.words.get(folded) {
            return Some(*word);
        }
        lower(written, lowered);
        let stem = self.language?.stem(lowered)?;
        self.words.get(format!("{STEM_PREFIX}{stem}").as_str()).copied()
    }
}

/// The first two bytes of a word.
fn prefix(word: &str) -> [u8; 2] {
    let bytes = word.as_bytes();
    [bytes.first().copied().unwrap_or_default(), bytes.get(1).copied().unwrap_or_default()]
}
