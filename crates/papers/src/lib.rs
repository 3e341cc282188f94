//! The research index: importers → staging logs → one memory-mapped, immutable, checksummed file → candidate
//! pools → ranking.
//!
//! The crate reads and writes files and does no network I/O. It knows nothing of HTTP: the engine queries an
//! [`Index`] and gets node numbers, scores and papers.

// Node and term numbers are 32-bit (`MAX_NODES` is checked where they are assigned), the format is for 64-bit
// machines, and scores are `f32` on purpose: checking each conversion would hide the arithmetic.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

mod build;
mod citation_context;
mod error;
mod file;
mod hash;
mod ids;
mod import;
mod index;
mod learn;
mod library;
mod parallel;
mod rank;
mod stage;
mod stored_work;
mod terms;
mod truncate;
mod vector_writer;
mod vectors;
mod weights;
mod work;

pub use build::{BuildOptions, Facts, build};
pub use citation_context::CitationContext;
pub use error::{Error, Result};
pub use ids::{Identifier, MAX_IDENTIFIER_BYTES, PaperRef};
pub use import::{ImportReport, read_source};
pub use index::{Index, Paper};
pub use learn::{Example, LearntWeights, learn_weights};
pub use library::{Library, LibraryStatus};
pub use rank::{
    FEATURE_COUNT, FEATURES, Filter, MEANING, Mode, Pooled, READING, RankedPaper, SECOND_COUNT,
    SECOND_FEATURES, ScoredPassage, SearchQuery, Signals, SimilarPapers, SimilarQuery,
};
pub use stage::{Stage, StageWriter, frame};
pub use vectors::{Embedder, Vectors};
pub use weights::{Blend, CollectionWeights, FIRST, MODEL, RERANK, SECOND, Weights};
pub use work::{Date, PaperSource, Provenance, Reference, Work};
