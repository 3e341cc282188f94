//! How well a passage answers a query.

use super::passages::{Kind, Passage};
use super::terms::{is_common, of, stem};
use crate::budget;
use std::collections::HashMap;

const MOST_TERMS: usize = 64;
/// Cutting a text into terms and counting them takes so many times as long as reading it.
const TIMES_TEXT: usize = 4;
const LONGEST_QUERY: usize = 10_000;
/// How fast more of the same word stops counting, and how much length counts against a passage.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.5;
/// What a word in the heading or the column names above counts beside one in the passage.
const HEADING: f32 = 0.4;

/// What an answer has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Anything,
    Number,
    Date,
    Name,
    Code,
}

/// A query, read.
#[derive(Debug)]
pub(super) struct Query {
    terms: Vec<String>,
    wanted: Wanted,
}

impl Query {
    pub(super) fn of(query: &str) -> Self {
        let query = &query[..query.floor_char_boundary(LONGEST_QUERY)];
        let lower = query.to_lowercase();
        let all: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        // "How far", "how many": the word after it is part of the question.
        let asking = all.windows(2).filter(|pair| pair[0] == "how").map(|pair| stem(pair[1]));
        let common: Vec<String> =
            all.iter().filter(|word| is_common(word)).map(|word| stem(word)).chain(asking).collect();
        let mut terms: Vec<String> = Vec::new();
        for term in of(query) {
            if !common.contains(&term) && !terms.contains(&term) && terms.len() < MOST_TERMS {
                terms.push(term);
            }
        }
        // A query of nothing but common words still asks for something.
        if terms.is_empty() {
            terms = of(query);
            terms.truncate(MOST_TERMS);
        }
        Self { terms, wanted: wanted(&lower) }
    }
}

fn wanted(query: &str) -> Wanted {
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
        Wanted::Number
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
        Wanted::Date
    } else if any(&["who ", "whose ", "wer ", "qui ", "quién", "chi ", "quem ", "кто ", "谁", "誰"]) {
        Wanted::Name
    } else if any(&["command", "code", "snippet", "install", "syntax", "how to call", "befehl"]) {
        Wanted::Code
    } else {
        Wanted::Anything
    }
}

/// A passage's score.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Score {
    pub(super) value: f32,
    /// Share of the query's weight that it holds.
    pub(super) covered: f32,
    /// The query's words it holds, a bit each.
    pub(super) words: u64,
}

/// What one passage holds of the query.
struct Held {
    counts: Vec<f32>,
    length: f32,
    /// Fewest words that hold all of the query's words the passage has.
    span: usize,
}

/// Scores all passages: rare words of the query weigh more, words close together more than words apart.
pub(super) fn all(query: &Query, passages: &[Passage]) -> Vec<Score> {
    let places: HashMap<&str, usize> =
        query.terms.iter().enumerate().map(|(at, term)| (term.as_str(), at)).collect();
    let mut holding = vec![0_u32; query.terms.len()];
    let mut contexts: HashMap<(&str, &str), Vec<bool>> = HashMap::new();
    let held: Vec<Held> = passages
        .iter()
        .map(|passage| {
            budget::spend_on_text(TIMES_TEXT * passage.text.len());
            let held = hold(passage.text, &places);
            for (count, number) in held.counts.iter().zip(&mut holding) {
                *number += u32::from(*count > 0.0);
            }
            contexts.entry(context(passage)).or_insert_with(|| {
                let above = [passage.heading, passage.columns.unwrap_or_default()].join("\n");
                hold(&above, &places).counts.iter().map(|count| *count > 0.0).collect()
            });
            held
        })
        .collect();
    let total = passages.len() as f32;
    let weights: Vec<f32> = holding.iter().map(|&number| weight(number.max(1) as f32, total)).collect();
    let whole: f32 = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let mean = (held.iter().map(|held| held.length).sum::<f32>() / total.max(1.0)).max(1.0);
    passages
        .iter()
        .zip(&held)
        .map(|(passage, held)| {
            score(query, passage, held, &contexts[&context(passage)], &weights, whole, mean)
        })
        .collect()
}

/// What stands over a passage: its heading and the names of its columns.
fn context<'a>(passage: &Passage<'a>) -> (&'a str, &'a str) {
    (passage.heading, passage.columns.unwrap_or_default())
}

/// What a word weighs that so many of all passages hold. One that none holds weighs like one of a single passage.
fn weight(number: f32, total: f32) -> f32 {
    (1.0 + ((total - number + 0.5) / (number + 0.5)).max(0.0)).ln()
}

fn hold(text: &str, places: &HashMap<&str, usize>) -> Held {
    let terms = of(text);
    let mut counts = vec![0.0; places.len()];
    let mut hits: Vec<(usize, usize)> = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        if let Some(&place) = places.get(term.as_str()) {
            counts[place] += 1.0;
            hits.push((at, place));
        }
    }
    Held { counts, length: terms.len() as f32, span: shortest_span(&hits, places.len()) }
}

/// The fewest words that hold every term found, by one pass of two ends.
fn shortest_span(hits: &[(usize, usize)], terms: usize) -> usize {
    let mut seen = vec![0_usize; terms];
    for &(_, place) in hits {
        seen[place] += 1;
    }
    let wanted = seen.iter().filter(|count| **count > 0).count();
    seen.fill(0);
    let (mut have, mut from, mut best) = (0, 0, usize::MAX);
    for &(at, place) in hits {
        have += usize::from(seen[place] == 0);
        seen[place] += 1;
        while have == wanted {
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
    query: &Query,
    passage: &Passage,
    held: &Held,
    heading: &[bool],
    weights: &[f32],
    whole: f32,
    mean: f32,
) -> Score {
    let (mut value, mut covered, mut found, mut words) = (0.0, 0.0, 0_usize, 0_u64);
    for (at, weight) in weights.iter().enumerate() {
        let count = held.counts[at];
        if count > 0.0 {
            found += 1;
            words |= 1 << at;
            covered += weight;
            let damp = SATURATION * (1.0 - LENGTH + LENGTH * held.length / mean);
            value += weight * count * (SATURATION + 1.0) / (count + damp);
        } else if heading[at] {
            covered += weight * HEADING;
            value += weight * HEADING;
        }
    }
    // A heading answers nothing by itself; what stands under it does, if it says anything of its own.
    if found == 0 && !heading.iter().any(|held| *held) || passage.kind == Kind::Heading {
        return Score::default();
    }
    if found == 0 && held.length < 3.0 {
        return Score::default();
    }
    if found > 1 {
        value *= 1.0 + 0.5 * found as f32 / held.span.max(found) as f32;
    }
    let fits = match query.wanted {
        Wanted::Anything => false,
        Wanted::Number => passage.text.bytes().any(|byte| byte.is_ascii_digit()),
        Wanted::Date => has_date(passage.text),
        Wanted::Name => has_name(passage.text),
        Wanted::Code => passage.kind == Kind::Code || passage.text.contains('`'),
    };
    if fits {
        value *= 1.35;
    }
    Score { value: value * (covered / whole).clamp(0.0, 1.0), covered: covered / whole, words }
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
