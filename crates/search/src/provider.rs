//! What every provider is to the rest: a name, what it can do, and a way to ask it.

use crate::hit::Hit;
use crate::question::{Kind, Question};
use net::Deadline;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Somebody who may know.
#[async_trait::async_trait]
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// As settings, warnings and metrics name it.
    fn name(&self) -> &str;

    /// Whether it is this server's own index: free of charge, and never away.
    fn is_local(&self) -> bool {
        false
    }

    fn answers(&self, kind: Kind) -> bool;

    /// What it does with a question by itself; the rest is filtered afterwards.
    fn abilities(&self) -> Abilities;

    /// What was asked for that it neither does nor can be done to its results; for the warning.
    fn cannot(&self, question: &Question) -> Vec<&'static str>;

    /// Requests that a question takes at most.
    fn requests(&self, question: &Question) -> u32;

    async fn ask(&self, question: &Question, leave: &Leave) -> Result<Answer, Problem>;
}

/// What a provider does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abilities {
    /// `-word`, phrases, `intitle:` and `inurl:`, and alternatives of all of them.
    pub words: bool,
    pub file_type: bool,
    pub window: bool,
}

/// What came of a question.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Best first.
    pub hits: Vec<Hit>,
    /// What to know about them, for people.
    pub notes: Vec<String>,
    /// Pages that were searched, where that is known.
    pub searched: Option<u64>,
}

/// How long, and how often, a provider may be asked.
#[derive(Debug)]
pub struct Leave {
    pub deadline: Deadline,
    requests: u32,
    spent: AtomicU32,
}

impl Leave {
    pub fn new(deadline: Deadline, requests: u32) -> Self {
        Self { deadline, requests, spent: AtomicU32::new(0) }
    }

    /// One more request, if there is one left.
    pub fn take(&self) -> bool {
        let more = |spent| (spent < self.requests).then_some(spent + 1);
        self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    pub fn spent(&self) -> u32 {
        self.spent.load(Ordering::Relaxed)
    }
}

/// Why a provider did not answer. The texts reach callers: no address of ours, no key, nothing of an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("gave no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("could not be reached")]
    Unreachable,
    #[error("refused the key")]
    Refused,
    #[error("asks to wait{}", after(*.0))]
    Limited(Option<Duration>),
    #[error("answered with status {0}")]
    Status(u16),
    #[error("answered what is no result: {0}")]
    Nonsense(&'static str),
    #[error("answered more than {0} MB")]
    TooLarge(u64),
    /// In its own words, chosen by us.
    #[error("{0}")]
    Said(String),
    #[error("is left alone for {} s after failing: {last}", .wait.as_secs().max(1))]
    Resting { wait: Duration, last: String },
    #[error("has used up its quota for this {0}")]
    Quota(&'static str),
}

fn after(wait: Option<Duration>) -> String {
    wait.map(|wait| format!(" {} s", wait.as_secs())).unwrap_or_default()
}

impl Problem {
    /// Whether it was asked at all.
    pub fn was_asked(&self) -> bool {
        !matches!(self, Self::Resting { .. } | Self::Quota(_))
    }
}
