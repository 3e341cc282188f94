//! Normalizes words: lower case, without common endings; pairs of characters in scripts without spaces.

use crate::stem;

/// The terms of a text in order.
pub(super) fn extract_terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut last_wide: Option<char> = None;
    for c in text.chars().chain(std::iter::once(' ')) {
        if is_wide(c) {
            push(&mut terms, &mut word);
            if let Some(last) = last_wide {
                terms.push([last, c].iter().collect());
            }
            last_wide = Some(c);
            continue;
        }
        last_wide = None;
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else if !matches!(c, '\'' | '’') {
            push(&mut terms, &mut word);
        }
    }
    terms
}

fn push(terms: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        terms.push(stem::crude(word));
        word.clear();
    }
}

/// Characters of scripts without spaces between words.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{e00}'..='\u{e7f}')
}
