//! How far a run goes: what its effort buys, and how its credits are split between exploring and answering.

use crate::{Effort, Journal, Task};
use std::sync::atomic::{AtomicBool, Ordering};

/// What an effort buys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Pages read in the whole run.
    pub pages: usize,
    /// Workers at once.
    pub parallel: usize,
    /// Results looked at of one search.
    pub hits: usize,
    /// Times that a model is asked by one worker.
    pub steps: usize,
}

impl Bounds {
    pub fn of(task: &Task) -> Self {
        match task.effort.unwrap_or(Effort::Medium) {
            Effort::Low => Self { pages: 12, parallel: 2, hits: 3, steps: 12 },
            Effort::Medium => Self { pages: 50, parallel: 4, hits: 6, steps: 30 },
            Effort::High => Self { pages: 200, parallel: 8, hits: 10, steps: 60 },
        }
    }
}

/// The run's credits. Exploring leaves `kept` of them alone, so that there is always enough to answer with what was found.
pub(crate) struct Ledger<'a> {
    journal: &'a dyn Journal,
    kept: u64,
    /// Exploring stopped because credits ran out, not because there was nothing left to do.
    stopped: AtomicBool,
}

impl std::fmt::Debug for Ledger<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger")
            .field("kept", &self.kept)
            .field("stopped", &self.stopped)
            .finish_non_exhaustive()
    }
}

impl<'a> Ledger<'a> {
    pub fn new(journal: &'a dyn Journal, kept: u64) -> Self {
        Self { journal, kept, stopped: AtomicBool::new(false) }
    }

    /// Counts credits for looking further; `false` when they are not to be spent.
    pub async fn explore(&self, credits: u64) -> bool {
        let enough =
            self.journal.left() >= credits.saturating_add(self.kept) && self.journal.spend(credits).await;
        if !enough {
            self.stopped.store(true, Ordering::Relaxed);
        }
        enough
    }

    /// Counts what a call turned out to cost beyond what was counted before it.
    pub async fn settle(&self, credits: u64) {
        if credits > 0 && !self.journal.spend(credits).await {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Whether nothing is left for looking further.
    pub fn is_spent(&self) -> bool {
        self.stopped() || self.journal.left() <= self.kept
    }

    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
