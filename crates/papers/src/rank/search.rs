//! Search over titles and abstracts: BM25, with ArticleRank to order similar scores.

use super::accumulator::largest;
use super::lexical::{Scorer, TermQuery};
use super::similar::Filter;
use crate::ids::PaperRef;
use crate::index::Index;

/// Read for one search.
const MAX_POSTINGS: usize = 2_000_000;
/// Documents scored exactly.
const EXACT_DOCUMENTS: usize = 2_000;
/// Documents scored exactly if a filter may remove most of them.
const EXACT_DOCUMENTS_FILTERED: usize = 20_000;

/// A search.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    pub text: String,
    pub k: usize,
    pub filter: Filter,
}

impl Index {
    /// The best works for a text, best first, with scores from 0 to 1.
    pub fn search(&self, query: &SearchQuery) -> Vec<(u32, f64)> {
        let terms = TermQuery::from_text(self, &query.text);
        let filtered =
            query.filter.needs_record() || query.filter.from.is_some() || query.filter.to.is_some();
        let (near, _) = terms.nearest(
            self,
            MAX_POSTINGS,
            if filtered { EXACT_DOCUMENTS_FILTERED } else { EXACT_DOCUMENTS },
        );
        let scorer = Scorer::new(self, [&terms]);
        let highest = terms.max_score().max(f32::MIN_POSITIVE);
        let scored = near
            .into_iter()
            .filter(|(node, _)| query.filter.admits_date(self, *node))
            .map(|(node, _)| {
                let standing = 1.0 + 0.02 * (1.0 + self.article_rank(node)).ln();
                (node, scorer.score(self, node)[0] / highest * standing)
            })
            .collect::<Vec<_>>();
        let count = scored.len();
        let mut found: Vec<(u32, f64)> = largest(scored, count)
            .into_iter()
            .map(|(node, score)| (node, f64::from(score.min(1.0))))
            .collect();
        // A query that is an identifier asks for that paper.
        if let Some(node) = PaperRef::parse(&query.text)
            .and_then(|reference| self.resolve(&reference))
            .filter(|node| self.is_work(*node))
        {
            found.retain(|(other, _)| *other != node);
            found.insert(0, (node, 1.0));
        }
        found.into_iter().filter(|(node, _)| query.filter.admits_record(self, *node)).take(query.k).collect()
    }
}
