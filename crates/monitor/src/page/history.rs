//! What was learnt about a page in earlier checks: how long it usually is, which places change by themselves,
//! which lines come and go. Small, and stored with the monitor.

use super::align::align;
use super::hunks::{Hunk, hunks};
use super::lines::ComparedLines;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const MAX_LENGTHS: usize = 10;
const MAX_PLACES: usize = 64;
const MAX_LINES: usize = 512;
/// A place that changes by itself is an advert or the like, not half of a page.
const MAX_PLACE_LINES: usize = 12;

/// A place of a page between two lines that stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VolatilePlace {
    /// The line before it, without noise; 0 at the beginning.
    pub before: u64,
    /// The line after it, without noise; 0 at the end.
    pub after: u64,
    /// The most lines it had.
    pub lines: usize,
}

/// What was learnt about one page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageHistory {
    lengths: VecDeque<usize>,
    places: VecDeque<VolatilePlace>,
    /// Lines that were there in one read and not in another.
    passing_lines: VecDeque<u64>,
}

impl PageHistory {
    /// The usual length of the page's text: the median of the last checks.
    pub(super) fn usual_bytes(&self) -> Option<usize> {
        let mut lengths: Vec<usize> = self.lengths.iter().copied().collect();
        lengths.sort_unstable();
        lengths.get(lengths.len() / 2).copied()
    }

    pub(super) fn is_passing(&self, key: u64) -> bool {
        self.passing_lines.contains(&key)
    }

    pub(super) fn places(&self) -> impl Iterator<Item = &VolatilePlace> {
        self.places.iter()
    }

    /// Learns from several reads of one moment: what differs between them changes by itself. Of lines that come
    /// and go only those of the version `before` are remembered, where there is one: a line that is new may be
    /// what has changed.
    pub(super) fn learn(&mut self, reads: &[ComparedLines], before: Option<&ComparedLines>) {
        let known = before.map(ComparedLines::counts);
        let Some((base, others)) = reads.split_first() else { return };
        push_bounded(&mut self.lengths, base.text_bytes(), MAX_LENGTHS);
        for other in others {
            // Lists that are shuffled for every read are not volatile.
            let (other, _) = align(base, other);
            for hunk in hunks(base, &other) {
                let lines = base.lines[hunk.before.clone()].iter().chain(&other.lines[hunk.after.clone()]);
                let is_known = |key: &u64| known.as_ref().is_none_or(|known| known.contains_key(key));
                for key in lines.map(|line| line.key).filter(is_known) {
                    if !self.passing_lines.contains(&key) {
                        push_bounded(&mut self.passing_lines, key, MAX_LINES);
                    }
                }
                self.learn_place(base, &hunk);
            }
        }
    }

    fn learn_place(&mut self, base: &ComparedLines, hunk: &Hunk) {
        let lines = hunk.before.len().max(hunk.after.len());
        if lines > MAX_PLACE_LINES || hunk.before.is_empty() || hunk.after.is_empty() {
            return;
        }
        let place = VolatilePlace { before: hunk.key_before(base), after: hunk.key_after(base), lines };
        let known = self.places.iter_mut().find(|one| one.before == place.before && one.after == place.after);
        match known {
            Some(known) => known.lines = known.lines.max(lines),
            None => push_bounded(&mut self.places, place, MAX_PLACES),
        }
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    if queue.len() >= limit {
        queue.pop_front();
    }
    queue.push_back(item);
}
