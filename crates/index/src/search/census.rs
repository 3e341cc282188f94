//! What is counted once for each state of the index.

use crate::error::Result;
use crate::schema::{Fields, Mark, RANKED};
use crate::search::View;
use crate::words::{Language, languages};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Searcher, Term};

/// Share of the documents that makes a language one that queries are taken in without being asked to.
const SPOKEN: f32 = 0.05;
/// Counts of scopes that are remembered.
const MOST_SCOPES: usize = 10_000;

pub(crate) struct Census {
    /// Of the state that was counted.
    pub(crate) generation: u64,
    /// Documents, deleted ones included: what frequencies are measured against.
    pub(crate) documents: f32,
    /// Mean length of each field.
    pub(crate) lengths: [f32; RANKED],
    /// Languages that many documents are in, the most frequent first.
    pub(crate) languages: Vec<Language>,
    /// Words of each segment by field: the engine looks for them under a lock.
    words: Vec<[Arc<InvertedIndexReader>; RANKED]>,
    scopes: Mutex<HashMap<Term, u64>>,
}

impl Census {
    pub(crate) fn take(searcher: &Searcher, fields: &Fields) -> Result<Self> {
        let documents: u64 =
            searcher.segment_readers().iter().map(|segment| u64::from(segment.max_doc())).sum();
        let mut words = Vec::new();
        for segment in searcher.segment_readers() {
            let [host, path, title, headings, description, body] =
                fields.ranked.map(|field| segment.inverted_index(field));
            words.push([host?, path?, title?, headings?, description?, body?]);
        }
        let mut lengths = [1.0; RANKED];
        for (field, length) in lengths.iter_mut().enumerate() {
            let tokens: u64 =
                words.iter().map(|segment: &[_; RANKED]| segment[field].total_num_tokens()).sum();
            *length = (tokens as f32 / (documents as f32).max(1.0)).max(1.0);
        }
        let mut spoken = Vec::new();
        for language in languages() {
            let number = searcher.doc_freq(&fields.mark(&Mark::Language(language.code().to_owned())))?;
            spoken.push((number, language));
        }
        spoken.retain(|(number, _)| *number as f32 >= documents as f32 * SPOKEN && *number > 0);
        spoken.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Self {
            generation: searcher.generation().generation_id(),
            documents: documents as f32,
            lengths,
            languages: spoken.into_iter().map(|(_, language)| language).collect(),
            words,
            scopes: Mutex::default(),
        })
    }

    /// The words of one field in one segment.
    pub(crate) fn words(&self, segment: usize, field: usize) -> &InvertedIndexReader {
        &self.words[segment][field]
    }

    /// Documents of a team in a collection.
    pub(crate) fn scope(&self, view: &View, scope: &Mark) -> Result<u64> {
        let term = view.fields.mark(scope);
        let mut scopes = self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = scopes.get(&term) {
            return Ok(*count);
        }
        let count = count(view.searcher, &term)?;
        if scopes.len() >= MOST_SCOPES {
            scopes.clear();
        }
        scopes.insert(term, count);
        Ok(count)
    }
}

/// Documents with a mark that are not deleted.
pub(crate) fn count(searcher: &Searcher, mark: &Term) -> Result<u64> {
    let mut total = 0;
    for segment in searcher.segment_readers() {
        let Some(postings) =
            segment.inverted_index(mark.field())?.read_postings(mark, IndexRecordOption::Basic)?
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
