//! Last resort: a sentence that mentions the name of a field, with a value of its kind next to it.

use super::object::ChosenValue;
use super::{Evidence, FillScope, Filler};
use crate::facts::EvidenceKind;
use crate::rank::{self, strip_markdown};
use crate::schema::{FieldKind, SchemaField};
use crate::values::{ValueRole, date, number};
use crate::words::{NameWords, words_match};
use serde_json::{Number, Value};
use std::collections::HashMap;

/// Text and sentences examined on one page.
const MAX_TEXT_BYTES: usize = 400_000;
const MAX_SENTENCES: usize = 3_000;
const MAX_SENTENCE_BYTES: usize = 600;
/// Fields searched for in sentences.
const MAX_FIELDS: usize = 60;
/// Share of a field's words that a sentence must contain.
const MIN_COVERED_SHARE: f32 = 0.6;
const SENTENCE_CONFIDENCE: f32 = 0.35;
/// How well a value in a sentence must fit its field's kind.
const MIN_KIND_FIT: f32 = 0.5;

struct Sentence {
    text: String,
    /// Each normalized word with its start and end.
    words: Vec<(String, usize, usize)>,
}

impl<'p> Filler<'_, 'p> {
    pub(crate) fn add_sentences(
        &self,
        leaves: &[usize],
        scope: &FillScope<'p>,
        chosen: &mut HashMap<usize, ChosenValue<'p>>,
    ) {
        let FillScope::Pages(pages) = scope else { return };
        let left: Vec<usize> = leaves
            .iter()
            .copied()
            .filter(|leaf| {
                !chosen.contains_key(leaf)
                    && !self.matcher.names[*leaf].own.is_empty()
                    && self.shape.fields[*leaf].choices.is_empty()
            })
            .take(MAX_FIELDS)
            .collect();
        if left.is_empty() {
            return;
        }
        for &page in pages.iter().take(20) {
            let view = self.pages[page].view;
            for sentence in sentences(view.markdown) {
                for &leaf in &left {
                    budget::spend(1);
                    if chosen.contains_key(&leaf) {
                        continue;
                    }
                    let Some(value) = self.value_in_sentence(leaf, page, &sentence) else { continue };
                    let kind = self.matcher.kinds[leaf];
                    if value.as_str().is_some_and(|text| kind.fit(text) < MIN_KIND_FIT) {
                        continue;
                    }
                    let quote = sentence.text.clone();
                    let evidence = Evidence {
                        pointer: String::new(),
                        url: view.url.to_owned(),
                        quote,
                        how: EvidenceKind::Sentence,
                        confidence: SENTENCE_CONFIDENCE,
                    };
                    chosen.insert(leaf, ChosenValue::Text(value, evidence));
                }
            }
        }
    }

    /// The value of a field in a sentence.
    fn value_in_sentence(&self, leaf: usize, page: usize, sentence: &Sentence) -> Option<Value> {
        let field = &self.shape.fields[leaf];
        let name = &self.matcher.names[leaf];
        let places: Vec<Option<usize>> = name
            .own
            .0
            .iter()
            .map(|word| sentence.words.iter().position(|(known, ..)| words_match(word, known)))
            .collect();
        let found = places.iter().flatten().count();
        if found == 0 || (found as f32) < MIN_COVERED_SHARE * places.len() as f32 {
            return None;
        }
        // The value is usually next to the last word of the name.
        let near = places.iter().rev().flatten().next().copied()?;
        let (_, start, end) = sentence.words[near];
        match (field.kind, self.matcher.roles[leaf]) {
            (FieldKind::Integer | FieldKind::Number, ValueRole::Year) => {
                date::find_year(&sentence.text).map(Value::from)
            }
            (FieldKind::Integer | FieldKind::Number, _) => {
                nearest_number(field, &sentence.text, start, end, self.pages[page].decimal_comma)
            }
            (FieldKind::Text, ValueRole::Name | ValueRole::Plain) => {
                name_after(sentence, near).map(|text| Value::String(text.to_owned()))
            }
            _ => None,
        }
    }
}

fn sentences(markdown: &str) -> Vec<Sentence> {
    let text = &markdown[..markdown.floor_char_boundary(MAX_TEXT_BYTES)];
    let mut found = Vec::new();
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('|') && !line.starts_with("```") && !line.starts_with('#'));
    for line in lines {
        let line = strip_markdown(line);
        for text in rank::split_sentences(&line).filter(|text| (12..MAX_SENTENCE_BYTES).contains(&text.len()))
        {
            if found.len() == MAX_SENTENCES {
                return found;
            }
            let mut words = Vec::new();
            let mut at = 0;
            for word in text.split(|c: char| !c.is_alphanumeric()) {
                if let Some(folded) = NameWords::from_name(word).0.pop() {
                    words.push((folded, at, at + word.len()));
                }
                at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
            }
            found.push(Sentence { text: text.to_owned(), words });
        }
    }
    found
}

/// The number nearest to the words.
fn nearest_number(
    field: &SchemaField,
    text: &str,
    start: usize,
    end: usize,
    decimal_comma: bool,
) -> Option<Value> {
    let all = number::find_numbers(text, decimal_comma, 6);
    let distance = |number: &number::WrittenNumber| {
        if number.at < start { start - number.at } else { number.at.saturating_sub(end) }
    };
    let nearest = all.iter().min_by_key(|number| distance(number)).filter(|number| distance(number) <= 30)?;
    #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    match (field.kind, nearest.value) {
        (_, value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(Value::from(value as i64)),
        (FieldKind::Number, value) => Number::from_f64(value).map(Value::Number),
        _ => None,
    }
}

/// A name that follows the words: "founded by Tamsin Pascoe in 1887", "headquarters in Newlyn".
fn name_after(sentence: &Sentence, near: usize) -> Option<&str> {
    const BETWEEN: &[&str] = &[
        "by", "in", "at", "is", "was", "are", "the", "of", "von", "par", "por", "ist", "est", "es", "a",
        "an", "named", "called", "to",
    ];
    let text = &sentence.text;
    let mut at = sentence.words[near].2;
    let mut span: Option<(usize, usize)> = None;
    for word in text[at..].split_inclusive(' ').skip(1).take(10) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let start = at + text[at..].find(word)?;
        at = start + word.len();
        let capital = bare.starts_with(char::is_uppercase);
        match (&mut span, capital) {
            (Some((_, end)), true) => *end = start + word.trim_end().len(),
            (Some(_), false) => break,
            (None, true) => span = Some((start, start + word.trim_end().len())),
            (None, false) if BETWEEN.contains(&bare) => {}
            (None, false) => return None,
        }
        if word.trim_end().ends_with([',', '.', ';', ')']) && span.is_some() {
            break;
        }
    }
    let (from, to) = span?;
    Some(text[from..to].trim_matches(|c: char| !c.is_alphanumeric())).filter(|name| name.len() > 1)
}
