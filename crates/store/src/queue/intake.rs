//! What is checked before a job is accepted, the same on both stores.

use crate::jobs::NewJob;
use crate::{Millis, StoreError, StoreResult, clock};
use uuid::Uuid;

/// When a job was made, when it may start, and when it must have ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub created_at: Millis,
    pub run_at: Millis,
    pub deadline_at: Millis,
}

impl Times {
    pub(crate) fn of(job: &NewJob, now: Millis) -> Self {
        Self {
            created_at: now,
            run_at: now + clock::millis(job.delay),
            deadline_at: now + clock::millis(job.deadline),
        }
    }
}

/// Lower goes first, so that one ascending index has the order. An `i64`, because the lowest `i32`
/// has no opposite.
pub(crate) fn rank(job: &NewJob) -> i64 {
    -i64::from(job.priority)
}

/// Children belong to the team of their parent.
pub(crate) fn check_children(team: Uuid, children: &[NewJob]) -> StoreResult<()> {
    if children.iter().any(|child| child.team_id != team) {
        return Err(StoreError::Misuse("a child job must belong to the team of its parent".into()));
    }
    Ok(())
}

pub(crate) fn id_in_use(id: Uuid) -> StoreError {
    StoreError::Misuse(format!("there is a job with the id {id} already"))
}

pub(crate) fn reservation_closed(id: Uuid) -> StoreError {
    StoreError::Misuse(format!("there is no open reservation {id} for this job"))
}
