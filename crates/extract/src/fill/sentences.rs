//! Last resort: a sentence that mentions what a field is called, with a value of its kind beside the words.

use super::object::Choice;
use super::{Evidence, Filler, Scope};
use crate::facts::How;
use crate::rank::{self, plain_line};
use crate::reading::{Role, date, number};
use crate::schema::{Field, Kind};
use crate::words::{Words, akin};
use content::budget;
use serde_json::{Number, Value};
use std::collections::HashMap;

/// Text and sentences looked at on one page.
const MOST_TEXT: usize = 400_000;
const MOST_SENTENCES: usize = 3_000;
const LONGEST: usize = 600;
/// Fields that sentences are searched for.
const MOST_FIELDS: usize = 60;
/// Share of a field's words that a sentence must have.
const LEAST_COVERED: f32 = 0.6;
const CONFIDENCE: f32 = 0.35;

struct Sentence {
    text: String,
    /// Each word: folded, and where it stands.
    words: Vec<(String, usize, usize)>,
}

impl<'p> Filler<'_, 'p> {
    pub(crate) fn add_sentences(
        &self,
        leaves: &[usize],
        scope: &Scope<'p>,
        chosen: &mut HashMap<usize, Choice<'p>>,
    ) {
        let Scope::Pages(pages) = scope else { return };
        let left: Vec<usize> = leaves
            .iter()
            .copied()
            .filter(|leaf| {
                !chosen.contains_key(leaf)
                    && !self.wants.names[*leaf].own.is_empty()
                    && self.shape.fields[*leaf].choices.is_empty()
            })
            .take(MOST_FIELDS)
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
                    let Some(value) = self.said(leaf, page, &sentence) else { continue };
                    let quote = sentence.text.clone();
                    let evidence = Evidence {
                        pointer: String::new(),
                        url: view.url.to_owned(),
                        quote,
                        how: How::Sentence,
                        confidence: CONFIDENCE,
                    };
                    chosen.insert(leaf, Choice::Sentence(value, evidence));
                }
            }
        }
    }

    /// What a sentence says of a field.
    fn said(&self, leaf: usize, page: usize, sentence: &Sentence) -> Option<Value> {
        let field = &self.shape.fields[leaf];
        let name = &self.wants.names[leaf];
        let places: Vec<Option<usize>> = name
            .own
            .0
            .iter()
            .map(|word| sentence.words.iter().position(|(known, ..)| akin(word, known)))
            .collect();
        let found = places.iter().flatten().count();
        if found == 0 || (found as f32) < LEAST_COVERED * places.len() as f32 {
            return None;
        }
        // What the last word is about stands nearest to the value.
        let near = places.iter().rev().flatten().next().copied()?;
        let (_, start, end) = sentence.words[near];
        match (field.kind, self.wants.roles[leaf]) {
            (Kind::Integer | Kind::Number, Role::Year) => date::year(&sentence.text).map(Value::from),
            (Kind::Integer | Kind::Number, _) => {
                figure(field, &sentence.text, start, end, self.pages[page].decimal_comma)
            }
            (Kind::Text, Role::Name | Role::Plain) => {
                named_after(sentence, near).map(|text| Value::String(text.to_owned()))
            }
            _ => None,
        }
    }
}

fn sentences(markdown: &str) -> Vec<Sentence> {
    let text = &markdown[..markdown.floor_char_boundary(MOST_TEXT)];
    let mut found = Vec::new();
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('|') && !line.starts_with("```") && !line.starts_with('#'));
    for line in lines {
        let line = plain_line(line);
        for text in rank::sentences(&line).into_iter().filter(|text| (12..LONGEST).contains(&text.len())) {
            if found.len() == MOST_SENTENCES {
                return found;
            }
            let mut words = Vec::new();
            let mut at = 0;
            for word in text.split(|c: char| !c.is_alphanumeric()) {
                if let Some(folded) = Words::of(word).0.pop() {
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
fn figure(field: &Field, text: &str, start: usize, end: usize, decimal_comma: bool) -> Option<Value> {
    let all = number::numbers(text, decimal_comma, 6);
    let distance = |number: &number::Written| {
        if number.at < start { start - number.at } else { number.at.saturating_sub(end) }
    };
    let nearest = all.iter().min_by_key(|number| distance(number)).filter(|number| distance(number) <= 30)?;
    #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    match (field.kind, nearest.value) {
        (_, value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(Value::from(value as i64)),
        (Kind::Number, value) => Number::from_f64(value).map(Value::Number),
        _ => None,
    }
}

/// A name that follows the words: "founded by Tamsin Pascoe in 1887", "headquarters in Newlyn".
fn named_after(sentence: &Sentence, near: usize) -> Option<&str> {
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
