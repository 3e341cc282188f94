//! Search over titles and abstracts: BM25, with standing in the citation graph to order what is equally near.

use super::accumulator::largest;
use super::lexical::{Scorer, TermQuery};
use super::similar::Filter;
use crate::ids::PaperRef;
use crate::index::Index;

/// Postings read for one search.
const POSTINGS: usize = 2_000_000;
/// Documents scored exactly.
const EXACT: usize = 2_000;
/// Documents scored exactly when a filter will take most of them away.
const EXACT_FILTERED: usize = 20_000;

/// A search.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    pub text: String,
    pub k: usize,
    pub filter: Filter,
}

impl Index {
    /// The best works for a text, best first, each with a score from 0 to 1.
    pub fn search(&self, query: &SearchQuery) -> Vec<(u32, f64)> {
        let terms = TermQuery::from_text(self, &query.text);
        let filtered =
            query.filter.needs_record() || query.filter.from.is_some() || query.filter.to.is_some();
        let (near, _) = terms.nearest(self, POSTINGS, if filtered { EXACT_FILTERED } else { EXACT });
        let scorer = Scorer::new(self, [&terms]);
        let highest = terms.highest().max(f32::MIN_POSITIVE);
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
        // Who searches for an identifier wants that paper.
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
