//! What the end of an attempt means for the job: back to the queue, or over, and how.

use crate::jobs::{Finish, JobState, NewJob};
use crate::{StoreError, StoreResult};
use std::time::Duration;

/// How a job that a worker holds stands when its attempt ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    pub attempts: i64,
    pub max_attempts: i64,
    pub cancel_requested: bool,
    pub parent: Option<ParentStanding>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ParentStanding {
    pub state: JobState,
    pub cancel_requested: bool,
}

#[derive(Debug)]
pub(crate) enum Verdict {
    Requeue {
        /// Replaces the last error when given.
        error: Option<String>,
        /// From now; without one the job keeps its place in the queue.
        delay: Option<Duration>,
        /// Whether the attempt counts.
        counted: bool,
    },
    End(Ending),
}

/// A job's end, or (with new children) the start of its waiting for them.
#[derive(Debug)]
pub(crate) struct Ending {
    pub state: JobState,
    pub result: Option<String>,
    pub error: Option<String>,
    pub rows: Vec<String>,
    pub spawn: Vec<NewJob>,
    pub credits: i64,
}

impl Ending {
    pub(crate) fn bare(state: JobState, error: Option<String>) -> Self {
        Self { state, result: None, error, rows: Vec::new(), spawn: Vec::new(), credits: 0 }
    }
}

pub(crate) const WORKER_LOST: &str = "the worker was lost";
pub(crate) const DEADLINE_PASSED: &str = "the deadline passed";

/// What a worker's word means. A cancelled job does not return to the queue and spawns nothing; a job
/// whose parent is over already changes nothing any more, so it can only be cancelled.
pub(crate) fn decide(standing: &Standing, finish: Finish) -> StoreResult<Verdict> {
    if let Finish::Completed { credits, .. } | Finish::Failed { credits, .. } = &finish
        && *credits < 0
    {
        return Err(StoreError::Misuse("credits cannot be negative".into()));
    }
    if standing.parent.is_some_and(|parent| parent.state.is_terminal()) {
        return Ok(Verdict::End(Ending::bare(JobState::Cancelled, None)));
    }
    let stopping = standing.cancel_requested || standing.parent.is_some_and(|parent| parent.cancel_requested);
    Ok(match finish {
        Finish::Completed { result, rows, mut spawn, credits } => {
            let unfinished = stopping && !spawn.is_empty();
            if stopping {
                spawn.clear();
            }
            // A child did its own part; a job of its own that may not go on was cancelled half-way.
            let state = if unfinished && standing.parent.is_none() {
                JobState::Cancelled
            } else {
                JobState::Completed
            };
            Verdict::End(Ending { state, result, error: None, rows, spawn, credits })
        }
        Finish::Failed { error, credits } => {
            Verdict::End(Ending { credits, ..Ending::bare(JobState::Failed, Some(error)) })
        }
        Finish::Retry { error, .. } if stopping => {
            Verdict::End(Ending::bare(JobState::Cancelled, Some(error)))
        }
        Finish::Retry { error, .. } if standing.attempts >= standing.max_attempts => {
            Verdict::End(Ending::bare(JobState::Failed, Some(error)))
        }
        Finish::Retry { error, delay } => {
            Verdict::Requeue { error: Some(error), delay: Some(delay), counted: true }
        }
        Finish::HandBack if stopping => Verdict::End(Ending::bare(JobState::Cancelled, None)),
        Finish::HandBack => Verdict::Requeue { error: None, delay: None, counted: false },
        Finish::Cancelled => Verdict::End(Ending::bare(JobState::Cancelled, None)),
    })
}

/// What it means that the worker went silent: as a failed try, but without a wait.
pub(crate) fn lost(standing: &Standing) -> StoreResult<Verdict> {
    let verdict = decide(standing, Finish::Retry { error: WORKER_LOST.into(), delay: Duration::ZERO })?;
    Ok(match verdict {
        Verdict::Requeue { error, .. } => Verdict::Requeue { error, delay: None, counted: true },
        end @ Verdict::End(_) => end,
    })
}

/// How a parent ends when its last child has ended.
pub(crate) fn parent_end(cancel_requested: bool) -> JobState {
    if cancel_requested { JobState::Cancelled } else { JobState::Completed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(attempts: i64, cancel_requested: bool) -> Standing {
        Standing { attempts, max_attempts: 3, cancel_requested, parent: None }
    }

    fn retry() -> Finish {
        Finish::Retry { error: "e".into(), delay: Duration::from_secs(1) }
    }

    fn end_state(verdict: &Verdict) -> Option<JobState> {
        match verdict {
            Verdict::End(ending) => Some(ending.state),
            Verdict::Requeue { .. } => None,
        }
    }

    #[test]
    fn attempts_and_cancellation_decide_a_retry() {
        assert_eq!(end_state(&decide(&standing(2, false), retry()).unwrap()), None);
        assert_eq!(end_state(&decide(&standing(3, false), retry()).unwrap()), Some(JobState::Failed));
        assert_eq!(end_state(&decide(&standing(1, true), retry()).unwrap()), Some(JobState::Cancelled));
        assert_eq!(
            end_state(&decide(&standing(1, true), Finish::HandBack).unwrap()),
            Some(JobState::Cancelled)
        );
        assert_eq!(end_state(&lost(&standing(3, false)).unwrap()), Some(JobState::Failed));
        assert!(matches!(
            decide(&standing(3, false), Finish::HandBack).unwrap(),
            Verdict::Requeue { counted: false, .. }
        ));
    }

    #[test]
    fn nothing_is_written_for_a_parent_that_is_over() {
        let over = ParentStanding { state: JobState::Failed, cancel_requested: true };
        let child = Standing { parent: Some(over), ..standing(1, false) };
        let finish = Finish::Completed { result: None, rows: vec!["r".into()], spawn: vec![], credits: 5 };
        let Verdict::End(ending) = decide(&child, finish).unwrap() else { panic!("must end") };
        assert_eq!((ending.state, ending.rows.len(), ending.credits), (JobState::Cancelled, 0, 0));
    }

    #[test]
    fn negative_credits_are_refused() {
        assert!(decide(&standing(1, false), Finish::Failed { error: String::new(), credits: -1 }).is_err());
    }
}
