//! The places where two pages differ.

use super::lines::ComparedLines;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::ops::Range;
use std::time::{Duration, Instant};

/// After this time a diff becomes coarser.
const MAX_DIFF_DURATION: Duration = Duration::from_secs(2);

/// A place where two pages differ, as ranges of lines.
#[derive(Debug, Clone)]
pub(super) struct Hunk {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

impl Hunk {
    /// The line before it; 0 at the beginning.
    pub fn key_before(&self, page: &ComparedLines) -> u64 {
        let line = self.before.start.checked_sub(1).and_then(|at| page.lines.get(at));
        line.map_or(0, |line| line.key)
    }

    /// The line after it; 0 at the end.
    pub fn key_after(&self, page: &ComparedLines) -> u64 {
        page.lines.get(self.before.end).map_or(0, |line| line.key)
    }
}

/// Where two pages differ, apart from noise.
pub(super) fn hunks(before: &ComparedLines, after: &ComparedLines) -> Vec<Hunk> {
    let keys = |page: &ComparedLines| page.lines.iter().map(|line| line.key).collect::<Vec<_>>();
    let (old, new) = (keys(before), keys(after));
    budget::spend(u64::try_from(old.len() + new.len()).unwrap_or(u64::MAX));
    let deadline = Instant::now().checked_add(MAX_DIFF_DURATION);
    let operations = capture_diff_slices_deadline(Algorithm::Patience, &old, &new, deadline);
    let mut hunks: Vec<Hunk> = Vec::new();
    for operation in operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. })) {
        let (old, new) = (operation.old_range(), operation.new_range());
        match hunks.last_mut().filter(|last| last.before.end == old.start && last.after.end == new.start) {
            Some(last) => (last.before.end, last.after.end) = (old.end, new.end),
            None => hunks.push(Hunk { before: old, after: new }),
        }
    }
    hunks
}
