//! What was learnt about a page in earlier checks: how long it usually is, which places change by themselves,
//! which lines come and go. Small, and stored with the monitor.
//!
//! What was learnt is a guess: it needs two checks that saw it, expires where it is not seen again, and is
//! overruled by a change that stays.

use super::align::align;
use super::hunks::{Hunk, hunks};
use super::lines::ComparedLines;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const MAX_LENGTHS: usize = 10;
const MAX_PLACES: usize = 64;
const MAX_LINES: usize = 512;
/// A place that changes by itself is an advert or the like, not half of a page.
pub(super) const MAX_PLACE_LINES: usize = 12;
/// What differed between the reads of one check only may have changed in that moment.
const MIN_SIGHTINGS: u32 = 2;
/// After so many checks without a sighting it is forgotten.
const MAX_QUIET_CHECKS: u32 = 30;

/// How sure it is that something changes by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Evidence {
    /// Checks whose reads differed there.
    sightings: u32,
    /// Checks since then.
    quiet_checks: u32,
    /// What the last check ignored because of it; 0 for nothing.
    ignored: u64,
}

impl Evidence {
    /// Whether a difference is ignored because of it. One that the last check ignored too has come to stay.
    pub fn is_enough_for(self, difference: u64) -> bool {
        self.sightings >= MIN_SIGHTINGS && self.ignored != difference
    }

    fn begin_check(&mut self) {
        self.quiet_checks = self.quiet_checks.saturating_add(1);
        self.ignored = 0;
    }

    /// Counts once for each check.
    fn count_sighting(&mut self) {
        self.sightings =
            self.sightings.saturating_add(u32::from(self.quiet_checks > 0 || self.sightings == 0));
        self.quiet_checks = 0;
    }

    fn is_fresh(self) -> bool {
        self.quiet_checks <= MAX_QUIET_CHECKS
    }
}

/// A place of a page between two lines that stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VolatilePlace {
    /// The line before it, without noise; 0 at the beginning.
    pub before: u64,
    /// The line after it, without noise; 0 at the end.
    pub after: u64,
    /// The most lines it had.
    pub lines: usize,
    #[serde(default)]
    pub evidence: Evidence,
}

/// A line that was there in one read and not in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct PassingLine {
    key: u64,
    evidence: Evidence,
}

/// Something that was learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Learnt {
    Place { before: u64, after: u64 },
    Line(u64),
}

/// What was learnt about one page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageHistory {
    lengths: VecDeque<usize>,
    places: VecDeque<VolatilePlace>,
    passing: VecDeque<PassingLine>,
    /// Checks in a row that found the end of the page missing, or another text in its place.
    #[serde(rename = "cut_off")]
    doubted: u32,
}

impl PageHistory {
    /// The usual length of the page's text: the median of the last checks.
    pub(super) fn usual_bytes(&self) -> Option<usize> {
        let mut lengths: Vec<usize> = self.lengths.iter().copied().collect();
        lengths.sort_unstable();
        lengths.get(lengths.len() / 2).copied()
    }

    /// What was learnt about a line, where it comes and goes.
    pub(super) fn passing(&self, key: u64) -> Option<Evidence> {
        self.passing.iter().find(|line| line.key == key).map(|line| line.evidence)
    }

    pub(super) fn doubted_checks(&self) -> u32 {
        self.doubted
    }

    pub(super) fn count_doubted(&mut self) {
        self.doubted = self.doubted.saturating_add(1);
    }

    /// Remembers what a check ignored because of what was learnt.
    pub(super) fn note_ignored(&mut self, ignored: &[(Learnt, u64)]) {
        for (learnt, difference) in ignored {
            if let Some(evidence) = self.evidence_mut(*learnt) {
                evidence.ignored = *difference;
            }
        }
    }

    /// Forgets what was overruled.
    pub(super) fn forget(&mut self, overruled: &[Learnt]) {
        self.places
            .retain(|place| !overruled.contains(&Learnt::Place { before: place.before, after: place.after }));
        self.passing.retain(|line| !overruled.contains(&Learnt::Line(line.key)));
    }

    /// Forgets places, known by the lines before and after them, and lines that come and go; how many.
    pub(super) fn forget_where(
        &mut self,
        is_place: impl Fn(u64, u64) -> bool,
        is_line: impl Fn(u64) -> bool,
    ) -> usize {
        let known = self.places.len() + self.passing.len();
        self.places.retain(|place| !is_place(place.before, place.after));
        self.passing.retain(|line| !is_line(line.key));
        known - self.places.len() - self.passing.len()
    }

    fn evidence_mut(&mut self, learnt: Learnt) -> Option<&mut Evidence> {
        match learnt {
            Learnt::Place { before, after } => {
                let place =
                    self.places.iter_mut().find(|place| (place.before, place.after) == (before, after));
                place.map(|place| &mut place.evidence)
            }
            Learnt::Line(key) => {
                self.passing.iter_mut().find(|line| line.key == key).map(|line| &mut line.evidence)
            }
        }
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
        // After doubts the page is as long as it is now.
        if self.doubted > 0 {
            self.lengths.clear();
        }
        push_bounded(&mut self.lengths, base.text_bytes(), MAX_LENGTHS);
        self.doubted = 0;
        for place in &mut self.places {
            place.evidence.begin_check();
        }
        for line in &mut self.passing {
            line.evidence.begin_check();
        }
        for other in others {
            // Lists that are shuffled for every read are not volatile.
            let (other, _) = align(base, other);
            for hunk in hunks(base, &other) {
                let lines = base.lines[hunk.before.clone()].iter().chain(&other.lines[hunk.after.clone()]);
                let is_known = |key: &u64| known.as_ref().is_none_or(|known| known.contains_key(key));
                for key in lines.map(|line| line.key).filter(is_known) {
                    if self.passing(key).is_none() {
                        let line = PassingLine { key, evidence: Evidence::default() };
                        push_bounded(&mut self.passing, line, MAX_LINES);
                    }
                    self.count_sighting(Learnt::Line(key));
                }
                self.learn_place(base, &hunk);
            }
        }
        self.places.retain(|place| place.evidence.is_fresh());
        self.passing.retain(|line| line.evidence.is_fresh());
    }

    fn learn_place(&mut self, base: &ComparedLines, hunk: &Hunk) {
        let lines = hunk.before.len().max(hunk.after.len());
        if lines > MAX_PLACE_LINES || hunk.before.is_empty() || hunk.after.is_empty() {
            return;
        }
        let (before, after) = (hunk.key_before(base), hunk.key_after(base));
        let known = self.places.iter_mut().find(|place| (place.before, place.after) == (before, after));
        if let Some(known) = known {
            known.lines = known.lines.max(lines);
        } else {
            let place = VolatilePlace { before, after, lines, evidence: Evidence::default() };
            push_bounded(&mut self.places, place, MAX_PLACES);
        }
        self.count_sighting(Learnt::Place { before, after });
    }

    fn count_sighting(&mut self, learnt: Learnt) {
        if let Some(evidence) = self.evidence_mut(learnt) {
            evidence.count_sighting();
        }
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    if queue.len() >= limit {
        queue.pop_front();
    }
    queue.push_back(item);
}
