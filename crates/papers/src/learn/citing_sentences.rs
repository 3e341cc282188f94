//! Works of the staging logs that have sentences in which they cite others, and queries made from these: the
//! sentence is the intent, one of the cited works is the seed, the others should be found.

use std::collections::BTreeMap;

use super::own_queries::{MAX_QUERIES, MIN_SENTENCE_BYTES, OwnQuery, QUERIES_PER_WORK};
use crate::error::Result;
use crate::hash::stable_hash;
use crate::ids::{Identifier, PaperRef};
use crate::index::Index;
use crate::stage::Stage;
use crate::stored_work::StoredWork;
use crate::work::Work;

/// Works that are sampled from the logs: enough that [`MAX_QUERIES`] come of them, although many of their
/// sentences cite works that are not in the collection.
const MAX_SAMPLED_WORKS: usize = 4_000;

/// Citing sentences of a sample of the works.
#[derive(Debug, Default)]
pub struct CitingSentences {
    /// Records that have such sentences.
    pub works: u64,
    /// By the hash of the first identifier, so that a later record replaces an earlier one and the sample is
    /// the same at each import.
    sample: BTreeMap<u64, CitingWork>,
}

/// A work that cites others.
#[derive(Debug)]
struct CitingWork {
    id: Identifier,
    /// Sentence, identifiers of each cited work.
    sentences: Vec<(String, Vec<Vec<Identifier>>)>,
}

impl CitingSentences {
    /// Reads the sentences of a log.
    pub fn add(&mut self, stage: &Stage) -> Result<()> {
        stage.for_each(|record| {
            let stored = StoredWork::parse(record);
            let Some((first, _)) = stored.numbers().next().filter(|_| stored.has_contexts()) else {
                return Ok(());
            };
            self.works += 1;
            let hash = stable_hash(&[&first.to_le_bytes()]);
            let is_full = self.sample.len() >= MAX_SAMPLED_WORKS;
            if is_full && self.sample.last_key_value().is_some_and(|(last, _)| hash > *last) {
                return Ok(());
            }
            let Work { ids, references, contexts, .. } = Work::decode(record);
            let Some(id) = ids.into_iter().next() else { return Ok(()) };
            let cited = |place: &u32| references.get(*place as usize).map(|cited| cited.ids.clone());
            let sentences = contexts
                .into_iter()
                .map(|context| (context.text, context.references.iter().filter_map(cited).collect()))
                .collect();
            self.sample.insert(hash, CitingWork { id, sentences });
            if self.sample.len() > MAX_SAMPLED_WORKS {
                self.sample.pop_last();
            }
            Ok(())
        })
    }

    pub fn queries(&self, index: &Index) -> Vec<OwnQuery> {
        let mut queries = Vec::new();
        for (hash, work) in &self.sample {
            if queries.len() >= MAX_QUERIES {
                break;
            }
            let Some(citing) = find(index, std::slice::from_ref(&work.id)) else { continue };
            let before = queries.len();
            // Begins anywhere, because introductions cite otherwise than discussions.
            let start = *hash as usize % work.sentences.len().max(1);
            let (late, early) = (&work.sentences[start..], &work.sentences[..start]);
            for (text, cited) in late.iter().chain(early).filter(|(text, _)| text.len() > MIN_SENTENCE_BYTES)
            {
                queries.extend(query(index, citing, *hash, text, cited));
                if queries.len() - before == QUERIES_PER_WORK {
                    break;
                }
            }
        }
        queries.truncate(MAX_QUERIES);
        queries
    }
}

/// A query, if the collection has two of the cited works.
fn query(index: &Index, citing: u32, hash: u64, text: &str, cited: &[Vec<Identifier>]) -> Option<OwnQuery> {
    let mut relevant: Vec<u32> = cited
        .iter()
        .filter_map(|ids| find(index, ids))
        .filter(|node| *node != citing && !index.document(*node).is_empty())
        .collect();
    relevant.sort_unstable();
    relevant.dedup();
    if relevant.len() < 2 {
        return None;
    }
    let seed = relevant.remove((hash >> 32) as usize % relevant.len());
    Some(OwnQuery { citing, seed, relevant, intent: text.to_owned() })
}

/// The work with one of these identifiers.
fn find(index: &Index, ids: &[Identifier]) -> Option<u32> {
    ids.iter().find_map(|id| index.resolve(&PaperRef::Named(id.clone()))).filter(|node| index.is_work(*node))
}
