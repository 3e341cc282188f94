//! Limits of a run: what its effort allows, and how its credits are split between exploring and answering.

use crate::{Effort, Journal, Task};
use std::sync::atomic::{AtomicBool, Ordering};

/// What an effort allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EffortLimits {
    /// Pages read in the whole run.
    pub pages: usize,
    /// Sub-agents at the same time.
    pub parallel: usize,
    /// Results used of one search.
    pub hits: usize,
    /// Model requests of one agent.
    pub steps: usize,
    /// Browser sessions of the whole run, and clicks of the rules in one of them.
    pub browsers: usize,
    pub clicks: usize,
}

impl EffortLimits {
    pub fn for_task(task: &Task) -> Self {
        match task.effort.unwrap_or(Effort::Medium) {
            Effort::Low => Self { pages: 12, parallel: 2, hits: 3, steps: 12, browsers: 2, clicks: 5 },
            Effort::Medium => Self { pages: 50, parallel: 4, hits: 6, steps: 30, browsers: 5, clicks: 15 },
            Effort::High => Self { pages: 200, parallel: 8, hits: 10, steps: 60, browsers: 15, clicks: 40 },
        }
    }
}

/// The run's credits. Exploring leaves `reserved` credits, so that there is always enough to answer with what
/// was found.
pub(crate) struct Ledger<'a> {
    journal: &'a dyn Journal,
    reserved: u64,
    /// Exploring stopped because credits ran out, not because there was nothing left to do.
    exhausted: AtomicBool,
}

impl std::fmt::Debug for Ledger<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger")
            .field("reserved", &self.reserved)
            .field("exhausted", &self.exhausted)
            .finish_non_exhaustive()
    }
}

impl<'a> Ledger<'a> {
    pub fn new(journal: &'a dyn Journal, reserved: u64) -> Self {
        Self { journal, reserved, exhausted: AtomicBool::new(false) }
    }

    /// Spends credits for exploring; `false` when they must not be spent.
    pub async fn spend_exploring(&self, credits: u64) -> bool {
        let enough = self.journal.credits_left() >= credits.saturating_add(self.reserved)
            && self.journal.spend_credits(credits).await;
        if !enough {
            self.exhausted.store(true, Ordering::Relaxed);
        }
        enough
    }

    /// Charges what a call cost beyond the credits spent before it.
    pub async fn charge_extra(&self, credits: u64) {
        if credits > 0 && !self.journal.spend_credits(credits).await {
            self.exhausted.store(true, Ordering::Relaxed);
        }
    }

    /// Whether no credits are left for exploring.
    pub fn is_spent(&self) -> bool {
        self.exhausted() || self.journal.credits_left() <= self.reserved
    }

    pub fn exhausted(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }
}
