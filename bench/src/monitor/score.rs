//! Alerts counted against what is true.

use std::fmt;

/// What a check said, and whether it was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Outcome {
    /// A change that was told.
    Right,
    /// Told, and no change.
    Wrong,
    /// A change that was not told.
    Missed,
    /// Neither.
    Quiet,
    /// The check took the page for an error. A change among them counts as missed.
    Failed,
}

impl Outcome {
    pub fn new(is_change: bool, is_told: bool) -> Self {
        match (is_change, is_told) {
            (true, true) => Self::Right,
            (false, true) => Self::Wrong,
            (true, false) => Self::Missed,
            (false, false) => Self::Quiet,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    right: usize,
    wrong: usize,
    missed: usize,
    quiet: usize,
    failed: usize,
    failed_changes: usize,
}

impl Score {
    pub fn add(&mut self, outcome: Outcome, is_change: bool) {
        match outcome {
            Outcome::Right => self.right += 1,
            Outcome::Wrong => self.wrong += 1,
            Outcome::Missed => self.missed += 1,
            Outcome::Quiet => self.quiet += 1,
            Outcome::Failed => {
                self.failed += 1;
                self.failed_changes += usize::from(is_change);
            }
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { right, wrong, missed, quiet, failed, failed_changes } = *self;
        let share = |part: usize, rest: usize| part as f64 / (part + rest).max(1) as f64;
        write!(
            formatter,
            "right {right:3}  wrong {wrong:3}  missed {missed:3}  quiet {quiet:3}  failed {failed:3}  \
             precision {:.3}  recall {:.3}",
            share(right, wrong),
            share(right, missed + failed_changes)
        )
    }
}
