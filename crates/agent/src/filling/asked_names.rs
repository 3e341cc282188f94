//! The names in a question that no page was given for: which of the pages that a search found are about the thing that it
//! names. A value of another page is no answer.

use super::question::{is_same_word, words};
use crate::run::ParsedPage;
use std::collections::HashSet;
use std::sync::Arc;

/// Names taken from one prompt, and characters of a page that are compared.
const MAX_NAMES: usize = 20;
const MAX_PAGE_CHARACTERS: usize = 200_000;

/// Words of a prompt that name something: with a capital letter, unless it begins a sentence, or with letters and
/// digits.
pub(crate) fn asked_names(prompt: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut begins_sentence = true;
    for written in prompt.split_whitespace() {
        let word = written.trim_matches(|c: char| !c.is_alphanumeric());
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let digits = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(char::is_alphabetic);
        // "ISBN" at the beginning is a name too.
        let shouted = word.chars().filter(|c| c.is_uppercase()).count() > 1;
        let is_name = digits || shouted || (capital && !begins_sentence);
        if is_name && word.chars().count() > 1 && names.len() < MAX_NAMES && !names.iter().any(|n| n == word)
        {
            names.push(word.to_owned());
        }
        begins_sentence = written.ends_with(['.', '!', '?', ':']);
    }
    names
}

/// How many names each page mentions, of those that any of them does.
pub(super) struct NamedPages {
    counts: Vec<(String, usize)>,
}

impl NamedPages {
    pub fn new(names: &[String], pages: &[Arc<ParsedPage>]) -> Self {
        let count = |parsed: &Arc<ParsedPage>| {
            let title = parsed.title.as_deref().unwrap_or_default();
            let text = title.chars().chain([' ']).chain(parsed.markdown.chars()).take(MAX_PAGE_CHARACTERS);
            let mentioned: HashSet<String> = words(text).collect();
            let has = |word: String| {
                mentioned.contains(&word) || mentioned.iter().any(|other| is_same_word(&word, other))
            };
            let named = names.iter().filter(|name| words(name.chars()).all(has));
            (parsed.url.clone(), named.count())
        };
        Self { counts: pages.iter().map(count).collect() }
    }

    fn count(&self, url: &str) -> usize {
        self.counts.iter().find(|(known, _)| known == url).map_or(0, |(_, count)| *count)
    }

    /// The pages that mention most of the names; none where all do, or no page does.
    pub fn best(&self, pages: &[Arc<ParsedPage>]) -> Vec<Arc<ParsedPage>> {
        let most = self.counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let best = pages.iter().filter(|parsed| most > 0 && self.count(&parsed.url) == most);
        let best: Vec<Arc<ParsedPage>> = best.cloned().collect();
        if best.len() == pages.len() { Vec::new() } else { best }
    }

    /// Whether a page mentions none of them.
    pub fn is_about_other_things(&self, url: &str) -> bool {
        self.count(url) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_a_question_is_about() {
        for (prompt, names) in [
            ("How many units has ASTRON 7A?", &["ASTRON", "7A"][..]),
            ("Who founded Acme Robotics? The year, too.", &["Acme", "Robotics"]),
            ("ISBN of the book", &["ISBN"]),
            ("the price of the 3 cheapest flats", &[]),
        ] {
            assert_eq!(asked_names(prompt), names, "{prompt}");
        }
    }
}
