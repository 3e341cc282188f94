//! Whether an answer without a schema is about the question: which words of the question it does not mention. Rules
//! cannot tell whether a passage answers a question, but a price that is never mentioned was not found.

use crate::prompt_words::search_query;
use crate::run::ParsedPage;
use serde_json::Value;
use std::sync::Arc;
use text::{names, stem};

/// Characters of an answer and of a page's headings that are compared.
const MAX_CHARACTERS: usize = 20_000;
/// Words that begin alike are forms of one word, from this length.
const MIN_STEM_CHARACTERS: usize = 4;

/// Words of the prompt that neither the answer nor the names of the pages it is from mention.
pub(super) fn unmentioned_words(prompt: &str, answer: &Value, pages: &[&Arc<ParsedPage>]) -> Vec<String> {
    let mut text = String::new();
    for (name, value) in answer.as_object().into_iter().flatten() {
        // The member `answer` is named by us, not by a page.
        if name != "answer" {
            text.push_str(name);
        }
        text.push(' ');
        text.push_str(value.as_str().unwrap_or_default());
        text.push(' ');
    }
    for page in pages {
        text.push_str(page.title.as_deref().unwrap_or_default());
        text.push(' ');
        text.push_str(page.markdown.lines().find(|line| line.starts_with('#')).unwrap_or_default());
        text.push(' ');
    }
    let mentioned: Vec<String> = words(text.chars().take(MAX_CHARACTERS)).collect();
    let asked = search_query(prompt);
    let mut missing: Vec<String> = Vec::new();
    for word in asked.split(' ').filter(|word| is_spaced(word)) {
        let is_mentioned =
            words(word.chars()).all(|word| mentioned.iter().any(|other| is_same_word(&word, other)));
        if !is_mentioned && !missing.iter().any(|known| known == word) {
            missing.push(word.to_owned());
        }
    }
    missing
}

pub(super) fn words(text: impl IntoIterator<Item = char>) -> impl Iterator<Item = String> {
    names::words(text).map(|word| stem::singular(&word))
}

pub(super) fn is_same_word(one: &str, other: &str) -> bool {
    let shorter = one.chars().count().min(other.chars().count());
    one == other || (shorter >= MIN_STEM_CHARACTERS && (one.starts_with(other) || other.starts_with(one)))
}

/// Whether a word is of a script that puts spaces between words.
fn is_spaced(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c < '\u{2e80}')
}
