//! Statistics of the whole index, computed once for each committed state.

use crate::error::Result;
use crate::schema::{Fields, FilterTerm, RANKED_FIELDS};
use crate::search::IndexView;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Searcher, Term};
use text::Language;
use text::language::languages;

/// Share of documents from which on a language's word forms are searched without being asked for.
const MIN_LANGUAGE_SHARE: f32 = 0.05;
/// Cached counts of documents by team and collection.
const MAX_CACHED_SCOPES: usize = 10_000;

pub(crate) struct CollectionStats {
    /// The generation of the index these statistics belong to.
    pub(crate) generation: u64,
    /// Number of documents including deleted ones, the base of document frequencies.
    pub(crate) documents: f32,
    /// Mean length of each field.
    pub(crate) lengths: [f32; RANKED_FIELDS],
    /// Languages of many documents, the most frequent first.
    pub(crate) languages: Vec<Language>,
    /// The term dictionaries of each segment by field; tantivy takes a lock to look them up.
    dictionaries: Vec<[Arc<InvertedIndexReader>; RANKED_FIELDS]>,
    scopes: Mutex<HashMap<Term, u64>>,
}

impl CollectionStats {
    pub(crate) fn compute(searcher: &Searcher, fields: &Fields) -> Result<Self> {
        let documents: u64 =
            searcher.segment_readers().iter().map(|segment| u64::from(segment.max_doc())).sum();
        let mut dictionaries = Vec::new();
        for segment in searcher.segment_readers() {
            let [host, path, title, headings, description, body] =
                fields.ranked.map(|field| segment.inverted_index(field));
            dictionaries.push([host?, path?, title?, headings?, description?, body?]);
        }
        let mut lengths = [1.0; RANKED_FIELDS];
        for (field, length) in lengths.iter_mut().enumerate() {
            let tokens: u64 = dictionaries
                .iter()
                .map(|segment: &[_; RANKED_FIELDS]| segment[field].total_num_tokens())
                .sum();
            *length = (tokens as f32 / (documents as f32).max(1.0)).max(1.0);
        }
        let mut frequent = Vec::new();
        for language in languages() {
            let number =
                searcher.doc_freq(&fields.filter_term(&FilterTerm::Language(language.code().to_owned())))?;
            frequent.push((number, language));
        }
        frequent.retain(|(number, _)| *number as f32 >= documents as f32 * MIN_LANGUAGE_SHARE && *number > 0);
        frequent.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Self {
            generation: searcher.generation().generation_id(),
            documents: documents as f32,
            lengths,
            languages: frequent.into_iter().map(|(_, language)| language).collect(),
            dictionaries,
            scopes: Mutex::default(),
        })
    }

    /// The term dictionary of one field in one segment.
    pub(crate) fn term_dictionary(&self, segment: usize, field: usize) -> &InvertedIndexReader {
        &self.dictionaries[segment][field]
    }

    /// The number of documents of a team in a collection.
    pub(crate) fn count_scope(&self, view: &IndexView, scope: &FilterTerm) -> Result<u64> {
        let term = view.fields.filter_term(scope);
        let mut scopes = self.scopes.lock();
        if let Some(count) = scopes.get(&term) {
            return Ok(*count);
        }
        let count = count_documents(view.searcher, &term)?;
        if scopes.len() >= MAX_CACHED_SCOPES {
            scopes.clear();
        }
        scopes.insert(term, count);
        Ok(count)
    }
}

/// The number of documents with a term that are not deleted.
pub(crate) fn count_documents(searcher: &Searcher, term: &Term) -> Result<u64> {
    let mut total = 0;
    for segment in searcher.segment_readers() {
        let Some(postings) =
            segment.inverted_index(term.field())?.read_postings(term, IndexRecordOption::Basic)?
        else {
            continue;
        };
        total += u64::from(match segment.alive_bitset() {
            Some(alive) => postings.doc_freq_given_deletes(alive),
            None => postings.doc_freq(),
        });
    }
    Ok(total)
}
