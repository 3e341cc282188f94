//! From staging logs to one index file. Reads logs, writes one file and scratch files beside it; knows nothing of where an
//! index is served from.
//!
//! Memory, per ten million works with ten references each: identifiers and titles 0.6 GB while records are told apart, then
//! the resolver 0.4 GB, degrees and dates 0.1 GB, terms and cited-only works by their number. Lists are turned round within
//! a set budget.

mod identity;
mod invert;
mod lexicon;
mod merge;
mod pass;
mod prepare;
mod rank;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::stage::Stage;
use identity::Identities;
pub use invert::{for_each_pair, for_each_weight};
use pass::Pass;
pub use rank::reference_weight;

/// What an index holds, as numbers. Stored in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Works with metadata.
    pub works: u32,
    /// Works and cited-only works.
    pub nodes: u32,
    pub edges: u64,
    pub terms: u64,
    pub postings: u64,
    /// Works with any text.
    pub documents: u64,
    /// Mean length of the works with text, in terms.
    pub mean_length: f64,
    pub passages: u64,
    /// When the index was built, in seconds since 1970.
    pub built: u64,
    /// The newest date of any work, `YYYYMMDD`.
    pub newest: u32,
    /// Records by source.
    pub sources: Vec<(String, u64)>,
}

/// How an index is built.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Bytes that turning lists round may take at a time.
    pub budget_bytes: u64,
    /// When the index is said to have been built, in seconds since 1970.
    pub now: u64,
}

impl Default for BuildOptions {
    fn default() -> Self {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        Self { budget_bytes: 512 << 20, now }
    }
}

/// Works between two words on progress.
const PROGRESS_WORKS: u32 = 1 << 16;

/// Told now and then how far the work is.
pub type Progress<'a> = &'a dyn Fn(&str, u64, u64);

/// Builds an index at `path` from everything in `stages`. Scratch files lie in the same folder and are gone afterwards.
pub fn build(stages: &[Stage], path: &Path, options: &BuildOptions, progress: Progress<'_>) -> Result<Facts> {
    progress("telling works apart", 0, 0);
    let identities = Identities::find(stages)?;
    let works = identities.works();
    let mut pass = Pass::begin(path, works)?;
    prepare::for_each_batch(stages, &identities, |batch| {
        let before = pass.pushed();
        pass.push(batch)?;
        if before / PROGRESS_WORKS != pass.pushed() / PROGRESS_WORKS {
            progress("reading works", u64::from(pass.pushed()), u64::from(works));
        }
        Ok(())
    })?;
    pass.finish(identities, options, progress)
}
