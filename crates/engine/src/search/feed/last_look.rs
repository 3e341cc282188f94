//! A last look at the first results of this server's own index, where a sentence model is installed: results whose
//! titles mean what the query means move up. Only the order of the first ten changes, so nothing that was found is lost.

use crate::models::{SentenceModel, SentenceModels};
use index::{IndexHit, Query};
use papers::Embedder;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Results that are looked at.
const LOOKED_AT: usize = 10;
/// What a cosine of one is worth, in ranks times ten: chosen on one half of the sites in `bench/src/search`, judged on
/// the other.
const MEANING_WEIGHT: f32 = 2.5;
/// Of long titles and queries the beginning says enough, and time grows with their length.
const MAX_CHARACTERS: usize = 160;
/// Vectors of titles that are kept, about 1.5 KB each.
const MAX_KEPT_VECTORS: usize = 4_096;

/// Looks at results with the installed sentence model.
#[derive(Debug)]
pub(super) struct LastLook {
    models: Arc<SentenceModels>,
    kept: Mutex<KeptVectors>,
}

/// Vectors of titles, all of one model.
#[derive(Debug, Default)]
struct KeptVectors {
    model: u64,
    of_titles: HashMap<String, Arc<[f32]>>,
}

impl LastLook {
    pub fn new(models: Arc<SentenceModels>) -> Self {
        Self { models, kept: Mutex::default() }
    }

    /// Reorders the first results. Blocks for some 4 ms for each title that was not seen before.
    pub fn reorder(&self, query: &Query, hits: &mut [IndexHit]) {
        if hits.len() < 2 || !is_understood(query) {
            return;
        }
        let model = match self.models.current() {
            Ok(Some(model)) => model,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "results are not compared by meaning");
                return;
            }
        };
        let first = hits.len().min(LOOKED_AT);
        let first = &mut hits[..first];
        let Some(asked) = model.embed(&[beginning(&query.text)]).pop() else { return };
        let titles: Vec<&str> = first.iter().map(|hit| beginning(&hit.document.title)).collect();
        let cosines: Vec<f32> =
            self.vectors(&model, &titles).iter().map(|title| dot(&asked, title)).collect();
        reorder_by(first, &cosines);
    }

    /// The vector of each title; those that are not kept yet are made.
    fn vectors(&self, model: &SentenceModel, titles: &[&str]) -> Vec<Arc<[f32]>> {
        let mut known: HashMap<&str, Arc<[f32]>> = HashMap::new();
        {
            let kept = self.kept.lock();
            if kept.model == model.identity() {
                let found =
                    titles.iter().filter_map(|title| Some((*title, kept.of_titles.get(*title)?.clone())));
                known.extend(found);
            }
        }
        let fresh: Vec<&str> = titles.iter().copied().filter(|title| !known.contains_key(title)).collect();
        if !fresh.is_empty() {
            // Not under the lock: another search need not wait for this one.
            let made = model.embed(&fresh);
            known.extend(fresh.iter().copied().zip(made.into_iter().map(Arc::from)));
            self.keep(model.identity(), &fresh, &known);
        }
        titles.iter().filter_map(|title| known.get(title).cloned()).collect()
    }

    fn keep(&self, model: u64, fresh: &[&str], known: &HashMap<&str, Arc<[f32]>>) {
        let mut kept = self.kept.lock();
        if kept.model != model || kept.of_titles.len() + fresh.len() > MAX_KEPT_VECTORS {
            *kept = KeptVectors { model, of_titles: HashMap::new() };
        }
        let vectors = fresh.iter().filter_map(|title| Some(((*title).to_owned(), known.get(title)?.clone())));
        kept.of_titles.extend(vectors);
    }
}

/// Whether the model can judge the query: it knows English alone, and an order by date is the caller's own.
fn is_understood(query: &Query) -> bool {
    let english = query.language.as_deref().is_none_or(|language| language.starts_with("en"));
    english && query.text.is_ascii() && !query.text.trim().is_empty() && !query.newest_first
}

fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Orders results by meaning and former rank. The scores stay in their places, so that they still fall.
fn reorder_by(hits: &mut [IndexHit], cosines: &[f32]) {
    if cosines.len() != hits.len() {
        return;
    }
    let worth = |rank: usize| MEANING_WEIGHT * cosines[rank] - rank as f32 / 10.0;
    let mut order: Vec<usize> = (0..hits.len()).collect();
    order.sort_by(|one, other| worth(*other).total_cmp(&worth(*one)));
    let reordered: Vec<IndexHit> = order
        .iter()
        .enumerate()
        .map(|(rank, &former)| IndexHit { score: hits[rank].score, ..hits[former].clone() })
        .collect();
    hits.clone_from_slice(&reordered);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(titles: &[&str]) -> Vec<IndexHit> {
        let hit = |(rank, title): (usize, &&str)| IndexHit {
            document: index::Document { title: (*title).to_owned(), ..index::Document::default() },
            seen_at: 0,
            score: 10.0 - rank as f32,
            passages: Vec::new(),
        };
        titles.iter().enumerate().map(hit).collect()
    }

    #[test]
    fn a_title_that_means_the_query_moves_up_and_scores_still_fall() {
        let mut found = hits(&["Release notes", "Index", "How to restore a backup"]);
        reorder_by(&mut found, &[0.1, 0.0, 0.8]);
        let titles: Vec<&str> = found.iter().map(|hit| hit.document.title.as_str()).collect();
        assert_eq!(titles, ["How to restore a backup", "Release notes", "Index"]);
        assert_eq!(found.iter().map(|hit| hit.score).collect::<Vec<_>>(), [10.0, 9.0, 8.0]);
    }

    #[test]
    fn titles_that_mean_the_same_stay_in_their_order() {
        let mut found = hits(&["One", "Two", "Three"]);
        reorder_by(&mut found, &[0.5, 0.51, 0.5]);
        assert_eq!(found[0].document.title, "One");
        reorder_by(&mut found, &[0.5]);
        assert_eq!(found[2].document.title, "Three", "without a vector for each nothing moves");
    }

    #[test]
    fn queries_in_other_languages_and_lists_by_date_are_left_alone() {
        let query = |text: &str| Query { text: text.to_owned(), ..Query::default() };
        assert!(is_understood(&query("restore a backup")));
        assert!(!is_understood(&query("Gerät zurücksetzen")));
        assert!(!is_understood(&Query { language: Some("de".into()), ..query("reset") }));
        assert!(!is_understood(&Query { newest_first: true, ..query("reset") }));
    }
}
