//! Builds an index file from staging logs. Writes scratch files next to it; does not know which index is
//! current.
//!
//! Memory for ten million works with ten references each: identifiers and titles 0.6 GB while records are
//! grouped into works, then the resolver 0.4 GB, degrees and dates 0.1 GB, plus terms and cited-only works by
//! their number. Lists are inverted within a memory budget.

mod article_rank;
mod identity;
mod invert;
mod lexicon;
mod merge;
mod prepare;
mod write_pass;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::stage::Stage;
pub use article_rank::reference_weight;
use identity::Identities;
pub use invert::{for_each_pair, for_each_weight};
use write_pass::WritePass;

/// Statistics of an index, stored in it.
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

/// Options of a build.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Memory budget for inverting lists, in bytes.
    pub budget_bytes: u64,
    /// The build time to store, in seconds since 1970.
    pub now: u64,
    /// Whether the weights of the ranking are learnt from the collection's citations.
    pub learn: bool,
}

impl Default for BuildOptions {
    fn default() -> Self {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        Self { budget_bytes: 512 << 20, now, learn: true }
    }
}

/// Works between two progress reports.
const PROGRESS_WORKS: u32 = 1 << 16;

/// Called with the stage, the number done, and the total.
pub type Progress<'a> = &'a dyn Fn(&str, u64, u64);

/// Builds an index at `path` from all `stages`. Scratch files are written to the same folder and removed
/// afterwards.
pub fn build(stages: &[Stage], path: &Path, options: &BuildOptions, progress: Progress<'_>) -> Result<Facts> {
    progress("grouping records into works", 0, 0);
    let identities = Identities::find(stages)?;
    let works = identities.works();
    let mut write_pass = WritePass::begin(path, works)?;
    prepare::for_each_batch(stages, &identities, |batch| {
        let before = write_pass.pushed();
        write_pass.push(batch)?;
        if before / PROGRESS_WORKS != write_pass.pushed() / PROGRESS_WORKS {
            progress("reading works", u64::from(write_pass.pushed()), u64::from(works));
        }
        Ok(())
    })?;
    write_pass.finish(identities, options, progress)
}
