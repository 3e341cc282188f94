//! The posting lists that a query reads: for every word its forms in every field, and the weight of the word.

use crate::error::Result;
use crate::schema::{BODY, HOST, RANKED_FIELDS};
use crate::search::IndexView;
use crate::search::terms::{ParsedQuery, QueryWord};
use crate::search::weights::Weights;
use crate::words::STEM_PREFIX;
use tantivy::Term;
use tantivy::postings::TermInfo;

/// Words used for ranking; of a longer query the rarest.
const MAX_TERMS: usize = 24;
/// Weight of a host name written as one word, relative to a single word of it.
const HOST_NAME_WEIGHT: f32 = 8.0;
/// Weight factor of words that ask for news (`latest`, `today`) rather than name a topic.
const NEWS_WORD_FACTOR: f32 = 0.3;

/// One posting list in one segment: a form of a word in a field.
#[derive(Debug, Clone)]
pub(crate) struct TermList {
    pub(crate) field: usize,
    /// Weight of the field times weight of the form.
    pub(crate) weight: f32,
    pub(crate) info: TermInfo,
}

/// A word of the query.
#[derive(Debug, Clone)]
pub(crate) struct QueryTerm {
    /// The terms to look up, with their weights.
    pub(crate) forms: Vec<(String, f32)>,
    /// Inverse document frequency: how much the word can add to a score.
    pub(crate) idf: f32,
    /// Whether any form of the word occurs in the index.
    pub(crate) known: bool,
    /// The words of the query it stands for, a bit each: itself, or neighbours that are looked up together as
    /// a host name.
    pub(crate) words: u64,
    pub(crate) joined: bool,
    /// By segment.
    pub(crate) lists: Vec<Vec<TermList>>,
}

#[derive(Debug, Default)]
pub(crate) struct QueryPlan {
    pub(crate) terms: Vec<QueryTerm>,
    /// Indexes of two terms that follow each other in the query, and their distance.
    pub(crate) pairs: Vec<(usize, usize, u32)>,
}

impl QueryPlan {
    pub(crate) fn build(view: &IndexView, parsed: &ParsedQuery, weights: &Weights) -> Result<Self> {
        let mut terms = Vec::with_capacity(parsed.words.len());
        for (at, word) in parsed.words.iter().enumerate() {
            let mut term = QueryTerm::build(view, forms(word, weights), false, weights)?;
            if word.asks_for_news() {
                term.idf *= NEWS_WORD_FACTOR;
            }
            terms.push((at, term));
        }
        // Keep the rarest words of a long query, but prefer words that occur in the index.
        if terms.len() > MAX_TERMS {
            terms.sort_by(|(_, one), (_, other)| {
                other.known.cmp(&one.known).then(other.idf.total_cmp(&one.idf))
            });
            terms.truncate(MAX_TERMS);
        }
        let position = |word: usize| terms.iter().position(|(at, _)| *at == word);
        let pairs = parsed
            .pairs
            .iter()
            .filter_map(|&(one, other, gap)| Some((position(one)?, position(other)?, gap)))
            .collect();
        let mut joined = Vec::new();
        for (name, words) in &parsed.joined {
            let words: Option<Vec<usize>> = words.iter().map(|word| position(*word)).collect();
            let term = QueryTerm::build(view, vec![(name.clone(), HOST_NAME_WEIGHT)], true, weights)?;
            if let Some(words) = words.filter(|_| term.known) {
                joined.push(QueryTerm { words: words.iter().fold(0, |bits, word| bits | 1 << word), ..term });
            }
        }
        let single =
            terms.into_iter().enumerate().map(|(at, (_, term))| QueryTerm { words: 1 << at, ..term });
        Ok(Self { terms: single.chain(joined).collect(), pairs })
    }

    /// The total weight of a set of words.
    pub(crate) fn weight(&self, words: u64) -> f32 {
        let held = self.terms.iter().enumerate().filter(|(at, term)| words >> at & 1 == 1 && !term.joined);
        held.map(|(_, term)| term.idf).sum()
    }
}

/// The terms for a word: itself, words equal to its stem, and other words with that stem.
fn forms(word: &QueryWord, weights: &Weights) -> Vec<(String, f32)> {
    // The stem term also matches the word itself, unless the word is its own stem.
    let itself = if word.stems.is_empty() { 1.0 } else { 1.0 - weights.forms };
    let mut forms = vec![(word.text.clone(), itself)];
    if word.stem {
        forms.push((format!("{STEM_PREFIX}{}", word.text), weights.forms));
    }
    for stem in &word.stems {
        forms.push((stem.clone(), weights.forms));
        forms.push((format!("{STEM_PREFIX}{stem}"), weights.forms));
    }
    forms
}

impl QueryTerm {
    pub(crate) fn build(
        view: &IndexView,
        forms: Vec<(String, f32)>,
        joined: bool,
        weights: &Weights,
    ) -> Result<Self> {
        let mut frequencies = [0_u32; RANKED_FIELDS];
        let mut lists = Vec::with_capacity(view.searcher.segment_readers().len());
        for segment in 0..view.searcher.segment_readers().len() {
            let mut here = Vec::new();
            let fields = if joined { HOST..HOST + 1 } else { HOST..BODY + 1 };
            for field in fields {
                let index = view.stats.term_dictionary(segment, field);
                let mut most = 0;
                for (form, weight) in &forms {
                    let term = Term::from_field_text(view.fields.ranked[field], form);
                    if let Some(info) = index.get_term_info(&term)? {
                        most = most.max(info.doc_freq);
                        here.push(TermList { field, weight: weight * weights.fields[field], info });
                    }
                }
                frequencies[field] += most;
            }
            lists.push(here);
        }
        let frequency = frequencies.into_iter().max().unwrap_or_default();
        Ok(Self {
            forms,
            idf: idf(frequency as f32, view.stats.documents),
            known: frequency > 0,
            words: 0,
            joined,
            lists,
        })
    }
}

/// Inverse document frequency of a word that occurs in `frequency` of all documents.
fn idf(frequency: f32, documents: f32) -> f32 {
    (1.0 + (documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}
