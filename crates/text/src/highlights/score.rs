//! How well a passage answers a query.

use super::passages::{PassageKind, TextPassage};
use super::terms::extract_terms;
use crate::stem::crude;
use crate::stop_words::QUESTIONS;
use std::collections::HashMap;

const MAX_TERMS: usize = 64;
/// Budget steps of splitting a text into terms and counting them, as a multiple of reading it.
const STEPS_TIMES_TEXT: usize = 4;
const MAX_QUERY_BYTES: usize = 10_000;
/// BM25 parameters: saturation of repeated words, and penalty for long passages.
const SATURATION: f32 = 1.2;
const LENGTH_PENALTY: f32 = 0.5;
/// Weight of a word in the heading or column names, relative to one in the passage.
const HEADING_WEIGHT: f32 = 0.4;

/// What an answer must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerKind {
    Anything,
    Number,
    Date,
    Name,
    Code,
}

/// A parsed query.
#[derive(Debug)]
pub(super) struct HighlightQuery {
    terms: Vec<String>,
    answer: AnswerKind,
}

impl HighlightQuery {
    pub(super) fn parse(query: &str) -> Self {
        let query = &query[..query.floor_char_boundary(MAX_QUERY_BYTES)];
        let lower = query.to_lowercase();
        let all: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        // "How far", "how many": the word after it is part of the question.
        let asking = all.windows(2).filter(|pair| pair[0] == "how").map(|pair| crude(pair[1]));
        let common: Vec<String> = all
            .iter()
            .filter(|word| QUESTIONS.contains(word))
            .map(|word| crude(word))
            .chain(asking)
            .collect();
        let mut terms = distinct(extract_terms(query).into_iter().filter(|term| !common.contains(term)));
        // A query of nothing but common words still asks for something.
        if terms.is_empty() {
            terms = distinct(extract_terms(query).into_iter());
        }
        Self { terms, answer: answer_kind(&lower) }
    }
}

/// The first terms, each once: scoring has one place per term.
fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    for term in all {
        if terms.len() == MAX_TERMS {
            break;
        }
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

fn answer_kind(query: &str) -> AnswerKind {
    let any = |words: &[&str]| words.iter().any(|word| query.contains(word));
    if any(&[
        "how much",
        "how many",
        "price",
        "cost",
        "how old",
        "how long",
        "how far",
        "how tall",
        "wie viel",
        "wie viele",
        "combien",
        "cuánto",
        "quanto",
        "сколько",
        "多少",
        "いくら",
    ]) {
        AnswerKind::Number
    } else if any(&[
        "when ",
        "what year",
        "which year",
        "what date",
        "wann ",
        "quand ",
        "cuándo",
        "quando ",
        "когда",
        "什么时候",
        "いつ",
    ]) {
        AnswerKind::Date
    } else if any(&["who ", "whose ", "wer ", "qui ", "quién", "chi ", "quem ", "кто ", "谁", "誰"]) {
        AnswerKind::Name
    } else if any(&["command", "code", "snippet", "install", "syntax", "how to call", "befehl"]) {
        AnswerKind::Code
    } else {
        AnswerKind::Anything
    }
}

/// A passage's score.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassageScore {
    pub(super) value: f32,
    /// Share of the query's weight that it contains.
    pub(super) covered: f32,
    /// The query's words in it, one bit each.
    pub(super) words: u64,
}

/// The query terms in one passage.
struct PassageMatches {
    counts: Vec<f32>,
    length: f32,
    /// The shortest span of words with all query words of the passage.
    span: usize,
}

/// Scores all passages: rare words of the query weigh more, words close together more than words apart.
pub(super) fn score_passages(query: &HighlightQuery, passages: &[TextPassage]) -> Vec<PassageScore> {
    let places: HashMap<&str, usize> =
        query.terms.iter().enumerate().map(|(at, term)| (term.as_str(), at)).collect();
    let mut holding = vec![0_u32; query.terms.len()];
    let mut contexts: HashMap<(&str, &str), Vec<bool>> = HashMap::new();
    let matches: Vec<PassageMatches> = passages
        .iter()
        .map(|passage| {
            budget::spend_on_text(STEPS_TIMES_TEXT * passage.text.len());
            let matches = count_matches(passage.text, &places);
            for (count, number) in matches.counts.iter().zip(&mut holding) {
                *number += u32::from(*count > 0.0);
            }
            contexts.entry(context(passage)).or_insert_with(|| {
                let above = [passage.heading, passage.columns.unwrap_or_default()].join("\n");
                count_matches(&above, &places).counts.iter().map(|count| *count > 0.0).collect()
            });
            matches
        })
        .collect();
    let total = passages.len() as f32;
    let weights: Vec<f32> = holding.iter().map(|&number| weight(number.max(1) as f32, total)).collect();
    let whole: f32 = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let mean = (matches.iter().map(|matches| matches.length).sum::<f32>() / total.max(1.0)).max(1.0);
    passages
        .iter()
        .zip(&matches)
        .map(|(passage, matches)| {
            score(query, passage, matches, &contexts[&context(passage)], &weights, whole, mean)
        })
        .collect()
}

/// The context of a passage: its heading and column names.
fn context<'a>(passage: &TextPassage<'a>) -> (&'a str, &'a str) {
    (passage.heading, passage.columns.unwrap_or_default())
}

/// Inverse document frequency of a word that `number` of `total` passages contain.
fn weight(number: f32, total: f32) -> f32 {
    (1.0 + ((total - number + 0.5) / (number + 0.5)).max(0.0)).ln()
}

fn count_matches(text: &str, places: &HashMap<&str, usize>) -> PassageMatches {
    let terms = extract_terms(text);
    let mut counts = vec![0.0; places.len()];
    let mut hits: Vec<(usize, usize)> = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        if let Some(&place) = places.get(term.as_str()) {
            counts[place] += 1.0;
            hits.push((at, place));
        }
    }
    PassageMatches { counts, length: terms.len() as f32, span: shortest_span(&hits, places.len()) }
}

/// The shortest span of words with every term found, by a sliding window.
fn shortest_span(hits: &[(usize, usize)], terms: usize) -> usize {
    let mut seen = vec![0_usize; terms];
    for &(_, place) in hits {
        seen[place] += 1;
    }
    let answer = seen.iter().filter(|count| **count > 0).count();
    seen.fill(0);
    let (mut have, mut from, mut best) = (0, 0, usize::MAX);
    for &(at, place) in hits {
        have += usize::from(seen[place] == 0);
        seen[place] += 1;
        while have == answer {
            let (first, term) = hits[from];
            best = best.min(at - first + 1);
            seen[term] -= 1;
            have -= usize::from(seen[term] == 0);
            from += 1;
        }
    }
    best
}

fn score(
    query: &HighlightQuery,
    passage: &TextPassage,
    matches: &PassageMatches,
    heading: &[bool],
    weights: &[f32],
    whole: f32,
    mean: f32,
) -> PassageScore {
    let (mut value, mut covered, mut found, mut words) = (0.0, 0.0, 0_usize, 0_u64);
    for (at, weight) in weights.iter().enumerate() {
        let count = matches.counts[at];
        if count > 0.0 {
            found += 1;
            words |= 1 << at;
            covered += weight;
            let damp = SATURATION * (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * matches.length / mean);
            value += weight * count * (SATURATION + 1.0) / (count + damp);
        } else if heading[at] {
            covered += weight * HEADING_WEIGHT;
            value += weight * HEADING_WEIGHT;
        }
    }
    // A heading alone does not answer; the text under it does.
    if found == 0 && !heading.iter().any(|matches| *matches) || passage.kind == PassageKind::Heading {
        return PassageScore::default();
    }
    if found == 0 && matches.length < 3.0 {
        return PassageScore::default();
    }
    if found > 1 {
        value *= 1.0 + 0.5 * found as f32 / matches.span.max(found) as f32;
    }
    let fits = match query.answer {
        AnswerKind::Anything => false,
        AnswerKind::Number => passage.text.bytes().any(|byte| byte.is_ascii_digit()),
        AnswerKind::Date => has_date(passage.text),
        AnswerKind::Name => has_name(passage.text),
        AnswerKind::Code => passage.kind == PassageKind::Code || passage.text.contains('`'),
    };
    if fits {
        value *= 1.35;
    }
    PassageScore { value: value * (covered / whole).clamp(0.0, 1.0), covered: covered / whole, words }
}

/// A year, a month's name before or after a number, or a date in numbers.
fn has_date(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit())
        .any(|digits| digits.len() == 4 && matches!(digits.as_bytes()[0], b'1' | b'2'))
        || text
            .split(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '/' | '.')))
            .any(|run| run.len() >= 8 && run.bytes().filter(u8::is_ascii_digit).count() >= 6)
}

/// Two capitalised words after each other, not at the start of the passage.
fn has_name(text: &str) -> bool {
    let capital: Vec<bool> =
        text.split_whitespace().map(|word| word.starts_with(char::is_uppercase)).collect();
    capital.windows(2).any(|pair| pair[0] && pair[1])
}
