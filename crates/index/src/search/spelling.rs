//! Words that the index does not know, taken for those one slip of the finger away. Bounded: few words, few corrections, and only when
//! what was written finds next to nothing.

use crate::error::Result;
use crate::schema::{BODY, TITLE};
use crate::search::View;
use crate::search::plan::{Group, Plan};
use crate::search::weights::Weights;
use crate::words::STEM;
use std::collections::HashMap;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

/// Words that are corrected, and words that each is taken for.
const MOST_WORDS: usize = 3;
const MOST_CORRECTIONS: usize = 3;
/// Words that are looked at for each.
const MOST_LOOKED_AT: usize = 500;
/// Shorter words are too like others; from this many letters on two slips are forgiven.
const SHORTEST: usize = 4;
const TWO_SLIPS: usize = 9;
/// What a corrected word counts.
const WORTH: f32 = 0.6;

/// The plan with its unknown words corrected; none where there is nothing to correct.
pub(crate) fn corrected(view: &View, plan: &Plan, weights: &Weights) -> Result<Option<Plan>> {
    let mut groups = plan.groups.clone();
    let mut changed = false;
    for group in groups.iter_mut().filter(|group| !group.known).take(MOST_WORDS) {
        let Some((word, _)) = group.forms.first() else { continue };
        let corrections = corrections(view, word)?;
        if !corrections.is_empty() {
            *group = Group { words: group.words, ..Group::of(view, corrections, false, weights)? };
            group.idf *= WORTH;
            changed = true;
        }
    }
    Ok(changed.then(|| Plan { groups, pairs: plan.pairs.clone() }))
}

/// The most frequent words of titles and bodies that a word may have been meant for.
fn corrections(view: &View, word: &str) -> Result<Vec<(String, f32)>> {
    let letters = word.chars().count();
    if letters < SHORTEST || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return Ok(Vec::new());
    }
    let slips = if letters < TWO_SLIPS { 1 } else { 2 };
    let mut found: HashMap<String, u32> = HashMap::new();
    for field in [TITLE, BODY] {
        let term = Term::from_field_text(view.fields.ranked[field], word);
        let automaton = FuzzyTermQuery::new(term, slips, true).automaton()?;
        for segment in 0..view.searcher.segment_readers().len() {
            let index = view.census.words(segment, field);
            let mut stream = index.terms().search(&automaton).into_stream()?;
            let mut looked_at = 0;
            while looked_at < MOST_LOOKED_AT && stream.advance() {
                looked_at += 1;
                if let Ok(text) = std::str::from_utf8(stream.key())
                    && !text.starts_with(STEM)
                {
                    *found.entry(text.to_owned()).or_default() += stream.value().doc_freq;
                }
            }
        }
    }
    let mut found: Vec<(String, u32)> = found.into_iter().collect();
    // The first letter is the one that is seldom wrong.
    let first = word.chars().next();
    found.sort_by_key(|(text, number)| (text.chars().next() != first, std::cmp::Reverse(*number)));
    found.truncate(MOST_CORRECTIONS);
    Ok(found.into_iter().map(|(text, _)| (text, 1.0)).collect())
}
