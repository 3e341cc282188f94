//! Related papers: a pool of candidates around seeds, ranked by their relation to the seeds *and* to the
//! intent. Reads an [`Index`](crate::Index), has no state, and is deterministic.

mod accumulator;
mod citation_graph;
mod features;
mod lexical;
mod passages;
mod search;
mod second_pass;
mod similar;

pub use features::{COUNT as FEATURE_COUNT, FEATURES};
pub(crate) use lexical::{Scorer, TermQuery};
pub use passages::ScoredPassage;
pub use search::SearchQuery;
pub use second_pass::{MEANING, READING, SECOND_COUNT, SECOND_FEATURES};
pub use similar::{Filter, Mode, Pooled, RankedPaper, Signals, SimilarPapers, SimilarQuery};
