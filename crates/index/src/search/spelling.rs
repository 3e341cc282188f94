//! Spelling correction: words that the index does not contain are replaced by similar ones. Limited to few
//! words and corrections, and only used when the query as written finds almost nothing.

use crate::error::Result;
use crate::schema::{BODY, TITLE};
use crate::search::IndexView;
use crate::search::plan::{QueryPlan, QueryTerm};
use crate::search::weights::Weights;
use crate::words::STEM_PREFIX;
use std::collections::HashMap;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

/// Words that are corrected, and corrections for each.
const MAX_CORRECTED_WORDS: usize = 3;
const MAX_CORRECTIONS: usize = 3;
/// Similar words that are examined for each.
const MAX_EXAMINED_WORDS: usize = 500;
/// Shorter words have too many similar ones. From the second length on, two typing errors are corrected.
const MIN_LETTERS: usize = 4;
const MIN_LETTERS_FOR_TWO_ERRORS: usize = 9;
/// Weight factor of a corrected word.
const CORRECTION_FACTOR: f32 = 0.6;

/// The plan with its unknown words corrected; none if there is nothing to correct.
pub(crate) fn correct_plan(
    view: &IndexView,
    plan: &QueryPlan,
    weights: &Weights,
) -> Result<Option<QueryPlan>> {
    let mut terms = plan.terms.clone();
    let mut changed = false;
    for term in terms.iter_mut().filter(|term| !term.known).take(MAX_CORRECTED_WORDS) {
        let Some((word, _)) = term.forms.first() else { continue };
        let corrections = find_corrections(view, word)?;
        if !corrections.is_empty() {
            *term = QueryTerm { words: term.words, ..QueryTerm::build(view, corrections, false, weights)? };
            term.idf *= CORRECTION_FACTOR;
            changed = true;
        }
    }
    Ok(changed.then(|| QueryPlan { terms, pairs: plan.pairs.clone() }))
}

/// The most frequent similar words of titles and bodies.
fn find_corrections(view: &IndexView, word: &str) -> Result<Vec<(String, f32)>> {
    let letters = word.chars().count();
    if letters < MIN_LETTERS || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return Ok(Vec::new());
    }
    let errors = if letters < MIN_LETTERS_FOR_TWO_ERRORS { 1 } else { 2 };
    let mut found: HashMap<String, u32> = HashMap::new();
    for field in [TITLE, BODY] {
        let term = Term::from_field_text(view.fields.ranked[field], word);
        let automaton = FuzzyTermQuery::new(term, errors, true).automaton()?;
        for segment in 0..view.searcher.segment_readers().len() {
            let index = view.stats.term_dictionary(segment, field);
            let mut stream = index.terms().search(&automaton).into_stream()?;
            let mut examined = 0;
            while examined < MAX_EXAMINED_WORDS && stream.advance() {
                examined += 1;
                if let Ok(text) = std::str::from_utf8(stream.key())
                    && !text.starts_with(STEM_PREFIX)
                {
                    *found.entry(text.to_owned()).or_default() += stream.value().doc_freq;
                }
            }
        }
    }
    let mut found: Vec<(String, u32)> = found.into_iter().collect();
    // Prefer the same first letter, which is seldom wrong.
    let first = word.chars().next();
    found.sort_by_key(|(text, number)| (text.chars().next() != first, std::cmp::Reverse(*number)));
    found.truncate(MAX_CORRECTIONS);
    Ok(found.into_iter().map(|(text, _)| (text, 1.0)).collect())
}
